# shellcheck shell=bash
# A SLURM cluster on one machine, for tests: each node is a set of namespaces (processes, network,
# mounts, shared memory, host name) with a slurmd of its own, and they meet on a bridge that exists
# in the namespace of the controller alone. Sourced; needs root, slurm, munge and iproute2.
#
#   cluster_missing            what is lacking for it, if anything
#   cluster_start NODES CPUS   bring it up in $cluster, a directory that all nodes see
#   on_cluster COMMAND...      run something on the controller, where jobs are submitted
#   cluster_crash NODE         as if its power had failed, and the controller had noticed
#   cluster_stop               end what was started
net=10.79.7

cluster_missing() {
    local tool
    [ "$(id -u)" = 0 ] || echo "root"
    for tool in slurmctld slurmd munged ip unshare nsenter; do
        command -v "$tool" >/dev/null || [ -x "/usr/sbin/$tool" ] || echo "$tool"
    done
    unshare --net --mount true 2>/dev/null || echo "the right to make namespaces"
}

# cluster_conf NODES CPUS: the files that all nodes mount over those of the machine.
cluster_conf() {
    local k nodes=$1 cpus=$2
    mkdir -p "${cluster:?}"/{conf/slurm,run,log,state,spool}
    head -c 256 /dev/urandom >"$cluster/conf/munge.key"
    chmod 600 "$cluster/conf/munge.key"
    printf '127.0.0.1 localhost\n%s.200 head\n' "$net" >"$cluster/conf/hosts"
    for ((k = 1; k <= nodes; k++)); do echo "$net.$k c$k" >>"$cluster/conf/hosts"; done
    # Nodes share cores without knowing of each other: ranks must give way and stay unbound.
    printf '%s\n' 'mpi_yield_when_idle = 1' 'hwloc_base_binding_policy = none' 'pml = ob1' \
        'btl = self,vader,tcp' >"$cluster/conf/mca.conf"
    echo 'PMIxCollFence=ring' >"$cluster/conf/slurm/mpi.conf" # the other one loses ranks now and then
    {
        echo "ClusterName=tests"
        echo "SlurmctldHost=head($net.200)"
        echo "AuthInfo=socket=$cluster/run/munge,cred_expire=5" # the least it takes; requeued jobs wait as long
        echo "SlurmUser=root"
        echo "StateSaveLocation=$cluster/state"
        echo "SlurmctldPidFile=$cluster/run/head.pid"
        echo "SlurmdPidFile=$cluster/run/%n.pid"
        echo "SlurmdSpoolDir=$cluster/spool/%n"
        echo "SlurmctldLogFile=$cluster/log/head.log"
        echo "SlurmdLogFile=$cluster/log/%n.log"
        echo "ProctrackType=proctrack/linuxproc"
        echo "TaskPlugin=task/none"
        echo "SelectType=select/cons_tres"
        echo "SelectTypeParameters=CR_Core"
        echo "SlurmdParameters=config_overrides"
        echo "MpiDefault=pmix"
        echo "ReturnToService=2"
        echo "KillWait=3"
        echo "SlurmdTimeout=8"
        echo "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,sched_interval=1"
        echo "NodeName=c[1-$nodes] CPUs=$cpus RealMemory=2000 State=UNKNOWN"
        echo "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE DefaultTime=5 State=UP"
        echo "OverTimeLimit=0"
    } >"$cluster/conf/slurm/slurm.conf"
}

