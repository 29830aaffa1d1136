"""Exact kernel ridge regression on UCI tables. Run by uci.sh, which has the defaults."""
import argparse
import os
import resource
import shlex
import subprocess
import sys
import tempfile

import numpy as np

from kept import kept


def dkmap(options, *words):
    launch = [*shlex.split(os.environ["DKMAP_LAUNCH"]), "-np", str(options.ranks)] if options.ranks > 1 else []
    done = subprocess.run([*launch, os.environ["DKMAP"], *map(str, words), "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"dkmap {' '.join(map(str, words))}: {done.stderr}")
    pairs = (line.split(None, 1) for line in done.stdout.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2}


def processor_seconds():
    """Of the commands that have ended, all ranks together: other work on the machine changes it little."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def split_of(options, name, split):
    """Training and test rows in units of the training rows, the former in random order."""
    load = lambda file: np.loadtxt(os.path.join(options.data, "uci", file), delimiter=",")
    table, is_test = load(f"{name}.csv.gz"), load(f"{name}_test_mask.csv.gz")[:, split] > 0
    train, test = table[~is_test], table[is_test]
    mean, deviation = train.mean(0), train.std(0)
    deviation[deviation == 0] = 1
    train, test = (train - mean) / deviation, (test - mean) / deviation
    return train[np.random.default_rng(split).permutation(len(train))][:options.rows], test


def one_split(options, name, split, folder):
    """Settings that were chosen, errors, and processor seconds of the tuning, the fit and the predictions."""
    train, test = split_of(options, name, split)
    path = {k: os.path.join(folder, k) for k in ("x.npy", "y.npy", "new.npy", "truth.npy", "m.h5", "p.npy")}
    for file, part in (("x.npy", train[:, :-1]), ("y.npy", train[:, -1]), ("new.npy", test[:, :-1]), ("truth.npy", test[:, -1])):
        np.save(path[file], part)
    some = f"[0:{min(options.tune_rows, len(train))}]"
    seconds = [processor_seconds()]
    tuned = dkmap(options, "fit", "krr", "--x", path["x.npy"] + some, "--y", path["y.npy"] + some, "--kx",
                  "matern(nu=1.5, sigma=median)", "--center", "--autotune", "--tune-widths", "columns", "--tune-fits",
                  options.tune_fits, "--tune-starts", 1, "-o", path["m.h5"])
    seconds.append(processor_seconds())
    fit = dkmap(options, "fit", "krr", "--x", path["x.npy"], "--y", path["y.npy"], "--kx", tuned["kernel"], "--gamma",
                tuned["gamma"], "--center", "--keep-factor", "--precision",
                options.precision or ("mixed" if name == "protein" else "double"), "-o", path["m.h5"])
    seconds.append(processor_seconds())
    dkmap(options, "predict", path["m.h5"], "--x", path["new.npy"], "--std", "--noise", "auto", "-o", path["p.npy"])
    seconds.append(processor_seconds())
    score = dkmap(options, "score", "--truth", path["truth.npy"], "--pred", path["p.npy"], "--std", "--loss",
                  "mse,nll,calibration")
    result = {"rows": len(train), "rmse": float(score["mse"])**0.5, "nll": float(score["nll"]),
              "calibration": float(score["calibration"]), "kernel": tuned["kernel"], "gamma": float(tuned["gamma"]),
              "precision": fit["precision"], "residual": float(fit["residual"]),
              "seconds": [round(s, 1) for s in np.diff(seconds)]}
    if options.peer_rows:
        result["peer"] = peer(options, train, test)
    return result


def peer(options, train, test):
    """scikit-learn's GaussianProcessRegressor with the same kernel on some rows: root mean square error and NLL."""
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import ConstantKernel, Matern, WhiteKernel

    some = train[:options.peer_rows]
    kernel = ConstantKernel() * Matern(np.ones(train.shape[1] - 1), nu=1.5) + WhiteKernel(0.1)
    model = GaussianProcessRegressor(kernel).fit(some[:, :-1], some[:, -1])
    mean, deviation = model.predict(test[:, :-1], return_std=True)
    error = test[:, -1] - mean
    return [(error**2).mean()**0.5, (0.5 * np.log(2 * np.pi * deviation**2) + error**2 / (2 * deviation**2)).mean()]


def kept_split(options, name, split):
    """The result of a split, which is made unless it is there already."""
    how = {k: getattr(options, k) for k in ("rows", "tune_rows", "tune_fits", "precision", "peer_rows")}
    with tempfile.TemporaryDirectory(dir=options.out) as folder:
        return kept(options.out, f"{name}.{split}", how, lambda: one_split(options, name, split, folder))


def main():
    parser = argparse.ArgumentParser()
    for option in ("data", "sets", "splits", "precision", "out"):
        parser.add_argument("--" + option)
    for option in ("rows", "tune-rows", "tune-fits", "peer-rows", "ranks"):
        parser.add_argument("--" + option, type=int)
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    head = ["table", "training rows", "splits", "RMSE", "NLL", "calibration"]
    head += [f"scikit-learn, {options.peer_rows} rows: RMSE", "NLL"] if options.peer_rows else []
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|", flush=True)
    for name in options.sets.split(","):
        runs = [kept_split(options, name, split) for split in map(int, options.splits.split(","))]
        columns = np.array([[run["rmse"], run["nll"], run["calibration"], *run.get("peer", [])] for run in runs])
        error = columns.std(0, ddof=1 if len(runs) > 1 else 0) / np.sqrt(len(runs))
        cells = [f"{mean:.4f} ± {se:.4f}" for mean, se in zip(columns.mean(0), error)]
        print(f"| {name} | {np.mean([run['rows'] for run in runs]):.0f} | {len(runs)} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
