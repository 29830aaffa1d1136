"""Coverage of prediction sets on random splits. Run by coverage.sh, which has the defaults."""
import argparse
import functools
import gzip
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np

from kept import kept

ASKED = (0.8, 0.9, 0.95)


def numbers(data):
    """Hourly counts of rented bicycles: the last column."""
    table = np.loadtxt(os.path.join(data, "uci", "bike.csv.gz"), delimiter=",")
    return table[:, :-1], table[:, -1]


def classes(data):
    load = lambda name: np.load(os.path.join(data, "usps", name))
    return load("train_x.npy"), load("train_labels.npy").ravel().astype(int)


def label_sets(data):
    """Words of bibliographic entries, and their tags."""
    rows = []
    for part in ("train", "test"):
        with gzip.open(os.path.join(data, "bibtex", f"bibtex-{part}.arff.gz"), "rt") as lines:
            body = False
            for line in lines:
                if body and line.strip():
                    rows.append(line)
                body = body or line.lower().startswith("@data")
    table = np.zeros((len(rows), 1995))
    for k, row in enumerate(rows):
        if row.startswith("{"):
            for at, value in re.findall(r"(\d+) ([\d.]+)", row):
                table[k, int(at)] = float(value)
        else:
            table[k] = np.fromstring(row, sep=",")
    return table[:, :-159], [" ".join(map(str, np.flatnonzero(y))) for y in table[:, -159:]]


def strings(data):
    """Words of 4 to 12 letters and their phonemes, one letter each and without stress."""
    words, sounds, code = [], [], {}
    with gzip.open(os.path.join(data, "pronounce", "cmudict.dict.gz"), "rt") as lines:
        for line in lines:
            word, *phonemes = line.split("#")[0].split()
            if re.fullmatch("[a-z]{4,12}", word):
                words.append(word)
                sounds.append("".join(code.setdefault(p.rstrip("012"), chr((97 if len(code) < 26 else 39) + len(code)))
                                      for p in phonemes))
    return words, sounds


KINDS = {
    "numbers": (numbers, ("krr", "--standardize", "--kx", "matern(nu=1.5, sigma=median)", "--gamma", "0.1"), None),
    "classes": (classes, ("krr", "--kx", "rbf(sigma=8)", "--gamma", "0.01", "--y-type", "labels"), "labels"),
    "label sets": (label_sets, ("kde", "--kx", "rbf(normalize(linear), sigma=1)", "--ky", "normalize(labels)",
                                "--components", "all", "--gamma", "0.1", "--y-type", "label-sets"), "label-sets"),
    "strings": (strings, ("kde", "--kx", "normalize(spectrum(p=2))", "--ky", "normalize(spectrum(p=2))",
                          "--components", "all", "--gamma", "0.1"), None),
}


def write(name, objects):
    """The file of some objects."""
    if isinstance(objects[0], str):
        name += ".txt"
        with open(name, "w") as file:
            file.writelines(line + "\n" for line in objects)
    else:
        name += ".npy"
        np.save(name, np.asarray(objects))
    return name


