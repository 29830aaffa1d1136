"""What estimators share: parameters from the settings of the methods, objects of a rank, outputs, files."""
import os
import warnings

import numpy as np
import scipy.sparse

from . import _settings
from ._base import BaseEstimator, DataConversionWarning, NotFittedError
from ._context import FitWarning, _defaults, context
from ._data import as_objects, count, is_rows, numbers, to_data
from ._kernels import expression
from ._library import EXPORTS, Handle, Layout, encode, lib
from ._model import Model, first_of, restore

# What every estimator takes beside the settings of its method.
COMMON = [("grid", None), ("block", None), ("random_state", None), ("threads", None), ("x_type", None),
          ("comm", None), ("replicated", None), ("progress", None)]
LOCAL = ("comm", "progress")  # may differ between ranks
# How scikit-learn's kernels are distinguished.
KERNEL = [("gamma", None), ("degree", 3), ("coef0", 1), ("kernel_params", None)]

PARAMETERS = """

Parameters
----------
"""
SHARED_HELP = {
    "gamma": "of the kernels rbf, poly, laplacian, sigmoid and chi2 where `kernel` is one of these names "
             "alone, as in scikit-learn: 1 / columns where it is None",
    "degree": "of the kernel poly where it is named alone",
    "coef0": "of the kernels poly and sigmoid where they are named alone",
    "kernel_params": "keyword arguments of a kernel that is a function",
    "grid": "process grid, such as '2x3'; near-square over all ranks where it is None",
    "block": "block size of distributed matrices",
    "random_state": "seed of every random choice; also `seed`",
    "threads": "threads per rank; None leaves the number of threads as it is",
    "x_type": "what X is, where that is not clear: dense, sparse, gram, distance, graph, labels, "
              "label-sets, strings, sets, graphs",
    "y_type": "the same of y",
    "comm": "communicator of mpi4py; None: that of set_config(), at first MPI.COMM_SELF",
    "replicated": "whether every rank passes the same X and y, all of them, and gets all results; else each "
                  "passes rows of its own and gets the results of those",
    "progress": "True for a bar on rank 0, or a function of phase, fraction and seconds left",
}


