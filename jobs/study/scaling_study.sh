#!/usr/bin/env bash
# A scaling study of any dkmap command: makes a tree of job files for a list of rank counts and
# repeats, runs or submits them, gathers their records, and writes a report.
#
#   jobs/study/scaling_study.sh make   STUDY --ranks 1,2,4,8 [--repeats 3] [--weak] -- bench ridge --n 4000
#   jobs/study/scaling_study.sh run    STUDY      run the jobs here, one after the other
#   jobs/study/scaling_study.sh submit STUDY      submit them to SLURM
#   jobs/study/scaling_study.sh report STUDY... [FILE.jsonl...]   tables, plots and a page from the records
#
# Strong scaling keeps the command as it is. --weak keeps the memory of a rank: the word after --n,
# or each ROWS of a {ROWS} in the command, is multiplied by the square root of the ranks, as kernel
# matrices grow with the square of the rows. Every job appends one line to its own record; what was
# run already is not run again; a job that fails is shown with its errors, and `run` then fails. The report
# is STUDY/report.html, alone in one file, beside plots as SVG (gnuplot) and report.md; of several studies
# all are in the folder of the first. Files of records add what was counted by `dkmap bench comm` and
# simulated by jobs/study/simulate.sh; simulated times are shown apart.
# Heeds: DKMAP_LAUNCH (launcher for `run`), SBATCH_OPTIONS (for `submit`), and jobs/slurm/site.env.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
case ${1:-} in -h | --help) explain && exit ;; esac

usage() {
    explain >&2
    exit 2
}

# scaled RANKS WORD...: the command for so many ranks, one word a line.
scaled() {
    local ranks=$1 word before=
    shift
    for word in "$@"; do
        if [ "$weak" = 1 ] && [ "$before" = --n ]; then
            word=$(awk -v n="$word" -v r="$ranks" 'BEGIN { print int(n * sqrt(r) + 0.5) }')
        elif [ "$weak" = 1 ] && [[ $word =~ ^(.*)\{([0-9]+)\}(.*)$ ]]; then
            word=${BASH_REMATCH[1]}$(awk -v n="${BASH_REMATCH[2]}" -v r="$ranks" \
                'BEGIN { print int(n * sqrt(r) + 0.5) }')${BASH_REMATCH[3]}
        fi
        before=$word
        printf '%s\n' "$word"
    done
}

make_study() {
    local counts="" repeats=3 n k dir words dkmap
    dkmap=$(find_dkmap)
    while [ $# -gt 0 ] && [ "$1" != -- ]; do
        case $1 in
        --ranks) counts=$2 && shift ;;
        --repeats) repeats=$2 && shift ;;
        --weak) weak=1 ;;
        *) usage ;;
        esac
        shift
    done
    if [ -z "$counts" ] || [ $# -le 1 ]; then usage; fi
    shift
    mkdir -p "$study"
    printf '%s\n' "$([ "$weak" = 1 ] && echo weak || echo strong)" "$*" >"$study/about"
    for n in ${counts//,/ }; do
        mapfile -t words < <(scaled "$n" "$@")
        for ((k = 1; k <= repeats; k++)); do
            dir=$study/ranks-$n/repeat-$k
            mkdir -p "$dir"
            {
                printf '#!/bin/bash\n#SBATCH --ntasks=%d --job-name=scaling-%d --time=60\n' "$n" "$n"
                printf '# one point of a scaling study: edit the lines above for your cluster\n'
                printf 'cd %q || exit 1\n' "$(cd "$dir" && pwd)"
                # shellcheck disable=SC2016
                printf '${DKMAP_LAUNCH:-srun --mpi=pmix} %s ' '${DKMAP_RANKS_OPTION:+$DKMAP_RANKS_OPTION}'
                printf ' %q' "$dkmap" "${words[@]}" --count-comm --record record.jsonl
                printf ' >out 2>err\n'
            } >"$dir/job.sbatch"
        done
    done
    echo "$(find "$study" -name job.sbatch | wc -l) jobs in $study"
}

# The jobs that have no record yet, those of few ranks first.
open_jobs() {
    find "$study" -name job.sbatch | sort -t - -k 2 -n | while read -r job; do
        [ -s "${job%/*}/record.jsonl" ] || echo "$job"
    done
}

# shown JOB: why it has no record.
shown() {
    local err=${1%/*}/err
    echo "failed: $1" >&2
    if [ ! -s "$err" ]; then
        echo "  it wrote no errors: see ${1%/*}/out" >&2
    else # dkmap's own words before those of the launcher
        grep '^dkmap: ' "$err" >&2 || tail -n 5 "$err" >&2
    fi
}

run_study() {
    local job n failed=0
    while read -r job; do
        n=${job#*ranks-}
        n=${n%%/*}
        echo "$n ranks: ${job%/job.sbatch}"
        if ! DKMAP_LAUNCH=$launch DKMAP_RANKS_OPTION="-np $n" bash "$job" </dev/null ||
            [ ! -s "${job%/*}/record.jsonl" ]; then
            shown "$job"
            failed=$((failed + 1))
        fi
    done < <(open_jobs)
    [ "$failed" = 0 ] || fail "$failed jobs failed: the same command runs them again"
}

# Jobs that ended without a record, of a study that ran or was submitted.
failed_jobs() {
    local job
    while read -r job; do
        [ ! -e "${job%/*}/err" ] || shown "$job"
    done < <(open_jobs)
}

submit_study() {
    local job
    while read -r job; do
        # shellcheck disable=SC2086
        sbatch ${SBATCH_OPTIONS:-} "$job"
    done < <(open_jobs)
}

[ $# -ge 2 ] || usage
what=$1 study=$2 weak=0
shift 2
case $what in
make) make_study "$@" ;;
run) run_study ;;
submit) submit_study ;;
report)
    [ -d "$study" ] || fail "no study $study: make it first"
    failed_jobs
    python3 "$root/jobs/study/scaling_report.py" "$study" "$@"
    ;;
*) usage ;;
esac
