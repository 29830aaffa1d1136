"""Kernel ridge regression and kernel PCA of dkmap beside scikit-learn's. Run by compare_sklearn.sh."""
import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time

import numpy as np
import sklearn
from sklearn.datasets import load_diabetes
from sklearn.decomposition import KernelPCA
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import KernelCenterer
from sklearn.svm import SVC

BAR = 1e-8
BAR_BACK = 1e-7
RANKS = 2
COMPONENTS = 64
FASHION = "/usr/share/datasets/fashion-mnist"


def dkmap(folder, *words):
    """Run dkmap on two ranks of one thread each; return what it put into its record."""
    return dkmap_turns(folder, *words)[-1]


def dkmap_turns(folder, *words):
    """The same with every line of the record that this run wrote: those of the turns of a bench."""
    record = os.path.join(folder, "record.jsonl")
    line = os.environ["DKMAP_LAUNCH"].split() + ["-np", str(RANKS), os.environ["DKMAP"]]
    line += [str(word) for word in words] + ["--quiet", "--record", record]
    env = dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")
    if os.path.exists(record):
        os.remove(record)
    done = subprocess.run(line, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(line)}\n{done.stderr}")
    with open(record) as lines:
        return [json.loads(line) for line in lines]


# Kernels on both sides: dkmap's expression, and the arguments of KernelRidge that mean the same.
def rbf(sigma):
    return f"rbf(sigma={sigma})", dict(kernel="rbf", gamma=0.5 / sigma**2)


def laplace(sigma):
    return f"laplace(sigma={sigma})", dict(kernel="laplacian", gamma=1.0 / sigma)


def poly(degree, c):
    return f"poly(degree={degree}, c={c})", dict(kernel="poly", degree=degree, gamma=1, coef0=c)


LINEAR = "linear", dict(kernel="linear")
COSINE = "cosine", dict(kernel="cosine")


def usps(data):
    """2000 training digits of 256 pixels, ten outputs: 1 for the digit and 0 for the others."""
    load = lambda name: np.load(os.path.join(data, "usps", name))
    labels = load("train_labels.npy")[:2000].astype(int)
    one_hot = (labels[:, None] == np.unique(labels)).astype(float)
    return load("train_x.npy")[:2000].astype(float), one_hot, load("test_x.npy").astype(float)


def diabetes():
    """342 patients of 10 measurements, one output; the other 100 are predicted."""
    X, y = load_diabetes(return_X_y=True)
    return X[:342], y[:342, None], X[342:]


def predict_with_dkmap(folder, X, Y, Z, kernel, alpha, precision):
    path = lambda name: os.path.join(folder, name)
    for name, rows in (("x.npy", X), ("y.npy", Y), ("z.npy", Z)):
        np.save(path(name), rows)
    dkmap(folder, "fit", "krr", "--x", path("x.npy"), "--y", path("y.npy"), "--kx", kernel,
          "--gamma", alpha, "--precision", precision, "-o", path("model.h5"))
    dkmap(folder, "predict", path("model.h5"), "--x", path("z.npy"), "-o", path("p.npy"))
    return np.load(path("p.npy"))


def compare_set(folder, name, sets, trials):
    X, Y, Z = sets
    worst = 0.0
    for (expression, arguments), alpha in trials:
        theirs = KernelRidge(alpha=alpha, **arguments).fit(X, Y).predict(Z)
        for precision in ("double", "mixed"):
            ours = predict_with_dkmap(folder, X, Y, Z, expression, alpha, precision)
            apart = np.linalg.norm(ours - theirs) / np.linalg.norm(theirs)
            worst = max(worst, apart)
            print(f"| {name} | {X.shape[0]} x {X.shape[1]} | {Y.shape[1]} | {expression} | {alpha:g} "
                  f"| {precision} | {apart:.1e} |", flush=True)
    return worst


def compare_grams(folder, X):
    """Kernel matrices, to rounding and symmetric to the last bit."""
    path = lambda name: os.path.join(folder, name)
    print(f"\nKernel matrices of {len(X)} of these\n")
    print("| kernel | largest difference / largest element | symmetric |")
    print("|---|---|---|")
    np.save(path("x.npy"), X)
    for expression, arguments in (LINEAR, poly(3, 1), rbf(8), laplace(50), COSINE):
        named = dict(arguments)
        theirs = pairwise_kernels(X, metric=named.pop("kernel"), **named)
        dkmap(folder, "gram", "--x", path("x.npy"), "--kx", expression, "-o", path("g.npy"))
        ours = np.load(path("g.npy"))
        print(f"| {expression} | {abs(ours - theirs).max() / abs(theirs).max():.1e} "
              f"| {'yes' if (ours == ours.T).all() else 'NO'} |", flush=True)


