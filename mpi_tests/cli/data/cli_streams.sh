#!/usr/bin/env bash
# `-` and pipes as files: what comes through standard input is read like a file of the same bytes, on
# any number of ranks, and what goes to standard output is what a file would hold.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

normal 40 4 1 >t.csv
cut -d, -f1-3 t.csv >x.csv
cut -d, -f4 t.csv >y.csv
tr , '\t' <x.csv >x.tsv
awk -F, '{ print "0 1:" $1 " 2:" $2 " 3:" $3 }' x.csv >x.svm
printf 'one\ntwo\nthree\nfour\n' >s.txt
fit=(--kx 'rbf(sigma=1)' --gamma 1e-3)
good 0 fit krr --x x.csv --y y.csv "${fit[@]}" -o m.h5
good 0 gram --x x.csv --kx linear -o x.npy

for ranks in 0 3; do
    good $ranks predict m.h5 --x x.csv -o p.csv
    good $ranks predict m.h5 --x x.csv -o p.npy
    good $ranks score --truth y.csv --pred p.csv --loss mse
    mse=$(value mse)
    # Lines of results make way for the file.
    on "$ranks" predict m.h5 --x - -o - <x.csv
    expect 0 "a table through both streams on $ranks ranks"
    cmp -s out p.csv || fail "predictions on $ranks ranks: $(head -2 out)"
    on "$ranks" predict m.h5 --x - -o -.npy <x.tsv
    cmp -s out p.npy || fail "npy on $ranks ranks"
    on "$ranks" score --truth y.csv --pred - --loss mse <p.npy
    [ "$(value mse)" = "$mse" ] || fail "npy through a pipe on $ranks ranks: $(cat out err)"
    # Two slices of one table.
    on "$ranks" fit krr --x '-[:, 0:3]' --y '-[:, 3]' "${fit[@]}" -o m2.h5 <t.csv
    expect 0 "slices of standard input on $ranks ranks"
    good $ranks predict m2.h5 --x x.csv -o p2.csv
    good 0 score --truth p.csv --pred p2.csv --loss mse
    below "$(value rmse)" 1e-10 "predictions of a fit from standard input on $ranks ranks"
    [ "$(wc -l <p2.csv)" = 40 ] || fail "a fit from standard input on $ranks ranks"
    on "$ranks" gram --x - --x-type strings --kx 'spectrum(p=2)' -o - <s.txt
    [ "$(wc -l <out)" = 4 ] || fail "strings through a pipe on $ranks ranks: $(cat out err)"
    on "$ranks" gram --x - --kx linear -o g.npy <x.svm
    good 0 score --truth x.npy --pred g.npy --loss mse
    below "$(value rmse)" 1e-12 "sparse rows through a pipe on $ranks ranks"
done
good 0 predict m.h5 --x x.csv -o p.csv
good 0 info <(cat x.csv)
says out "dense, 40 x 3" "a pipe by its name: $(cat out)"
"$DKMAP" predict m.h5 --x - -o - <x.csv 2>lines | cmp -s - p.csv || fail "a pipeline"
says lines "rows" "results beside a file on standard output"

# What is larger than a piece of a pipe, on ranks that all have some of it.
awk 'BEGIN { srand(3); for (i = 0; i < 60000; i++) print rand() "," rand() "," rand() }' >big.csv
good 3 predict m.h5 --x big.csv -o big.npy
# shellcheck disable=SC2086
if timeout -k 10 "$limit" $DKMAP_MPIRUN -np 1 cat <big.csv 2>/dev/null | cmp -s - big.csv; then
    on 3 predict m.h5 --x - -o -.npy <big.csv
    cmp -s out big.npy || fail "a table of $(wc -c <big.csv) bytes"
else # MPICH 4.0 ends at more than 64 KiB
    echo "the launcher does not pass on $(wc -c <big.csv) bytes: a large table through a pipe is left out"
fi

# Refusals. Nothing is left in the folder of temporary files.
mkdir tmp
export TMPDIR=$PWD/tmp
wrong "--x and --y both want standard input" fit krr --x - --y - "${fit[@]}" -o made/m.h5 </dev/null
wrong "standard output is for -o alone" fit krr --x x.csv --y y.csv "${fit[@]}" -o made/m.h5 --record -
wrong "not read from standard input" predict - --x x.csv -o made/p.csv
wrong "HDF5 does not go to standard output" predict m.h5 --x x.csv -o -.h5
wrong "ends in .h5" fit krr --x x.csv --y y.csv "${fit[@]}" -o -
on 3 predict m.h5 --x - -o - </dev/null
expect 1 "nothing through standard input"
says err "is empty" "nothing through standard input"
on 3 score --truth - --pred p.csv --loss mse <m.h5
expect 2 "HDF5 through standard input"
on 3 predict m.h5 --x - -o - < <(sed '7s/^[^,]*/word/' x.csv)
expect 1 "a bad table"
says err "-:7: column 1" "a bad table through standard input"
[ -s out ] && fail "a failed run printed $(head -2 out)"
"$DKMAP" predict m.h5 --x - -o - <x.csv >/dev/full 2>err && fail "standard output on a full disk"
says err "standard output" "standard output on a full disk"
[ -z "$(ls -A tmp)" ] || fail "left behind: $(ls -A tmp)"
finish
