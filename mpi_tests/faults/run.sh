#!/usr/bin/env bash
# Faults of files and of MPI at every call. Each run must end by itself; one that fails says so in
# one line, with the same status on all ranks; files that were there before are whole, and no
# temporary file stays behind. Needs DKMAP, DKMAP_MPIRUN, DKMAP_SOURCE and DKMAP_BUILD in the
# environment, as ctest sets them. DKMAP_FAULTS=all tries every call; otherwise a sample is tried.
# Of errors other than EINTR, one is tried for each kind of calls: no code asks which it was. Calls that
# only one rank makes fail there, and not once more on all ranks.
# FAULT_PARTS, FAULT_COMMANDS, FAULT_CALLS, FAULT_ERRORS, FAULT_RANKS, FAULT_PROGRAMS and
# FAULT_FUNCTIONS choose among them; a run longer than FAULT_LIMIT seconds counts as hung. Prints
# how many runs met their fault, and how they ended.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../cli/common.sh"
limit=${FAULT_LIMIT:-300}
all=$([ "${DKMAP_FAULTS:-}" = all ] && echo 1 || echo 0)
watched=$DKMAP_SOURCE/mpi_tests/faults/watched.sh
parts=${FAULT_PARTS:-files crash mpi kill $([ "$all" = 0 ] || echo stop) delay memory}
io=$DKMAP_BUILD/mpi_tests/libiofault.so mpi=$DKMAP_BUILD/mpi_tests/libmpifault.so
declare -A counts=()

# What was counted, also when the campaign is ended early.
tell_counts() {
    local name
    printf 'faults:'
    for name in "${!counts[@]}"; do printf ' %s %s' "$name" "${counts[$name]}"; done
    echo ", $failures checks failed"
}
trap 'tell_counts; rm -rf "$scratch"' EXIT
trap 'exit 1' TERM INT

count() { # NAME
    counts[$1]=$((${counts[$1]:-0} + 1))
}

here=$scratch/work
normal 60 3 1 >x.csv
awk -F, '{ print $1 * $2 "," $3 - $1 }' x.csv >y.csv
data=(--x "$here/x.csv" --y "$here/y.csv" --kx 'rbf(sigma=1.5)' --gamma 0.01 --quiet)
model_data=("${data[@]}" -o "$here/model.h5")

