"""Standard deviations, prediction sets, and examples added and removed, from Python."""
import numpy as np

from dkmap import KernelDependencyEstimation, KernelRidge, KernelRidgeClassifier, KNeighbors
from support import close, comm, joined, mine, rbf, regression

SIGMA, ALPHA = 1.5, 0.05


def ridge(**parameters):
    return KernelRidge(kernel=f"rbf(sigma={SIGMA})", alpha=ALPHA, comm=comm, **parameters)


def fitted(X, y, **parameters):
    own = mine(len(X))
    return ridge(**parameters).fit(X[own], y[own])


def test_deviations_have_their_closed_form():
    X, y = regression(m=50)
    new = regression(m=21, seed=3)[0]
    own = mine(len(new))
    K, k = rbf(X, X, SIGMA) + ALPHA * np.eye(len(X)), rbf(new, X, SIGMA)
    variance = 1 - np.einsum("ij,ji->i", k, np.linalg.solve(K, k.T))
    for kept in (True, False):
        model = fitted(X, y, keep_factor=kept)
        mean, std = model.predict(new[own], return_std=True)
        close(joined(mean), k @ np.linalg.solve(K, y), 1e-9)
        close(joined(std), np.sqrt(variance), 1e-9)
        close(joined(model.predict(new[own])), joined(mean), 1e-12)
        noisy = model.predict(new[own], return_std=True, noise=4 * ALPHA)[1]
        close(joined(noisy), 2 * np.sqrt(variance + ALPHA), 1e-9)
    mean, std = fitted(X, y, keep_factor=True, precision="mixed").predict(new[own], return_std=True)
    close(joined(mean), k @ np.linalg.solve(K, y), 1e-9)
    close(joined(std), np.sqrt(variance), 1e-4)
    scale = y @ np.linalg.solve(K, y) / len(y)
    close(joined(model.predict(new[own], return_std=True, noise="auto")[1]), np.sqrt(scale * (variance + ALPHA)), 1e-9)


def test_examples_come_and_go():
    X, y = regression(m=60)
    new = regression(m=10, seed=3)[0]
    own = mine(40)
    model = ridge(keep_factor=True, center=True).fit(X[:40][own], y[:40][own])
    before = joined(model.predict(new[mine(10)]))
    model.append(X[40:][mine(20)], y[40:][mine(20)])
    whole = fitted(X, y, center=True)
    close(joined(model.predict(new[mine(10)])), joined(whole.predict(new[mine(10)])), 1e-9)
    assert model.report_["appended"] == 20 and model.report_["m"] == 60 and model.residual_ < 1e-12
    model.forget(range(40, 60))
    close(joined(model.predict(new[mine(10)])), before, 1e-9)
    weights = np.arange(20) % 3 + 1.0
    model.append(X[40:][mine(20)], y[40:][mine(20)], sample_weight=weights[mine(20)])
    whole = ridge(center=True).fit(X[mine(60)], y[mine(60)], np.append(np.ones(40), weights)[mine(60)])
    for got, wanted in zip(*(one.predict(new[mine(10)], return_std=True) for one in (model, whole))):
        close(joined(got), joined(wanted), 1e-9)


def test_sets_cover():
    X, y = regression(m=900, seed=5)
    y = y + np.random.default_rng(1).normal(size=len(y)) * 0.3
    labels = np.where(y > np.median(y), 7, 3)
    parts = [np.arange(300 * k, 300 * (k + 1)) for k in range(3)]
    train, calibration, test = (part[mine(300)] for part in parts)
    model = ridge().fit(X[train], y[train]).calibrate(X[calibration], y[calibration])
    lower, upper = model.predict_set(X[test], coverage=0.8)
    assert 0.7 < joined((y[test] >= lower) & (y[test] <= upper)).mean() < 0.9
    for one in (KernelRidgeClassifier(kernel=f"rbf(sigma={SIGMA})", alpha=ALPHA, comm=comm),
                KernelDependencyEstimation(kernel=f"rbf(sigma={SIGMA})", output_kernel="class", alpha=ALPHA, comm=comm),
                KNeighbors(kernel=f"rbf(sigma={SIGMA})", n_neighbors=9, comm=comm)):
        one.fit(X[train], labels[train]).calibrate(X[calibration], labels[calibration])
        sets = one.predict_set(X[test], coverage=0.9)
        known = labels[parts[0]]
        hit = [truth in (one if one <= {3, 7} else {known[k] for k in one}) for truth, one in zip(labels[test], sets)]
        assert joined(np.array(hit, float)).mean() > 0.8
