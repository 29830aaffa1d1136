"""Model files, as estimators."""
import os

from . import _estimators
from ._context import context
from ._model import load_model

ESTIMATORS = {"krr": "KernelRidge", "kpca": "KernelPCA", "kde": "KernelDependencyEstimation",
              "jkm": "JointKernelMap", "knn": "KNeighbors", "svm": "SVC", "lle": "LocallyLinearEmbedding",
              "extend": "KernelExtension"}


def load(path, comm=None, replicated=None):
    """An estimator from a model file that the command, or save(), wrote. Collective on comm.

    Its kernels and the numbers that the file holds (alpha, n_neighbors, C, epsilon) become parameters, the others are
    as by default. Classes are the integers of the file.
    """
    ctx = context(comm)
    ctx.require_same(path=os.fspath(path) if isinstance(path, os.PathLike) else path)
    model = load_model(ctx, path)
    method = model.method.split("-")[0]  # forms of a method have names of their own, such as krr-primal
    with ctx.agree():
        if method not in ESTIMATORS:
            raise ValueError(f"{path} is a model of {model.method}, for which there is no estimator")
    return _estimators.from_model(ctx, ESTIMATORS[method], model, comm, replicated)
