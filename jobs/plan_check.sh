#!/usr/bin/env bash
# Holds `dkmap plan` against what runs then take: memory of the fullest rank and seconds, for every
# method it plans and some sizes, on data that are made for it. Calibrate first, on the idle machine:
#
#   mpirun -np 2 dkmap bench --calibrate
#   jobs/plan_check.sh [ROWS...]          2000 and 5000 where none are given
#
# Heeds: RANKS (2 where not set), DKMAP_LAUNCH, and DKMAP_CALIBRATION as dkmap does. Seconds are those
# of the run without the start of its ranks; of joint maps the plan is told the rounds they took.
set -euo pipefail
. "$(dirname "$0")/common.sh"
case "${1:-}" in -h | --help) explain && exit ;; esac
dkmap=${DKMAP:-$build/dkmap}
[ -x "$dkmap" ] || fail "no $dkmap: build it first (jobs/test.sh), or set DKMAP"
ranks=${RANKS:-2}
rows=("$@")
[ $# -gt 0 ] || rows=(2000 5000)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# told NAME FILE: the value of a `name value` line.
told() { awk -v name="$1" '$1 == name { print $2; exit }' "$2"; }

# compare NAME METHOD OPTIONS...: one line of the table.
compare() {
    local name=$1 memory seconds
    shift
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$dkmap" fit "$@" -o model.h5 --record run.jsonl >fitted 2>err ||
        fail "$name: $(grep '^dkmap' err | tail -1)"
    "$dkmap" plan "$@" --ranks "$ranks" --expect-rounds "$(told rounds fitted | grep . || echo 1)" \
        >planned 2>err || fail "plan of $name: $(tail -1 err)"
    memory=$(tail -1 run.jsonl | sed 's/.*"peak_resident_bytes": *{[^}]*"max": *\([0-9.e+]*\).*/\1/')
    seconds=$(told seconds fitted)
    awk -v name="$name" -v m="$n" -v pm="$(told rank_memory planned)" -v pt="$(told expected_seconds planned)" \
        -v rm="$memory" -v rt="$seconds" 'BEGIN {
        rm /= 1073741824
        printf "| %s | %d | %.3f | %.3f | %.2f | ", name, m, pm, rm, pm / rm
        if (pt == "unknown") printf "unknown | %.2f | - |\n", rt
        else printf "%.2f | %.2f | %.2f |\n", pt, rt, pt / rt }'
}

echo "| method | rows | plan GiB a rank | run | ratio | plan seconds | run | ratio |"
echo "|---|---|---|---|---|---|---|---|"
for n in "${rows[@]}"; do
    "$dkmap" gen regression --n "$n" --seed 1 --out-dir data >/dev/null
    awk -v n="$n" 'BEGIN { srand(3); for (i = 0; i < n; i++) print int(10 * rand()) }' >labels.csv
    x=(--x data/x.npy --kx 'rbf(sigma=4)') y=(--y data/y.npy --gamma 0.01)
    compare "krr, double" krr "${x[@]}" "${y[@]}" --precision double
    compare "krr, mixed" krr "${x[@]}" "${y[@]}" --precision mixed
    compare "kpca, 32 components" kpca "${x[@]}" --components 32
    compare "kde, 16 components" kde "${x[@]}" "${y[@]}" --ky 'rbf(sigma=1)' --components 16
    compare "jkm, 10 classes" jkm "${x[@]}" --y labels.csv --y-type labels --C 1 --slacks one --rounds 12
    rm -rf data
done
