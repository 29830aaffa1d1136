#!/usr/bin/env bash
# Every command that takes --checkpoint, stopped at every safe point and resumed on other ranks, comes
# to what it comes to without a stop; so it does with --resume where nothing stops it, and once more
# with all states of a finished run at hand.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# stop_and_resume ARGUMENTS...: run with as many stops as there are safe points; their number is in
# $stops.
stop_and_resume() {
    local ranks=(0 0 2 0 0 3)
    rm -rf states
    for ((stops = 0; stops < 60; stops++)); do
        on "${ranks[stops % 6]}" "$@" --checkpoint states --resume --max-time 0.001s
        [ "$status" = 3 ] || break
    done
    expect 0 "${*:1:2}, stopped $stops times"
}

# compare KIND NAME LARGEST WHAT: the last run gave what the one without a stop did. KIND says what is
# compared: what a model predicts, encodes or extends, its eigenvalues, a file of numbers, or standard output.
compare() {
    case $1 in
    predict | encode) good 0 "$1" "$2.h5" --x new.csv -o "$2.npy" "${coordinates[@]}" ;;
    labels)
        good 0 predict "$2.h5" --x new.csv -o "$2.csv"
        [ "$2" = plain ] || cmp -s "$2.csv" plain.csv || fail "$4: other labels"
        return
        ;;
    apply) good 0 extend apply "$2.h5" --features new.csv --among -o "$2.npy" ;;
    values) good 0 score --truth "plain.h5:/eigenvalues" --pred "$2.h5:/eigenvalues" --loss mse ;;
    table)
        grep -vE '^(seconds|groups|ranks|grams|grid)' out >"$2.txt"
        [ "$2" = plain ] || diff "$2.txt" plain.txt >diffs || fail "$4: $(head -5 diffs)"
        return
        ;;
    esac
    [ "$2" = plain ] && return
    [ "$1" = values ] || good 0 score --truth plain.npy --pred "$2.npy" --loss mse
    below "$(value rmse)" "$3" "$4"
}

# check LEAST KIND LARGEST ARGUMENTS...: with at least so many stops. OUT stands for the output file.
check() {
    local least=$1 kind=$2 largest=$3 ending=.h5 what="${*:4}"
    shift 3
    [ "$kind" = numbers ] && ending=.npy
    good 2 "${@/#OUT/plain$ending}"
    compare "$kind" plain 0 "$what"
    stop_and_resume "${@/#OUT/stopped$ending}"
    [ "$stops" -ge "$least" ] || fail "$what: stopped $stops times, not $least"
    compare "$kind" stopped "$largest" "$what, stopped $stops times"
    rm -rf states
    for again in "without a stop" "from the states of its end"; do
        good 0 "${@/#OUT/again$ending}" --checkpoint states --resume --checkpoint-every 0
        compare "$kind" again "$largest" "$what, $again"
    done
    echo "$stops stops: ${what:0:90}"
}

normal 60 4 1 >x.csv
normal 12 4 2 >new.csv
awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x.csv >y.csv
awk -F, '{ print ($1 > 0) + ($2 > 0.3) }' x.csv >labels.csv
awk '{ print NR % 4 != 0 }' x.csv >seen.csv
coordinates=()
rbf=(--kx 'rbf(sigma=1.5)')
xy=(--x x.csv --y y.csv "${rbf[@]}")

# Ridge regression by all its solvers.
check 2 predict 1e-9 fit krr "${xy[@]}" --gamma 0.01 --precision double -o OUT
check 2 predict 1e-9 fit krr "${xy[@]}" --gamma 0.01 --precision mixed -o OUT
check 1 predict 1e-3 fit krr "${xy[@]}" --gamma 0.01 --precision single -o OUT
check 2 predict 1e-9 fit krr "${xy[@]}" --gamma 0.001,0.01,0.1 --solver cholesky -o OUT
check 1 predict 1e-9 fit krr "${xy[@]}" --gamma 0.001,0.01,0.1 --solver eigen -o OUT
check 1 predict 1e-9 fit krr "${xy[@]}" --gamma 0.001,0.01,0.1 --solver band -o OUT
check 2 predict 1e-9 fit krr "${xy[@]}" --gamma 0.01 --penalty coefficients -o OUT
check 5 predict 1e-6 fit krr "${xy[@]}" --gamma 0.1 --solver pcg --landmarks 12 -o OUT
check 5 predict 1e-9 fit krr "${xy[@]}" --gamma 0.1 --solver pcg --centers all --landmarks 12 -o OUT
check 1 predict 1e-8 fit krr "${xy[@]}" --gamma 0.01,0.1 --reduce 20 -o OUT
check 1 predict 1e-9 fit krr --x x.csv --y y.csv --kx linear --gamma 0.01 -o OUT

