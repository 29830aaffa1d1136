#!/usr/bin/env bash
# What each step of dkmap sends on the wire, per rank, on two numbers of ranks: a step that sends as much on the
# larger one does not scale. Counts are exact on a busy machine too (count_comm.sh).
#
#   jobs/study/wire_steps.sh [FEW,MANY [STEP...]]          16,64 and all steps
#
# Steps: factor krr kpca pcg kde jkm jkm-n cv tune predict top std coverage encode append forget. Prints lines of
# a Markdown table: megabytes that a rank sends, mean and max, on both, their ratio, and messages, mean.
# Needs a build, and Debian's python3-numpy. Heeds: DKMAP_BUILD, DKMAP, MPIRUN as count_comm.sh; ROWS (2048), of
# which predictions, append and coverage take the last quarter.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
case ${1:-} in -h | --help) explain && exit ;; esac
counts=${1:-16,64} rows=${ROWS:-2048}
steps=(factor krr kpca pcg kde jkm jkm-n cv tune predict top std coverage encode append forget)
[[ $counts =~ ^[1-9][0-9]*,[1-9][0-9]*$ ]] || fail "give two numbers of ranks, such as 16,64"
[ $# -lt 2 ] || steps=("${@:2}")
DKMAP=$(find_dkmap)
export DKMAP
[ -x "$DKMAP" ] || fail "no $DKMAP: build it first (jobs/test.sh), or set DKMAP"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Inputs of 20 columns, an output, 500 outputs that the inputs determine, ten classes; the last quarter apart.
make_data() {
    "$DKMAP" gen regression --n "$rows" --seed 1 --out-dir "$work" -q >/dev/null
    /usr/bin/python3 - "$work" <<'END'
import sys

import numpy as np

folder = sys.argv[1]
x, rng = np.load(f"{folder}/x.npy"), np.random.default_rng(1)
np.save(f"{folder}/many.npy", np.tanh(x @ rng.normal(size=(x.shape[1], 500))))
classes = np.digitize(x[:, 0] + 0.2 * x[:, 1], np.linspace(0.1, 1.1, 9))
np.savetxt(f"{folder}/classes.csv", classes, fmt="%d")
for name in "x", "y", "many":
    a = np.load(f"{folder}/{name}.npy")
    np.save(f"{folder}/{name}-old.npy", a[: 3 * len(a) // 4])
    np.save(f"{folder}/{name}-new.npy", a[3 * len(a) // 4 :])
END
}

# model NAME METHOD OPTIONS...: made on one rank, once
model() {
    local name=$1
    shift
    [ -e "$work/$name.h5" ] || "$DKMAP" fit "$@" -o "$work/$name.h5" -q >/dev/null
}

# counted STEP COMMAND...: its line of the table
counted() {
    local step=$1
    shift
    if ! "$root/jobs/study/count_comm.sh" "$counts" "$@" >"$work/out" 2>&1; then
        tail -n 3 "$work/out" >&2
        failed=1
        return
    fi
    grep '^{' "$work/out" >"$work/counts"
    python3 - "$step" "$work/counts" <<'END'
import json
import sys

few, many = (json.loads(line) for line in open(sys.argv[2]))
cells = [sys.argv[1]]
for run in few, many:
    cells.append("%.3g / %.3g" % tuple(run["sent_bytes"][k] / 1e6 for k in ("mean", "max")))
cells.append("%.2f / %.2f" % tuple(many["sent_bytes"][k] / max(few["sent_bytes"][k], 1) for k in ("mean", "max")))
cells += ["%.0f" % run["sent_messages"]["mean"] for run in (few, many)]
print("| " + " | ".join(cells) + " |", flush=True)
END
}

# fit_step STEP
fit_step() {
    local x=(--x "$work/x.npy" --kx 'rbf(sigma=3)') y=(--y "$work/y.npy" --gamma 1e-2) out=(-o "$work/out.h5" -q)
    local classes=(--y "$work/classes.csv" --y-type labels --C 1)
    case $1 in
    factor) counted "bench comm" bench comm --n "$rows" --d 20 --block 64 ;;
    krr) counted "fit krr, double" fit krr "${x[@]}" "${y[@]}" --precision double "${out[@]}" ;;
    kpca) counted "fit kpca, 64 components" fit kpca "${x[@]}" --components 64 "${out[@]}" ;;
    pcg) counted "fit krr, pcg, 300 landmarks" fit krr "${x[@]}" "${y[@]}" --solver pcg --landmarks 300 "${out[@]}" ;;
    kde) counted "fit kde, 500 output columns" fit kde "${x[@]}" --y "$work/many.npy" --gamma 1e-2 \
        --ky 'rbf(sigma=20)' --components 16 "${out[@]}" ;;
    jkm) counted "fit jkm, one slack, 12 rounds" fit jkm "${x[@]}" "${classes[@]}" --formulation 1-slack --max-iter 12 \
        "${out[@]}" ;;
    jkm-n) counted "fit jkm, a slack per example, 6 rounds" fit jkm "${x[@]}" "${classes[@]}" --formulation n-slack \
        --max-iter 6 "${out[@]}" ;;
    cv) counted "cv krr, 5 folds, 2 gammas" cv krr "${x[@]}" --y "$work/y.npy" --gamma 1e-2,1e-1 --folds 5 -q ;;
    tune) counted "fit krr --tune, 4 looks" fit krr "${x[@]}" "${y[@]}" --tune --tune-fits 4 --tune-starts 1 \
        "${out[@]}" ;;
    esac
}

