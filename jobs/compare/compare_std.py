"""Standard deviations and likelihoods beside scikit-learn's Gaussian process. Run by compare_std.sh."""
import argparse
import os
import shlex
import subprocess
import sys
import tempfile

import numpy as np

WIDTH, GAMMA = 2.0, 0.1


def dkmap(options, *words):
    done = subprocess.run([*shlex.split(os.environ["DKMAP_LAUNCH"]), "-np", str(options.ranks), os.environ["DKMAP"],
                           *map(str, words), "--quiet"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"dkmap {' '.join(map(str, words))}: {done.stderr}")
    return dict(line.split(None, 1) for line in done.stdout.splitlines() if len(line.split(None, 1)) == 2)


def by_sklearn(X, y, new):
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import Matern

    model = GaussianProcessRegressor(Matern(WIDTH, nu=1.5), alpha=GAMMA, optimizer=None).fit(X, y)
    return model.predict(new, return_std=True)


def matern(X, Z):
    from scipy.spatial.distance import cdist

    K = cdist(X, Z)
    K *= np.sqrt(3) / WIDTH
    for rows in np.array_split(K, max(1, len(K) // 500)):
        rows[:] = (1 + rows) * np.exp(-rows)
    return K


def by_scipy(X, y, new):
    """K, which becomes its factor, is all that is held of that size."""
    from scipy.linalg import cho_solve, cholesky, solve_triangular

    K = np.asfortranarray(matern(X, X).T)  # symmetric: no copy
    K[np.diag_indices(len(K))] += GAMMA
    L = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    cross = matern(X, new)
    mean = cross.T @ cho_solve((L, True), y, check_finite=False)
    V = solve_triangular(L, cross, lower=True, overwrite_b=True, check_finite=False)
    return mean, np.sqrt(1 - np.einsum("ij,ij->j", V, V))


def likelihood(truth, mean, deviation):
    variance = deviation**2 + GAMMA
    return np.mean(0.5 * np.log(2 * np.pi * variance) + (truth - mean)**2 / (2 * variance))


def compare(options, table, rows, folder):
    part = table[:rows + options.new]
    part = (part - part[:rows].mean(0)) / part[:rows].std(0)
    X, y, new, truth = part[:rows, :-1], part[:rows, -1], part[rows:, :-1], part[rows:, -1]
    path = lambda name: os.path.join(folder, name)
    for name, block in (("x.npy", X), ("y.npy", y), ("new.npy", new), ("truth.npy", truth)):
        np.save(path(name), block)
    fit = dkmap(options, "fit", "krr", "--x", path("x.npy"), "--y", path("y.npy"), "--kx", f"matern(nu=1.5, sigma={WIDTH})",
                "--gamma", GAMMA, "--keep-factor", "-o", path("m.h5"))
    dkmap(options, "predict", path("m.h5"), "--x", path("new.npy"), "--std", "-o", path("f.npy"))
    dkmap(options, "predict", path("m.h5"), "--x", path("new.npy"), "--std", "--noise", "gamma", "-o", path("noisy.npy"))
    score = dkmap(options, "score", "--truth", path("truth.npy"), "--pred", path("noisy.npy"), "--std", "--loss", "nll")
    os.remove(path("m.h5"))
    ours = np.load(path("f.npy"))
    peer = by_sklearn if rows <= options.sklearn_rows else by_scipy
    mean, deviation = peer(X, y, new)
    nll, noisy = likelihood(truth, mean, deviation), np.load(path("noisy.npy"))
    # the report of score has six digits: the same formula on what dkmap wrote has all of them
    exact = np.mean(0.5 * np.log(2 * np.pi * noisy[:, 1]**2) + (truth - noisy[:, 0])**2 / (2 * noisy[:, 1]**2))
    if abs(float(score["nll"]) - exact) > 1e-5:
        sys.exit(f"score says {score['nll']}, its formula {exact}")
    found = [abs(ours[:, 0] - mean).max(), abs(ours[:, 1] - deviation).max(), abs(exact - nll)]
    print(f"| {rows} | {peer.__name__[3:]} | " + " | ".join(f"{x:.1e}" for x in found) + f" | {nll:.6f} | {fit['residual']} |",
          flush=True)
    return max(found)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default=os.environ.get("DKMAP_DATA"))
    parser.add_argument("--rows", default="2000,5000,20000")
    parser.add_argument("--new", type=int, default=1000)
    parser.add_argument("--sklearn-rows", type=int, default=5000)
    parser.add_argument("--ranks", type=int, default=2)
    options = parser.parse_args()
    if not options.data:
        sys.exit("compare_std.sh: name the folder of the data sets with --data or DKMAP_DATA")
    table = np.loadtxt(os.path.join(options.data, "uci", "protein.csv.gz"), delimiter=",")
    print("| training rows | beside | means | deviations | NLL | NLL of both | residual |\n|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        worst = max(compare(options, table, int(rows), folder) for rows in options.rows.split(","))
    sys.exit("they differ by more than 1e-8" if worst > 1e-8 else 0)


if __name__ == "__main__":
    main()
