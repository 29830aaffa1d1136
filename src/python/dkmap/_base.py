"""The conventions of scikit-learn: its base classes where it is there, else the little of them that
estimators need."""
try:
    from sklearn.base import (BaseEstimator, ClassifierMixin, RegressorMixin, TransformerMixin)
    from sklearn.base import ClassNamePrefixFeaturesOutMixin
    from sklearn.exceptions import DataConversionWarning, NotFittedError
except ImportError:
    import inspect

    import numpy as np

    class NotFittedError(ValueError, AttributeError):
        """Raised by an estimator that is used before it is fitted."""

    class DataConversionWarning(UserWarning):
        """Warns of data that were taken in another form than they were given."""

    class BaseEstimator:
        @classmethod
        def _get_param_names(cls):
            return sorted(name for name in inspect.signature(cls.__init__).parameters if name != "self")

        def get_params(self, deep=True):
            return {name: getattr(self, name) for name in self._get_param_names()}

        def set_params(self, **parameters):
            known = self._get_param_names()
            for name, value in parameters.items():
                if name not in known:
                    raise ValueError(f"Invalid parameter {name!r} for estimator {self}. Valid parameters "
                                     f"are: {known!r}.")
                setattr(self, name, value)
            return self

        def __repr__(self):
            defaults = inspect.signature(type(self).__init__).parameters
            changed = (f"{name}={value!r}" for name, value in self.get_params().items()
                       if value is not defaults[name].default)
            return f"{type(self).__name__}({', '.join(changed)})"

        def __getstate__(self):
            return dict(self.__dict__)

        def __setstate__(self, state):
            self.__dict__.update(state)

    class ClassifierMixin:
        _estimator_type = "classifier"

        def score(self, X, y):
            return float(np.mean(self.predict(X) == np.asarray(y)))

    class RegressorMixin:
        _estimator_type = "regressor"

        def score(self, X, y):
            y = np.asarray(y, float)
            left = ((y - self.predict(X)) ** 2).sum(axis=0)
            return float(np.mean(1 - left / ((y - y.mean(axis=0)) ** 2).sum(axis=0)))

    class TransformerMixin:
        def fit_transform(self, X, y=None, **parameters):
            return self.fit(X, y, **parameters).transform(X)

    class ClassNamePrefixFeaturesOutMixin:
        def get_feature_names_out(self, input_features=None):
            return np.asarray([f"{type(self).__name__.lower()}{k}" for k in range(self._n_features_out)],
                              dtype=object)
