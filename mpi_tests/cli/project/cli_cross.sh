#!/usr/bin/env bash
# The vector kernels, and what they are chosen and run on threads by, compile without warnings for
# another processor family: aarch64, where they become NEON. Skipped without Debian's
# gcc-aarch64-linux-gnu.
command -v aarch64-linux-gnu-gcc >/dev/null || exit 77
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

warnings=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wstrict-prototypes
    -Wmissing-prototypes -Wvla -Wcast-qual -Wwrite-strings -Wformat=2 -Werror)
# Headers of MPI name types alone here: those of this machine will do.
read -r -a mpi <<<"$(mpicc --showme:compile 2>/dev/null || mpicc -compile_info 2>/dev/null | grep -oE -- '-I[^ ]+' | tr '\n' ' ')"

# compile FILE OPTIONS...: an object of one source file.
compile() {
    aarch64-linux-gnu-gcc -std=c11 -O3 -fno-math-errno -fno-trapping-math "${warnings[@]}" \
        -D_POSIX_C_SOURCE=200809L -I"$DKMAP_SOURCE/include" -I"$DKMAP_SOURCE/src" "${mpi[@]}" \
        -DDKMAP_SIMD_LEVEL=baseline "${@:2}" -c -o object.o "$DKMAP_SOURCE/src/$1" 2>err ||
        fail "$1 does not compile: $(head -3 err)"
}

for layer in linalg kernels search; do
    files=$(tr '\n' ' ' <"$DKMAP_SOURCE/src/$layer/CMakeLists.txt" | grep -oE 'dkmap_simd_sources\([^)]*' |
        grep -oE '[a-z0-9_/]+\.c')
    [ -n "$files" ] || fail "$layer has no vector kernels"
    for file in $files; do
        compile "$layer/$file" -ffp-contract=fast
    done
done
compile linalg/kernels/gemm_tallskinny.c -ffp-contract=fast
aarch64-linux-gnu-objdump -d object.o >out
says out fmla "products of vectors fuse with sums"
for file in core/simd.c core/parallel.c linalg/kernels/parallel_products.c kernels/evaluation/tile_maps.c; do
    compile "$file" -fopenmp
done
finish
