#!/usr/bin/env bash
# Every command that takes --checkpoint, killed (SIGKILL) at random moments and resumed on another
# number of ranks until it ends by itself, comes to what it comes to without a kill, and leaves no
# temporary file. Needs DKMAP, DKMAP_MPIRUN and DKMAP_SOURCE in the environment, as ctest sets them.
#
# usage: resume_anywhere.sh
# RESUME_SEED is the seed of the moments, RESUME_ROUNDS how often every command is tried (1),
# RESUME_KILLS the most kills of a try (4), RESUME_ROWS the number of examples (240), RESUME_ONLY an
# extended regular expression that commands must match. Prints the counts.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../cli/common.sh"
RANDOM=${RESUME_SEED:-1}
rounds=${RESUME_ROUNDS:-1}
most=${RESUME_KILLS:-4}
rows=${RESUME_ROWS:-240}
limit=${RESUME_LIMIT:-120} # seconds until a run counts as hung
watched=$DKMAP_SOURCE/mpi_tests/faults/watched.sh
tries=0 runs=0 kills=0 resumed=0 hung=0 launcher=0

print_counts() {
    echo "resume: $tries tries, $runs runs, $kills kills, $resumed resumed from a state," \
        "$hung hung, $launcher times mpirun hung without ranks, $failures checks failed"
}
trap 'print_counts; rm -rf "$scratch"' EXIT
trap 'exit 1' TERM INT

now() { # milliseconds
    echo $(($(date +%s%N) / 1000000))
}

# begin RANKS ARGUMENTS...: in the background; every rank leaves its process id in pid.RANK.
begin() {
    local ranks=$1
    shift
    rm -f pid.*
    # shellcheck disable=SC2086,SC2016
    timeout --foreground -s USR1 -k 60 "$limit" bash "$watched" $DKMAP_MPIRUN -np "$ranks" bash -c '
        echo $$ >pid.${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
        exec "$@"' run "$DKMAP" "$@" >out 2>err &
    job=$!
    runs=$((runs + 1))
}

# kill_ranks: one rank, or all of them.
kill_ranks() {
    local pids=(pid.*) pid
    killed=none
    [ -e "${pids[0]}" ] || return
    if ((RANDOM % 2)); then pids=("${pids[RANDOM % ${#pids[@]}]}"); fi
    killed="${pids[*]#pid.}"
    for pid in "${pids[@]}"; do
        pid=$(cat "$pid")
        [ -n "$pid" ] && kill -KILL "$pid" 2>/dev/null
    done
}

# kill_and_resume MILLISECONDS ARGUMENTS...: killed at moments within the time that a run takes.
kill_and_resume() {
    local span=$1 k ranks=(1 2 3) at=$((RANDOM % 3))
    shift
    rm -rf states
    for ((k = 0; k < most; k++)); do
        begin "${ranks[at]}" "$@" --checkpoint states --checkpoint-every 0 --resume
        sleep "$(awk -v t="$span" -v r="$RANDOM" 'BEGIN { print t / 1000 * (0.3 + 0.7 * r / 32768) }')"
        kill_ranks
        wait "$job" 2>/dev/null
        status=$?
        if [ "$status" = 124 ] && grep -q '^no rank is left' err; then
            launcher=$((launcher + 1))
        elif [ "$status" = 124 ]; then
            hung=$((hung + 1))
            fail "${*:1:2} on ${ranks[at]} ranks: hung after rank $killed was killed: $(cat err)"
        fi
        [ "$status" = 0 ] && return # it was faster
        kills=$((kills + 1))
        [ -n "$(find states -name '*.h5' 2>/dev/null | head -1)" ] && resumed=$((resumed + 1))
        at=$(((at + 1 + RANDOM % 2) % 3)) # another number of ranks
    done
    begin "${ranks[at]}" "$@" --checkpoint states --checkpoint-every 0 --resume
    wait "$job"
    status=$?
    expect 0 "${*:1:2}, killed $k times"
}

# result KIND NAME: numbers of a run as NAME.txt or NAME.npy, for compare.
result() {
    case $1 in
    predict | encode) good 1 "$1" "$2.h5" --x new.csv -o "$2.npy" "${more[@]}" ;;
    labels) good 1 predict "$2.h5" --x new.csv -o "$2.txt" ;;
    strings) good 1 predict "$2.h5" --x x.txt -o "$2.txt" ;;
    apply) good 1 extend apply "$2.h5" --features new.csv --among -o "$2.npy" ;;
    table) grep -vE '^(seconds|groups|ranks|grams|grid)' out >"$2.txt" ;;
    esac
}

# compare KIND LARGEST WHAT
compare() {
    case $1 in
    labels | strings | table)
        cmp -s plain.txt killed.txt || fail "$3: $(diff plain.txt killed.txt | head -3)"
        return
        ;;
    values) good 1 score --truth plain.h5:/eigenvalues --pred killed.h5:/eigenvalues --loss mse ;;
    *) good 1 score --truth plain.npy --pred killed.npy --loss mse ;;
    esac
    below "$(value rmse)" "$2" "$3"
}

