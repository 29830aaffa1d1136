"""Kernels as Python names them: expressions, scikit-learn's names, and functions."""
import ctypes as ct
import math
import re
import uuid

import numpy as np

from ._data import rows_to_objects
from ._library import BLOCK, DIAGONAL, KernelCallback, encode, lib


def _rbf(gamma, degree, coef0):
    return f"rbf(sigma={math.sqrt(0.5 / gamma)!r})"


def _laplacian(gamma, degree, coef0):
    return f"laplace(sigma={1 / gamma!r})"


def _poly(gamma, degree, coef0):
    """(gamma <x, x'> + c)^d = gamma^d (<x, x'> + c / gamma)^d"""
    return f"scale(poly(degree={degree}, c={coef0 / gamma!r}), by={gamma ** degree!r})"


# scikit-learn's names; gamma is 1 / columns where it is not given, as there
NAMED = {"linear": lambda *unused: "linear", "cosine": lambda *unused: "cosine", "rbf": _rbf,
         "laplacian": _laplacian, "poly": _poly, "polynomial": _poly,
         "precomputed": lambda *unused: "gram"}
FROM_SKLEARN = ("sigmoid", "chi2", "additive_chi2")  # that the library does not have


class _Pairs:
    """A function of two objects, called for every pair of a block."""

    def __init__(self, function):
        self.function = function

    def __call__(self, A, B, **parameters):
        return np.array([[self.function(a, b, **parameters) for b in B] for a in A], float)


def pairwise(function):
    """Make a kernel of a function of two objects.

    Functions that are given as kernels are called for blocks: function(A, B) with all rows of two
    arrays, or two lists of objects, returns an array of len(A) x len(B) values. pairwise(function) is
    such a kernel for a function(a, b) that returns one number. It is slower.
    """
    return _Pairs(function)


class _FromSklearn:
    """One of scikit-learn's pairwise kernels, by its name."""

    def __init__(self, name, parameters):
        from sklearn.metrics import pairwise as kernels
        self.function = getattr(kernels, f"{name}_kernel")
        self.parameters = parameters

    def __call__(self, A, B):
        return self.function(A, B, **self.parameters)

    def __eq__(self, other):
        return isinstance(other, _FromSklearn) and (self.function, self.parameters) == (
            other.function, other.parameters)

    def __hash__(self):
        return hash((self.function, tuple(sorted(self.parameters.items()))))


class _Bound:
    """A function with parameters."""

    def __init__(self, function, parameters):
        self.function, self.parameters = function, parameters

    def __call__(self, A, B):
        return self.function(A, B, **self.parameters)

    def _key(self):
        return self.function, tuple(sorted(self.parameters.items()))

    def __eq__(self, other):
        return isinstance(other, _Bound) and self._key() == other._key()

    def __hash__(self):
        return hash(self._key())


def _callbacks(ctx, function, name):
    """The functions that the library calls. They run on each rank for the blocks it needs."""

    def block(user, A, B, values):
        try:
            shape = lib.dkm_rows_count(A), lib.dkm_rows_count(B)
            if 0 in shape:
                return 0
            result = np.asarray(function(rows_to_objects(A), rows_to_objects(B)))
            if result.dtype.kind == "c":
                raise ValueError(f"kernel {name}: the function returned complex numbers")
            result = result.astype(float, copy=False)
            if result.shape != shape:
                raise ValueError(f"kernel {name}: the function returned an array of shape {result.shape} "
                                 f"for {shape[0]} and {shape[1]} objects; {shape} is wanted")
            if not np.isfinite(result).all():
                raise ValueError(f"kernel {name}: the function returned NaN or infinity")
            np.ctypeslib.as_array(values, shape)[...] = result
            return 0
        except BaseException as failure:
            ctx.failures.append(failure)
            return 1

    return BLOCK(block), DIAGONAL()


def register_kernel(ctx, name, function):
    """Let a function be used under a name in expressions. Logically collective."""
    callbacks = _callbacks(ctx, function, name)
    ctx.call("dkm_kernel_register", ctx.pointer, encode(name),
             ct.byref(KernelCallback(None, *callbacks)))
    ctx.kernels[function] = name, callbacks
    return name


def name_function(ctx, function, name=None):
    """The name of a function in expressions; it is registered when it has none yet. Collective."""
    known = ctx.kernels[function][0] if function in ctx.kernels else None
    if ctx.size > 1 and len(set(ctx.comm.allgather(known))) > 1:  # ranks pass functions that differ
        known = None
    if known is not None and name in (None, known):
        return known
    if name is None:
        plain = re.sub(r"[^A-Za-z0-9_]", "", getattr(function, "__name__", type(function).__name__))
        name = f"py_{plain}_{ctx.comm.bcast(uuid.uuid4().hex[:12])}"
    return register_kernel(ctx, name, function)


def expression(ctx, kernel, columns=None, gamma=None, degree=3, coef0=1, parameters=None, name=None):
    """The expression of a kernel given as Python's users give it. Collective where it is a function.

    columns are those of the rows of numbers, for scikit-learn's default of gamma; name is that under
    which a function was registered before.
    """
    if callable(kernel):
        bound = _Bound(kernel, dict(parameters)) if parameters else kernel
        return name_function(ctx, bound, name)
    if gamma is None:
        gamma = 1.0 / columns if columns else 1.0
    if kernel in NAMED:
        return NAMED[kernel](float(gamma), degree, float(coef0))
    if kernel in FROM_SKLEARN:
        known = {"sigmoid": {"gamma": gamma, "coef0": coef0}, "chi2": {"gamma": gamma}}
        return name_function(ctx, _FromSklearn(kernel, known.get(kernel, {})), name)
    return kernel
