"""Landmark ridge regression of dkmap beside scikit-learn's Nystroem + Ridge: the same kernel, ridge and
number of landmarks, on all of Fashion-MNIST; and the exact fit by iteration, which those landmarks
precondition. Started by compare_nystroem.sh."""
import argparse
import gzip
import json
import os
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np
import sklearn
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import Ridge

FASHION = "/usr/share/datasets/fashion-mnist"
SIGMA, GAMMA = 1200, 0.05


def read_idx(name, header, width):
    with gzip.open(os.path.join(FASHION, name)) as file:
        return np.frombuffer(file.read()[header:], np.uint8).reshape(-1, width).astype(float)


def run_theirs(landmarks):
    """Seconds of fitting arrays in memory, and the share of wrong test labels."""
    X, labels = read_idx("train-images-idx3-ubyte.gz", 16, 784), read_idx("train-labels-idx1-ubyte.gz", 8, 1)
    Z, truth = read_idx("t10k-images-idx3-ubyte.gz", 16, 784), read_idx("t10k-labels-idx1-ubyte.gz", 8, 1)
    begun = time.perf_counter()
    features = Nystroem(kernel="rbf", gamma=0.5 / SIGMA**2, n_components=landmarks, random_state=0)
    model = Ridge(alpha=GAMMA, fit_intercept=False)
    model.fit(features.fit_transform(X), (labels == np.arange(10)).astype(float))
    seconds = time.perf_counter() - begun
    return seconds, np.mean(model.predict(features.transform(Z)).argmax(1) != truth[:, 0])


def run_ours(landmarks, ranks, *more):
    """Seconds from files to model, the share of wrong test labels, and steps."""
    with tempfile.TemporaryDirectory() as folder:
        record, model = os.path.join(folder, "runs.jsonl"), os.path.join(folder, "model.h5")
        command = shlex.split(os.environ["DKMAP_LAUNCH"]) + ["-np", str(ranks), os.environ["DKMAP"]]
        command += ["fit", "krr", "--x", f"{FASHION}/train-images-idx3-ubyte.gz", "--y",
                    f"{FASHION}/train-labels-idx1-ubyte.gz", "--kx", f"rbf(sigma={SIGMA})", "--gamma",
                    str(GAMMA), "--solver", "pcg", "--landmarks", str(landmarks), "--holdout-x",
                    f"{FASHION}/t10k-images-idx3-ubyte.gz", "--holdout-y",
                    f"{FASHION}/t10k-labels-idx1-ubyte.gz", "-o", model, "--record", record, "--quiet", *more]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                       env=dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"))
        with open(record) as lines:
            told = json.loads(lines.readline())
    return told["seconds"] - told["phases"]["predict"]["seconds"]["max"], told["holdout_zero-one"], told["steps"]


def main():
    parser = argparse.ArgumentParser(prog="compare_nystroem.sh")
    parser.add_argument("--landmarks", type=int, default=5000)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--tolerance", default="0.2")
    given = parser.parse_args()
    if not os.path.isdir(FASHION):
        sys.exit(f"no {FASHION}: on Debian: apt-get install dataset-fashion-mnist")
    all_centers = ["--centers", "all", "--tolerance", given.tolerance]
    ours = {"landmarks as centres": run_ours(given.landmarks, given.ranks),
            "all images as centres": run_ours(given.landmarks, given.ranks, *all_centers)}
    their_seconds, their_wrong = run_theirs(given.landmarks)
    print("| what | seconds | ratio | test error |\n|---|---|---|---|")
    print(f"| scikit-learn {sklearn.__version__} Nystroem + Ridge, arrays in memory | {their_seconds:.1f} | 1 "
          f"| {100 * their_wrong:.2f} % |")
    for what, (seconds, wrong, steps) in ours.items():
        print(f"| dkmap, {given.ranks} ranks, {what}, {steps} steps: files to model | {seconds:.1f} "
              f"| {their_seconds / seconds:.2f} | {100 * wrong:.2f} % |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
