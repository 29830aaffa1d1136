# shellcheck shell=bash
# What the sbatch files of this folder share. Sourced inside a job, after `jobs` is set to this folder.
# shellcheck source=jobs/site.env
. "$jobs/site.env"

# ranks ARGUMENTS...: dkmap on all ranks of the job, in the background; its launcher is $step.
ranks() {
    if [ "$DKMAP_LAUNCHER" = mpirun ]; then
        # shellcheck disable=SC2086
        mpirun $mpirun_options -np "${SLURM_NTASKS:-1}" "$DKMAP" "$@" &
    else
        # shellcheck disable=SC2086
        srun $srun_options "$DKMAP" "$@" &
    fi
    step=$!
}

# attend: wait for the step, whatever signals come by; its exit status is the answer.
attend() {
    local status=0
    while kill -0 "$step" 2>/dev/null; do
        wait "$step"
        status=$?
    done
    return "$status"
}

# run ARGUMENTS...: dkmap to its end. When the queue warns that time runs out (USR1 to this script),
# the ranks are told; they save their state and stop with status 3, and the job goes back to the
# queue, to go on where it was.
run() {
    local status
    ranks "$@"
    trap 'kill -USR1 "$step"' USR1
    attend
    status=$?
    trap - USR1
    if [ "$status" = 3 ]; then
        echo "out of time with a checkpoint: back to the queue"
        scontrol requeue "$SLURM_JOB_ID"
    fi
    return "$status"
}
