#!/usr/bin/env bash
# An installed tree serves a small program, found once by CMake and once by pkg-config.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

cmake --install "$DKMAP_BUILD" --prefix "$prefix" >"$work/install.log"
"$prefix/bin/dkmap" --version

cat >"$work/user.c" <<'C'
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
    printf("%s\n", dkm_kernel_text(kernel));
    dkm_kernel_destroy(&kernel);
    dkm_ctx_destroy(&ctx);
    MPI_Finalize();
    return 0;
}
C

mkdir "$work/by_cmake"
cp "$work/user.c" "$work/by_cmake/"
cat >"$work/by_cmake/CMakeLists.txt" <<'C'
cmake_minimum_required(VERSION 3.18)
project(user C)
find_package(dkmap 0.1 REQUIRED)
add_executable(user user.c)
target_link_libraries(user PRIVATE dkmap::dkmap)
C
cmake -S "$work/by_cmake" -B "$work/by_cmake/build" -DCMAKE_PREFIX_PATH="$prefix" >"$work/configure.log"
cmake --build "$work/by_cmake/build" >"$work/build.log"
test "$("$work/by_cmake/build/user")" = "rbf(sigma=2)"

libdir=$(dirname "$(find "$prefix" -name dkmap.pc)")
flags=$(PKG_CONFIG_PATH=$libdir pkg-config --cflags --libs dkmap)
# shellcheck disable=SC2086
mpicc -o "$work/user" "$work/user.c" $flags
test "$(LD_LIBRARY_PATH=$(dirname "$libdir") "$work/user")" = "rbf(sigma=2)"
echo "both found it"
