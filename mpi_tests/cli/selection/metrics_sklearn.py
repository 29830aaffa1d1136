"""Compare the measures of `dkmap score` with those of scikit-learn and scipy to 1e-12.

usage: metrics_sklearn.py DIRECTORY COMMAND...     COMMAND starts dkmap on some ranks
"""
import json
import os
import subprocess
import sys

import numpy as np
from scipy.stats import spearmanr
from sklearn import metrics as m

folder, command = sys.argv[1], sys.argv[2:]
os.chdir(folder)
failures = 0


def score(truth, pred, losses, *more):
    """The values of some losses, from the record of a run."""
    if os.path.exists("record.jsonl"):
        os.remove("record.jsonl")
    subprocess.run(
        [*command, "score", "--truth", truth, "--pred", pred, "--loss", ",".join(losses),
         "--record", "record.jsonl", *more],
        check=True, stdout=subprocess.DEVNULL)
    with open("record.jsonl") as file:
        return json.load(file)


def compare(what, record, **expected):
    global failures
    for name, value in expected.items():
        name = name.replace("_", "-") if name.replace("_", "-") in record else name
        if not abs(record[name] - value) <= 1e-12:
            failures += 1
            print(f"FAILED {what}: {name} is {record[name]!r}, not {value!r}", file=sys.stderr)


def write_sets(path, rows):
    with open(path, "w") as file:
        for row in rows:
            file.write(",".join(str(j) for j in np.flatnonzero(row)) + "\n")


rng = np.random.default_rng(7)
n = 203

# Regression, three outputs, with ties.
Y = np.round(rng.normal(size=(n, 3)), 1)
P = np.round(Y + rng.normal(size=(n, 3)), 1)
np.save("y.npy", Y)
np.save("p.npy", P)
r = score("y.npy", "p.npy", ["mae", "median", "r2", "spearman"])
each = m.r2_score(Y, P, multioutput="raw_values")
compare("regression", r, mae=m.mean_absolute_error(Y, P), median=m.median_absolute_error(Y, P),
        r2=m.r2_score(Y, P), r2_0=each[0], r2_2=each[2],
        spearman=np.mean([spearmanr(Y[:, j], P[:, j])[0] for j in range(3)]))

# Classes: of five, and of two.
for classes in (5, 2):
    y = rng.integers(0, classes, n)
    p = np.where(rng.random(n) < 0.6, y, rng.integers(0, classes, n))
    np.save("y.npy", y)
    np.save("p.npy", p)
    average = "binary" if classes == 2 else "micro"
    names = ["accuracy", "balanced-accuracy"] + [
        f + a for f in ("precision", "recall", "f1") for a in ("", "-macro")]
    r = score("y.npy", "p.npy", names, "--confusion")
    compare(f"{classes} classes", r, accuracy=m.accuracy_score(y, p),
            balanced_accuracy=m.balanced_accuracy_score(y, p),
            precision=m.precision_score(y, p, average=average),
            precision_macro=m.precision_score(y, p, average="macro"),
            recall=m.recall_score(y, p, average=average),
            recall_macro=m.recall_score(y, p, average="macro"),
            f1=m.f1_score(y, p, average=average), f1_macro=m.f1_score(y, p, average="macro"))

# Scores of classes.
y = rng.integers(0, 6, n)
S = rng.random((n, 6)) + np.eye(6)[y] * 0.3
S = np.round(S / S.sum(axis=1, keepdims=True), 2)
S[:, 5] = 1 - S[:, :5].sum(axis=1)
np.save("y.npy", y + 3)  # classes need not be numbers of columns
np.save("p.npy", S)
r = score("y.npy", "p.npy", ["auc", "average-precision", "top-3", "top-5"])
compare("scores", r, auc=m.roc_auc_score(y, S, multi_class="ovr"),
        average_precision=m.average_precision_score(np.eye(6)[y], S, average="macro"),
        top_3=m.top_k_accuracy_score(y, S, k=3), top_5=m.top_k_accuracy_score(y, S, k=5))
S = np.clip(S, 1e-3, None)
S /= S.sum(axis=1, keepdims=True)
np.save("p.npy", S)
compare("probabilities", score("y.npy", "p.npy", ["nll"]), nll=m.log_loss(y, S))
y = rng.integers(0, 2, n)
s = np.round(rng.normal(size=n) + y, 1)
np.save("y.npy", y)
np.save("p.npy", s.reshape(n, 1))
compare("one column", score("y.npy", "p.npy", ["auc", "average-precision"]),
        auc=m.roc_auc_score(y, s), average_precision=m.average_precision_score(y, s))

# Label sets.
Y = (rng.random((n, 8)) < 0.3).astype(int)
P = np.where(rng.random((n, 8)) < 0.8, Y, 1 - Y)
Y[:, 0] = 1
P[P.sum(axis=1) == 0, 1] = 1  # a blank line would be no row
write_sets("y.svm", Y)
write_sets("p.svm", P)
sets = ["--y-type", "label-sets", "--labels", "8"]
r = score("y.svm", "p.svm", ["hamming", "accuracy"] + [
    f + a for f in ("precision", "recall", "f1") for a in ("", "-macro", "-examples")], *sets)
expected = {"hamming": m.hamming_loss(Y, P), "accuracy": m.accuracy_score(Y, P)}
for name, f in (("precision", m.precision_score), ("recall", m.recall_score), ("f1", m.f1_score)):
    for ending, average in (("", "micro"), ("_macro", "macro"), ("_examples", "samples")):
        expected[name + ending] = f(Y, P, average=average, zero_division=0)
compare("label sets", r, **expected)
S = rng.random((n, 8)) + Y * 0.4
np.save("p.npy", S)
Y[0, 0] = 0
write_sets("y.svm", Y)
r = score("y.svm", "p.npy", ["auc", "average-precision"], "--y-type", "label-sets")
compare("scores of labels", r, auc=m.roc_auc_score(Y, S),
        average_precision=m.average_precision_score(Y, S))

sys.exit(1 if failures else 0)