class Estimator(BaseEstimator):
    """What all estimators share."""

    _method = None
    _own = []  # parameters that are not settings
    _own_defaults = {}  # of settings, where they are scikit-learn's
    _order = ()  # of the first parameters
    _outputs = None  # what y is: "numbers", "classes", "objects", or nothing
    _least = 1  # training objects

    def __init_subclass__(cls, **arguments):
        super().__init_subclass__(**arguments)
        if "_method" not in vars(cls) or cls._method is None:
            return
        cls._rows = _settings.rows_of(cls._method)
        if any(row.setting == "weights" for row in cls._rows) and "fit" not in vars(cls):
            cls.fit = _fit_weighted
        known = [(row.name, cls._own_defaults.get(row.name, row.default)) for row in cls._rows]
        kernel = KERNEL if any(row.name == "kernel" for row in cls._rows) else []
        y_type = [("y_type", None)] if cls._outputs == "objects" else []
        cls._complete(known + cls._own + kernel + y_type + COMMON,
                      {alias: row.name for row in cls._rows for alias in row.aliases},
                      {row.name: row.help + (f": {', '.join(row.choices)}" if row.choices else "")
                       for row in cls._rows})

    @classmethod
    def _complete(cls, parameters, aliases, helps):
        """Make __init__ and the list of parameters in the documentation of the class."""
        first = {name: place for place, name in enumerate(cls._order)}
        parameters = sorted(parameters, key=lambda one: first.get(one[0], len(first)))
        aliases = {other: name for other, name in {**aliases, "seed": "random_state"}.items()
                   if other not in dict(parameters)}
        cls._aliases = aliases
        cls.__init__ = _settings.make_init(parameters, aliases)
        lines = [f"{name} : default {default!r}\n    {helps.get(name) or SHARED_HELP.get(name, '')}"
                 for name, default in parameters]
        cls.__doc__ = (cls.__doc__ or "") + PARAMETERS + "\n".join(lines) + "\n"

    def set_params(self, **parameters):
        return super().set_params(**{self._aliases.get(name, name): value
                                     for name, value in parameters.items()})

    def _more_tags(self):
        """What scikit-learn asks for: matrices of kernel values are cut in rows and columns."""
        return {"pairwise": getattr(self, "kernel", None) in ("precomputed", "gram")}

    # --- the context, and objects on it

    def _context(self):
        """The context of the estimator's communicator, with the seed and the threads of its parameters, which
        must be the same on all ranks. Collective."""
        ctx = context(self.comm)
        with ctx.agree():
            seed = self._seed()
            threads = None if self.threads is None else int(self.threads)
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name not in LOCAL}
        ctx.require_same(estimator=type(self).__name__, **{**parameters, "random_state": seed, "replicated": self._same})
        lib.dkm_ctx_set_seed(ctx.pointer, seed)
        if threads is not None:
            lib.dkm_ctx_set_threads(ctx.pointer, threads)
        return ctx

    def _seed(self):
        state = self.random_state
        if state is None:
            return 0
        return int(state.randint(2**31) if hasattr(state, "randint") else state)

    @property
    def _same(self):
        return _defaults["replicated"] if self.replicated is None else self.replicated

    def _check_X(self, X, reset):
        """This rank's inputs as the library takes them. Local."""
        if X is None or self._has_none(X):
            return None
        names = _feature_names(X)
        X = as_objects(X)
        if not is_rows(X):
            if self._wants_rows():
                numbers(np.array(X), "X")  # raises
            return X
        X = numbers(X, "X")
        columns = X.shape[1]
        if reset:
            self.n_features_in_ = columns
            if names is not None:
                self.feature_names_in_ = names
            elif hasattr(self, "feature_names_in_"):
                del self.feature_names_in_
        else:
            self._check_names(names)
            known = getattr(self, "n_features_in_", columns)  # not of all models from files
            if columns != known:
                raise ValueError(f"X has {columns} features, but {type(self).__name__} is expecting {known} "
                                 "features as input.")
        return X

    def _has_none(self, objects):
        """Whether a rank of several passes an empty list, of whatever type the objects of the others are. Local."""
        return isinstance(objects, (list, tuple)) and not objects and context(self.comm).size > 1 and not self._same

    def _check_names(self, names):
        known = getattr(self, "feature_names_in_", None)
        kind = type(self).__name__
        if names is None and known is not None:
            warnings.warn(f"X does not have valid feature names, but {kind} was fitted with feature names")
        elif names is not None and known is None:
            warnings.warn(f"X has feature names, but {kind} was fitted without feature names")
        elif names is not None and list(names) != list(known):
            raise ValueError(_names_differ(names, known))

    def _wants_rows(self):
        """Whether the kernel is one of rows of numbers for certain."""
        return getattr(self, "kernel", None) in ("linear", "rbf", "poly", "polynomial", "cosine",
                                                 "laplacian", "precomputed")

    def _check_rows(self, ctx, X, least=1):
        """That there are objects; ranks of several may have none."""
        least = least if ctx.size == 1 or self._same else 0
        if X is not None and count(X) < least:
            shape = getattr(X, "shape", (len(X),))
            raise ValueError(f"Found array with {count(X)} sample(s) (shape={tuple(shape)}) while a minimum "
                             f"of {least} is required.")

    def _type_of_X(self):
        if self.x_type is None and getattr(self, "kernel", None) in ("precomputed", "gram"):
            return "gram"
        return self.x_type

    def _check_fitted(self):
        if not hasattr(self, "report_"):
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet. Call 'fit' with "
                                 "appropriate arguments before using this estimator.")

    # --- fitting

    def fit(self, X, y=None):
        """Fit. Collective on `comm`.

        X : inputs of this rank, or None on ranks that have none; y : as many outputs
        """
        return self._fit_examples(X, y, None)

    def _fit_examples(self, X, y, sample_weight):
        ctx = self._context()
        with ctx.agree():
            X = self._check_X(X, reset=True)
            self._check_rows(ctx, X, self._least)
            y = self._check_y(X, y)
            X, y, sample_weight = self._check_weights(X, y, sample_weight)
        if ctx.size > 1 and not self._same:
            self._share_width(ctx, X)
        Y = self._encode_y(ctx, y)
        with ctx.telling(self.progress):
            self._fit(ctx, X, Y, sample_weight)
        return self

    def _check_weights(self, X, y, weights):
        """Examples of this rank that weigh anything, and their weights as a column. Local."""
        if weights is None:
            return X, y, None
        rows = count(X) if X is not None else 0
        weights = np.asarray(weights, dtype=np.float64)
        if weights.ndim == 0:
            weights = np.full(rows, float(weights))
        if weights.ndim > 1:
            raise ValueError("Sample weights must be 1D array or scalar")
        if len(weights) != rows:
            raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
        if (weights == 0).any():
            if self._type_of_X() == "graph":  # vertices whose output is not known
                return X, y, weights.reshape(-1, 1)
            if self._type_of_X() in ("gram", "distance"):
                raise ValueError("sample_weight has zeros: leave these rows and columns of the matrix out")
            used = np.flatnonzero(weights)
            weights = weights[used]
            X, y = (part[used] if hasattr(part, "shape") else [part[i] for i in used] if part is not None else None
                    for part in (X, y))
        return X, y, weights.reshape(-1, 1) if len(weights) else None

    def _share_width(self, ctx, X):
        """Ranks without rows learn how many columns there are. Collective."""
        known = next(filter(None, ctx.comm.allgather(getattr(self, "n_features_in_", None)
                                                      if X is not None and is_rows(X) else None)), None)
        if known is not None and not (X is not None and is_rows(X)):
            self.n_features_in_ = known

    def _fit(self, ctx, X, Y, weights=None):
        objects, at = {}, getattr(self, "n_features_in_", None)
        values = {row.name: getattr(self, row.name) for row in self._rows}
        values.update(self._values(ctx, values, at))
        with _settings.apply(ctx, self._method, self._rows, values, objects) as settings:
            self._layout(ctx, settings)
            if weights is not None if ctx.size == 1 else any(ctx.comm.allgather(weights is not None)):
                objects["weights"] = to_data(ctx, weights, "dense", "sample_weight", self._same)
                ctx.call("dkm_settings_set_data", settings.pointer, encode("weights"),
                         objects["weights"].pointer)
            with to_data(ctx, X, self._type_of_X(), "X", self._same) as data:
                model, report = Handle("model"), Handle("report")
                ctx.call("dkm_fit", ctx.pointer, encode(self._method), data.pointer,
                         Y.pointer if Y else None, settings.pointer, model.out, report.out)
                model.keep = [data.keep, Y.keep if Y else None, objects]
        self._finish(ctx, Model(ctx, model), report, X)

    def _layout(self, ctx, settings):
        for name in ("grid", "block"):
            value = getattr(self, name)
            if value is not None:
                ctx.call("dkm_settings_set", settings.pointer, encode(name), encode(str(value)))

    def _grid(self):
        """The layout as a structure of the library. Local."""
        P, Q = (int(one) for one in self.grid.split("x")) if self.grid else (0, 0)
        return Layout(P, Q, self.block or 0)

    def _values(self, ctx, values, columns):
        """Settings whose parameters are not their values."""
        found = {}
        for name in ("kernel", "output_kernel"):
            if values.get(name) is None:
                continue
            mine = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0, "columns": columns,
                    "parameters": self.kernel_params} if name == "kernel" else {}
            found[name] = expression(ctx, values[name], name=getattr(self, f"_{name}_name", None), **mine)
            if callable(values[name]):
                setattr(self, f"_{name}_name", found[name])
        return found

    def _finish(self, ctx, model, report, X):
        with ctx.agree():
            pass
        self.report_, messages = _settings.report_of(report)
        report.close()
        for text in messages:
            warnings.warn(text, FitWarning, stacklevel=4)
        self._model = model
        self._content = None
        self.X_fit_ = X
        self._attributes(ctx, X)

    def _attributes(self, ctx, X):
        """Results as attributes. Collective."""

    def _own_rows(self, ctx, values, X):
        """Of a row for each training object those of this rank's own objects. Collective."""
        rows = count(X) if X is not None else 0
        if ctx.size == 1 or self._same:
            return values
        total = sum(ctx.comm.allgather(rows))
        first = first_of(ctx, rows)
        return values[first:first + rows] if len(values) == total else values

    # --- outputs

    def _check_y(self, X, y):
        """Outputs of this rank, checked. Local."""
        if self._outputs is None:
            return None
        if y is None and X is not None:
            raise ValueError(f"This {type(self).__name__} estimator requires y to be passed, but the target y "
                             "is None.")
        if y is None or X is None and count(y) == 0:
            return None
        y = self._check_outputs(y)
        if X is None or count(X) != count(y):
            raise ValueError("Found input variables with inconsistent numbers of samples: "
                             f"{[count(X) if X is not None else 0, count(y)]}")
        return y

    def _check_outputs(self, y):
        raise NotImplementedError

    def _encode_y(self, ctx, y):
        return None

    # --- the model

    def _fitted(self):
        """The model, read again after pickling. Collective then."""
        self._check_fitted()
        if self._model is None:
            ctx = self._context()
            for name in ("kernel", "output_kernel"):
                if callable(getattr(self, name, None)):
                    self._values(ctx, {name: getattr(self, name)}, None)
            self._model = restore(ctx, self._content)
            self._content = None
        return self._model

    def _apply(self, X, function="dkm_model_predict", lists=None):
        self._check_fitted()
        ctx = self._context()
        with ctx.agree():
            X = self._check_X(X, reset=False)
            self._check_rows(ctx, X)
            if lists is not None and len(lists) != (count(X) if X is not None else 0):
                raise ValueError(f"candidate_lists: {len(lists)} lists for {count(X) if X is not None else 0} inputs")
        if ctx.size > 1 and any(ctx.comm.allgather(lists is not None)) and lists is None:
            lists = []
        result = self._fitted().apply(function, X, self._type_of_X(), "X", self._same, lists)
        with ctx.agree():
            return result

    def save(self, path):
        """Write the model to a file that the command reads too. Collective."""
        self._fitted().save(path)
        return self

    def export(self, path, format=None):
        """Write the model for programs without dkmap: C source (.c) or an ONNX graph (.onnx). Collective.

        format : "c" or "onnx"; None: what the ending of the path says
        Models of ridge regression, SVC, kernel PCA and kernel dependency estimation on dense rows.
        """
        ctx = self._context()
        with ctx.agree():
            self._check_fitted()
            form = format or os.path.splitext(os.fspath(path))[1][1:]
            if form not in EXPORTS:
                raise ValueError(f"cannot tell what to write to {os.fspath(path)!r}: give format='c' or 'onnx', or "
                                 "a path that ends in .c or .onnx")
        self._configure()
        self._fitted().export(path, form)
        return self

    def _configure(self):
        """Choose the pre-images of predictions, where the method has any."""

    def __getstate__(self):
        """What is pickled: the model as the content of its file. Collective where it is fitted."""
        state = dict(super().__getstate__())
        if state.get("_model") is not None:
            state["_content"] = self._model.dump()
        if "_model" in state:
            state["_model"] = None
        state.pop("X_fit_", None)
        return state


