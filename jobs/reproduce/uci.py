"""Exact kernel ridge regression on UCI tables. Run by uci.sh."""
import argparse
import os
import shlex
import subprocess
import sys
import time

import numpy as np


def dkmap(options, *words):
    done = subprocess.run([*shlex.split(os.environ["DKMAP_LAUNCH"]), "-np", str(options.ranks), os.environ["DKMAP"],
                           *map(str, words), "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"dkmap {' '.join(map(str, words))}: {done.stderr}")
    pairs = (line.split(None, 1) for line in done.stdout.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def one_split(options, name, split):
    """Rows fitted, root mean square error, negative log likelihood, seconds of tuning and of the exact fit, and the errors of the
    peer."""
    load = lambda file: np.loadtxt(os.path.join(options.data, "uci", file), delimiter=",")
    table, is_test = load(f"{name}.csv.gz"), load(f"{name}_test_mask.csv.gz")[:, split] > 0
    train, test = table[~is_test], table[is_test]
    mean, deviation = train.mean(0), train.std(0)
    deviation[deviation == 0] = 1
    train, test = (train - mean) / deviation, (test - mean) / deviation
    train = train[np.random.default_rng(split).permutation(len(train))][:options.rows]
    path = {k: os.path.join(options.out, k) for k in ("x.npy", "y.npy", "new.npy", "truth.npy", "m.h5", "p.npy")}
    for file, part in (("x.npy", train[:, :-1]), ("y.npy", train[:, -1]), ("new.npy", test[:, :-1]), ("truth.npy", test[:, -1])):
        np.save(path[file], part)
    some = f"[0:{min(options.tune_rows, len(train))}]"
    begun = time.time()
    tuned = dkmap(options, "fit", "krr", "--x", path["x.npy"] + some, "--y", path["y.npy"] + some, "--kx",
                  "matern(nu=1.5, sigma=median)", "--center", "--autotune", "--tune-widths", "columns", "--tune-fits", 60,
                  "--tune-starts", 1, "-o", path["m.h5"])
    tuning = time.time() - begun
    begun = time.time()
    dkmap(options, "fit", "krr", "--x", path["x.npy"], "--y", path["y.npy"], "--kx", tuned["kernel"], "--gamma",
          tuned["gamma"], "--center", "--keep-factor", "-o", path["m.h5"])
    fitting = time.time() - begun
    dkmap(options, "predict", path["m.h5"], "--x", path["new.npy"], "--std", "--noise", "auto", "-o", path["p.npy"])
    score = dkmap(options, "score", "--truth", path["truth.npy"], "--pred", path["p.npy"], "--std", "--loss", "mse,nll")
    os.remove(path["m.h5"])
    theirs = peer(options, train, test) if options.peer_rows else (np.nan, np.nan)
    return len(train), float(score["mse"])**0.5, float(score["nll"]), tuning, fitting, *theirs


def peer(options, train, test):
    """scikit-learn's GaussianProcessRegressor with the same kernel on some rows: root mean square error and NLL."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    some = train[:options.peer_rows]
    kernel = ConstantKernel() * Matern(np.ones(train.shape[1] - 1), nu=1.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel).fit(some[:, :-1], some[:, -1])
    mean, deviation = model.predict(test[:, :-1], return_std=True)
    error = test[:, -1] - mean
    return np.sqrt((error**2).mean()), (0.5 * np.log(2 * np.pi * deviation**2) + error**2 / (2 * deviation**2)).mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.environ.get("DKMAP_DATA"))
    parser.add_argument("--sets", default="pol,elevators,bike,protein")
    parser.add_argument("--splits", default=",".join(map(str, range(10))))
    parser.add_argument("--rows", type=int)
    parser.add_argument("--tune-rows", type=int, default=2000)
    parser.add_argument("--peer-rows", type=int, default=0)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--out")
    options = parser.parse_args()
    if not options.data:
        sys.exit("uci.sh: name the folder of the data sets with --data or DKMAP_DATA")
    os.makedirs(options.out, exist_ok=True)
    head = ["table", "training rows", "splits", "RMSE", "NLL", "seconds of tuning", "of the exact fit"]
    head += [f"scikit-learn, {options.peer_rows} rows: RMSE", "NLL"] if options.peer_rows else []
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for name in options.sets.split(","):
        runs = []
        for split in map(int, options.splits.split(",")):
            runs.append(one_split(options, name, split))
            print(f"{name} {split}: {runs[-1]}", file=sys.stderr, flush=True)
        runs = np.array(runs)
        error = runs.std(0, ddof=1 if len(runs) > 1 else 0) / np.sqrt(len(runs))
        mean = runs.mean(0)
        print(f"| {name} | {mean[0]:.0f} | {len(runs)} | {mean[1]:.3f} ± {error[1]:.3f} | {mean[2]:.3f} ± {error[2]:.3f} | "
              f"{mean[3]:.0f} | {mean[4]:.0f} |" +
              (f" {mean[5]:.3f} ± {error[5]:.3f} | {mean[6]:.3f} ± {error[6]:.3f} |" if options.peer_rows else ""), flush=True)


if __name__ == "__main__":
    main()
