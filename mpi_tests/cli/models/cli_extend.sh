#!/usr/bin/env bash
# Kernels carried to new objects from the command line: fit, apply, and what is refused.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
# shellcheck source=mpi_tests/cli/models/extend.sh
. "${BASH_SOURCE%/*}/extend.sh"

# As many features as objects give the matrix back, with the shear constraint and without.
for shear in '' --no-shear; do
    # shellcheck disable=SC2086
    good 3 extend fit --gram k.npy --features square.csv $shear -o s.h5
    below "$(value residual)" 1e-10 "a square map gives the matrix back $shear"
    good 2 extend apply s.h5 --features square.csv -o back.npy
    same k.npy back.npy "the matrix comes back $shear"
    good 0 extend apply s.h5 --features square.csv --among -o among.npy
    same k.npy among.npy "among the objects of the fit $shear"
done

# Columns of the matrix are the features of Nystroem's kernel: exact on their own objects.
good 2 extend fit --gram k.npy --features 'k.npy[:, 0:8]' -o n.h5
good 0 extend apply n.h5 --features 'k.npy[0:8, 0:8]' -o n.npy
same 'k.npy[0:8]' n.npy "landmarks keep their rows"

# Any number of ranks, and any shape of grid, make the same values.
good 0 extend fit --gram k.npy --features phi.csv -o q.h5 --record runs.jsonl
[ "$(value features) $(value dimensions)" = "6 6" ] || fail "fit tells: $(cat out)"
good 0 extend apply q.h5 --features phi_new.csv -o one.npy
for ranks in 3 4 6; do
    good "$ranks" extend fit --gram k.npy --features phi.csv -o r.h5 --block 7
    good "$ranks" extend apply r.h5 --features phi_new.csv -o r.npy --grid 1x1
    same one.npy r.npy "on $ranks ranks"
done
good 0 info q.h5
says out "extend model" "info of an extended kernel"

# Features that repeat themselves, and a matrix of low rank that leaves nothing.
awk -F, '{ print $0 "," $1 }' phi.csv >twice.csv
good 2 extend fit --gram k.npy --features twice.csv -o t.h5
[ "$(value rank) $(value features)" = "6 7" ] || fail "a repeated feature is told"
good 2 extend apply t.h5 --features twice.csv -o t.npy
good 2 extend apply q.h5 --features phi.csv -o p.npy
same p.npy t.npy "a repeated feature changes nothing"
good 2 gram --x x.csv --kx linear -o low.npy
good 2 extend fit --gram low.npy --features phi.csv -o z.h5
says err "Q is zero" "a matrix of low rank and other features"
[ "$(value dimensions)" = 0 ] || fail "Q is zero: $(cat out)"
good 2 extend apply z.h5 --features phi_new.csv -o z.npy
good 2 extend fit --gram low.npy --features phi.csv --no-shear -o z.h5
below 0 "$(value dimensions)" "without the shear constraint something is left"

# What is refused.
refused "40 rows and 6 columns" "a matrix that is not square" \
    extend fit --gram phi.csv --features phi.csv
refused "symmetric" "a matrix that is not symmetric" \
    extend fit --gram square.csv --features phi.csv
refused "features of 39 objects" "features of other objects" \
    extend fit --gram k.npy --features 'phi.csv[0:39]'
awk 'BEGIN { for (i = 0; i < 6; i++) print (i == 0) "," (i == 1) "," (i == 2) "," (i == 3) "," \
    (i == 4) "," (i == 5) * -2 }' >bad.csv
ends=1 refused "bad.csv: the matrix is not positive semidefinite: its eigenvalues reach from -2 to 1" \
    "an indefinite matrix" extend fit --gram bad.csv --features 'phi.csv[0:6]'
good 2 extend fit --gram bad.csv --features 'phi.csv[0:6]' --clip -o c.h5
[ "$(value clipped)" = 1 ] || fail "clipping is told: $(cat out)"
on 2 extend apply q.h5 --features square.csv -o none.npy
expect 2 "features of another width"
says err "square.csv: 6 features an object are wanted, not 40" "features of another width"
on 0 extend apply q.h5 -o none.npy
expect 2 "no new objects"
[ -e none.npy ] && fail "a failed run left a file"
finish