# model_step STEP: with a model of the first three quarters of the rows
model_step() {
    local old=(--x "$work/x-old.npy" --kx 'rbf(sigma=3)') new=(--x "$work/x-new.npy" -o "$work/out.npy" -q)
    local krr=$work/krr.h5 kde=$work/kde.h5 kpca=$work/kpca.h5
    model krr krr "${old[@]}" --y "$work/y-old.npy" --gamma 1e-2 --keep-factor
    model kde kde "${old[@]}" --y "$work/many-old.npy" --gamma 1e-2 --ky 'rbf(sigma=20)' --components 16
    model kpca kpca "${old[@]}" --components 64
    case $1 in
    predict)
        counted "predict krr" predict "$krr" "${new[@]}"
        counted "predict kde, training outputs" predict "$kde" "${new[@]}" --preimage candidates
        ;;
    top)
        counted "predict kde --top 10" predict "$kde" "${new[@]}" --top 10
        counted "predict kde --candidates FILE --top 3" predict "$kde" "${new[@]}" --candidates "$work/many.npy" --top 3
        ;;
    std) counted "predict krr --std" predict "$krr" "${new[@]}" --std ;;
    coverage) counted "predict krr --coverage" predict "$krr" "${new[@]}" --coverage 0.9 \
        --calibration-x "$work/x-new.npy" --calibration-y "$work/y-new.npy" ;;
    encode) counted "encode, 64 components" encode "$kpca" "${new[@]}" ;;
    append) counted "append a third" append "$krr" --x "$work/x-new.npy" --y "$work/y-new.npy" -o "$work/out.h5" -q ;;
    forget) counted "forget 64" forget "$krr" --rows 0:64 -o "$work/out.h5" -q ;;
    esac
}

make_data
failed=0
few=${counts%,*} many=${counts#*,}
echo "| step | MB sent, mean / max, $few ranks | $many ranks | $many over $few | messages, $few ranks | $many ranks |"
echo "|---|---|---|---|---|---|"
for step in "${steps[@]}"; do
    case $step in
    factor | krr | kpca | pcg | kde | jkm | jkm-n | cv | tune) fit_step "$step" ;;
    predict | top | std | coverage | encode | append | forget) model_step "$step" ;;
    *) fail "unknown step $step" ;;
    esac
done
exit "$failed"
