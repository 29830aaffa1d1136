#!/usr/bin/env bash
# Pictures from the command line: the same on any number of ranks, and what cannot be drawn.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 7 12 1 >x.csv
normal 7 5 2 >low.csv
for ranks in 1 2 6; do
    good "$ranks" montage --shape 4x3 --count 5 --scale 3 --rows 'x.csv[::2]' --rows x.csv \
        --rows 'x.csv[:, 0:7] + low.csv' --labels input,truth,guess --range -2:2 -o "p$ranks.png"
    cmp -s p1.png "p$ranks.png" || fail "$ranks ranks draw another picture"
done
[ "$(head -c 4 p1.png | tail -c 3)" = PNG ] || fail "p1.png is no PNG file"
good 0 montage --shape 4x3 --rows x.csv --invert -o q.png
cmp -s p1.png q.png && fail "another picture is the same"

# fails STATUS TEXT ARGUMENTS...: a run that fails, says why and leaves no file.
fails() {
    on 2 montage "${@:3}" -o none.png
    expect "$1" "montage ${*:3}"
    says err "$2" "montage ${*:3}"
    [ -e none.png ] && fail "montage ${*:3} left a file"
}

fails 2 "x.csv: 12 columns do not fit" --shape 3x3 --rows x.csv
fails 2 "low.csv: 17 columns do not fit" --shape 4x3 --rows 'x.csv + low.csv'
fails 2 "give one label a row" --shape 4x3 --rows x.csv --labels a,b
fails 2 "such as -1:1" --shape 4x3 --rows x.csv --range 3:1
fails 1 "missing.npy" --shape 4x3 --rows missing.npy
on 1 montage --shape 4x3 --rows x.csv -o pic.npy
expect 2 "a picture called npy"
says err "ends in .png" "a picture called npy"
finish