def compare_machines(folder, X, one_hot, Z):
    """Support vector machines, one class against the rest: support vectors and predicted classes."""
    path = lambda name: os.path.join(folder, name)
    labels = one_hot.argmax(axis=1)
    print(f"\nSupport vector machines on {len(X)} of these, {one_hot.shape[1]} classes\n")
    print("| kernel | C | support vectors, theirs and ours | predictions that differ, of all |")
    print("|---|---|---|---|")
    for name, rows in (("x.npy", X), ("y.npy", labels), ("z.npy", Z)):
        np.save(path(name), rows)
    differ = 0
    for (expression, arguments), C in ((rbf(8), 10), (rbf(4), 1), (poly(3, 1), 1)):
        theirs = OneVsRestClassifier(SVC(C=C, tol=1e-6, **arguments)).fit(X, labels)
        support = set().union(*(set(machine.support_) for machine in theirs.estimators_))
        told = dkmap(folder, "fit", "svm", "--x", path("x.npy"), "--y", path("y.npy"), "--kx",
                     expression, "--C", C, "--tolerance", 1e-6, "-o", path("model.h5"))
        dkmap(folder, "predict", path("model.h5"), "--x", path("z.npy"), "-o", path("p.npy"))
        apart = int((np.load(path("p.npy")) != theirs.predict(Z)).sum())
        differ += apart
        print(f"| {expression} | {C} | {len(support)}, {told['support_vectors']} | {apart} of {len(Z)} |",
              flush=True)
    return differ


def compare_back(folder, X, Z):
    """Coordinates (up to the sign of a component), and objects from them by a learned map."""
    path = lambda name: os.path.join(folder, name)
    worst = 0.0
    print(f"\nKernel principal components of {len(X)} of these, and back\n")
    print("| kernel | components | ridge back | coordinates | objects |")
    print("|---|---|---|---|---|")
    np.save(path("x.npy"), X)
    np.save(path("new.npy"), Z)
    scale = float(f"{np.sqrt((X**2).sum(axis=1).mean()):.2g}")
    for (expression, arguments), count, alpha in ((rbf(scale), 40, 0.1), (rbf(scale / 2), 20, 1e-3),
                                                  (poly(2, 1), 10, 1e4), (LINEAR, 8, 1.0)):
        theirs = KernelPCA(count, eigen_solver="dense", fit_inverse_transform=True, alpha=alpha,
                           **arguments).fit(X)
        wanted = theirs.transform(Z)
        dkmap(folder, "fit", "kpca", "--x", path("x.npy"), "--kx", expression, "--components",
              count, "-o", path("pcs.h5"))
        dkmap(folder, "encode", path("pcs.h5"), "--x", path("new.npy"), "-o", path("z.npy"))
        dkmap(folder, "decode", path("pcs.h5"), "--z", path("z.npy"), "--preimage", "learned",
              "--kz", expression, "--gamma-z", alpha, "-o", path("back.npy"))
        ours = np.load(path("z.npy"))
        ours = ours * np.sign((ours * wanted).sum(axis=0))
        back = theirs.inverse_transform(wanted)
        apart = [np.linalg.norm(a - b) / np.linalg.norm(b)
                 for a, b in ((ours, wanted), (np.load(path("back.npy")), back))]
        worst = max(worst, *apart)
        print(f"| {expression} | {count} | {alpha:g} | {apart[0]:.1e} | {apart[1]:.1e} |", flush=True)
    return worst