# arguments COMMAND: fills `arguments`.
arguments() {
    case $1 in
    fit) arguments=(fit krr "${model_data[@]}") ;;
    mixed) arguments=(fit krr "${model_data[@]}" --precision mixed) ;;
    pcg) arguments=(fit krr "${model_data[@]}" --solver pcg --landmarks 12
        --centers all --tolerance 1e-13) ;;
    kde) arguments=(fit kde "${model_data[@]}" --ky 'rbf(sigma=2)' --components 5) ;;
    kpca) arguments=(fit kpca --x "$here/x.csv" --kx 'rbf(sigma=1.5)' --components 4 --quiet
        -o "$here/model.h5") ;;
    predict) arguments=(predict "$here/old.h5" --x "$here/x.csv" -o "$here/p.npy" --quiet) ;;
    cv) arguments=(cv krr --x "$here/x.csv" --y "$here/y.csv" --kx 'rbf(sigma=1.5)' --gamma '0.01,0.1'
        --folds 3 --quiet --folds-out "$here/folds.npy" --record "$here/record.jsonl") ;;
    checkpoint) arguments=(fit krr "${model_data[@]}" --checkpoint "$here/state"
        --checkpoint-every 0) ;;
    resume) arguments=(fit krr "${model_data[@]}" --checkpoint "$here/state" --checkpoint-every 0
        --resume) ;;
    record) arguments=(fit krr "${model_data[@]}" --record "$here/record.jsonl") ;;
    append) arguments=(append "$here/factor.h5" --x "$here/x.csv[48:]" --y "$here/y.csv[48:]" --quiet
        -o "$here/model.h5") ;;
    forget) arguments=(forget "$here/twice.h5" --rows 60:72 --quiet -o "$here/model.h5") ;;
    export) arguments=(export "$here/old.h5" --c "$here/model.c" --onnx "$here/model.onnx" --quiet) ;;
    std) arguments=(predict "$here/factor.h5" --x "$here/x.csv" --std -o "$here/s.npy" --quiet) ;;
    coverage) arguments=(predict "$here/held.h5" --x "$here/x.csv" --coverage 0.8 -o "$here/s.npy"
        --quiet) ;;
    svm) arguments=(fit svm --x "$here/x.csv" --y "$here/labels.csv" --y-type labels --kx 'rbf(sigma=1.5)'
        --C 1 --solver decomposition --quiet -o "$here/model.h5") ;;
    chain) arguments=(fit jkm --x "$here/x.txt" --y "$here/y.txt" --outputs chain
        --kx 'weighted-degree(degree=1)' --C 1 --tolerance 0.1 --quiet -o "$here/model.h5") ;;
    rows) arguments=(fit jkm --x "$here/x.csv" --y "$here/labels.csv" --y-type labels --outputs chain
        --kx linear --sequence-column 0 --C 1 --tolerance 0.1 --quiet -o "$here/model.h5") ;;
    tune) arguments=(fit krr "${model_data[@]}" --autotune --tune-fits 4) ;;
    tune_both) arguments=(fit kde "${model_data[@]}" --ky 'rbf(sigma=2)' --components 5 --autotune
        --tune-fits 6) ;;
    esac
}

# Files as they are before a run: a model, predictions and a record of an earlier one, and for
# resume a state.
restore() {
    rm -rf "$here" status.* log
    cp -r before "$here"
}

# run RANKS PRELOAD ARGUMENTS...: with a library in front; FAULT_* are in the environment.
run() {
    local ranks=$1 preload=$2
    shift 2
    # shellcheck disable=SC2086,SC2016
    timeout --foreground -s USR1 -k 60 "$limit" bash "$watched" $DKMAP_MPIRUN -np "$ranks" bash -c '
        preload=$1 where=$2
        shift 2
        LD_PRELOAD=$preload:$LD_PRELOAD "$@"
        status=$?
        echo $status >"$where/status.${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-0}}"
        exit $status' run "$preload" "$scratch" "$DKMAP" "$@" >out 2>err
    status=$?
}

# same_numbers A B: tables of predictions agree.
same_numbers() {
    timeout -k 10 "$limit" "$DKMAP" score --truth "$1" --pred "$2" --loss mse >check.out 2>&1 &&
        awk '$1 == "rmse" { good = $2 < 1e-9 } END { exit !good }' check.out
}

# predicts_well MODEL: it predicts as the model of an undisturbed run does.
predicts_well() {
    timeout -k 10 "$limit" "$DKMAP" predict "$1" --x x.csv -o check.npy --quiet >/dev/null 2>check.err &&
        same_numbers wanted.npy check.npy
}

# The model is one that the command would write; of methods other than krr it is only read.
is_new_model() {
    case $command in
    kpca | kde | svm | chain | rows | tune | tune_both) timeout -k 10 "$limit" "$DKMAP" info "$here/model.h5" >/dev/null 2>&1 ;;
    *) predicts_well "$here/model.h5" ;;
    esac
}

# whole WHAT: the files are those of before, or those of a run that went well.
whole() {
    local file
    cmp -s before/model.h5 "$here/model.h5" || is_new_model ||
        fail "$1: the model is neither the old one nor a new one"
    cmp -s before/p.npy "$here/p.npy" || same_numbers wanted.npy "$here/p.npy" ||
        fail "$1: the predictions are neither the old ones nor new ones"
    [ "$(head -1 "$here/record.jsonl")" = '{"old":1}' ] || fail "$1: the old record is spoilt"
    for file in s.npy model.c model.onnx; do
        cmp -s "before/$file" "$here/$file" || cmp -s "wanted.$command.$file" "$here/$file" ||
            fail "$1: $file is neither the old one nor a new one"
    done
    if ! cmp -s before/x.csv "$here/x.csv" || ! cmp -s before/old.h5 "$here/old.h5"; then
        fail "$1: an input was changed"
    fi
}

