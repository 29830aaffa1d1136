#!/usr/bin/env bash
# Times chains (label sequences of strings, one slack for all) beside dlib's
# structural_sequence_labeling_trainer with the same features, until dkmap's objective is below dlib's,
# and compares the share of wrong labels of other strings.
#
# usage: jobs/compare/compare_dlib_sequences.sh [--data FOLDER] [--C C] [--window W] [--epsilon E] [--tolerance T] [--repeat N] [--ranks R]
#   --data FOLDER  holds secondary/cb513_x.txt and secondary/cb513_y.txt, a protein a line: the last
#                  100 of 511 are tried, the others are to learn from      [$DKMAP_DATA]
#   --C C          of each string in dkmap: dlib gets C times their number        [0.01]
#   --window W     characters around each position                               [13]
#   --epsilon E    dlib's: it stops when the mean slack is so near the best        [1]
#   --tolerance T  dkmap's: the duality gap at which it stops                      [1e-3]
#   --repeat N     of each; the fastest and the median time are told               [3]
#   --ranks R      of dkmap; dlib has as many threads                              [2]
#
# Seconds are those of training, without reading files. Runs where a C++ compiler and libdlib-dev are
# there, and says so where they are not.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} C=0.01 window=13 epsilon=1 tolerance=1e-3 repeat=3 ranks=2
read_options "data C window epsilon tolerance repeat ranks" "$@"
if ! command -v g++ >/dev/null || [ ! -e /usr/include/dlib/svm_threaded.h ]; then
    echo "Skipped: nothing to compare with. On Debian: apt-get install g++ libdlib-dev"
    exit 0
fi
[ -r "$data/secondary/cb513_x.txt" ] || fail "no secondary/cb513_x.txt in '$data': name a folder with --data"
data=$(realpath "$data")
# shellcheck disable=SC2086
install_packages $packages
build_dkmap dkmap_command
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
g++ -O3 -march=native -DNDEBUG -o "$scratch/peer" "$root/jobs/compare/dlib_sequences.cpp" -ldlib -lopenblas -lpthread
cd "$scratch"
for part in x y; do
    head -n -100 "$data/secondary/cb513_$part.txt" >"$part.txt"
    tail -n 100 "$data/secondary/cb513_$part.txt" >"test_$part.txt"
done
m=$(wc -l <x.txt)
all=$(awk -v c="$C" -v m="$m" 'BEGIN { print c * m }')

for _ in $(seq "$repeat"); do
    OPENBLAS_NUM_THREADS=1 ./peer x.txt y.txt test_x.txt test_y.txt "$window" "$all" "$epsilon" "$ranks" >>dlib.txt
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$build/dkmap" fit jkm --outputs chain --x x.txt --y y.txt --kx 'weighted-degree(degree=1)' \
        --window "$window" --C "$C" --tolerance "$tolerance" -o m.h5 --record runs.jsonl --quiet >dkmap.txt
done
"$build/dkmap" predict m.h5 --x test_x.txt -o p.txt --quiet >/dev/null
wrong=$(paste test_y.txt p.txt | awk '{ for (t = 1; t <= length($1); t++) { n++; w += substr($1, t, 1) != substr($2, t, 1) } }
    END { printf "%.4f", w / n }')

# median FILE: of its numbers, one a line, after the fastest
median() {
    sort -g | awk '{ v[NR] = $1 } END { printf "%.2f | %.2f", v[1], v[int((NR + 1) / 2)] }'
}
objective=$(awk '$1 == "objective" { v = $2 } END { print v }' dlib.txt)
ours=$(awk '$1 == "primal" { print $2 }' dkmap.txt)
echo "$m strings, C = $C for each of them, windows of $window characters, $ranks threads or ranks"
echo
echo "| | objective | wrong labels | fastest, s | median, s |"
echo "|---|---|---|---|---|"
echo "| dlib | $objective | $(awk '$1 == "wrong" { v = $2 } END { printf "%.4f", v }' dlib.txt) | $(awk '$1 == "seconds" { print $2 }' dlib.txt | median) |"
echo "| dkmap, $(awk '$1 == "rounds" { print $2 }' dkmap.txt) rounds | $ours | $wrong | $(sed 's/.*"jkm": *{[^}]*"seconds": *{[^}]*"max": *\([0-9.e-]*\).*/\1/' runs.jsonl | median) |"
awk -v a="$ours" -v b="$objective" 'BEGIN { exit !(a + 0 > b + 0) }' &&
    fail "dkmap's objective is not below dlib's: the times do not compare"
exit 0
