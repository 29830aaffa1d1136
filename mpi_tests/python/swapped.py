"""Estimators of dkmap under scikit-learn's parameters, for scikit-learn's own tests.

KernelRidge takes them as it is. KernelPCA and LocallyLinearEmbedding have solvers of other names, functions
are kernels of pairs, X is copied by default; what has no counterpart (tol, max_iter, iterated_power, n_jobs) is
taken and not used.
"""
import dkmap
from sklearn import manifold as theirs
from sklearn.exceptions import NotFittedError

KernelRidge = dkmap.KernelRidge


class _Common:
    grid = block = threads = x_type = comm = replicated = progress = None


class KernelPCA(_Common, dkmap.KernelPCA):
    landmarks = candidates = preimage_neighbors = window = weights = approximate = None
    window_weights = "equal"
    landmark_choice = "uniform"

    def __init__(self, n_components=None, *, kernel="linear", gamma=None, degree=3, coef0=1, kernel_params=None,
                 alpha=1.0, fit_inverse_transform=False, eigen_solver="auto", tol=0, max_iter=None,
                 iterated_power="auto", remove_zero_eig=False, random_state=None, copy_X=True, n_jobs=None):
        values = dict(locals())
        for name in list(values)[1:]:
            if name != "__class__":
                setattr(self, name, values[name])

    eigensolver = property(lambda self: {"auto": "auto", "dense": "full"}.get(self.eigen_solver, "block"))
    preimage = property(lambda self: "learned" if self.fit_inverse_transform else "auto")
    gamma_z = property(lambda self: self.alpha)

    @property
    def kz(self):
        from dkmap._kernels import expression
        if not self.fit_inverse_transform:
            return None
        return expression(self._context(), self.kernel, len(self.eigenvalues_), self.gamma_, self.degree, self.coef0)

    def _values(self, ctx, values, columns):
        if callable(values["kernel"]):
            values = {**values, "kernel": dkmap.pairwise(values["kernel"])}
        return super()._values(ctx, values, columns)

    def fit(self, X, y=None):
        if self.fit_inverse_transform and self.kernel == "precomputed":
            raise ValueError("Cannot fit_inverse_transform with a precomputed kernel.")
        return super().fit(X.copy() if self.copy_X and hasattr(X, "copy") else X)

    def inverse_transform(self, X):
        if not self.fit_inverse_transform:
            raise NotFittedError("The fit_inverse_transform parameter was not set to True")
        return super().inverse_transform(X)


class LocallyLinearEmbedding(_Common, dkmap.LocallyLinearEmbedding):
    def __init__(self, *, n_neighbors=5, n_components=2, reg=1e-3, eigen_solver="auto", tol=1e-6, max_iter=100,
                 method="standard", hessian_tol=1e-4, modified_tol=1e-12, neighbors_algorithm="auto",
                 random_state=None, n_jobs=None):
        values = dict(locals())
        for name in list(values)[1:]:
            if name != "__class__":
                setattr(self, name, values[name])

    ridge = property(lambda self: self.reg)

    def fit(self, X, y=None):
        if self.method != "standard":
            raise ValueError(f"dkmap has the standard method alone, not {self.method}")
        return super().fit(X)


class manifold:
    LocallyLinearEmbedding = LocallyLinearEmbedding
    locally_linear_embedding = staticmethod(theirs.locally_linear_embedding)
