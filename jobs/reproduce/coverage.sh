#!/usr/bin/env bash
# Coverage of prediction sets (predict --coverage) on random splits: intervals of numbers, sets of classes, of
# label sets and of strings, for 80, 90 and 95 %. Then the same with outputs shuffled, which keeps coverage and
# makes the sets large, and the time that calibration takes beside that of a fit.
#
# usage: jobs/reproduce/coverage.sh [--data FOLDER] [--splits N] [--rows N] [--outputs LIST] [--only WHAT] [--out FOLDER]
#   --data FOLDER   holds uci/bike.csv.gz, usps/train_x.npy and train_labels.npy, bibtex/bibtex-train.arff.gz and
#                   bibtex-test.arff.gz, pronounce/cmudict.dict.gz              [$DKMAP_DATA]
#   --splits N      random splits, once as they are and once shuffled           [20]
#   --outputs LIST  of numbers, classes, "label sets", strings                  [all of them]
#   --only WHAT     coverage, shuffled or overhead alone
#   --rows N        to learn from; as many calibrate, twice as many are tried   [1000]
#   --out FOLDER    results, kept: a second run does what is missing            [out/coverage]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} splits=20 rows=1000 outputs=numbers,classes,'label sets',strings only='' out=$root/out/coverage

read_options "data splits rows outputs only out" "$@"
case $only in '' | coverage | shuffled | overhead) ;; *) fail "--only is coverage, shuffled or overhead, not '$only'" ;; esac
need uci/bike.csv.gz usps/train_x.npy usps/train_labels.npy bibtex/bibtex-train.arff.gz bibtex/bibtex-test.arff.gz pronounce/cmudict.dict.gz
# shellcheck disable=SC2086
install_packages $packages python3-numpy
build_dkmap dkmap_command
DKMAP=$build/dkmap exec /usr/bin/python3 "$root/jobs/reproduce/coverage.py" --data "$data" --splits "$splits" --rows "$rows" \
    --outputs "$outputs" --only "$only" --out "$out"
