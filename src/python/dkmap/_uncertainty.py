"""Standard deviations, prediction sets, and examples added to and removed from a fitted model."""
import ctypes as ct

import numpy as np

from ._data import to_data
from ._library import ConformalInfo, Handle, StdInfo, idx, lib
from ._settings import report_of

NOISES = {None: 0, "gamma": 1, "auto": 3}
GIVEN = 2


class StandardDeviations:
    """predict() of numbers by ridge regression, with standard deviations on demand."""

    def predict(self, X, return_std=False, noise=None):
        """Predict the outputs of this rank's inputs. Collective.

        return_std : return posterior standard deviations as well, the model being seen as a Gaussian
            process whose noise has the variance alpha; fit with keep_factor=True to have them at once
        noise : None, deviations of f as those of scikit-learn's GaussianProcessRegressor; "gamma", of new
            outputs, whose noise has the variance alpha; a variance, in the squared unit of y; or "auto", the
            one under which the training outputs are most likely
        """
        if not return_std:
            return super().predict(X)
        self._check_fitted()
        model, ctx = self._fitted(), self._context()
        kind = NOISES[noise] if noise is None or isinstance(noise, str) and noise in NOISES else GIVEN
        with ctx.agree():
            variance = float(noise) if kind == GIVEN else 0.0
        ctx.require_same(noise=noise)
        info = StdInfo()
        ctx.call("dkm_model_choose_std", model.handle.pointer, kind, variance, ct.byref(info))
        try:
            values = self._apply(X)
        finally:
            model.choose("outputs")
        mean, std = np.split(values, 2, axis=1)
        return (mean[:, 0], std[:, 0]) if self._flat else (mean, std)


class PredictionSets:
    """Sets that hold the output with a given probability: split conformal prediction."""

    def calibrate(self, X, y):
        """Take residuals of examples that the model was not fitted to, for predict_set(). Collective."""
        self._check_fitted()
        ctx = self._context()
        with ctx.agree():
            X = self._check_X(X, reset=False)
            y = self._check_y(X, y)
        self._configure()
        with to_data(ctx, X, self._type_of_X(), "X", self._same) as inputs, self._more_y(ctx, y) as outputs:
            ctx.call("dkm_model_hold_out", self._fitted().handle.pointer, inputs.pointer, outputs.pointer)
        return self

    def predict_set(self, X, coverage=0.9):
        """Sets of this rank's inputs that hold their outputs with probability `coverage` at least. Collective.

        Numbers have intervals: an array of lower and one of upper ends. Classes have sets of classes; other
        outputs sets of the numbers of candidates, or of training outputs.
        """
        self._check_fitted()
        ctx, model = self._context(), self._fitted()
        with ctx.agree():
            share = float(coverage)
        ctx.require_same(coverage=share)
        self._configure()
        ctx.call("dkm_model_calibrate", model.handle.pointer, share, ct.byref(ConformalInfo()))
        values = self._apply(X, "dkm_model_prediction_sets")
        if isinstance(values, np.ndarray):
            lower, upper = np.split(values, 2, axis=1)
            return (lower[:, 0], upper[:, 0]) if self._flat else (lower, upper)
        return self._named_sets(values)

    def _named_sets(self, values):
        return [set(one) for one in values]

    def _more_y(self, ctx, y):
        """Outputs as the model knows them; what a fit learned of its own stays. Collective."""
        if hasattr(self, "classes_"):
            with ctx.agree():
                if y is not None and not np.isin(y, self.classes_).all():
                    raise ValueError("y has a class that was not there in fit()")
            labels = None if y is None else y if self._named() else np.searchsorted(self.classes_, y)
            return to_data(ctx, labels, "labels", "y", self._same)
        learned = {name: getattr(self, name) for name in ("_flat", "_integer", "_kind") if hasattr(self, name)}
        data = self._encode_y(ctx, y)
        for name, value in learned.items():
            setattr(self, name, value)
        return data


class Updates:
    """Examples added to and removed from ridge regression that keeps its factor (keep_factor=True)."""

    def append(self, X, y, sample_weight=None):
        """Learn from more examples, as if they had been there in fit(). Collective.

        sample_weight : as many numbers; None: they weigh 1
        """
        self._check_fitted()
        ctx = self._context()
        with ctx.agree():
            X = self._check_X(X, reset=False)
            y = self._check_y(X, y)
            X, y, weights = self._check_weights(X, y, sample_weight)
        weighed = any(ctx.comm.allgather(weights is not None)) if ctx.size > 1 else weights is not None
        column = to_data(ctx, weights, "dense", "sample_weight", self._same) if weighed else Handle("data")
        with to_data(ctx, X, self._type_of_X(), "X", self._same) as inputs, self._more_y(ctx, y) as outputs, column:
            self._update(ctx, "dkm_model_append_weighted", inputs.pointer, outputs.pointer, column.pointer)
        return self

    def forget(self, rows):
        """Be as if the examples of these numbers had never been there; the same on every rank. Collective."""
        self._check_fitted()
        ctx = self._context()
        with ctx.agree():
            rows = np.ascontiguousarray(np.atleast_1d(rows), dtype=np.int64)
        ctx.require_same(rows=rows)
        self._update(ctx, "dkm_model_forget", len(rows), rows.ctypes.data_as(ct.POINTER(idx)))
        return self

    def _update(self, ctx, function, *arguments):
        report = Handle("report")
        ctx.call(function, self._fitted().handle.pointer, *arguments, report.out)
        self.report_ = {**self.report_, **report_of(report)[0]}
        report.close()
        self.X_fit_ = None
        parts = self._model.parts(("coefficients", "intercept"))
        self.residual_ = self.report_["residual"]
        if "coefficients" in parts:
            self.dual_coef_ = parts["coefficients"][:, 0] if getattr(self, "_flat", False) else parts["coefficients"]
        if "intercept" in parts:
            self.intercept_ = parts["intercept"][0] if getattr(self, "_flat", False) else parts["intercept"]
