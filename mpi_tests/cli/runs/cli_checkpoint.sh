#!/usr/bin/env bash
# Checkpoints from the command line: runs that are killed at any moment, told to stop, out of time or
# out of disk go on to the same model. DKMAP_KILLS says at how many random moments each method is killed,
# DKMAP_KILL_ROWS on how many rows.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
kills=${DKMAP_KILLS:-1} rows=${DKMAP_KILL_ROWS:-1100}

normal "$rows" 4 1 >x.csv
awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x.csv >y.csv
data=(--x x.csv --y y.csv --kx 'rbf(sigma=1.5)' --gamma 0.01)

# arguments METHOD: of its fit.
arguments() {
    case $1 in
    krr) echo fit krr --precision double ;;
    mixed) echo fit krr --precision mixed ;;
    kpca) echo fit kpca --components 12 ;;
    kde) echo fit kde --ky 'rbf(sigma=2)' --components 20 ;;
    jkm) echo fit jkm --joint 'diag(lambda=0.5)' --epsilon 0.125 ;;
    esac
}

# applied MODEL FILE: what it makes of the points.
applied() {
    if [ "$method" = kpca ]; then
        good 1 encode "$1" --x "$points" -o "$2" --quiet
    else
        good 1 predict "$1" --x "$points" -o "$2" --quiet "${coordinates[@]}"
    fi
}

# same MODEL WHAT: it predicts what the model of the same method that never stopped does.
same() {
    applied "$1" p.npy
    good 1 score --truth "$method.npy" --pred p.npy --loss mse
    below "$(value rmse)" 1e-12 "$2"
}

# begin RANKS ARGUMENTS...: start dkmap behind the scenes; its launcher is $job.
begin() {
    local ranks=$1
    shift
    # shellcheck disable=SC2086
    $DKMAP_MPIRUN -np "$ranks" "$DKMAP" "$@" >out 2>err &
    job=$!
}

# ranks_below PID: Open MPI's launcher starts ranks itself, MPICH's through another process.
ranks_below() {
    local child
    for child in $(pgrep -P "$1"); do
        if [ "/proc/$child/exe" -ef "$DKMAP" ]; then echo "$child"; else ranks_below "$child"; fi
    done
}

ended() {
    wait "$job"
    status=$?
}

