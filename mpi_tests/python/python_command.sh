#!/usr/bin/env bash
# Python and the command give the same losses, predictions, coordinates and embeddings, and read each other's
# models, on 1 and 2 ranks; also where OpenBLAS takes the processor for an old one.
# shellcheck source=mpi_tests/cli/common.sh
. "${BASH_SOURCE%/*}/../cli/common.sh"
"$DKMAP_PYTHON" "$DKMAP_SOURCE/mpi_tests/python/harness.py" --check || exit

good 1 gen regression --n 80 --dim 5 --seed 3 --out-dir data
cat >compare.py <<'PYTHON'
import json
import sys
import numpy as np
from mpi4py import MPI
from old_core import fall_back, core
old = sys.argv[1] == "old-core" and fall_back()
import dkmap
assert not old or core() != old, f"{old} kernels of OpenBLAS are still in use"
dkmap.set_config(comm=MPI.COMM_WORLD, replicated=True)
X, y = np.load("data/x.npy"), np.load("data/y.npy").ravel()
labels = (y > np.median(y)).astype(int)


# Other kernels of the BLAS, and other numbers of ranks, round otherwise: by the condition of K + 0.01 I,
# some 1e4, times 1e-16. Old cores compare one rank with the command on two.
def same(name, ours, theirs, tolerance=1e-11 if sys.argv[1] == "old-core" else 1e-12):
    difference = np.abs(np.asarray(ours) - np.asarray(theirs)).max()
    assert difference <= tolerance, f"{name}: differs by {difference}"


if sys.argv[1] == "write":
    np.save("labels.npy", labels)
    dkmap.KernelRidge(kernel="rbf(sigma=2)", alpha=1e-2, center=True).fit(X, y).save("from_python.h5")
    sys.exit()
record = json.loads(open("cv.json").read().splitlines()[-1])
found = dkmap.cross_validate(dkmap.KernelRidge(), X, y, {"kernel": ["rbf(sigma=1)", "rbf(sigma=2)"],
                                                        "alpha": [1e-3, 1e-1]})
same("cv", found["loss"], record["loss"]["mean"], 1e-11)
same("stderr", found["stderr"], record["loss"]["stderr"], 1e-11)
model = dkmap.load("from_command.h5")
same("loaded", model.predict(X), np.load("from_command.npy").ravel())
again = dkmap.KernelRidge(kernel="rbf(sigma=2)", alpha=1e-2, center=True).fit(X, y)
same("fitted", again.predict(X), np.load("from_command.npy").ravel())
same("saved", again.predict(X), np.load("from_python.npy").ravel())
same("svm", dkmap.SVC(C=10, kernel="rbf(sigma=2)").fit(X, labels).predict(X), np.load("svm.npy").ravel(), 0)
same("kpca", dkmap.KernelPCA(3, kernel="rbf(sigma=2)").fit(X).transform(X), np.load("kpca.npy"))
same("lle", dkmap.LocallyLinearEmbedding(n_neighbors=9).fit(X).embedding_, np.load("lle.npy"), 1e-9)
same("gram", dkmap.gram(X, kernel="laplace(sigma=2)"), np.load("gram.npy"))
PYTHON

cat >old_core.py <<'PYTHON'
import ctypes
import os
blas = ctypes.CDLL(None)  # and what NumPy has loaded, where it has loaded OpenBLAS


def core():
    blas.openblas_get_corename.restype = ctypes.c_char_p
    return blas.openblas_get_corename().decode()


def fall_back():
    """Let OpenBLAS do what it does on a processor that it does not know. Returns the core it took, or None."""
    ctypes.CDLL(os.environ["DKMAP_LIBRARY"], mode=ctypes.RTLD_GLOBAL)
    if not hasattr(blas, "gotoblas_dynamic_init") or "OPENBLAS_CORETYPE" in os.environ or \
            "avx2" not in open("/proc/cpuinfo").read() or os.environ.get("DKMAP_SIMD") == "baseline":
        return None
    os.environ["OPENBLAS_CORETYPE"] = "Prescott"
    blas.gotoblas_dynamic_quit()
    blas.gotoblas_dynamic_init()
    del os.environ["OPENBLAS_CORETYPE"]
    return core()
PYTHON

# python RANKS WORD: the script; its failure is reported
python() {
    # shellcheck disable=SC2086
    timeout -k 10 "$limit" $DKMAP_MPIRUN -np "$1" "$DKMAP_PYTHON" compare.py "$2" >out 2>err ||
        fail "$2 on $1 ranks: $(grep -E 'Error' err | head -n 2)"
}

xy=(--x data/x.npy --y data/y.npy)
for ranks in 1 2; do
    python "$ranks" write
    good "$ranks" fit krr "${xy[@]}" --kx 'rbf(sigma=2)' --gamma 1e-2 --center -o from_command.h5
    good "$ranks" predict from_command.h5 --x data/x.npy -o from_command.npy
    good "$ranks" predict from_python.h5 --x data/x.npy -o from_python.npy
    # shellcheck disable=SC2016
    good "$ranks" cv krr "${xy[@]}" --kx 'rbf(sigma=$s)' --try s=1,2 --gamma 1e-3,1e-1 --record cv.json
    good "$ranks" fit svm --x data/x.npy --y labels.npy --kx 'rbf(sigma=2)' --C 10 -o svm.h5
    good "$ranks" predict svm.h5 --x data/x.npy -o svm.npy
    good "$ranks" fit kpca --x data/x.npy --kx 'rbf(sigma=2)' --components 3 -o kpca.h5
    good "$ranks" encode kpca.h5 --x data/x.npy -o kpca.npy
    good "$ranks" embed lle --x data/x.npy --neighbours 9 --components 2 --embedding lle.npy -o lle.h5
    good "$ranks" gram --x data/x.npy --kx 'laplace(sigma=2)' -o gram.npy
    python "$ranks" compare
done
python 1 old-core
finish
