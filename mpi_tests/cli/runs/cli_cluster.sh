#!/usr/bin/env bash
# Life on a cluster: the job scripts on a SLURM of three nodes that this test starts for itself. Fit,
# predict and cross-validation by srun and by mpirun; a job that runs out of time and one that loses
# a node go on to the model of a job that had no such trouble; a job too large is not queued at all.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
# shellcheck source=mpi_tests/cli/runs/cluster.sh
. "${BASH_SOURCE%/*}/cluster.sh"
if [ "${DKMAP_CLUSTER:-0}" != 1 ]; then
    echo "skipped: takes minutes; DKMAP_CLUSTER=1 runs it"
    exit 77
fi
missing=$(cluster_missing | tr '\n' ' ')
if [ -n "$missing" ]; then
    echo "skipped: no cluster without ${missing% }"
    exit 77
fi
cluster=$scratch/cluster
trap 'cluster_stop; rm -rf "$scratch"' EXIT
cluster_start 3 2 || { fail "the cluster did not come up"; finish; }

jobs=$DKMAP_SOURCE/jobs/slurm
export DKMAP_JOBS=$jobs DKMAP DKMAP_STATES=$scratch/states
normal 900 4 1 >x.csv
awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x.csv >y.csv
data=(--x x.csv --y y.csv --kx 'rbf(sigma=1.5)' --gamma 0.01 --precision double)
good 2 fit krr "${data[@]}" -o right.h5
good 1 predict right.h5 --x 'x.csv[0:100]' -o right.npy

submit() { # SBATCH ARGUMENTS...: the number of the job
    on_cluster sbatch --parsable --output=job-%j.log "$@"
}

state() { # JOB: what became of it, "" when the queue has forgotten it
    on_cluster scontrol -o show job "$1" | sed -n 's/.*JobState=\([A-Z_]*\).*/\1/p' | sort -u | tr '\n' ' '
}

# becomes JOB STATE: wait until it is so, of all jobs of an array.
becomes() {
    local k
    for ((k = 0; k < 600; k++)); do
        [ "$(state "$1")" = "$2 " ] && return 0
        sleep 0.2
    done
    fail "job $1 is '$(state "$1")', not $2: $(tail -n 5 "job-$1.log" "job-$1"_*.log 2>/dev/null)"
    return 1
}

same() { # MODEL WHAT
    good 1 predict "$1" --x 'x.csv[0:100]' -o p.npy
    good 1 score --truth right.npy --pred p.npy --loss mse
    below "$(value rmse)" 1e-12 "$2"
}

# Ranks on two nodes by either launcher, and predictions that wait for their model.
for launcher in srun mpirun; do
    export DKMAP_LAUNCHER=$launcher
    job=$(submit --nodes=2 --ntasks=3 "$jobs/fit.sbatch" krr "${data[@]}" -o "$launcher.h5")
    after=$(submit --nodes=2 --ntasks=2 --dependency="afterok:$job" "$jobs/predict.sbatch" \
        "$launcher.h5" --x 'x.csv[0:100]' -o "$launcher.npy")
    becomes "$job" COMPLETED && becomes "$after" COMPLETED && same "$launcher.h5" "a fit by $launcher"
    [ -e "$launcher.npy" ] || fail "no predictions by $launcher"
done

# A rank with a node for itself takes more threads than two that share one, and rounds otherwise: the
# eigensolver's ranks go on together for all that. From a folder without the scripts, too.
mkdir -p elsewhere
job=$(cd elsewhere && DKMAP_JOBS='' submit --nodes=2 --ntasks=3 "$jobs/fit.sbatch" kpca --x ../x.csv \
    --kx 'rbf(sigma=1.5)' --components 8 -o kpca.h5)
becomes "$job" COMPLETED
says "elsewhere/job-$job.log" "eigensolver              block" "kernel PCA on two nodes and three ranks"

# Tests of the library themselves, their ranks on two nodes with a network between them.
# DKMAP_CLUSTER_TESTS="krr kpca kde jkm" takes those of all methods, and some minutes.
for topic in ${DKMAP_CLUSTER_TESTS:-kpca jkm}; do
    on_cluster srun --mpi=pmix --nodes=2 --ntasks=4 "$DKMAP_BUILD/mpi_tests/test_$topic" >"nodes_$topic" 2>&1 ||
        fail "test_$topic on two nodes: $(grep -v '^ok' "nodes_$topic" | head -3)"
done

# A grid as an array of jobs, by either.
printf '%s\n' '--gamma 0.01' '--gamma 1' >grid.txt
for launcher in srun mpirun; do
    export DKMAP_LAUNCHER=$launcher
    job=$(submit --array=1-2 --ntasks=2 "$jobs/cv.sbatch" grid.txt krr --x 'x.csv[0:200]' \
        --y 'y.csv[0:200]' --kx 'rbf(sigma=1.5)' --folds 3 --record "cv_$launcher.jsonl")
    becomes "$job" COMPLETED
    [ "$(grep -c '"loss"' "cv_$launcher.jsonl")" = 2 ] ||
        fail "two cells of cross-validation by $launcher: $(cat "cv_$launcher.jsonl")"
done
export DKMAP_LAUNCHER=srun

