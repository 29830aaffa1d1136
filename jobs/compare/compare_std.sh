#!/usr/bin/env bash
# Compares standard deviations and likelihoods (predict --std, score --loss nll) with scikit-learn's
# GaussianProcessRegressor of the same kernel and noise, which must agree to 1e-8. Where the training rows are more than
# scikit-learn has memory for, scipy's Cholesky factor and the formulas of Rasmussen and Williams 2006, algorithm 2.1,
# take its place. Runs where python3-sklearn is there, and says so where it is not.
#
# usage: jobs/compare/compare_std.sh [--data FOLDER] [--rows LIST] [--new N] [--sklearn-rows N] [--ranks R]
#   --data FOLDER      holds uci/protein.csv.gz, the target last          [$DKMAP_DATA]
#   --rows LIST        training rows                                      [2000,5000,20000]
#   --new N            rows that are predicted                            [1000]
#   --sklearn-rows N   with more training rows, scipy                     [5000]
#   --ranks R          of dkmap                                           [2]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"
beside_sklearn compare_std.py "" "$@"
