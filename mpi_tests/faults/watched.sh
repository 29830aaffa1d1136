#!/usr/bin/env bash
# Runs mpirun. When it gets SIGUSR1, because it took too long, it prints the stacks of all processes
# below it to standard error, as far as gdb is there, and kills them: exit status 124. A line "no rank
# is left" tells that mpirun hangs by itself: Open MPI 4.1's has a deadlock in PMIx_server_finalize()
# when ranks were killed while they connected to it.
#
# usage: timeout --foreground -s USR1 -k 60 SECONDS bash watched.sh COMMAND...

# below PID: its descendants, nearest first
below() {
    local child
    for child in $(ps -o pid= --ppid "$1"); do
        echo "$child"
        below "$child"
    done
}

report() {
    local pids pid
    pids=$(below $$)
    ps -o stat=,comm= -p "${pids//$'\n'/,}" | grep -v '^Z' | grep -qvE ' (mpirun|mpiexec|mpiexec\.[a-z]+|orterun|hydra_pmi_proxy)$' ||
        echo "no rank is left" >&2
    for pid in $pids; do
        ps -o pid=,stat=,wchan=,args= -p "$pid" || continue
        command -v gdb >/dev/null && timeout 20 gdb -batch -p "$pid" -ex 'thread apply all bt 16' 2>/dev/null | grep '^#\|^Thread'
    done >&2
    # shellcheck disable=SC2086
    kill -KILL $pids 2>/dev/null
    exit 124
}

trap report USR1
"$@" &
wait $!