# Components and embeddings; the same matrix goes through more than one operator.
check 3 encode 1e-7 fit kpca --x x.csv "${rbf[@]}" --components 5 --eigensolver block -o OUT
check 2 encode 1e-7 fit kpca --x x.csv "${rbf[@]}" --components 90% --eigensolver full -o OUT
check 2 encode 1e-6 fit kpca --x x.csv "${rbf[@]}" --components 5 --landmarks 30 -o OUT
check 3 encode 1e-7 embed lle --x x.csv --neighbours 12 --components 2 -o OUT
check 3 numbers 1e-6 embed lle --x x.csv --neighbours 12 --components 2 --gram OUT -o lle.h5

# Matrices.
check 1 numbers 1e-12 gram --x x.csv "${rbf[@]}" --center -o OUT
check 1 numbers 1e-9 gram --x x.csv "${rbf[@]}" --clip -o OUT
good 0 gram --x x.csv "${rbf[@]}" -o k.npy
good 0 gram --x x.csv --kx 'laplace(sigma=2)' -o l.npy
check 2 values 1e-7 eig --gram k.npy --components 4 --eigensolver block --center -o OUT
check 1 values 1e-7 eig --gram k.npy --components 4 --eigensolver full -o OUT
check 2 table 0 align --x x.csv --kx "rbf(sigma=\$s)" --try s=1,2 --labels labels.csv

# Kernel extrapolation: bounds of the spectrum come from K and from c I - K.
check 5 numbers 1e-6 extend complete --gram k.npy --observed seen.csv --by l.npy --lambda 0.5 -o OUT
check 5 table 0 extend complete --gram k.npy --by l.npy --lambda 0.5 --y labels.csv --missing 20 --repeat 1
check 5 apply 1e-6 extend fit --gram k.npy --features x.csv -o OUT
good 0 extend fit --gram k.npy --features x.csv -o q1.h5
good 0 extend fit --gram l.npy --features x.csv -o q2.h5
check 0 apply 1e-6 extend combine q1.h5 q2.h5 --lambda 0.3 -o OUT

# A kernel that comes from a file is part of the data: once that is another, so is the kernel matrix.
cp q1.h5 q.h5
check 1 numbers 1e-9 gram --x x.csv --kx 'extend(q.h5)' -o OUT
cp q2.h5 q.h5
on 0 gram --x x.csv --kx 'extend(q.h5)' -o again.npy --checkpoint states --resume
expect 2 "another kernel file"
says err "other data" "another kernel file"

# A matrix that is not positive semidefinite is refused with all states of its bounds at hand, too.
awk 'BEGIN { for (i = 0; i < 60; i++) for (j = 0; j < 60; j++)
    printf "%s%s", i == j ? 0.1 : 1 / (1 + (i - j) ^ 2), j < 59 ? "," : "\n" }' >bad.csv
rm -rf states
for again in 1 2; do
    on 2 extend fit --gram bad.csv --features x.csv -o bad.h5 --checkpoint states --resume --checkpoint-every 0
    expect 1 "an indefinite matrix, turn $again"
    says err "not positive semidefinite" "an indefinite matrix, turn $again"
done

# Dependency estimation, joint maps and the others.
coordinates=(--preimage coordinates)
check 2 predict 1e-7 fit kde "${xy[@]}" --ky 'rbf(sigma=2)' --components 4 --gamma 0.01 -o OUT
check 2 predict 1e-6 fit kde "${xy[@]}" --ky 'rbf(sigma=2)' --components 4 --gamma 0.1 --solver pcg --landmarks 12 -o OUT
coordinates=()
classes=(--x x.csv --y labels.csv --y-type labels "${rbf[@]}")
check 3 predict 1e-9 fit jkm "${xy[@]}" --outputs sphere --epsilon 0.5 --C 1 --tolerance 0.02 -o OUT
check 3 labels 0 fit jkm "${classes[@]}" --C 1 --tolerance 0.1 --slacks one -o OUT
check 1 labels 0 fit svm "${classes[@]}" --C 1 -o OUT
check 0 predict 1e-9 fit knn "${xy[@]}" --k 3 -o OUT
check 0 numbers 1e-9 predict plain.h5 --x x.csv -o OUT

# Cells of grids.
check 3 table 0 cv krr "${xy[@]}" --gamma 0.01,0.1 --folds 3
check 2 table 0 cv kde "${xy[@]}" --ky 'rbf(sigma=2)' --components 4 --gamma 0.01,0.1 --folds 2
check 1 table 0 cv knn "${xy[@]}" --k 1,3 --folds 2
check 1 table 0 cv svm "${classes[@]}" --C 1,10 --folds 2
check 1 table 0 cv jkm "${classes[@]}" --C 1 --tolerance 0.1 --folds 2
finish
