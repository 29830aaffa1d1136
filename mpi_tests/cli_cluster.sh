#!/usr/bin/env bash
# Life on a cluster: the job scripts on a SLURM of three nodes that this test starts for itself. Fit,
# predict and cross-validation by srun and by mpirun; a job that runs out of time and one that loses
# a node go on to the model of a job that had no such trouble; a job too large is not queued at all.
# shellcheck source=mpi_tests/common.sh
. "${BASH_SOURCE%/*}/common.sh"
# shellcheck source=mpi_tests/cluster.sh
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

jobs=$DKMAP_SOURCE/jobs
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

# becomes JOB STATE SECONDS: wait until it is so.
becomes() {
    local k
    for ((k = 0; k < $3 * 5; k++)); do
        case " $(state "$1")" in *" $2 "*) return 0 ;; *" FAILED "*) break ;; esac
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
    becomes "$job" COMPLETED 60 && becomes "$after" COMPLETED 60 && same "$launcher.h5" "a fit by $launcher"
    [ -e "$launcher.npy" ] || fail "no predictions by $launcher"
done
export DKMAP_LAUNCHER=srun

# A grid as an array of jobs.
printf '%s\n' '--gamma 0.01' '--gamma 1' >grid.txt
job=$(submit --array=1-2 --ntasks=2 "$jobs/cv.sbatch" grid.txt krr --x 'x.csv[0:200]' \
    --y 'y.csv[0:200]' --kx 'rbf(sigma=1.5)' --folds 3 --record cv.jsonl)
becomes "$job" COMPLETED 60
[ "$(grep -c '"loss"' cv.jsonl)" = 2 ] || fail "two cells of cross-validation: $(cat cv.jsonl)"

# The queue's warning that time runs out, as the script gets it: the ranks save and stop, the script
# requeues itself, and the next run goes on to the same model.
normal 2500 4 2 >x2.csv
awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x2.csv >y2.csv
job=$(submit --ntasks=2 "$jobs/fit.sbatch" krr --x x2.csv --y y2.csv "${data[@]:4}" -o timed.h5)
for ((k = 0; k < 600; k++)); do # ranks heed signals from when their directory is there
    [ -d "states/$job" ] && break
    sleep 0.05
done
on_cluster scancel --batch --signal=USR1 "$job"
becomes "$job" COMPLETED 90
says "job-$job.log" "back to the queue" "a job out of time"
says "job-$job.log" "going on from" "a job out of time"
good 2 fit krr --x x2.csv --y y2.csv "${data[@]:4}" -o whole.h5
good 1 predict whole.h5 --x 'x2.csv[0:100]' -o whole.npy
good 1 predict timed.h5 --x 'x2.csv[0:100]' -o timed.npy
good 1 score --truth whole.npy --pred timed.npy --loss mse
below "$(value rmse)" 1e-12 "a job out of time"

# What holds a job up for a while before it starts.
cat >slow.sh <<'END'
#!/bin/bash
sleep "${SLOW:-0}"
exec "$REAL_DKMAP" "$@"
END
chmod +x slow.sh
export REAL_DKMAP=$DKMAP

# A node crashes: SLURM puts the job back, and it goes on elsewhere.
job=$(SLOW=3 DKMAP=$scratch/slow.sh submit --nodes=2 --ntasks=2 "$jobs/fit.sbatch" krr "${data[@]}" \
    --checkpoint-every 0 -o crashed.h5)
becomes "$job" RUNNING 30
node=$(on_cluster squeue -h -j "$job" -o %N | sed 's/c\[\([0-9]\).*/c\1/')
sleep 1
cluster_crash "$node"
becomes "$job" COMPLETED 90 && same crashed.h5 "a job that lost a node"
on_cluster scontrol -o show job "$job" | grep -q 'Restarts=[1-9]' || fail "the job that lost a node was not requeued"

# Too large for any node: refused by the plan, and not queued; what fits gets its file.
before=$(on_cluster squeue -h | wc -l)
on_cluster env RANKS=2 "$jobs/submit.sh" krr --x 60000x784 --y 60000x10 --kx 'rbf(sigma=8)' \
    --gamma 0.001 -o big.h5 >out 2>err && fail "a job too large was accepted: $(cat out)"
says err "need" "a job too large"
[ "$(on_cluster squeue -h | wc -l)" = "$before" ] || fail "a job too large was queued"
on_cluster "$jobs/submit.sh" krr "${data[@]}" -o small.h5 >out 2>err || fail "submit.sh: $(cat out err)"
job=$(sed -n 's/^Submitted batch job //p' out)
becomes "${job:-0}" COMPLETED 60 && same small.h5 "a job that was planned"
finish
