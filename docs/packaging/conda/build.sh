#!/usr/bin/env bash
set -euo pipefail
# CMAKE_ARGS comes from the compiler package of conda and is a list of words.
# shellcheck disable=SC2086
cmake ${CMAKE_ARGS:-} -S . -B build-conda -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX="$PREFIX" \
    -DCMAKE_INSTALL_LIBDIR=lib -DDKMAP_PYTHON="$PYTHON" -DDKMAP_PARASAIL=OFF -DDKMAP_FAISS=OFF -DDKMAP_TESTS=OFF
cmake --build build-conda --parallel "${CPU_COUNT:-1}"
cmake --install build-conda