# cluster_node NAME: its namespaces, kept by one process; that process is in run/NAME.init.
cluster_node() {
    local name=$1 outer k
    rm -f "$cluster/run/$name.ready"
    # shellcheck disable=SC2016
    unshare --net --uts --ipc --mount --pid --fork --kill-child=KILL --mount-proc bash -c '
        hostname "$1" && mount --make-rprivate / && mount -t tmpfs tmpfs /dev/shm || exit 1
        own=$2/tmp/$1 # what lies in /tmp is its own, but for what all nodes must see
        for seen in "${2%/*}" "$DKMAP_BUILD" "$DKMAP_SOURCE"; do
            case $seen in
            /tmp/?*) mkdir -p "$own/${seen#/tmp/}" && mount --bind "$seen" "$own/${seen#/tmp/}" ;;
            esac
        done
        mkdir -p "$own" && mount --rbind "$own" /tmp &&
        mount --bind "$2/conf/hosts" /etc/hosts && mkdir -p /etc/slurm &&
        mount --bind "$2/conf/slurm" /etc/slurm && ip link set lo up || exit 1
        [ -e /etc/openmpi/openmpi-mca-params.conf ] &&
            mount --bind "$2/conf/mca.conf" /etc/openmpi/openmpi-mca-params.conf
        touch "$2/run/$1.ready"
        while :; do sleep 3600 & wait; done' node "$name" "$cluster" >"$cluster/log/$name.init" 2>&1 &
    outer=$!
    for ((k = 0; k < 500; k++)); do
        [ -e "$cluster/run/$name.ready" ] && break
        sleep 0.02
    done
    cut -d ' ' -f 1 "/proc/$outer/task/$outer/children" >"$cluster/run/$name.init"
}

within() { # NODE COMMAND...
    local init
    init=$(cat "$cluster/run/$1.init")
    shift
    nsenter -t "$init" -n -u -i -m -p --wd="$PWD" -- "$@"
}

on_cluster() {
    within head env OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 "$@"
}

cluster_wire() { # NODE NUMBER
    local init
    init=$(cat "$cluster/run/$1.init")
    within head ip link del "to-$1" 2>/dev/null
    nsenter -t "$(cat "$cluster/run/head.init")" -n ip link add "to-$1" type veth peer name eth0 netns "$init"
    within head ip link set "to-$1" master br0 up
    within "$1" ip addr add "$net.$2/24" dev eth0
    within "$1" ip link set eth0 up
}

cluster_start() {
    local k nodes=$1
    PATH=$PATH:/usr/sbin:/sbin
    cluster_conf "$@"
    cluster_node head
    within head sh -c "ip link add br0 type bridge && ip addr add $net.200/24 dev br0 && ip link set br0 up"
    within head sh -c "setsid munged --foreground --force --socket=$cluster/run/munge \
        --key-file=$cluster/conf/munge.key --pid-file=$cluster/run/munge.pid \
        --log-file=$cluster/log/munge.log --seed-file=$cluster/run/munge.seed \
        >$cluster/log/munge.out 2>&1 </dev/null &"
    for ((k = 0; k < 200; k++)); do
        [ -S "$cluster/run/munge" ] && break
        sleep 0.05
    done
    within head sh -c "setsid slurmctld -D >$cluster/log/head.out 2>&1 </dev/null &"
    for ((k = 1; k <= nodes; k++)); do cluster_boot "$k"; done
    for ((k = 0; k < 300; k++)); do
        [ "$(on_cluster sinfo -h -N -o %T 2>/dev/null | grep -c idle)" = "$nodes" ] && return 0
        sleep 0.1
    done
    tail -n 20 "$cluster"/log/*.log >&2
    return 1
}

cluster_boot() { # NUMBER
    rm -rf "$cluster/spool/c$1"
    mkdir -p "$cluster/spool/c$1"
    cluster_node "c$1"
    cluster_wire "c$1" "$1"
    within "c$1" sh -c "setsid slurmd -D -N c$1 ${2:-} >$cluster/log/c$1.out 2>&1 </dev/null &"
}

cluster_crash() {
    kill -9 "$(cat "$cluster/run/$1.init")"
    on_cluster scontrol update "nodename=$1" state=down reason=crashed
}

cluster_stop() {
    local init pid
    for init in "$cluster"/run/*.init; do
        pid=$(cat "$init" 2>/dev/null)
        # only what is still the process that was started here
        [ -n "$pid" ] && grep -qa "$cluster" "/proc/$pid/cmdline" 2>/dev/null && kill -9 "$pid"
    done
    sleep 0.3
}
