#!/usr/bin/env bash
# Installed trees, shared and static, each serve a small program, found once by CMake and once by
# pkg-config, after the tree was moved.
set -euo pipefail
PATH=${DKMAP_MPI_BIN:+$DKMAP_MPI_BIN:}$PATH # mpicc of the MPI of the build
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mkdir "$work/user"
cat >"$work/user/user.c" <<'C'
#include <dkmap/dkmap.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    dkm_ctx *ctx = NULL;
    dkm_kernel *kernel = NULL;

    MPI_Init(&argc, &argv);
    if (dkm_ctx_create(MPI_COMM_WORLD, &ctx) != DKM_OK ||
        dkm_kernel_parse(ctx, "rbf(sigma=2)", &kernel) != DKM_OK)
        return 1;
    printf("%s %s\n", dkm_kernel_text(kernel), dkm_version());
    dkm_kernel_destroy(&kernel);
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
C
cat >"$work/user/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(dkmap 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE dkmap::dkmap)
C
version=$(sed -nE 's/^#define DKM_VERSION_(MAJOR|MINOR|PATCH) ([0-9]+)$/\2/p' \
    "$DKMAP_SOURCE/include/dkmap/version.h" | paste -sd.)

# serve PREFIX PKG_CONFIG_OPTIONS...: the program is built against the tree in both ways, and runs.
serve() {
    local prefix=$1 build=$1.user folder flags
    shift
    cmake -S "$work/user" -B "$build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log"
    cmake --build "$build" >"$work/build.log"
    test "$("$build/user")" = "rbf(sigma=2) $version"

    folder=$(dirname "$(find "$prefix" -name dkmap.pc)")
    flags=$(PKG_CONFIG_PATH=$folder pkg-config "$@" --cflags --libs dkmap)
    # shellcheck disable=SC2086
    mpicc -o "$work/by_pkg_config" "$work/user/user.c" $flags
    test "$(LD_LIBRARY_PATH=$(dirname "$folder") "$work/by_pkg_config")" = "rbf(sigma=2) $version"
    echo "$prefix: found both ways"
}

cmake --install "$DKMAP_BUILD" --prefix "$work/before" >"$work/install.log"
mv "$work/before" "$work/shared"
"$work/shared/bin/dkmap" --version

# Manual pages, completion, and job scripts that find the command in PATH.
share=$work/shared/share
grep -q 'DKMAP-FIT-KRR' "$share/man/man1/dkmap-fit-krr.1"
bash -n "$share/bash-completion/completions/dkmap"
(
    unset DKMAP DKMAP_BUILD
    PATH=$work/shared/bin:$PATH
    cd "$work"
    bash "$share/dkmap/jobs/study/scaling_study.sh" make study --ranks 1 --repeats 1 -- bench gram --n 20
    grep -q "$work/shared/bin/dkmap" study/ranks-1/repeat-1/job.sbatch
    seq 20 >x.csv
    DRY=1 MEMORY=8G RANKS_PER_NODE=2 DKMAP_CALIBRATION=$work/none bash "$share/dkmap/jobs/slurm/submit.sh" krr \
        --x x.csv --y x.csv --kx linear --gamma 1 -o m.h5 >file
    grep -q 'DKMAP=dkmap' "$(cat file)"
)
if [ -e "$DKMAP_BUILD/libdkmap.so" ]; then
    serve "$work/shared"
else
    serve "$work/shared" --static
    exit 0
fi

# A static tree as the build would make it; its library has the objects of the one that is built, by the
# same compiler, whose libraries users must link.
compiler=$(sed -n 's/^CMAKE_C_COMPILER:[A-Z]*=//p' "$DKMAP_BUILD/CMakeCache.txt")
cmake -S "$DKMAP_SOURCE" -B "$work/static_build" -DCMAKE_C_COMPILER="$compiler" -DBUILD_SHARED_LIBS=OFF -DDKMAP_TESTS=OFF >"$work/static.log"
cp "$DKMAP_BUILD/libdkmap_internals.a" "$work/static_build/libdkmap.a"
cmake --install "$work/static_build" --component development --prefix "$work/before" >"$work/install.log"
mv "$work/before" "$work/static"
serve "$work/static" --static
if ldd "$work/by_pkg_config" | grep -q libdkmap; then
    echo "the program does not use the static library" >&2
    exit 1
fi
