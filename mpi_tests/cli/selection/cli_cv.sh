#!/usr/bin/env bash
# Cross-validation from the command line: one table on any ranks, by refits and by closed forms.
# shellcheck disable=SC2016
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 48 2 1 >x.csv
awk -F, '{ print $1 * $2 + 0.1 * $1 }' x.csv >y.csv
awk -F, '{ print ($1 > 0) + 2 * ($2 > 0.3) }' x.csv >labels.csv
awk -F, '{ print ($1 > 0 ? "aab" : "abb") ($2 > 0 ? "ba" : "bbb") }' x.csv >strings.txt

# table: what the last run told, but for what depends on ranks and clock.
table() {
    grep -v '^seconds' out
}

# same WHAT ARGUMENTS...: one table on each number of ranks in $counts, and in one group.
counts="2 3 4 6"
same() {
    local what=$1
    shift
    good 0 cv "$@"
    table >alone
    for ranks in $counts; do
        good "$ranks" cv "$@"
        table | cmp -s - alone || fail "$what: $ranks ranks tell another table: $(diff <(table) alone | head -4)"
    done
    good 3 cv "$@" --rank-groups 1 --block 4
    table | cmp -s - alone || fail "$what: one group tells another table: $(diff <(table) alone | head -4)"
    good 0 cv "$@"
}

# cell SETTING COLUMN: an element of the table of the last run.
cell() {
    awk -v name="$1" -v column="$2" '$1 == name { print $column }' out
}

# Ridge regression, nested: the folds that it tells of are the same for a plain run, whose losses
# are those of fits and predictions by hand.
same krr krr --x x.csv --y y.csv --kx 'rbf(sigma=$s)' --try s=0.5,2 --gamma 0.01,0.1 --folds 3 --inner-folds 3
[ "$(grep -c '^outer_fold' out)" = 3 ] || fail "three outer folds: $(cat out)"

# by_hand METHOD OPTIONS...: cv and fits by hand on the same folds lose the same. Inputs are in
# x.$form.
form=csv
by_hand() {
    local mean fold part
    good 2 cv "$@" --x x.$form --y y.csv --folds 3 --folds-out folds.csv --record runs.jsonl
    mean=$(value mse)
    : >by_hand
    for fold in 1 2 3; do
        for part in x.$form y.csv; do
            paste -d' ' folds.csv "$part" | awk -v f=$fold '$1 != f { print $2 }' >"train_$part"
            paste -d' ' folds.csv "$part" | awk -v f=$fold '$1 == f { print $2 }' >"test_$part"
        done
        good 0 fit "$@" --x train_x.$form --y train_y.csv -o m.h5
        good 0 predict m.h5 --x test_x.$form -o pred.csv
        good 0 score --truth test_y.csv --pred pred.csv --loss mse
        echo "$(value mse) $(value rows)" >>by_hand
    done
    awk -v told="$mean" '{ sum += $1 * $2; n += $2 }
        END { d = sum / n - told; exit !(n == 48 && d * d < 1e-10 * told * told) }' by_hand ||
        fail "$*: fits by hand lose $(cat by_hand), and cv tells $mean"
}
by_hand krr --kx 'rbf(sigma=2)' --gamma 0.01
says runs.jsonl '"loss":{"name":"mse","mean":' "the record of the loss"
says runs.jsonl '"trials":[{"setting":"-"' "the record of the table"

# A kernel that looks at all training objects has not seen those held out.
by_hand krr --kx 'rownorm(rbf(sigma=2))' --gamma 0.01

# Nor has the alphabet of mismatch: one letter is in a single string.
awk 'BEGIN { srand(4); for (i = 0; i < 48; i++) { s = i == 20 ? "z" : "a"
    for (k = 0; k < 9; k++) s = s substr("abcd", 1 + int(4 * rand()), 1); print s } }' >x.txt
form=txt
by_hand krr --kx 'mismatch(p=3, k=1)' --gamma 10
form=csv

# What has no closed form is fitted anew, as fit would.
normal 9 1 5 >extra.csv
by_hand krr --kx 'rbf(sigma=2)' --gamma 1e-7 --precision single
by_hand krr --kx 'rbf(sigma=2)' --gamma 0.01 --reduce 12 --landmark-choice farthest
by_hand kde --kx 'rbf(sigma=2)' --ky 'rbf(sigma=1)' --components 3 --gamma 0.1 --solver pcg --landmarks 12
by_hand kde --kx 'rbf(sigma=2)' --ky linear --components 2 --learner svr --C 1 --tolerance 1e-8
by_hand kde --kx 'rbf(sigma=2)' --ky 'rbf(sigma=1)' --components 3 --gamma 0.1 --extra-y extra.csv --shrink 0.5

# Strings, labels and neighbours.
same kde kde --x x.csv --y strings.txt --kx 'rbf(sigma=$s)' --try s=1,3 --ky 'normalize(spectrum(p=2))' \
    --components 1,2 --gamma 0.1,0.01 --folds 3 --inner-folds 2 --loss edit
counts=2
same "krr of labels" krr --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=1)' --gamma 0.01,1 --folds 4
same knn knn --x x.csv --y strings.txt --kx 'rbf(sigma=1)' --folds 4 --loss kernel --loss-kernel 'spectrum(p=2)'
[ -n "$(value root)" ] || fail "the root of the kernel loss: $(cat out)"
[ "$(value kernel) $(value kernel_loss)" = "rbf(sigma=1) $(cell - 2)" ] || fail "a kernel and its loss: $(cat out)"
good 2 cv knn --x x.csv --y labels.csv --y-type labels --kx linear --k 1,3,5
[ -n "$(cell k=3 3)" ] || fail "a table of neighbours: $(cat out)"
good 2 cv svm --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=1)' --C 1,10
[ -n "$(cell C=10 2)" ] || fail "a table of C: $(cat out)"

