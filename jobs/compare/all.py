"""The table of speed compared with peers. Run by all.sh, which says how."""
import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)


class Skip(Exception):
    """Why a row is left out."""


def openblas_core():
    """The core to name to OpenBLAS where it takes kernels without AVX2 on a processor that has it; else None."""
    with open("/proc/cpuinfo") as lines:
        flags = next((line.split() for line in lines if line.startswith("flags")), [])
    told = subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True, text=True,
                          env=dict(os.environ, OPENBLAS_VERBOSE="2")).stderr
    old = any(f"Core: {name}" in told for name in ("Prescott", "Core2", "Penryn", "Nehalem", "Sandybridge"))
    if not old or "avx2" not in flags:
        return None
    return "SkylakeX" if "avx512bw" in flags and "avx512dq" in flags else "Haswell"


def seconds_of(work):
    begun = time.perf_counter()
    result = work()
    return time.perf_counter() - begun, result


def in_turn(repeat, theirs, ours):
    """Medians of both, each a function that gives its seconds; peers and dkmap in turn."""
    runs = [(theirs(), ours()) for _ in range(repeat)]
    return statistics.median(t for t, _ in runs), statistics.median(o for _, o in runs), runs


def row_of(runs, check):
    theirs, ours, all_runs = runs
    return dict(peer_seconds=theirs, seconds=ours, ratio=theirs / ours, check=check, runs=all_runs)


