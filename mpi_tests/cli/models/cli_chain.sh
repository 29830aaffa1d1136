#!/usr/bin/env bash
# Chains from the command line: label sequences of strings and of dense rows; fit, save, load, predict,
# cv; the same on any number of ranks.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# A label is A after a letter a and B else, but that labels go on for two letters at least: neither
# letters nor labels alone say which. The same as strings and as rows with the number of the sequence.
awk 'BEGIN { srand(8); for (i = 0; i < 40; i++) { x = y = ""; n = 3 + int(20 * rand()); c = rand() < 0.5
    for (t = 0; t < n; t++) {
        if (t % 2 == 0) c = rand() < 0.5
        noise = rand() < 0.15
        a = noise ? !c : c
        x = x (a ? (rand() < 0.5 ? "a" : "b") : (rand() < 0.5 ? "c" : "d")); y = y (c ? "A" : "B")
        print a "," i "," rand() > "r.csv"; print (c ? 7 : 4) > "l.csv" }
    print x > "x.txt"; print y > "y.txt" } }'
strings=(--outputs chain --kx 'weighted-degree(degree=1)' --window 5)
rows=(--outputs chain --kx linear --sequence-column 1)
for ranks in 1 2 3 4; do
    good $ranks fit jkm "${strings[@]}" --x x.txt --y y.txt --C 0.1 -o "s$ranks.h5"
    [ "$(value outputs) $(value m)" = "chain 40" ] || fail "strings: $(cat out)"
    below "$(value gap)" 1e-3 "the gap of strings"
    grep -E '^(rounds|constraints|primal|dual)' out >"s$ranks"
    good $ranks predict s1.h5 --x x.txt -o "p$ranks.txt"
    good $ranks fit jkm "${rows[@]}" --x r.csv --y l.csv --y-type labels --C 0.1 -o "r$ranks.h5"
    [ "$(value positions) $(value m)" = "$(wc -l <l.csv) 40" ] || fail "rows: $(cat out)"
    grep -E '^(rounds|constraints|primal|dual)' out >"r$ranks"
    good $ranks predict r1.h5 --x r.csv -o "p$ranks.csv"
    cmp -s s1 "s$ranks" || fail "strings: $(cat s1) is not $(cat "s$ranks")"
    cmp -s r1 "r$ranks" || fail "rows: $(cat r1) is not $(cat "r$ranks")"
    cmp -s p1.txt "p$ranks.txt" || fail "strings: $ranks ranks predict otherwise"
    cmp -s p1.csv "p$ranks.csv" || fail "rows: $ranks ranks predict otherwise"
done
good 1 predict s4.h5 --x x.txt -o p.txt
cmp -s p.txt p1.txt || fail "the model of 4 ranks predicts otherwise"
[ "$(awk '{ print length($0) }' p.txt)" = "$(awk '{ print length($0) }' x.txt)" ] || fail "lengths: $(head -2 p.txt)"
good 1 score --truth y.txt --pred p.txt --loss hamming
below "$(value hamming)" 0.15 "labels of strings"
good 1 score --truth l.csv --pred p1.csv --y-type labels --loss zero-one
below "$(value zero-one)" 0.2 "labels of rows"
good 1 info s1.h5
says out jkm-chain "info"

# Any kernel of positions: the linear one in disguise has the same objective, and a window of letters
# that only together decide needs one of higher degree. The same on any number of ranks.
disguised=(--outputs chain --kx 'scale(weighted-degree(degree=1), by=1)' --window 5)
good 2 fit jkm "${disguised[@]}" --x x.txt --y y.txt --C 0.1 --tolerance 1e-5 -o k.h5
same=$(value primal)
[ "$(value landmarks)" = "$(wc -l <l.csv)" ] || fail "landmarks: $(cat out)"
good 2 fit jkm "${strings[@]}" --x x.txt --y y.txt --C 0.1 --tolerance 1e-5 -o s.h5
awk -v a="$same" -v b="$(value primal)" 'BEGIN { exit !(a - b < 2e-5 * b && b - a < 2e-5 * b) }' ||
    fail "the same kernel has objectives $same and $(value primal)"
awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) { x = y = ""; n = 4 + int(12 * rand()); b = 0
    for (t = 0; t < n; t++) { a = rand() < 0.5; x = x (a ? "p" : "q"); y = y (t > 0 && a != b ? "X" : "O")
        b = a }
    print x > "px.txt"; print y > "py.txt" } }'
