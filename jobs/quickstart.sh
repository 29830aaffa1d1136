#!/usr/bin/env bash
# From nothing to a fitted model: installs what is missing (Debian), builds dkmap, and learns on
# several MPI ranks to tell garments apart (Debian's dataset-fashion-mnist).
#
# usage: jobs/quickstart.sh [--images N] [--ranks N] [--out FOLDER]
#   --images N     how many of the 60000 training images to learn from   [10000]
#   --ranks N      MPI ranks                                              [2]
#   --out FOLDER   where models, predictions and the record of runs go    [out]
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

images=10000 ranks=2 out=$root/out
data=/usr/share/datasets/fashion-mnist
record=

whole() {
    [[ $2 =~ ^[1-9][0-9]*$ ]] || fail "$1 takes a whole number of at least 1, not '$2'"
}

read_options() {
    while [ $# -gt 0 ]; do
        case $1 in
        -h | --help)
            explain
            exit
            ;;
        --images | --ranks | --out) [ $# -gt 1 ] || fail "$1 needs a value; see --help" ;;
        *) fail "unknown option '$1'; see --help" ;;
        esac
        case $1 in
        --images)
            whole "$1" "$2"
            [ "$2" -le 60000 ] || fail "there are 60000 training images, not $2"
            images=$2
            ;;
        --ranks)
            whole "$1" "$2"
            ranks=$2
            ;;
        --out) out=$(realpath -m "$2") ;;
        esac
        shift 2
    done
}

# run WHAT ARGUMENTS...: dkmap on all ranks; what it tells is kept for told
run() {
    local log=$out/${1// /-}.log
    shift
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$build/dkmap" "$@" --quiet --record "$record" >"$log" 2>&1 </dev/null ||
        { echo && cat "$log" >&2 && fail "that was: dkmap $*"; }
    last=$log
}

# told NAME: a value that the last run told
told() {
    awk -v name="$1" '$1 == name { print $2; exit }' "$last"
}

# percent SHARE
percent() {
    awk -v share="$1" 'BEGIN { printf "%.1f %%", 100 * share }'
}

# row NAME TITLE OPTIONS OF FIT...: fit, predict, score; the line appears as it comes to be known
row() {
    local name=$1 residual
    printf '  %-32s' "$2"
    shift 2
    run "fit $name" fit "$@" --x "$train_x" --y "$train_y" -o "$out/$name.h5"
    residual=$(told residual)
    printf '%9.1f %10s' "$(told seconds)" "${residual:+$(printf %.1e "$residual")}"
    run "predict $name" predict "$out/$name.h5" --x "$test_x" -o "$out/$name.npy"
    printf ' %11.1f' "$(told seconds)"
    run "score $name" score --truth "$test_y" --pred "$out/$name.npy" --loss zero-one
    printf ' %11s\n' "$(percent "$(told zero-one)")"
}

table() {
    printf '\n  %-32s%9s %10s %11s %11s\n' method 'fit, s' residual 'predict, s' 'test error'
    run "score baseline" score --truth "$test_y" --pred "$test_y" --loss zero-one --baseline mean
    printf '  %-32s%9s %10s %11s %11s\n' 'always the commonest garment' '' '' '' \
        "$(percent "$(told baseline_zero-one)")"
    row knn '5 nearest neighbours' knn --kx linear --k 5
    row rbf 'ridge, rbf(sigma=1200)' krr --kx 'rbf(sigma=1200)' --gamma 0.05
    row laplace 'ridge, laplace(sigma=50000)' krr --kx 'laplace(sigma=50000)' --gamma 0.01
    printf '\n  residual: ||(K + gamma I) B - Y|| / ||Y|| of the %s x %s system, measured in double\n' \
        "$images" "$images"
}

# line LEFT RIGHT: an indented line in two columns
line() {
    printf '  %-40s %s\n' "$1" "$2"
}

where_and_next() {
    local here dkmap
    here=$(short "$out")
    dkmap=$(short "$build")/dkmap
    printf '\nWhere things are\n'
    line "$here/rbf.h5" "the model: HDF5, loads on any number of ranks"
    line "$here/rbf.npy" "its predictions for the test images"
    line "$here/runs.jsonl" "the record: a JSON line a run, with seconds a phase"
    printf '\nWhat to try next\n'
    line "$dkmap info $here/rbf.h5" "what is in the model"
    line "$dkmap info $here/runs.jsonl" "the runs so far"
    line "$dkmap help fit krr" "all options"
    line "$(short "$root/jobs")/quickstart.sh --images 20000" "more to learn from, fewer errors"
    line "$(short "$root/docs")/guide.md" "the user guide"
}

read_options "$@"
# shellcheck disable=SC2086
install_packages $packages dataset-fashion-mnist
train_x="$data/train-images-idx3-ubyte.gz[0:$images]"
train_y="$data/train-labels-idx1-ubyte.gz[0:$images]"
test_x=$data/t10k-images-idx3-ubyte.gz
test_y=$data/t10k-labels-idx1-ubyte.gz
for file in "$test_x" "$test_y" "${train_x%[*}" "${train_y%[*}"; do
    [ -r "$file" ] || fail "no $file: it is part of Debian's package dataset-fashion-mnist"
done
build_dkmap dkmap_command
mkdir -p "$out" || fail "cannot make the folder $out: name another with --out"
record=$out/runs.jsonl
cat <<TEXT
Which of ten garments is on a picture of 28 x 28 pixels?
Learning from $images pictures of Fashion-MNIST on $ranks MPI ranks, trying on 10000 others
TEXT
table
where_and_next
