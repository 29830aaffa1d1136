#!/usr/bin/env bash
# What the indices of svmlight files count from is decided at training, kept in the model and applied
# to new inputs, whatever indices occur in those.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# y = x_0 + 10 x_1 + 100 x_2, indices from 0; the new inputs never have the index 0.
cat >zero.svm <<'END'
1 0:1
10 1:1
100 2:1
111 0:1 1:1 2:1
END
cat >new.svm <<'END'
20 1:2
300 2:3
END
# The same from 1, and a file from 1 that has no index 1 either.
sed 's/ 2:/ 3:/; s/ 1:/ 2:/; s/ 0:/ 1:/' zero.svm >one.svm
sed 's/ 2:/ 3:/; s/ 1:/ 2:/' new.svm >new_one.svm
printf '20\n300\n' >truth.csv
fit=(fit krr --y-type dense --kx linear --gamma 1e-9)

# right MODEL FILE WHAT: predictions are those of the formula.
right() {
    good 2 predict "$1" --x "$2" -o p.csv
    good 1 score --truth truth.csv --pred p.csv --loss mse
    below "$(value rmse)" 1e-5 "$3"
}

good 2 "${fit[@]}" --x zero.svm --y zero.svm -o zero.h5
[ "$(value svm_base)" = 0 ] || fail "fit tells the base 0: $(cat out)"
right zero.h5 new.svm "indices from 0, new inputs without 0"
good 1 info zero.h5
says out svm_base "info of a model tells the base"

good 2 "${fit[@]}" --x one.svm --y one.svm -o one.h5
[ "$(value svm_base)" = 1 ] || fail "fit tells the base 1: $(cat out)"
right one.h5 new_one.svm "indices from 1"
bad 'zero.svm|index 0|--svm-base 0' predict one.h5 --x zero.svm -o made/p.csv
wrong '--svm-base 0|indices from 1' predict one.h5 --x new_one.svm --svm-base 0 -o made/p.csv

# Training inputs without an index 0 that count from 0 all the same.
good 1 "${fit[@]}" --x 'zero.svm[1:3]' --y 'zero.svm[1:3]' -o part.h5
right part.h5 new.svm "a slice has the base of its file"
good 1 "${fit[@]}" --x new.svm --y new.svm --svm-base 0 -o set.h5
[ "$(value svm_base)" = 0 ] || fail "fit keeps the base it is given: $(cat out)"
right set.h5 new.svm "a base that is given"
good 1 predict set.h5 --x zero.svm -o p.csv

# One base for the files of one command, that of --x.
good 1 gram --x zero.svm --z new.svm --kx linear -o g.csv
printf '0,2,0,2\n0,0,3,3\n' >g_right.csv
good 1 score --truth g_right.csv --pred g.csv --loss mse
below "$(value rmse)" 1e-12 "gram of two files"
bad 'zero.svm|index 0' gram --x new.svm --z zero.svm --kx linear -o made/g.csv
good 1 gram --x new.svm --z zero.svm --svm-base 0 --kx linear -o g.csv
good 2 "${fit[@]}" --x zero.svm --y zero.svm --holdout-x new.svm --holdout-y truth.csv -o m.h5
below "$(value holdout_mse)" 1e-8 "inputs held out have the base of the training inputs"
good 1 info new.svm
says out "indices from 1" "info guesses"
good 1 info new.svm --svm-base 0
says out "indices from 0" "info follows --svm-base"

finish
