#!/usr/bin/env bash
# Counting communication: only where it is asked for, the same counts each time, and the same answers.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# counted FILE WHAT: from the last record of FILE.
counted() {
    tail -n 1 "$1" | python3 -c "import json, sys; r = json.load(sys.stdin); print($2)"
}

good 3 bench comm --n 400 --d 5 --record comm.jsonl
grep -q '^comm  *factor  *bytes' out || fail "bench comm prints no line for the factor"
good 3 bench comm --n 400 --d 5 --record comm.jsonl
first=$(head -n 1 comm.jsonl | python3 -c "
import json, sys
print(json.load(sys.stdin)['phases']['factor']['mpi']['bytes'])")
again=$(counted comm.jsonl "r['phases']['factor']['mpi']['bytes']")
[ "$first" = "$again" ] || fail "bytes of the factor: $first, then $again"
[ "$(counted comm.jsonl "r['phases']['factor']['mpi']['messages']['max'] > 0")" = True ] ||
    fail "the factor sends no messages on 3 ranks"
[ "$(counted comm.jsonl "all(p['mpi']['bytes']['min'] <= p['mpi']['bytes']['mean'] <= p['mpi']['bytes']['max'] for p in r['phases'].values())")" = True ] ||
    fail "least, mean and most are not in order"
good 1 bench comm --n 200 --d 5 --record one.jsonl
[ "$(counted one.jsonl "r['phases']['factor']['mpi']['messages']['max']")" = 0.0 ] ||
    fail "one rank sends messages"

good 1 gen regression --n 60 --dim 5 --seed 5 --out-dir data
good 2 fit krr --x data/x.npy --y data/y.npy --kx 'rbf(sigma=1)' --gamma 0.1 -o plain.h5 --record plain.jsonl
grep -q '^comm' out && fail "a run that does not count prints counts"
[ "$(counted plain.jsonl "any('mpi' in p for p in r['phases'].values())")" = False ] ||
    fail "a run that does not count records counts"
good 2 fit krr --x data/x.npy --y data/y.npy --kx 'rbf(sigma=1)' --gamma 0.1 -o counted.h5 --count-comm \
    --record counted.jsonl
[ "$(counted counted.jsonl "sum(p['mpi']['collectives']['max'] for p in r['phases'].values()) > 0")" = True ] ||
    fail "--count-comm counts no collectives"
good 1 predict plain.h5 --x data/x.npy -o plain.npy
good 1 predict counted.h5 --x data/x.npy -o counted.npy
cmp -s plain.npy counted.npy || fail "predictions differ where communication is counted"

# Profilers find the names of MPI free.
if command -v nm >/dev/null && nm -D --defined-only "$DKMAP" | grep -q ' T MPI_'; then
    fail "the command takes names of MPI"
fi

# On the wire, where Open MPI has its monitoring.
if mpirun --version 2>/dev/null | grep -q 'Open MPI' && ompi_info 2>/dev/null | grep -q 'MCA pml: monitoring'; then
    DKMAP=$DKMAP OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
        timeout "$limit" "$DKMAP_SOURCE/jobs/study/count_comm.sh" 1,3 bench comm --n 300 --d 5 >wire 2>err ||
        fail "count_comm.sh: $(cat err)"
    tail -n 1 wire | python3 -c "
import json, sys
r = json.load(sys.stdin)
assert r['ranks'] == 3 and r['sent_bytes']['min'] > 0
assert abs(r['sent_bytes']['mean'] - r['received_bytes']['mean']) < 1" || fail "count_comm.sh: $(cat wire)"
        # A run that ended well and that mpirun calls improper all the same is repeated.
        printf '%s\n' '#!/bin/sh' 'if mkdir tried 2>/dev/null; then echo "exiting improperly" >&2 && exit 1; fi' \
            'exec mpirun --oversubscribe --bind-to none "$@"' >improper
        chmod +x improper
        MPIRUN=$PWD/improper timeout "$limit" "$DKMAP_SOURCE/jobs/study/count_comm.sh" 3 bench comm --n 300 --d 5 \
            >again 2>err || fail "count_comm.sh after an improper exit: $(cat err)"
        says err "try 1" "count_comm.sh after an improper exit"
        [ "$(tail -n 1 again)" = "$(tail -n 1 wire)" ] || fail "counts of a repeated run: $(cat again wire)"
fi

finish