def _fit_weighted(self, X, y=None, sample_weight=None):
    """Fit. Collective on `comm`.

    X : inputs of this rank, or None on ranks that have none; y : as many outputs
    sample_weight : as many numbers; an example of weight 2 counts as two, one of weight 0 is left out
    """
    return self._fit_examples(X, y, sample_weight)


_fit_weighted.__name__ = "fit"


def _feature_names(X):
    """Names of the columns of a table whose names are strings, as scikit-learn takes them."""
    columns = getattr(X, "columns", None)
    if columns is None or not hasattr(X, "iloc"):
        return None
    names = np.asarray(columns, dtype=object)
    kinds = {type(name) for name in names}
    if kinds == {str}:
        return names
    if str in kinds:
        raise TypeError("Feature names are only supported if all input features have string names, but your "
                        f"input has {sorted(kind.__qualname__ for kind in kinds)} as feature name / column "
                        "name types.")
    return None


def _names_differ(names, known):
    message = "The feature names should match those that were passed during fit.\n"
    unexpected = sorted(set(names) - set(known))
    missing = sorted(set(known) - set(names))
    if unexpected:
        message += "Feature names unseen at fit time:\n" + "".join(f"- {one}\n" for one in unexpected)
    if missing:
        message += "Feature names seen at fit time, yet now missing:\n" + "".join(
            f"- {one}\n" for one in missing)
    if not missing and not unexpected:
        message += "Feature names must be in the same order as they were in fit.\n"
    return message


