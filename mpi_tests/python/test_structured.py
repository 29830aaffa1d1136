"""Label sequences, and kernels of inputs and outputs that are tuned: the same on any number of ranks."""
import numpy as np

import dkmap
from dkmap import JointKernelMap, KernelDependencyEstimation
from harness import raises
from support import comm, mine

CHAIN = {"outputs": "chain", "kernel": "weighted-degree(degree=1)", "window": 5, "C": 1.0}


def sequences(m=30, seed=1):
    """Labels that last for three letters at least, and letters that show them with errors."""
    rng = np.random.default_rng(seed)
    words, labels = [], []
    for _ in range(m):
        length = int(rng.integers(4, 14))
        truth = np.repeat(rng.random(length) < 0.5, 3)[:length]
        shown = truth ^ (rng.random(length) < 0.15)
        words.append("".join("a" if one else "c" for one in shown))
        labels.append("".join("A" if one else "B" for one in truth))
    return words, labels


def part(objects, own):
    return [objects[i] for i in own]


def test_labels_of_strings():
    words, labels = sequences()
    own = mine(len(words))
    model = JointKernelMap(comm=comm, **CHAIN).fit(part(words, own), part(labels, own))
    alone = JointKernelMap(**CHAIN).fit(words, labels)
    assert model.predict(part(words, own)) == part(alone.predict(words), own)
    assert model.report_["outputs"] == "chain" and model.n_iter_ == alone.n_iter_
    found = alone.predict(words)
    assert [len(one) for one in found] == [len(one) for one in words]
    right = np.mean([a == b for one, two in zip(labels, found) for a, b in zip(one, two)])
    plain = np.mean([(a == "a") == (b == "A") for one, two in zip(words, labels) for a, b in zip(one, two)])
    assert right > plain, f"{right} of the labels are right, and {plain} by the letter alone"


def test_labels_of_rows():
    words, labels = sequences()
    number = np.repeat(np.arange(len(words)), [len(one) for one in words])
    shown = np.array([letter == "a" for word in words for letter in word], float)
    X = np.c_[number, shown, 1 - shown]
    y = np.array([7 if label == "A" else 4 for one in labels for label in one])
    own = mine(len(X))
    settings = {"outputs": "chain", "kernel": "linear", "sequence_column": 0, "C": 0.1}
    model = JointKernelMap(comm=comm, **settings).fit(X[own], y[own])
    alone = JointKernelMap(**settings).fit(X, y)
    assert model.report_["m"] == len(words) and set(alone.predict(X)) == {4, 7}
    assert (model.predict(X[own]) == alone.predict(X)[own]).all()


def test_labels_that_are_missing():
    words, labels = sequences()
    own = mine(len(words))
    short = labels[:-1] + [labels[-1][:-1]]
    raises(ValueError, lambda: JointKernelMap(comm=comm, **CHAIN).fit(part(words, own), part(short, own)), "label")
    raises(ValueError, lambda: JointKernelMap(comm=comm, **{**CHAIN, "window": 2}).fit(
        part(words, own), part(labels, own)), "odd")


def test_both_kernels_are_tuned():
    rng = np.random.default_rng(2)
    X = rng.random((30, 2))
    y = ["aaba" if x < 0.3 else "oobo" if x < 0.6 else "eebe" for x in X[:, 0]]
    own = mine(len(X))
    model = KernelDependencyEstimation(
        kernel="rbf(sigma=3)", output_kernel="rbf(normalize(spectrum(p=2)), sigma=9)", n_components=None, alpha=1.0,
        tune=True, tune_loss="normalize(spectrum(p=2))", tune_starts=1, tune_fits=16, comm=comm)
    try:
        report = model.fit(X[own], part(y, own)).report_
    except dkmap.Error as error:
        assert "built without" in str(error)
        return
    assert report["decoding_loss"] < report["start_decoding_loss"] and report["decoding_parameters"] == 4
    losses = comm.allgather(report["decoding_loss"])
    assert losses == losses[:1] * len(losses)
    right = comm.allreduce(sum(a == b for a, b in zip(model.predict(X[own]), part(y, own))))
    assert right > 24, f"{right} of {len(y)} outputs are right"
