"""Estimators with scikit-learn's conventions. Their parameters are the settings of the methods."""
import ctypes as ct

import numpy as np

from ._base import ClassifierMixin, ClassNamePrefixFeaturesOutMixin, RegressorMixin, TransformerMixin
from ._data import count, from_data, is_rows, numbers, to_data
from ._estimator import (COMMON, KERNEL, Candidates, ClassesOutputs, Estimator, LabelSets, NumbersOutputs, ObjectsOutputs,
                         Preimages)
from ._gram import GramProblem
from ._kernels import expression
from ._library import (ExtrapolateInfo, ExtrapolateSettings, FISHER, Handle, LANDMARKS, LleInfo, LleSettings,
                       TYPES, lib)
from ._model import Model, first_of
from ._uncertainty import PredictionSets, StandardDeviations, Updates


class _Ridge(Estimator):
    _own_defaults = {"kernel": "linear", "alpha": 1.0}
    _order = ("alpha", "kernel", "gamma", "degree", "coef0", "kernel_params")

    def _attributes(self, ctx, X):
        parts = self._model.parts(("coefficients", "weights", "intercept", "gamma", "calibration"))
        self.alpha_ = float(self.report_.get("gamma", np.ravel(parts.get("gamma", np.nan))[0]))
        self.alphas_ = np.atleast_1d(self.report_.get("path.gamma", self.alpha_))
        self._calibrated = "calibration" in parts
        self.residual_ = self.report_.get("residual")
        self.loo_ = self.report_.get("loo")
        self.n_iter_ = max(1, int(self.report_.get("iterations", 1)))
        for part, name in (("coefficients", "dual_coef_"), ("weights", "coef_"),
                           ("intercept", "intercept_")):
            if part not in parts:
                continue
            values = parts[part]
            if getattr(self, "_flat", False):
                values = values.reshape(-1) if part != "intercept" else values.reshape(-1)[0]
            setattr(self, name, self._own_rows(ctx, values, X) if part == "coefficients" else values)


class KernelRidge(StandardDeviations, PredictionSets, Updates, NumbersOutputs, RegressorMixin, _Ridge):
    """Kernel ridge regression.

    Attributes: dual_coef_ (a row for each of this rank's training inputs) or, for linear kernels in
    primal form, coef_; intercept_ (center=True); alpha_, the ridge that was taken; alphas_, those that
    were tried; loo_, the leave-one-out error (alpha a list, or loo=True); residual_; report_.
    """

    _method = "krr"


class KernelRidgeClassifier(PredictionSets, Updates, LabelSets, ClassesOutputs, ClassifierMixin, _Ridge):
    """Classification by kernel ridge regression on one-hot encoded classes.

    y holds a class per example; or, where an example may have several, a list of sets of integers or rows of 0
    and 1 with a column per class. Attributes: those of KernelRidge, and classes_. predict_proba() and
    predict_log_proba() need one class per example and leave-one-out errors: loo=True, or alpha a list.
    """

    _method = "krr"
    _own = [("threshold", 0.5)]

    def _more_tags(self):
        return {"multilabel": True}

    def _named_sets(self, values):
        places = [np.searchsorted(self.classes_, sorted(one)) if self._named() else sorted(one) for one in values]
        return [set(self.classes_[np.asarray(one, int)].tolist()) for one in places]

    def _needs_calibration(self):
        """Raise where probabilities are not to be had, so that hasattr() tells."""
        if getattr(self, "_several", None):
            raise AttributeError("there are no probabilities of label sets: see decision_function()")
        known = getattr(self, "_calibrated", None)
        if known is None:
            known = bool(self.loo) or self.alpha is None or np.ndim(self.alpha) > 0
        if not known:
            raise AttributeError("probabilities are calibrated on leave-one-out predictions: fit with loo=True, or "
                                 "alpha a list")

    @property
    def predict_proba(self):
        """Probabilities of the classes of this rank's inputs, a column for each of classes_: softmax of the
        decision values, with the slope that has the least leave-one-out log loss. predict_proba(X) is
        collective."""
        self._needs_calibration()
        return self._probabilities

    @property
    def predict_log_proba(self):
        """Their logarithms. predict_log_proba(X) is collective."""
        self._needs_calibration()
        return lambda X: np.log(self._probabilities(X))

    def _probabilities(self, X):
        return self._chosen("probabilities", X)


