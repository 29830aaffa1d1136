#!/usr/bin/env bash
# shellcheck disable=SC1003
# Adds the examples of this folder to a copy of the sources, by the steps of CONTRIBUTING.md: a kernel,
# a file format, a loss, a pre-image method and a method.
#
# usage: mpi_tests/extensions/apply.sh SOURCES
set -euo pipefail
here=$(cd "${BASH_SOURCE%/*}" && pwd)
cd "$1"

# insert FILE PATTERN LINE: a line behind the first one that matches
insert() {
    local at
    at=$(grep -n -m 1 -- "$2" "$1" | cut -d: -f1)
    [ -n "$at" ] || { echo "$1 has no line like '$2'" >&2 && exit 1; }
    sed -i "${at}a\\$3" "$1"
}

# A kernel.
cp "$here/half.c" src/kernels/vector/
insert src/kernels/CMakeLists.txt 'vector/cosine.c' '  vector/half.c'
insert src/kernels/expression/kernel_registry.c 'X(linear)' '    X(half) \\'

# A file format.
cp "$here/range.c" src/io/formats/
insert src/io/CMakeLists.txt 'formats/csv.c' '  formats/range.c'
insert src/io/formats/format.h 'X(npy)' '    X(range) \\'

# A loss.
cp "$here/loss_largest.c" src/selection/metrics/losses/
insert src/selection/CMakeLists.txt 'metrics/losses/loss_edit.c' '  metrics/losses/loss_largest.c'
insert include/dkmap/score.h 'X(DKM_LOSS_MSE,' '    X(DKM_LOSS_LARGEST, "largest") \\'

# A pre-image method.
cp "$here/preimage_origin.c" src/preimage/
insert src/preimage/CMakeLists.txt 'preimage_mds.c' '  preimage_origin.c'
insert include/dkmap/preimage.h 'X(DKM_PREIMAGE_LINEAR,' '    X(DKM_PREIMAGE_ORIGIN, "origin") \\'
insert src/preimage/preimage.h 'X(linear)' '    X(origin) \\'

# A method.
cp -r "$here/constant" src/models/
insert src/models/CMakeLists.txt 'common/target_encoder.c' '  constant/constant_method.c'
insert src/models/registry/registry.c 'X(kpca)' '    X(constant) \\'
