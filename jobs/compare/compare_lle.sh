#!/usr/bin/env bash
# Locally linear embedding of a swiss roll by dkmap and by scikit-learn: the angle between the two
# planes (fails above 1e-6), and how well points that were held out are placed.
#
#   jobs/compare/compare_lle.sh [--points N] [--held N] [--neighbours K] [--ranks N]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

beside_sklearn compare_lle.py "" "$@"