class NumbersOutputs:
    """Outputs that are numbers: y of one or two dimensions."""

    _outputs = "numbers"

    def _more_tags(self):
        return {"multioutput": True}

    def _check_outputs(self, y):
        y = numbers(y, "y", dimensions=1)
        if scipy.sparse.issparse(y):
            raise ValueError("y is sparse: pass dense outputs")
        return y

    def _encode_y(self, ctx, y):
        shapes = ctx.comm.allgather(None if y is None else y.ndim) if ctx.size > 1 else [y.ndim]
        self._flat = 2 not in shapes
        return to_data(ctx, y, "dense", "y", self._same)

    def predict(self, X):
        """Predict the outputs of this rank's inputs. Collective."""
        self._check_fitted()
        values = self._apply(X)
        return values[:, 0] if self._flat else values

    def score(self, X, y, sample_weight=None):
        """R^2 over the rows of all ranks, mean over the outputs. Collective."""
        predicted, ctx = self.predict(X), self._model.ctx
        with ctx.agree():
            y = _as_predicted(y, predicted)
            weight = np.ones(len(y)) if sample_weight is None else _as_predicted(sample_weight, predicted)[:, 0]
        every = (lambda value: value) if self._same or ctx.size == 1 else ctx.comm.allreduce
        mean = every(weight @ y) / every(weight.sum())
        left = every(weight @ (y - predicted.reshape(len(y), -1)) ** 2)
        spread = every(weight @ (y - mean) ** 2)
        ratio = np.where(spread > 0, 1 - left / np.where(spread > 0, spread, 1), left == 0)
        return float(np.mean(ratio))


