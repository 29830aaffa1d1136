#!/usr/bin/env bash
# Nested cross-validation of dkmap beside scikit-learn's, on the same two cores: kernel dependency
# estimation of 1000 USPS digits, 7 widths x 6 gammas x 5 folds, nested in 5, against
# GridSearchCV over KernelRidge. Losses on the same plain folds must be the same. Runs where
# python3-sklearn is there, and says so where it is not.
#
# usage: jobs/compare/compare_cv.sh [--data FOLDER] [--repeat R]
#   --data FOLDER   holds usps/train_x.npy and usps/train_labels.npy   [$DKMAP_DATA]
#   --repeat R      runs of each, of which the fastest counts          [3]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
beside_sklearn compare_cv.py 1 "$@"
