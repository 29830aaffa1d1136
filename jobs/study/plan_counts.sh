#!/usr/bin/env bash
# Holds the bytes that `dkmap plan` says a rank sends and allocates against those that runs count, for krr, kpca,
# kde, jkm, svm and every fit on landmarks. Counts do not depend on how busy the machine is, so the ranks may be many
# more than the cores.
#
#   jobs/study/plan_counts.sh [RANKS]           4,16,64 where none are given
#
# Prints a line per method, count and quantity; exits with 1 where one is off by more than MOST (0.15).
# Heeds: DKMAP_BUILD, DKMAP (the command), DKMAP_LAUNCH, ROWS (2000; landmarks 4500), MOST.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
case "${1:-}" in -h | --help) explain && exit ;; esac
dkmap=$(find_dkmap) counts=${1:-4,16,64} rows=${ROWS:-2000}
[ -x "$dkmap" ] || fail "no $dkmap: build it first (jobs/test.sh), or set DKMAP"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export DKMAP_CALIBRATION=$work/none

# both RANKS NAME METHOD OPTIONS...: a run, and its plan, which is told the iterations that the run reports
# under that name.
both() {
    local ranks=$1 name=$2 iterations
    shift 2
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$dkmap" fit "$@" -o model.h5 --count-comm --record runs.jsonl >out 2>err ||
        fail "fit $* on $ranks ranks: $(grep '^dkmap' err | tail -n 1)"
    iterations=$(awk -v name="$name" '$1 == name { print $2; exit }' out)
    "$dkmap" plan "$@" --ranks "$ranks" --expect-iterations "${iterations:-0}" --record plans.jsonl >out 2>err ||
        fail "plan $*: $(tail -n 1 err)"
}

"$dkmap" gen regression --n "$rows" --seed 1 --out-dir few >/dev/null
"$dkmap" gen regression --n 4500 --seed 1 --out-dir many >/dev/null
awk -v n="$rows" 'BEGIN { srand(3); for (i = 0; i < n; i++) print int(10 * rand()) }' >classes.csv
awk 'BEGIN { srand(4); for (i = 0; i < 4500; i++) print int(4 * rand()) }' >four.csv
x=(--x few/x.npy --kx 'rbf(sigma=3)') y=(--y few/y.npy --gamma 0.01)
z=(--x many/x.npy --y many/y.npy --kx 'rbf(sigma=3)' --gamma 0.01)
for ranks in ${counts//,/ }; do
    both "$ranks" none krr "${x[@]}" "${y[@]}" --precision double
    both "$ranks" rounds kpca "${x[@]}" --components 16
    both "$ranks" rounds kde "${x[@]}" "${y[@]}" --ky 'rbf(sigma=1)' --components 8
    both "$ranks" steps krr "${z[@]}" --solver pcg --landmarks 200
    both "$ranks" steps krr "${z[@]}" --solver pcg --landmarks 200 --cache nothing
    both "$ranks" steps krr "${z[@]}" --solver pcg --landmarks 200 --landmark-choice pivoted
    both "$ranks" steps krr "${z[@]}" --solver pcg --landmarks 200 --basis all
    both "$ranks" steps krr "${x[@]}" "${y[@]}" --solver pcg --landmarks 150
    both "$ranks" none krr "${z[@]}" --nystroem 200
    both "$ranks" none krr "${z[@]/0.01/0.01,0.1,1}" --nystroem 200
    both "$ranks" rounds kpca --x many/x.npy --kx 'rbf(sigma=3)' --components 16 --landmarks 200
    both "$ranks" steps kde "${z[@]}" --ky 'rbf(sigma=1)' --components 8 --solver pcg --landmarks 200
    both "$ranks" none svm "${x[@]}" --y classes.csv --y-type labels --C 1
    both "$ranks" rounds_per_class svm --x many/x.npy --kx 'rbf(sigma=3)' --y four.csv --y-type labels --C 1
    both "$ranks" rounds jkm "${x[@]}" --y classes.csv --y-type labels --C 1 --formulation 1-slack --max-iter 12
    both "$ranks" rounds jkm --x few/x.npy --kx linear --y classes.csv --y-type labels --C 1 --formulation 1-slack \
        --max-iter 12
done
python3 "$root/jobs/study/plan_counts.py" plans.jsonl runs.jsonl "${MOST:-0.15}"
