#!/usr/bin/env bash
# Times ridge regression on landmarks beside scikit-learn's Nystroem + Ridge, on all of Fashion-MNIST
# with the same kernel, ridge and number of landmarks; and the exact fit by iteration, which those
# landmarks precondition (9 GB of memory). Runs where python3-sklearn is there, and says so
# where it is not.
#
# usage: jobs/compare/compare_nystroem.sh [--landmarks N] [--ranks R] [--tolerance T]
#   --landmarks N   of both                                                   [5000]
#   --ranks R       of dkmap; scikit-learn has as many threads as there are cores   [2]
#   --tolerance T   residual at which the exact fit may stop                  [0.2]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
beside_sklearn compare_nystroem.py "" "$@"
