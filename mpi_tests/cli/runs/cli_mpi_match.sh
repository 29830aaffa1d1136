#!/usr/bin/env bash
# Configuring refuses a ScaLAPACK that was built on another MPI than the one found, and says which.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../common.sh"

# configure NAME OPTIONS...: the log is in NAME.log.
configure() {
    local name=$1
    shift
    cmake -S "$DKMAP_SOURCE" -B "$name" -DDKMAP_TESTS=OFF "$@" >"$name.log" 2>&1
    status=$?
}

# A library that calls itself ScaLAPACK and needs an MPI of another kind.
mpi=libmpich.so.12
! "${DKMAP_MPIRUN%% *}" --version 2>&1 | grep -qi 'hydra\|mpich' || mpi=libmpi.so.40
echo 'int made_up;' | cc -shared -fPIC -x c - -o "$mpi" -Wl,-soname,"$mpi"
echo 'int Cblacs_pinfo(void) { return 0; }' |
    cc -shared -fPIC -x c - -x none -o libscalapack.so -Wl,--no-as-needed "./$mpi"
configure mixed -DSCALAPACK_LIBRARY="$PWD/libscalapack.so"
[ "$status" != 0 ] || fail "a ScaLAPACK of another MPI is accepted"
tr -s ' \n' ' ' <mixed.log >mixed.line
says mixed.line "is not for the MPI of" "the message"
says mixed.line "$mpi" "the message"
says mixed.line "apt-get install libscalapack-" "the message"

echo 'int Cblacs_pinfo(void) { return 0; }' | cc -shared -fPIC -x c - -o libscalapack.so
configure good -DSCALAPACK_LIBRARY="$PWD/libscalapack.so"
expect 0 "a ScaLAPACK that needs no MPI by itself"
finish
