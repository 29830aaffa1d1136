#!/usr/bin/env bash
# Kernel PCA and eigenpairs from the command line, on several ranks and back from files.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 90 5 1 >x.csv
normal 12 5 2 >new.csv

# same A B WHAT: two files of numbers agree to 1e-9.
same() {
    good 1 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" 1e-9 "$3"
}

# A model made by 4 ranks encodes the same on 1 and 3, whatever the grid.
good 4 fit kpca --x x.csv --kx 'rbf(sigma=2)' --components 7 -o m.h5 --record runs.jsonl
[ "$(value components)" = 7 ] || fail "fit kpca tells its components: $(cat out)"
good 1 encode m.h5 --x new.csv -o z.npy
good 3 encode m.h5 --x new.csv -o z3.npy --grid 3x1
same z.npy z3.npy "1 and 3 ranks encode alike"
for ranks in 1 2 3 6; do
    good "$ranks" fit kpca --x x.csv --kx 'rbf(sigma=2)' --components 7 -o r.h5 --block 11
    good 2 encode r.h5 --x new.csv -o r.npy
    same z.npy r.npy "fitted on $ranks ranks"
done
good 2 fit kpca --x x.csv --kx 'rbf(sigma=2)' --components 7 -o b.h5 --eigensolver block
below "$(value residual)" 1e-9 "residuals of the block method"
good 1 encode b.h5 --x new.csv -o b.npy
same z.npy b.npy "the block method"

# A share of variance; more components than there are.
good 2 fit kpca --x x.csv --kx 'rbf(sigma=2)' --components 90% -o s.h5
below 0.9 "$(value explained)" "the share asked for"
good 2 fit kpca --x x.csv --kx linear --components 50 -o l.h5
[ "$(value components)" = 5 ] || fail "a linear kernel on 5 columns has 5 components"
says err "only 5 are not zero" "components past the rank are told"

# Eigenpairs of a matrix in a file.
good 3 gram --x x.csv --kx 'rbf(sigma=2)' -o g.npy
good 3 eig --gram g.npy --components 4 -o e.h5
below 0 "$(value smallest)" "the fourth eigenvalue"
good 1 info e.h5
says out "vectors" "info of eigenpairs"

# Wrong uses.
on 2 eig --gram 'g.npy[0:10]' --components 2 -o none.h5
expect 2 "a Gram that is not square"
says err "10 rows and 90 columns" "a Gram that is not square"
printf '1,2\n3,4\n' >skew.csv
on 2 eig --gram skew.csv --components 1 -o none.h5
expect 2 "a Gram that is not symmetric"
says err "symmetric" "a Gram that is not symmetric"
for wrong in 0 -3 2.5 101% x; do
    on 1 fit kpca --x x.csv --kx linear --components "$wrong" -o none.h5
    expect 2 "--components $wrong"
    says err "--components $wrong" "--components $wrong"
done
good 1 fit krr --x x.csv --y x.csv --kx linear --gamma 1 -o k.h5
on 1 encode k.h5 --x new.csv -o none.npy
expect 2 "encoding with a ridge model"
[ -e none.h5 ] || [ -e none.npy ] && fail "a failed run left a file"

# The help of predict says what it does with such a model.
good 0 help predict
tr -s ' \n' ' ' <out >help
says help "A model of kpca predicts coordinates, as \`dkmap encode\` does" "the help of predict"
finish
