#!/usr/bin/env bash
# Missing rows of a kernel filled from another, on proteins and on digits: accuracy of one-vs-rest
# support vector machines, two folds, five draws of what is missing (10, 25, 50 %), for five weights
# lambda of the complete kernel; lambda 0 is the incomplete kernel extrapolated alone, the control.
#
#   jobs/reproduce/extrapolation.sh [--data FOLDER] [--out FOLDER] [--ranks N] [--C C] [--only SET]
#
# FOLDER of the data (or DKMAP_DATA) holds
#   tim_barrel/sequences.fasta, superfamily.txt   domains of the TIM barrel fold and the superfamily
#       of each, one a line (SCOPe's ASTRAL, scop.berkeley.edu, class c.1, under 20 % identity)
#   kernels/digits_view1.npy ... digits_view6.npy, digits_labels.npy, digits_observed_40.npy ... _90
#       six kernels on 200 digits, and masks of what is observed, a column a view (CVKT)
# All kernels are normalised to k(x, x) = 1; singular values of a complete kernel on the observed
# objects below 1e-5 of the largest are left out (two of the views are of low rank). SET is proteins or
# digits, to make one of them anew in a folder that has both. Of the proteins the superfamilies with at
# least 7 members are taken, and of each kernel the settings at which it does best alone among a few.
# Writes cells.csv, tables.txt and, with gnuplot, extrapolation.png to the folder --out.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

data=${DKMAP_DATA:-} out=extrapolation ranks=2 C=10 only=
read_options "data out ranks C only" "$@"
case $only in '' | proteins | digits) ;; *) fail "--only is proteins or digits, not '$only'" ;; esac
dkmap=$build/dkmap
[ -x "$dkmap" ] || fail "build dkmap first: jobs/quickstart.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
cells=$out/cells.csv
touch "$cells"

# run ARGUMENTS...: dkmap on the ranks asked for
run() {
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$dkmap" "$@" --quiet
}

# try SET NAME NAME MATRIX MATRIX LABELS MORE...: all cells of a pair of kernels, in one launch
try() {
    local set=$1 gram=$2 by=$3 K=$4 S=$5 Y=$6
    shift 6
    run extend complete --gram "$K" --by "$S" --y "$Y" --C "$C" --clip --cutoff 1e-5 --missing 10,25,50 \
        --lambda 0,0.1,0.25,0.5,0.75,0.9 "$@" |
        awk -v head="$set,$gram,$by" '$5 == "+-" {
            print head "," $1 "," $2 "," $3 "," $4 "," $6 "," $7 "," $9 }' >>"$cells"
}

proteins() {
    local folder=$data/tim_barrel kernels=(align spectrum mismatch) a b
    [ -r "$folder/sequences.fasta" ] ||
        fail "no sequences.fasta in '$folder': give --data FOLDER"
    # labels 0, 1, ... of the superfamilies with at least 7 members, and their sequences
    awk -v labels="$work/labels.csv" 'FILENAME == ARGV[1] { of[FNR] = $1; count[$1]++; next }
        /^>/ { n++; keep = count[of[n]] >= 7
            if (keep) {
                if (!(of[n] in number)) number[of[n]] = classes++
                print number[of[n]] >labels } }
        keep' "$folder/superfamily.txt" "$folder/sequences.fasta" >"$work/kept.fasta"
    run gram --x "$work/kept.fasta" --kx 'normalize(spectrum(p=2))' -o "$work/spectrum.npy"
    run gram --x "$work/kept.fasta" --kx 'normalize(mismatch(p=3, k=1))' -o "$work/mismatch.npy"
    run gram --x "$work/kept.fasta" --kx 'normalize(align(open=5, extend=1))' --clip \
        -o "$work/align.npy" | tee "$out/align.txt"
    for a in "${kernels[@]}"; do
        for b in "${kernels[@]}"; do
            [ "$a" = "$b" ] ||
                try proteins "$a" "$b" "$work/$a.npy" "$work/$b.npy" "$work/labels.csv"
        done
    done
}

digits() {
    local folder=$data/kernels v w masks share
    [ -r "$folder/digits_labels.npy" ] ||
        fail "no digits_labels.npy in '$folder': give --data FOLDER"
    for v in 1 2 3 4 5 6; do
        run gram --x "$folder/digits_view$v.npy" --x-type gram --kx 'normalize(gram)' --clip \
            -o "$work/view$v.npy" >/dev/null
    done
    for v in 1 2 3 4 5 6; do
        masks=()
        for share in 90 80 70 60 50 40; do
            masks+=(--observed "$folder/digits_observed_$share.npy[:, $((v - 1)):$v]")
        done
        for w in 1 2 3 4 5 6; do
            [ "$v" = "$w" ] || try digits "view$v" "view$w" "$work/view$v.npy" \
                "$work/view$w.npy" "$folder/digits_labels.npy" "${masks[@]}"
        done
    done
}

