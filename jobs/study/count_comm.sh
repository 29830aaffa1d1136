#!/usr/bin/env bash
# What each rank of a dkmap command sends on the wire, messages inside collectives included, by Open
# MPI's monitoring. Counts do not depend on how busy the machine is, so the ranks may be many more than
# the cores.
#
#   jobs/study/count_comm.sh RANKS COMMAND...
#   jobs/study/count_comm.sh 16,64 bench comm --n 4096 --d 20
#
# RANKS is one count or a list. Prints a table, and one JSON line per count: bytes and messages that a
# rank sends and receives, least, mean and most. --count-comm and `dkmap bench comm` tell the phases
# apart, but count what is given to MPI rather than what its collectives send.
# Heeds: DKMAP_BUILD, DKMAP (the command), MPIRUN (Open MPI's launcher, with options).
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
case ${1:-} in -h | --help) explain && exit ;; esac
[ $# -ge 2 ] || { explain >&2 && exit 2; }
dkmap=$(find_dkmap)
[ -x "$dkmap" ] || fail "no $dkmap: build dkmap first"
counts=$1
shift
# The two that monitoring does not see are left out; ranks that wait leave the core to others.
monitored=(--mca pml '^ucx,cm' --mca mpi_yield_when_idle 1 --mca pml_monitoring_enable 2
    --mca pml_monitoring_enable_output 3)
files=$(mktemp -d)
trap 'rm -rf "$files"' EXIT
# Ranks that wait sleep where they are many more than the cores.
gently=""
if cc -O2 -shared -fPIC -o "$files/sleep.so" "$root/jobs/study/sleep_on_yield.c" 2>/dev/null; then
    gently="env LD_PRELOAD=$files/sleep.so"
fi

# summed RANKS: the lines "FROM TO BYTES MESSAGES" of all ranks, added up by rank.
# Lines of monitoring: E or I (a message of the program, or inside MPI), from, to, bytes, messages.
summed() {
    cat "$files"/wire.*.prof | awk -F '\t' -v ranks="$1" -v command="$2" '
        function spread(name, values,    k, least, most, sum) {
            least = most = values[0] + 0
            for (k = 0; k < ranks; k++) {
                sum += values[k]
                if (values[k] + 0 < least) least = values[k] + 0
                if (values[k] + 0 > most) most = values[k] + 0
            }
            table = table sprintf("%-6d %-18s %14.0f %14.1f %14.0f\n", ranks, name, least, sum / ranks, most)
            json = json sprintf(",\"%s\":{\"min\":%.0f,\"mean\":%.1f,\"max\":%.0f}", name, least, sum / ranks, most)
        }
        /^[EI]\t/ {
            bytes = $4 + 0; messages = $5 + 0
            sent[$2] += bytes; sends[$2] += messages
            received[$3] += bytes; receives[$3] += messages
        }
        END {
            spread("sent_bytes", sent)
            spread("sent_messages", sends)
            spread("received_bytes", received)
            spread("received_messages", receives)
            printf "%s", table
            gsub(/\\/, "\\\\", command); gsub(/"/, "\\\"", command)
            printf "{\"command\":\"%s\",\"ranks\":%d%s}\n", command, ranks, json
        }'
}

printf '%-6s %-18s %14s %14s %14s\n' ranks 'of a rank' least mean most
for ranks in ${counts//,/ }; do
    rm -f "$files"/wire.*
    # shellcheck disable=SC2086
    OMP_NUM_THREADS=1 crowded "$files/out" "$files/err" ${MPIRUN:-mpirun --oversubscribe --bind-to none} \
        "${monitored[@]}" --mca pml_monitoring_filename "$files/wire" -np "$ranks" $gently "$dkmap" "$@" ||
        { cat "$files/out" "$files/err" >&2 && fail "dkmap $* failed on $ranks ranks"; }
    [ -e "$files/wire.0.prof" ] || [ "$ranks" = 1 ] ||
        fail "no counts: this mpirun is not Open MPI 4 with its monitoring"
    [ -e "$files/wire.0.prof" ] || : >"$files/wire.0.prof"
    summed "$ranks" "$*"
done
