#!/usr/bin/env bash
# The graphs of dkmap export in onnxruntime, of which npm has a package: the same numbers as dkmap. Skipped
# where there is no node, or npm cannot fetch it. DKMAP_ONNXRUNTIME names a folder with node_modules.
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=mpi_tests/cli/common.sh
. "$here/../common.sh"
# shellcheck source=mpi_tests/cli/export/export_cases.sh
. "$here/export_cases.sh"
command -v node >/dev/null || { echo "no node"; exit 77; }
modules=${DKMAP_ONNXRUNTIME:-$scratch}
if [ ! -d "$modules/node_modules/onnxruntime-node" ]; then
    command -v npm >/dev/null || { echo "no npm"; exit 77; }
    (cd "$modules" && timeout 300 npm install --ignore-scripts onnxruntime-node >npm.log 2>&1) ||
        { echo "npm cannot install onnxruntime-node: $(tail -n 1 npm.log)"; exit 77; }
fi
make_export_cases
NODE_PATH=$modules/node_modules node "$here/onnx_runtime.js" "${cases[@]}" || fail "graphs in onnxruntime"
finish
