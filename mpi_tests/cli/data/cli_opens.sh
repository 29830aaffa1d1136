#!/usr/bin/env bash
# How often the ranks of a node open the files they read: once for the names and kinds of columns and
# once for the rows, by one rank or by as many as parse text at a time, however many ranks there are; and the objects that readers send are those of the file.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

ranks=8

# opens FILE MOST ARGUMENTS...: dkmap on the ranks opens FILE of this directory at least once, MOST
# times at the most.
opens() {
    local file=$1 most=$2 count
    shift 2
    rm -f opened
    # shellcheck disable=SC2016,SC2086
    timeout -k 10 "$limit" $DKMAP_MPIRUN -np "$ranks" env FAULT_CALL=open FAULT_N=0 \
        FAULT_UNDER="$scratch/$file" FAULT_COUNTS="$scratch/opened" \
        bash -c 'LD_PRELOAD=$0:$LD_PRELOAD "$@"' "$DKMAP_BUILD/mpi_tests/libiofault.so" "$DKMAP" "$@" >out 2>err
    status=$?
    expect 0 "dkmap $* on $ranks ranks"
    count=$(awk '$1 == "open" { sum += $3 } END { print sum + 0 }' opened)
    { [ "$count" -ge 1 ] && [ "$count" -le "$most" ]; } ||
        fail "$file is opened $count times by $ranks ranks, not at most $most"
}

good 1 gen regression --n 90 --dim 5 --seed 5 --out-dir data
normal 90 5 1 >x.csv
normal 90 1 2 >y.csv
gzip -k x.csv
fit=(fit krr --kx 'rbf(sigma=2)' --gamma 0.1 -q)

# Inputs are opened twice, as the columns of a table are looked at first. Each time rank 0 looks for
# gzip, a reader of npy opens once, one of text to look at the front (the first of them), to index it
# and to read it.
opens data/x.npy 4 "${fit[@]}" --x "$scratch/data/x.npy" --y data/y.npy -o npy.h5
opens data/y.npy 2 "${fit[@]}" --x data/x.npy --y "$scratch/data/y.npy" -o npy.h5
opens x.csv 16 "${fit[@]}" --x "$scratch/x.csv" --y y.csv -o csv.h5
opens x.csv.gz 7 "${fit[@]}" --x "$scratch/x.csv.gz" --y y.csv -o gz.h5

# On more ranks one of them reads short files for all, whatever the format.
ranks=16
opens data/x.npy 4 "${fit[@]}" --x "$scratch/data/x.npy" --y data/y.npy -o few.h5
opens x.csv 7 "${fit[@]}" --x "$scratch/x.csv" --y y.csv -o few.h5
opens few.h5 5 predict "$scratch/few.h5" --x x.csv -o p.npy -q
ranks=8

# A model is opened by one rank per node: to look for its checksum, to verify it, to say why it cannot be
# read, and twice by HDF5, which asks first whether the file is its own; info looks at its kind before.
opens npy.h5 5 predict "$scratch/npy.h5" --x data/x.npy -o p.npy -q
opens npy.h5 6 info "$scratch/npy.h5"

# The same models as those of one rank, which reads all by itself.
for form in npy csv gz few; do
    case $form in
    npy) from=(--x data/x.npy --y data/y.npy) ;;
    csv | few) from=(--x x.csv --y y.csv) ;;
    gz) from=(--x x.csv.gz --y y.csv) ;;
    esac
    good 1 "${fit[@]}" "${from[@]}" -o one.h5
    for model in one "$form"; do
        good 1 predict "$model.h5" "${from[@]:0:2}" -o "$model.csv" -q
    done
    paste -d ' ' one.csv "$form.csv" >pairs
    awk '{ d = $1 - $2; if (d * d > 1e-18) bad = 1 } END { exit bad || NR != 90 }' pairs ||
        fail "readers of $form give other predictions than one rank"
done

# Rows that are chosen one by one, and chunks that are read anew, come through readers too.
good 3 "${fit[@]}" --x data/x.npy --y data/y.npy --solver pcg --landmarks 20 --stream -o stream.h5
good 3 "${fit[@]}" --x data/x.npy --y data/y.npy --solver pcg --landmarks 20 -o held.h5
for model in stream held; do
    good 1 predict "$model.h5" --x data/x.npy -o "$model.csv" -q
done
paste -d ' ' stream.csv held.csv >pairs
awk '{ d = $1 - $2; if (d * d > 1e-10) bad = 1 } END { exit bad || NR != 90 }' pairs ||
    fail "inputs that are read anew give other predictions"

# Names of columns, and which of them are text, reach the ranks that do not read.
{
    echo 'size,color,weight'
    for k in $(seq 1 60); do
        case $((k % 3)) in 0) color=red ;; 1) color=green ;; *) color=blue ;; esac
        echo "$((k % 7)).5,$color,$((k % 11))"
    done
} >table.csv
gzip -k table.csv
good 1 "${fit[@]}" --x 'table.csv[:, size,color]' --y 'table.csv[:, weight]' -o plain.h5
good 3 "${fit[@]}" --x 'table.csv.gz[:, size,color]' --y 'table.csv.gz[:, weight]' -o packed.h5
good 3 predict plain.h5 --x 'table.csv.gz[:, size,color]' -o plain.csv -q
good 1 predict packed.h5 --x 'table.csv[:, size,color]' -o packed.csv -q
paste -d ' ' plain.csv packed.csv >pairs
awk '{ d = $1 - $2; if (d * d > 1e-18) bad = 1 } END { exit bad || NR < 60 }' pairs ||
    fail "a gzipped table on 3 ranks gives other predictions than a plain one on 1"

# So does how many columns are labels.
printf '@relation r\n@attribute u numeric\n@attribute a {0,1}\n@attribute b {0,1}\n@data\n1,1,0\n2,0,1\n3,1,1\n4,0,0\n' >sets.arff
gzip sets.arff
good 3 fit krr --x sets.arff.gz --y sets.arff.gz --labels 2 --kx 'rbf(sigma=1)' --gamma 1e-3 -o sets.h5
says out 'label sets, 2 labels' "labels of a gzipped ARFF file"

# A file that only its readers see damaged is a failure of all ranks.
head -c 700 data/x.npy >short.npy
bad 'short.npy is cut short' fit krr --x short.npy --y data/y.npy --kx linear --gamma 1 -o made/m.h5
printf '1,2\n3,x\n' >letters.csv
wrong 'letters.csv' fit krr --x letters.csv --y y.csv --kx linear --gamma 1 -o made/m.h5

finish
