#!/usr/bin/env bash
# Progress: a bar on a terminal, with and without a launcher, and no bar where errors go to a file.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
command -v script >/dev/null || { echo "skipped: no script(1) for a terminal" && exit 77; }

normal 3000 3 1 >x.csv
normal 3000 1 2 >y.csv
search="cv krr --x x.csv --y y.csv --kx 'rbf(sigma=\$s)' --try s=1,2,3,4 --gamma 1 --folds 3"

# typed COMMAND LINE: run it on a terminal of its own; what that showed is in shown.
typed() {
    timeout -k 10 "$limit" script -qec "$1" shown >/dev/null 2>&1 </dev/null
    status=$?
}

typed "$DKMAP $search"
expect 0 "on a terminal"
grep -q '\[=* *\] *[0-9]* %' shown || fail "no bar on a terminal: $(head -5 shown)"
typed "$DKMAP_MPIRUN -np 3 $DKMAP $search"
expect 0 "under a launcher on a terminal"
grep -q '\[=* *\] *[0-9]* %' shown || fail "no bar under a launcher: $(head -5 shown)"
typed "$DKMAP_MPIRUN -np 3 $DKMAP $search --quiet"
grep -q '\[=' shown && fail "a bar in spite of --quiet"
typed "$DKMAP_MPIRUN -np 3 $DKMAP $search 2>err"
grep -q '\[=' err && fail "a bar in a file: $(head -c 300 err)"
finish
