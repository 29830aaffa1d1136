"""Kernel methods on distributed memory, from Python.

    from dkmap import KernelRidge
    model = KernelRidge(kernel="rbf(sigma=2)", alpha=1e-3).fit(X, y)
    model.predict(X)

Under mpirun, with comm=MPI.COMM_WORLD, each rank passes rows of its own.
"""
from ._library import lib as _lib
from ._context import (ArgumentError, Error, FileError, FitWarning, FormatError, NumericalError, OutOfMemory,
                       Stopped, UnsupportedError, get_config, set_config)
from ._estimators import (JointKernelMap, KernelDependencyEstimation, KernelExtension, KernelPCA, KernelRidge,
                          KernelRidgeClassifier, KNeighbors, LocallyLinearEmbedding, SVC)
from ._files import load
from ._gram import gram
from ._kernels import pairwise
from ._selection import cross_validate, plan

__version__ = _lib.dkm_version().decode()
__all__ = ["ArgumentError", "Error", "FileError", "FitWarning", "FormatError", "JointKernelMap", "KNeighbors",
           "KernelDependencyEstimation", "KernelExtension", "KernelPCA", "KernelRidge", "KernelRidgeClassifier",
           "LocallyLinearEmbedding", "NumericalError", "OutOfMemory", "SVC", "Stopped", "UnsupportedError",
           "cross_validate", "get_config", "gram", "load", "pairwise", "plan", "set_config"]