# hung WHAT: the run did not end by itself. What mpirun does when all ranks are gone is not ours.
hung() {
    if grep -q '^no rank is left' err; then
        count launcher
    else
        count hung
        fail "$1: hung: $(cat err)"
    fi
}

# ended WHAT: how the run with a fault ended.
ended() {
    local lines statuses
    count runs
    lines=$(grep '^dkmap: ' err | grep -vc '^dkmap: warning')
    statuses=$(cat status.* 2>/dev/null | sort -u | grep -vc '^13[0-9]$\|^14[0-9]$')
    if [ "$status" = 124 ]; then
        hung "$1"
    elif [ "$status" = 0 ]; then
        count survived
        [ "$lines" = 0 ] || fail "$1: exit 0 and a complaint: $(grep '^dkmap' err | head -1)"
    else
        count reported
        [ "$status" = 1 ] || fail "$1: exit $status: $(tail -3 err)"
        [ "$lines" = 1 ] || fail "$1: $lines messages: $(grep '^dkmap' err | head -3)"
    fi
    [ "$statuses" -le 1 ] || fail "$1: statuses differ: $(head status.*)"
}

no_temporaries() { # WHAT
    local left
    left=$(find "$here" -name '*.tmp*' | head -3)
    [ -z "$left" ] || fail "$1: left behind $left"
}

# count_calls COMMAND RANKS PRELOAD: an undisturbed run leaves lines "CALL RANK CALLS" in $tally, once
# for each command and library.
count_calls() {
    local file
    tally=$scratch/calls.$1.${3##*/}
    [ -e "$tally" ] && return
    arguments "$1"
    restore
    [ "$1" = resume ] || rm -rf "$here/state"
    FAULT_COUNTS=$tally FAULT_CALL=none FAULT_UNDER=$here run "$2" "$3" "${arguments[@]}"
    [ "$status" = 0 ] || fail "$1, undisturbed: exit $status: $(grep '^dkmap' err | head -1)"
    for file in s.npy model.c model.onnx; do
        cp "$here/$file" "wanted.$1.$file"
    done
}

# calls_of CALL RANK: how many calls a rank makes. For all ranks, how many are made by two of them
# at least: a later one is made by one rank alone, which is tried by itself.
calls_of() {
    if [ "$2" = all ]; then
        awk -v name="$1" '$1 == name { print $3 }' "$tally" | sort -nr | sed -n 2p
    else
        awk -v name="$1" -v rank="$2" '$1 == name && $2 == rank { print $3 }' "$tally"
    fi
}

# Each call of a kind fails.
files() { # COMMAND CALL ERROR RANK
    local command=$1 n most what
    count_calls "$1" 2 "$io"
    most=$(calls_of "$2" "$4")
    [ "$all" = 1 ] || most=$((most < 2 ? most : 2))
    export FAULT_CALL=$2 FAULT_ERROR=$3 FAULT_UNDER=$here FAULT_LOG=$scratch/log FAULT_N
    if [ "$4" = all ]; then unset FAULT_RANK; else export FAULT_RANK=$4; fi
    arguments "$command"
    for ((n = 1; n <= most; n++)); do
        FAULT_N=$n
        what="$command, $2 $n: $3 on rank $4"
        restore
        [ "$command" = resume ] || rm -rf "$here/state"
        run 2 "$io" "${arguments[@]}"
        [ -e log ] || fail "$what: not met"
        ended "$what"
        case "$2 $3" in
        'pread SHORT' | 'pread EINTR' | 'pwrite SHORT' | 'pwrite EINTR')
            [ "$status" = 0 ] || fail "$what: not tried again: $(grep -m1 '^dkmap' err)"
            ;;
        esac
        whole "$what"
        [ "$2" = unlink ] || no_temporaries "$what"
    done
    unset FAULT_CALL FAULT_ERROR FAULT_RANK FAULT_N FAULT_UNDER
}

