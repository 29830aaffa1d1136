# shellcheck shell=bash
# Features and a kernel matrix of 40 objects, and checks that the tests of extend share. Sourced, not run.

normal 40 3 1 >x.csv
normal 40 40 2 >square.csv
normal 40 6 3 >phi.csv
normal 9 6 4 >phi_new.csv

# same A B WHAT: two files of numbers agree to 1e-9.
same() {
    good 0 score --truth "$1" --pred "$2" --loss mse
    below "$(value rmse)" 1e-9 "$3"
}

# refused TEXT WHAT ARGUMENTS...: a run on 2 ranks fails, with 2 or what ends says, and says so, leaving nothing
# behind.
refused() {
    local text=$1 what=$2
    shift 2
    on 2 "$@" -o none.h5
    expect "${ends:-2}" "$what"
    says err "$text" "$what"
    [ -e none.h5 ] && fail "$what: a failed run left a file"
}

good 2 gram --x x.csv --kx 'rbf(sigma=1)' -o k.npy
