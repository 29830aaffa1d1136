#!/usr/bin/env bash
# From amino acids to secondary structure: each letter of a protein gets one of H, E and C (helix,
# strand, coil). Letters are decided by a window on the sequence, by neighbours of that window, or by
# the window and what kde estimates of the structure as a whole.
#
# usage: jobs/reproduce/secondary_structure.sh [--data FOLDER] [--proteins N] [--ranks N] [--out FOLDER]
#   --data FOLDER  holds secondary/cb513_x.txt and secondary/cb513_y.txt, a protein a line: CB513 as
#                  in https://github.com/omarperacha/ps4-dataset                [$DKMAP_DATA]
#   --proteins N   to learn from; the last 100 of 511 are tried                 [60]
#   --ranks N      MPI ranks                                                    [2]
#   --out FOLDER   models and predictions                                       [out/secondary]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} proteins=60 ranks=2 out=$root/out/secondary
window=13 weight=16

read_options "data proteins ranks out" "$@"
need secondary/cb513_x.txt secondary/cb513_y.txt
x=$data/secondary/cb513_x.txt y=$data/secondary/cb513_y.txt

# dk WHAT ARGUMENTS...
dk() {
    run_dkmap "$out/$1.log" "${@:2}"
}

# positions X: a row for each letter: the window around it, one number an amino acid and place
positions() {
    awk -v window=$window '
        BEGIN { letters = "ACDEFGHIKLMNPQRSTVWY-" }
        {
            for (q = 1; q <= length($1); q++) {
                line = ""
                for (k = q - (window - 1) / 2; k <= q + (window - 1) / 2; k++) {
                    letter = k < 1 || k > length($1) ? "-" : substr($1, k, 1)
                    for (c = 1; c <= 21; c++)
                        line = line (line == "" ? "" : ",") (substr(letters, c, 1) == letter)
                }
                print line
            }
        }' "$1"
}

# classes Y: one a line, as a number
classes() {
    fold -w 1 "$1" | sed -n 's/H/1/p; s/E/2/p; s/C/3/p'
}

# judge TITLE METHOD OPTIONS...: learn letters from windows, predict them, tell the share that is wrong
judge() {
    local title=$1
    shift
    dk fit fit "$@" --x "$out/train.csv" --y "$out/train_y.csv" --y-type labels -o "$out/letters.h5"
    dk predict predict "$out/letters.h5" --x "$out/test.csv" -o "$out/letters.csv"
    tell "$title"
}

# judge_strings TITLE OPTIONS...: the same by the windows of the pre-image of kde
judge_strings() {
    local title=$1
    shift
    dk predict predict "$out/kde.h5" --x "$out/test_x.txt" --preimage strings --window $window "$@" \
        -o "$out/found.txt"
    classes "$out/found.txt" >"$out/letters.csv"
    tell "$title"
}

tell() {
    dk score score --truth "$out/test_y.csv" --pred "$out/letters.csv" --y-type labels --loss zero-one
    printf '| %s | %.4f ± %.4f |\n' "$1" "$(reported zero-one)" "$(reported zero-one_stderr)"
}

# shellcheck disable=SC2086
install_packages $packages
build_dkmap dkmap_command
mkdir -p "$out" || fail "cannot make the folder $out: name another with --out"
head -n "$proteins" "$x" >"$out/train_x.txt"
head -n "$proteins" "$y" >"$out/train_y.txt"
tail -n 100 "$x" >"$out/test_x.txt"
tail -n 100 "$y" >"$out/test_y.txt"
classes "$out/train_y.txt" >"$out/train_y.csv"
classes "$out/test_y.txt" >"$out/test_y.csv"

printf 'Learning from %s proteins, %s letters; trying 100 others, %s letters\n\n' "$proteins" \
    "$(wc -l <"$out/train_y.csv")" "$(wc -l <"$out/test_y.csv")"
printf '| method | share of letters that are wrong |\n|---|---|\n'
dk score score --truth "$out/test_y.csv" --pred "$out/test_y.csv" --y-type labels --loss zero-one \
    --baseline mean
printf '| always the commonest letter | %.4f |\n' "$(reported baseline_zero-one)"
positions "$out/train_x.txt" >"$out/train.csv"
positions "$out/test_x.txt" >"$out/test.csv"
judge "15 nearest windows" knn --kx linear --k 15
judge "ridge regression on windows" krr --kx 'rbf(sigma=3)' --gamma 1

# The structure as a whole: how often each three letters of H, E, C follow each other, beside windows.
dk fit fit kde --x "$out/train_x.txt" --y "$out/train_y.txt" --kx 'normalize(mismatch(p=3, k=1))' \
    --ky "scale(normalize(spectrum(p=3)), by=$weight)" --components 10 --gamma 0.1 -o "$out/kde.h5"
judge_strings "15 nearest, windows and kde" --neighbours 15
judge_strings "ridge classifier, windows and kde" --kz 'rbf(sigma=3)' --gamma-z 1