# table SET COLUMN: one row for a pair of kernels and a share, a column for a lambda
table() {
    awk -F, -v set="$1" -v c="$2" '$1 == set && $4 != "gram" && $4 != "by" {
            row = $2 " by " $3 "|" ($4 == "masked" ? "mask " : "") $5 " %"
            if (!(row in seen)) { seen[row] = 1; order[++rows] = row }
            cell[row, $6] = sprintf("%.1f ± %.1f", $c, $(c + 1)) }
        $1 == set && ($4 == "gram" || $4 == "by") {
            name = $4 == "gram" ? $2 : $3; whole[name] = sprintf("%.1f ± %.1f", $c, $(c + 1)) }
        END {
            for (name in whole) printf "nothing missing: %s %s\n", name, whole[name] | "sort"
            close("sort")
            print "| kernels | missing | lambda 0 | 0.1 | 0.25 | 0.5 | 0.75 | 0.9 |"
            print "|---|---|---|---|---|---|---|---|"
            for (k = 1; k <= rows; k++) { split(order[k], part, "|")
                printf "| %s | %s |", part[1], part[2]
                n = split("0 0.1 0.25 0.5 0.75 0.9", lambda, " ")
                for (l = 1; l <= n; l++) printf " %s |", cell[order[k], lambda[l]]
                print "" } }' "$cells"
}

# summary SET: mean over all pairs, and how often the joint kernel beats the complete one alone
summary() {
    awk -F, -v set="$1" '$1 == set && $4 == "by" { by[$2, $3] = $9 }
        $1 == set && $4 != "gram" && $4 != "by" {
            row = $4 == "masked" ? "masked" : "joint " $5; key = row "," $6
            sum[key] += $9; over[key] += $9 > by[$2, $3]; n[key]++ }
        END { for (key in n) printf "%s: all classes %.1f, above the complete kernel alone in %d of %d\n",
            key, sum[key] / n[key], over[key], n[key] | "sort -t, -k1,1 -k2,2n" }' "$cells"
}

# lines SET GRAM BY MISSING: lambda, accuracy and deviation, for gnuplot
lines() {
    awk -F, -v s="$1" -v a="$2" -v b="$3" -v share="$4" \
        '$1 == s && $2 == a && $3 == b && $4 == "joint" && $5 == share { print $6, $7, $8 }' "$cells"
}

plot() {
    command -v gnuplot >/dev/null || { echo "no gnuplot: no picture"; return; }
    grep -q ^proteins "$cells" && grep -q ^digits "$cells" || return 0
    local pair set gram by share
    for pair in "proteins align mismatch" "digits view2 view1"; do
        read -r set gram by <<<"$pair"
        for share in 10 25 50; do
            lines "$set" "$gram" "$by" "$share" >"$work/$set.$share"
        done
    done
    gnuplot <<G
set terminal pngcairo size 1000,400 font ",10"
set output "$out/extrapolation.png"
set multiplot layout 1,2
set xlabel "lambda: weight of the complete kernel"
set ylabel "one-vs-rest accuracy, %"
set xrange [-0.05:0.95]
set key outside bottom center horizontal
set title "proteins: align, missing rows filled from mismatch"
plot for [s in "10 25 50"] "$work/proteins.".s using (\$1 + (s - 25) / 4000.0):2:3 with yerrorlines title s." % missing"
set title "digits: view 2, missing rows filled from view 1"
plot for [s in "10 25 50"] "$work/digits.".s using (\$1 + (s - 25) / 4000.0):2:3 with yerrorlines title s." % missing"
G
}

for set in ${only:-proteins digits}; do
    sed -i "/^set,/d; /^$set,/d" "$cells"
    "$set"
done
sed -i '1i set,gram,by,kernel,missing,lambda,one_vs_rest,deviation,all_classes,deviation' "$cells"
for set in proteins digits; do
    grep -q "^$set," "$cells" || continue
    echo "$set, one class against the rest"
    table "$set" 7
    echo "$set, all classes"
    table "$set" 9
    summary "$set"
done >"$out/tables.txt"
plot
cat "$out/tables.txt"
