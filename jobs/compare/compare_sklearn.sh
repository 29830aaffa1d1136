#!/usr/bin/env bash
# Compares dkmap with scikit-learn on the same data and machine: kernel ridge regression must
# predict the same to 1e-8. Runs where python3-sklearn is there, and says so where it is not.
#
# usage: jobs/compare/compare_sklearn.sh [--data FOLDER]             predictions, as a table
#        jobs/compare/compare_sklearn.sh --speed [--m N] [--repeat R]     seconds on the same two cores
#   --data FOLDER   holds usps/train_x.npy, usps/train_labels.npy and usps/test_x.npy; without it
#                   only scikit-learn's own diabetes data are used            [$DKMAP_DATA]
#   --m N           training images of Fashion-MNIST                          [8000]
#   --repeat R      runs of each in turn, of which the median counts          [3]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
beside_sklearn compare_sklearn.py 2 "$@"
