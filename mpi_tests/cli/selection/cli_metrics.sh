#!/usr/bin/env bash
# Measures of predictions: small cases worked out by hand, and scikit-learn where it is there.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# is NAME VALUE: what the last run reported, to the digits it prints.
is() {
    awk -v a="$(value "$1")" -v b="$2" \
        'BEGIN { exit !(a != "" && a - b < 2e-6 * (1 + b * b) && b - a < 2e-6 * (1 + b * b)) }' ||
        fail "$1 is '$(value "$1")', not $2: $(cat out)"
}

# Names of classes: 2 of 3 cats, 1 of 2 dogs, 1 of 1 owl.
printf 'cat\ndog\ncat\nowl\ncat\ndog\n' >true.txt
printf 'cat\ncat\ndog\nowl\ncat\ndog\n' >pred.txt
for ranks in 1 3; do
    good "$ranks" score --truth true.txt --pred pred.txt --confusion \
        --loss accuracy,balanced-accuracy,f1-macro,precision
    is accuracy 0.666667
    is accuracy_stderr 0.210819
    is balanced-accuracy 0.722222
    is f1-macro 0.722222
    is precision 0.666667
    is baseline_accuracy 0.5
    is baseline_balanced-accuracy 0.333333
    says out "$(printf 'true \\ predicted\tcat\tdog\towl')" "names of columns"
    says out "$(printf 'cat\t2\t1\t0')" "cats"
    says out "$(printf 'owl\t0\t0\t1')" "owls"
done

# What is taken when no loss is named.
good 3 score --truth true.txt --pred pred.txt
is edit 1
printf '1\n2\n4\n' >y.csv
printf '1\n2\n1\n' >p.csv
good 3 score --truth y.csv --pred p.csv
is mse 3
good 1 score --truth y.csv --pred p.csv --loss mse,r2
[ "$(grep -c '^r2' out)" = 1 ] || fail "r2 twice: $(cat out)"
good 1 score --truth y.csv --pred p.csv --y-type labels
is accuracy 0.666667
good 3 score --truth y.csv --pred p.csv --loss mae,median,spearman --baseline none
is mae 1
is median 0
is spearman 0
grep -q baseline out && fail "a baseline that nobody wanted: $(cat out)"

# Characters, not bytes; n-grams of words and characters.
printf 'na\303\257ve caf\303\251\nthe cat sat on the mat\n' >y.txt
printf 'naive cafe\nthe cat sat on a mat\n' >p.txt
for ranks in 1 3; do
    good "$ranks" score --truth y.txt --pred p.txt --loss edit,bleu,chrf
    is edit 2.5
    is normalised 0.168182
    is bleu 0.477721 # the fourth root of 5/8 * 3/6 * 2/4 * 1/3
done
good 3 score --truth y.txt --pred y.txt --loss bleu,chrf
is bleu 1
is chrf 1

# Lists of candidates, scores of one column, and what cannot be measured.
printf '3\n7\n1\n' >true.csv
printf '3,0.1,2,0.2,9,0.3\n5,0.1,7,0.2,8,0.3\n4,0,5,0,6,0\n' >top.csv
good 3 score --truth true.csv --y-type labels --pred top.csv --loss mrr
is mrr 0.5
printf '0\n0\n1\n1\n' >y.csv
printf '0.1\n0.4\n0.35\n0.8\n' >p.csv
for ranks in 1 3; do
    good "$ranks" score --truth y.csv --pred p.csv --loss auc,average-precision
    is auc 0.75
    is average-precision 0.833333
    is baseline_auc 0.5
    is baseline_average-precision 0.5
done
mkdir -p made
wrong 'auc has no value' score --truth 'y.csv[0:2]' --pred 'p.csv[0:2]' --loss auc
wrong 'labels are integers' score --truth p.csv --pred p.csv --loss f1
wrong 'takes classes or labels' score --truth y.txt --pred p.txt --loss auc,bleu
wrong 'for scores of classes' cv krr --x p.csv --y y.csv --kx linear --gamma 1 --folds 2 --loss auc

# More is better: cv chooses the ridge of the higher accuracy.
normal 60 2 5 >x.csv
awk -F, '{ print ($1 * $2 > 0) }' x.csv >c.csv
for ranks in 1 3; do
    good "$ranks" cv krr --x x.csv --y c.csv --y-type labels --kx 'rbf(sigma=1)' --gamma 1e4,1e-2 \
        --folds 3 --loss balanced-accuracy
    says out 'gamma=1e-2' "the better ridge"
    [ "$(value best)" = gamma=1e-2 ] || fail "the best ridge by accuracy: $(cat out)"
done

if /usr/bin/python3 -c 'import sklearn, scipy' 2>/dev/null; then
    here=$(cd "${DKMAP_SOURCE}/mpi_tests/cli/selection" && pwd)
    /usr/bin/python3 -W ignore "$here/metrics_sklearn.py" "$scratch" "$DKMAP" ||
        fail "scikit-learn, 1 rank"
    # shellcheck disable=SC2086
    /usr/bin/python3 -W ignore "$here/metrics_sklearn.py" "$scratch" $DKMAP_MPIRUN -np 3 "$DKMAP" ||
        fail "scikit-learn, 3 ranks"
else
    echo "scikit-learn is not here: its measures were not compared"
fi
finish