good 1 gen identity --n 60 --dim 24 --seed 3 --out-dir sphere
for method in krr mixed kpca kde jkm; do
    read -ra words <<<"$(arguments "$method")"
    if [ "$method" = jkm ]; then
        words+=(--x 'sphere/x.npy[0:12]' --y 'sphere/y.npy[0:12]' --kx linear)
        points='sphere/x.npy[12:60]'
    elif [ "$method" = kpca ]; then
        words+=(--x x.csv --kx 'rbf(sigma=1.5)')
    else
        words+=("${data[@]}")
    fi
    [ "$method" = jkm ] || points='x.csv[0:100]'
    coordinates=()
    [ "$method" = kde ] && coordinates=(--preimage coordinates)
    start=$(date +%s%N)
    good 2 "${words[@]}" -o "$method.h5"
    took=$((($(date +%s%N) - start) / 1000000))
    applied "$method.h5" "$method.npy"

    # A rank is killed at any moment; the next run goes on, and may be killed as well.
    for ((k = 0; k < kills; k++)); do
        [ $((k % 3)) != 2 ] && rm -rf "ck_$method"
        begin 2 "${words[@]}" --checkpoint "ck_$method" --resume --checkpoint-every 0 -o killed.h5
        sleep "$(awk -v t="$took" -v at="$RANDOM" 'BEGIN { print at / 32768 * t / 1000 }')"
        victim=$(ranks_below "$job" | shuf -n 1)
        [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null
        ended
        echo "$method, killed at moment $k: status $status, $(find "ck_$method" -name '*.h5' 2>/dev/null | wc -l) states"
        rm -f killed.h5
        good 2 "${words[@]}" --checkpoint "ck_$method" --resume --checkpoint-every 0 -o killed.h5
        same killed.h5 "$method, killed at moment $k"
        [ -z "$(find "ck_$method" -name '*.tmp*')" ] || fail "$method, killed at moment $k: pieces are left behind"
    done

    # On other rank counts the states are of use too.
    good 3 "${words[@]}" --checkpoint "ck_$method" --resume -o other.h5
    says err "going on from" "$method on 3 ranks"
    same other.h5 "$method on another rank count"
done

# A signal to one rank stops all of them with a state; so does TERM, and so does the time.
method=krr
points='x.csv[0:100]'
coordinates=()
read -ra words <<<"$(arguments krr)"
words+=("${data[@]}")

# stop_by SIGNAL ROWS: a fit of so many rows gets the signal once it has begun to keep states.
stop_by() {
    normal "$2" 4 1 >x.csv
    awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x.csv >y.csv
    rm -rf ck stopped.h5
    begin 2 "${words[@]}" --checkpoint ck -o stopped.h5
    for ((k = 0; k < 1000; k++)); do
        [ -d ck ] && break
        sleep 0.01
    done
    kill "-$1" "$(ranks_below "$job" | tail -1)"
    ended
}

# A small fit may be over before the signal comes: a larger one will not be.
for signal in USR1 TERM; do
    for rows in 1100 3000 6000; do
        stop_by "$signal" "$rows"
        [ "$status" != 0 ] && break
    done
    expect 3 "a run that got $signal"
    says err "--resume goes on" "a run that got $signal"
    [ -e stopped.h5 ] && fail "a run that got $signal left a model"
    good 2 "${words[@]}" -o unstopped.h5
    good 1 predict unstopped.h5 --x 'x.csv[0:100]' -o krr.npy
    good 2 "${words[@]}" --checkpoint ck --resume -o stopped.h5
    says err "going on from" "the run after $signal"
    same stopped.h5 "the run after $signal"
done
rm -f stopped.h5
normal 1100 4 1 >x.csv
awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x.csv >y.csv
good 2 "${words[@]}" -o unstopped.h5
good 1 predict unstopped.h5 --x 'x.csv[0:100]' -o krr.npy
rm -rf ck
on 2 "${words[@]}" --checkpoint ck --max-time 0.001s -o none.h5
expect 3 "a run out of time"
says err "stopped in time" "a run out of time"

# The newest state is damaged: the one before is taken, and that is said.
good 2 "${words[@]}" --checkpoint ck --resume --checkpoint-every 0 -o whole.h5
before=$(find ck -name 'factor-*' | sort | head -1)
newest=$(find ck -name 'factor-*' | sort | tail -1)
printf X | dd of="$newest" bs=1 seek=5000 conv=notrunc status=none
good 2 "${words[@]}" --checkpoint ck --resume -o whole.h5
says err "looking for the checkpoint before it" "a damaged state"
says err "going on from $before" "a damaged state"
same whole.h5 "the run after a damaged state"
good 0 info "$(find ck -name 'gram-*')"
says out "checkpoint of dkmap" "info of a state"

# A disk without room for states is reported, and the run goes on. Small disks are root's to make.
mkdir small
if mount -t tmpfs -o size=2m tmpfs small 2>/dev/null; then
    good 2 "${words[@]}" --checkpoint small/ck --checkpoint-every 0 -o full.h5
    says err "the run goes on" "a full disk"
    [ -z "$(find small/ck -name '*.tmp*')" ] || fail "a full disk: pieces are left behind"
    umount small
    same full.h5 "the run on a full disk"
fi

# Runs with other settings share a directory with each other, and with files of whatever name that are
# nobody's states.
mkdir shared
echo precious | tee shared/results-20260101.h5 >shared/factor-01234567-000123.h5
other=(fit krr --precision double "${data[@]:0:6}" --gamma 0.5)
for _ in 1 2; do
    on 2 "${words[@]}" --checkpoint shared --max-time 0.001s -o none.h5
    expect 3 "the first of two runs that share a directory"
    on 2 "${other[@]}" --checkpoint shared --max-time 0.001s -o none.h5
    expect 3 "the second of two runs that share a directory"
done
for command in words other; do
    declare -n arguments=$command
    good 2 "${arguments[@]}" --checkpoint shared --resume --checkpoint-every 0 -o "$command.h5"
    says err "going on from shared/dkmap-checkpoints/gram" "a shared directory"
    good 2 "${arguments[@]}" --checkpoint shared --checkpoint-every 0 -o "$command.h5"
done
unset -n arguments
same words.h5 "a run in a shared directory"
[ "$(cat shared/*.h5)" = $'precious\nprecious' ] || fail "a checkpoint removed a file of the user"

# Wrong uses.
on 2 "${words[@]}" --resume -o none.h5
expect 2 "--resume alone"
says err "needs --checkpoint DIR" "--resume alone"
on 2 fit krr "${data[@]:0:6}" --gamma 0.02 --checkpoint ck --resume -o none.h5
expect 2 "other settings"
says err "other settings" "other settings"
on 2 "${words[@]}" --x y.csv --checkpoint ck -o none.h5
expect 2 "--x twice"
sed '1s/.*/1,1,1,1/' x.csv >x2.csv
on 2 "${words[0]}" "${words[1]}" --precision double --x x2.csv "${data[@]:2}" --checkpoint ck --resume -o none.h5
expect 2 "other data"
says err "other data" "other data"
on 2 "${words[@]}" --checkpoint no/such -o none.h5
expect 1 "a directory that cannot be"
on 2 "${words[@]}" --checkpoint ck --max-time soon -o none.h5
expect 2 "a time that is none"
[ -e none.h5 ] && fail "a failed run left a file"
finish
