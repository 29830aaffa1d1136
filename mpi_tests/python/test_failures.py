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
from dkmap import KNeighbors, KernelDependencyEstimation, KernelPCA, KernelRidge, KernelRidgeClassifier
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


def test_arrays_that_are_no_rows_of_numbers():
    raises(ValueError, fit(only_last(rows, lambda own: X[own][:, 0]), targets), "Expected 2D array")
    raises(ValueError, fit(only_last(rows, lambda own: X[own][:, :, None]), targets), "dim 3")
    raises(ValueError, fit(only_last(rows, lambda own: X[own][:, :0]), targets), "0 feature")
    raises((TypeError, ValueError), fit(only_last(rows, lambda own: np.where(X[own] > 1, None, X[own])), targets))
    raises((TypeError, ValueError), fit(only_last(rows, lambda own: X[own].astype("datetime64[s]")), targets))
    raises((TypeError, ValueError), fit(only_last(rows, lambda own: np.zeros(len(own), "i4,f8")), targets))


def test_outputs_that_are_wrong_on_one_rank():
    raises(ValueError, fit(rows, only_last(targets, lambda own: y[own] * np.nan)), "NaN")
    raises(ValueError, fit(rows, only_last(targets, lambda own: ["a"] * len(own))), "strings")
    raises(ValueError, fit(rows, only_last(targets, lambda own: [[1.0]] * (len(own) - 1) + [[1.0, 2.0]])), "length")
    if comm.size > 1:
        raises(ValueError, fit(rows, only_last(lambda own: np.c_[y, y][own], lambda own: np.c_[y, y, y][own])),
               "columns")
        raises(ValueError, classify(lambda own: np.array(["a", "b"])[LABELS[own]]), "numbers")
    raises(ValueError, classify(lambda own: np.array([None, "a"] * len(own), object)[:len(own)]), "sorted")
    raises(ValueError, classify(lambda own: LABELS[own] * np.nan), "NaN")
    own = mine(60)
    model, other = KernelRidge(comm=comm).fit(X[own], y[own]), KernelRidgeClassifier(comm=comm).fit(X[own], LABELS[own])
    raises(ValueError, lambda: model.score(X[own], only_last(targets, lambda own: y[own][:-1])(own)), "inconsistent")
    raises(ValueError, lambda: model.score(X[own], only_last(targets, lambda own: y[own] * np.nan)(own)), "NaN")
    raises(ValueError, lambda: other.score(X[own], only_last(lambda own: LABELS[own], lambda own: LABELS[own][:-1])(own)),
           "inconsistent")


LABELS = (y > 0).astype(int)


def classify(wrong):
    own = mine(60)
    return lambda: KernelRidgeClassifier(comm=comm).fit(X[own], only_last(lambda own: LABELS[own], wrong)(own))


def test_objects_of_mixed_kinds():
    own, last = mine(60), comm.rank == LAST

    def neighbors(kernel, good, bad):
        objects = [good] * (len(own) - 1) + [bad if last else good]
        return lambda: KNeighbors(kernel=kernel, comm=comm).fit(objects, LABELS[own])
    raises((TypeError, ValueError), neighbors("spectrum(p=2)", "ab", 3), "int")
    raises(ValueError, neighbors("set", {"a", "b"}, {"a b"}), "blanks")
    raises(ValueError, neighbors("labels", {1, 2}, {1.5}), "integers")
    raises(ValueError, neighbors("labels", {1, 2}, {-1}), "integers")
    raises(ValueError, neighbors("weisfeiler-lehman(h=2)", scipy.sparse.eye(3), scipy.sparse.csr_matrix((2, 3))), "square")