class Rows:
    """One function per row of TABLE, which returns the figures of the row."""

    def __init__(self, given, folder):
        import compare_sklearn
        self.given, self.folder, self.repeat, self.sk = given, folder, given.repeat, compare_sklearn

    def size(self, n):
        """The number of examples of a row: a quarter of it with --quick."""
        return n // 4 if self.given.quick else n

    def path(self, name):
        return os.path.join(self.folder, name)

    def dkmap(self, *words):
        return self.sk.dkmap(self.folder, *words)

    def need_fashion(self):
        if not os.path.isdir(self.sk.FASHION):
            raise Skip("no Fashion-MNIST: on Debian: apt-get install dataset-fashion-mnist")

    def need_usps(self):
        if not self.given.data or not os.path.isfile(os.path.join(self.given.data, "usps", "train_x.npy")):
            raise Skip("no usps/train_x.npy: name its folder with --data")

    def bench(self, key, *words):
        """The median of a figure over the turns of a `dkmap bench`, each beside its own gemm, and the largest residual."""
        self.sk.rest()
        told = self.sk.dkmap_turns(self.folder, "bench", *words, "--repeat", self.repeat)
        return statistics.median(record[key] for record in told), max(record["residual"] for record in told)

    def gram(self, *words):
        ratio, residual = self.bench("ratio", "gram", "--n", self.size(16000), *words)
        return dict(ratio=ratio, check=f"residual {residual:.1e}")

    def gram_double(self):
        return self.gram()

    def gram_single(self):
        return self.gram("--precision", "single")

    def images(self, m=8000):
        self.need_fashion()
        m = self.size(m)
        X = self.sk.read_idx("train-images-idx3-ubyte.gz", 16, m, 784)
        labels = self.sk.read_idx("train-labels-idx1-ubyte.gz", 8, m, 1)
        return X, labels, (labels == np.arange(10)).astype(float)

    def ridge(self, X, Y, x_file, sigma, width):
        told = {}

        def ours():
            self.sk.rest()
            record = self.dkmap("fit", "krr", "--x", x_file, "--y",
                                f"{self.sk.FASHION}/train-labels-idx1-ubyte.gz[0:{len(X)}]", "--kx", f"rbf(sigma={width})",
                                "--gamma", 1e-3, "--precision", "mixed", "-o", self.path("model.h5"))
            told["ours"] = record["residual"]
            return record["seconds"]

        def theirs():
            seconds, told["theirs"] = self.sk.time_sklearn(X, Y, sigma, 1e-3)
            return seconds
        runs = in_turn(self.repeat, theirs, ours)
        return row_of(runs, f"residuals {told['theirs']:.1e} and {told['ours']:.1e}")

    def krr(self):
        X, _, Y = self.images()
        return self.ridge(X / 255, Y, f"{self.sk.FASHION}/train-images-idx3-ubyte.gz[0:{len(X)}]", 7, 7 * 255)

    def krr_standardised(self):
        X, _, Y = self.images()
        X = (X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1)
        np.save(self.path("standard.npy"), X)
        return self.ridge(X, Y, self.path("standard.npy"), 28, 28)

    def scipy(self):
        """The same system by numpy and scipy alone: kernel matrix, Cholesky factor and solve in place."""
        from scipy.linalg import cho_factor, cho_solve
        X, _, Y = self.images()
        X /= 255

        def theirs():
            self.sk.rest()
            begun = time.perf_counter()
            squares = (X * X).sum(1)
            K = X @ X.T
            K *= -2
            K += squares
            K += squares[:, None]
            K *= -0.5 / 7**2
            np.exp(K, out=K)
            K.flat[::len(K) + 1] += 1e-3
            cho_solve(cho_factor(K, lower=True, overwrite_a=True, check_finite=False), Y)
            return time.perf_counter() - begun

        def ours():
            self.sk.rest()
            return self.dkmap("fit", "krr", "--x", f"{self.sk.FASHION}/train-images-idx3-ubyte.gz[0:{len(X)}]", "--y",
                              f"{self.sk.FASHION}/train-labels-idx1-ubyte.gz[0:{len(X)}]", "--kx", "rbf(sigma=1785)",
                              "--gamma", 1e-3, "--precision", "mixed", "-o", self.path("model.h5"))["seconds"]
        return row_of(in_turn(self.repeat, theirs, ours), "dkmap from files to model, scipy from arrays in memory")

    def gaussian_process(self):
        from sklearn.gaussian_process import GaussianProcessRegressor
        from sklearn.gaussian_process.kernels import RBF
        X, labels, Y = self.images(4000)
        new = self.sk.read_idx("t10k-images-idx3-ubyte.gz", 16, 100, 784) / 255
        np.save(self.path("y.npy"), Y)
        x_file = f"{self.sk.FASHION}/train-images-idx3-ubyte.gz[0:{len(X)}]"
        told = {}

        def theirs():
            self.sk.rest()
            model = GaussianProcessRegressor(RBF(7), alpha=1e-3, optimizer=None)
            seconds = seconds_of(lambda: model.fit(X / 255, Y))[0]
            told["theirs"] = model.predict(new)
            return seconds

        def ours():
            self.sk.rest()
            return self.dkmap("fit", "krr", "--x", x_file, "--y", self.path("y.npy"), "--kx", "rbf(sigma=1785)", "--gamma",
                              1e-3, "-o", self.path("model.h5"))["seconds"]
        runs = in_turn(self.repeat, theirs, ours)
        self.dkmap("predict", self.path("model.h5"), "--x", f"{self.sk.FASHION}/t10k-images-idx3-ubyte.gz[0:100]", "-o",
                   self.path("p.npy"))
        return row_of(runs, f"largest difference of predictions {abs(np.load(self.path('p.npy')) - told['theirs']).max():.1e}")

    def dask(self):
        """A kernel matrix from a file to a file, in chunks on two threads."""
        try:
            import dask
            import dask.array as da
        except ImportError:
            raise Skip("no dask: on Debian: apt-get install python3-dask") from None
        X, _, _ = self.images()
        np.save(self.path("x.npy"), X / 255)
        out = np.lib.format.open_memmap(self.path("theirs.npy"), "w+", float, (len(X), len(X)))

        def theirs():
            self.sk.rest()
            begun = time.perf_counter()
            A = da.from_array(np.load(self.path("x.npy"), mmap_mode="r"), chunks=(2000, -1))
            squares = (A * A).sum(1)
            K = da.exp((2 * (A @ A.T) - squares[:, None] - squares) * (0.5 / 7**2))
            with dask.config.set(scheduler="threads", num_workers=2):
                da.store(K, out, lock=False)
            return time.perf_counter() - begun

        def ours():
            self.sk.rest()
            return self.dkmap("gram", "--x", self.path("x.npy"), "--kx", "rbf(sigma=7)", "-o",
                              self.path("ours.npy"))["seconds"]
        from threadpoolctl import threadpool_limits
        with threadpool_limits(1):  # its two workers have a core each
            runs = in_turn(self.repeat, theirs, ours)
        rows = np.load(self.path("ours.npy"), mmap_mode="r")[:500]
        return row_of(runs, f"largest difference {abs(rows - out[:500]).max():.1e}")

    def slepc(self):
        """Eigenpairs of a stored matrix on two ranks: the iteration alone on both sides, to the same tolerance."""
        X, _, _ = self.images(4000)
        np.save(self.path("x.npy"), X / 255)
        self.dkmap("gram", "--x", self.path("x.npy"), "--kx", "rbf(sigma=7)", "-o", self.path("K.npy"))
        line = os.environ["DKMAP_LAUNCH"].split() + ["-np", "2", sys.executable, os.path.join(HERE, "slepc_leading.py"),
                                                     self.path("K.npy"), "64", "1e-9"]
        told = {}

        def theirs():
            done = subprocess.run(line, capture_output=True, text=True,
                                  env=dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"))
            if done.returncode != 0:
                raise Skip("no SLEPc: on Debian: apt-get install python3-slepc4py")
            seconds, told["found"], told["residual"], told["sum"] = map(float, done.stdout.split())
            return seconds

        def ours():
            record = self.dkmap("eig", "--gram", self.path("K.npy"), "--components", 64, "-o", self.path("e.h5"))
            told["ours"], told["explained"] = record["residual"], record["explained"] * len(X)
            return record["phases"]["eigen"]["seconds"]["max"]
        runs = in_turn(self.repeat, theirs, ours)
        return row_of(runs, f"residuals {told['residual']:.1e} and {told['ours']:.1e}, sums of eigenvalues differ by "
                            f"{abs(told['sum'] / told['explained'] - 1):.1e}")

    def kpca(self):
        X, _, _ = self.images()
        theirs = lambda: self.sk.time_their_components(X / 255, 7, "arpack")[0]
        told = {}

        def ours():
            _, seconds, told["residual"] = self.sk.time_our_components(self.folder, len(X), 7)
            return seconds
        return row_of(in_turn(self.repeat, theirs, ours), f"residual {told['residual']:.1e}")

    def eigen(self):
        ratio, residual = self.bench("ratio", "eigen", "--n", self.size(8000))
        return dict(ratio=ratio, check=f"residual {residual:.1e}")

    def eigen_full(self):
        from scipy.linalg import eigh
        K = self.sk.rbf_kernel(np.random.default_rng(0).random((self.size(4000), 784)), gamma=0.5 / 28**2)
        turns = []
        for _ in range(self.repeat):
            record = self.dkmap("bench", "eigen", "--n", self.size(4000), "--full", "--repeat", 1)
            evr = seconds_of(lambda: eigh(K, driver="evr"))[0]
            peers = [evr] + [record[k] for k in ("direct_scalapack", "direct_elpa") if k in record]
            turns.append((min(peers), record["seconds"], record["residual"]))
        return row_of((statistics.median(t[0] for t in turns), statistics.median(t[1] for t in turns),
                       [t[:2] for t in turns]), f"residual {turns[-1][2]:.1e}")

    def path_of_gammas(self):
        self.need_fashion()
        gammas = [f"{g:.6g}" for g in np.geomspace(1e-6, 1, 20)]
        m = self.size(4000)
        fit = lambda *words: self.dkmap(
            "fit", "krr", "--x", f"{self.sk.FASHION}/train-images-idx3-ubyte.gz[0:{m}]", "--y",
            f"{self.sk.FASHION}/train-labels-idx1-ubyte.gz[0:{m}]", "--kx", "rbf(sigma=1785)", "--loo", "-o",
            self.path("model.h5"), *words)["seconds"]
        theirs = lambda: sum(fit("--gamma", g, "--solver", "cholesky") for g in gammas)
        ours = lambda: fit("--gamma", ",".join(gammas))
        return row_of(in_turn(min(self.repeat, 3), theirs, ours), "the peer is dkmap's own Cholesky, fit by fit")

    def nested_cv(self):
        self.need_usps()
        import compare_cv
        X, labels, Y = compare_cv.first_of_each_class(self.given.data, self.size(100))
        np.save(self.path("x.npy"), X)
        np.save(self.path("labels.npy"), labels)
        told = {}

        def theirs():
            seconds, told["theirs"] = seconds_of(lambda: compare_cv.nested_with_sklearn(X, labels, Y))
            return seconds

        def ours():
            record = compare_cv.cv_with_dkmap(self.folder, "kde", "labels.npy", "--ky", "class", "--components", 9,
                                              "--inner-folds", compare_cv.FOLDS)
            told["ours"] = record["loss"]["mean"]
            return record["seconds"]
        runs = in_turn(self.repeat, theirs, ours)
        return row_of(runs, f"outer losses {told['theirs']:.4f} and {told['ours']:.4f}")

    def cv_machine(self, method, machine, *words):
        """Five folds for each of five C, the same folds on both sides: losses beside each other."""
        self.need_usps()
        import compare_cv
        from sklearn.model_selection import GridSearchCV, PredefinedSplit
        X, labels, _ = compare_cv.first_of_each_class(self.given.data, self.size(200))
        np.save(self.path("x.npy"), X)
        np.save(self.path("labels.npy"), labels)
        weights, told = (0.01, 0.1, 1.0, 10.0, 100.0), {}

        def ours():
            record = self.dkmap("cv", method, "--x", self.path("x.npy"), "--y", self.path("labels.npy"), "--y-type",
                                "labels", "--C", ",".join(map(str, weights)), "--folds", 5, "--folds-out",
                                self.path("folds.npy"), *words)
            told["ours"] = [trial["mean"] for trial in record["trials"]]
            return record["seconds"]

        def theirs():
            fold = PredefinedSplit(np.load(self.path("folds.npy")).ravel().astype(int) - 1)
            search = GridSearchCV(machine, dict(C=weights), cv=fold, n_jobs=2, refit=False)
            seconds, _ = seconds_of(lambda: search.fit(X, labels))
            told["theirs"] = list(1 - search.cv_results_["mean_test_score"])
            return seconds
        ours()
        runs = in_turn(self.repeat, theirs, ours)
        return row_of(runs, "losses " + " ".join(f"{t:.4f}/{o:.4f}" for t, o in zip(told["theirs"], told["ours"])))

    def cv_svm(self):
        from sklearn.svm import SVC
        return self.cv_machine("svm", SVC(kernel="rbf", gamma=0.5 / 8**2), "--kx", "rbf(sigma=8)")

    def cv_jkm(self):
        from sklearn.svm import LinearSVC
        return self.cv_machine("jkm", LinearSVC(multi_class="crammer_singer", fit_intercept=False, max_iter=10000), "--kx",
                               "linear")

    def script(self, name, *words):
        """Another script of this folder, which leaves its figures as a JSON line where DKMAP_JSON says."""
        left = self.path(name + ".json")
        done = subprocess.run([os.path.join(HERE, name), *map(str, words)], capture_output=True, text=True,
                              env=dict(os.environ, DKMAP_JSON=left))
        if done.returncode != 0:
            raise Skip((done.stderr or done.stdout).strip().splitlines()[-1])
        if not os.path.exists(left):
            raise Skip(done.stdout.strip().splitlines()[-1])
        with open(left) as lines:
            return json.loads(lines.readline())

    def dlib(self):
        self.need_usps()
        return self.script("compare_dlib.sh", "--data", self.given.data, "--repeat", self.repeat)

    def kernlab(self):
        return self.script("compare_kernlab.sh")

    def landmarks(self):
        self.need_fashion()
        if not self.given.long:
            raise Skip("takes minutes for each run: --long")
        import compare_nystroem
        told = {}

        def ours():
            seconds, told["ours"], _ = compare_nystroem.run_ours(5000, 2)
            return seconds

        def theirs():
            seconds, told["theirs"] = compare_nystroem.run_theirs(5000)
            return seconds
        runs = in_turn(min(self.repeat, 3), theirs, ours)
        return row_of(runs, f"test errors {100 * told['theirs']:.2f} % and {100 * told['ours']:.2f} %")

    def predictions(self):
        X, _, Y = self.images(10000)
        new = self.sk.read_idx("t10k-images-idx3-ubyte.gz", 16, 10000, 784) / 255
        model = self.sk.KernelRidge(kernel="rbf", gamma=0.5 / 7**2, alpha=1e-3).fit(X / 255, Y)
        self.dkmap("fit", "krr", "--x", f"{self.sk.FASHION}/train-images-idx3-ubyte.gz[0:{len(X)}]", "--y",
                   f"{self.sk.FASHION}/train-labels-idx1-ubyte.gz[0:{len(X)}]", "--kx", "rbf(sigma=1785)", "--gamma", 1e-3,
                   "-o", self.path("model.h5"))
        told = {}

        def theirs():
            seconds, told["scores"] = seconds_of(lambda: model.predict(new))
            return seconds
        ours = lambda: self.dkmap("predict", self.path("model.h5"), "--x",
                                  f"{self.sk.FASHION}/t10k-images-idx3-ubyte.gz", "-o", self.path("p.npy"))["seconds"]
        runs = in_turn(self.repeat, theirs, ours)
        differ = int((np.load(self.path("p.npy")).ravel() != told["scores"].argmax(1)).sum())
        return row_of(runs, f"{differ} of {len(new)} classes differ; dkmap from files to file")

    def start(self):
        if not shutil.which("mpicc"):
            raise Skip("no mpicc")
        with open(self.path("empty.c"), "w") as source:
            source.write("#include <mpi.h>\nint main(int c, char **v)\n{\n    MPI_Init(&c, &v);\n    MPI_Finalize();\n}\n")
        subprocess.run(["mpicc", "-O2", "-o", self.path("empty"), self.path("empty.c")], check=True)
        with open(self.path("small.csv"), "w") as rows:
            rows.write("a,b,c\n1,2,3\n4,5,6\n")
        launch = os.environ["DKMAP_LAUNCH"].split() + ["-np", "2"]
        run = lambda *words: seconds_of(lambda: subprocess.run(launch + list(words), check=True, capture_output=True))[0]
        theirs, ours, runs = in_turn(max(self.repeat, 7), lambda: run(self.path("empty")),
                                     lambda: run(os.environ["DKMAP"], "info", self.path("small.csv")))
        return dict(peer_seconds=theirs, seconds=ours, ratio=ours - theirs, check="seconds beyond the empty program", runs=runs)

    def portable(self):
        if not self.given.native:
            raise Skip("name the command of a build with -DDKMAP_NATIVE=ON with --native")
        portable, worst = os.environ["DKMAP"], 0.0
        for topic in ("gram", "ridge", "eigen"):
            rates = []
            for command in (portable, self.given.native):
                os.environ["DKMAP"] = command
                rates.append(self.bench("flop_rate", topic, "--n", self.size(4000))[0])
            os.environ["DKMAP"] = portable
            worst = max(worst, rates[1] / rates[0])
        return dict(ratio=worst, check="largest of gram, ridge and eigen")

    def exact(self):
        if not self.given.long:
            raise Skip("takes the machine for half an hour: --long")
        self.dkmap("gen", "regression", "--n", self.size(80000), "--seed", 1, "--out-dir", self.path("big"))
        record = self.dkmap("fit", "krr", "--x", self.path("big/x.npy"), "--y", self.path("big/y.npy"), "--kx",
                            "rbf(sigma=1.5)", "--gamma", 0.1, "--precision", "mixed", "-o", self.path("model.h5"))
        if record["residual"] > 1e-10:
            raise Skip(f"residual {record['residual']:.1e}, above 1e-10")
        return dict(seconds=record["seconds"], ratio=record["seconds"], check=f"residual {record['residual']:.1e}")


# name of the row and of its function; what it is; what the figure is; bar, if there is one; whether more is better
TABLE = [
    ("gram_double", "bench gram, n = 16,000, d = 784, double", "of gemm", 0.88, True),
    ("gram_single", "the same, single", "of gemm", 0.85, True),
    ("krr", "krr, m = 8000, mixed, files to model, against KernelRidge", "times as fast", 5, True),
    ("krr_standardised", "the same on standardised float64 rows", "times as fast", 4, True),
    ("scipy", "the same on bytes, against numpy and scipy's cho_factor", "times as fast", None, True),
    ("gaussian_process", "krr, m = 4000, against GaussianProcessRegressor with fixed kernel", "times as fast", None, True),
    ("dask", "kernel matrix, m = 8000, float64 rows, file to file, against dask", "times as fast", None, True),
    ("slepc", "leading 64 eigenpairs of a stored matrix, m = 4000, against SLEPc", "times as fast", None, True),
    ("kpca", "kpca, 64 components, m = 8000, files to model, against KernelPCA", "times as fast", 6, True),
    ("eigen", "leading 64 eigenpairs, m = 8000", "of gemm", 0.75, True),
    ("eigen_full", "full eigensolve, m = 4000, against the fastest of ELPA, ScaLAPACK and evr", "times as fast", 1, True),
    ("path_of_gammas", "path of 20 gammas with leave-one-out, m = 4000, against 20 Cholesky fits", "times as fast", 8, True),
    ("nested_cv", "nested cv of kde, 1000 digits, against GridSearchCV", "times as fast", 15, True),
    ("cv_svm", "cv of svm, 2000 digits, 5 C, against GridSearchCV(SVC)", "times as fast", 2, True),
    ("cv_jkm", "cv of jkm, 2000 digits, 5 C, against GridSearchCV(LinearSVC, crammer_singer)", "times as fast", 2, True),
    ("dlib", "jkm of ten classes, USPS, against dlib at its objective", "times as fast", 6, True),
    ("landmarks", "pcg, 60,000 images, 5000 landmarks, against Nystroem + Ridge", "times as fast", 8, True),
    ("exact", "exact fit of 80,000 rows, residual below 1e-10", "seconds", 1500, False),
    ("kernlab", "ssk, 400 strings of 100 letters, against kernlab", "times as fast", 30, True),
    ("predictions", "predictions, krr, m = 10,000, 10 outputs, against KernelRidge", "times as fast", 3, True),
    ("start", "mpirun -np 2 dkmap info small.csv, beyond an empty MPI program", "seconds", 0.1, False),
    ("portable", "portable build against native", "times as slow", 1.25, False),
]


def run_row(rows, entry, json_file):
    name, title, unit, bar, more = entry
    line = dict(row=name, title=title, unit=unit, bar=bar)
    limit = "" if bar is None else f"{bar:g}"
    try:
        line.update(getattr(rows, name)())
        if bar is not None:
            line["met"] = bool(line["ratio"] >= bar if more else line["ratio"] <= bar)
        told = [f"{line[k]:.3g}" if k in line else "" for k in ("peer_seconds", "seconds", "ratio")]
        verdict = "" if rows.given.quick or bar is None else "met" if line["met"] else "MISSED"
        print(f"| {title} | {told[0]} | {told[1]} | {told[2]} {unit} | {limit} | {verdict} | {line['check']} |", flush=True)
    except (Skip, SystemExit) as why:  # SystemExit: a run of dkmap failed; the other rows still count
        told = "skipped" if isinstance(why, Skip) else "FAILED"
        line[told.lower()] = str(why)
        print(f"| {title} | | | | {limit} | {told} | {str(why).strip().splitlines()[-1]} |", flush=True)
    json_file.write(json.dumps(line) + "\n")
    json_file.flush()


def main():
    parser = argparse.ArgumentParser(prog="all.sh")
    parser.add_argument("--data", default=os.environ.get("DKMAP_DATA"))
    parser.add_argument("--rows", default=",".join(entry[0] for entry in TABLE))
    parser.add_argument("--repeat", type=int)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", default="compare.jsonl")
    parser.add_argument("--native")
    parser.add_argument("--long", action="store_true")
    given = parser.parse_args()
    given.repeat = given.repeat or (1 if given.quick else 5)
    if given.rows == "list":
        print("\n".join(f"{entry[0]:18s}{entry[1]}" for entry in TABLE))
        return 0
    wanted = given.rows.split(",")
    unknown = set(wanted) - {entry[0] for entry in TABLE}
    if unknown:
        sys.exit(f"all.sh: unknown row '{sorted(unknown)[0]}'; see: all.sh --rows list")
    core = openblas_core()
    if core and not os.environ.get("OPENBLAS_CORETYPE"):  # read when the library is loaded: start again with it
        os.execve(sys.executable, [sys.executable, *sys.argv], dict(os.environ, OPENBLAS_CORETYPE=core))
    from compare_sklearn import two_cores
    print(f"{two_cores()} cores, medians of {given.repeat} runs in turn, "
          f"{'a quarter of the examples, so that bars do not apply, ' if given.quick else ''}OPENBLAS_CORETYPE="
          f"{os.environ.get('OPENBLAS_CORETYPE', '')}\n", flush=True)
    print("| what | peer, s | dkmap, s | figure | bar | | check |\n|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder, open(given.json, "a") as json_file:
        rows = Rows(given, folder)
        for entry in TABLE:
            if entry[0] in wanted:
                run_row(rows, entry, json_file)
    return 0


if __name__ == "__main__":
    sys.exit(main())
