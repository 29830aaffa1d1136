"""What test modules share: data that are the same on every rank, and each rank's own rows of them."""
import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD


def regression(m=60, d=3, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(m, d))
    return X, np.sin(X).sum(axis=1)


def mine(m):
    """Rows of this rank: unequal shares, so that rows have to move; the last rank may have none."""
    bounds = [m * r * r // (comm.size * comm.size) for r in range(comm.size + 1)]
    return np.arange(bounds[comm.rank], bounds[comm.rank + 1])


def joined(part):
    """The parts of all ranks, one after the other."""
    return np.concatenate(comm.allgather(part))


def rbf(A, B, sigma):
    return np.exp(-((A[:, None] - B[None]) ** 2).sum(axis=-1) / (2 * sigma**2))


def close(a, b, tolerance):
    difference = np.abs(np.asarray(a) - np.asarray(b)).max()
    assert difference <= tolerance, f"differs by {difference}, more than {tolerance}"