# A label of its own for each example: every prediction differs in 2 of the 48 labels of all folds.
awk '{ print NR }' x.csv >own.svm
good 2 cv knn --x x.csv --y own.svm --y-type label-sets --kx linear --k 1 --loss hamming --folds 3
[ "$(value hamming)" = 0.0416667 ] || fail "labels of all folds: $(cat out)"

# A mean far above what differs does not drown it: with all components of numbers kde is ridge
# regression, but for what their kernel matrix loses where ranks share it.
awk -F, '{ print 900000 + $1 * $2 "," 900000 - $1 }' x.csv >high.csv
good 1 cv krr --x x.csv --y high.csv --kx 'rbf(sigma=1)' --gamma 0.1 --center
ridge=$(value mse)
for groups in 1 3; do
    good 3 cv kde --x x.csv --y high.csv --kx 'rbf(sigma=1)' --gamma 0.1 --ky linear --components all --rank-groups $groups
    awk -v a="$(value mse)" -v b="$ridge" 'BEGIN { exit !((a - b)^2 < (1e-3 * b)^2) }' ||
        fail "high numbers in $groups groups: $(value mse) instead of $ridge"
done

# More components than there are, and classes too small, are told.
good 2 cv kde --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=1)' --ky class --components 9 --gamma 1
says err "only 3 are not zero" "too many components"
good 2 cv kde --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=1)' --ky class --components 9,50% --gamma 1
says err "only 3 are not zero" "too many components beside a share"
good 2 cv kde --x x.csv --y labels.csv --y-type labels --kx 'rbf(sigma=$width)' --try width=1.000000000,2 \
    --ky class --components 9 --gamma 0.000000001,1 --shrink 0.1
[ "$(grep -c "only 3 are not zero" err)" = 1 ] || fail "too many components of refits: $(cat err)"
awk '/^setting / { at = index($0, "loss") }
    /^width=/ { rows += substr($0, at - 1) ~ /^ [0-9]/ }
    END { exit rows != 4 }' out || fail "columns of the table: $(cat out)"
{ head -46 labels.csv; echo 7; echo 7; } >rare.csv
good 2 cv krr --x x.csv --y rare.csv --y-type labels --kx 'rbf(sigma=1)' --gamma 1
says err "class 7 has 2 examples and there are 5 folds" "a class missing from a fold"

# bad TEXT ARGUMENTS...: a run that must fail and say why.
bad() {
    local text=$1
    shift
    on 2 cv "$@"
    [ "$status" != 0 ] || fail "dkmap cv $*: must fail"
    says err "$text" "dkmap cv $*"
}
head -4 x.csv >x4.csv
head -4 y.csv >y4.csv
awk '{ print 3 }' x.csv >same.csv
bad "look alike" kde --x x.csv --y same.csv --y-type labels --kx 'rbf(sigma=1)' --ky class --components 1 --gamma 1
bad "look alike" kde --x x.csv --y same.csv --kx 'rbf(sigma=1)' --ky linear --components 1 --gamma 1 --rank-groups 1
bad "4 examples cannot fill 5 folds" krr --x x4.csv --y y4.csv --kx linear --gamma 1
bad "k = 40 neighbors of 38" knn --x x.csv --y y.csv --kx linear --k 1,40
bad "no --try says what \$t is" krr --x x.csv --y y.csv --kx 'rbf(sigma=$t)' --gamma 1
bad "a value is missing" krr --x x.csv --y y.csv --kx 'rbf(sigma=$s)' --try s=1,,2 --gamma 1
bad "--gamma expects a number" krr --x x.csv --y y.csv --kx linear --gamma 1,
bad "the loss edit is not one for dense" krr --x x.csv --y y.csv --kx linear --gamma 1 --loss edit
bad "--loss-kernel" knn --x x.csv --y strings.txt --kx linear --loss kernel
bad "--gamma must be > 0" kde --x x.csv --y y.csv --kx linear --ky linear --components 1 --gamma 1,-1
bad "--components 0" kde --x x.csv --y y.csv --kx linear --ky linear --components 1,0 --gamma 1
bad "--loss rank is for lists" krr --x x.csv --y labels.csv --y-type labels --kx linear --gamma 1 --loss rank
bad "unknown option --write-model" krr --x x.csv --y y.csv --kx linear --gamma 1 --write-model m.h5

# Options of fit that mean nothing here are not passed over.
bad "--loo is for fit" krr --x x.csv --y y.csv --kx linear --gamma 1 --loo
bad "--criterion is for fit" krr --x x.csv --y y.csv --kx linear --gamma 1 --select gcv
bad "--time is for fit" krr --x x.csv --y y.csv --kx linear --gamma 1 --time 1s
bad "--landmarks goes with --solver pcg" krr --x x.csv --y y.csv --kx linear --gamma 1 --solver cholesky --landmarks 9
bad "--max-iter goes with --solver pcg" kde --x x.csv --y y.csv --kx linear --ky linear --components 1 --gamma 1 --steps 9
bad "--gamma goes with --regressor ridge" kde --x x.csv --y y.csv --kx linear --ky linear --components 1 \
    --learner svr --C 1 --gamma 1
bad "--candidate-lists is for fit" jkm --x x.csv --y y.csv --kx linear --C 1 --lists labels.csv
on 0 fit kde --x x.csv --y y.csv --kx linear --ky linear --components 1,2 --gamma 1 -o m.h5
expect 2 "a list for fit"
says err "dkmap cv chooses between several" "a list for fit"
finish
