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

    Its parameters other than comm and replicated are as by default. Classes are the integers of the file.
    """
    ctx = context(comm)
    ctx.require_same(path=os.fspath(path) if isinstance(path, os.PathLike) else path)
    model = load_model(ctx, path)
    with ctx.agree():
        if model.method not in ESTIMATORS:
            raise ValueError(f"{path} is a model of {model.method}, for which there is no estimator")
    return _estimators.from_model(ctx, ESTIMATORS[model.method], model, comm, replicated)
