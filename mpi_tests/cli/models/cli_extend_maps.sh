#!/usr/bin/env bash
# Features made of objects, extended kernels in expressions, joint kernels and missing rows.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"
# shellcheck source=mpi_tests/cli/models/extend.sh
. "${BASH_SOURCE%/*}/extend.sh"
good 2 extend fit --gram k.npy --features 'k.npy[:, 0:8]' -o n.h5
good 0 extend fit --gram k.npy --features phi.csv -o q.h5
good 0 extend fit --gram k.npy --features square.csv -o s.h5
good 0 extend apply q.h5 --features phi_new.csv -o one.npy

# Landmarks make their features themselves; the kernel is one for other commands too.
good 3 extend fit --x x.csv --kx 'rbf(sigma=1)' --landmarks 8 --landmark-choice first -o l.h5
good 2 extend apply l.h5 --x x.csv -o l.npy
good 2 extend apply n.h5 --features 'k.npy[:, 0:8]' -o n.npy
same n.npy l.npy "landmarks and columns of the matrix"
good 2 gram --x x.csv --kx 'extend(l.h5)' -o e.npy
same l.npy e.npy "extend(l.h5) as a kernel"
good 2 fit krr --x x.csv --y x.csv --kx 'sum(extend(l.h5), linear)' --gamma 0.1 -o m.h5
good 3 predict m.h5 --x x.csv -o m.csv
for choice in farthest cholesky; do
    good 2 extend fit --x k.npy --x-type gram --kx gram --landmarks 8 --landmark-choice $choice \
        -o g.h5
    good 0 extend fit --x x.csv --kx 'rbf(sigma=1)' --landmarks 8 --landmark-choice $choice -o h.h5
    good 2 extend apply g.h5 --x k.npy --x-type gram -o g.npy
    good 0 extend apply h.h5 --x x.csv -o h.npy
    same h.npy g.npy "landmarks of objects and of a matrix, $choice"
done

# The heat of a graph on new vertices by Fisher scores; a vertex without edges is told.
awk 'BEGIN { print "%%MatrixMarket matrix coordinate pattern symmetric"; print "40 40 38"
    for (i = 2; i < 40; i++) print i, i - 1 }' >path.mtx
good 2 gram --x path.mtx --kx 'diffusion(tau=2)' -o heat.npy
says err "1 vertex of 40 has no edges" "an isolated vertex"
good 3 extend fit --gram heat.npy --x x.csv --fisher gaussian -o f.h5
good 2 extend apply f.h5 --x 'x.csv[0:5]' -o f.npy

# Joint kernels: one with all the weight is itself.
good 2 gram --x square.csv --kx 'rbf(sigma=3)' -o k2.npy
good 2 extend fit --gram k2.npy --features phi.csv -o q2.h5
good 2 extend combine q.h5 q2.h5 --lambda 1 -o j.h5
good 2 extend apply j.h5 --features phi_new.csv -o j.npy
same one.npy j.npy "all weight on the first"
good 3 extend combine q.h5 q2.h5 q.h5 --lambda 0.2,0.5 -o j.h5
good 0 extend combine q2.h5 q.h5 --lambda 0.5 -o i.h5
good 2 extend apply j.h5 --features phi_new.csv -o j.npy
good 2 extend apply i.h5 --features phi_new.csv -o i.npy
same i.npy j.npy "the order of kernels does not matter"

# Missing rows: with no weight on the other kernel observed values stay as they are.
awk 'BEGIN { for (i = 0; i < 40; i++) print i < 30 }' >mask.csv
good 3 extend complete --gram k.npy --observed mask.csv --by k2.npy --lambda 0 -o full.npy
same 'k.npy[0:30, 0:30]' 'full.npy[0:30, 0:30]' "observed values stay"
good 0 extend complete --gram k.npy --observed mask.csv --by k2.npy --lambda 0.4 -o joint.npy
good 4 extend complete --gram k.npy --observed mask.csv --by k2.npy --lambda 0.4 -o joint4.npy
same joint.npy joint4.npy "completed on 1 and 4 ranks"

# What is refused.
on 2 extend complete --gram k.npy --observed 'mask.csv[0:20]' --by k2.npy --lambda 0.4 -o none.npy
expect 2 "a mask of the wrong length"
says err "mask.csv[0:20]: a mask of 20 rows" "a mask of the wrong length"
paste -d, mask.csv mask.csv >masks.csv
on 2 extend complete --gram k.npy --observed masks.csv --by k2.npy --lambda 0.4 -o none.npy
expect 2 "two masks in a file"
says err "masks.csv: a mask of 40 rows and 2 columns" "two masks in a file"
good 2 extend complete --gram k.npy --observed 'masks.csv[:, 1:2]' --by k2.npy --lambda 0.4 -o one.npy
on 2 extend complete --gram k.npy --observed mask.csv --by k2.npy --lambda 2 -o none.npy
expect 2 "lambda above 1"
says err "lambda is from 0 to 1, not 2" "lambda above 1"
[ -e none.npy ] && fail "a failed run left a file"
refused "--lambda is from 0 to 1, not -0.5" "a weight below 0" \
    extend combine q.h5 q2.h5 --lambda -0.5
refused "stand on the same features" "kernels on other features" \
    extend combine q.h5 s.h5 --lambda 0.5
on 0 gram --x x.csv --kx 'extend(none.h5)' -o none.npy
expect 1 "a kernel whose file is missing"
on 0 gram --x x.csv --kx 'rbf(q.h5)' -o none.npy
expect 2 "a kernel that takes no file"
says err "rbf takes no file" "a kernel that takes no file"
finish
