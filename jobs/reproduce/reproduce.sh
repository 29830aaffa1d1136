# shellcheck shell=bash disable=SC2034
# What the scripts that repeat published experiments share. Sourced, not run.
# Sets: data, seeds, ranks, jobs, out, only.  Needs: experiments (names of all there are) and a
# function one_NAME SEED FOLDER for each, that calls result.
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

data=${DKMAP_DATA:-} seeds=20 ranks=1 out=$root/out/reproduce_${0##*/} only=
out=${out%.sh}
jobs=$(cores)

reproduce_options() {
    read_options "data seeds ranks jobs out only" "$@"
    out=$(realpath -m "$out")
    [ -z "$data" ] || data=$(realpath -m "$data")
}

# dk ARGUMENTS...
dk() {
    run_dkmap "$log" "$@"
}

# result ROW VALUE: a figure of this seed; rows have no blanks in their names
result() {
    [ -n "$2" ] || fail "no figure for $1: see $log"
    echo "$1 $2" >>"$results.part"
}

# perform NAME SEED: one experiment with one seed, unless its results are there already
perform() {
    local dir=$out/$1/$2
    results=$dir/results
    [ -s "$results" ] && return
    rm -rf "$dir"
    mkdir -p "$dir" || fail "cannot make the folder $dir"
    log=$dir/log
    "one_$1" "$2" "$dir"
    mv "$results.part" "$results"
}

# perform_all: every experiment with every seed, several at a time
perform_all() {
    local name seed
    for name in ${only:-$experiments}; do
        for seed in $(seq "$seeds"); do
            echo "$name $seed"
        done
    done | xargs -P "$jobs" -L 1 "$0" --one ||
        fail "an experiment failed; what is done is kept in $out"
}

# row NAME ROW TITLE PUBLISHED LOW HIGH: mean over the seeds beside what it should be
row() {
    cat "$out/$1"/*/results 2>/dev/null | awk -v row="$2" -v title="$3" -v published="$4" \
        -v low="$5" -v high="$6" '
        $1 == row { n++; sum += $2; squares += $2 * $2 }
        END {
            if (!n) exit
            mean = sum / n
            error = n > 1 ? sqrt((squares - n * mean * mean) / (n - 1) / n) : 0
            word = low == "" ? "" : mean >= low && mean <= high ? "inside" : "OUTSIDE"
            band = low == "" ? "" : low " - " high
            printf "| %s | %s | %.4g ± %.2g | %s | %s |\n", title, published, mean, error, band, word
        }'
}

# heads NAME ROW OTHER TITLE: in how many seeds a row is below another
heads() {
    cat "$out/$1"/*/results 2>/dev/null | awk -v row="$2" -v other="$3" -v title="$4" '
        $1 == row { a[++n] = $2 }
        $1 == other { b[++m] = $2 }
        END { for (k = 1; k <= n; k++) below += a[k] < b[k]
              if (n) printf "\n%s in %d of %d seeds.\n", title, below, n }'
}

# section NAME TITLE: the head of a table, where the experiment was made
section() {
    [ -d "$out/$1" ] || return 1
    printf '\n%s\n\n| | published | here, mean of %d seeds | expected | |\n|---|---|---|---|---|\n' \
        "$2" "$(find "$out/$1" -name results | wc -l)"
}

# reproduce "$@": all of it; the script is started anew for each seed
reproduce() {
    if [ "${1:-}" = --one ]; then
        data=$DKMAP_DATA out=$REPRODUCE_OUT ranks=$REPRODUCE_RANKS
        perform "$2" "$3"
        return
    fi
    reproduce_options "$@"
    # shellcheck disable=SC2086
    install_packages $packages
    build_dkmap dkmap_command
    mkdir -p "$out" || fail "cannot make the folder $out: name another with --out"
    export DKMAP_DATA=$data REPRODUCE_OUT=$out REPRODUCE_RANKS=$ranks DKMAP_BUILD=$build
    prepare
    perform_all
    report | tee "$out/report.md"
}