# What stands for a long job: the first run of a job stands still once it has a state, until a signal
# comes. So nothing below depends on how fast the machine is.
cat >long.sh <<'END'
#!/bin/bash
setpriv --pdeathsig KILL "$REAL_DKMAP" "$@" &
real=$!
goes_on() { # let it hear the signal, whichever way it came
    kill -CONT "$real"
    kill -USR1 "$real"
}
trap goes_on USR1
hold() {
    local states=$DKMAP_STATES/$SLURM_JOB_ID/dkmap-checkpoints
    while kill -0 "$real" 2>/dev/null; do
        if compgen -G "$states/*.h5" >/dev/null; then
            kill -STOP "$real" && touch "$HELD.$SLURM_JOB_ID.$SLURM_PROCID"
            return
        fi
        sleep 0.01
    done
}
[ "${SLURM_RESTART_COUNT:-0}" = 0 ] && hold
while :; do # a signal ends a wait early
    wait "$real"
    status=$?
    kill -0 "$real" 2>/dev/null || break
done
exit "$status"
END
chmod +x long.sh
export REAL_DKMAP=$DKMAP HELD=$scratch/held

# long_job ROWS NAME SBATCH...: submit a fit that will stand still; its number is in $job. False when
# it went by too fast to be held.
long_job() {
    local rows=$1 name=$2 k
    shift 2
    normal "$rows" 4 2 >x2.csv
    awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x2.csv >y2.csv
    job=$(DKMAP=$scratch/long.sh submit "$@" "$jobs/fit.sbatch" krr --x x2.csv --y y2.csv "${data[@]:4}" \
        --checkpoint-every 0 -o "$name.h5")
    for ((k = 0; k < 600; k++)); do
        [ "$(compgen -G "$HELD.$job.*" | wc -l)" = 2 ] && return 0
        case " $(state "$job")" in *" COMPLETED "* | *" FAILED "*) return 1 ;; esac
        sleep 0.1
    done
    return 1
}

# went_on NAME WHAT: job $job was requeued, took up its state, and made the model of a whole run.
went_on() {
    becomes "$job" COMPLETED || return
    on_cluster scontrol -o show job "$job" | grep -q 'Restarts=[1-9]' || fail "$2 was not requeued"
    says "job-$job.log" "going on from" "$2"
    good 2 fit krr --x x2.csv --y y2.csv "${data[@]:4}" -o whole.h5
    good 1 predict whole.h5 --x 'x2.csv[0:100]' -o whole.npy
    good 1 predict "$1.h5" --x 'x2.csv[0:100]' -o "$1.npy"
    good 1 score --truth whole.npy --pred "$1.npy" --loss mse
    below "$(value rmse)" 1e-12 "$2"
}

# A time limit of a minute, with its warning half a minute before: the ranks save and stop, the script
# requeues itself, and the next run goes on to the same model.
for rows in 1500 4000 8000; do
    long_job "$rows" timed --ntasks=2 --time=1 --signal=B:USR1@30 && break
done
went_on timed "a job out of time"
says "job-$job.log" "back to the queue" "a job out of time"

# A node crashes: SLURM puts the job back, and it goes on elsewhere.
for rows in 1500 4000 8000; do
    long_job "$rows" crashed --nodes=2 --ntasks=2 && break
done
node=$(on_cluster squeue -h -j "$job" -o %N | sed 's/c\[\([0-9]\).*/c\1/')
cluster_crash "$node"
went_on crashed "a job that lost a node"

# Too large for any node: refused by the plan, and not queued; what fits gets its file. Files have heads and no
# numbers: plans look no further.
empty_npy() { # FILE ROWS COLUMNS
    /usr/bin/python3 - "$@" <<'END'
import sys
rows, columns = map(int, sys.argv[2:])
head = ("{'descr': '<f8', 'fortran_order': False, 'shape': (%d, %d), }" % (rows, columns)).ljust(117) + "\n"
with open(sys.argv[1], "wb") as file:
    file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
    file.truncate(file.tell() + 8 * rows * columns)
END
}
for rows in 60000 600000; do
    empty_npy "x$rows.npy" $rows 784
    empty_npy "y$rows.npy" $rows 10
done
before=$(on_cluster squeue -h | wc -l)
on_cluster "$jobs/submit.sh" krr --x 60000x784 --y 60000x10 --kx 'rbf(sigma=8)' --gamma 0.001 -o big.h5 >out 2>err &&
    fail "sizes in place of files were accepted: $(cat out)"
says err "a job needs the file" "sizes in place of files"
on_cluster env RANKS=2 "$jobs/submit.sh" krr --x x60000.npy --y y60000.npy --kx 'rbf(sigma=8)' \
    --gamma 0.001 -o big.h5 >out 2>err && fail "a job too large was accepted: $(cat out)"
says err "GiB" "a job too large"
[ "$(on_cluster squeue -h | wc -l)" = "$before" ] || fail "a job too large was queued"
on_cluster "$jobs/submit.sh" krr --x x600000.npy --y y600000.npy --kx 'rbf(sigma=8)' --gamma 0.001 \
    --output=big.h5 >out 2>err && fail "a job for more nodes than there are was accepted: $(cat out)"
says err "the cluster has 3" "a job for more nodes than there are"
on_cluster "$jobs/submit.sh" krr "${data[@]}" -o small.h5 >out 2>err || fail "submit.sh: $(cat out err)"
job=$(sed -n 's/^Submitted batch job //p' out)
becomes "${job:-0}" COMPLETED && same small.h5 "a job that was planned"

# Told a node: never more memory than that.
on_cluster env DRY=1 MEMORY=150M RANKS_PER_NODE=1 DKMAP_CALIBRATION=none "$jobs/submit.sh" krr "${data[@]}" \
    -o told.h5 >out 2>err || fail "submit.sh told the node: $(cat err)"
says "$(cat out)" "--mem=150M" "submit.sh told the node"
says err "time is unknown" "submit.sh without a calibration"
finish
