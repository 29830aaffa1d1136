#!/usr/bin/env bash
# Cross-validation of inputs that are known by a matrix: graphs, Gram matrices and distances.
# shellcheck disable=SC2016
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 48 2 1 >x.csv
awk -F, '{ print $1 * $2 + 0.1 * $1 }' x.csv >y.csv
awk -F, '{ print ($1 > 0) + 2 * ($2 > 0.3) }' x.csv >labels.csv

# losses: the columns of the table of the last run that are not names.
losses() {
    sed -n '/^setting /,/^best /p' out | sed '1d;$d' | awk '{ $1 = ""; print }'
}

# The vertices of a graph are known whatever fold they are in, which is told: losses are those of the
# same kernel as a matrix.
awk 'BEGIN {
    print "%%MatrixMarket matrix coordinate pattern symmetric"
    print 48, 48, 47 + 16
    for (i = 2; i <= 48; i++) print i, i - 1
    for (i = 1; i <= 16; i++) print i + 32, i
}' >graph.mtx
good 0 gram --x graph.mtx --kx 'diffusion(tau=2)' -o heat.npy

# as_matrix METHOD OPTIONS...: a graph and the matrix of its kernel lose the same.
as_matrix() {
    local ranks
    good 0 cv "$@" --x heat.npy --x-type gram --kx gram --folds 3
    losses >matrix
    for ranks in $counts; do
        good "$ranks" cv "$@" --x graph.mtx --kx 'diffusion(tau=$t)' --try t=2 --folds 3
        says err "has seen the vertices of all folds" "a graph"
        losses | cmp -s - matrix || fail "$*: a graph on $ranks ranks: $(losses | diff - matrix)"
    done
}
classes="--y labels.csv --y-type labels"
counts="0 2 3"
# shellcheck disable=SC2086
{
    as_matrix krr --y y.csv --gamma 0.01,0.1 --inner-folds 2
    as_matrix kde --y x.csv --ky linear --components 1,2 --gamma 0.1 --inner-folds 2
    as_matrix knn $classes --k 1,3
    as_matrix svm $classes --C 1,10 --inner-folds 2
    counts=3
    as_matrix krr --y y.csv --gamma 0.1 --penalty coefficients
    as_matrix kde --y x.csv --ky linear --components 2 --gamma 0.1 --shrink 0,0.1
    as_matrix jkm $classes --C 1
}

# Distances between held-out objects are not looked at, and tell as much as the points themselves.
awk -F, '{ a[NR] = $1; b[NR] = $2 }
    END {
        for (i = 1; i <= NR; i++)
            for (j = 1; j <= NR; j++)
                printf "%.17g%s", sqrt((a[i] - a[j]) ^ 2 + (b[i] - b[j]) ^ 2), j < NR ? "," : "\n"
    }' x.csv >distances.csv
good 0 cv krr --x x.csv --y y.csv --kx 'rbf(sigma=1)' --gamma 0.1,1 --folds 3
losses >points
good 2 cv krr --x distances.csv --x-type distance --y y.csv --kx 'rbf(distance, sigma=1)' --gamma 0.1,1 --folds 3
says err "computed anew for each fold" "a kernel of distances"
losses | cmp -s - points || fail "distances: $(losses | diff - points)"

# Part of a Gram matrix is one too: a kernel that looks at all training objects sees those alone.
good 0 gram --x x.csv --kx 'rbf(sigma=1)' -o gram.csv
good 0 cv krr --x x.csv --y y.csv --kx 'rownorm(rbf(sigma=1))' --gamma 0.1,1 --folds 3
losses >points
good 2 cv krr --x gram.csv --x-type gram --y y.csv --kx 'rownorm(gram)' --gamma 0.1,1 --folds 3
losses | cmp -s - points || fail "part of a Gram matrix: $(losses | diff - points)"

# Of outputs there must be parts.
on 2 cv kde --x x.csv --y graph.mtx --kx linear --ky 'diffusion(tau=1)' --components 2 --gamma 1
expect 2 "a graph of outputs"
says err "cannot be dealt to folds" "a graph of outputs"
finish
