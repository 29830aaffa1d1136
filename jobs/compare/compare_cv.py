"""Nested cross-validation of dkmap beside scikit-learn's. Run by compare_cv.sh."""
import argparse
import os
import sys
import tempfile
import time

import numpy as np
import sklearn
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from compare_sklearn import dkmap, two_cores

WIDTHS = (1, 2, 4, 6, 8, 12, 16)
GAMMAS = (1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
FOLDS = 5
BAR = 10


def first_of_each_class(data, each=100):
    """The first digits of each class, in their order, and one column a class."""
    load = lambda name: np.load(os.path.join(data, "usps", name))
    labels = load("train_labels.npy").astype(int)
    rows = np.sort(np.concatenate([np.flatnonzero(labels == c)[:each] for c in np.unique(labels)]))
    labels = labels[rows]
    return load("train_x.npy")[rows].astype(float), labels, (labels[:, None] == np.unique(labels)).astype(float)


def rightly(model, X, Y):
    return (model.predict(X).argmax(1) == Y.argmax(1)).mean()


def nested_with_sklearn(X, labels, Y):
    """Loss of the outer folds."""
    grid = dict(gamma=[0.5 / s**2 for s in WIDTHS], alpha=GAMMAS)
    losses = []
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(X, labels):
        inner = list(StratifiedKFold(FOLDS, shuffle=True, random_state=1).split(X[train], labels[train]))
        search = GridSearchCV(KernelRidge(kernel="rbf"), grid, scoring=rightly, cv=inner, n_jobs=2)
        losses.append(1 - rightly(search.fit(X[train], Y[train]), X[test], Y[test]))
    return np.mean(losses)


def cv_with_dkmap(folder, method, y, *words):
    path = lambda name: os.path.join(folder, name)
    return dkmap(folder, "cv", method, "--x", path("x.npy"), "--y", path(y), "--kx", "rbf(sigma=$s)",
                 "--try", "s=" + ",".join(map(str, WIDTHS)), "--gamma", ",".join(map(str, GAMMAS)),
                 "--folds", FOLDS, *words)


def compare_losses(folder, X, labels, Y):
    """The table of plain folds, as refits of KernelRidge on the same folds give it."""
    folds = os.path.join(folder, "folds.npy")
    record = cv_with_dkmap(folder, "krr", "labels.npy", "--folds-out", folds)
    fold = np.load(folds).ravel().astype(int)
    worst = 0.0
    for k, width in enumerate(WIDTHS):
        for g, gamma in enumerate(GAMMAS):
            wrong = 0
            for f in range(1, FOLDS + 1):
                model = KernelRidge(kernel="rbf", gamma=0.5 / width**2, alpha=gamma)
                model.fit(X[fold != f], Y[fold != f])
                wrong += (model.predict(X[fold == f]).argmax(1) != Y[fold == f].argmax(1)).sum()
            ours = record["trials"][k * len(GAMMAS) + g]["mean"]
            worst = max(worst, abs(ours - wrong / len(X)))
    print(f"{len(WIDTHS) * len(GAMMAS)} settings on the same {FOLDS} folds: losses differ by {worst:.1e} "
          "at most\n", flush=True)
    return worst


def main():
    parser = argparse.ArgumentParser(prog="compare_cv.sh")
    parser.add_argument("--data", default=os.environ.get("DKMAP_DATA"))
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    if not given.data or not os.path.isfile(os.path.join(given.data, "usps", "train_x.npy")):
        print("Skipped: name the folder that holds usps/train_x.npy with --data or DKMAP_DATA")
        return 0
    cores = two_cores()
    X, labels, Y = first_of_each_class(given.data)
    theirs, ours = [], []
    with tempfile.TemporaryDirectory() as folder:
        np.save(os.path.join(folder, "x.npy"), X)
        np.save(os.path.join(folder, "labels.npy"), labels)
        worst = compare_losses(folder, X, labels, Y)
        for _ in range(given.repeat):
            begun = time.perf_counter()
            their_loss = nested_with_sklearn(X, labels, Y)
            theirs.append(time.perf_counter() - begun)
            record = cv_with_dkmap(folder, "kde", "labels.npy", "--ky", "class", "--components", 9,
                                   "--inner-folds", FOLDS)
            ours.append(record["seconds"])
    ratio = min(theirs) / min(ours)
    print(f"{len(X)} digits, {len(WIDTHS)} widths x {len(GAMMAS)} gammas x {FOLDS} folds, nested in {FOLDS}; "
          f"{cores} cores, fastest of {given.repeat}\n")
    print("| what | seconds | ratio | outer loss |")
    print("|---|---|---|---|")
    print(f"| scikit-learn {sklearn.__version__} GridSearchCV(KernelRidge), n_jobs = 2 | {min(theirs):.2f} | 1 "
          f"| {their_loss:.4f} |")
    print(f"| dkmap cv kde, 2 ranks | {min(ours):.2f} | {ratio:.1f} | {record['loss']['mean']:.4f} |")
    print(f"\n{ratio:.1f} times as fast: {'at least' if ratio >= BAR else 'BELOW'} {BAR}")
    return 0 if worst < 1e-9 else 1


if __name__ == "__main__":
    sys.exit(main())
