#!/usr/bin/env bash
# Scores of what was not learned: means and copies of the inputs.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

printf '1,1\n3,3\n' >truth.csv
printf '1,2\n3,4\n' >x.csv
good 2 score --truth truth.csv --pred truth.csv --loss mse --baseline mean,copy --x x.csv
[ "$(value mse)" = 0 ] || fail "the truth itself: $(cat out)"
[ "$(value baseline_mse)" = 1 ] || fail "the mean: $(cat out)"
[ "$(value copy_mse)" = 0.5 ] || fail "the inputs: $(cat out)"
on 2 score --truth truth.csv --pred truth.csv --loss mse --baseline copy
expect 2 "a copy of nothing"
says err "needs the inputs: --x" "a copy of nothing"
on 2 score --truth truth.csv --pred truth.csv --loss mse --baseline copy --x 'x.csv[:, 0:1]'
expect 2 "a copy of other width"
says err "x.csv[:, 0:1]: 2 columns of truth" "a copy of other width"

# Places in lists: the first, half way between two that are as near, and one that is missing.
printf '3\n7\n1\n' >true.csv
printf '3,0.1,2,0.2,9,0.3\n5,0.1,7,0.2,8,0.2\n4,0,5,0,6,0\n' >top.csv
for ranks in 1 2 4; do
    good "$ranks" score --truth true.csv --y-type labels --pred top.csv --loss rank
    [ "$(value rank)" = 2.5 ] || fail "mean place on $ranks ranks: $(cat out)"
    [ "$(value missed)" = 0.333333 ] || fail "missing places on $ranks ranks: $(cat out)"
done
on 2 score --truth true.csv --y-type labels --pred 'top.csv[:, 0:3]' --loss rank
expect 2 "lists of three columns"
says err "as predict --top writes them" "lists of three columns"

# Two rows at squared distances 0 and 4: the root of the mean is not the mean of the roots.
printf '1,1\n3,1\n' >p.csv
good 3 score --truth truth.csv --pred p.csv --loss kernel --ky linear
[ "$(value kernel) $(value root) $(value mean_root)" = "2 1.41421 1" ] || fail "roots: $(cat out)"

# Classes in a CSV: the baseline of zero-one is the commonest. Label sets: out of so many labels.
printf '0\n1\n1\n2\n1\n' >classes.csv
good 2 score --truth classes.csv --pred classes.csv --loss zero-one,mse --baseline mean
[ "$(value baseline_zero-one)" = 0.4 ] || fail "the commonest class: $(cat out)"
[ "$(value baseline_mse)" = 0.4 ] || fail "the mean beside it: $(cat out)"
printf '0.1\n0.9\n1.2\n1.7\n0.8\n' >real.csv
good 2 score --truth classes.csv --pred real.csv --loss zero-one
[ "$(value zero-one)" = 1 ] || fail "real numbers by zero-one: $(cat out)"
says err "predictions of real numbers" "real numbers by zero-one"
printf '1\n0\n0\n1\n2\n' >wrong.csv
good 2 score --truth classes.csv --pred wrong.csv --loss zero-one
grep -q warning err && fail "wrong classes are no real numbers: $(cat err)"
printf '0,1\n1\n2\n' >sets.svm
printf '0\n1\n1,2\n' >other.svm
good 2 score --truth sets.svm --pred other.svm --y-type label-sets --loss hamming
awk -v h="$(value hamming)" 'BEGIN { exit !(h > 0.2222 && h < 0.2223) }' || fail "three labels: $(cat out)"
good 2 score --truth sets.svm --pred other.svm --y-type label-sets --loss hamming --labels 10
awk -v h="$(value hamming)" 'BEGIN { exit !(h > 0.06666 && h < 0.06667) }' || fail "ten labels: $(cat out)"
on 2 score --truth sets.svm --pred other.svm --y-type label-sets --loss hamming --labels 2
expect 2 "fewer labels than there are"
says err "there are 3 labels" "fewer labels than there are"
on 2 score --truth classes.csv --pred classes.csv --loss zero-one --labels 3
expect 2 "--labels without label sets"
finish
