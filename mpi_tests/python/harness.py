"""Runs the functions of a test module whose names begin with test_, on every rank at the same time.

usage: mpirun -np N python3 harness.py test_module.py [names]
       python3 harness.py --check

A function that fails on any rank ends the run on all of them. Where NumPy, SciPy or mpi4py is missing, or
mpi4py belongs to another MPI than the library, the run is skipped, and says so; --check does nothing else.
"""
import importlib.util
import os
import sys
import traceback

SKIPPED = 77


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def needed(*names):
    for name in names:
        if importlib.util.find_spec(name) is None:
            skip(f"Python has no module {name}")


def same_mpi():
    """Skip where the library could not use mpi4py's communicators. MPI is not started."""
    from dkmap._library import mpi_version
    ours, theirs = (text.strip("\0 \n").splitlines()[0] for text in (mpi_version(), MPI.Get_library_version()))
    if ours != theirs:
        skip(f"mpi4py is built with '{theirs}', the library with '{ours}'")


needed("numpy", "scipy", "mpi4py")
import mpi4py  # noqa: E402
mpi4py.rc.initialize, mpi4py.rc.finalize = False, True
from mpi4py import MPI  # noqa: E402
same_mpi()
if sys.argv[1:] == ["--check"]:
    sys.exit()
MPI.Init_thread()
comm = MPI.COMM_WORLD


def load(path):
    spec = importlib.util.spec_from_file_location(os.path.basename(path)[:-3], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def raises(kind, call, *words):
    """Check that a call raises on this rank, with all of the words in the message."""
    try:
        call()
    except kind as failure:
        text = str(failure)
        for word in words:
            assert word in text, f"'{word}' is not in '{text}'"
        return failure
    raise AssertionError(f"nothing was raised, and {kind} was expected")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    module = load(os.path.join(here, sys.argv[1]))
    tests = {name: test for name, test in vars(module).items() if name.startswith("test_") and callable(test)}
    chosen = sys.argv[2:] or list(tests)
    for name in chosen:
        try:
            tests[name]()
        except BaseException:
            print(f"[rank {comm.rank}] {name} failed\n{traceback.format_exc()}", flush=True)
            comm.Abort(1)
        comm.Barrier()
        if comm.rank == 0:
            print(f"{name} passed", flush=True)
    if comm.rank == 0:
        print(f"{len(chosen)} passed, 0 failed")


if __name__ == "__main__":
    sys.modules["harness"] = sys.modules["__main__"]
    main()
