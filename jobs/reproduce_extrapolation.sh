#!/usr/bin/env bash
# Missing rows of a kernel filled from another: digits seen by two kernels, of which one lacks 10, 25
# or 50 % of its rows. One-vs-rest support vector machines, two folds, five draws of what is missing.
#
#   jobs/reproduce_extrapolation.sh [--data FOLDER] [--view N] [--by N] [--C C]
#
# FOLDER holds kernels/digits_view1.npy ... digits_view6.npy and digits_labels.npy (or DKMAP_DATA).
# Writes a table: accuracy for each weight lambda of the complete kernel; lambda 0 is the incomplete
# kernel extrapolated alone, the control. The first lines are both kernels with nothing missing.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "${BASH_SOURCE%/*}/common.sh"

data=${DKMAP_DATA:-} view=1 by=2 C=10
while [ $# -gt 0 ]; do
    case $1 in
    --data) data=$2 ;;
    --view) view=$2 ;;
    --by) by=$2 ;;
    --C) C=$2 ;;
    *) explain && exit 2 ;;
    esac
    shift 2
done
folder=$data/kernels
[ -r "$folder/digits_labels.npy" ] || fail "no digits_labels.npy in '$folder': give --data FOLDER"
dkmap=$build/dkmap
[ -x "$dkmap" ] || fail "build dkmap first: jobs/quickstart.sh"
export OMP_NUM_THREADS=1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# loss MATRIX SEED: share of wrong labels, two folds
loss() {
    "$dkmap" cv svm --x "$1" --x-type gram --y "$folder/digits_labels.npy" --kx gram --C "$C" \
        --folds 2 --seed "$2" --loss zero-one --quiet | awk '$1 == "zero-one" { print $2 }'
}

# summary: "mean +- deviation" of 100 (1 - loss), one loss a line
summary() {
    awk '{ a = 100 * (1 - $1); s += a; q += a * a }
        END { m = s / NR; d = q / NR - m * m; printf "%.1f +- %.1f", m, sqrt(d > 0 ? d : 0) }'
}

for v in "$view" "$by"; do
    for seed in 1 2 3 4 5; do loss "$folder/digits_view$v.npy" "$seed"; done >"$work/all"
    printf 'view %s, complete: %s\n' "$v" "$(summary <"$work/all")"
done
printf '%-8s' missing
printf '| %-13s' 'lambda 0' 0.1 0.25 0.5 0.75 0.9
echo
for missing in 10 25 50; do
    printf '%-8s' "$missing %"
    for lambda in 0 0.1 0.25 0.5 0.75 0.9; do
        : >"$work/all"
        for seed in 1 2 3 4 5; do
            awk -v part="$missing" -v seed="$seed" 'BEGIN { srand(seed); left = 200 * part / 100
                for (i = 0; i < 200; i++) { gone = rand() * (200 - i) < left; left -= gone
                    print !gone } }' >"$work/mask.csv"
            "$dkmap" extend complete --gram "$folder/digits_view$view.npy" --quiet \
                --observed "$work/mask.csv" --by "$folder/digits_view$by.npy" --lambda "$lambda" \
                --clip -o "$work/joint.npy" >/dev/null
            loss "$work/joint.npy" "$seed" >>"$work/all"
        done
        printf '| %-13s' "$(summary <"$work/all")"
    done
    echo
done
