#!/usr/bin/env bash
# Weights of examples from the command line: one of weight 2 is the example twice, on 1 and on 3 ranks, in
# fits, cross-validation and losses; what is no weight is refused.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 60 3 1 >x.csv
normal 15 3 2 >new.csv
awk -F, '{ print $1 * $2 "," $1 - $3 }' x.csv >y.csv
awk -F, '{ print ($1 + $2 > 0.3) }' x.csv >labels.csv
awk '{ print NR % 3 + 1 }' x.csv >w.csv
for part in x y labels; do
    paste -d' ' w.csv $part.csv | awk '{ for (k = 0; k < $1; k++) print $2 }' >"twice_$part.csv"
done

# near A B TOLERANCE WHAT: files of numbers agree.
near() {
    paste -d, "$1" "$2" | awk -F, -v tol="$3" '{ for (j = 1; j <= NF / 2; j++) { d = $j - $(j + NF / 2)
        if (d * d > tol * tol) bad = 1 } rows++ } END { exit bad || rows == 0 }' ||
        fail "$4: $(paste -d' ' "$1" "$2" | head -3)"
}

# twice WHAT TOLERANCE Y PREDICTS OPTIONS...: a fit with weights predicts what one to copies does.
twice() {
    local what=$1 tolerance=$2 y=$3 predicts=$4 ranks outputs="--y $3.csv" copies="--y twice_$3.csv"
    shift 4
    [ "$y" = none ] && outputs="" copies=""
    [ "$y" = labels ] && outputs="$outputs --y-type labels" copies="$copies --y-type labels"
    # shellcheck disable=SC2086
    {
        good 0 fit "$@" --x twice_x.csv $copies -o copies.h5
        good 0 $predicts copies.h5 --x new.csv -o copies.csv
        for ranks in 0 3; do
            good $ranks fit "$@" --x x.csv $outputs --weights w.csv -o m.h5
            good 0 $predicts m.h5 --x new.csv -o weighted.csv
            [ "$predicts" = encode ] && sed -i 's/-//g' weighted.csv copies.csv # the sign of an axis is any
            near weighted.csv copies.csv "$tolerance" "$what on $ranks ranks"
        done
    }
}
ridge="krr --kx rbf(sigma=2) --gamma 0.1"
# shellcheck disable=SC2086
{
    twice "ridge regression" 1e-10 y predict $ridge --center --precision double
    twice "mixed precision" 1e-10 y predict $ridge --precision mixed
    twice "an eigendecomposition" 1e-10 y predict $ridge --solver eigen --center
    twice "the primal" 1e-10 y predict krr --kx linear --gamma 0.1 --center
    twice "labels" 1e-10 labels predict $ridge
    twice "kde" 1e-10 y predict kde --kx 'rbf(sigma=2)' --ky linear --components 2 --gamma 0.1
    twice "kernel components" 1e-10 none encode kpca --kx 'rbf(sigma=2)' --components 3
    twice "support vectors" 1e-5 labels "predict --scores" svm --kx 'rbf(sigma=2)' --C 2 --tolerance 1e-9 --solver decomposition
    twice "a squared hinge" 1e-5 labels "predict --scores" svm --kx 'rbf(sigma=2)' --C 2 --tolerance 1e-9 --hinge squared \
        --solver decomposition

    # The objective of joint kernel maps is that of copies.
    maps="jkm --kx rbf(sigma=2) --C 1 --tolerance 1e-6"
    good 0 fit $maps --x twice_x.csv --y twice_labels.csv --y-type labels -o copies.h5
    copies=$(value primal)
    for ranks in 0 3; do
        good $ranks fit $maps --x x.csv --y labels.csv --y-type labels --weights w.csv -o m.h5
        awk -v a="$(value primal)" -v b="$copies" 'BEGIN { exit !(b > 0 && (a - b)^2 < (1e-5 * b)^2) }' ||
            fail "joint kernel maps on $ranks ranks: $(value primal), and of copies $copies"
    done

    # So is that of one slack for all, by multipliers and, in copies, by weight vectors of classes.
    for kernel in 'rbf(sigma=2)' linear; do
        one="jkm --kx $kernel --C 1 --tolerance 1e-6 --formulation 1-slack"
        good 0 fit $one --x twice_x.csv --y twice_labels.csv --y-type labels -o copies.h5
        copies=$(value primal)
        for ranks in 0 3; do
            good $ranks fit $one --x x.csv --y labels.csv --y-type labels --weights w.csv -o m.h5
            awk -v a="$(value primal)" -v b="$copies" 'BEGIN { exit !(b > 0 && (a - b)^2 < (1e-5 * b)^2) }' ||
                fail "one slack, $kernel, on $ranks ranks: $(value primal), and of copies $copies"
        done
    done

    # Conjugate gradients: all examples as landmarks are the exact fit to copies; some of them are the
    # exact fit under their Nystroem kernel. Inputs are in memory or streamed.
    good 0 fit $ridge --center --precision double --x twice_x.csv --y twice_y.csv -o copies.h5
    good 0 predict copies.h5 --x new.csv -o copies.csv
    good 0 fit $ridge --center --nystroem 20 --x x.csv --y y.csv --weights w.csv -o some.h5
    good 0 predict some.h5 --x new.csv -o some.csv
    for ranks in 0 3; do
        for stream in "" --stream; do
            for landmarks in 60 20; do
                good $ranks fit $ridge --center --solver pcg --landmarks $landmarks --tolerance 1e-10 $stream --x x.csv --y y.csv \
                    --weights w.csv -o m.h5
                good 0 predict m.h5 --x new.csv -o weighted.csv
                other=copies.csv
                [ $landmarks = 20 ] && other=some.csv
                near weighted.csv $other 1e-6 "pcg on $landmarks landmarks and $ranks ranks $stream"
            done
        done
    done

    # Balanced classes are weights m / (classes x members).
    ones=$(awk '{ s += $1 } END { print s }' labels.csv)
    awk -v n="$ones" '{ print $1 ? 60 / (2 * n) : 60 / (2 * (60 - n)) }' labels.csv >balance.csv
    good 3 fit $ridge --x x.csv --y labels.csv --y-type labels --class-weights balanced -o m.h5
    good 0 predict m.h5 --x new.csv --scores -o balanced.csv
    good 0 fit $ridge --x x.csv --y labels.csv --y-type labels --weights balance.csv -o m.h5
    good 0 predict m.h5 --x new.csv --scores -o weighted.csv
    near balanced.csv weighted.csv 1e-5 "balanced classes"

    # Cross-validation: copies stay together as groups, and lose the same in the mean.
    awk '{ print NR % 4 + 1 }' x.csv >folds.csv
    paste -d' ' w.csv folds.csv | awk '{ for (k = 0; k < $1; k++) print $2 }' >twice_folds.csv
    good 0 cv $ridge --x twice_x.csv --y twice_y.csv --folds-in twice_folds.csv
    copies=$(value mse)
    good 3 cv $ridge --x x.csv --y y.csv --weights w.csv --folds-in folds.csv -o best.h5
    [ "$(value mse)" = "$copies" ] || fail "cv with weights: $(value mse), and of copies $copies"
    good 0 cv kde --kx 'rbf(sigma=2)' --ky linear --components 2 --gamma 0.1 --x x.csv --y y.csv --weights w.csv --folds-in folds.csv
    [ -n "$(value mse)" ] || fail "cv of kde with weights"

    # Losses; rows that are held out or dropped take their weights along.
    good 0 predict best.h5 --x x.csv -o pred.csv
    good 0 predict best.h5 --x twice_x.csv -o twice_pred.csv
    good 0 score --truth twice_y.csv --pred twice_pred.csv --loss mse,mae --baseline none
    copies="$(value mse) $(value mae)"
    good 3 score --truth y.csv --pred pred.csv --loss mse,mae --weights w.csv --baseline none
    [ "$(value mse) $(value mae)" = "$copies" ] || fail "weighted losses: $(value mse) $(value mae), and of copies $copies"
    good 3 fit $ridge --x x.csv --y y.csv --weights w.csv --holdout 0.2 -o m.h5
    [ "$(value m)" = 48 ] || fail "weights of a part: $(cat out)"

    # What is no weight, and what takes none.
    wrong() {
        local text=$1 ranks
        shift
        for ranks in $counts; do
            rm -f made.h5
            on $ranks "$@"
            [ "$status" != 0 ] || fail "dkmap $*: must fail"
            says err "$text" "dkmap $*"
            [ -s out ] && fail "dkmap $*: results on stdout"
            [ -e made.h5 ] && fail "dkmap $*: left a model"
        done
    }
    counts="0 3"
    for weight in 0 -1 nan; do
        sed "5s/.*/$weight/" w.csv >bad.csv
        wrong "row 5" fit $ridge --x x.csv --y y.csv --weights bad.csv -o made.h5
    done
    head -7 w.csv >short.csv
    wrong "short.csv has 7 weights, and there are 60 examples" fit $ridge --x x.csv --y y.csv --weights short.csv -o made.h5
    counts=0
    wrong "one column" fit $ridge --x x.csv --y y.csv --weights y.csv -o made.h5
    wrong "not for --basis all" fit $ridge --x x.csv --y y.csv --weights w.csv --solver pcg --basis all -o made.h5
    wrong "class-weights is for outputs that are classes" fit $ridge --x x.csv --y y.csv --class-weights balanced -o made.h5
    wrong "give --C" fit jkm --kx linear --x x.csv --y labels.csv --y-type labels --weights w.csv -o made.h5
    wrong "LIBSVM takes no weights" fit svm --kx linear --C 1 --x x.csv --y labels.csv --y-type labels --weights w.csv --solver libsvm -o made.h5
    wrong "r2 is not a mean over rows" score --truth y.csv --pred pred.csv --loss r2 --weights w.csv
}
finish
