#!/usr/bin/env bash
# Lists of gammas, leave-one-out errors, the penalty on coefficients and the primal form, from files
# to predictions.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# same A B WHAT: two prediction files agree to 1e-9.
same() {
    good 0 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" 1e-9 "$3"
}

# close A B WHAT: two numbers agree to 1e-5 of their size, as they are printed.
close() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && b != "" &&
        (a - b) * (a - b) <= 1e-10 * (a * a + b * b)) }' || fail "$3: $1 is not $2"
}

# at GAMMA COLUMN: a number of the table in out.
at() {
    awk -v gamma="$1" -v column="$2" '$1 == "path" && $2 == gamma { print $column }' out
}

normal 41 3 1 >x.csv
normal 41 2 2 >y.csv
normal 9 3 3 >new.csv
data=(--x x.csv --y y.csv)
rbf=("${data[@]}" --kx 'rbf(sigma=1.5)')

# The table, and the best of it is the model.
good 3 fit krr "${rbf[@]}" --gamma 1e-4,0.01,1,100,1e6 --center -o list.h5 --record r.jsonl
cp out list
[ "$(grep -c '^path' out)" = 6 ] || fail "five gammas and a header: $(cat out)"
best=$(awk '$1 == "path" && $2 + 0 > 0 && (!n++ || $3 < least) { least = $3; g = $2 } END { print g }' out)
[ "$(value gamma)" = "$best" ] || fail "the least leave-one-out error: $best, not $(value gamma)"
[ "$(value form)" = dual ] || fail "the form is told: $(cat out)"
says r.jsonl '"path":{"gamma":[0.0001,0.01,1.0,100.0,1000000.0],"loo":[' "the record"
good 2 fit krr "${rbf[@]}" --gamma "$best" --center -o single.h5
grep -q '^loo' out && fail "errors of a single gamma that nobody asked for: $(cat out)"
for file in list single; do
    good 2 predict $file.h5 --x new.csv -o $file.npy
done
same list.npy single.npy "the best of a list is what a single fit gives"
for solver in cholesky eigen; do
    good 2 fit krr "${rbf[@]}" --gamma 1e-4,0.01,1,100,1e6 --center --solver $solver -o $solver.h5
    [ "$(value solver)" = $solver ] || fail "--solver $solver: $(cat out)"
    [ "$(grep '^path' out)" = "$(grep '^path' list)" ] || fail "the table by $solver"
    good 0 predict $solver.h5 --x new.csv -o $solver.npy
    same list.npy $solver.npy "the best of a list by $solver"
done
good 3 fit krr "${rbf[@]}" --gamma 0.01 --center --loo -o loo.h5
close "$(value loo)" "$(awk '$1 == "path" && $2 == 0.01 { print $3 }' list)" "--loo"

# The leave-one-out error by hand: two examples, k(a, b) = exp(-1/2).
printf '0\n1\n' >x2.csv
printf '1\n3\n' >y2.csv
good 2 fit krr --x x2.csv --y y2.csv --kx 'rbf(sigma=1)' --gamma 1,2 -o two.h5
close "$(at 1 3)" "$(awk 'BEGIN { k = exp(-0.5); print ((1 - 3 * k / 2)^2 + (3 - k / 2)^2) / 2 }')" \
    "leave one of two out"
close "$(at 2 3)" "$(awk 'BEGIN { k = exp(-0.5); print ((1 - k)^2 + (3 - k / 3)^2) / 2 }')" \
    "leave one of two out, gamma 2"

# The other error decides.
good 2 fit krr "${rbf[@]}" --gamma 1e-4,0.01,1,100 --select gcv -o gcv.h5
best=$(awk '$1 == "path" && $2 + 0 > 0 && (!n++ || $4 < least) { least = $4; g = $2 } END { print g }' out)
[ "$(value gamma)" = "$best" ] || fail "the least GCV error: $best, not $(value gamma)"