# A rank is killed before each call of a kind. The files are those of before or those of a run that went well, and
# the next run leaves nothing of the killed one.
crash() { # COMMAND CALL RANK
    local command=$1 n most what
    count_calls "$1" 2 "$io"
    most=$(calls_of "$2" "$3")
    [ "$all" = 1 ] || most=$((most < 2 ? most : 2))
    arguments "$command"
    for ((n = 1; n <= most; n++)); do
        what="$command, rank $3 killed before $2 $n"
        restore
        [ "$command" = resume ] || rm -rf "$here/state"
        FAULT_CALL=$2 FAULT_ERROR=KILL FAULT_RANK=$3 FAULT_N=$n FAULT_UNDER=$here FAULT_LOG=$scratch/log \
            run 2 "$io" "${arguments[@]}"
        [ -e log ] || fail "$what: not met"
        count runs
        count killed
        if [ "$status" = 124 ]; then hung "$what"; else [ "$status" != 0 ] || fail "$what: exit 0"; fi
        whole "$what"
        run 2 "" "${arguments[@]}"
        [ "$status" = 0 ] || fail "$what, and once more: exit $status: $(grep '^dkmap' err | head -1)"
        no_temporaries "$what, and once more"
        whole "$what, and once more"
    done
}

# An error from a call of MPI, at ever later calls.
mpi() { # COMMAND FUNCTION HOW RANK
    local command=$1 n most what
    count_calls "$1" 3 "$mpi"
    most=$(calls_of "$2" "$4")
    [ "$all" = 1 ] || most=$((most < 2 ? most : 2))
    export FAULT_CALL=$2 FAULT_HOW=$3 FAULT_RANK=$4 FAULT_LOG=$scratch/log FAULT_N
    arguments "$command"
    for ((n = 1; n <= most; n += n / 2 + 1)); do # 1 2 4 7 11 17 26 40 ...
        FAULT_N=$n
        what="$command, MPI_$2 $n on rank $4: $3"
        restore
        run 3 "$mpi" "${arguments[@]}"
        if [ ! -e log ]; then # how often ranks test for messages depends on their speed
            count unmet
            [ "$status" = 0 ] || fail "$what, not met: exit $status: $(grep '^dkmap' err | head -1)"
            continue
        fi
        count runs
        if [ "$status" = 124 ]; then
            hung "$what"
        elif [ "$3" = kill ]; then
            count killed
            [ "$status" != 0 ] || fail "$what: exit 0"
        else
            count reported
            [ "$status" = 1 ] || fail "$what: exit $status"
            [ "$(grep -c "^dkmap: \\[rank $4\\] MPI failed" err)" = 1 ] ||
                fail "$what: $(grep -m1 '^dkmap' err)"
        fi
        whole "$what"
    done
    unset FAULT_CALL FAULT_HOW FAULT_RANK FAULT_N
}

# Ranks that are late at random give the same predictions.
delay() { # RANKS SEED
    local command
    export FAULT_DELAY=3000 FAULT_SEED=$2
    for command in fit mixed pcg predict; do
        arguments $command
        restore
        run "$1" "$mpi" "${arguments[@]}"
        count runs
        count delayed
        [ "$status" = 0 ] || fail "$command, delays, $1 ranks, seed $2: exit $status: $(tail -2 err)"
        if [ "$command" = predict ]; then
            same_numbers wanted.npy "$here/p.npy" || fail "predict, delays, $1 ranks, seed $2: other predictions"
        else
            predicts_well "$here/model.h5" || fail "$command, delays, $1 ranks, seed $2: other predictions"
        fi
    done
    unset FAULT_DELAY FAULT_SEED
}

