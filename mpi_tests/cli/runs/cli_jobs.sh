#!/usr/bin/env bash
# The scripts of jobs/: each prints its usage, and those for SLURM find each other and run. A stand-in
# for the scheduler runs a job at once, where it is submitted; cli_cluster has the real one.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
jobs=$DKMAP_SOURCE/jobs

for script in "$jobs"/*.sh "$jobs"/*/*.sh; do
    case ${script#"$jobs/"} in common.sh | reproduce/reproduce.sh | slurm/slurm.sh) continue ;; esac
    timeout -k 10 "$limit" bash "$script" --help >out 2>err </dev/null || fail "$script --help: exit $?"
    says out "${script#"$DKMAP_SOURCE/"}" "$script --help"
    [ -s err ] && fail "$script --help: $(head -3 err)"
done

mkdir bin states
cat >bin/sbatch <<'END'
#!/bin/bash
# Runs the script at once, in the background of nothing; options are noted.
while [ $# -gt 0 ]; do
    case $1 in
    --parsable) ;;
    -*) echo "$1" >>sbatch.options ;;
    *) break ;;
    esac
    shift
done
number=$(($(cat number) + 1))
echo "$number" >number
echo "$1" >"command.$number"
SLURM_JOB_ID=$number SLURM_SUBMIT_DIR=$PWD SLURM_NTASKS=2 bash "$@" >"job-$number.log" 2>&1 &&
    echo "$number"
END
cat >bin/scontrol <<'END'
#!/bin/bash
# The script of the job, as `scontrol -o show job` tells it.
echo "JobId=$4 JobState=RUNNING Command=$(cat "command.$4") WorkDir=$PWD"
END
cat >bin/sinfo <<'END'
#!/bin/bash
# Three nodes of 8 GB and 4 cores.
case $* in *%m*) echo 8192 ;; *%c*) echo 4 ;; *%D*) echo 3 ;; esac
END
chmod +x bin/*
echo 0 >number
export PATH=$scratch/bin:$PATH DKMAP_LAUNCHER=mpirun DKMAP_STATES=$scratch/states
export DKMAP_MPIRUN_OPTIONS=${DKMAP_MPIRUN#* }
unset DKMAP_JOBS

normal 40 3 1 >x.csv
awk -F, '{ print $1 * $2 - $3 }' x.csv >y.csv
data=(--x x.csv --y y.csv --kx 'rbf(sigma=1.5)' --gamma 0.01)

same() { # PREDICTIONS WHAT
    good 0 score --truth right.npy --pred "$1" --loss mse
    below "$(value rmse)" 1e-12 "$2"
}

sbatch --ntasks=2 "$jobs/slurm/fit.sbatch" krr "${data[@]}" -o fit.h5 >out ||
    fail "fit.sbatch: $(cat job-*.log)"
[ -z "$(ls -A states)" ] || fail "fit.sbatch left a state behind: $(ls -A states)"
sbatch "$jobs/slurm/predict.sbatch" fit.h5 --x x.csv -o fit.npy >out || fail "predict.sbatch: $(cat job-*.log)"
good 0 predict fit.h5 --x x.csv -o right.npy
same fit.npy "predictions of predict.sbatch"

printf '%s\n' '--gamma 0.01' '--gamma 1' >grid.txt
SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=2 sbatch "$jobs/slurm/cv.sbatch" grid.txt krr "${data[@]:0:6}" \
    --folds 2 --record cv.jsonl >out || fail "cv.sbatch: $(cat job-*.log)"
says cv.jsonl '"gamma"' "cv.sbatch"

bash "$jobs/slurm/fit_then_predict.sh" krr "${data[@]}" -o chain.h5 --then --x x.csv -o chain.npy >out 2>err ||
    fail "fit_then_predict.sh: $(cat err job-*.log)"
says sbatch.options --dependency=afterok: "fit_then_predict.sh"
same chain.npy "predictions of fit_then_predict.sh"

bash "$jobs/slurm/submit.sh" krr "${data[@]}" -o planned.h5 >out 2>err || fail "submit.sh: $(cat err job-*.log)"
good 0 predict planned.h5 --x x.csv -o planned.npy
same planned.npy "predictions of submit.sh"
# Files with heads and without numbers: plans look no further.
python3 - <<'END'
for name, columns in ("big_x.npy", 784), ("big_y.npy", 10):
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (600000, %d), }" % columns
    head = head.ljust(117) + "\n"
    with open(name, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode())
        file.truncate(file.tell() + 8 * 600000 * columns)
END
big=(--kx 'rbf(sigma=8)' --gamma 0.001 -o big.h5)
bash "$jobs/slurm/submit.sh" krr --x big_x.npy --y big_y.npy "${big[@]}" >out 2>err &&
    fail "submit.sh accepted a job for more nodes than there are"
says err "the cluster has 3" "submit.sh with a job for more nodes than there are"
bash "$jobs/slurm/submit.sh" krr --x 60000x784 --y 60000x10 "${big[@]}" >out 2>err &&
    fail "submit.sh accepted sizes in place of files"
says err "needs the file" "submit.sh with sizes in place of files"

# Without sinfo, when told the node: at most its memory, and a word on the time.
mv bin/sinfo bin/sinfo.away
rm -f dkmap-krr-*.sbatch
DRY=1 bash "$jobs/slurm/submit.sh" krr "${data[@]}" -o planned.h5 >out 2>err &&
    fail "submit.sh without sinfo was not told the node"
says err "set MEMORY" "submit.sh without sinfo"
DRY=1 MEMORY=150M RANKS_PER_NODE=1 DKMAP_CALIBRATION=$scratch/none \
    bash "$jobs/slurm/submit.sh" krr "${data[@]}" -o planned.h5 >out 2>err || fail "submit.sh without sinfo: $(cat err)"
says err "time is unknown" "submit.sh without a calibration"
says "$(cat out)" "--mem=150M" "submit.sh on a small node"
mv bin/sinfo.away bin/sinfo

# A scaling study, with jobs that run here.
study=$jobs/study/scaling_study.sh
bash "$study" make study --ranks 1,2 --repeats 1 -- bench ridge --n 60 --repeat 1 >out 2>err || fail "make: $(cat err)"
DKMAP_LAUNCH=$DKMAP_MPIRUN bash "$study" run study >out 2>err || fail "run: $(cat err)"
[ "$(cat study/ranks-*/repeat-1/record.jsonl | wc -l)" = 2 ] || fail "run: $(cat err study/ranks-*/repeat-1/err)"

# A job that fails is shown with the reason, and so does the study fail.
bash "$study" make broken --ranks 1 --repeats 1 -- bench ridge --n 60 --repeat 1 --sigma -1 >out 2>err || fail "make: $(cat err)"
DKMAP_LAUNCH=$DKMAP_MPIRUN bash "$study" run broken >out 2>err && fail "a study with a job that fails succeeded"
says err "--sigma must be" "a study with a job that fails"
bash "$study" report broken >out 2>err && fail "a report of no records"
says err "--sigma must be" "the report of a study whose job failed"
finish