def test_ranks_that_ask_for_different_things():
    """Parameters, settings of functions and files must be the same on all ranks: the first that is not is named."""
    if comm.size == 1:
        return
    own, other = mine(60), lambda a, b: b if comm.rank == LAST else a
    for parameters in ({"alpha": other(1.0, 2.0)}, {"alpha": other(1.0, "much")}, {"kernel": other("linear", "cosine")},
                       {"kernel": other("linear", np.dot)}, {"random_state": other(1, 2)}, {"block": other(None, 16)},
                       {"replicated": other(False, True)}, {"alpha": other([1.0, 2.0], [1.0, 3.0])}):
        raises(ValueError, fit(rows, targets, **parameters), next(iter(parameters)), "rank")
    raises(ValueError, fit(rows, targets, threads=other(1, "two")), "two")
    raises(ValueError, lambda: other(KernelRidge, KernelPCA)(comm=comm).fit(X[own], y[own]), "estimator")
    raises(ValueError, lambda: KernelRidge(comm=comm, replicated=True).fit(X[:other(60, 50)], y[:other(60, 50)]), "rows")
    raises(ValueError, lambda: dkmap.gram(X[own], kernel=other("linear", "cosine"), comm=comm), "kernel")
    raises(ValueError, lambda: dkmap.gram(X[own], center=other(True, False), comm=comm), "center")
    for settings in ({"folds": other(5, 4)}, {"loss": other("mse", "mae")}, {"grid": {"alpha": other([1.0], [2.0])}}):
        raises(ValueError, lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[own], y[own], **settings),
               next(iter(settings)))
    model = KernelRidge(comm=comm, keep_factor=True).fit(X[own], y[own])
    raises(ValueError, lambda: model.predict(X[own], return_std=True, noise=other(None, "gamma")), "noise")
    raises(ValueError, lambda: model.forget(other([1], [2])), "rows")
    raises(TypeError, lambda: model.save(other("model.h5", 3.5)), "float")
    raises(ValueError, lambda: dkmap.load(other("/nonexistent/a.h5", "/nonexistent/b.h5"), comm=comm), "path")
    model.alpha = other(1.0, 2.0)
    raises(ValueError, lambda: model.predict(X[own]), "alpha")


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


class Mine(Exception):
    """One that other ranks cannot make."""


def test_a_kernel_function_that_raises():
    for failure in (RuntimeError("no value for you"), KeyError("no value for you"), Mine("no value for you"),
                    SystemExit("no value for you")):
        def broken(A, B):
            if comm.rank == LAST:
                raise failure
            return A @ B.T
        kind = type(failure) if comm.rank == LAST or type(failure) is not Mine else RuntimeError
        raises(kind, fit(rows, targets, kernel=broken), "no value for you")


def test_a_kernel_function_that_raises_at_predictions():
    own, armed = mine(60), []

    def broken(A, B):
        if armed and comm.rank == LAST:
            raise RuntimeError("no value for you")
        return A @ B.T
    model = KernelRidge(kernel=broken, comm=comm).fit(X[own], y[own])
    armed.append(True)
    raises(RuntimeError, lambda: model.predict(X[own]), "no value for you")
    armed.clear()
    assert np.isfinite(model.predict(X[own])).all()


def test_a_kernel_function_of_the_wrong_shape():
    wrong = ((lambda A, B: np.zeros(3), "shape"), (lambda A, B: np.zeros((len(A) + 1, len(B))), "shape"),
             (lambda A, B: None, "shape"), (lambda A, B: "abc", "abc"), (lambda A, B: A @ B.T * 1j, "omplex"),
             (lambda A, B: np.full((len(A), len(B)), np.nan), "NaN"))
    for function, word in wrong:
        raises((ValueError, TypeError), fit(rows, targets, kernel=function), word)
        on_one = function if comm.rank == LAST else lambda A, B: A @ B.T
        raises((ValueError, TypeError), fit(rows, targets, kernel=on_one), word)


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

    def broken(A, B):  # a context remembers functions: these two are the same in every round
        raise RuntimeError("no")

    def misshapen(A, B):
        return np.zeros(3)

    def round_of_failures():
        own = mine(60)
        model = KernelRidge(comm=comm).fit(X[own], y[own])
        for call, kind in ((fit(rows, targets, kernel=broken), RuntimeError),
                           (fit(rows, targets, kernel=misshapen), ValueError),
                           (fit(rows, targets, alpha=-1.0), ValueError),
                           (fit(rows, targets, kernel="rbf(sigmo=1)"), ValueError),
                           (fit(lambda own: X[own] * np.nan, targets), ValueError),
                           (fit(lambda own: X[own].astype("datetime64[s]"), targets), (TypeError, ValueError)),
                           (fit(rows, lambda own: y[own][:-1]), ValueError),
                           (lambda: model.predict(X[own][:, :2]), ValueError),
                           (lambda: model.save("/nonexistent/folder/model.h5"), OSError),
                           (lambda: dkmap.gram(X[own], kernel="rfb", comm=comm), ValueError),
                           (lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[own], y[own], loss="mso"), ValueError)):
            raises(kind, call)
        if comm.size > 1:
            raises(ValueError, fit(rows, targets, alpha=comm.rank + 1.0), "alpha")
            raises(ValueError, fit(only_last(rows, lambda own: X[own][:, :2]), targets), "columns")
        del model
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