# The other penalty: one example with k = 2, f = k^2 y / (k^2 + gamma).
echo 1 >one.csv
echo 6 >six.csv
echo 2 >third.csv
for solver in cholesky eigen; do
    good 2 fit krr --x one.csv --y six.csv --kx 'scale(linear, by=2)' --gamma 8 \
        --penalty coefficients --solver $solver -o c.h5
    good 0 predict c.h5 --x one.csv -o c.csv
    same third.csv c.csv "the penalty on coefficients by $solver"
done

# Labels: the share of those that are not found.
awk 'BEGIN { for (i = 0; i < 30; i++) print i / 10 + (i < 15 ? 0 : 2) }' >line.csv
awk 'BEGIN { for (i = 0; i < 30; i++) print i == 5 ? 9 : i < 15 ? 4 : 9 }' >bands.csv
good 3 fit krr --x line.csv --y bands.csv --y-type labels --kx 'rbf(sigma=0.3)' --gamma 0.1,1 \
    --center -o bands.h5
close "$(at 0.1 5)" 0.0333333 "the one label that is out of place"

# The primal is the dual without its inputs, for dense and for sparse rows.
awk -F, '{ printf "0"; for (j = 1; j <= NF; j++) printf " %d:%s", j, $j; print "" }' x.csv >x.svm
awk -F, '{ printf "0"; for (j = 1; j <= NF; j++) printf " %d:%s", j, $j; print " 7:1" }' new.csv \
    >new.svm
for kind in csv svm; do
    linear=(--x "x.$kind" --y y.csv --kx linear --gamma "1e-6,1e-2,1" --center)
    good 3 fit krr "${linear[@]}" -o primal.h5
    [ "$(value form) $(value m)" = "primal 41" ] || fail "the primal of $kind: $(cat out)"
    grep '^path' out >primal
    good 2 fit krr "${linear[@]}" --primal no -o dual.h5
    [ "$(value form)" = dual ] || fail "the dual of $kind: $(cat out)"
    [ "$(grep '^path' out)" = "$(cat primal)" ] || fail "errors of both forms: $(cat out primal)"
    good 2 predict primal.h5 --x new.$kind -o primal.npy
    good 3 predict dual.h5 --x new.$kind -o dual.npy
    same primal.npy dual.npy "primal and dual of $kind"
done
good 0 info primal.h5
says out krr-primal "info on a primal model"
says out weights "info on a primal model"
on 2 predict primal.h5 --x new.csv -o wrong.npy
expect 2 "dense inputs for a model of sparse ones"
says err "trained on sparse inputs" "dense inputs for a model of sparse ones"
good 2 predict primal.h5 --x 'new.svm[0:0]' -o none.npy

# Wrong lists and settings.
bad() { # TEXT STATUS ARGUMENTS...
    local text=$1 wanted=$2
    shift 2
    on 2 fit krr "${rbf[@]}" -o made.h5 "$@"
    expect "$wanted" "$*"
    says err "$text" "$*"
    [ -e made.h5 ] && fail "$*: a model all the same"
}
bad "--gamma must be > 0, not -2" 2 --gamma 1,-2,3
bad "--gamma must be > 0, not 0" 2 --gamma 0
bad "--gamma takes at most 1000 values, not 1001" 2 --gamma "$(seq -s, 1001)"
bad "--gamma expects a number, not ''" 2 --gamma 1,,2
bad "--gamma expects a number, not ''" 2 --gamma=
bad "--solver expects one of auto, cholesky, eigen" 2 --gamma 1 --solver lanczos
bad "mixed precision" 2 --gamma 1,2 --precision mixed
on 2 fit krr --x one.csv --y six.csv --kx linear --gamma 1,2 --center -o made.h5
expect 2 "one example with an intercept"
says err "leaves no mean" "one example with an intercept"
good 2 fit krr "${rbf[@]}" --gamma 1,2 --center -o q.h5 --verbose
grep -q 'not given back' err && fail "$(grep 'not given back' err)"
good 2 fit krr "${data[@]}" --kx linear --gamma 1,2 -o q.h5 --verbose
grep -q 'not given back' err && fail "$(grep 'not given back' err)"
finish