# One of two ranks may have so many KiB of address space.
memory() { # KIB RANK
    local both=("$DKMAP" fit krr "${model_data[@]}") what="$1 KiB of address space on rank $2"
    local launch=(-np 1 "${both[@]}" : -np 1)
    local little=(bash -c 'ulimit -v '"$1"'; exec "$@"' run "${both[@]}")
    restore
    [ "$2" = 1 ] || launch=(-np 1)
    launch+=("${little[@]}")
    [ "$2" = 1 ] || launch+=(: -np 1 "${both[@]}")
    # shellcheck disable=SC2086
    timeout --foreground -s USR1 -k 60 "$limit" bash "$watched" $DKMAP_MPIRUN "${launch[@]}" >out 2>err
    status=$?
    command=fit
    count runs
    case $status in
    0) count survived ;;
    124) hung "$what" ;;
    141) count launcher ;; # mpirun died of SIGPIPE, at the connection of a rank that it had killed
    *)
        count reported
        [ "$status" = 1 ] || fail "$what: exit $status"
        [ "$(grep -c '^dkmap: ' err)" = 1 ] ||
            fail "$what: $(grep -c '^dkmap: ' err) messages: $(tail -3 err)"
        ;;
    esac
    whole "$what"
}

# A rank that is stopped is waited for; when it goes on, the job ends well.
stopped() { # RANK N
    local job command=fit what="rank $1 stopped at call $2"
    export FAULT_CALL=Allreduce FAULT_HOW=stop FAULT_RANK=$1 FAULT_N=$2 FAULT_LOG=$scratch/log
    arguments fit
    restore
    run 3 "$mpi" "${arguments[@]}" &
    job=$!
    for _ in $(seq 600); do
        [ -e log ] && break
        sleep 0.1
    done
    sleep 1
    kill -0 "$job" 2>/dev/null || fail "$what: the job did not wait"
    for pid in $(pgrep -f "^$DKMAP fit krr --x $here/"); do
        kill -CONT "$pid"
    done
    wait "$job"
    predicts_well "$here/model.h5" || fail "$what: no good model when it went on"
    count runs
    count waited
    unset FAULT_CALL FAULT_HOW FAULT_RANK FAULT_N
}