def dkmap(*words):
    done = subprocess.run([os.environ["DKMAP"], *map(str, words), "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"dkmap {' '.join(map(str, words))}: {done.stderr}")
    return {line.split()[0]: line.split()[1] for line in done.stdout.splitlines() if len(line.split()) > 1}


def one_split(kind, X, Y, rows, seed, shuffle, out):
    """Coverage and mean size of sets, and what they could hold, for each coverage asked for."""
    _, method, y_type = KINDS[kind]
    draw = np.random.default_rng(seed)
    order = draw.permutation(len(X))
    parts = order[:rows], order[rows:2 * rows], order[2 * rows:4 * rows]
    outputs = draw.permutation(len(X)) if shuffle else np.arange(len(X))
    x = [write(os.path.join(out, f"x{k}"), [X[i] for i in part]) for k, part in enumerate(parts)]
    y = [write(os.path.join(out, f"y{k}"), [Y[outputs[i]] for i in part]) for k, part in enumerate(parts)]
    typed = ("--y-type", y_type) if y_type else ()
    choose, truth, most = typed, y[2], len(set(Y)) if kind == "classes" else np.ptp(Y) if kind == "numbers" else 0
    if method[0] == "kde":  # candidates: all outputs of this split, each once
        tried = [Y[outputs[i]] for i in parts[2]]
        all_of_them = sorted(set(Y[outputs[i]] for part in parts for i in part))
        index, most = {text: k for k, text in enumerate(all_of_them)}, len(all_of_them)
        choose = ("--candidates", write(os.path.join(out, "candidates"), all_of_them), *typed)
        truth = write(os.path.join(out, "truth"), np.array([index[text] for text in tried]))
    model, sets = os.path.join(out, "model.h5"), os.path.join(out, "sets.csv")
    dkmap("fit", *method, "--x", x[0], "--y", y[0], "-o", model)
    found = []
    for asked in ASKED:
        dkmap("predict", model, "--x", x[2], "--calibration-x", x[1], "--calibration-y", y[1], "--coverage", asked,
              *choose, "-o", sets)
        score = dkmap("score", "--truth", truth, "--pred", sets, "--loss", "coverage",
                      *(("--y-type", "labels") if kind != "numbers" else ()))
        found.append((float(score["coverage"]), float(score.get("set_size", score.get("width", "nan"))), most))
    return found


def kept_split(options, examples, kind, rows, seed, shuffle):
    """What one_split() finds, unless it is there already."""
    make = lambda folder: {"found": one_split(kind, *examples(kind), rows, seed, shuffle, folder)}
    name = f"{kind.replace(' ', '_')}.{seed}" + (".shuffled" if shuffle else "")
    with tempfile.TemporaryDirectory(dir=options.out) as folder:
        return kept(options.out, name, {"rows": rows}, lambda: make(folder))["found"]


def table(options, shuffle, splits, examples):
    print("\n| outputs | rows | " + " | ".join(f"{100 * a:g} %, size" for a in ASKED) + " | of |\n|---|---|---|---|---|---|")
    worst = 0.0
    for kind in options.outputs:
        rows = min(options.rows, len(examples(kind)[1]) // 4)
        runs = np.array([kept_split(options, examples, kind, rows, seed, shuffle) for seed in range(splits)])
        mean, error = runs.mean(0), runs.std(0, ddof=1 if splits > 1 else 0) / np.sqrt(splits)
        cells = [f"{100 * mean[k, 0]:.2f} ± {100 * error[k, 0]:.2f}, {mean[k, 1]:.4g}" for k in range(len(ASKED))]
        worst = max(worst, np.abs(mean[:, 0] - ASKED).max())
        print(f"| {kind} | {rows} | " + " | ".join(cells) + f" | {mean[0, 2]:.4g} |", flush=True)
    print(f"\nfarthest from what was asked, {splits} splits: {100 * worst:.2f} points")


def overhead(options, examples):
    """Seconds that calibration with a tenth of the examples adds to a fit."""
    print("\n| outputs | examples | seconds of fit | of calibration | share |\n|---|---|---|---|---|")
    for kind in options.outputs:
        X, Y = examples(kind)
        rows = min(8 * options.rows, len(X)) if kind in ("numbers", "classes") else min(4 * options.rows, len(X))
        record, (_, method, _) = os.path.join(options.out, "record.json"), KINDS[kind]
        if os.path.exists(record):
            os.remove(record)
        dkmap("fit", *method, "--x", write(os.path.join(options.out, "x"), X[:rows]), "--y",
              write(os.path.join(options.out, "y"), Y[:rows]), "--holdout", 0.1, "-o",
              os.path.join(options.out, "model.h5"), "--record", record)
        with open(record) as file:
            run = json.loads(file.readlines()[-1])
        seconds, extra = run["seconds"], run["phases"]["calibrate"]["seconds"]["max"]
        print(f"| {kind} | {rows} | {seconds - extra:.2f} | {extra:.3f} | {100 * extra / (seconds - extra):.1f} % |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    for option in ("data", "only", "outputs", "out"):
        parser.add_argument("--" + option)
    for option in ("splits", "rows"):
        parser.add_argument("--" + option, type=int)
    options = parser.parse_args()
    options.outputs = options.outputs.split(",")
    os.makedirs(options.out, exist_ok=True)
    examples = functools.lru_cache(None)(lambda kind: KINDS[kind][0](options.data))
    if options.only in ("", "coverage"):
        table(options, False, options.splits, examples)
    if options.only in ("", "shuffled"):
        print("\nOutputs shuffled:")
        table(options, True, options.splits, examples)
    if options.only in ("", "overhead"):
        overhead(options, examples)


if __name__ == "__main__":
    main()
