"""What a fit from Python costs beside the command: seconds of the processor, and the most memory resident above what
there was before the fit, of rows in memory in C order (used in place) and in Fortran order (copied once).

usage: compare_python.py [--rows M] [--cols D] [--outputs P]

Runs the command on the same rows in a temporary folder. Needs the package and `dkmap` on the path.
"""
import argparse
import os
import resource
import subprocess
import tempfile

import numpy as np

KERNEL, RIDGE = "rbf(sigma=8)", 1e-3


def peak_bytes():
    with open("/proc/self/status") as status:
        return 1024 * int(next(line for line in status if line.startswith("VmHWM")).split()[1])


def cpu_seconds(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def from_python(X, y):
    from dkmap import KernelRidge
    KernelRidge(kernel=KERNEL, threads=1).fit(X[:64], y[:64])  # loads what is loaded once
    with open("/proc/self/clear_refs", "w") as reset:
        reset.write("5")
    memory, seconds = peak_bytes(), cpu_seconds(resource.RUSAGE_SELF)
    KernelRidge(kernel=KERNEL, alpha=RIDGE, threads=1).fit(X, y)
    return cpu_seconds(resource.RUSAGE_SELF) - seconds, peak_bytes() - memory


def from_command(X, y):
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), X)
        np.save(os.path.join(folder, "y.npy"), y)
        before = cpu_seconds(resource.RUSAGE_CHILDREN)
        subprocess.run(["dkmap", "fit", "krr", "--x", "x.npy", "--y", "y.npy", "--kx", KERNEL, "--gamma", str(RIDGE),
                        "-o", "m.h5", "--threads", "1", "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
        return cpu_seconds(resource.RUSAGE_CHILDREN) - before


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=8000)
    parser.add_argument("--cols", type=int, default=784)
    parser.add_argument("--outputs", type=int, default=10)
    sizes = parser.parse_args()
    rng = np.random.default_rng(0)
    X = rng.random((sizes.rows, sizes.cols))
    y = np.sin(X @ rng.normal(size=(sizes.cols, sizes.outputs)))
    command = from_command(X, y)  # first: MPI of this process would be inherited
    print(f"rows           {X.shape[0]} x {X.shape[1]}, {X.nbytes / 1e6:.1f} MB")
    print(f"command        {command:.2f} s of the processor, reading and writing included")
    for name, array in (("C order", X), ("Fortran order", np.asfortranarray(X))):
        seconds, memory = from_python(array, y)
        print(f"{name:14s} {seconds:.2f} s of the processor, {memory / 1e6:.1f} MB above what there was")


if __name__ == "__main__":
    main()
