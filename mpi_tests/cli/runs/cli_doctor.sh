#!/usr/bin/env bash
# doctor: names the libraries in use, works on several ranks, and fails with a remedy where something
# does not fit: two MPI libraries, a launcher of another MPI, too little address space.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

for ranks in 0 3; do
    good "$ranks" doctor
    for name in mpi blas scalapack hdf5; do
        [ -e "$(awk -v name=$name '$1 == name { print $NF }' out)" ] || fail "no file of $name: $(cat out)"
    done
    [ "$(value ranks)" = "$((ranks > 0 ? ranks : 1))" ] || fail "ranks: $(cat out)"
    below 0 "$(value gemm_gflops_per_rank)" "the rate of products"
    below 1000 "$(value largest_n)" "the largest matrix"
    says out "all fits together" "the verdict"
done
below 0 "$(value broadcast_MB_per_s)" "the rate of broadcasts"
below 0 "$(value allreduce_MB_per_s)" "the rate of sums"

# A second MPI in the process.
other=libmpich.so.12
ldd "$DKMAP" | grep -q libmpich && other=libmpi.so.40
echo 'int made_up;' | cc -shared -fPIC -x c - -o $other -Wl,-soname,$other
LD_PRELOAD=$PWD/$other on 0 doctor
expect 1 "two MPI libraries"
says err "two MPI libraries are loaded" "two MPI libraries"
says err "$other" "two MPI libraries"
says err "Load the modules of one MPI alone" "the remedy"

# Processes that a launcher of another kind started are alone.
if [ $other = libmpich.so.12 ]; then
    PMI_SIZE=4 on 0 doctor
    expect 1 "a launcher of another MPI"
    says err "4 processes were started (PMI_SIZE), and each is alone" "a launcher of another MPI"
fi

# Too little address space.
(ulimit -v 3500000 && on 0 doctor && echo "$status" >status)
[ "$(cat status)" = 1 ] || fail "a limit of 3.5 GB: exit $(cat status): $(cat err)"
says err "ulimit -v" "a limit of 3.5 GB"
finish