# try KIND LARGEST ARGUMENTS...: OUT stands for the output file.
try() {
    local kind=$1 largest=$2 ending=.h5 what="${*:3}" span round left
    shift 2
    [[ $what =~ ${RESUME_ONLY:-.} ]] || return
    [ "$kind" = numbers ] && ending=.npy
    span=$(now)
    good 2 "${@/#OUT/plain$ending}"
    span=$(($(now) - span))
    result "$kind" plain
    for ((round = 0; round < rounds; round++)); do
        tries=$((tries + 1))
        rm -f killed.*
        kill_and_resume "$span" "${@/#OUT/killed$ending}"
        [ "$status" = 0 ] || continue
        left=$(find . -name '*.tmp*' | head -3)
        [ -z "$left" ] || fail "$what: left behind $left"
        result "$kind" killed
        compare "$kind" "$largest" "$what"
    done
}

normal "$rows" 4 1 >x.csv
normal 12 4 2 >new.csv
awk -F, '{ print $1 * $2 "," $3 - $4 * $4 }' x.csv >y.csv
awk -F, '{ print ($1 > 0) + ($2 > 0.3) }' x.csv >labels.csv
awk '{ print NR % 4 != 0 }' x.csv >seen.csv
awk -F, '{ print ($1 > 0 ? "a" : "b") ($2 > 0 ? "cb" : "") ($3 > 0 ? "ab" : "c") ($4 > 0 ? "d" : "aa") }' x.csv >x.txt
sed 's/a/P/g; s/[bcd]/Q/g; s/PQ/PP/' x.txt >y.txt
more=()
rbf=(--kx 'rbf(sigma=1.5)')
xy=(--x x.csv --y y.csv "${rbf[@]}")
classes=(--x x.csv --y labels.csv --y-type labels "${rbf[@]}")
good 1 gram --x x.csv "${rbf[@]}" -o k.npy
good 1 gram --x x.csv --kx 'laplace(sigma=2)' -o l.npy
good 1 fit krr --x 'x.csv[0:200]' --y 'y.csv[0:200]' "${rbf[@]}" --gamma 0.01 --keep-factor -o factor.h5

try predict 1e-9 fit krr "${xy[@]}" --gamma 0.01 --precision double -o OUT
try predict 1e-9 fit krr "${xy[@]}" --gamma 0.01 --precision mixed -o OUT
try predict 1e-9 fit krr "${xy[@]}" --gamma 0.001,0.01,0.1 --solver eigen -o OUT
try predict 1e-6 fit krr "${xy[@]}" --gamma 0.1 --solver pcg --landmarks 12 -o OUT
try encode 1e-7 fit kpca --x x.csv "${rbf[@]}" --components 5 --eigensolver block -o OUT
try encode 1e-6 embed lle --x x.csv --neighbours 12 --components 2 -o OUT
try numbers 1e-12 gram --x x.csv "${rbf[@]}" --center -o OUT
try values 1e-7 eig --gram k.npy --components 4 --eigensolver block -o OUT
try table 0 align --x x.csv --kx "rbf(sigma=\$s)" --try s=1,2 --labels labels.csv
try numbers 1e-6 extend complete --gram k.npy --observed seen.csv --by l.npy --lambda 0.5 -o OUT
try apply 1e-6 extend fit --gram k.npy --features x.csv -o OUT
more=(--preimage coordinates)
try predict 1e-7 fit kde "${xy[@]}" --ky 'rbf(sigma=2)' --components 4 --gamma 0.01 -o OUT
more=()
try predict 1e-9 fit jkm "${xy[@]}" --outputs sphere --epsilon 0.5 --C 1 --tolerance 0.02 -o OUT
try labels 0 fit jkm "${classes[@]}" --C 1 --tolerance 0.1 -o OUT
try labels 0 fit jkm "${classes[@]}" --C 1 --tolerance 0.1 --slacks one -o OUT
try labels 0 fit svm "${classes[@]}" --C 1 -o OUT
try labels 0 fit svm "${classes[@]}" --C 1 --solver decomposition -o OUT
try strings 0 fit jkm --x x.txt --y y.txt --outputs chain --kx 'weighted-degree(degree=1)' --C 0.01 \
    --tolerance 0.02 -o OUT
try predict 1e-9 fit krr "${xy[@]}" --gamma 0.01 --autotune --tune-fits 8 -o OUT
try predict 1e-9 append factor.h5 --x 'x.csv[200:]' --y 'y.csv[200:]' -o OUT
try predict 1e-9 forget factor.h5 --rows 3,9:40 -o OUT
try table 0 cv krr "${xy[@]}" --gamma 0.01,0.1 --folds 3
try table 0 cv kde "${xy[@]}" --ky 'rbf(sigma=2)' --components 4 --gamma 0.01,0.1 --folds 2
try table 0 cv svm "${classes[@]}" --C 1,10 --folds 2
finish
