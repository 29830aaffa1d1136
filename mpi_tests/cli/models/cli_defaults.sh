#!/usr/bin/env bash
# Fits that choose kernel and ridge, kernels by other names, and kernels that see nothing.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 80 3 5 | awk -F, '{ printf "%.9f,%.9f,%.9f\n", $1, 100 * $2, 0.01 * $3 + 7 }' >x.csv
normal 80 3 5 | awk -F, '{ printf "%.9f\n", $1 + $2 * $2 + sin(3 * $3) }' >y.csv

# Nothing but the files: columns are standardized, the width is the median distance, the ridge has the
# least leave-one-out error.
for ranks in 1 3; do
    good "$ranks" fit krr --x x.csv --y y.csv -o "m$ranks.h5"
    says out 'numbers, 1 column' "the target"
    says out 'rbf(sigma=' "the kernel"
    says out 'standardized' "the inputs"
    below "$(value loo)" 0.5 "the error that was chosen"
    good "$ranks" predict "m$ranks.h5" --x x.csv -o "p$ranks.csv"
done
good 1 score --truth p1.csv --pred p3.csv --loss mse
below "$(value rmse)" 1e-8 "1 and 3 ranks"
chosen=$(good 1 fit krr --x x.csv --y y.csv -o again.h5 && value gamma)
good 1 fit krr --x x.csv --y y.csv --kx 'rbf(sigma=median)' --standardize --ridge "$chosen" -o given.h5
good 1 predict given.h5 --x x.csv -o given.csv
good 1 score --truth p1.csv --pred given.csv --loss mse
below "$(value rmse)" 1e-10 "the same by hand"

# A ridge beyond the decades that are tried first: the outputs are a linear map of the inputs.
awk -F, '{ printf "%.9f\n", 2 * $1 - $2 }' x.csv >linear.csv
for ranks in 1 3; do
    good "$ranks" fit krr --x x.csv --y linear.csv --kx linear -o n.h5
    awk '$1 == "path" { n++ } END { exit !(n > 12) }' out || fail "more decades: $(cat out)"
    below "$(value gamma)" 2e-8 "the ridge of an exact map"
    grep -q "of the list" err && fail "a list that nobody gave: $(cat err)"
done

# Strings have a kernel too.
awk 'BEGIN { srand(4); for (i = 0; i < 40; i++) { s = ""; for (j = 0; j < 12; j++) s = s substr("acgt", 1 + int(4 * rand()), 1); print s } }' >s.txt
awk '{ print gsub(/a/, "a") }' s.txt >count.csv
good 3 fit krr --x s.txt --y count.csv -o s.h5
says out 'normalize(spectrum(p=3))' "the kernel of strings"

# Kernels that see nothing are warned of.
good 3 fit krr --x x.csv --y y.csv --kx 'rbf(sigma=1e-4)' --gamma 1 -o w.h5
says err 'nearly the identity' "too narrow"
good 3 fit krr --x x.csv --y y.csv --kx 'rbf(sigma=1e6)' --gamma 1 -o w.h5
says err 'nearly constant' "too wide"
awk '{ print NR % 2 }' x.csv >two.csv
for method in 'kde --y y.csv --ky linear --components 1 --gamma 1' 'kpca --components 1' 'knn --y y.csv' \
    'svm --y two.csv --y-type labels --C 1' 'jkm --y two.csv --y-type labels --C 1'; do
    # shellcheck disable=SC2086
    good 1 fit $method --x x.csv --kx 'rbf(sigma=1e-4)' -o w.h5
    says err 'nearly the identity' "too narrow for $method"
done
good 3 fit krr --x x.csv --y y.csv --kx 'rbf(sigma=50)' --gamma 1 -o w.h5
grep -q nearly err && fail "a kernel that suits: $(cat err)"

# Names that people know.
mkdir -p made
wrong "rbf has no parameter 'gamma'|sigma = 1 / sqrt(2 gamma)" fit krr --x x.csv --y y.csv --kx 'rbf(gamma=1)' --gamma 1 -o made/m.h5
echo PAR1 >t.parquet
wrong "t.parquet: Parquet and Arrow files are not read|to_csv" fit krr --x t.parquet --y y.csv -o made/m.h5
wrong "unknown name 'gaussian': it is rbf" fit krr --x x.csv --y y.csv --kx 'gaussian(sigma=1)' --gamma 1 -o made/m.h5
wrong "unknown name 'sigmoid'|negative eigenvalues" fit krr --x x.csv --y y.csv --kx sigmoid --gamma 1 -o made/m.h5
wrong "unknown name 'RBF', did you mean 'rbf'" fit krr --x x.csv --y y.csv --kx RBF --gamma 1 -o made/m.h5
wrong "unknown name 'delta': it is class" fit krr --x x.csv --y y.csv --kx delta --gamma 1 -o made/m.h5
wrong 'nu must be 0.5, 1.5 or 2.5' fit krr --x x.csv --y y.csv --kx 'matern(nu=2)' --gamma 1 -o made/m.h5
wrong 'kx is missing: fit chooses' cv krr --x x.csv --y y.csv --gamma 1 --folds 3
wrong 'gamma is missing: fit chooses' cv krr --x x.csv --y y.csv --kx linear --folds 3
wrong 'need --kx and --gamma' fit krr --x x.csv --y y.csv --stream --landmarks 5 --solver pcg -o made/m.h5

# New kernels against the values of scikit-learn 1.2, through the command.
printf '0,0\n3,4\n' >two.csv
# value_of KERNEL: k of the two rows, which are 5 apart.
value_of() {
    good "$ranks" gram --x two.csv --kx "$1" -o g.csv
    awk -F, 'NR == 1 { print $2 }' g.csv
}
close() {
    awk -v a="$2" -v b="$3" 'BEGIN { exit !(a - b < 1e-12 && b - a < 1e-12) }' || fail "$1: $2, not $3"
}
for ranks in 1 3; do
    close 'matern 1/2' "$(value_of 'matern(nu=0.5, sigma=2)')" 0.0820849986238988
    close 'matern 3/2' "$(value_of 'matern(nu=1.5, sigma=2)')" 0.07017578643093345
    close 'matern 5/2' "$(value_of 'matern(nu=2.5, sigma=2)')" 0.06351021454894375
    close 'matern, a width per column' "$(value_of 'matern(nu=1.5, sigma=3;4)')" 0.29782076792963147
    close 'rq' "$(value_of 'rq(alpha=2, sigma=2)')" 0.1522903033908388
    close 'tanimoto' "$(value_of 'tanimoto')" 0
done
finish