# What there is before each run.
mkdir before "$here"
cp x.csv y.csv before
cp x.csv y.csv "$here"
good 2 fit krr "${data[@]}" -o before/old.h5
good 2 fit krr --x x.csv --y y.csv --kx 'rbf(sigma=1.5)' --gamma 5 -o before/model.h5 --quiet
good 2 predict before/old.h5 --x x.csv -o wanted.npy --quiet
good 2 predict before/model.h5 --x x.csv -o before/p.npy --quiet
echo '{"old":1}' >before/record.jsonl
echo '/* old */' | tee before/model.c before/model.onnx >before/s.npy
awk -F, '{ print ($1 > 0) }' x.csv >before/labels.csv
awk -F, '{ print ($1 > 0 ? "a" : "b") ($2 > 0 ? "c" : "") ($3 > 0 ? "ab" : "c") }' x.csv >before/x.txt
sed 's/[ab]/V/g; s/c/C/g' before/x.txt >before/y.txt
# The models that are added to, taken from, and that have residuals: of the first rows, and of all and more.
{ cat x.csv && head -12 x.csv; } >twice_x.csv
{ cat y.csv && head -12 y.csv; } >twice_y.csv
good 2 fit krr --x 'x.csv[0:48]' --y 'y.csv[0:48]' "${data[@]:4}" --keep-factor -o before/factor.h5
good 2 fit krr --x twice_x.csv --y twice_y.csv "${data[@]:4}" --keep-factor -o before/twice.h5
good 2 fit krr "${data[@]}" --holdout 0.3 -o before/held.h5
cp before/* "$here"
arguments checkpoint
good 2 "${arguments[@]}"
[ -d "$here/state" ] && cp -r "$here/state" before

# Functions of MPI that concern the rank alone: before and after is the same.
local="Comm_group Comm_set_attr Group_incl Op_create Type_contiguous Type_vector Type_commit"
if [ "$all" = 1 ]; then
    commands=${FAULT_COMMANDS:-fit predict cv checkpoint resume record append forget export std coverage \
svm chain rows tune tune_both}
    calls=${FAULT_CALLS:-open read pread write pwrite fsync rename unlink}
    ranks=${FAULT_RANKS:-0 1 all}
    crash_calls=${FAULT_CALLS:-open pwrite write fsync rename unlink} crash_ranks=${FAULT_RANKS:-0 1}
    functions=${FAULT_FUNCTIONS:-Allreduce Bcast Allgather Allgatherv Alltoall Alltoallv Reduce \
Reduce_scatter Scan Exscan Gatherv Scatterv Barrier Send Recv Rsend Sendrecv Isend Irecv Wait Waitall \
Waitsome Testall Testsome Comm_dup Comm_split Comm_split_type Comm_create $local}
    programs=${FAULT_PROGRAMS:-fit mixed pcg kde kpca cv predict append forget export std \
coverage svm chain rows tune tune_both}
    mpi_ranks=${FAULT_RANKS:-0 1 2}
else
    commands=${FAULT_COMMANDS:-record}
    calls=${FAULT_CALLS:-open pread write rename}
    FAULT_ERRORS=${FAULT_ERRORS:-EIO}
    ranks=${FAULT_RANKS:-0 1}
    crash_calls=${FAULT_CALLS:-fsync rename} crash_ranks=${FAULT_RANKS:-0}
    functions=${FAULT_FUNCTIONS:-Allreduce Bcast Comm_split}
    programs=${FAULT_PROGRAMS:-fit}
    mpi_ranks=${FAULT_RANKS:-1}
fi

for part in $parts; do
    case $part in
    files)
        for c in $commands; do for f in $calls; do
            case $f in
            read | pread) kinds="EIO EINTR SHORT" ;;
            write | pwrite) kinds="ENOSPC EINTR SHORT" ;;
            *) kinds="EIO EINTR" ;;
            esac
            for e in ${FAULT_ERRORS:-$kinds}; do for r in $ranks; do files "$c" "$f" "$e" "$r"; done; done
        done; done
        ;;
    crash)
        for c in $commands; do for f in $crash_calls; do
            for r in $crash_ranks; do crash "$c" "$f" "$r"; done
        done; done
        ;;
    mpi)
        for c in $programs; do for f in $functions; do for h in before after; do
            [ $h = before ] || [[ $all = 1 && " $local " != *" $f "* ]] || continue
            for r in $mpi_ranks; do mpi "$c" "$f" "$h" "$r"; done
        done; done; done
        ;;
    kill)
        for c in $programs; do for r in $mpi_ranks; do
            mpi "$c" any kill "$r"
        done; done
        ;;
    stop)
        for r in $mpi_ranks; do for n in 1 9 60; do stopped "$r" "$n"; done; done
        ;;
    delay)
        if [ "$all" = 1 ]; then
            for n in 4 5 6; do for seed in 1 2 3 4 5; do delay "$n" "$seed"; done; done
        else
            delay 4 1
        fi
        ;;
    memory)
        if [ "$all" = 1 ]; then
            for kib in $(seq 150000 10000 480000); do for r in 0 1; do memory "$kib" "$r"; done; done
        else
            for kib in 160000 270000 350000 450000; do memory "$kib" 1; done
        fi
        ;;
    esac
done
finish