class ClassesOutputs:
    """Outputs that are classes, of any type that can be sorted."""

    _outputs = "classes"

    def _check_outputs(self, y):
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            warnings.warn("A column-vector y was passed when a 1d array was expected",
                          DataConversionWarning, stacklevel=3)
            y = y.ravel()
        if y.ndim != 1:
            raise ValueError(f"y should be a 1d array, got an array of shape {y.shape} instead.")
        if y.dtype.kind == "f":
            numbers(y, "y", dimensions=1)
            if (y != np.floor(y)).any():
                raise ValueError("Unknown label type: continuous y; classes are integers or strings")
        return y

    def _encode_y(self, ctx, y):
        with ctx.agree():
            mine = _classes_of(y) if y is not None else None
        found = [one for one in ctx.comm.allgather(mine) if one is not None] if ctx.size > 1 else [mine]
        with ctx.agree():
            if len({one.dtype.kind in "biuf" for one in found}) > 1:
                raise ValueError("y: some ranks have classes that are numbers, others have texts")
            self.classes_ = np.unique(np.concatenate(found))
            if len(self.classes_) < 2:
                raise ValueError(f"{type(self).__name__} needs at least 2 classes, and y has one class")
        labels = None if y is None else y if self._named() else np.searchsorted(self.classes_, y)
        return to_data(ctx, labels, "labels", "y", self._same)

    def _named(self):
        """Whether the model, and its file, have the classes themselves: integers. Else their indices."""
        return self.classes_.dtype.kind in "iu"

    def predict(self, X):
        """Predict the classes of this rank's inputs. Collective."""
        self._check_fitted()
        labels = self._apply(X)
        return self.classes_[np.searchsorted(self.classes_, labels) if self._named() else labels.astype(int)]

    def _chosen(self, prediction, X):
        """Numbers of the model for this rank's inputs, a column per class. Collective."""
        self._check_fitted()
        model = self._fitted()
        model.choose(prediction)
        try:
            return self._apply(X)
        finally:
            model.choose("outputs")

    def decision_function(self, X):
        """Decision values of this rank's inputs, a column for each of classes_; of two classes the value of the
        second less that of the first, as in scikit-learn. Collective."""
        scores = self._chosen("scores", X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def score(self, X, y, sample_weight=None):
        """Accuracy over the rows of all ranks. Collective."""
        predicted, ctx = self.predict(X), self._model.ctx
        with ctx.agree():
            right = np.asarray(np.ravel(_as_many(y, predicted)) == predicted, float)
            weight = np.ones(len(right)) if sample_weight is None else _as_predicted(sample_weight, predicted)[:, 0]
        every = (lambda value: value) if self._same or ctx.size == 1 else ctx.comm.allreduce
        return float(every(weight @ right) / every(weight.sum()))


class LabelSets:
    """Outputs of several classes at once: a list of sets of integers, or rows of 0 and 1 with a column per class."""

    def _check_outputs(self, y):
        self._several = None
        sets = y if isinstance(y, (list, tuple)) and y and isinstance(y[0], (set, frozenset)) else None
        if sets is not None:
            self._several = "sets"
            return list(sets)
        rows = y.toarray() if scipy.sparse.issparse(y) else np.asarray(y)
        if rows.ndim == 2 and rows.shape[1] > 1 and np.isin(rows, (0, 1)).all():
            self._several = rows.shape[1]
            return [set(np.flatnonzero(row).tolist()) for row in rows]
        return super()._check_outputs(y)

    def _encode_y(self, ctx, y):
        mine = None if y is None else self._several or "one"
        kinds = [kind for kind in ctx.comm.allgather(mine) if kind is not None] if ctx.size > 1 else [mine]
        with ctx.agree():
            if len(set(kinds)) > 1:
                raise ValueError(f"y: ranks have {' and '.join(map(_told, sorted(set(kinds), key=str)))}")
            self._several = None if kinds[0] == "one" else kinds[0]
        if not self._several:
            return super()._encode_y(ctx, y)
        found = np.array(sorted({int(label) for one in y or [] for label in one}), int)
        if self._several == "sets":
            self.classes_ = np.unique(np.concatenate(ctx.comm.allgather(found)))
        else:
            self.classes_ = np.arange(self._several)
        return to_data(ctx, y, "label-sets", "y", self._same)

    def predict(self, X):
        """Predict the classes of this rank's inputs: of label sets a list of sets or rows of 0 and 1, as y was in
        fit(). Collective."""
        if not getattr(self, "_several", None):
            return super().predict(X)
        self._check_fitted()
        ctx, model = self._context(), self._fitted()
        with ctx.agree():
            threshold = np.nan if self.threshold == "auto" else float(self.threshold)
        model.choose("outputs", threshold)
        sets = self._apply(X)
        if self._several == "sets":
            return sets
        rows = np.zeros((len(sets), len(self.classes_)), int)
        for row, one in zip(rows, sets):
            row[list(one)] = 1
        return rows

    def decision_function(self, X):
        """Decision values of this rank's inputs, a column for each of classes_; of two classes, but not of label
        sets, the value of the second less that of the first, as in scikit-learn. Collective."""
        if not getattr(self, "_several", None):
            return super().decision_function(X)
        return self._chosen("scores", X)[:, :len(self.classes_)]

    def score(self, X, y, sample_weight=None):
        """Accuracy over the rows of all ranks, of label sets the share that is right as a whole. Collective."""
        if not getattr(self, "_several", None):
            return super().score(X, y, sample_weight)
        predicted, ctx = self.predict(X), self._model.ctx
        with ctx.agree():
            y = y.toarray() if scipy.sparse.issparse(y) else y
            right = np.array([bool(np.all(a == b)) for a, b in zip(_as_many(y, predicted), predicted)], float)
            weight = np.ones(len(right)) if sample_weight is None else _as_predicted(sample_weight, predicted)[:, 0]
        every = (lambda value: value) if self._same or ctx.size == 1 else ctx.comm.allreduce
        return float(every(weight @ right) / every(weight.sum()))


def _told(kind):
    return {"one": "one class per example", "sets": "sets of classes"}.get(kind, f"rows of {kind} classes")


def _classes_of(y):
    """The classes of this rank's outputs. Local."""
    try:
        return np.unique(y)
    except TypeError:
        raise ValueError(f"y has classes that cannot be sorted: {sorted({type(one).__name__ for one in y})}") from None


class ObjectsOutputs:
    """Outputs of any type: rows of numbers, classes (integers in one dimension), strings, sets."""

    _outputs = "objects"

    def _check_outputs(self, y):
        y = as_objects(y)
        if is_rows(y) and (y.ndim != 1 or y.dtype.kind not in "iub"):
            y = numbers(y, "y", dimensions=1)
        return y

    def _encode_y(self, ctx, y):
        flat = y is not None and is_rows(y) and y.ndim == 1
        kinds = ctx.comm.allgather(None if y is None else (flat, flat and y.dtype.kind in "iub"))
        self._flat, labels = next(filter(None, kinds), (False, False))
        kind = self.y_type or ("labels" if labels else None)
        self._integer = y.dtype if flat and labels else None
        self._kind = kind
        return to_data(ctx, y, kind, "y", self._same)

    def predict(self, X):
        """Predict the outputs of this rank's inputs. Collective."""
        return self._predict(X)

    def _predict(self, X, lists=None):
        self._check_fitted()
        self._configure()
        values = self._apply(X, lists=lists)
        if isinstance(values, np.ndarray) and values.ndim == 1 and self._integer is not None:
            return values.astype(self._integer)
        if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] == 1 and self._flat:
            return values[:, 0]
        return values

    def score(self, X, y):
        """The share of right predictions; of outputs that are numbers R^2. Over the rows of all ranks.
        Collective."""
        predicted = self.predict(X)
        ctx = self._model.ctx
        every = (lambda value: value) if self._same or ctx.size == 1 else ctx.comm.allreduce
        if isinstance(predicted, np.ndarray) and self._integer is None and predicted.dtype.kind == "f":
            with ctx.agree():
                y = _as_predicted(y, predicted)
            mean = every(y.sum(axis=0)) / every(len(y))
            left = every(((y - predicted.reshape(len(y), -1)) ** 2).sum())
            return float(1 - left / every(((y - mean) ** 2).sum()))
        with ctx.agree():
            right = sum(_alike(a, b) for a, b in zip(_as_many(y, predicted), predicted))
        return float(every(right) / every(len(predicted)))


