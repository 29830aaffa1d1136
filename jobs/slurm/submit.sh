#!/usr/bin/env bash
# Plans a fit, writes the sbatch file for it and submits it. Takes the arguments of `dkmap fit`.
#
#   jobs/slurm/submit.sh krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' --gamma 1e-3 -o model.h5
#
# Heeds: MEMORY (of a node, such as 64G; asked from sinfo when not set), RANKS_PER_NODE (its cores),
# RANKS (as few as fit when not set), TIME (twice what the plan expects, at least ten minutes),
# DRY=1 (write the file, submit nothing), and what jobs/slurm/site.env heeds.
# A job that does not fit is refused here, before it is queued.
set -euo pipefail
jobs=$(cd "$(dirname "$0")" && pwd)
SLURM_SUBMIT_DIR=${SLURM_SUBMIT_DIR:-$PWD}
# shellcheck source=jobs/slurm/site.env
. "$jobs/site.env"
explain() {
    sed -n '2,/^[^#]/{s/^# \{0,1\}//p}' "$0"
}
case ${1:-} in -h | --help) explain && exit ;; esac
[ $# -gt 1 ] || { explain >&2; exit 2; }

# The smallest node tells what all of them have.
MEMORY=${MEMORY:-$(sinfo -h -N -o %m 2>/dev/null | sort -n | head -1)M}
RANKS_PER_NODE=${RANKS_PER_NODE:-$(sinfo -h -N -o %c 2>/dev/null | sort -n | head -1)}
if [ "$MEMORY" = M ] || [ -z "$RANKS_PER_NODE" ]; then
    echo "submit.sh: no sinfo to ask: set MEMORY and RANKS_PER_NODE" >&2
    exit 1
fi

# What plan has no use for: where the model goes.
method=$1 planned=("$1")
shift
arguments=("$@")
for ((k = 0; k < ${#arguments[@]}; k++)); do
    case ${arguments[k]} in
    -o | --output) k=$((k + 1)) ;;
    --output=*) ;;
    *) planned+=("${arguments[k]}") ;;
    esac
done
plan=$("$DKMAP" plan "${planned[@]}" --memory "$MEMORY" --ranks-per-node "$RANKS_PER_NODE" \
    --ranks "${RANKS:-0}") || exit 1
told() { awk -v name="$1" '$1 == name { print $2; exit }' <<<"$plan"; }
ranks=$(told ranks) nodes=$(told nodes)
there=$(sinfo -h -o %D 2>/dev/null | awk '{ n = $1 > n ? $1 : n } END { print n + 0 }')
if [ "$there" -gt 0 ] && [ "$nodes" -gt "$there" ]; then
    echo "submit.sh: this takes $nodes nodes of $MEMORY, and the cluster has $there: use --landmarks, or fewer rows" >&2
    exit 1
fi
seconds=$(told expected_seconds)
minutes=$(awk -v s="$seconds" 'BEGIN { m = s == "unknown" ? 1440 : 2 * s / 60; print int(m < 10 ? 10 : m + 1) }')
memory=$(awk -v g="$(told node_memory)" 'BEGIN { print int(g * 1024 * 1.2 + 256) }')

file=$PWD/dkmap-$method-$(date +%Y%m%d-%H%M%S).sbatch
{
    echo "#!/bin/bash"
    echo "#SBATCH --job-name=dkmap-$method --nodes=$nodes --ntasks=$ranks --mem=${memory}M"
    echo "#SBATCH --time=${TIME:-$minutes} --requeue --open-mode=append --signal=B:USR1@120"
    printf 'export DKMAP_JOBS=%q DKMAP=%q\n' "$jobs" "$DKMAP"
    printf '# %s\n' "${plan//$'\n'/$'\n'# }"
    printf '. %q/fit.sbatch %q' "$jobs" "$method"
    printf ' %q' "${arguments[@]}"
    echo
} >"$file"
echo "$file"
[ "${DRY:-0}" = 1 ] && exit 0
# shellcheck disable=SC2086
sbatch $DKMAP_SBATCH "$file"
