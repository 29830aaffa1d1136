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

# Letters that no string had weigh nothing; folds are of sequences.
printf 'az\nzzz\n' >new.txt
good 2 predict s1.h5 --x new.txt -o n.txt
[ "$(awk '{ printf "%d ", length($0) }' n.txt)" = "2 3 " ] || fail "new letters: $(cat n.txt)"
good 2 cv jkm "${strings[@]}" --x x.txt --y y.txt --C 0.01,0.1 --folds 4 --loss hamming
below "$(value hamming)" 0.3 "cross-validation"

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
wrong 'take --kx linear' fit jkm --outputs chain --kx 'rbf(sigma=1)' --sequence-column 1 --x r.csv --y l.csv --y-type labels --C 1 -o made/m.h5
wrong 'one slack for all' fit jkm "${strings[@]}" --x x.txt --y y.txt --C 1 --formulation n-slack -o made/m.h5
wrong 'sequence-column' cv jkm "${rows[@]}" --x r.csv --y l.csv --y-type labels --C 1 --folds 2
finish
