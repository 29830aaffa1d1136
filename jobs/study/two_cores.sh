#!/usr/bin/env bash
# What only quiet cores can tell, in under 15 minutes on two of them: every pair of runs is alternated, and
# the median of their ratios is printed, so that a slow minute of the machine harms one pair alone.
#
#   jobs/study/two_cores.sh [--rounds 5] [--n 8000] [--krr 10000] [--record FILE] [--study DIR]
#
# threads   seconds of 1 rank x 2 threads over those of 2 ranks x 1 thread, for bench gram, ridge and eigen
#           with --n rows: at most 1.1 is wanted
# ranks     a ridge regression in double with --krr rows on 1 and on 2 ranks: how much faster two are, over how
#           much more two products of large matrices at once do than one: at least 0.93 is wanted
# --record  appends the records of all runs to a file, which scaling_study.sh report reads
# --study   also runs strong and weak scaling of bench ridge on 1 and 2 ranks there (4 minutes), and writes the
#           page DIR/strong/report.html with what is recorded
# Refuses to start where other processes run: DKMAP_BUSY=1 starts all the same, and says so.
# Heeds: DKMAP (the command), DKMAP_LAUNCH.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"

usage() {
    explain >&2
    exit 2
}

rounds=5 n=8000 krr=10000 record='' study=''
while [ $# -gt 0 ]; do
    case $1 in
    -h | --help) explain && exit ;;
    --rounds | --n | --krr) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || usage ;;
    --record | --study) [ -n "${2:-}" ] || usage ;;
    *) usage ;;
    esac
    case $1 in
    --rounds) rounds=$2 ;; --n) n=$2 ;; --krr) krr=$2 ;; --record) record=$2 ;; --study) study=$2 ;;
    esac
    shift 2
done
dkmap=${DKMAP:-$build/dkmap}
[ -x "$dkmap" ] || fail "no $dkmap: build it first"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ -n "$record" ] || record=$work/records
[ "$(cores)" -ge 2 ] || fail "two cores are needed"

# busy: processes that wanted a core over three seconds, beside this one.
busy() {
    for _ in 1 2 3 4 5 6; do
        awk '/^procs_running/ { print $2 - 1 }' /proc/stat
        sleep 0.5
    done | awk '{ s += $1 } END { print (s / NR >= 0.75) }'
}

if [ "$(busy)" = 1 ]; then
    [ -n "${DKMAP_BUSY:-}" ] || fail "other processes use the cores: their times would be measured too (DKMAP_BUSY=1 measures all the same)"
    echo "other processes use the cores: no figure below is to be quoted"
fi

# timed RANKS THREADS FIELD COMMAND...: what a run says of a field.
timed() {
    local ranks=$1 threads=$2 field=$3
    shift 3
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=$threads $launch -np "$ranks" "$dkmap" "$@" --threads "$threads" --repeat 1 --record "$record" \
        >"$work/out" 2>"$work/err" || fail "dkmap $*: $(tail -n 3 "$work/err")"
    awk -v field="$field" '{ for (k = 1; k <= split(field, f, ","); k++) if ($1 == f[k]) v[k] = $2 }
        END { for (k = 1; k <= length(v); k++) printf "%s ", v[k]; print "" }' "$work/out"
}

# median FILE: of its numbers, and the smallest and the largest of them.
median() {
    sort -g "$1" | awk '{ v[NR] = $1 } END { m = NR % 2 ? v[(NR + 1) / 2] : (v[NR / 2] + v[NR / 2 + 1]) / 2
        printf "%.3f (%.3f to %.3f, %d pairs)", m, v[1], v[NR], NR }'
}

for bench in gram ridge eigen; do
    : >"$work/ratios"
    for ((k = 1; k <= rounds; k++)); do
        a=$(timed 1 2 best_seconds bench "$bench" --n "$n" --gemm 512)
        b=$(timed 2 1 best_seconds bench "$bench" --n "$n" --gemm 512)
        awk -v a="$a" -v b="$b" 'BEGIN { print a / b }' >>"$work/ratios"
    done
    echo "bench $bench, n = $n: 1 x 2 threads over 2 x 1: $(median "$work/ratios"), at most 1.1 is wanted"
done

: >"$work/ratios"
for ((k = 1; k <= rounds; k++)); do
    read -r one gemm_one < <(timed 1 1 best_seconds,gemm_rate bench ridge --n "$krr" --precision double --outputs 1)
    read -r two gemm_two < <(timed 2 1 best_seconds,gemm_rate bench ridge --n "$krr" --precision double --outputs 1)
    awk -v a="$one" -v b="$two" -v f="$gemm_one" -v g="$gemm_two" 'BEGIN { print a / b / (g / f) }' >>"$work/ratios"
done
echo "ridge, m = $krr, double: gain of 2 ranks over that of 2 products at once: $(median "$work/ratios"), at least 0.93 is wanted"

[ -n "$study" ] || exit 0
own=$root/jobs/study/scaling_study.sh
bench=(bench ridge --threads 1 --precision double --repeat 1 --gemm 512)
mkdir -p "$study"
bash "$own" make "$study/strong" --ranks 1,2 --repeats 3 -- "${bench[@]}" --n 6000
bash "$own" make "$study/weak" --weak --ranks 1,2 --repeats 3 -- "${bench[@]}" --n 3000
for kind in strong weak; do bash "$own" run "$study/$kind"; done
cp "$record" "$study/pairs.jsonl"
# Of 2048 rows the cubic share of the time is too small to be told from the quadratic one.
DKMAP_CALIBRATION=$study "$dkmap" bench calibrate --n 6000 --threads 1 >/dev/null
bash "$own" report "$study/strong" "$study/weak" "$study"/*.jsonl "$study"/*-1.calibration
