#!/usr/bin/env bash
# What extended kernels are used for: every command takes them, ridge regression is reduced by them,
# weights of neighbours carry an embedding, and completed kernels are tried on labels.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
# shellcheck source=mpi_tests/cli/models/extend.sh
. "${BASH_SOURCE%/*}/extend.sh"

awk 'BEGIN { for (i = 0; i < 40; i++) print i % 2 }' >labels.csv
good 2 extend fit --x x.csv --kx 'rbf(sigma=1)' --landmarks 8 --landmark-choice first -o l.h5
good 0 extend apply l.h5 --x x.csv -o l.npy

# fit METHOD LOSS ARGUMENTS...: by the kernel, on other ranks by its matrix; predictions must agree.
fit() {
    local method=$1 loss=$2
    shift 2
    good 2 fit "$method" --x x.csv --kx 'extend(l.h5)' "$@" -o a.h5
    good 3 fit "$method" --x l.npy --x-type gram --kx gram "$@" -o b.h5
    good 0 predict a.h5 --x x.csv -o a.npy
    good 2 predict b.h5 --x l.npy --x-type gram -o b.npy
    good 0 score --truth a.npy --pred b.npy --loss "$loss"
    below "$(value "$loss")" 1e-18 "fit $method with an extended kernel and with its matrix"
}

fit krr mse --y x.csv --gamma 0.1
fit knn zero-one --y labels.csv --y-type labels --k 3
fit svm zero-one --y labels.csv --y-type labels --C 2
fit kde mse --y x.csv --ky linear --components 2 --gamma 0.1
good 2 fit kpca --x x.csv --kx 'extend(l.h5)' --components 2 -o p.h5
good 3 encode p.h5 --x x.csv -o p.npy
good 2 cv krr --x x.csv --y x.csv --kx 'extend(l.h5)' --gamma 0.1,1 --folds 3
good 0 align --x x.csv --kx 'extend(l.h5)' --gram k.npy
good 4 extend apply l.h5 --x 'x.csv[0:7]' --among -o few.npy
same 'l.npy[0:7, 0:7]' few.npy "among new objects on 4 ranks"

# A reduced fit is the fit with the Nystroem kernel.
good 3 fit krr --x x.csv --y x.csv --kx 'rbf(sigma=1)' --gamma 0.1 --reduce 8 \
    --landmark-choice first -o r.h5
[ "$(value form) $(value landmarks)" = "reduced 8" ] || fail "a reduced fit tells: $(cat out)"
good 2 fit krr --x x.csv --y x.csv --kx 'extend(l.h5)' --gamma 0.1 -o a.h5
good 2 predict r.h5 --x x.csv -o r.npy
good 0 predict a.h5 --x x.csv -o a.npy
same r.npy a.npy "a reduced fit and a fit in two steps"
good 2 fit kpca --x x.csv --kx 'rbf(sigma=1)' --components 2 --reduce 8 --landmark-choice first -o r.h5
good 2 encode r.h5 --x x.csv -o r.npy
for z in p r; do good 0 gram --x $z.npy --kx linear -o $z.gram.npy; done
good 0 score --truth p.gram.npy --pred r.gram.npy --loss mse
below "$(value rmse)" 1e-6 "reduced components and components in two steps"
refused "by the solvers cholesky or eigen" "a reduced fit by iteration" \
    fit krr --x x.csv --y x.csv --kx 'rbf(sigma=1)' --gamma 0.1 --reduce 8 --solver pcg
refused "41 landmarks of 40 objects" "more landmarks than inputs" \
    fit krr --x x.csv --y x.csv --kx 'rbf(sigma=1)' --gamma 0.1 --reduce 41

# A kernel on some of the columns.
good 2 gram --x 'x.csv[:, 0:2]' --kx linear -o u.npy
good 2 extend fit --gram u.npy --features x.csv --no-shear -o u.h5
good 3 gram --x x.csv --kx 'rbf(extend(u.h5), sigma=1)' -o part.npy
good 0 gram --x 'x.csv[:, 0:2]' --kx 'rbf(sigma=1)' -o own.npy
same own.npy part.npy "a kernel on two of three columns"

# Weights on neighbours carry the kernel of an embedding; a point that is nobody's neighbour has none.
good 2 embed lle --x x.csv --neighbours 6 --components 2 --gram lle.npy -o e.h5
good 3 extend fit --gram lle.npy --x x.csv --lle 6 -o w.h5
[ "$(value features)" = 40 ] || fail "as many weights as points: $(cat out)"
below "$(value residual)" 0.2 "weights on neighbours give most of the kernel back"
normal 5 3 9 >new.csv
good 2 extend apply w.h5 --x new.csv -o w2.npy
good 4 extend apply w.h5 --x new.csv -o w4.npy
same w2.npy w4.npy "new points on 2 and 4 ranks"
refused "40 neighbors of each of 40 points" "too many neighbours" \
    extend fit --gram lle.npy --x x.csv --lle 40
refused "--cutoff is above 0" "a cut-off that leaves nothing" \
    extend fit --gram lle.npy --x x.csv --lle 4 --cutoff 1
refused "give one of them" "two kinds of features" \
    extend fit --gram lle.npy --x x.csv --lle 4 --fisher gaussian

# Completed kernels tried on labels.
try() {
    good "$1" extend complete --gram k.npy --by l.npy --clip --y labels.csv --lambda 0,0.5 --repeat 2 "${@:2}"
    grep -e '+-' out >"table.$1"
}
awk 'BEGIN { for (i = 0; i < 40; i++) print (i % 5 > 0) }' >mask.csv
try 0 --missing 10,25 --observed mask.csv
[ "$(wc -l <table.0)" = 8 ] || fail "two kernels and three shares with two weights: $(cat out)"
grep -q '^masked *20 ' table.0 || fail "a mask's share is told: $(cat out)"
try 3 --missing 10,25 --observed mask.csv
cmp -s table.0 table.3 || fail "trials on 1 and 3 ranks differ: $(diff table.0 table.3)"
bad() {
    local text=$1 what=$2
    shift 2
    on 2 extend complete --gram k.npy --by l.npy --lambda 0.5 "$@"
    expect 2 "$what"
    says err "$text" "$what"
}
bad "which rows are known" "a trial of nothing" --y labels.csv
bad "per cent" "more missing than there is" --y labels.csv --missing 100
bad "one of the two" "neither matrix nor trial" --observed mask.csv
bad "give one --lambda and one --observed" "two masks for one matrix" \
    --observed mask.csv --observed mask.csv -o none.npy
bad "40 x 40 and 30 labels" "labels of other objects" --y 'labels.csv[0:30]' --missing 10
[ -e none.npy ] && fail "a failed run left a file"
finish
