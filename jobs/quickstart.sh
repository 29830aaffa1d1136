#!/usr/bin/env bash
# From nothing to a picture: installs what is missing (Debian), builds dkmap, and learns on several
# MPI ranks to draw the lower half of a garment from its upper half (Debian's dataset-fashion-mnist).
#
# usage: jobs/quickstart.sh [--images N] [--ranks N] [--out FOLDER]
#   --images N     how many of the 60000 training images to learn from   [10000]
#   --ranks N      MPI ranks                                              [2]
#   --out FOLDER   where models, predictions, picture and records go      [out]
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

# run WHAT ARGUMENTS...: dkmap on all ranks; `reported` looks at the last
run() {
    local log=$out/${1// /-}.log
    shift
    # shellcheck disable=SC2086
    $launch -np "$ranks" "$build/dkmap" "$@" --quiet --record "$record" >"$log" 2>&1 </dev/null ||
        { echo && cat "$log" >&2 && fail "that was: dkmap $*"; }
    last=$log
}

# errors PREFIX: error of the last score, as a line ends
errors() {
    printf ' %10.1f %8.3f\n' "$(reported "$1rmse")" "$(reported "$1r2")"
}

# baseline PREFIX TITLE: a prediction that nothing was learned for
baseline() {
    printf '  %-36s%8s %11s' "$2" '' ''
    errors "$1"
}

# row NAME TITLE OPTIONS OF FIT...: fit, predict, score; the line appears as it comes to be known
row() {
    local name=$1
    printf '  %-36s' "$2"
    shift 2
    run "fit $name" fit "$@" --x "$train_top" --y "$train_bottom" -o "$out/$name.h5"
    printf '%8.1f' "$(reported seconds)"
    run "predict $name" predict "$out/$name.h5" --x "$test_top" -o "$out/$name.npy"
    printf ' %11.1f' "$(reported seconds)"
    run "score $name" score --truth "$test_bottom" --pred "$out/$name.npy" --loss mse
    errors ''
}

table() {
    printf '\n  %-36s%8s %11s %10s %8s\n' method 'fit, s' 'predict, s' error r2
    run "score baselines" score --truth "$test_bottom" --pred "$test_bottom" --loss mse \
        --baseline copy,mean --x "$test_top"
    baseline copy_ 'the upper half once more'
    baseline baseline_ 'the mean lower half'
    row 1-nn 'nearest neighbour' knn --kx linear --k 1
    row 10-nn '10 nearest neighbours, averaged' knn --kx linear --k 10
    row dkmap 'dkmap: kernel dependency estimation' kde --kx 'rbf(sigma=1200)' --ky linear \
        --components 64 --gamma 0.3
    printf '\n  error: root mean square over all pixels, which go from 0 to 255\n'
    printf '  r2: share of the variance that is explained\n'
}

picture() {
    run montage montage --shape 28x28 --count 14 --rows "$test_top" --rows "$test" \
        --rows "$test_top + $out/dkmap.npy" --rows "$test_top + $out/10-nn.npy" \
        --rows "$test_top + $out/1-nn.npy" --labels input,truth,dkmap,10-nn,1-nn \
        --range 0:255 --invert -o "$out/halves.png"
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
    line "$here/halves.png" "the picture: input, truth, dkmap, neighbours"
    line "$here/dkmap.h5" "the model: HDF5, loads on any number of ranks"
    line "$here/dkmap.npy" "its predictions for the test images"
    line "$here/runs.jsonl" "the record: a JSON line a run, with seconds a phase"
    printf '\nWhat to try next\n'
    line "$dkmap info $here/dkmap.h5" "what is in the model"
    line "$dkmap info $here/runs.jsonl" "the runs so far"
    line "$dkmap help fit kde" "all options"
    line "$(short "$root/jobs")/quickstart.sh --images 20000" "more to learn from, smaller errors"
    line "$(short "$root/docs")/index.md" "the documentation"
}

read_options "$@"
# shellcheck disable=SC2086
install_packages $packages dataset-fashion-mnist
train=$data/train-images-idx3-ubyte.gz
test=$data/t10k-images-idx3-ubyte.gz
for file in "$train" "$test"; do
    [ -r "$file" ] || fail "no $file: it is part of Debian's package dataset-fashion-mnist"
done
train_top="${train}[0:$images, 0:392]" train_bottom="${train}[0:$images, 392:784]"
test_top="${test}[:, 0:392]" test_bottom="${test}[:, 392:784]"
build_dkmap dkmap_command
mkdir -p "$out" || fail "cannot make the folder $out: name another with --out"
record=$out/runs.jsonl
cat <<TEXT
What is below the upper half of a garment, a picture of 28 x 28 pixels?
Learning from $images pictures of Fashion-MNIST on $ranks MPI ranks, trying on 10000 others
TEXT
table
picture
where_and_next
