#!/usr/bin/env bash
# The package as cmake --install and pip put it in place: both find the library of their own accord, and a
# fit on 1 and 2 ranks gives the predictions of the command to 1e-12 of the largest.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../cli/common.sh"
"$DKMAP_PYTHON" "$DKMAP_SOURCE/mpi_tests/python/harness.py" --check || exit
stand_in=${PYTHONPATH#"$DKMAP_SOURCE/src/python"} # for mpi4py, where there is none for this MPI
unset DKMAP_LIBRARY PYTHONPATH

good 1 gen regression --n 90 --dim 5 --seed 3 --out-dir data
for ranks in 1 2; do
    good "$ranks" fit krr --x 'data/x.npy[0:60]' --y 'data/y.npy[0:60]' --kx 'rbf(sigma=2)' --gamma 1e-3 -o m.h5
    good "$ranks" predict m.h5 --x 'data/x.npy[60:]' -o "p$ranks.npy"
done

cat >five.py <<'PYTHON'
import numpy as np
from mpi4py import MPI
from dkmap import KernelRidge
mine = np.array_split(np.arange(60), MPI.COMM_WORLD.size)[MPI.COMM_WORLD.rank]
X, y = np.load("data/x.npy"), np.load("data/y.npy")
model = KernelRidge(kernel="rbf(sigma=2)", alpha=1e-3, comm=MPI.COMM_WORLD).fit(X[mine], y[mine])
command = np.load(f"p{MPI.COMM_WORLD.size}.npy").ravel()
difference = abs(model.predict(X[60:]).ravel() - command).max() / abs(command).max()
assert difference < 1e-12, difference
import dkmap
print(f"{dkmap.__file__} {dkmap._lib._name} differs by {difference}")
PYTHON

# works HOW: the five lines on 1 and 2 ranks, with the package that PYTHONPATH names.
works() {
    for ranks in 1 2; do
        # shellcheck disable=SC2086
        timeout -k 10 "$limit" $DKMAP_MPIRUN -np "$ranks" "$DKMAP_PYTHON" five.py >out 2>err ||
            fail "$1, $ranks ranks: $(tail -n 3 err)"
        grep -q "^$2" out || fail "$1: another package was used: $(cat out)"
        head -n 1 out
    done
}

cmake --install "$DKMAP_BUILD" --prefix "$scratch/before" >log 2>&1 || fail "cmake --install: $(tail -n 3 log)"
mv before after
folder=$(dirname "$(dirname "$(find after -name _estimators.py)")")
PYTHONPATH=$scratch/$folder$stand_in works "cmake --install" "$scratch/after"

if "$DKMAP_PYTHON" -c 'import setuptools, wheel, pip' 2>/dev/null; then
    cp -r "$DKMAP_SOURCE/src/python" package # pip writes beside what it builds
    mkdir -p include/dkmap && cp "$DKMAP_SOURCE/include/dkmap/version.h" include/dkmap
    mkdir src && mv package src/python
    "$DKMAP_PYTHON" -m pip install --quiet --no-build-isolation --no-deps --no-index --target "$scratch/pip" \
        ./src/python >log 2>&1 || fail "pip install: $(tail -n 3 log)"
    export LD_LIBRARY_PATH=$DKMAP_BUILD
    PYTHONPATH=$scratch/pip$stand_in works "pip install" "$scratch/pip"
else
    echo "pip, setuptools or wheel is missing: the installation by pip is not tested"
fi
finish
