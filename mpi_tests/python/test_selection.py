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


def test_random_trials_are_those_of_a_grid_of_their_values():
    model = KernelRidge(comm=comm)
    grid = {"kernel": ["rbf(sigma=1)", "rbf(sigma=2)"], "alpha": "1e-4:1:5"}
    found = dkmap.cross_validate(model, X[OWN], y[OWN], grid, search="random", trials=6, loss=["mse", "mae"])
    assert len(found["table"]) == 6 and all(1e-4 <= one["parameters"]["alpha"] <= 1 for one in found["table"])
    for one in found["table"][:2]:
        alone = dkmap.cross_validate(model, X[OWN], y[OWN], {name: [value] for name, value in one["parameters"].items()},
                                     loss="mae")
        close(alone["loss"], one["losses"]["mae"], 1e-12)
    assert found["best"] == min(found["table"], key=lambda one: one["mean"])["parameters"]


def test_halving_ends_with_all_examples():
    found = dkmap.cross_validate(KernelRidge(kernel="rbf(sigma=2)", comm=comm), X[OWN], y[OWN], {"alpha": "1e-4:10:6"},
                                 search="halving", folds=3)
    examples = [one["examples"] for one in found["table"]]
    assert sorted(set(examples)) == [45, 90] and examples.count(90) == 3
    whole = dkmap.cross_validate(KernelRidge(kernel="rbf(sigma=2)", comm=comm), X[OWN], y[OWN], {"alpha": "1e-4:10:6"},
                                 folds=3)
    for one, other in zip(found["table"], whole["table"]):
        if one["examples"] == 90:
            close(one["mean"], other["mean"], 1e-12)


def test_folds_and_groups_of_the_caller():
    fold = np.arange(len(X)) % 4 + 1
    model = KernelRidge(kernel="rbf(sigma=2)", alpha=1e-2, comm=comm)
    given = dkmap.cross_validate(model, X[OWN], y[OWN], folds=fold[OWN])
    by_hand = np.zeros(4)
    for f in range(4):
        train, test = fold != f + 1, fold == f + 1
        one = KernelRidge(kernel="rbf(sigma=2)", alpha=1e-2).fit(X[train], y[train])
        by_hand[f] = ((one.predict(X[test]) - y[test]) ** 2).sum()
    close(given["loss"], by_hand.sum() / len(X), 1e-10)
    groups = np.arange(len(X)) % 4  # as many as folds: the same folds
    close(dkmap.cross_validate(model, X[OWN], y[OWN], folds=4, groups=groups[OWN])["loss"], given["loss"], 1e-12)
    names = [f"g{g}" for g in groups]
    found = dkmap.cross_validate(model, X[OWN], y[OWN], folds=4, groups=[names[i] for i in OWN] or None)
    close(found["loss"], given["loss"], 1e-12)


def test_wrong_grids_are_named():
    raises(ValueError, lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[OWN], y[OWN], {"alpha": "1:2"}), "range")
    raises(ValueError, lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[OWN], y[OWN], search="random"), "trials")
    raises(ValueError, lambda: dkmap.cross_validate(KernelRidge(comm=comm), X[OWN], y[OWN],
                                                    folds=np.zeros(len(OWN), int)), "fold")
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
