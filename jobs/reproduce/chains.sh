#!/usr/bin/env bash
# Secondary structure by chains: each letter of a protein gets one of H, E and C, by the window of
# amino acids around it and by the labels beside it. Beside it dlib's structural_sequence_labeling_trainer
# with the same features and the same C, where libdlib-dev is there.
#
# usage: jobs/reproduce/chains.sh [--data FOLDER] [--splits N] [--landmarks N] [--ranks N] [--out FOLDER]
#   --data FOLDER  holds secondary/cb513_x.txt and secondary/cb513_y.txt, a protein a line: CB513 as
#                  in https://github.com/omarperacha/ps4-dataset                [$DKMAP_DATA]
#   --splits N     of the 511 proteins at random: 411 to learn from, 100 others [5]
#   --landmarks N  of a Gaussian kernel on windows, in the first split; 0: not tried   [500]
#   --ranks N      MPI ranks                                                    [2]
#   --out FOLDER   models and predictions                                       [out/chains]
#
# C is chosen among 0.003, 0.01, 0.03, 0.1 by 3-fold cross-validation of the proteins to learn from, in
# each split. Prediction sets: 211 of the 411 proteins to learn from, 200 to calibrate.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} splits=5 landmarks=500 ranks=2 out=$root/out/chains
window=13 train=411

read_options "data splits landmarks ranks out" "$@"
need secondary/cb513_x.txt secondary/cb513_y.txt
x=$data/secondary/cb513_x.txt y=$data/secondary/cb513_y.txt

# dk WHAT ARGUMENTS...
dk() {
    run_dkmap "$out/$1.log" "${@:2}"
}

# wrong FILE: the share of wrong letters of the 100 proteins
wrong() {
    paste "$out/y.txt" "$1" | awk '{ for (t = 1; t <= length($1); t++) { n++; w += substr($1, t, 1) != substr($2, t, 1) } }
        END { printf "%.4f", w / n }'
}

# positions FIRST LAST FILE: a row for each letter of these proteins: the number of the protein, then the window, one-hot
positions() {
    sed -n "$1,$2p" "$out/all_x.txt" | awk -v window=$window '
        BEGIN { letters = "ACDEFGHIKLMNPQRSTVWY-" }
        {
            for (q = 1; q <= length($1); q++) {
                line = NR
                for (k = q - (window - 1) / 2; k <= q + (window - 1) / 2; k++) {
                    letter = k < 1 || k > length($1) ? "-" : substr($1, k, 1)
                    for (c = 1; c <= 21; c++)
                        line = line "," (substr(letters, c, 1) == letter)
                }
                print line
            }
        }' >"$out/$3.csv"
    sed -n "$1,$2p" "$out/all_y.txt" | fold -w 1 | sed -n 's/H/1/p; s/E/2/p; s/C/0/p' >"$out/$3_y.csv"
}

# sets: coverage and size at 80, 90 and 95 %
sets() {
    positions 1 211 learn
    positions 212 $train calibrate
    positions $((train + 1)) 511 new
    dk fit fit jkm --outputs chain --sequence-column 0 --kx linear --x "$out/learn.csv" --y "$out/learn_y.csv" \
        --y-type labels --C "$C" -o "$out/rows.h5"
    for share in 0.8 0.9 0.95; do
        dk sets predict "$out/rows.h5" --x "$out/new.csv" --y-type labels --calibration-x "$out/calibrate.csv" \
            --calibration-y "$out/calibrate_y.csv" --coverage $share -o "$out/sets.csv"
        dk score score --truth "$out/new_y.csv" --y-type labels --pred "$out/sets.csv" --loss coverage
        printf '%s %s %s %s\n' "$share" "$(reported coverage)" "$(reported set_size)" "$1" >>"$out/sets.txt"
    done
}

