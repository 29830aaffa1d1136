"""Cross-validation and plans from Python."""
import numpy as np

import dkmap
from dkmap import KernelDependencyEstimation, KernelRidge, KernelRidgeClassifier, SVC
from harness import raises
from support import close, comm, mine, regression

X, y = regression(m=90)
OWN = mine(len(X))
GRID = {"kernel": ["rbf(sigma=1)", "rbf(sigma=2)"], "alpha": [1e-3, 1e-1]}


def test_losses_do_not_depend_on_the_ranks():
    found = dkmap.cross_validate(KernelRidge(center=True, comm=comm), X[OWN], y[OWN], GRID)
    alone = dkmap.cross_validate(KernelRidge(center=True), X, y, GRID)
    close([one["mean"] for one in found["table"]], [one["mean"] for one in alone["table"]], 1e-12)
    assert found["best"] == alone["best"] == {"kernel": "rbf(sigma=2)", "alpha": 1e-3}
    assert len(found["table"]) == 4 and found["loss"] == min(one["mean"] for one in found["table"])


def test_a_closed_form_is_what_refits_give():
    """One example a fold: the leave-one-out error that fits report."""
    found = dkmap.cross_validate(KernelRidge(kernel="rbf(sigma=2)", alpha=1e-2, comm=comm), X[OWN], y[OWN],
                                 folds=len(X))
    model = KernelRidge(kernel="rbf(sigma=2)", alpha=1e-2, loo=True, comm=comm).fit(X[OWN], y[OWN])
    close(found["loss"], model.loo_, 1e-10)


def test_nested_folds_choose_for_each_fold():
    found = dkmap.cross_validate(SVC(comm=comm), X[OWN], y[OWN] > 0, {"C": [1e-3, 10.0]}, inner_folds=3)
    assert found["report"]["outer.chosen"].tolist() == [1.0] * 5
    close(found["loss"], found["report"]["outer.mean"].mean(), 0.02)


def test_classes_strings_and_other_losses():
    found = dkmap.cross_validate(KernelRidgeClassifier(kernel="rbf", comm=comm), X[OWN], y[OWN] > 0,
                                 {"gamma": [0.01, 1.0]}, folds=3)
    assert found["report"]["loss"] == "zero-one" and found["loss"] < 0.3
    words = ["abcab", "abba", "bbba", "aabb", "cabc", "ccab"] * 4
    model = KernelDependencyEstimation(kernel="spectrum(p=2)", output_kernel="spectrum(p=2)", alpha=1e-6, comm=comm,
                                       replicated=True)
    assert dkmap.cross_validate(model, words, words, folds=4, loss="edit")["loss"] == 0


def test_wrong_grids_are_named():
    raises(ValueError, lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[OWN], y[OWN], {"alfa": [1]}), "alfa")
    raises(ValueError, lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[OWN], y[OWN], {"alpha": [-1.0]}),
           "alpha")
    raises(ValueError, lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[OWN], y[OWN], loss="logloss"),
           "logloss")
    raises(ValueError, lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[OWN], y[OWN], folds=1000), "folds")


def test_plans():
    found = dkmap.plan(KernelRidge(kernel="rbf(sigma=1)", comm=comm), (60000, 784), (60000, 10), ranks=64)
    assert found["grid"] == "8x8" and 4.0e8 < found["rank_memory"] < 8.0e8
    assert found["flops"] >= 60000.0**3 / 3 and "factor" in found["phases"]
    small = dkmap.plan(KernelRidge(comm=comm), X, y)
    assert 0 < small["rank_memory"] < found["rank_memory"]
    assert np.isfinite(small["flops"])
