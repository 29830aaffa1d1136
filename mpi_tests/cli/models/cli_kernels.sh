#!/usr/bin/env bash
# Kernel expressions with lists, words and columns: from the command line to the model and back.
# shellcheck disable=SC2016
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 60 3 1 >x.csv
normal 20 3 2 >new.csv
for f in x new; do
    awk -F, '{ printf "%.9f\n", $1 * $2 + $3 }' $f.csv >"y_$f.csv"
    awk -F, '{ printf "%.17g,%.17g\n", $1 / 0.5, $3 / 4 }' $f.csv >"scaled_$f.csv"
    cut -d, -f1,3 $f.csv >"some_$f.csv"
done

# same A B WHAT: two files of predictions agree.
same() {
    good 1 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" 1e-9 "$3"
}

# predicted NAME X NEW KERNEL: predictions of a fit with the kernel, on 1 and 3 ranks.
predicted() {
    for ranks in 1 3; do
        good $ranks fit krr --x "$2" --y y_x.csv --kx "$4" --gamma 0.01 -o "$1.$ranks.h5"
        cp out "$1.$ranks.out"
        good $ranks predict "$1.$ranks.h5" --x "$3" -o "$1.$ranks.csv"
    done
    same "$1.1.csv" "$1.3.csv" "$4 on 1 and 3 ranks"
}

# A width per column on some columns is one width on these columns divided by theirs.
predicted on x.csv new.csv 'on(0;2, rbf(sigma=0.5;4))'
predicted scaled scaled_x.csv scaled_new.csv 'rbf(sigma=1)'
same on.1.csv scaled.1.csv 'widths per column'
good 1 info on.1.h5
says out 'on(0;2, rbf(sigma=0.5;4))' 'the kernel of the model'

# The median becomes a number, which the model stores and which gives the same model again.
predicted word x.csv new.csv 'on(0;2, rbf(sigma=median))'
grep -q median word.1.out && fail "the word is reported: $(cat word.1.out)"
kernel=$(sed -n 's/^kernel[ \t]*//p' word.1.out)
[ "$kernel" = "$(sed -n 's/^kernel[ \t]*//p' word.3.out)" ] || fail "the median depends on the ranks"
predicted again x.csv new.csv "$kernel"
cmp -s word.1.csv again.1.csv || fail "the number $kernel gives another model than the word"
good 3 gram --x some_x.csv --kx 'rbf(sigma=median)' -o g.npy
says out "${kernel:8:18}" 'the median of gram'

# Cross-validation takes lists and words as values, and finds the median anew in each fold.
good 3 cv krr --x x.csv --y y_x.csv --kx 'rbf(sigma=$s)' --try 's=median,1;2;0.5,1' --gamma 0.01 --folds 3
for s in median '1;2;0.5' 1; do
    says out "s=$s" 'cv of all values'
done
good 1 plan krr --x x.csv --y y_x.csv --kx 'rbf(sigma=1;2;0.5)' --gamma 0.01 --ranks 4

wrong 'a list of 2 numbers for rows of 3 columns' fit krr --x x.csv --y y_x.csv --kx 'rbf(sigma=1;2)' --gamma 1 -o made/m.h5
wrong 'on(0;3, ...)|from 0 to 2' fit krr --x x.csv --y y_x.csv --kx 'on(0;3, linear)' --gamma 1 -o made/m.h5

finish
