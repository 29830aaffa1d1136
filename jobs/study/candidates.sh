#!/usr/bin/env bash
# Exact search for the nearest of very many generated candidates, most of which a bound rules out: rows of a grid with
# a Gaussian kernel, label sets with their normalized kernel. For each number of ranks the seconds, the memory of the
# fullest rank and how many candidates were evaluated in full; all numbers of ranks find the same. With --check a smaller
# grid and fewer sets are first compared with a search through all of them.
#
#   jobs/study/candidates.sh [--ranks LIST] [--columns N] [--labels N] [--check N,N] [--approximate RECALL] [--components N]
#     --ranks LIST   numbers of ranks                                               [1,2]
#     --columns N    the grid has N^4 rows; 0: none                                 [100]
#     --labels N     all sets of at most 4 of N labels; 0: none                     [223]
#     --check N,N    columns and labels of the comparison with all of them, such as 46,86  [none]
#     --approximate RECALL  also by an index of faiss, which holds 4 (components + 1) + 8 bytes per candidate   [none]
#     --components N  of the outputs of kde                                         [all]
#
# A hundred inputs, the best five of each, 500 examples to learn from. Heeds: DKMAP_BUILD, DKMAP (the command), DKMAP_LAUNCH.
set -euo pipefail
# shellcheck source=jobs/common.sh
. "$(dirname "$0")/../common.sh"
ranks=1,2 columns=100 labels=223 check='' approximate='' components=all

read_options "ranks columns labels check approximate components" "$@"
dkmap=$(find_dkmap)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# dk RANKS ARGUMENTS...
dk() {
    local n=$1
    shift
    # shellcheck disable=SC2086
    $launch -np "$n" "$dkmap" "$@" --quiet >out 2>err </dev/null ||
        fail "dkmap $*: $(grep '^dkmap' err | tail -n 1)"
}

told() {
    awk -v name="$1" '$1 == name { print $2; exit }' out
}

# same FILE FILE: the same candidates, in the same order, at the same distances but for rounding
same() {
    paste -d, "$1" "$2" | awk -F, '{ for (k = 1; k < 10; k += 2) if ($k != $(k + 10) || ($(k + 1) - $(k + 11)) ^ 2 > 1e-20) exit 1 }' ||
        fail "$1 and $2 differ"
}

# grid N: four columns of N numbers; sets N: of at most four of N labels
grid() {
    echo "grid -2:2:$1 -2:2:$1 -2:2:$1 -2:2:$1"
}

sets() {
    echo "label-sets $1 0:4"
}

# learn LABELS: a model of rows of numbers, and one of sets of so many labels
learn() {
    awk -v labels="$1" 'BEGIN {
        srand(1)
        for (i = 0; i < 600; i++) {
            a = 2 * rand() - 1; b = 2 * rand() - 1; c = 2 * rand() - 1
            print a "," b "," c >"x.csv"
            print sin(2 * a) "," b * c "," cos(a + b) "," c * c - a >"y.csv"
            n = 0; line = ""; split("", in_set)
            for (k = 0; k < 1 + i % 4; k++) {
                label = int((labels - 1) * (0.5 + 0.5 * sin(3 * a + k * b + k * k * c)))
                if (!(label in in_set)) { in_set[label] = 1; line = line (n++ ? "," : "") label }
            }
            print line, "0:1" >"sets.svm"
        }
    }'
    dk 1 fit kde --x 'x.csv[0:500]' --y 'y.csv[0:500]' --kx 'rbf(sigma=1)' --ky 'rbf(sigma=2)' --components "$components" --gamma 0.01 -o grid.h5
    [ "$1" = 0 ] || dk 1 fit kde --x 'x.csv[0:500]' --y 'sets.svm[0:500]' --y-type label-sets --kx 'rbf(sigma=0.5)' --ky 'normalize(labels)' \
        --components "$components" --gamma 0.01 -o sets.h5
}

# find_best RANKS MODEL FILE OPTIONS...
find_best() {
    local n=$1 model=$2 file=$3
    shift 3
    rm -f record.jsonl
    dk "$n" predict "$model.h5" --x 'x.csv[500:600]' --candidates "$model.gen" --top 5 -o "$file" --record record.jsonl "$@"
}

# Enough candidates to be streamed on one rank, and few enough to be held, and all looked at, on two.
compare() {
    local model=$1
    find_best 2 "$model" all.csv
    [ -z "$(told pivots)" ] || fail "--check: so many are streamed on two ranks too"
    find_best 1 "$model" streamed.csv
    [ -n "$(told pivots)" ] || fail "--check: so few are held on one rank too"
    same all.csv streamed.csv
    echo "$model: the best of $(told candidates) are those of a search through all of them; $(told evaluated) were evaluated"
    [ -n "$approximate" ] || return 0
    find_best 1 "$model" near.csv --approximate "$approximate"
    echo "$model: by an index, recall $(told recall) for $(told recall_points) inputs, $(told probes) of $(told cells) cells, $(told evaluated) evaluated, $(told seconds) s"
}

# line MODEL RANKS: of the last search
line() {
    printf '| %s | %s | %s | %.1f | %.0f | %s | %s |\n' "$(cat "$1.gen")" "$(told candidates)" "$2" "$(told seconds)" \
        "$(sed -E 's/.*"peak_resident_bytes":\{[^}]*"max":([0-9.]+).*/\1/' record.jsonl | awk '{ print $1 / 1048576 }')" \
        "$(told evaluated)" "$(told pivots)"
}

# share_found FILE FILE: of the candidates in the first file those that the second one has for the same input
share_found() {
    paste -d, "$1" "$2" | awk -F, '{
        for (k = 1; k < 10; k += 2)
            for (j = 11; j < 20; j += 2)
                found += $k == $j
    } END { printf "%.3f", found / NR / 5 }'
}

# measure MODEL: a line for each number of ranks, and one by an index
measure() {
    local n first=
    for n in ${ranks//,/ }; do
        find_best "$n" "$1" "$1.$n.csv"
        line "$1" "$n"
        [ -z "$first" ] || same "$1.$first.csv" "$1.$n.csv"
        first=${first:-$n}
    done
    [ -n "$approximate" ] || return 0
    find_best "$first" "$1" near.csv --approximate "$approximate"
    line "$1" "$first, by an index"
    echo "recall $(told recall) for $(told recall_points) inputs, $(share_found "$1.$first.csv" near.csv) for all, by $(told probes) of $(told cells) cells"
}

if [ -n "$check" ]; then
    IFS=, read -r check_columns check_labels <<<"$check"
    learn "$check_labels"
    grid "$check_columns" >grid.gen
    sets "$check_labels" >sets.gen
    compare grid
    compare sets
fi
learn "$labels"
grid "$columns" >grid.gen
sets "$labels" >sets.gen
printf '\n| candidates | number | ranks | seconds | MiB of the fullest rank | evaluated | pivots |\n|---|---|---|---|---|---|---|\n'
[ "$columns" = 0 ] || measure grid
[ "$labels" = 0 ] || measure sets
