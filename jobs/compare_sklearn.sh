#!/usr/bin/env bash
# Compares dkmap with scikit-learn on the same data and machine: kernel ridge regression must
# predict the same to 1e-8. Runs where python3-sklearn is there, and says so where it is not.
#
# usage: jobs/compare_sklearn.sh [--data FOLDER]             predictions, as a table
#        jobs/compare_sklearn.sh --speed [--m N] [--repeat R]     seconds on the same two cores
#   --data FOLDER   holds usps/train_x.npy, usps/train_labels.npy and usps/test_x.npy; without it
#                   only scikit-learn's own diabetes data are used            [$DKMAP_DATA]
#   --m N           training images of Fashion-MNIST                          [8000]
#   --repeat R      runs of each, of which the fastest counts                 [3]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
case " $* " in *" --help "* | *" -h "*)
    explain
    exit
    ;;
esac

# The system's own python: another one earlier on the path would not see Debian's packages.
python=/usr/bin/python3
if ! "$python" -c 'import numpy, sklearn' 2>/dev/null; then
    echo "Skipped: no scikit-learn for $python. On Debian: apt-get install python3-sklearn python3-numpy"
    exit 0
fi
# shellcheck disable=SC2086
install_packages $packages
build_dkmap dkmap_command
DKMAP=$build/dkmap DKMAP_LAUNCH=$launch OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2 \
    exec "$python" "$root/jobs/compare_sklearn.py" "$@"
