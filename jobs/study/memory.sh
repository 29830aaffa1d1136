#!/usr/bin/env bash
# Memory of the fullest rank against the number of ranks: krr, kpca, krr on landmarks and kde with many output
# columns, and what remains when ranks are many: the constant of c / P + constant through the first and the last
# count, less that of a rank that does nothing but start, and less that of a rank that has fitted 64 rows by the
# same method: one that has all libraries loaded and has sent messages.
#
#   jobs/study/memory.sh [RANKS]                4,32 where none are given
#   jobs/study/memory.sh --cv [RANKS]           cross-validation, where only the course is of interest; 1,2,4,8,16
#
# allocated: arrays of dkmap, the same on any machine. private: pages that a rank had to itself. proportional: with
# its part of those that others map too, 1/n of a page of n processes: what it takes of its node. resident: with all of
# those of libraries and of MPI's shared memory, which grow with the ranks of a node and with its load.
# Heeds: DKMAP_BUILD, DKMAP (the command), DKMAP_LAUNCH, ROWS (5000), OUTPUTS (2000).
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
case "${1:-}" in -h | --help) explain && exit ;; esac
dkmap=${DKMAP:-$build/dkmap} rows=${ROWS:-5000} outputs=${OUTPUTS:-2000} cv=0
[ "${1:-}" != --cv ] || { cv=1 && shift; }
[ -x "$dkmap" ] || fail "no $dkmap: build it first (jobs/test.sh), or set DKMAP"
counts=${1:-$([ "$cv" = 1 ] && echo 1,2,4,8,16 || echo 4,32)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# on RANKS NAME COMMAND...: a run; its name goes beside its record.
on() {
    local ranks=$1 name=$2
    shift 2
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$dkmap" "$@" --record runs.jsonl >out 2>err ||
        fail "dkmap $* on $ranks ranks: $(grep '^dkmap' err | tail -n 1)"
    echo "$name" >>names
}

# table: one line per run and, for each name, the constant.
table() {
    paste -d '\t' names runs.jsonl | python3 "$root/jobs/study/memory.py" "$@"
}

"$dkmap" gen regression --n "$rows" --seed 1 --out-dir data >/dev/null
x=(--x data/x.npy --kx 'rbf(sigma=3)') y=(--y data/y.npy --gamma 0.01)
if [ "$cv" = 1 ]; then
    for ranks in ${counts//,/ }; do
        # shellcheck disable=SC2016
        on "$ranks" cv cv krr --x data/x.npy --y data/y.npy --kx 'rbf(sigma=$s)' --try s=2,3 --gamma 0.01,0.1 --folds 5
    done
    table --falls
    exit
fi
"$dkmap" gen regression --n "$outputs" --seed 2 --out-dir centres >/dev/null
"$dkmap" gram --x centres/x.npy --z data/x.npy --kx 'rbf(sigma=3)' -o wide.npy >/dev/null
for ranks in ${counts//,/ }; do
    on "$ranks" idle gen regression --n 8 --seed 1 --out-dir few
    on "$ranks" krr fit krr "${x[@]}" "${y[@]}" --precision double -o m.h5
    on "$ranks" kpca fit kpca "${x[@]}" --components 64 -o m.h5
    on "$ranks" pcg fit krr "${x[@]}" "${y[@]}" --solver pcg --landmarks 500 -o m.h5
    on "$ranks" kde fit kde "${x[@]}" --y wide.npy --gamma 0.01 --ky linear --components 16 -o m.h5
    x[1]='data/x.npy[:64]' y[1]='data/y.npy[:64]'
    on "$ranks" krr-64 fit krr "${x[@]}" "${y[@]}" --precision double -o m.h5
    on "$ranks" kpca-64 fit kpca "${x[@]}" --components 8 -o m.h5
    on "$ranks" pcg-64 fit krr "${x[@]}" "${y[@]}" --solver pcg --landmarks 20 -o m.h5
    on "$ranks" kde-64 fit kde "${x[@]}" --y 'wide.npy[:64, :16]' --gamma 0.01 --ky linear --components 8 -o m.h5
    x[1]=data/x.npy y[1]=data/y.npy
done
table