def _as_many(y, predicted):
    """Outputs to compare with predictions. Local."""
    if y is None or len(y) != len(predicted):
        raise ValueError("Found input variables with inconsistent numbers of samples: "
                         f"{[len(predicted), 0 if y is None else len(y)]}")
    return y


def _as_predicted(y, predicted):
    """The same as rows of numbers. Local."""
    return numbers(_as_many(y, predicted), "y", dimensions=1).reshape(len(predicted), -1)


def _alike(a, b):
    if isinstance(a, bytes):
        return a == b.encode(errors="surrogateescape")
    return bool(a == b)


class Candidates:
    """Outputs that are chosen among candidates, or among the training outputs where there are none."""

    def top_candidates(self, X, n=5):
        """The n best candidates of each of this rank's inputs: their numbers from 0 on, the best first, and their
        squared distances, of JointKernelMap scores. Two arrays of n columns. Collective."""
        ctx = self._context()
        with ctx.agree():
            n = int(n)
            if n < 1:
                raise ValueError(f"n is a number of candidates, not {n}")
        ctx.require_same(n=n)
        values = self._among_candidates(X, top=n)
        return values[:, ::2].astype(int), values[:, 1::2]

    def candidate_scores(self, X):
        """A number for each of this rank's inputs and each candidate, the greater the better: minus the squared
        distance, of JointKernelMap the score. Collective."""
        return self._among_candidates(X, scores=True)

    def _among_candidates(self, X, **asked):
        """Predictions of the model while it is asked for something else. Collective."""
        self._check_fitted()
        given, model = self._preimage_settings(), self._fitted()
        try:
            model.configure(**given, **asked)
            return self._apply(X)
        finally:
            model.configure(**given)

    def _preimage_settings(self):
        """Arguments of Model.configure(). Local."""
        return {}


