"""Wrong input and failing functions: an exception on every rank, nothing hangs, nothing leaks."""
import gc
import os
import signal
import time
import tracemalloc

import numpy as np
import scipy.sparse
from mpi4py import MPI

import dkmap
from dkmap import KernelDependencyEstimation, KernelPCA, KernelRidge
from harness import raises
from support import comm, mine, regression

LAST = comm.size - 1


def fit(X, y, **parameters):
    own = mine(60)
    return lambda: KernelRidge(comm=comm, **parameters).fit(X(own), y(own))


def only_last(good, bad):
    """What a function of this rank's rows returns, or something else on the last rank."""
    return (lambda own: bad(own)) if comm.rank == LAST else (lambda own: good(own))


X, y = regression()


def rows(own):
    return X[own]


def targets(own):
    return y[own]


def test_numbers_that_are_not_finite_on_one_rank():
    for value, word in ((np.nan, "NaN"), (np.inf, "infinity")):
        def spoiled(own):
            part = X[own].copy()
            part[-1, 0] = value
            return part
        raises(ValueError, fit(only_last(rows, spoiled), targets), word)


def test_ragged_lists_and_words_in_place_of_numbers():
    raises(ValueError, fit(only_last(rows, lambda own: [[1.0, 2.0, 3.0]] * (len(own) - 1) + [[1.0]]), targets),
           "length")
    raises(ValueError, fit(only_last(rows, lambda own: [["a", "b", "c"]] * len(own)), targets), "strings")
    raises(ValueError, fit(only_last(rows, lambda own: X[own] + 1j), targets), "Complex")
    raises(TypeError, fit(only_last(rows, lambda own: object()), targets), "objects are")


def test_ranks_that_do_not_fit_together():
    raises(ValueError, fit(rows, only_last(targets, lambda own: y[own][:-1])), "inconsistent numbers")
    if comm.size > 1:
        raises(ValueError, fit(only_last(rows, lambda own: X[own][:, :2]), targets), "columns")
        raises(ValueError, fit(only_last(rows, lambda own: scipy.sparse.csr_matrix(X[own])), targets),
               "different types")
    raises(ValueError, fit(rows, lambda own: None), "y")


def test_wrong_settings_are_named():
    raises(ValueError, fit(rows, targets, kernel="rbf(sigmo=1)"), "sigmo", "^")
    raises(ValueError, fit(rows, targets, kernel="rfb(sigma=1)"), "rbf")
    raises(ValueError, fit(rows, targets, alpha=-1.0), "alpha")
    raises(ValueError, fit(rows, targets, solver="gauss"), "cholesky")
    raises(TypeError, lambda: KernelRidge(alpfa=1), "alpfa")
    raises(ValueError, fit(rows, targets, kernel="ssk(r=2)"), "ssk")
    raises(ValueError, fit(rows, targets, x_type="images"), "images")


def test_new_rows_of_another_width():
    own = mine(60)
    model = KernelRidge(comm=comm).fit(X[own], y[own])
    raises(ValueError, lambda: model.predict(X[own][:, :2]), "expecting 3 features")


def test_an_estimator_that_is_not_fitted():
    raises(ValueError, lambda: KernelRidge(comm=comm).predict(X), "not fitted")
    raises(ValueError, lambda: KernelPCA(comm=comm).transform(X), "not fitted")


def test_a_kernel_function_that_raises():
    def broken(A, B):
        if comm.rank == LAST:
            raise RuntimeError("no value for you")
        return A @ B.T
    raises(RuntimeError, fit(rows, targets, kernel=broken), "no value for you")


def test_a_kernel_function_of_the_wrong_shape():
    raises(ValueError, fit(rows, targets, kernel=lambda A, B: np.zeros(3)), "shape")
    raises(ValueError, fit(rows, targets, kernel=lambda A, B: np.full((len(A), len(B)), np.nan)), "NaN")


def test_an_interrupt_stops_all_ranks():
    def slow(A, B):
        if comm.rank == LAST:
            os.kill(os.getpid(), signal.SIGINT)
        return A @ B.T
    raises(KeyboardInterrupt, fit(rows, targets, kernel=slow))
    fit(rows, targets)()


def fresh_communicator():
    """One whose first progress is reported: none was within the last second of the MPI's clock."""
    while MPI.Wtime() < 2:
        time.sleep(0.1)
    return comm.Dup()


def test_progress_that_fails_stops_all_ranks():
    calls = []

    def told(phase, fraction, left):
        calls.append(phase)
        raise RuntimeError("enough")
    fresh = fresh_communicator()
    model = KernelRidge(kernel="rbf(sigma=1)", alpha=[1e-3, 1e-2, 1e-1], solver="cholesky", comm=fresh,
                        progress=told)
    raises(RuntimeError, lambda: model.fit(X[mine(60)], y[mine(60)]), "enough")
    assert bool(calls) == (comm.rank == 0)


def test_progress_is_reported_to_a_function():
    calls = []
    fresh = fresh_communicator()
    model = KernelRidge(kernel="rbf(sigma=1)", alpha=[1e-3, 1e-2, 1e-1], solver="cholesky", comm=fresh,
                        progress=lambda *told: calls.append(told))
    model.fit(X[mine(60)], y[mine(60)])
    assert bool(calls) == (comm.rank == 0)
    assert all(isinstance(phase, str) and 0 <= fraction <= 1 for phase, fraction, left in calls)


def test_files_that_are_not_there():
    own = mine(60)
    model = KernelRidge(comm=comm).fit(X[own], y[own])
    raises(OSError, lambda: model.save("/nonexistent/folder/model.h5"), "/nonexistent")
    raises(OSError, lambda: dkmap.load("/nonexistent/model.h5", comm=comm), "/nonexistent")


def test_a_kernel_for_other_objects():
    words = ["ab", "ba", "bb"] * 4
    raises(ValueError, lambda: KernelDependencyEstimation(kernel="linear", comm=comm, replicated=True).fit(
        words, words), "strings")
    raises(TypeError, lambda: KernelDependencyEstimation(kernel="labels", output_kernel="spectrum(p=2)", comm=comm,
                                                         replicated=True).fit(words, words), "labels")


def test_failures_leak_nothing():
    live = lambda: dkmap._lib.dkm_ctx_live_blocks(dkmap._context.context(comm).pointer)

    def broken(A, B):
        raise RuntimeError("no")

    def round_of_failures():
        for call, kind in ((fit(rows, targets, kernel=broken), RuntimeError),
                           (fit(rows, targets, alpha=-1.0), ValueError),
                           (fit(lambda own: X[own] * np.nan, targets), ValueError)):
            raises(kind, call)
        gc.collect()
    round_of_failures()
    blocks = live()
    tracemalloc.start()
    round_of_failures()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(5):
        round_of_failures()
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    assert live() == blocks, f"{live() - blocks} blocks are left"
    assert grown < 20000, f"{grown} bytes are left"