pairs=(--outputs chain --window 3 --x 'px.txt[0:45]' --y 'py.txt[0:45]' --C 1)
good 1 fit jkm "${pairs[@]}" --kx 'weighted-degree(degree=1)' -o linear.h5
good 1 predict linear.h5 --x 'px.txt[45:]' -o linear.txt
good 1 score --truth 'py.txt[45:]' --pred linear.txt --loss hamming
awk -v wrong="$(value hamming)" 'BEGIN { exit !(wrong > 0.1) }' || fail "letters alone decide: $(value hamming)"
for ranks in 1 2 3 4; do
    good $ranks fit jkm "${pairs[@]}" --kx 'rbf(weighted-degree(degree=2), sigma=median)' -o "k$ranks.h5"
    good $ranks predict "k$ranks.h5" --x 'px.txt[45:]' -o "k$ranks.txt"
    cmp -s k1.txt "k$ranks.txt" || fail "a kernel of windows: $ranks ranks predict otherwise"
done
good 1 score --truth 'py.txt[45:]' --pred k1.txt --loss hamming
below "$(value hamming)" 0.001 "a kernel of windows"
good 2 fit jkm --outputs chain --sequence-column 1 --kx 'rbf(sigma=1)' --landmarks 9 --landmark-choice cholesky \
    --x r.csv --y l.csv --y-type labels --C 0.1 -o k.h5
[ "$(value landmarks)" = 9 ] || fail "landmarks of rows: $(cat out)"
good 3 predict k.h5 --x r.csv -o k.csv
good 1 score --truth l.csv --pred k.csv --y-type labels --loss zero-one
below "$(value zero-one)" 0.2 "labels of rows by landmarks"

# Prediction sets of rows: the labels whose best sequences score nearly as much as the best of all.
half=$(awk -F, '$2 >= 20 { print NR - 1; exit }' r.csv)
for ranks in 1 3; do
    good $ranks fit jkm "${rows[@]}" --x "r.csv[0:$half]" --y "l.csv[0:$half]" --y-type labels --C 0.1 -o c.h5
    good $ranks predict c.h5 --x "r.csv[$half:]" --y-type labels -o "c$ranks.csv" --coverage 0.9 --calibration-x "r.csv[$half:]" --calibration-y "l.csv[$half:]"
done
cmp -s c1.csv c3.csv || fail "sets of 1 and 3 ranks"
good 1 score --truth "l.csv[$half:]" --y-type labels --pred c1.csv --loss coverage
awk -v c="$(value coverage)" 'BEGIN { exit !(c >= 0.9 && c < 1) }' || fail "coverage: $(cat out)"
wrong 'would part those of a sequence' fit jkm "${rows[@]}" --x r.csv --y l.csv --y-type labels --C 1 --holdout 0.5 -o made/m.h5
wrong 'predicts strings' predict s1.h5 --x x.txt -o made/c.svm --coverage 0.9 --calibration-x x.txt --calibration-y y.txt

# A sequence of weight 2 counts as two, of rows and of strings.
awk '{ print NR % 3 == 0 ? 2 : 1 }' x.txt >w.txt
awk -F, '{ print $2 % 3 == 2 ? 2 : 1 }' r.csv >rw.txt
awk 'NR == FNR { w[NR] = $1; next } { for (k = 0; k < w[FNR]; k++) print }' w.txt x.txt >wx.txt
awk 'NR == FNR { w[NR] = $1; next } { for (k = 0; k < w[FNR]; k++) print }' w.txt y.txt >wy.txt
good 2 fit jkm "${strings[@]}" --x wx.txt --y wy.txt --C 0.1 --tolerance 1e-5 -o w.h5
twice=$(value primal)
good 3 fit jkm "${strings[@]}" --x x.txt --y y.txt --weights w.txt --C 0.1 --tolerance 1e-5 -o w.h5
awk -v a="$twice" -v b="$(value primal)" 'BEGIN { exit !(a - b < 2e-5 * b && b - a < 2e-5 * b) }' ||
    fail "weights: $(value primal), not $twice"
good 3 fit jkm "${rows[@]}" --x r.csv --y l.csv --y-type labels --weights rw.txt --C 0.1 -o w.h5
sed -i '2s/.*/5/' rw.txt
wrong 'row 1 weighs 5' fit jkm "${rows[@]}" --x r.csv --y l.csv --y-type labels --weights rw.txt --C 0.1 -o made/m.h5