# Pre-images, by the options of the commands predict and decode.
PREIMAGE = [("preimage", "auto"), ("candidates", None), ("preimage_neighbors", None), ("window", None),
            ("window_weights", "equal"), ("kz", None), ("gamma_z", 1e-3), ("approximate", None)]
SHARED_HELP.update({
    "threshold": "of label sets: classes with such a score are predicted; 'auto': those down to a share of the "
                 "greatest score, the share with the greatest leave-one-out F1, which needs loo=True or a list of alphas",
    "preimage": "how coordinates become objects: auto, candidates, linear, exact, fixed-point, gradient, mds, "
                "learned, strings, coordinates",
    "candidates": "objects to choose from; the training objects where there are none",
    "preimage_neighbors": "training objects that mds measures by (10), or letters that vote (strings, 5)",
    "window": "letters of the input around each letter (strings), odd; 3 where it is None",
    "window_weights": "what the places of that window weigh (strings): equal, or loo: chosen by leave-one-out",
    "kz": "kernel on coordinates, of a learned pre-image",
    "gamma_z": "ridge of a learned pre-image",
    "approximate": "search candidates by an index of faiss that finds this share of the best ones of a sample, "
                   "such as 0.99; None searches all",
})


class Preimages:
    """Estimators that turn coordinates into objects."""

    _own = PREIMAGE

    def _configure(self):
        if any(getattr(self, name) is not default and getattr(self, name) != default for name, default in PREIMAGE) \
                or getattr(self, "_configured", False):
            self._fitted().configure(**self._preimage_settings())
            self._configured = True

    def _preimage_settings(self):
        """Arguments of Model.configure(). Local."""
        given = {name: getattr(self, name) for name, _ in PREIMAGE}
        given["neighbors"] = given.pop("preimage_neighbors")
        given["candidates"] = self._check_candidates(given["candidates"])
        return given

    def _check_candidates(self, candidates):
        return candidates
