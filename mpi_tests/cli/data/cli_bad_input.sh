#!/usr/bin/env bash
# Every bad input ends all ranks with exit 1, a wrong usage with exit 2, and one line that names the file and the place, soon,
# and leaves no output behind.

# Mounts of our own, so that a tiny disk can be filled; without leave for them that part is left out.
if [ -z "${DKMAP_OWN_MOUNTS:-}" ]; then
    export DKMAP_OWN_MOUNTS=no
    [ "$(id -u)" = 0 ] && unshare="unshare -m" || unshare="unshare -rm"
    $unshare true 2>/dev/null && DKMAP_OWN_MOUNTS=yes exec $unshare bash "$0"
fi
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# bad_x TEXTS FILE: a bad file of inputs; bad_y: of outputs; wrong_x, wrong_y: a wrong name of one.
bad_x() {
    bad "$1" fit krr --x "$2" --y y.csv --kx linear --gamma 1 -o made/m.h5
}
bad_y() {
    bad "$1" fit krr --x x.csv --y "$2" --kx linear --gamma 1 -o made/m.h5
}

wrong_x() {
    wrong "$1" fit krr --x "$2" --y y.csv --kx linear --gamma 1 -o made/m.h5
}
wrong_y() {
    wrong "$1" fit krr --x x.csv --y "$2" --kx linear --gamma 1 -o made/m.h5
}

normal 20 3 1 >x.csv
normal 20 2 2 >y.csv
good 2 fit krr --x x.csv --y y.csv --kx linear --gamma 1 -o m.h5
good 2 predict m.h5 --x x.csv -o p.npy
good 2 predict m.h5 --x x.csv -o p.h5

# Files that cannot be read.
bad_x "nowhere.csv" nowhere.csv
bad_y "nowhere.npy" nowhere.npy
mkdir folder.csv folder.npy
bad_x "folder.csv" folder.csv
bad_x "folder.npy" folder.npy
for kind in npy csv txt h5 svm idx fasta sets mtx; do
    : >"empty.$kind"
    bad_x "empty.$kind" "empty.$kind"
done
echo hello >what.docx
wrong_x "what.docx" what.docx

# Files that are torn.
head -c 200 p.npy >torn.npy
bad_x "torn.npy" torn.npy
head -c 60 p.npy >head.npy
bad_x "head.npy" head.npy
head -c $(($(wc -c <p.h5) / 2)) p.h5 >torn.h5
bad_x "torn.h5" torn.h5
echo "not an array at all, not an array at all" >not.npy
bad_x "not.npy" not.npy

# Tables with something wrong in them.
awk 'NR == 7 { print "1,2"; next } { print }' x.csv >ragged.csv
bad_x "ragged.csv:7" ragged.csv
awk -F, -v OFS=, 'NR == 5 { $2 = "word" } { print }' x.csv >word.csv
bad_x "word.csv:5|column 2" word.csv
awk -F, -v OFS=, 'NR == 11 { $3 = "nan" } { print }' x.csv >nan.csv
bad_x "nan.csv|11|3" nan.csv
awk -F, -v OFS=, 'NR == 4 { $1 = "-inf" } { print }' x.csv >inf.csv
bad_x "inf.csv|4|1" inf.csv
awk -F, -v OFS=, 'NR == 9 { $1 = "" } { print }' x.csv >hole.csv
bad_x "hole.csv:9" hole.csv

# Sizes and slices that do not fit.
normal 19 2 3 >short.csv
wrong_y "x.csv|short.csv|20|19" short.csv
wrong_x "x.csv|30" 'x.csv[0:30]'
wrong_x "x.csv" 'x.csv[5:2:1:7]'
wrong_x "x.csv|9" 'x.csv[:, 0:9]'
wrong_x "cannot read the slice" 'x.csv[:,:,:]'
wrong_x "cannot read the slice" 'x.csv[:, 0, :]'
normal 5 7 4 >narrow.csv
wrong "narrow.csv: |3|7" predict m.h5 --x narrow.csv -o made/p.npy
wrong "p.npy|short.csv|20|19" score --truth p.npy --pred short.csv --loss mse

