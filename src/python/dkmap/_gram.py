"""Kernel matrices."""
import numpy as np

from ._context import _defaults, context
from ._data import as_objects, count, from_data, is_rows, numbers, to_data
from ._kernels import expression
from ._library import encode, lib
from ._model import first_of

DOUBLE = 0


class GramProblem:
    """A kernel, objects prepared for it, and a process grid."""

    def __init__(self, ctx, kernel, X):
        self.ctx, self.X = ctx, X
        self.grid = ctx.create("grid", "dkm_grid_create", ctx.pointer, 0, 0)
        self.kernel = ctx.create("kernel", "dkm_kernel_parse", ctx.pointer, encode(kernel))
        self.prepared = ctx.create("prepared", "dkm_kernel_prepare", self.kernel.pointer, X.pointer)
        self.m = lib.dkm_data_rows(X.pointer)
        self.block = lib.dkm_grid_block(self.grid.pointer, self.m)

    def square(self, means=None):
        """K(i, j) = k(x_i, x_j), lower triangle; centered where means are wanted."""
        K = self.ctx.create("dmat", "dkm_gram", self.grid.pointer, self.kernel.pointer,
                            self.prepared.pointer, self.block, DOUBLE)
        if means is not None:
            self.ctx.call("dkm_gram_center", K.pointer, means.ctypes.data)
        return K

    def rows(self, K):
        """A symmetric matrix as dense rows in slabs."""
        return self.ctx.create("data", "dkm_gram_to_rows", K.pointer)

    def cross(self, Z, means=None):
        """K(i, j) = k(z_i, x_j) as dense rows in slabs."""
        ctx = self.ctx
        with ctx.create("prepared", "dkm_kernel_prepare_new", self.prepared.pointer, Z.pointer) as new:
            K = ctx.create("dmat", "dkm_gram_cross", self.grid.pointer, self.kernel.pointer, new.pointer,
                           self.prepared.pointer, self.block, self.block, DOUBLE)
        with K:
            if means is not None:
                ctx.call("dkm_gram_center_new", K.pointer, means.ctypes.data)
            G = ctx.create("data", "dkm_data_create_dense", ctx.pointer, lib.dkm_data_rows(Z.pointer), self.m)
            ctx.call("dkm_dmat_to_rows", K.pointer, lib.dkm_data_values(G.pointer))
        return G

    def close(self):
        for handle in (self.prepared, self.kernel, self.grid):
            handle.close()

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()


def _checked(objects):
    objects = as_objects(objects) if objects is not None else None
    return numbers(objects) if objects is not None and is_rows(objects) else objects


def gram(X, Y=None, kernel="linear", center=False, gamma=None, degree=3, coef0=1, kernel_params=None,
         x_type=None, comm=None, replicated=None):
    """The kernel matrix of objects, G[i, j] = k(x_i, y_j). Collective on comm.

    X, Y : this rank's objects, or None on ranks that have none; Y is X where no rank passes it
    center : take the mean of Y off, in the space of the kernel
    Returns the rows of this rank's objects of X; all rows where objects are replicated. Memory per rank is
    its share of the matrix twice, and the rows that it gets.
    """
    ctx = context(comm)
    same = _defaults["replicated"] if replicated is None else replicated
    ctx.require_same(kernel=kernel, center=bool(center), gamma=gamma, degree=degree, coef0=coef0,
                     kernel_params=kernel_params, x_type=x_type, replicated=same)
    with ctx.agree():
        X, Y = _checked(X), _checked(Y)
    rows = count(X) if X is not None else 0
    columns = max(ctx.comm.allgather(X.shape[1] if X is not None and is_rows(X) else 0))
    text = expression(ctx, kernel, columns, gamma, degree, coef0, kernel_params)
    if x_type is None and text == "gram":
        x_type = "gram"
    square = not any(ctx.comm.allgather(Y is not None))
    with to_data(ctx, X if square else Y, x_type, "X", same) as data:
        with GramProblem(ctx, text, data) as problem:
            means = np.zeros(problem.m) if center else None
            if square or center:
                with problem.square(means) as K:
                    G = problem.rows(K) if square else None
            if not square:
                with to_data(ctx, X, x_type, "X", same) as Z:
                    G = problem.cross(Z, means)
            with G:
                return from_data(ctx, G.pointer) if same else from_data(
                    ctx, G.pointer, first_of(ctx, rows), rows)