# Letters that no string had weigh nothing; folds are of sequences.
printf 'az\nzzz\n' >new.txt
good 2 predict s1.h5 --x new.txt -o n.txt
[ "$(awk '{ printf "%d ", length($0) }' n.txt)" = "2 3 " ] || fail "new letters: $(cat n.txt)"
good 2 cv jkm "${strings[@]}" --x x.txt --y y.txt --C 0.01,0.1 --folds 4 --loss hamming
below "$(value hamming)" 0.3 "cross-validation"
for ranks in 1 3; do
    good $ranks cv jkm "${rows[@]}" --x r.csv --y l.csv --y-type labels --C 0.01,0.1 --folds 4 --loss zero-one --folds-out "f$ranks.csv"
    below "$(value zero-one)" 0.3 "cross-validation of rows"
    paste -d, f$ranks.csv r.csv | awk -F, '{ if ($3 in fold && fold[$3] != $1) exit 1; fold[$3] = $1 }' ||
        fail "a sequence came to two folds"
done
cmp -s f1.csv f3.csv || fail "folds of 1 and 3 ranks"

# Names of labels, one per row, come back as names.
sed 's/7/seven/; s/4/four/' l.csv >names.txt
good 2 fit jkm "${rows[@]}" --x r.csv --y names.txt --C 0.1 -o n.h5
good 2 predict n.h5 --x r.csv -o n.txt
sed 's/7/seven/; s/4/four/' p1.csv | cmp -s - n.txt || fail "names: $(head -3 n.txt)"

# A run that is stopped after every round goes on where it was, on other ranks.
chain=(fit jkm "${strings[@]}" --x x.txt --y y.txt --C 0.01 --tolerance 0.02)
good 2 "${chain[@]}" -o whole.h5
grep -E '^(rounds|constraints|support|dual|gap)' out >counts
status=1 stops=0
while [ "$status" != 0 ] && [ "$stops" -lt 200 ]; do
    on $((1 + stops % 3)) "${chain[@]}" -o stopped.h5 --checkpoint states --resume --max-time 0.001s
    stops=$((stops + 1))
done
[ "$stops" -gt 3 ] || fail "stopped $stops times only"
grep -E '^(rounds|constraints|support|dual|gap)' out | cmp -s - counts || fail "resumed: $(cat out), not $(cat counts)"

# What does not do.
cp x.txt short.txt && sed -i '3s/.$//' short.txt
wrong 'example 2|a label for each position' fit jkm "${strings[@]}" --x short.txt --y y.txt --C 1 -o made/m.h5
sed '5s/.*//' x.txt >empty_x.txt && sed '5s/.*//' y.txt >empty_y.txt
wrong 'chain of length 0|input 4' fit jkm "${strings[@]}" --x empty_x.txt --y empty_y.txt --C 1 -o made/m.h5
wrong 'chain of length 0' predict s1.h5 --x empty_x.txt -o made/p.txt
wrong 'price of slack' fit jkm "${strings[@]}" --x x.txt --y y.txt -o made/m.h5
wrong 'odd' fit jkm --outputs chain --kx 'weighted-degree(degree=1)' --window 4 --x x.txt --y y.txt --C 1 -o made/m.h5
wrong 'sequence-column' fit jkm --outputs chain --kx linear --x r.csv --y l.csv --y-type labels --C 1 -o made/m.h5
wrong 'column 3' fit jkm --outputs chain --kx linear --sequence-column 3 --x r.csv --y l.csv --y-type labels --C 1 -o made/m.h5
wrong 'columns' predict r1.h5 --x l.csv -o made/p.csv
wrong 'trained on strings' predict s1.h5 --x r.csv -o made/p.csv
wrong 'spectrum is a kernel for strings' fit jkm --outputs chain --kx 'spectrum(p=2)' --sequence-column 1 --x r.csv --y l.csv --y-type labels --C 1 -o made/m.h5
wrong 'are explicit' fit jkm "${strings[@]}" --x x.txt --y y.txt --C 1 --landmarks 10 -o made/m.h5
wrong 'landmarks goes with' fit jkm --kx linear --x r.csv --y l.csv --y-type labels --C 1 --landmarks 10 -o made/m.h5
wrong 'one slack for all' fit jkm "${strings[@]}" --x x.txt --y y.txt --C 1 --formulation n-slack -o made/m.h5
for column in '' '--sequence-column 7'; do
    # shellcheck disable=SC2086
    on 2 cv jkm --outputs chain --kx linear $column --x r.csv --y l.csv --y-type labels --C 1 --folds 2
    expect 2 "cv with '$column'"
    says err column "cv with '$column'"
done
wrong 'sequence-column' fit jkm --outputs chain --kx linear --sequence-column -1 --x r.csv --y l.csv --y-type labels --C 1 -o made/m.h5
finish
