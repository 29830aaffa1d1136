#!/usr/bin/env bash
# Regression on four UCI tables by exact kernel ridge regression, which is the mean of a Gaussian process, with the
# ten splits of 90 to 10 % of https://github.com/treforevans/uci_datasets: root mean square error and negative log
# likelihood per example, in units of the standard deviation of the training outputs.
#
# Of each split the kernel matern(nu=1.5) with a width per column and the ridge are tuned by the gradient of the
# leave-one-out error (fit krr --autotune) on some of the training rows, drawn at random; then all training rows are
# fitted exactly, by one factor that deviations use too (--keep-factor). The scale of the prior is the likeliest
# (predict --std --noise auto). Nothing is learned from test rows.
#
# usage: jobs/reproduce/uci.sh [--data FOLDER] [--sets LIST] [--splits LIST] [--rows N] [--tune-rows N] [--tune-fits N]
#                              [--precision P] [--peer-rows N] [--ranks N] [--out FOLDER]
#   --data FOLDER   holds uci/NAME.csv.gz, the target last, and uci/NAME_test_mask.csv.gz, a column per split [$DKMAP_DATA]
#   --sets LIST     of pol, elevators, bike, protein                       [pol,elevators,bike,protein]
#   --splits LIST   numbers of splits                                      [0,1,2,3,4,5,6,7,8,9]
#   --rows N        at most so many training rows are fitted               [all]
#   --tune-rows N   so many of them are tuned by                           [2000]
#   --tune-fits N   looks at the gradient, at most                         [40]
#   --precision P   of the factor: double, or mixed in half the memory     [double; of protein mixed]
#   --peer-rows N   beside it scikit-learn's GaussianProcessRegressor with the same kernel, tuned by its likelihood on so many [0]
#   --ranks N       MPI ranks                                              [2]
#   --out FOLDER    results, kept: a second run does what is missing       [out/uci]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} sets=pol,elevators,bike,protein splits=0,1,2,3,4,5,6,7,8,9 rows=1000000000 tune_rows=2000
tune_fits=40 precision='' peer_rows=0 ranks=2 out=$root/out/uci

read_options "data sets splits rows tune-rows tune-fits precision peer-rows ranks out" "$@"
for name in ${sets//,/ }; do
    need "uci/$name.csv.gz" "uci/${name}_test_mask.csv.gz"
done
[ "$peer_rows" = 0 ] || peer=python3-sklearn
# shellcheck disable=SC2086
install_packages $packages python3-numpy ${peer:-}
build_dkmap dkmap_command
DKMAP=$build/dkmap DKMAP_LAUNCH=$launch exec /usr/bin/python3 "$root/jobs/reproduce/uci.py" --data "$data" --sets "$sets" \
    --splits "$splits" --rows "$rows" --tune-rows "$tune_rows" --tune-fits "$tune_fits" --precision "$precision" \
    --peer-rows "$peer_rows" --ranks "$ranks" --out "$out"
