"""scikit-learn's own test modules for KernelRidge, KernelPCA and LocallyLinearEmbedding, with the import
swapped: every test passes, or differs for a reason that is written down here."""
import contextlib
import importlib.util
import io
import os
import shutil
import sys
import tempfile

from harness import skip
from support import comm

for needed in ("sklearn", "pytest"):
    if importlib.util.find_spec(needed) is None:
        skip(f"Python has no module {needed}")

import pytest  # noqa: E402

import dkmap  # noqa: E402

# What a module imports, in every version that it was tried with, and what takes its place.
MODULES = {
    "sklearn.tests.test_kernel_ridge": [
        (("from sklearn.kernel_ridge import KernelRidge",), "from swapped import KernelRidge")],
    "sklearn.decomposition.tests.test_kernel_pca": [
        (("from sklearn.decomposition import PCA, KernelPCA",),
         "from sklearn.decomposition import PCA\nfrom swapped import KernelPCA")],
    "sklearn.manifold.tests.test_locally_linear": [
        (("from sklearn import neighbors, manifold", "from sklearn import manifold, neighbors"),
         "from sklearn import neighbors\nfrom swapped import manifold")],
}

SOLVERS = ("auto", "dense", "arpack", "randomized")
# Tests that do not pass, and why.
DIFFERENT = {
    "test_kernel_ridge": {
        "test_kernel_ridge_singular_kernel": "a ridge of 0 is refused: dkmap has no least-squares fallback",
    },
    "test_kernel_pca": {
        "test_remove_zero_eig": "a centered kernel matrix that is zero is refused, not given no components",
        "test_kernel_conditioning": "components without variance are left out, with a warning, not set to 0",
        **{f"test_kernel_pca_precomputed_non_symmetric[{solver}]": "a matrix that is not symmetric is refused"
           for solver in SOLVERS},
        **{f"test_precomputed_kernel_not_psd[{solver}]":
           "directions of negative eigenvalues are left out, with a warning, not refused" for solver in SOLVERS},
    },
    "test_locally_linear": {
        "test_integer_input": "dkmap has the standard method alone",
        **{f"test_lle_manifold[float64-{solver}-{method}]": "dkmap has the standard method alone"
           for solver in ("dense", "arpack") for method in ("hessian", "modified", "ltsa")},
    },
}

CONFTEST = """
import numpy, pytest

@pytest.fixture(params=[numpy.float64])
def global_dtype(request):
    return request.param

@pytest.fixture(autouse=True)
def the_same_numbers_on_all_ranks():
    numpy.random.seed(0)
"""


class Outcomes:
    """What pytest reports: names of tests that passed and that failed."""

    def __init__(self):
        self.passed, self.failed = [], {}

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.split("::")[1]
        if report.when == "call" and report.passed:
            self.passed.append(name)
        elif report.failed:
            self.failed[name] = report.longreprtext


def swapped_source(module, swaps):
    with open(importlib.util.find_spec(module).origin) as file:
        source = file.read()
    for theirs, ours in swaps:
        line = next((line for line in theirs if line in source), None)
        assert line, f"{module} has no line '{theirs[0]}'"
        source = source.replace(line, ours)
    return source


def last_error(text):
    lines = [line[1:].strip() for line in text.splitlines() if line.startswith("E ")]
    return "; ".join(lines[:3])


def run_module(folder, module):
    path = os.path.join(folder, f"{module.rsplit('.')[-1]}.py")
    with open(path, "w") as file:
        file.write(swapped_source(module, MODULES[module]))
    outcomes = Outcomes()
    with contextlib.redirect_stdout(io.StringIO()):
        pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", "--rootdir", folder, path], [outcomes])
    return outcomes


def test_modules_of_scikit_learn_pass_but_for_what_is_named():
    dkmap.set_config(comm=comm, replicated=True)
    folder = tempfile.mkdtemp()  # each rank its own
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    try:
        with open(os.path.join(folder, "conftest.py"), "w") as file:
            file.write(CONFTEST)
        for module in MODULES:
            outcomes = run_module(folder, module)
            short = module.rsplit(".")[-1]
            if comm.rank == 0:
                print(f"{short}: {len(outcomes.passed)} passed, {len(outcomes.failed)} differ")
            named = DIFFERENT.get(short, {})
            unnamed = {name: text for name, text in outcomes.failed.items() if name not in named}
            assert not unnamed, "\n".join(f"{name}: {last_error(text)}" for name, text in unnamed.items())
            stale = set(named) - set(outcomes.failed)
            assert not stale, f"{short}: named as different, and they pass: {sorted(stale)}"
            assert outcomes.passed
    finally:
        shutil.rmtree(folder)
