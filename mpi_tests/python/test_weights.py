"""Weights of examples: one of weight 2 is the example twice; scikit-learn's estimators agree."""
import numpy as np

from dkmap import KernelDependencyEstimation, KernelPCA, KernelRidge, KernelRidgeClassifier, SVC
from harness import raises
from support import close, comm, mine, regression

X, y = regression(m=50)
OWN = mine(len(X))
WEIGHT = np.arange(len(X)) % 3 + 1.0
TWICE = np.repeat(np.arange(len(X)), WEIGHT.astype(int))
NEW = regression(m=12, seed=5)[0]


def both(model, alone, outputs):
    """A fit with weights on all ranks, and one to copies on each."""
    model.fit(X[OWN], outputs[OWN], sample_weight=WEIGHT[OWN])
    return model, alone.fit(X[TWICE], outputs[TWICE])


def test_weight_two_is_twice():
    for options in ({}, {"center": True}, {"solver": "eigen"}, {"precision": "mixed"}):
        options = {"kernel": "rbf(sigma=2)", "alpha": 0.1, **options}
        one, other = both(KernelRidge(comm=comm, **options), KernelRidge(**options), y)
        close(one.predict(NEW), other.predict(NEW), 1e-10)
    options = {"kernel": "linear", "alpha": 0.1, "center": True}
    one, other = both(KernelRidge(comm=comm, **options), KernelRidge(**options), y)
    close(one.predict(NEW), other.predict(NEW), 1e-10)
    options = {"kernel": "rbf(sigma=2)", "output_kernel": "linear", "alpha": 0.1, "n_components": 2}
    Y = np.c_[y, y**2]
    one, other = both(KernelDependencyEstimation(comm=comm, **options), KernelDependencyEstimation(**options), Y)
    close(one.predict(NEW), other.predict(NEW), 1e-10)


def test_components_of_copies():
    one = KernelPCA(n_components=3, kernel="rbf(sigma=2)", comm=comm).fit(X[OWN], sample_weight=WEIGHT[OWN])
    other = KernelPCA(n_components=3, kernel="rbf(sigma=2)").fit(X[TWICE])
    close(one.eigenvalues_, other.eigenvalues_, 1e-10)
    close(np.abs(one.transform(NEW)), np.abs(other.transform(NEW)), 1e-10)


def test_scikit_learn_agrees():
    try:
        from sklearn import kernel_ridge, svm
    except ImportError:
        return
    model = KernelRidge(kernel="rbf", gamma=0.2, alpha=0.1, comm=comm).fit(X[OWN], y[OWN], sample_weight=WEIGHT[OWN])
    theirs = kernel_ridge.KernelRidge(kernel="rbf", gamma=0.2, alpha=0.1).fit(X, y, sample_weight=WEIGHT)
    close(model.predict(NEW), theirs.predict(NEW), 1e-10)
    z = (y > 0.4).astype(int)
    for options, weight in (({}, WEIGHT), ({"class_weights": "balanced"}, np.ones(len(X)))):
        model = SVC(C=2.0, kernel="rbf", gamma=0.2, tolerance=1e-9, comm=comm, **options)
        model.fit(X[OWN], z[OWN], sample_weight=weight[OWN])
        theirs = svm.SVC(C=2.0, gamma=0.2, tol=1e-9, class_weight="balanced" if options else None)
        theirs.fit(X, z, sample_weight=weight)
        close(model.decision_function(NEW) / 2, theirs.decision_function(NEW), 1e-5)  # one class less the other


def test_leave_one_out_is_a_weighted_mean_of_refits():
    model = KernelRidge(kernel="rbf(sigma=2)", alpha=0.1, center=True, loo=True, comm=comm)
    model.fit(X[OWN], y[OWN], sample_weight=WEIGHT[OWN])
    sum_of_squares = 0.0
    for i in range(len(X)):
        rest = np.arange(len(X)) != i
        one = KernelRidge(kernel="rbf(sigma=2)", alpha=0.1, center=True)
        found = one.fit(X[rest], y[rest], sample_weight=WEIGHT[rest]).predict(X[i:i + 1])[0]
        sum_of_squares += WEIGHT[i] * (y[i] - found) ** 2
    close(model.loo_, sum_of_squares / WEIGHT.sum(), 1e-10)


def test_balanced_classes_are_weights():
    z = (y > 0.4).astype(int)
    weight = len(X) / (2.0 * np.bincount(z)[z])
    model = KernelRidgeClassifier(kernel="rbf(sigma=2)", alpha=0.1, class_weights="balanced", comm=comm)
    other = KernelRidgeClassifier(kernel="rbf(sigma=2)", alpha=0.1).fit(X, z, sample_weight=weight)
    close(model.fit(X[OWN], z[OWN]).decision_function(NEW), other.decision_function(NEW), 1e-10)


def test_conjugate_gradients_weigh_alike():
    model = KernelRidge(kernel="rbf(sigma=2)", alpha=0.1, solver="pcg", landmarks=len(X), tolerance=1e-12,
                        precision="double", comm=comm)  # all of them: the exact solution
    other = KernelRidge(kernel="rbf(sigma=2)", alpha=0.1).fit(X, y, sample_weight=WEIGHT)
    close(model.fit(X[OWN], y[OWN], sample_weight=WEIGHT[OWN]).predict(NEW), other.predict(NEW), 1e-7)
    raises(ValueError, lambda: model.set_params(basis="all").fit(X[OWN], y[OWN], sample_weight=WEIGHT[OWN]), "basis")


def test_what_is_no_weight_is_refused():
    for wrong in (-1.0, np.nan):
        weight = WEIGHT.copy()
        weight[7] = wrong
        raises(ValueError, lambda w=weight: KernelRidge(comm=comm).fit(X[OWN], y[OWN], sample_weight=w[OWN]), "weight")
    weight = WEIGHT.copy()
    weight[::5] = 0
    model = KernelRidge(kernel="rbf(sigma=2)", alpha=0.1, comm=comm).fit(X[OWN], y[OWN], sample_weight=weight[OWN])
    other = KernelRidge(kernel="rbf(sigma=2)", alpha=0.1).fit(X[weight > 0], y[weight > 0], sample_weight=weight[weight > 0])
    close(model.predict(NEW), other.predict(NEW), 1e-10)