# Settings that cannot be.
wrong "rfb|^" fit krr --x x.csv --y y.csv --kx 'rfb(sigma=1)' --gamma 1 -o made/m.h5
wrong "sgima|^" fit krr --x x.csv --y y.csv --kx 'rbf(sgima=1)' --gamma 1 -o made/m.h5
wrong "^" fit krr --x x.csv --y y.csv --kx 'rbf(sigma=1' --gamma 1 -o made/m.h5
wrong "--landmarks goes with --solver pcg or --solver auto" fit krr --x x.csv --y y.csv --kx linear --gamma 1 --solver cholesky --landmarks 9 -o made/m.h5
wrong "--C goes with --regressor svr" fit kde --x x.csv --y y.csv --kx linear --ky linear --components 1 --gamma 1 --C 1 -o made/m.h5
wrong "--precision goes with --regressor ridge" fit kde --x x.csv --y y.csv --kx linear --ky linear --components 1 \
    --regressor svr --C 1 --precision double -o made/m.h5
wrong "--grid 5x5|25" fit krr --x x.csv --y y.csv --kx linear --gamma 1 --grid 5x5 -o made/m.h5
wrong "edit|dense" score --truth y.csv --pred y.csv --loss edit

# Models that are not.
bad "nowhere.h5" predict nowhere.h5 --x x.csv -o made/p.npy
bad "p.h5" predict p.h5 --x x.csv -o made/p.npy
bad "x.csv" predict x.csv --x x.csv -o made/p.npy
head -c $(($(wc -c <m.h5) / 2)) m.h5 >torn_model.h5
bad "torn_model.h5" predict torn_model.h5 --x x.csv -o made/p.npy
bad "nowhere" info nowhere.npy

# Places that cannot be written.
wrong "m.npy|.h5" fit krr --x x.csv --y y.csv --kx linear --gamma 1 -o made/m.npy
bad "no/such" fit krr --x x.csv --y y.csv --kx linear --gamma 1 -o no/such/m.h5
bad "no/such" predict m.h5 --x x.csv -o no/such/p.npy
bad "no/such" gram --x x.csv --kx linear -o no/such/g.npy
bad "no/such" fit krr --x x.csv --y y.csv --kx linear --gamma 1 -o made/m.h5 --record no/such/r
bad "folder.npy" predict m.h5 --x x.csv -o folder.npy
wrong ".docx" predict m.h5 --x x.csv -o made/p.docx

# Weights that are words.
sed 's/.*/heavy/' y.csv >words.csv
wrong "words.csv|weights are numbers" score --truth y.csv --pred y.csv --weights words.csv
wrong "words.csv|numbers" fit krr --x x.csv --y y.csv --kx linear --gamma 1 --weights words.csv -o made/m.h5

# Files that are read, or written by another option.
cp x.csv read.csv && cp m.h5 read.h5
wrong "-o ./read.csv|--x" predict m.h5 --x read.csv -o ./read.csv
wrong "-o read.csv|--x" gram --x 'read.csv[0:5]' --kx linear -o read.csv
wrong "-o read.h5|is read" predict read.h5 --x x.csv -o read.h5
wrong "--c read.h5|is read" export read.h5 --c read.h5
wrong "--onnx|made/m.c" export m.h5 --c made/m.c --onnx made/m.c
wrong "--record read.csv|--x" fit krr --x read.csv --y y.csv --kx linear --gamma 1 -o made/m.h5 --record read.csv
wrong "--folds-out read.csv|--y" cv krr --x x.csv --y read.csv --kx linear --gamma 1 --folds 2 --folds-out read.csv
cmp -s x.csv read.csv || fail "an input was written"
cmp -s m.h5 read.h5 || fail "a model was written"

# A full disk: a tiny file system of memory.
mkdir disk
if [ "$DKMAP_OWN_MOUNTS" = yes ] && mount -t tmpfs -o size=64k tmpfs disk; then
    trap 'umount "$scratch/disk"; rm -rf "$scratch"' EXIT
    normal 3000 6 5 >big.csv
    normal 3000 3 6 >big_y.csv
    good 2 fit krr --x 'big.csv[0:50]' --y 'big_y.csv[0:50]' --kx linear --gamma 1 -o big.h5
    bad "disk/p.npy" predict big.h5 --x big.csv -o disk/p.npy
    bad "disk/p.csv" predict big.h5 --x big.csv -o disk/p.csv
    bad "disk/p.h5" predict big.h5 --x big.csv -o disk/p.h5
    bad "disk/m.h5" fit krr --x big.csv --y big_y.csv --kx linear --gamma 1 --primal no \
        -o disk/m.h5
    bad "disk/g.npy" gram --x 'big.csv[0:300]' --kx linear -o disk/g.npy
    [ -z "$(ls -A disk)" ] || fail "the full disk keeps $(ls -A disk)"
else
    echo "no leave to mount: the full disk is not tried"
fi
on 0 info x.csv
"$DKMAP" info x.csv >/dev/full 2>err
[ $? = 1 ] || fail "standard output on a full disk is not a failure"
says err "standard output" "standard output on a full disk"
finish
