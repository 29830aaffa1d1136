#!/usr/bin/env bash
# Outputs of fits: what they are taken for, names of classes, label sets.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 40 3 5 >x.csv
awk -F, '{ print ($1 > 0.3 ? "red" : ($1 > -0.3 ? "dark, green" : "a \"blue\"")) }' x.csv >y.txt
printf 'prediction\n"a ""blue"""\n"dark, green"\nred\n' >expected

# Names come back, whatever the ranks, the method and the format.
for method in 'krr --gamma 1e-6' 'svm --C 1e4' 'knn --k 1' 'jkm --C 1e4' \
    'kde --ky class --components all --gamma 1e-6'; do
    for ranks in 1 3; do
        # shellcheck disable=SC2086
        good "$ranks" fit $method --x x.csv --y y.txt --kx 'rbf(sigma=0.5)' -o m.h5
        says out 'classes, 3: a "blue", dark, green, red' "the target of $method"
        good "$ranks" predict m.h5 --x x.csv -o p.txt
        cmp -s y.txt p.txt || fail "$method on $ranks ranks: $(diff y.txt p.txt | head -3)"
        good "$ranks" predict m.h5 --x x.csv -o p.csv
        head -1 p.csv | cat - <(tail -n +2 p.csv | sort -u) | cmp -s - expected ||
            fail "names in a table, $method on $ranks ranks: $(head -3 p.csv)"
    done
done
good 3 cv krr --x x.csv --y y.txt --kx 'rbf(sigma=1)' --gamma 1e-3,1e3 --folds 4 --loss accuracy
[ "$(value best)" = gamma=1e-3 ] || fail "cv of names: $(cat out)"
good 3 score --truth y.txt --pred p.txt --loss f1-macro
[ "$(value f1-macro)" = 1 ] || fail "names against names: $(cat out)"
wrong 'does not say how to write it|.npy' predict m.h5 --x x.csv -o made/p.xyz

# Label sets by ridge regression.
awk -F, '{ print ($2 > 0.5 ? "1,4" : ($2 > -0.5 ? "0" : "")); }' x.csv >y.svm # a blank line is the empty set
grep -q '^$' y.svm || fail "no empty set"
for ranks in 1 3; do
    good "$ranks" fit krr --x x.csv --y y.svm --y-type label-sets --kx 'rbf(sigma=0.5)' --gamma 1e-6 -o s.h5
    says out 'label sets, 3 labels' "the target"
    good "$ranks" predict s.h5 --x x.csv -o s.svm
    cmp -s y.svm s.svm || fail "label sets on $ranks ranks: $(diff y.svm s.svm | head -3)"
    good "$ranks" score --truth y.svm --pred s.svm --y-type label-sets --loss hamming
    [ "$(value hamming)" = 0 ] || fail "sets that are the same: $(cat out)"
done

# What is doubtful is said.
awk '{ print NR }' x.csv >n.csv
awk '{ print NR % 3 }' x.csv >three.csv
good 3 fit krr --x x.csv --y n.csv --y-type labels --kx linear --gamma 1 -o d.h5
says err '40 classes in 40 rows' "classes that are numbers"
good 3 fit krr --x x.csv --y three.csv --kx linear --gamma 1 -o d.h5
says err '3 different ones in 40 rows' "numbers that are classes"
awk 'BEGIN { for (i = 0; i < 40; i++) print 2.5 }' >one.csv
good 3 fit krr --x x.csv --y one.csv --kx linear --gamma 1 -o one.h5
says err 'the target is the same in all 40 rows' "a target that is constant"
says out 'numbers, 1 column' "the target"
good 3 fit krr --x x.csv --y three.csv --y-type labels --kx linear --gamma 1 -o d.h5
grep -q warning err && fail "nothing is doubtful: $(cat err)"
finish
