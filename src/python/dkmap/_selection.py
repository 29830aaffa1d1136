"""Cross-validation on all ranks, and what a fit takes before it is run."""
import copy
import ctypes as ct
import itertools

from . import _settings
from ._data import count, is_rows, to_data, type_of
from ._estimator import KERNEL
from ._library import CrossValidation, Handle, PlanRequest, Points, TYPES, encode


def _points(grid):
    """All combinations of the values of a dictionary of lists, as dictionaries; the last name fastest."""
    names = list(grid)
    return [dict(zip(names, values)) for values in itertools.product(*(list(grid[name]) for name in names))]


class _Search:
    """The points of a grid as settings of the library."""

    def __init__(self, ctx, estimator, grid):
        self.ctx, self.estimator = ctx, estimator
        known = {estimator._aliases.get(name, name): values for name, values in (grid or {}).items()}
        with ctx.agree():
            unknown = set(known) - set(estimator.get_params(deep=False))
            if unknown:
                raise ValueError(f"{type(estimator).__name__} has no parameter {sorted(unknown)[0]!r}")
            if not all(len(values) for values in known.values()):
                raise ValueError("a parameter of the grid has no values")
        of_kernels = {row.name for row in estimator._rows if row.kind in ("kernel", "joint")}
        of_kernels |= {name for name, _ in KERNEL}
        self.kernels = _points({name: values for name, values in known.items() if name in of_kernels})
        self.settings = _points({name: values for name, values in known.items() if name not in of_kernels})
        self.objects, self.handles = {}, []
        self.first = self._all(self.kernels, self.settings[0])
        self.second = self._all(self.settings, self.kernels[0])

    def _all(self, points, others):
        handles = [self._apply({**point, **others}) for point in points]
        self.handles += handles
        return (ct.c_void_p * len(handles))(*(handle.pointer for handle in handles))

    def _apply(self, point):
        one = copy.copy(self.estimator)
        for name, value in point.items():
            setattr(one, name, value)
        values = {row.name: getattr(one, row.name) for row in one._rows}
        values.update(one._values(self.ctx, values, getattr(one, "n_features_in_", None)))
        settings = _settings.apply(self.ctx, one._method, one._rows, values, self.objects)
        one._layout(self.ctx, settings)
        return settings

    def points(self):
        return [{**kernel, **setting} for kernel in self.kernels for setting in self.settings]

    def described(self):
        return Points(len(self.kernels), ct.cast(self.first, ct.c_void_p), len(self.settings),
                      ct.cast(self.second, ct.c_void_p))


def cross_validate(estimator, X, y, grid=None, folds=5, inner_folds=0, loss=None, loss_kernel=None):
    """Cross-validate an estimator on the ranks of its communicator. Collective.

    X, y : examples of this rank, as for fit()
    grid : dictionary of parameters and the values to try, every one with every other
    inner_folds : choose among the grid inside the training part of each fold, so that the loss is that of
        the choice; 0 does not
    loss : by the name of the command: mse, zero-one, hamming, edit, kernel, ...

    Returns a dictionary: `table`, for each point its `parameters`, `mean` loss and `stderr`; `best`, the
    parameters of the best point; `loss` and `stderr`, of what was held out; `report`, as the library gives it.
    The folds are those of `random_state`, the same as the command's and on any number of ranks.
    """
    estimator = copy.copy(estimator)
    ctx = estimator._context()
    with ctx.agree():
        X = estimator._check_X(X, reset=True)
        y = estimator._check_y(X, y)
    if ctx.size > 1 and not estimator._same:
        estimator._share_width(ctx, X)
    report = Handle("report")
    with ctx.telling(estimator.progress), estimator._encode_y(ctx, y) as Y:
        search = _Search(ctx, estimator, grid)
        request = CrossValidation(folds, inner_folds, 0, 0, encode(loss) if loss else None,
                                  encode(loss_kernel) if loss_kernel else None)
        with to_data(ctx, X, estimator._type_of_X(), "X", estimator._same) as data:
            ctx.call("dkm_cv_run", ct.byref(search.described()), data.pointer, Y.pointer, ct.byref(request),
                     report.out)
    with ctx.agree():
        found, _ = _settings.report_of(report)
    points = search.points()
    table = [{"parameters": point, "mean": mean, "stderr": stderr} for point, mean, stderr in
             zip(points, found["table.mean"].tolist(), found["table.stderr"].tolist())]
    return {"table": table, "best": points[found["best"]], "loss": found["loss.mean"],
            "stderr": found["loss.stderr"], "report": found}


def _extent(shape, objects):
    """Rows, type, columns and bytes of an object, of a shape or of objects."""
    if objects is not None:
        kind = type_of(objects) if not is_rows(objects) or objects.ndim > 1 else "dense"
        columns = objects.shape[1] if is_rows(objects) and objects.ndim > 1 else 1
        rows = count(objects)
        size = 8.0 * columns if kind == "dense" else max(1, sum(len(one) for one in objects) / max(rows, 1)) \
            if kind in ("strings", "sets") else 16.0 * (objects.nnz / max(rows, 1))
        return rows, kind, columns, size
    rows, columns = (*shape, 1)[:2]
    return rows, "dense", columns, 8.0 * columns


def plan(estimator, X, y=None, ranks=1, ranks_per_node=0):
    """What a fit will take; runs nothing. Collective on the communicator of the estimator.

    X, y : objects, or shapes (rows, columns) of dense ones

    Returns a dictionary: `rank_memory`, bytes of the fullest rank; `flops` of all ranks; `phases`, for each
    its `bytes` and `flops`; `grid`; `note`, what was assumed. Times need the rates of a machine: `dkmap plan`
    knows them after `dkmap bench --calibrate`.
    """
    ctx = estimator._context()
    with ctx.agree():
        m, x_type, x_cols, x_bytes = _extent(X, None if isinstance(X, tuple) else X)
        outputs = (0, "labels", 0, 8.0) if y is None else _extent(y, None if isinstance(y, tuple) else y)
    nodes = -(-ranks // ranks_per_node) if ranks_per_node else 1
    layout = estimator._grid()
    request = PlanRequest(m, TYPES.index(x_type), TYPES.index(outputs[1]), x_cols, outputs[2], x_bytes, outputs[3],
                          ranks, nodes, layout.P, layout.Q, layout.block)
    estimator = copy.copy(estimator)
    estimator._kind = outputs[1]
    values = {row.name: getattr(estimator, row.name) for row in estimator._rows}
    values.update(estimator._values(ctx, values, x_cols))
    report = Handle("report")
    with _settings.apply(ctx, estimator._method, estimator._rows, values, {}) as settings:
        ctx.call("dkm_plan", ctx.pointer, settings.pointer, ct.byref(request), report.out)
    found, phases = _settings.report_of(report)[0], {}
    for name in [name for name in found if name.startswith("phases.")]:
        _, phase, field = name.split(".", 2)
        phases.setdefault(phase, {})[field] = found.pop(name)
    return {**found, "phases": phases}