# shellcheck disable=SC2086
install_packages $packages
build_dkmap dkmap_command
mkdir -p "$out" || fail "cannot make the folder $out: name another with --out"
rm -f "$out/sets.txt" "$out/table.txt"
peer=
if command -v g++ >/dev/null && [ -e /usr/include/dlib/svm_threaded.h ]; then
    peer=$out/peer
    g++ -O3 -march=native -DNDEBUG -o "$peer" "$root/jobs/compare/dlib_sequences.cpp" -ldlib -lopenblas -lpthread
fi
echo "411 proteins to learn from, 100 others, windows of $window letters: share of wrong letters"
echo
echo "| split | C | dkmap | dlib |"
echo "|---|---|---|---|"
for split in $(seq "$splits"); do
    paste "$x" "$y" | awk -v seed="$split" 'BEGIN { srand(seed) } { print rand(), $0 }' | LC_ALL=C sort -g |
        awk -v out="$out" '{ print $2 >(out "/all_x.txt"); print $3 >(out "/all_y.txt") }'
    for part in x y; do
        head -n $train "$out/all_$part.txt" >"$out/train_$part.txt"
        tail -n +$((train + 1)) "$out/all_$part.txt" >"$out/$part.txt"
    done
    chain=(--outputs chain --x "$out/train_x.txt" --y "$out/train_y.txt" --window "$window")
    dk cv cv jkm "${chain[@]}" --kx 'weighted-degree(degree=1)' --C 0.003,0.01,0.03,0.1 --folds 3 --loss hamming
    C=$(reported best)
    C=${C#*=}
    dk fit fit jkm "${chain[@]}" --kx 'weighted-degree(degree=1)' --C "$C" -o "$out/chain.h5"
    dk predict predict "$out/chain.h5" --x "$out/x.txt" -o "$out/chain.txt"
    theirs=-
    if [ -n "$peer" ]; then
        OPENBLAS_NUM_THREADS=1 "$peer" "$out/train_x.txt" "$out/train_y.txt" "$out/x.txt" "$out/y.txt" $window \
            "$(awk -v c="$C" -v m=$train 'BEGIN { print c * m }')" 1 "$ranks" >"$out/dlib.log"
        theirs=$(awk '$1 == "wrong" { printf "%.4f", $2 }' "$out/dlib.log")
    fi
    printf '| %s | %s | %s | %s |\n' "$split" "$C" "$(wrong "$out/chain.txt")" "$theirs" | tee -a "$out/table.txt"
    sets "$split"
    if [ "$split" = 1 ] && [ "$landmarks" -gt 0 ]; then
        dk kernel fit jkm "${chain[@]}" --kx "rbf(weighted-degree(degree=1), sigma=3)" --landmarks "$landmarks" --C 0.1 \
            --tolerance 0.01 -o "$out/kernel.h5"
        dk predict predict "$out/kernel.h5" --x "$out/x.txt" -o "$out/kernel.txt"
        gauss=$(wrong "$out/kernel.txt")
    fi
done
awk -F'|' '{ a += $4; b += $5; n++; aa += $4 * $4; bb += $5 * $5 } function se(s, q) { return n > 1 ? sqrt((q / n - s * s / n / n) / (n - 1)) : 0 }
    END { printf "| mean | | %.4f ± %.4f | %.4f ± %.4f |\n", a / n, se(a, aa), b / n, se(b, bb) }' "$out/table.txt"
[ -z "${gauss:-}" ] ||
    printf '\nSplit 1 with a Gaussian kernel on windows, %s landmarks, C = 0.1: %s\n' "$landmarks" "$gauss"
printf '\nPrediction sets, mean over the splits\n\n| asked | coverage | least and greatest | mean size |\n|---|---|---|---|\n'
for share in 0.8 0.9 0.95; do
    awk -v share=$share '$1 == share { c += $2; size += $3; n++; if (n == 1 || $2 < low) low = $2; if ($2 > high) high = $2 }
        END { printf "| %s | %.3f | %.3f, %.3f | %.2f |\n", share, c / n, low, high, size / n }' "$out/sets.txt"
done