class KernelPCA(Preimages, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Kernel principal components.

    Attributes: eigenvalues_, of the centered kernel matrix; eigenvectors_ (a row for each of this rank's
    training objects); gamma_, of a kernel that scikit-learn's name stands for; report_.
    """

    _method = "kpca"
    _least = 2
    _own_defaults = {"kernel": "linear", "n_components": None}
    _order = ("n_components", "kernel", "gamma", "degree", "coef0", "kernel_params")

    def _more_tags(self):
        reason = "the sign of an axis depends on the order of the objects, which the check shuffles"
        return {"_xfail_checks": {"check_sample_weights_invariance": reason}}

    def _attributes(self, ctx, X):
        parts = self._model.parts(("eigenvalues", "components"))
        self.eigenvalues_ = parts["eigenvalues"]
        self.eigenvectors_ = self._own_rows(ctx, parts["components"] * np.sqrt(self.eigenvalues_), X)
        self.residual_ = self.report_.get("residual")
        columns = getattr(self, "n_features_in_", None)
        self.gamma_ = 1 / columns if self.gamma is None and columns else self.gamma

    @property
    def _n_features_out(self):
        return len(self.eigenvalues_)

    def transform(self, X):
        """Coordinates of this rank's objects along the components. Collective."""
        return self._apply(X)

    def inverse_transform(self, Z):
        """Objects whose coordinates are near those of the rows of Z, by a pre-image. Collective."""
        self._check_fitted()
        ctx = self._context()
        with ctx.agree():
            Z = numbers(Z, "Z") if Z is not None else None
        self._configure()
        return self._fitted().apply("dkm_model_decode", Z, "dense", "Z", self._same)


class KernelDependencyEstimation(PredictionSets, ObjectsOutputs, Preimages, Candidates, Estimator):
    """Kernel dependency estimation: from objects of any type to objects of any type.

    Outputs are integers (classes), rows of numbers, strings, sets or label sets. Attributes: eigenvalues_
    of the outputs' kernel matrix; residual_; report_.
    """

    _method = "kde"
    _least = 2
    _own_defaults = {"kernel": "linear", "n_components": None, "alpha": 1.0}
    _order = ("kernel", "output_kernel", "n_components", "alpha")

    def _attributes(self, ctx, X):
        self.eigenvalues_ = self._model.parts(("eigenvalues",)).get("eigenvalues")
        self.residual_ = self.report_.get("residual")
        self.n_iter_ = max(1, int(self.report_.get("iterations", 1)))

    def _values(self, ctx, values, columns):
        found = super()._values(ctx, values, columns)
        if values.get("output_kernel") is None:
            found["output_kernel"] = "class" if self._kind == "labels" else "linear"
        if values.get("regressor") == "svr":
            found["alpha"] = None
        return found


class JointKernelMap(PredictionSets, ObjectsOutputs, Candidates, Estimator):
    """Joint kernel maps: scores of pairs of inputs and outputs, by a margin.

    C is the price of slack; None allows none. Attributes: n_iter_, the iterations of the cutting-plane
    method; report_, with the constraints, the gap and the violation.
    """

    _method = "jkm"
    _own_defaults = {"kernel": "linear", "C": 1.0}
    _order = ("kernel", "output_kernel", "joint", "epsilon", "C")

    def _check_outputs(self, y):
        y = super()._check_outputs(y)
        if is_rows(y) and y.ndim == 1 and y.dtype.kind == "f":  # outputs are classes or vectors
            if (y != np.floor(y)).any():
                raise ValueError("Unknown label type: continuous y; outputs are classes, rows of two dimensions "
                                 "or other objects")
            y = y.astype(int)
        return y

    def predict(self, X, candidate_lists=None):
        """Predict the outputs of this rank's inputs. Collective.

        candidate_lists : for each input the numbers of the candidates that count, in their order, or of
            classes ascending; None: all count
        """
        return self._predict(X, candidate_lists)

    def _attributes(self, ctx, X):
        self.n_iter_ = max(1, int(self.report_.get("iterations", self.report_.get("rounds", 1))))


class KNeighbors(PredictionSets, ObjectsOutputs, Candidates, Estimator):
    """Nearest neighbors in the feature space of a kernel: regression where outputs are numbers, a vote
    where they are classes, the neighbor's output where they are other objects."""

    _method = "knn"
    _own_defaults = {"kernel": "linear"}
    _order = ("n_neighbors", "kernel")


class SVC(ClassesOutputs, ClassifierMixin, Estimator):
    """Support vector machines, one class against the rest.

    Attributes: classes_, report_.
    """

    _method = "svm"
    _own_defaults = {"kernel": "rbf", "C": 1.0}
    _order = ("C", "kernel", "degree", "gamma", "coef0")

    def _more_tags(self):
        reason = "rows in another order lead to decision values that agree to `tolerance`, not to 1e-7"
        return {"_xfail_checks": {"check_sample_weights_invariance": reason}}


class LocallyLinearEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Locally linear embedding.

    New points are placed by the kernel of the embedding, at a'W^+ V with the weights a of their nearest
    points (Ham, Lee, Mika and Schoelkopf 2004). Attributes: embedding_ (a row for each of this rank's
    points), reconstruction_error_, report_.
    """

    _least = 2

    def _more_tags(self):
        reason = ("transform() places points by the kernel of the embedding: where the neighbors fall into "
                  "pieces W is singular, and training points are not placed where the embedding has them")
        return {"_xfail_checks": {"check_transformer_general": reason,
                                  "check_transformer_data_not_an_array": reason}}

    def _finish_lle(self, ctx, model, Y, info, X):
        rows = count(X) if X is not None else 0
        with Y:
            self.embedding_ = from_data(ctx, Y.pointer) if self._same else from_data(
                ctx, Y.pointer, first_of(ctx, rows), rows)
        self.report_ = {name: getattr(info, name) for name, _ in info._fields_ if name != "gram"}
        self.reconstruction_error_ = info.error
        self._model, self._content, self.X_fit_ = Model(ctx, model), None, X

    @property
    def _n_features_out(self):
        return lib.dkm_model_output_cols(self._fitted().handle.pointer)

    def fit(self, X, y=None):
        """Fit. Collective on `comm`."""
        ctx = self._context()
        with ctx.agree():
            X = self._check_X(X, reset=True)
            self._check_rows(ctx, X, self._least)
            settings = LleSettings(self.n_neighbors, self.n_components, self.ridge, 0, self._grid())
        info, model, Y = LleInfo(), Handle("model"), Handle("data")
        with ctx.telling(self.progress), to_data(ctx, X, "dense", "X", self._same) as data:
            model.keep = [data.keep]
            ctx.call("dkm_lle_fit", ctx.pointer, data.pointer, ct.byref(settings), model.out, Y.out,
                     ct.byref(info))
        self._finish_lle(ctx, model, Y, info, X)
        return self

    def fit_transform(self, X, y=None):
        """Fit, and the embedding of this rank's points. Collective."""
        return self.fit(X).embedding_

    def transform(self, X):
        """Place this rank's points. Collective."""
        return self._apply(X)

    def _type_of_X(self):
        return "dense"

    def _wants_rows(self):
        return True


LocallyLinearEmbedding._complete(
    [("n_neighbors", 5), ("n_components", 2), ("ridge", 1e-3)] + COMMON,
    {"neighbours": "n_neighbors", "neighbors": "n_neighbors", "components": "n_components", "reg": "ridge"},
    {"n_neighbors": "how many others each point is made of", "n_components": "how many coordinates",
     "ridge": "added to the diagonal of a point's local matrix, a part of its trace; also `reg`"})


class KernelExtension(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Kernel extrapolation: a kernel matrix that is known on some objects, made into the kernel
    k_Q(x, x') = f(x)'Q f(x') on all objects that have features f.

    Features are kernel values to landmarks, Fisher scores, weights on nearest neighbors, or else the rows
    themselves. Attributes: report_ (rank, dimensions, residual, explained).
    """

    def fit(self, X, y=None, gram=None):
        """Fit to the matrix `gram` of the objects X, or to that of `kernel` on them. Collective.

        gram : rows of the kernel matrix of this rank's objects, with a column for each object of all ranks
        """
        ctx = self._context()
        with ctx.agree():
            X = self._check_X(X, reset=True)
            self._check_rows(ctx, X)
            self._check_choices()
        with ctx.telling(self.progress), to_data(ctx, X, self._type_of_X(), "X", self._same) as data:
            text = expression(ctx, self.kernel, getattr(self, "n_features_in_", None), self.gamma, self.degree,
                              self.coef0, self.kernel_params)
            with GramProblem(ctx, text, data) as problem:
                self._extend(ctx, problem, data, gram, X)
        return self

    def _check_choices(self):
        given = [name for name in ("landmarks", "fisher", "lle") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"features are made in one way: {' and '.join(given)} are given")
        if self.fisher not in (None,) + FISHER:
            raise ValueError(f"fisher is one of {', '.join(FISHER)}, not {self.fisher!r}")
        if self.landmark_choice not in LANDMARKS:
            raise ValueError(f"landmark_choice is one of {', '.join(LANDMARKS)}, not "
                             f"{self.landmark_choice!r}")

    def _features(self, ctx, problem, data):
        """The feature map, and what it makes of the objects."""
        features, F = Handle("features"), Handle("data")
        layout = self._grid()
        if self.lle is not None:
            ctx.call("dkm_features_lle", data.pointer, self.lle, self.ridge, features.out, F.out)
            return features, F
        if self.landmarks is not None:
            ctx.call("dkm_features_landmarks", data.pointer, problem.kernel.pointer, self.landmarks,
                     LANDMARKS.index(self.landmark_choice), ct.byref(layout), features.out)
        elif self.fisher is not None:
            ctx.call("dkm_features_fisher", data.pointer, FISHER.index(self.fisher), features.out)
        else:
            ctx.call("dkm_features_dense", ctx.pointer, lib.dkm_data_cols(data.pointer), features.out)
            ctx.call("dkm_data_copy", data.pointer, F.out)
            return features, F
        ctx.call("dkm_features_apply", features.pointer, data.pointer, F.out)
        return features, F

    def _extend(self, ctx, problem, data, gram, X):
        info, model = ExtrapolateInfo(), Handle("model")
        settings = ExtrapolateSettings(int(self.shear), self.cutoff or 0.0)
        if any(ctx.comm.allgather(gram is not None)):
            with to_data(ctx, gram, "dense", "gram", self._same) as G:
                K = ctx.create("dmat", "dkm_gram_from_rows", problem.grid.pointer, G.pointer, problem.block)
        else:
            K = problem.square()
        features, F = self._features(ctx, problem, data)
        with K, features, F:
            ctx.call("dkm_extend_fit", K.pointer, features.pointer, F.pointer, ct.byref(settings), model.out,
                     ct.byref(info))
        model.keep = [data.keep]
        self.report_ = {"features" if name == "n" else name: getattr(info, name) for name, _ in info._fields_}
        self.residual_ = info.residual
        self._model, self._content, self.X_fit_ = Model(ctx, model), None, X

    @property
    def _n_features_out(self):
        return self.report_["dimensions"]

    def transform(self, X):
        """Coordinates of this rank's objects, whose inner products are kernel values. Collective."""
        return self._apply(X, "dkm_extend_coordinates")

    def gram(self, X):
        """Kernel values of this rank's objects to the training objects of all ranks. Collective."""
        return self._apply(X)


KernelExtension._complete(
    [("kernel", "linear"), ("landmarks", None), ("landmark_choice", "uniform"), ("fisher", None),
     ("lle", None), ("ridge", 1e-3), ("shear", True), ("cutoff", None)] + KERNEL + COMMON, {},
    {"kernel": "of the objects: for landmarks, and for the matrix where none is given",
     "landmarks": "features: kernel values to so many of the objects",
     "landmark_choice": "which ones: " + ", ".join(LANDMARKS),
     "fisher": "features: Fisher scores of a model of the objects: " + ", ".join(FISHER),
     "lle": "features: the weights on so many nearest others that a point is made of",
     "ridge": "of the weights of `lle`, a part of the trace",
     "shear": "whether K - K_Q must be positive semidefinite",
     "cutoff": "singular values of the features below this part of the largest count as zero"})


def from_model(ctx, name, model, comm, replicated):
    """An estimator of a model that was read from a file. Collective."""
    kind = TYPES[lib.dkm_model_output_type(model.handle.pointer)]
    if name == "KernelRidge" and kind in ("labels", "label-sets"):
        name = "KernelRidgeClassifier"
    estimator = globals()[name](comm=comm, replicated=replicated)
    texts, inputs, classes = model.describe()
    for parameter, text in texts.items():
        if hasattr(estimator, parameter):
            setattr(estimator, parameter, text)
    if inputs is not None:
        estimator.x_type, columns = inputs
        if columns:
            estimator.n_features_in_ = columns
    estimator.report_ = {}
    estimator._flat = lib.dkm_model_output_cols(model.handle.pointer) == 1
    estimator._integer = np.dtype(int) if kind == "labels" else None
    if isinstance(estimator, ClassesOutputs):
        estimator.classes_ = classes.astype(int)
        estimator._several = "sets" if kind == "label-sets" else None
    estimator._model, estimator._content, estimator.X_fit_ = model, None, None
    _set_known(estimator, model)
    estimator._attributes(ctx, None)
    return estimator


def _set_known(estimator, model):
    """Parameters whose values are in the file of a model, so that clone() and fit() ask for the same."""
    found = model.parts(("gamma", "k", "C", "epsilon", "window", "sequence_column", "eigenvalues", "intercept"))
    for part, name, kind in (("gamma", "alpha", float), ("k", "n_neighbors", int), ("C", "C", float),
                             ("epsilon", "epsilon", float)):
        if part in found and hasattr(estimator, name):
            setattr(estimator, name, kind(np.ravel(found[part])[0]))
    if "eigenvalues" in found and hasattr(estimator, "n_components"):
        estimator.n_components = len(found["eigenvalues"])
    if "center" in estimator.get_params(deep=False):
        estimator.center = bool(np.any(found.get("intercept", 0)))
    if model.method == "jkm-chain":
        estimator.output_domain = "chain"
        estimator.window = int(np.ravel(found["window"])[0])
        estimator.sequence_column = int(found["sequence_column"][0]) if "sequence_column" in found else None
        estimator.x_type = "dense" if "sequence_column" in found else "strings"
