#!/usr/bin/env bash
# Plans a fit, writes the sbatch file for it and submits it. Takes the arguments of `dkmap fit`.
#
#   jobs/slurm/submit.sh krr --x x.npy --y y.npy --kx 'rbf(sigma=2)' --gamma 1e-3 -o model.h5
#
# Heeds: MEMORY (of a node, such as 64G; asked from sinfo when not set), RANKS_PER_NODE (its cores),
# RANKS (as few as fit when not set), TIME (twice what the plan expects, at least ten minutes; a day where
# the plan knows no time), DRY=1 (write the file, submit nothing), and what jobs/slurm/site.env heeds. With
# MEMORY and RANKS_PER_NODE it needs no sinfo. A job that does not fit is refused here, before it is queued.
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

fail() {
    echo "submit.sh: $*" >&2
    exit 1
}

# smallest FORMAT: what sinfo says of the node that has least; nothing where it cannot be asked.
smallest() {
    command -v sinfo >/dev/null || return 0
    { sinfo -h -N -o "$1" 2>/dev/null || true; } | sort -n | head -n 1
}

MEMORY=${MEMORY:-$(smallest %m | sed 's/$/M/')} # sinfo says megabytes
RANKS_PER_NODE=${RANKS_PER_NODE:-$(smallest %c)}
if [ -z "$MEMORY" ] || [ -z "$RANKS_PER_NODE" ]; then
    fail "sinfo tells nothing of the nodes: set MEMORY, such as 64G, and RANKS_PER_NODE"
fi
[[ $RANKS_PER_NODE =~ ^[1-9][0-9]*$ ]] || fail "RANKS_PER_NODE=$RANKS_PER_NODE is not a number of ranks"
[[ $MEMORY =~ ^[0-9]+(\.[0-9]+)?[KMGT]?$ ]] || fail "MEMORY=$MEMORY is no amount: give one such as 64G"

# What plan has no use for: where the model goes.
method=$1 planned=("$1")
shift
arguments=("$@")
for ((k = 0; k < ${#arguments[@]}; k++)); do
    # plan takes sizes of files that are not there yet, but a job cannot read them.
    if [[ ${arguments[k]#--*=} =~ ^[0-9]+x[0-9]+$ ]] && [ ! -e "${arguments[k]#--*=}" ]; then
        fail "${arguments[k]}: a job needs the file; for sizes alone use \`dkmap plan\`"
    fi
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
there=0
if command -v sinfo >/dev/null; then
    there=$({ sinfo -h -o %D 2>/dev/null || true; } | awk '{ n = $1 > n ? $1 : n } END { print n + 0 }')
fi
if [ "$there" -gt 0 ] && [ "$nodes" -gt "$there" ]; then
    fail "this takes $nodes nodes of $MEMORY, and the cluster has $there: use --landmarks, or fewer rows"
fi
seconds=$(told expected_seconds)
minutes=$(awk -v s="$seconds" 'BEGIN { m = s == "unknown" ? 1440 : 2 * s / 60; print int(m < 10 ? 10 : m + 1) }')
if [ -z "${TIME:-}" ] && [ "$seconds" = unknown ]; then
    echo "submit.sh: the time is unknown without a calibration (mpirun -np N dkmap bench --calibrate on a" \
        "node): asking for a day; TIME sets another" >&2
fi
# A fifth more than planned and 256 MB, but never more than a node has.
memory=$(awk -v g="$(told node_memory)" -v node="$MEMORY" 'BEGIN {
    unit = substr(node, length(node))
    has = node * (unit == "T" ? 1048576 : unit == "G" ? 1024 : unit == "K" ? 1 / 1024 : unit == "M" ? 1 : 1 / 1048576)
    m = g * 1024 * 1.2 + 256
    print int(m < has ? m : has) }')

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
