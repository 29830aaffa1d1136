#!/usr/bin/env bash
# Simulated fits send what real ones send: bytes and messages of each phase, within 2 %.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
simulate=$DKMAP_SOURCE/jobs/study/simulate.sh

bash "$simulate" krr --ranks 4 --n 4x --record s.jsonl >out 2>err
status=$?
expect 2 "simulate.sh with a size that is no number"
if ! command -v smpicc >/dev/null; then
    echo "skipped: SimGrid is not installed (Debian: libsimgrid-dev)"
    exit 77
fi
cat >rates <<'END'
rank_gemm_double 5e10
rank_gemm_single 1e11
rank_syrk 2.5e10
rank_trsm 2e10
rank_potrf 2.5e9
rank_skinny_bytes 7.5e9
rank_copy_bytes 2.2e10
rank_map_element 2e-9
END
# A folder that is kept from one run of the test to the next compiles what has changed alone.
kept=${DKMAP%/*}/simulate

# simulated METHOD RANKS OPTIONS...: the last line of s.jsonl is its record.
simulated() {
    local method=$1 ranks=$2
    shift 2
    timeout -k 10 1500 bash "$simulate" "$method" --ranks "$ranks" --d 6 --rates rates --record s.jsonl \
        --build "$kept" "$@" >out 2>err || fail "simulate.sh $method on $ranks ranks: $(cat out err)"
}

# same PHASES: those of the last records of run.jsonl and s.jsonl.
same() {
    python3 - "$@" <<'END' || fail "simulated and counted $*: $(cat out)"
import json, sys
run, simulated = (json.loads(open(f).readlines()[-1])["phases"] for f in ("run.jsonl", "s.jsonl"))
bad = False
for phase in sys.argv[1:]:
    for count in "bytes", "messages":
        for end in "mean", "max":
            a, b = run[phase]["mpi"][count][end], simulated[phase]["mpi"][count][end]
            if abs(a - b) > 0.02 * max(a, b) + 1:
                print(f"{phase}: {end} {count} {a:.0f} in a run, {b:.0f} simulated", file=sys.stderr)
                bad = True
sys.exit(bad)
END
}

good 1 gen regression --n 700 --dim 6 --seed 5 --out-dir data
data=(--x data/x.npy --y data/y.npy --kx 'rbf(sigma=3)' --gamma 0.01 --count-comm --record run.jsonl)
for ranks in 3 4; do
    good "$ranks" fit krr "${data[@]}" --precision double -o m.h5
    simulated krr "$ranks" --n 700
    same gram factor solve
done
good 4 fit kpca --x data/x.npy --kx 'rbf(sigma=3)' --components 4 --count-comm --record run.jsonl -o m.h5
simulated kpca 4 --n 700 --components 4
same gram

# A calibration without the rates of a rank is refused.
grep -v potrf rates >some && mv some rates
bash "$simulate" krr --ranks 4 --n 100 --rates rates --record s.jsonl --build "$kept" >out 2>err &&
    fail "a calibration that lacks a rate was accepted"
says err "bench calibrate" "a calibration that lacks a rate"
finish
