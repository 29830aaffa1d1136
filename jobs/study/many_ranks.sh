#!/usr/bin/env bash
# Fit, predict and score on many ranks, however few cores there are, and the same on one rank: predictions of
# krr, kpca, kde and jkm must agree. 256 ranks on two cores take a quarter of an hour, most of it to start them.
#
#   jobs/study/many_ranks.sh [RANKS]            256 where none are given
#   jobs/study/many_ranks.sh --tests [RANKS]    all cases of the tests of each method; 32
#
# Needs a build (jobs/test.sh), with tests for the second. Heeds: DKMAP_BUILD, DKMAP (the command),
# DKMAP_LAUNCH, ROWS (600), METHODS (of the four), TESTS (names of tests). Prints the largest difference of a
# prediction and the seconds.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
case "${1:-}" in -h | --help) explain && exit ;; esac
failed=0

# run_tests RANKS
run_tests() {
    local test program start
    for test in ${TESTS:-krr kpca kde jkm}; do
        program=$build/mpi_tests/test_$test
        [ -x "$program" ] || fail "no $program: run jobs/test.sh first"
        start=$(date +%s)
        # shellcheck disable=SC2086
        if $launch -np "$1" "$program" >"$build/scale_$test.log" 2>&1; then
            echo "test_$test on $1 ranks: passed, $(($(date +%s) - start)) s"
        else
            echo "test_$test on $1 ranks: FAILED, see $build/scale_$test.log"
            failed=1
        fi
    done
}

# on RANKS ARGUMENTS...: dkmap, which must succeed; at a lower priority, so that mpirun gets its turns.
on() {
    local ranks=$1
    shift
    # shellcheck disable=SC2086
    crowded out err $launch -np "$ranks" $gently "$dkmap" "$@" ||
        fail "dkmap $* on $ranks ranks: $(grep '^dkmap' err | tail -n 1 || tail -n 3 err)"
}

# compare METHOD PREDICT SCORE... -- OPTIONS...: a fit with the options on many ranks and on one; what PREDICT
# makes of new inputs on as many; scored on many with the options of SCORE where there are any.
compare() {
    local method=$1 predict=$2 score=() start count most
    case " ${METHODS:-krr kpca kde jkm} " in *" $method "*) ;; *) return 0 ;; esac
    shift 2
    while [ "$1" != -- ]; do score+=("$1") && shift; done
    shift
    start=$(date +%s)
    for count in 1 "$ranks"; do
        on "$count" fit "$method" "$@" -o "$method.$count.h5"
        on "$count" "$predict" "$method.$count.h5" --x new.x.csv -o "$method.$count.csv" -q
    done
    [ ${#score[@]} -eq 0 ] || on "$ranks" score --pred "$method.$ranks.csv" "${score[@]}"
    most=$(paste -d , "$method.1.csv" "$method.$ranks.csv" | awk -F , '{
        for (k = 1; k <= NF / 2; k++) { d = $k - $(k + NF / 2); if (d < 0) d = -d; if (d > most) most = d } }
        END { printf "%.3g", NR ? most : "inf" }')
    echo "$method on 1 and $ranks ranks: predictions differ by $most, $(($(date +%s) - start)) s"
    awk -v most="$most" 'BEGIN { exit !(most <= 1e-10) }' || failed=1
}

if [ "${1:-}" = --tests ]; then
    run_tests "${2:-32}"
    exit "$failed"
fi
dkmap=$(find_dkmap) ranks=${1:-256} rows=${ROWS:-600}
[ -x "$dkmap" ] || fail "no $dkmap: build it first (jobs/test.sh), or set DKMAP"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
gently="nice -n 5"
if cc -O2 -shared -fPIC -o "$work/sleep.so" "$root/jobs/study/sleep_on_yield.c" 2>/dev/null; then
    gently="$gently env LD_PRELOAD=$work/sleep.so"
fi
# make NAME ROWS SEED: inputs, a smooth output with noise, and three classes of it.
make() {
    awk -v n="$2" -v seed="$3" -v name="$1" 'BEGIN {
        srand(seed)
        for (i = 0; i < n; i++) {
            for (k = 1; k <= 6; k++) x[k] = rand()
            y = sin(3 * x[1] * x[2]) + 2 * (x[3] - 0.5) ^ 2 + x[4] + 0.1 * rand()
            printf "%.6f,%.6f,%.6f,%.6f,%.6f,%.6f\n", x[1], x[2], x[3], x[4], x[5], x[6] >(name ".x.csv")
            printf "%.6f\n", y >(name ".y.csv")
            print (y < 1 ? 0 : y < 1.6 ? 1 : 2) >(name ".labels.csv")
        }
    }'
}
make old "$rows" 1
make new 300 2
x=(--x old.x.csv --kx 'rbf(sigma=0.7)')
compare krr predict --truth new.y.csv --loss mse -- "${x[@]}" --y old.y.csv --gamma 0.01 --precision double
compare kpca encode -- "${x[@]}" --components 4
compare kde predict --truth new.y.csv --loss mse -- "${x[@]}" --y old.y.csv --gamma 0.01 --ky linear --components 1
compare jkm predict --truth new.labels.csv --y-type labels --loss zero-one -- "${x[@]}" --y old.labels.csv \
    --y-type labels --C 1 --slacks one --rounds 12
exit "$failed"
