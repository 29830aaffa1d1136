"""Leading eigenpairs of a dense symmetric matrix by SLEPc's Krylov-Schur method. Run on ranks by all.py:
slepc_leading.py K.npy COMPONENTS TOLERANCE. Rank 0 prints seconds, pairs found, largest residual over the largest
eigenvalue, and the sum of the eigenvalues."""
import glob
import sys
import time

for place in ("petscdir", "slepcdir"):  # where Debian has them
    sys.path += sorted(glob.glob(f"/usr/lib/{place}/*/x86_64-linux-gnu-real/lib/python3/dist-packages"))
import numpy as np
from petsc4py import PETSc
from slepc4py import SLEPc


def main():
    rows, wanted, tolerance = np.load(sys.argv[1], mmap_mode="r"), int(sys.argv[2]), float(sys.argv[3])
    K = PETSc.Mat().createDense((len(rows), len(rows)), comm=PETSc.COMM_WORLD)
    K.setUp()
    first, end = K.getOwnershipRange()
    K.setValues(range(first, end), range(len(rows)), np.ascontiguousarray(rows[first:end]))
    K.assemble()
    solver = SLEPc.EPS().create()
    solver.setOperators(K)
    solver.setProblemType(SLEPc.EPS.ProblemType.HEP)
    solver.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
    solver.setDimensions(wanted)
    solver.setTolerances(tolerance, 1000)
    solver.setConvergenceTest(SLEPc.EPS.Conv.NORM)
    PETSc.COMM_WORLD.barrier()
    begun = time.perf_counter()
    solver.solve()
    seconds = time.perf_counter() - begun
    found = min(wanted, solver.getConverged())
    values = [solver.getEigenvalue(k).real for k in range(found)]
    worst = max(solver.computeError(k, SLEPc.EPS.ErrorType.ABSOLUTE) for k in range(found))
    if PETSc.COMM_WORLD.rank == 0:
        print(seconds, found, worst / values[0], sum(values))


main()
