#!/usr/bin/env bash
# Plans: memory near what a run then takes, refusals before the queue, the fewest ranks that fit, and
# a calibration that is kept.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
export DKMAP_CALIBRATION=$scratch/figures DKMAP_MACHINE=here

sizes=(--x 60000x784 --y 60000x10 --kx 'rbf(sigma=8)' --gamma 0.001)
good 0 plan krr "${sizes[@]}" --ranks 7
says err "take 6" "seven ranks"
says err "bench --calibrate" "no calibration"
[ "$(value expected_seconds)" = unknown ] || fail "seconds without a calibration: $(cat out)"
[ "$(value grid)" = 2x3 ] || fail "the grid of seven ranks: $(cat out)"
good 0 plan krr "${sizes[@]}" --ranks 13
good 0 plan krr "${sizes[@]}" --ranks 64 --ranks-per-node 16 --memory 64G
[ "$(value nodes)" = 4 ] || fail "64 ranks, 16 a node: $(cat out)"
on 0 plan krr "${sizes[@]}" --ranks 4 --ranks-per-node 4 --memory 8G
expect 1 "a job that does not fit"
says err "need" "a job that does not fit"
good 0 plan krr "${sizes[@]}" --ranks-per-node 4 --memory 8G
fewest=$(value nodes)
[ "$fewest" -gt 1 ] || fail "the fewest nodes that fit: $(cat out)"
on 0 plan krr "${sizes[@]}" --ranks $((4 * (fewest - 1))) --ranks-per-node 4 --memory 8G
expect 1 "one node less than the fewest"
on 0 plan krr --x 10x2 --y 11x2 --kx linear --gamma 1 --ranks 2
expect 2 "lengths that differ"
on 0 plan kpca --x none.csv --kx linear --components 3 --ranks 2
expect 1 "a file that is not there"
on 0 plan krr "${sizes[@]}" --memory much
expect 2 "memory that is no amount"

# Rows far from the origin are copied for kernels of differences: 60000 / 60 x 7840 numbers here.
wide=(--x 60000x7840 --y 60000x10 --gamma 0.001 --ranks 60)
good 0 plan krr "${wide[@]}" --kx linear --primal no
linear=$(value rank_memory)
good 0 plan krr "${wide[@]}" --kx 'rbf(sigma=8)'
awk -v a="$linear" -v b="$(value rank_memory)" 'BEGIN { exit !(b - a > 0.057 && b - a < 0.060) }' ||
    fail "copies of rows: $linear GiB, $(value rank_memory) GiB"

# Without a place for the file nothing is measured. The file replaces a link and does not follow it.
for home in HOME= --unset=HOME; do
    timeout -k 10 "$limit" env -u DKMAP_CALIBRATION "$home" "$DKMAP" bench --calibrate --n 400 >out 2>err
    status=$?
    expect 1 "a calibration, $home"
    says err "no place for a calibration" "a calibration, $home"
done
mkdir -p "$DKMAP_CALIBRATION"
ln -s "$scratch/elsewhere" "$DKMAP_CALIBRATION/here-2.calibration"
good 2 bench --calibrate --n 400
says out "$DKMAP_CALIBRATION/here-2.calibration" "where figures are kept"
[ -e elsewhere ] && fail "a calibration was written through a link"
[ "$(ls -A "$DKMAP_CALIBRATION")" = here-2.calibration ] || fail "a calibration left $(ls -A "$DKMAP_CALIBRATION")"

# allocated: bytes that dkmap allocated on the fullest rank of the last run, from its record. Unlike the
# resident size they are the same on any machine.
allocated() {
    tail -1 runs.jsonl | sed 's/.*"peak_allocated_bytes": *{[^}]*"max": *\([0-9.e+]*\).*/\1/'
}

# planned ROWS METHOD OPTIONS...: memory of a rank, in GiB; ROWS stands for their number.
planned() {
    local rows=$1
    shift
    good 0 plan "${@//ROWS/$rows}" --x "${rows}x20" --ranks 2 --record plans.jsonl
    memory=$(value rank_memory)
}

# The plan grows with the rows as the arrays do: what MPI and the libraries take is there with few rows too.
# Steps of LIBSVM take a time that is not known.
normal 2400 20 1 | awk -F, '{ OFS = ","; for (k = 1; k <= NF; k++) $k /= 2; print }' >x.csv
awk -F, '{ print $1 * $2 "," $3 }' x.csv >y.csv
awk -F, '{ print ($1 > 0) }' x.csv >labels.csv
for words in "krr --y ROWSx2 --gamma 0.1 --precision double" "krr --y ROWSx2 --gamma 0.1" \
    "kpca --components 3" "kde --y ROWSx2 --ky rbf(sigma=1) --components 3 --gamma 0.1" \
    "svm --y ROWSx1 --y-type labels --C 1" "hopfield --y ROWSx2"; do
    read -ra method <<<"$words"
    [ "${method[0]}" = hopfield ] || method+=(--kx "rbf(sigma=3)")
    planned 20 "${method[@]}"
    few=$memory
    planned 2400 "${method[@]}"
    [ "$(value expected_seconds)" != unknown ] || [ "${method[0]}" = svm ] || fail "$words: no seconds after a calibration"
    method=("${method[@]/ROWSx2/y.csv}")
    method=("${method[@]/ROWSx1/labels.csv}")
    good 2 fit "${method[@]}" --x x.csv -o model.h5 --record runs.jsonl
    awk -v growth="$(awk -v a="$memory" -v b="$few" 'BEGIN { print a - b }')" -v took="$(allocated)" 'BEGIN {
        r = growth * 1073741824 / took
        printf "%.2f of what is allocated\n", r
        exit !(r > 0.6 && r < 1.2) }' ||
        fail "$words: planned $memory GiB, and $few for few rows; allocated $(allocated) bytes"
done

# A double matrix that does not fit is not held: the triangle of the factor in single precision is, in addresses that
# ScaLAPACK could not index.
good 0 plan krr --x 80000x784 --y 80000x10 --kx "rbf(sigma=8)" --gamma 1e-3 --ranks 2 --memory 22G
awk -v memory="$(value node_memory)" 'BEGIN { exit !(memory > 80000 * 80000 * 2 / 2^30 && memory < 15) }' ||
    fail "80,000 rows: $(cat out)"
on 0 plan krr --x 80000x784 --y 80000x10 --kx "rbf(sigma=8)" --gamma 1e-3 --ranks 2 --memory 12G
expect 1 "a triangle that does not fit"
good 0 plan krr --x 20000x784 --y 20000x10 --kx "rbf(sigma=8)" --gamma 1e-3 --ranks 2 --memory 22G
awk -v memory="$(value node_memory)" 'BEGIN { exit !(memory > 20000 * 20000 * 6 / 2^30) }' || fail "20,000 rows: $(cat out)"

# Nearest neighbors hold their examples, and no matrix.
good 0 plan knn --x 60000x784 --y 60000x10 --kx linear --k 5 --ranks 4
awk -v memory="$(value rank_memory)" 'BEGIN { exit !(memory > 15000 * 794 * 8 / 2^30 && memory < 0.4) }' ||
    fail "knn: $(cat out)"
finish
