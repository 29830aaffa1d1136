#!/usr/bin/env bash
# Submits a fit and, to start when it has succeeded, predictions of its model. Arguments of the fit
# come first, then --then and those of predict without the model.
#
#   jobs/slurm/fit_then_predict.sh krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' --gamma 1e-3 -o model.h5 \
#       --then --x new.npy -o predicted.npy
#
# DKMAP_SBATCH has options for sbatch, such as "--ntasks=16 --partition=long".
set -euo pipefail
jobs=$(cd "$(dirname "$0")" && pwd)
explain() {
    sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
}
case ${1:-} in -h | --help) explain && exit ;; esac

fit=() model=
while [ $# -gt 0 ] && [ "$1" != --then ]; do
    case $1 in -o | --output) model=$2 ;; esac
    fit+=("$1")
    shift
done
if [ $# -lt 2 ] || [ -z "$model" ]; then
    explain >&2
    exit 2
fi
shift
export DKMAP_JOBS=$jobs
# shellcheck disable=SC2086
first=$(sbatch --parsable ${DKMAP_SBATCH:-} "$jobs/fit.sbatch" "${fit[@]}")
# shellcheck disable=SC2086
second=$(sbatch --parsable ${DKMAP_SBATCH:-} --dependency="afterok:$first" --kill-on-invalid-dep=yes \
    "$jobs/predict.sbatch" "$model" "$@")
echo "fit $first"
echo "predict $second"
