#!/usr/bin/env bash
# Inputs far from the origin and near to each other, such as years: models, neighbours and
# pre-images are those of the same inputs about the origin.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# moved FILE BY: the csv with BY added to every number. Numbers are multiples of 1/1024 here, so
# that all of them are exact.
moved() {
    awk -F, -v by="$2" '{ for (k = 1; k <= NF; k++) printf "%.10f%s", $k + by, k < NF ? "," : "\n" }' "$1"
}

# near A B LIMIT WHAT: two files of numbers agree.
near() {
    good 1 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" "$3" "$4"
}

grid() {
    awk -F, '{ for (k = 1; k <= NF; k++) printf "%.10f%s", int($k * 1024) / 1024, k < NF ? "," : "\n" }'
}
normal 700 3 1 | grid >x.csv
normal 100 3 2 | grid >new.csv
for f in x new; do
    awk -F, '{ printf "%.9f\n", $1 * $2 + $3 * $3 }' $f.csv >"y_$f.csv"
    moved $f.csv 2000 >"$f.2000.csv"
    moved $f.csv 1048576 >"$f.1048576.csv"
done

# Ridge regression, exact and by landmarks, with kernel values in either precision.
# error OPTIONS...: the error on new inputs of a fit at an offset of $at.
error() {
    good 2 fit krr --x "x.$at.csv" --y y_x.csv --kx 'rbf(sigma=2)' --gamma 1e-5 --center -o m.h5 "$@"
    cp err fit_err
    good 2 predict m.h5 --x "new.$at.csv" -o p.npy
    good 1 score --truth y_new.csv --pred p.npy --loss mse
    value mse
}
for at in 2000 1048576; do
    below "$(error --precision double)" 2e-4 "exact at $at"
    below "$(error --precision mixed)" 2e-4 "exact at $at, mixed"
    # shellcheck disable=SC2086
    for how in "" --stream "--centers all"; do
        below "$(error --solver pcg --landmarks 150 --precision mixed $how)" 2e-4 "pcg $how at $at"
        grep -q 'may be off by' fit_err && fail "pcg $how at $at: $(cat fit_err)"
    done
done

# On any number of ranks, and as about the origin.
cp x.csv x.0.csv
cp new.csv new.0.csv
for at in 0 2000 1048576; do
    for ranks in 1 2 3; do
        good "$ranks" fit krr --x "x.$at.csv" --y y_x.csv --kx 'rbf(sigma=2)' --gamma 0.01 -o r.h5
        good "$ranks" predict r.h5 --x "new.$at.csv" -o "r$at.$ranks.npy"
        near r0.1.npy "r$at.$ranks.npy" 1e-10 "offset $at on $ranks ranks"
    done
done

# What is lost is told: a sigma that single precision has no digits for, and one that has none.
good 2 fit krr --x x.csv --y y_x.csv --kx 'rbf(sigma=0.01)' --gamma 1 --solver pcg --landmarks 50 \
    --precision mixed -o w.h5
says err "may be off by" "a small sigma in single precision"
says err "single precision" "a small sigma in single precision"
good 2 gram --x x.csv --kx 'rbf(sigma=0.00001)' -o g.npy
says err "double precision" "a tiny sigma"
good 2 gram --x x.csv --kx 'rbf(sigma=0.01)' -o g.npy
grep -q 'may be off by' err && fail "sigma 0.01 is no trouble: $(cat err)"

# Neighbours by a linear kernel, that is by distances of inputs, and losses by one.
for at in 0 1048576; do
    good 3 fit knn --x "x.$at.csv" --y y_x.csv --kx linear --k 3 -o k.h5
    good 2 predict k.h5 --x "new.$at.csv" -o "k$at.csv"
done
near k0.csv k1048576.csv 1e-12 "neighbours"
for at in 0 1048576; do
    good 2 score --truth "x.$at.csv[0:100]" --pred "new.$at.csv" --loss kernel --ky linear
    value kernel >"loss$at"
done
cmp -s loss0 loss1048576 || fail "a loss by a linear kernel: $(cat loss0 loss1048576)"

# Models that keep some of the rows, landmarks or support vectors, find their origin again from these.
awk '{ print ($1 > 0.3) }' y_x.csv >classes.csv
for at in 0 1048576; do
    rbf=(--kx 'rbf(sigma=2)')
    good 2 fit krr --x "x.$at.csv" --y y_x.csv "${rbf[@]}" --gamma 0.01 --reduce 60 -o part.h5
    good 1 predict part.h5 --x "new.$at.csv" -o "reduced.$at.npy"
    good 2 fit kpca --x "x.$at.csv[0:200]" "${rbf[@]}" --components 5 --landmarks 80 -o part.h5
    good 1 encode part.h5 --x "new.$at.csv" -o "encoded.$at.npy"
    good 2 fit svm --x "x.$at.csv" --y classes.csv --y-type labels "${rbf[@]}" --C 1 -o part.h5
    good 1 predict part.h5 --x "new.$at.csv" -o "classes.$at.csv"
done
near reduced.0.npy reduced.1048576.npy 1e-7 "landmarks"
near encoded.0.npy encoded.1048576.npy 1e-9 "components by landmarks"
cmp -s classes.0.csv classes.1048576.csv || fail "support vectors: other classes"

# Weights on neighbours of inputs.
for at in 0 1048576; do
    good 2 embed lle --x "x.$at.csv[0:200]" --neighbours 6 --components 2 --gram "lle.$at.npy" -o e.h5
done
near lle.0.npy lle.1048576.npy 1e-6 "weights on neighbours"

# Pre-images.
for at in 0 1048576; do
    good 2 fit kpca --x "x.$at.csv[0:200]" --kx 'rbf(sigma=3)' --components 6 -o c.h5
    good 1 encode c.h5 --x "new.$at.csv" -o z.npy
    for method in fixed-point gradient mds; do
        good 2 decode c.h5 --z z.npy -o "$method.csv" --preimage $method
        moved $method.csv "-$at" >"$method.$at.csv"
    done
done
near fixed-point.0.csv fixed-point.1048576.csv 1e-5 "fixed-point"
near gradient.0.csv gradient.1048576.csv 1e-4 "gradient"
near mds.0.csv mds.1048576.csv 1e-5 "mds"
finish
