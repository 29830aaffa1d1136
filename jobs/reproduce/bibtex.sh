#!/usr/bin/env bash
# Tags of bibliographic entries: label sets from bags of words, with the split of Mulan. All settings are
# chosen on the training part.
#
# usage: jobs/reproduce/bibtex.sh [--data FOLDER] [--ranks N] [--out FOLDER]
#   --data FOLDER  holds bibtex/bibtex-train.arff.gz and bibtex-test.arff.gz, of
#                  https://mulan.sourceforge.net/datasets-mlc.html, gzipped    [$DKMAP_DATA]
#   --ranks N      MPI ranks                                                   [2]
#   --out FOLDER   models and predictions                                      [out/bibtex]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} ranks=2 out=$root/out/bibtex

read_options "data ranks out" "$@"
need bibtex/bibtex-train.arff.gz bibtex/bibtex-test.arff.gz
train=$data/bibtex/bibtex-train.arff.gz test=$data/bibtex/bibtex-test.arff.gz

dk() {
    run_dkmap "$out/last.log" "$@" --labels 159
}

judge() {
    dk score --truth "$test" --pred "$2" --loss f1-examples,f1,f1-macro
    printf '| %s | %.3f ± %.3f | %.3f | %.3f |\n' "$1" "$(reported f1-examples)" \
        "$(reported f1-examples_stderr)" "$(reported f1)" "$(reported f1-macro)"
}

# shellcheck disable=SC2086
install_packages $packages
build_dkmap dkmap_command
mkdir -p "$out" || fail "cannot make the folder $out: name another with --out"
examples=(--x "$train" --y "$train")

printf '| method | F1 of examples | micro | macro |\n|---|---|---|---|\n'
# Width and ridge by the gradient of the leave-one-out loss, from the median distance on.
dk fit kde "${examples[@]}" --kx 'rbf(normalize(linear), sigma=median)' --ky 'normalize(labels)' --components all --autotune \
    -o "$out/tuned.h5"
chosen=$(awk '$1 == "kernel" { sub(/^kernel */, ""); print }' "$last"), gamma=$(reported gamma)
dk predict "$out/tuned.h5" --x "$test" -o "$out/tuned.csv"
judge "kde --autotune, normalize(labels), $chosen" "$out/tuned.csv"

# shellcheck disable=SC2016
dk cv kde "${examples[@]}" --kx 'rbf(normalize(linear), sigma=$s)' --try s=0.5,1,2 \
    --ky 'normalize(labels)' --components 159 --gamma 1e-2,1e-1,3e-1 --folds 3 --loss f1-examples \
    -o "$out/kde.h5"
chosen=$(reported best)
dk predict "$out/kde.h5" --x "$test" -o "$out/kde.csv"
judge "kde, normalize(labels), $chosen" "$out/kde.csv"

# The ridge with the greatest leave-one-out F1.
best=0
for gamma in 0.03 0.1 0.3 1; do
    dk fit krr "${examples[@]}" --kx 'rbf(normalize(linear), sigma=1)' --gamma $gamma --loo -o "$out/krr.part.h5"
    if awk -v f="$(reported loo_f1_examples)" -v best="$best" 'BEGIN { exit !(f > best) }'; then
        best=$(reported loo_f1_examples) chosen=$gamma
        mv "$out/krr.part.h5" "$out/krr.h5"
    fi
done
dk predict "$out/krr.h5" --x "$test" --threshold auto -o "$out/krr.csv"
judge "krr, --threshold auto, gamma=$chosen" "$out/krr.csv"
