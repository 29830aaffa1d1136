# shellcheck shell=bash disable=SC2034
# What the cli_*.sh tests share: a scratch directory, running dkmap on some ranks, and checks that
# are counted. Needs DKMAP, DKMAP_MPIRUN and DKMAP_SOURCE in the environment.
set -uo pipefail

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
failures=0
limit=300 # seconds until a run counts as hung, also on a busy machine
PATH=${DKMAP_MPI_BIN:+$DKMAP_MPI_BIN:}$PATH # mpicc and mpirun of the MPI of the build
# Open MPI's launcher waits this long for ranks to die when one has failed, even if all are gone.
export OMPI_MCA_odls_base_sigkill_timeout=0

fail() {
    failures=$((failures + 1))
    printf 'FAILED %s\n' "$*" >&2
}

# on RANKS ARGUMENTS...: run dkmap; its output is in out, its errors in err, its status in $status. One
# rank needs no launcher, and starts sooner without.
on() {
    local ranks=$1
    shift
    if [ "$ranks" -le 1 ]; then
        timeout -k 10 "$limit" "$DKMAP" "$@" >out 2>err
    else
        # shellcheck disable=SC2086
        timeout -k 10 "$limit" $DKMAP_MPIRUN -np "$ranks" "$DKMAP" "$@" >out 2>err
    fi
    status=$?
}

# expect STATUS WHAT: the last run ended so.
expect() {
    [ "$status" = "$1" ] || fail "$2: exit $status, not $1: $(grep '^dkmap' err | head -3)"
}

# good RANKS ARGUMENTS...: a run that must succeed.
good() {
    on "$@"
    expect 0 "dkmap ${*:2} on $1 ranks"
}

# says FILE TEXT WHAT: the file holds the text.
says() {
    grep -qF -- "$2" "$1" || fail "$3: no '$2' in: $(head -5 "$1")"
}

# bad TEXTS ARGUMENTS...: a run that must fail on every rank, without results or files in made/.
# TEXTS, separated by '|', must all be in the one message.
bad() {
    must_refuse 1 "$@"
}

# wrong TEXTS ARGUMENTS...: the same for wrong usage.
wrong() {
    must_refuse 2 "$@"
}

# must_refuse STATUS TEXTS ARGUMENTS...
must_refuse() {
    local ends=$1 texts=$2 ranks text messages
    shift 2
    for ranks in 0 3; do
        rm -rf made
        mkdir made
        on "$ranks" "$@"
        expect "$ends" "dkmap $* ($texts)"
        messages=$(grep '^dkmap: ' err | grep -cv '^dkmap: [a-z ]* [0-9]* %') # but for progress, where it is slow
        [ "$messages" = 1 ] || fail "dkmap $*: $messages messages"
        while read -r -d '|' text; do
            says err "$text" "dkmap $*"
        done <<<"$texts|"
        [ -s out ] && fail "dkmap $*: results on stdout: $(head -2 out)"
        [ -z "$(ls -A made)" ] || fail "dkmap $*: left behind $(ls -A made)"
    done
}

# value NAME: the value of a `name value` line of the last run.
value() {
    awk -v name="$1" '$1 == name { print $2; exit }' out
}

# below A B WHAT: A < B as numbers.
below() {
    awk -v a="$1" -v b="$2" 'BEGIN { exit !(a != "" && a + 0 == a && a + 0 < b + 0) }' ||
        fail "$3: $1 is not below $2"
}

# normal ROWS COLUMNS SEED: a csv of roughly normal numbers, always the same.
normal() {
    awk -v m="$1" -v d="$2" -v seed="$3" 'BEGIN {
        srand(seed)
        for (i = 0; i < m; i++) {
            line = ""
            for (j = 0; j < d; j++)
                line = line (j ? "," : "") \
                    sprintf("%.6f", rand() + rand() + rand() + rand() - 2)
            print line
        }
    }'
}

finish() {
    if [ "$failures" != 0 ]; then
        echo "$failures checks failed" >&2
        exit 1
    fi
    echo ok
}
