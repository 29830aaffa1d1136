"""What a fit from Python costs beside the command: seconds, and the most memory resident above what there was before
the fit, of rows in memory in C order (used in place) and in Fortran order (copied once).

usage: compare_python.py [--ranks R] [--rows M] [--cols D] [--outputs P] [--repeat N]

Runs the command and the package on the same rows in a temporary folder, in turn, each with one thread per rank; medians
of N runs. Of the command the seconds of its phases are taken, but for reading and writing; from Python those of the call
of fit(), of the slowest rank. Each rank holds its own rows. Needs the package and `dkmap` on the path. Heeds DKMAP_LAUNCH, what starts
ranks ("mpirun").
"""
import argparse
import json
import os
import shlex
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

KERNEL, RIDGE = "rbf(sigma=8)", 1e-3
FILES = ("table", "read", "write")  # phases of the command that a fit in memory does not have


def peak_bytes():
    with open("/proc/self/status") as status:
        return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def work(folder, order):
    """On each rank: a fit of its rows, and what it took."""
    from mpi4py import MPI
    from dkmap import KernelRidge
    comm = MPI.COMM_WORLD
    X, y = (np.load(os.path.join(folder, name), mmap_mode="r") for name in ("x.npy", "y.npy"))
    mine = slice(len(X) * comm.rank // comm.size, len(X) * (comm.rank + 1) // comm.size)
    X, y = np.array(X[mine], order=order), np.array(y[mine])
    KernelRidge(kernel=KERNEL, threads=1, comm=comm).fit(X[:64], y[:64])  # loads what is loaded once
    model = KernelRidge(kernel=KERNEL, alpha=RIDGE, threads=1, comm=comm)
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    memory = peak_bytes()
    comm.Barrier()
    begin = time.perf_counter()
    model.fit(X, y)
    took = np.max(comm.allgather([time.perf_counter() - begin, peak_bytes() - memory]), axis=0)
    if comm.rank == 0:
        print(json.dumps({"seconds": took[0], "bytes": took[1], "precision": model.report_.get("precision")}))


def start(ranks):
    return shlex.split(os.environ.get("DKMAP_LAUNCH", "mpirun")) + ["-np", str(ranks)]


def from_python(folder, ranks, order):
    """Seconds, and bytes of the fullest rank."""
    line = start(ranks) + [sys.executable, os.path.abspath(__file__), "--work", folder, "--order", order]
    found = json.loads(subprocess.run(line, check=True, stdout=subprocess.PIPE).stdout)
    return found["seconds"], found["bytes"]


def from_command(folder, ranks):
    """Seconds of the phases without files."""
    record = os.path.join(folder, "record.jsonl")
    subprocess.run(start(ranks) + ["dkmap", "fit", "krr", "--x", "x.npy", "--y", "y.npy", "--kx", KERNEL, "--gamma",
                                   str(RIDGE), "-o", "m.h5", "--threads", "1", "--quiet", "--record", record],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    with open(record) as lines:
        phases = json.loads(lines.readlines()[-1])["phases"]
    return sum(phase["seconds"]["max"] for name, phase in phases.items() if name not in FILES)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("ranks", 1), ("rows", 8000), ("cols", 784), ("outputs", 10), ("repeat", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--work", help=argparse.SUPPRESS)
    parser.add_argument("--order", default="C", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.work, given.order)
        return
    os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    rng = np.random.default_rng(0)
    X = rng.random((given.rows, given.cols))
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), X)
        np.save(os.path.join(folder, "y.npy"), np.sin(X @ rng.normal(size=(given.cols, given.outputs))))
        runs = [(from_command(folder, given.ranks), *from_python(folder, given.ranks, "C"),
                 *from_python(folder, given.ranks, "F")) for _ in range(given.repeat)]
    command, seconds, memory, copied, more = map(statistics.median, zip(*runs))
    print(f"rows           {X.shape[0]} x {X.shape[1]}, {X.nbytes / given.ranks / 1e6:.1f} MB per rank, {given.ranks} ranks")
    print(f"command        {command:.2f} s")
    for name, took, size in (("C order", seconds, memory), ("Fortran order", copied, more)):
        print(f"{name:14s} {took:.2f} s, {took / command:.3f} of the command's, {size / 1e6:.1f} MB above what there was")


if __name__ == "__main__":
    main()
