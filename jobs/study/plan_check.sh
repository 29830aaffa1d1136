#!/usr/bin/env bash
# Holds `dkmap plan` against what runs then take: memory of the fullest rank and seconds, for every
# method it plans and some sizes, on data that are made for it. Calibrate first, on the idle machine:
#
#   mpirun -np 2 dkmap bench --calibrate
#   jobs/study/plan_check.sh [ROWS...]          2000 and 5000 where none are given
#
# Heeds: RANKS (2 where not set), REPEATS (3), DKMAP_LAUNCH, and DKMAP_CALIBRATION as dkmap does. Methods
# take turns until each has run REPEATS times; its middle time is held against the plan. Seconds are
# without the start of ranks; of joint maps and kpca the plan is told the rounds they took.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
case "${1:-}" in -h | --help) explain && exit ;; esac
dkmap=$(find_dkmap)
[ -x "$dkmap" ] || fail "no $dkmap: build it first (jobs/test.sh), or set DKMAP"
ranks=${RANKS:-2} repeats=${REPEATS:-3}
rows=("$@")
[ $# -gt 0 ] || rows=(2000 5000)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# fit NAME METHOD OPTIONS...: one run; its seconds go to NAME.times, its peak to NAME.peak.
fit() {
    local name=$1
    shift
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$dkmap" fit "$@" -o model.h5 --record run.jsonl >fitted 2>err ||
        fail "$name: $(grep '^dkmap' err | tail -1)"
    reported seconds fitted >>"$name.times"
    reported rounds fitted >"$name.rounds"
    tail -1 run.jsonl | sed 's/.*"peak_resident_bytes": *{[^}]*"max": *\([0-9.e+]*\).*/\1/' >"$name.peak"
}

# compare NAME METHOD OPTIONS...: one line of the table.
compare() {
    local name=$1 rounds
    shift
    rounds=$(cat "$name.rounds")
    "$dkmap" plan "$@" --ranks "$ranks" --expect-rounds "${rounds:-0}" >planned 2>err ||
        fail "plan of $name: $(tail -1 err)"
    sort -g "$name.times" | awk -v name="$name" -v m="$n" -v pm="$(reported rank_memory planned)" \
        -v pt="$(reported expected_seconds planned)" -v rm="$(cat "$name.peak")" '{ t[NR] = $1 } END {
        rm /= 1073741824; rt = t[int((NR + 1) / 2)]
        printf "| %s | %d | %.3f | %.3f | %.2f | ", name, m, pm, rm, pm / rm
        if (pt == "unknown") printf "unknown | %.2f | - |", rt
        else printf "%.2f | %.2f | %.2f |", pt, rt, pt / rt
        printf " %.2f to %.2f |\n", t[1], t[NR] }'
}

# all COMMAND: it, for every method, with arguments as above.
all() {
    local x=(--x data/x.npy --kx 'rbf(sigma=4)') y=(--y data/y.npy --gamma 0.01)
    "$1" "krr, double" krr "${x[@]}" "${y[@]}" --precision double
    "$1" "krr, mixed" krr "${x[@]}" "${y[@]}" --precision mixed
    "$1" "kpca, 32 components" kpca "${x[@]}" --components 32
    "$1" "kde, 16 components" kde "${x[@]}" "${y[@]}" --ky 'rbf(sigma=1)' --components 16
    "$1" "jkm, 10 classes" jkm "${x[@]}" --y labels.csv --y-type labels --C 1 --slacks one --rounds 12
}

echo "| method | rows | plan GiB a rank | run | ratio | plan seconds | run | ratio | fastest to slowest |"
echo "|---|---|---|---|---|---|---|---|---|"
for n in "${rows[@]}"; do
    "$dkmap" gen regression --n "$n" --seed 1 --out-dir data >/dev/null
    awk -v n="$n" 'BEGIN { srand(3); for (i = 0; i < n; i++) print int(10 * rand()) }' >labels.csv
    for ((k = 0; k < repeats; k++)); do all fit; done
    all compare
    rm -rf data ./*.times
done