def compare_predictions(data):
    worst = 0.0
    print("| data | inputs | outputs | kernel | gamma | precision | relative difference |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        if data:
            trials = [(rbf(4), 1e-3), (rbf(8), 1e-6), (laplace(50), 1e-3), (poly(3, 1), 1.0),
                      (LINEAR, 1e-2), (COSINE, 1e-2)]
            worst = compare_set(folder, "USPS", usps(data), trials)
        trials = [(rbf(0.1), 1e-2), (laplace(0.5), 1e-2), (poly(2, 1), 1e-3), (LINEAR, 1e-2)]
        worst = max(worst, compare_set(folder, "diabetes", diabetes(), trials))
        compare_grams(folder, usps(data)[0][:300] if data else diabetes()[0])
        X, _, Z = usps(data) if data else diabetes()
        back = compare_back(folder, X[:300], Z[:200])
        if data:
            compare_machines(folder, *usps(data))
    if not data:
        print("\nUSPS was left out: name the folder that holds usps/ with --data or DKMAP_DATA")
    print(f"\nLargest relative difference {worst:.1e}: {'within' if worst <= BAR else 'ABOVE'} {BAR:g}")
    print(f"Largest of components, and back, {back:.1e}: "
          f"{'within' if back <= BAR_BACK else 'ABOVE'} {BAR_BACK:g}")
    return 0 if worst <= BAR and back <= BAR_BACK else 1


def read_idx(name, header, count, width):
    with gzip.open(os.path.join(FASHION, name)) as file:
        raw = file.read(header + count * width)[header:]
    return np.frombuffer(raw, np.uint8).reshape(count, width).astype(float)


def rest(gigabytes=4):
    """Before each run that is timed, of peers and dkmap alike. A machine that is a guest is busy for a while with memory
    that the run before gave back, and takes one to two seconds for each GiB that its host has taken meanwhile: that
    much is touched here, so that runs find it as on a machine of its own."""
    time.sleep(3)
    touched = np.empty(gigabytes << 30, np.uint8)
    touched[::4096] = 1


def middle(runs):
    """The run of median seconds."""
    runs = sorted(runs)
    return runs[(len(runs) - 1) // 2]


def time_sklearn(X, Y, sigma, alpha):
    """Seconds of KernelRidge.fit on arrays in memory, and its relative residual."""
    rest()
    begun = time.perf_counter()
    model = KernelRidge(kernel="rbf", gamma=0.5 / sigma**2, alpha=alpha).fit(X, Y)
    seconds = time.perf_counter() - begun
    left = rbf_kernel(X, gamma=0.5 / sigma**2) @ model.dual_coef_ + alpha * model.dual_coef_ - Y
    return seconds, np.linalg.norm(left) / np.linalg.norm(Y)


def time_dkmap(folder, m, sigma, alpha):
    """Seconds of the phases that compute, of the whole run from files to model, and the residual."""
    rest()
    record = dkmap(folder, "fit", "krr", "--x", f"{FASHION}/train-images-idx3-ubyte.gz[0:{m}]", "--y",
                   f"{FASHION}/train-labels-idx1-ubyte.gz[0:{m}]", "--kx", f"rbf(sigma={sigma * 255})",
                   "--gamma", alpha, "--precision", "mixed", "-o", os.path.join(folder, "model.h5"))
    phases = record["phases"]
    computing = sum(phases[name]["seconds"]["max"] for name in ("prepare", "gram", "factor", "refine"))
    return computing, record["seconds"], record["residual"]


def time_their_components(X, sigma, solver):
    """Seconds of KernelPCA.fit, and its largest residual over the largest eigenvalue."""
    rest()
    begun = time.perf_counter()
    model = KernelPCA(COMPONENTS, kernel="rbf", gamma=0.5 / sigma**2, eigen_solver=solver,
                      random_state=0).fit(X)
    seconds = time.perf_counter() - begun
    K = KernelCenterer().fit_transform(rbf_kernel(X, gamma=0.5 / sigma**2))
    left = K @ model.eigenvectors_ - model.eigenvectors_ * model.eigenvalues_
    return seconds, np.linalg.norm(left, axis=0).max() / model.eigenvalues_[0]


def time_our_components(folder, m, sigma):
    """Seconds of the phases that compute, of the whole run, and the largest residual."""
    rest()
    record = dkmap(folder, "fit", "kpca", "--x", f"{FASHION}/train-images-idx3-ubyte.gz[0:{m}]",
                   "--kx", f"rbf(sigma={sigma * 255})", "--components", COMPONENTS, "-o",
                   os.path.join(folder, "components.h5"))
    phases = record["phases"]
    computing = sum(phases[name]["seconds"]["max"] for name in ("prepare", "gram", "eigen"))
    return computing, record["seconds"], record["residual"]


def compare_components(folder, X, sigma, repeat):
    m = len(X)
    solvers = ("randomized", "arpack")
    turns = [[time_their_components(X, sigma, solver) for solver in solvers] +
             [time_our_components(folder, m, sigma)] for _ in range(repeat)]
    theirs = {solver: middle(turn[k] for turn in turns) for k, solver in enumerate(solvers)}
    ours = middle(turn[-1] for turn in turns)
    fastest = min(seconds for seconds, _ in theirs.values())
    print(f"\nKernel PCA, {COMPONENTS} components, the same images\n")
    print("| what | seconds | ratio | largest residual / largest eigenvalue |")
    print("|---|---|---|---|")
    for solver, (seconds, residual) in theirs.items():
        print(f"| scikit-learn KernelPCA.fit, {solver} | {seconds:.2f} | {fastest / seconds:.2f} "
              f"| {residual:.1e} |")
    print(f"| dkmap, {RANKS} ranks: prepare + gram + eigen | {ours[0]:.2f} "
          f"| {fastest / ours[0]:.2f} | {ours[2]:.1e} |")
    print(f"| dkmap, {RANKS} ranks: the whole run, from reading files to the saved model "
          f"| {ours[1]:.2f} | {fastest / ours[1]:.2f} | {ours[2]:.1e} |")
    for k, solver in enumerate(solvers + ("dkmap",)):
        tell_all(solver, [turn[k] for turn in turns])


def tell_all(who, runs):
    print(f"all runs of {who}: {', '.join(f'{run[0]:.2f}' for run in runs)} s")


def two_cores():
    """Everything from here on shares the same two cores."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    os.sched_setaffinity(0, cores)
    return len(cores)


def compare_speed(m, repeat):
    sigma, alpha = 7, 1e-3
    if not os.path.isdir(FASHION):
        sys.exit(f"no {FASHION}: on Debian: apt-get install dataset-fashion-mnist")
    print(f"Kernel ridge on Fashion-MNIST, m = {m}, d = 784, 10 outputs, rbf, gamma = {alpha:g}; "
          f"{two_cores()} cores, median of {repeat} runs in turn\n", flush=True)
    X = read_idx("train-images-idx3-ubyte.gz", 16, m, 784) / 255
    labels = read_idx("train-labels-idx1-ubyte.gz", 8, m, 1)
    Y = (labels == np.arange(10)).astype(float)
    with tempfile.TemporaryDirectory() as folder:
        turns = [(time_sklearn(X, Y, sigma, alpha), time_dkmap(folder, m, sigma, alpha))
                 for _ in range(repeat)]
    theirs = middle(turn[0] for turn in turns)
    ours = middle(turn[1] for turn in turns)
    print("| what | seconds | ratio | relative residual |")
    print("|---|---|---|---|")
    print(f"| scikit-learn {sklearn.__version__} KernelRidge.fit, arrays in memory "
          f"| {theirs[0]:.2f} | 1 | {theirs[1]:.1e} |")
    print(f"| dkmap, {RANKS} ranks, mixed: prepare + gram + factor + refine "
          f"| {ours[0]:.2f} | {theirs[0] / ours[0]:.2f} | {ours[2]:.1e} |")
    print(f"| dkmap, {RANKS} ranks, mixed: the whole run, from reading files to the saved model "
          f"| {ours[1]:.2f} | {theirs[0] / ours[1]:.2f} | {ours[2]:.1e} |")
    tell_all("scikit-learn", [turn[0] for turn in turns])
    tell_all("dkmap", [turn[1] for turn in turns])
    with tempfile.TemporaryDirectory() as folder:
        compare_components(folder, X, sigma, repeat)
    return 0


def main():
    parser = argparse.ArgumentParser(prog="compare_sklearn.sh")
    parser.add_argument("--data", default=os.environ.get("DKMAP_DATA"))
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--m", type=int, default=8000)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    if given.speed:
        return compare_speed(given.m, given.repeat)
    if given.data and not os.path.isfile(os.path.join(given.data, "usps", "train_x.npy")):
        sys.exit(f"{given.data}: no usps/train_x.npy in that folder")
    return compare_predictions(given.data)


if __name__ == "__main__":
    sys.exit(main())
