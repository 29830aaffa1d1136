#!/usr/bin/env bash
# The whole table of speed compared with peers, in one run: for every row the seconds (or rate) of dkmap and of its
# peer, in turn on the same two cores, the median of each, their ratio, the bar for it and what shows that both
# computed the same. A row whose peer, data or time is missing says so. Every row also leaves a JSON line.
#
# usage: jobs/compare/all.sh [--data FOLDER] [--rows NAMES] [--repeat R] [--json FILE] [--native DKMAP] [--quick] [--long]
#   --data FOLDER   holds usps/                                                [$DKMAP_DATA]
#   --rows NAMES    some of the rows, separated by commas; `--rows list` names them      [all]
#   --repeat R      runs of each in turn, of which the median counts           [5; 1 with --quick]
#   --json FILE     where the JSON lines go                                    [compare.jsonl]
#   --native DKMAP  the command of a build with -DDKMAP_NATIVE=ON, for the row about portable builds
#   --quick         one run of each on a quarter of the examples: whether every row works, in a few minutes
#   --long          also the rows that take more than ten minutes
#
# OpenBLAS of Debian 12 does not know some processors and takes kernels of 2004 for them. Peers get the kernels that dkmap
# takes (OPENBLAS_CORETYPE), so that programs are compared and not their luck with the library; set it to compare otherwise.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
beside_sklearn all.py 2 "$@"
