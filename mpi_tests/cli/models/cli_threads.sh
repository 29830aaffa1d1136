#!/usr/bin/env bash
# Answers do not depend on the number of threads: 1 rank with 2 threads, 2 with 1 and 3 with 2 give
# what 1 rank with 1 thread gives, for kernels on dense and sparse rows and strings, and for methods
# that use every product of tiles with few columns.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# same TOLERANCE FILE FILE WHAT: tables of numbers that differ by no more, relative to the largest.
same() {
    paste -d, "$2" "$3" | awk -F, -v tolerance="$1" '
        NF % 2 { bad = 1 }
        { for (k = 1; k <= NF / 2; k++) {
              gap = $k - $(k + NF / 2); size = $k < 0 ? -$k : $k; gap = gap < 0 ? -gap : gap
              if (size > most) most = size
              if (gap > worst) worst = gap
          } }
        END { exit bad || NR == 0 || most == 0 || worst > tolerance * most }' || fail "$4: $2 and $3 differ"
}

# everywhere TOLERANCE NAME COMMAND...: @ in the command stands for the name of this run's files.
everywhere() {
    local tolerance=$1 name=$2 layout ranks threads
    shift 2
    for layout in 1x1 1x2 2x1 3x2; do
        ranks=${layout%x*} threads=${layout#*x}
        good "$ranks" "${@//@/$name.$layout}" --threads "$threads" --quiet
        [ -z "$then" ] || good "$ranks" predict "$name.$layout.h5" --x x.csv -o "$name.$layout.csv" --threads "$threads" --quiet
        [ "$layout" = 1x1 ] || same "$tolerance" "$name.1x1.csv" "$name.$layout.csv" "$name on $layout"
    done
}

normal 330 7 1 >x.csv
awk -F, '{ print ($1 + $2 * $3) "," ($4 > 0) "," $5 * $5 }' x.csv >y.csv
awk -F, '{ line = $1 > 0 ? 1 : -1; for (k = 1; k <= NF; k += 2) line = line " " k ":" $k; print line }' x.csv >x.svm
awk 'BEGIN { srand(3); for (i = 0; i < 90; i++) { s = ""; for (k = 0; k < 12 + i % 9; k++) s = s substr("ACGT", 1 + int(4 * rand()), 1); print s } }' >s.txt

then=""
everywhere 1e-14 rbf gram --x x.csv --kx 'rbf(sigma=2)' -o @.csv
everywhere 1e-13 sum gram --x x.csv --kx 'sum(poly(degree=3, c=1), laplace(sigma=3))' -o @.csv
everywhere 1e-14 sparse gram --x x.svm --kx 'rbf(sigma=2)' -o @.csv
everywhere 1e-14 strings gram --x s.txt --kx 'normalize(ssk(r=3, lambda=0.5))' -o @.csv
then=predict
everywhere 1e-10 mixed fit krr --x x.csv --y y.csv --kx 'rbf(sigma=2)' --gamma 1e-3 --precision mixed -o @.h5
everywhere 1e-10 double fit krr --x x.csv --y y.csv --kx 'rbf(sigma=2)' --gamma 1e-3 --precision double -o @.h5
everywhere 1e-6 landmarks fit krr --x x.csv --y y.csv --kx 'rbf(sigma=2)' --gamma 1e-3 --solver pcg --landmarks 80 -o @.h5

# 0 threads means a fair share of the cores, and no more than OMP_NUM_THREADS.
OMP_NUM_THREADS=1 on 1 gram --x s.txt --kx 'ssk(r=2, lambda=0.5)' -o g.csv --verbose
says err "rank 0: 1 thread(s)" "OMP_NUM_THREADS limits the threads of a rank"
OMP_NUM_THREADS=1 on 1 gram --x s.txt --kx 'ssk(r=2, lambda=0.5)' -o g.csv --verbose --threads 3
says err "rank 0: 3 thread(s)" "--threads is taken as it is"
finish
