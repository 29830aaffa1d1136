# shellcheck shell=bash disable=SC2154
# What the sbatch files of this folder share. Sourced inside a job, after `jobs` is set to this folder.
# shellcheck source=jobs/slurm/site.env
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
    local status=0 final
    while kill -0 "$step" 2>/dev/null; do
        wait "$step"
        status=$?
    done
    # A signal may have cut the last wait short, after which the step ended by itself.
    wait "$step" 2>/dev/null
    final=$?
    [ "$final" = 127 ] && final=$status # it had been waited for to its end
    return "$final"
}

# run ARGUMENTS...: dkmap to its end. When the queue warns that time runs out (USR1 to this script),
# the ranks are told; they save their state and stop with status 3, and the job goes back to the
# queue, to go on where it was. So does a job whose ranks were told before they listened (138).
run() {
    local status warned=0
    step=
    trap 'warned=1; [ -z "$step" ] || kill -USR1 "$step"' USR1
    ranks "$@"
    attend
    status=$?
    trap - USR1
    if [ "$status" = 3 ] || { [ "$warned" = 1 ] && [ "$status" = 138 ]; }; then
        echo "out of time with status $status: back to the queue"
        scontrol requeue "$SLURM_JOB_ID"
    fi
    return "$status"
}
