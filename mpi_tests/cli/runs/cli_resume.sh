#!/usr/bin/env bash
# Runs that stop at every safe point and go on, on one, two and three ranks in turn, come to what a
# run comes to that never stopped: rounds of joint maps, steps on landmarks, cells of grids.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# by_steps WHAT ARGUMENTS...: run to the end with as many stops as there are; their number is in $stops.
by_steps() {
    local what=$1 ranks=(0 2 0 3)
    shift
    rm -rf states
    for ((stops = 0; stops < 100; stops++)); do
        on "${ranks[stops % 4]}" "$@" --checkpoint states --resume --max-time 0.001s
        [ "$status" = 3 ] || break
        says err "--resume goes on" "$what"
    done
    expect 0 "$what"
    says err "going on from" "$what"
}

# same_model WHAT INPUTS LARGEST: whole.h5 and stopped.h5 predict the same.
same_model() {
    good 0 predict whole.h5 --x "$2" -o whole.npy
    good 0 predict stopped.h5 --x "$2" -o stopped.npy
    good 0 score --truth whole.npy --pred stopped.npy --loss mse
    below "$(value rmse)" "$3" "$1"
}

# Constraints, multipliers and their program are taken up as they were: not a round differs, nor where
# the Gram matrix of constraints is spread over the ranks from some round on.
good 0 gen identity --n 30 --dim 8 --seed 3 --out-dir sphere
sphere=(fit jkm --x 'sphere/x.npy[0:6]' --y 'sphere/y.npy[0:6]' --kx linear --epsilon 0.3)
good 2 "${sphere[@]}" --joint 'diag(lambda=0.8)' -o whole.h5
rounds=$(value rounds)
by_steps "a joint map" "${sphere[@]}" --joint 'diag(lambda=0.8)' --spread 12 -o stopped.h5
[ "$stops" = "$rounds" ] || fail "a joint map of $rounds rounds stopped $stops times"
[ "$(value rounds)" = "$rounds" ] || fail "a joint map: $(value rounds) rounds, not $rounds"
same_model "a joint map" 'sphere/x.npy[6:30]' 1e-12

# With one slack for all, constraints name a candidate for each example.
awk 'BEGIN { srand(5); for (i = 0; i < 60; i++) { c = i % 3
    print 3 * (c == 0) + rand() "," 3 * (c == 1) + rand() "," rand() > "c.csv"; print c > "l.csv" } }'
classes=(fit jkm --x c.csv --y l.csv --y-type labels --kx linear --C 0.1 --slacks one --tolerance 0.05)
good 2 "${classes[@]}" -o whole.h5
grep -E '^(rounds|constraints|support|dual|gap)' out >counts
by_steps "a joint map with one slack" "${classes[@]}" -o stopped.h5
grep -E '^(rounds|constraints|support|dual|gap)' out | cmp -s - counts ||
    fail "a joint map with one slack: $(cat out), not $(cat counts)"

# Conjugate gradients on landmarks go on with their directions. Sums over other ranks round otherwise.
normal 400 4 1 >x.csv
awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x.csv >y.csv
landmarks=(fit krr --x x.csv --y y.csv --kx 'rbf(sigma=1.5)' --gamma 1 --solver pcg --landmarks 10)
good 2 "${landmarks[@]}" -o whole.h5
steps=$(value steps)
by_steps "landmarks" "${landmarks[@]}" -o stopped.h5
[ "$(value steps)" = "$steps" ] || fail "landmarks: $(value steps) steps, not $steps"
[ "$stops" -ge "$steps" ] || fail "landmarks: $stops stops in $steps steps"
same_model "landmarks" 'x.csv[0:100]' 1e-7

# Cells of a grid that are done stay done, however the ranks are grouped.
cells=(cv krr --x 'x.csv[0:120]' --y 'y.csv[0:120]' --kx "rbf(sigma=\$s)" --try "s=1,2" --gamma "0.01,0.1"
    --folds 3 --inner-folds 2)
good 2 "${cells[@]}"
grep -vE '^(seconds|groups|ranks|grams)' out >table
by_steps "cross-validation" "${cells[@]}"
grep -vE '^(seconds|groups|ranks|grams)' out | diff - table >diffs || fail "cross-validation: $(cat diffs)"
[ "$stops" -ge 4 ] || fail "cross-validation stopped $stops times only"
finish
