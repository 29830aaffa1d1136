#!/usr/bin/env bash
# Graphs with some vertices labelled: the kernel is that of the whole graph, the fit that of the labelled vertices
# alone, and predictions are of all.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

awk 'BEGIN {
    print "%%MatrixMarket matrix coordinate pattern symmetric"
    print 48, 48, 47 + 16
    for (i = 2; i <= 48; i++) print i, i - 1
    for (i = 1; i <= 16; i++) print i + 32, i
}' >g.mtx
awk 'BEGIN { for (i = 0; i < 48; i++) print sin(i / 7) }' >all.csv
awk 'NR % 3 == 2 { print "?"; next } { print }' all.csv >some.csv
awk 'NR % 3 == 1 { print "?"; next } { print }' all.csv >first.csv
awk 'NR % 3 == 2 { print "nan"; next } { print int((NR - 1) / 16) }' all.csv >labels.csv
awk 'NR % 3 == 2 { print "?"; next } { print "part" int((NR - 1) / 16) }' all.csv >names.txt

# The same by a kernel matrix of the labelled vertices, and rows of all.
good 0 gram --x g.mtx --kx 'diffusion(tau=2)' -o heat.csv
awk -F, 'NR % 3 != 2 { line = ""; for (j = 1; j <= NF; j++) if (j % 3 != 2) line = line (line == "" ? "" : ",") $j; print line }' heat.csv >known.csv
awk -F, '{ line = ""; for (j = 1; j <= NF; j++) if (j % 3 != 2) line = line (line == "" ? "" : ",") $j; print line }' heat.csv >to_known.csv
awk 'NR % 3 != 2' all.csv >known_y.csv

near() {
    paste -d, "$1" "$2" | awk -F, '{ d = $1 - $2; if (d * d > 1e-20) bad = 1; rows++ } END { exit bad || rows != 48 }' ||
        fail "$3: $(paste -d' ' "$1" "$2" | head -3)"
}
for options in "" "--center"; do
    # shellcheck disable=SC2086
    {
        good 0 fit krr --x known.csv --x-type gram --y known_y.csv --kx gram --gamma 0.1 --loo $options -o known.h5
        loo=$(value loo)
        good 0 predict known.h5 --x to_known.csv --x-type gram -o expected.csv
        for ranks in 0 3; do
            good $ranks fit krr --x g.mtx --y some.csv --kx 'diffusion(tau=2)' --gamma 0.1 --loo $options -o g.h5
            [ "$(value labelled) $(value loo)" = "32 $loo" ] || fail "labelled vertices: $(cat out), not $loo"
            good $ranks predict g.h5 --x g.mtx -o found.csv
            near found.csv expected.csv "vertices on $ranks ranks $options"
        done
    }
done

# A first vertex without an output is no name of a column.
good 0 fit krr --x g.mtx --y first.csv --kx 'diffusion(tau=2)' --gamma 0.1 -o g.h5
[ "$(value labelled)" = 32 ] || fail "a first vertex that is missing: $(cat out err)"

# Classes by numbers and by names, and several ridges.
good 3 fit krr --x g.mtx --y labels.csv --y-type labels --kx 'diffusion(tau=2)' --gamma 0.1,1 --class-weights balanced -o g.h5
says out "classes, 3: 0, 1, 2" "labels of vertices"
good 3 predict g.h5 --x g.mtx -o found.csv
awk 'int((NR - 1) / 16) != $1 { bad = 1 } END { exit bad || NR != 48 }' found.csv || fail "classes of vertices: $(tr '\n' ' ' <found.csv)"
good 0 fit krr --x g.mtx --y names.txt --kx 'diffusion(tau=2)' --gamma 0.1 -o g.h5
says out "classes, 3: part0, part1, part2" "names of vertices"
good 3 predict g.h5 --x g.mtx -o found.txt
awk '"part" int((NR - 1) / 16) != $1 { bad = 1 } END { exit bad || NR != 48 }' found.txt || fail "names of vertices: $(tr '\n' ' ' <found.txt)"

# wrong TEXT ARGUMENTS...
wrong() {
    local text=$1
    shift
    rm -f made.h5
    on 3 "$@"
    [ "$status" != 0 ] || fail "dkmap $*: must fail"
    says err "$text" "dkmap $*"
    [ -e made.h5 ] && fail "dkmap $*: left a model"
}
awk '{ print "?" }' all.csv >none.csv
wrong "every output is missing" fit krr --x g.mtx --y none.csv --kx 'diffusion(tau=2)' --gamma 1 -o made.h5
wrong "16 vertices have no output, which fit krr alone takes" fit svm --x g.mtx --y labels.csv --y-type labels --kx 'diffusion(tau=2)' --C 1 -o made.h5
wrong "its --gamma LIST" cv krr --x g.mtx --y some.csv --kx 'diffusion(tau=2)' --gamma 1
wrong "some.csv" fit krr --x heat.csv --x-type gram --y some.csv --kx gram --gamma 1 -o made.h5
sed '3s/.*/3 1/' g.mtx >other.mtx
wrong "give all of the graph for its own vertices" predict g.h5 --x other.mtx -o made.txt
finish
