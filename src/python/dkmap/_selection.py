"""Cross-validation on all ranks, and what a fit takes before it is run."""
import copy
import ctypes as ct
import itertools
import math
import numbers

import numpy as np

from . import _settings
from ._data import as_objects, count, is_rows, to_data, type_of
from ._estimator import KERNEL
from ._library import CrossValidation, Handle, PlanRequest, Points, TYPES, encode, lib


STREAM = 0x747269616C73  # of random numbers behind trials, as in the command
ATTEMPTS = 50  # per trial, where draws repeat


def _points(grid):
    """All combinations of the values of a dictionary of lists, as dictionaries; the last name fastest."""
    names = list(grid)
    return [dict(zip(names, values)) for values in itertools.product(*(list(grid[name]) for name in names))]


class _Range:
    """first:last:count, evenly spaced in logarithms and rounded to six digits."""

    def __init__(self, name, given):
        try:
            first, last, number = given.split(":")
            self.first, self.last, self.count = float(first), float(last), int(number)
        except ValueError:
            raise ValueError(f"{name}: a range is 'first:last:count', such as '1e-3:1e3:7', not {given!r}") from None
        if not (0 < self.first < math.inf and 0 < self.last < math.inf and self.first != self.last
                and self.count >= 2):
            raise ValueError(f"{name}: a range has two numbers above 0 and a count of at least 2, not {given!r}")
        self.integer = name in ("n_neighbors", "n_components")

    def at(self, place):
        value = self.first * (self.last / self.first) ** place
        value = self.first if place <= 0 else self.last if place >= 1 else value
        return round(value) if self.integer else float(f"{value:.6g}")

    def __len__(self):
        return self.count

    def __iter__(self):
        return iter(dict.fromkeys(self.at(k / (self.count - 1)) for k in range(self.count)))


def _draw(axes, seed, trials):
    """Points drawn at random, of each axis a value by itself; those of a range are any between its ends."""
    def value(values, u):
        if isinstance(values, _Range):
            return values.at(u)
        return values[int(u * len(values))]

    found = []
    for attempt in range(ATTEMPTS * trials):
        point = {name: value(values, lib.dkm_random_uniform(seed, STREAM, attempt, k))
                 for k, (name, values) in enumerate(axes.items())}
        if point not in found:
            found.append(point)
        if len(found) == trials:
            break
    return found


class _Search:
    """The points of a grid, or some drawn at random, as settings of the library."""

    def __init__(self, ctx, estimator, grid, trials=None):
        self.ctx, self.estimator = ctx, estimator
        known = {estimator._aliases.get(name, name): values for name, values in (grid or {}).items()}
        with ctx.agree():
            unknown = set(known) - set(estimator.get_params(deep=False))
            if unknown:
                raise ValueError(f"{type(estimator).__name__} has no parameter {sorted(unknown)[0]!r}")
            known = {name: _Range(name, values) if isinstance(values, str) else list(values)
                     for name, values in known.items()}
            if not all(len(values) for values in known.values()):
                raise ValueError("a parameter of the grid has no values")
        of_kernels = {row.name for row in estimator._rows if row.kind in ("kernel", "joint")}
        of_kernels |= {name for name, _ in KERNEL}
        kernels = {name: values for name, values in known.items() if name in of_kernels}
        settings = {name: values for name, values in known.items() if name not in of_kernels}
        self.kernels, self.settings, self.wanted = _points(kernels), _points(settings), None
        self.trials = list(range(len(self.kernels) * len(self.settings)))
        ranges = any(isinstance(values, _Range) for values in known.values())
        if trials and (ranges or len(self.trials) > trials):
            self._take(_draw({**kernels, **settings}, estimator._seed(), trials), kernels)
        self.objects, self.handles = {}, []
        self.first = self._all(self.kernels, self.settings[0])
        self.second = self._all(self.settings, self.kernels[0])

    def _take(self, drawn, kernels):
        """List the kernels and the settings that were drawn, and which of them go together."""
        self.kernels, self.settings, pairs = [], [], []
        for point in drawn:
            parts = ({name: value for name, value in point.items() if name in kernels},
                     {name: value for name, value in point.items() if name not in kernels})
            for part, known in zip(parts, (self.kernels, self.settings)):
                if part not in known:
                    known.append(part)
            pairs.append((self.kernels.index(parts[0]), self.settings.index(parts[1])))
        self.trials = [kernel * len(self.settings) + setting for kernel, setting in pairs]
        wanted = bytearray(len(self.kernels) * len(self.settings))
        for trial in self.trials:
            wanted[trial] = 1
        self.wanted = bytes(wanted)

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


def _fold_numbers(folds):
    """Folds of the examples of this rank as labels; None where a number of folds is given."""
    return None if isinstance(folds, numbers.Integral) else np.asarray(folds).ravel().astype(np.int64)


def _companion(ctx, values, name, rows, same):
    """A number or string for each example, as data of the library."""
    with ctx.agree():
        values = as_objects([] if values is None else values)
        if count(values) != rows:
            raise ValueError(f"{count(values)} {name} for {rows} examples")
        if is_rows(values):
            values = values.reshape(-1, 1) if rows else None
    return to_data(ctx, values, None, name, same)


def cross_validate(estimator, X, y, grid=None, folds=5, inner_folds=0, loss=None, loss_kernel=None, search="grid",
                   trials=None, groups=None):
    """Cross-validate an estimator on the ranks of its communicator. Collective.

    X, y : examples of this rank, as for fit()
    grid : dictionary of parameters and the values to try, every one with every other. Values are a list, or a
        logarithmic range 'first:last:count'
    folds : how many, or the fold of each of this rank's examples, from 1 on
    inner_folds : choose among the grid inside the training part of each fold, so that the loss is that of
        the choice; 0 does not
    loss : by the name of the command: mse, zero-one, hamming, edit, kernel, ...; of several in a list the first
        one chooses
    search : "grid"; "random", for `trials` points drawn at random, with any value between the ends of a range;
        "halving", for all points, or `trials` of them, on few examples, the better half on twice as many, and so on
    groups : a number or string for each of this rank's examples: those with the same stay in one fold

    Returns a dictionary: `table`, for each point its `parameters`, `mean` loss and `stderr`, and where there are
    such its other `losses` and on how many `examples` it was tried; `best`, the parameters of the best point;
    `loss` and `stderr`, of what was held out; `report`, as the library gives it.
    The folds and the trials are those of `random_state`, the same as the command's and on any number of ranks.
    """
    estimator = copy.copy(estimator)
    ctx = estimator._context()
    ctx.require_same(grid=grid, folds=folds if isinstance(folds, numbers.Integral) else "of each example",
                     inner_folds=inner_folds, loss=loss, loss_kernel=loss_kernel, search=search, trials=trials)
    names = [loss] if isinstance(loss, str) else list(loss or [])
    with ctx.agree():
        if search not in ("grid", "random", "halving"):
            raise ValueError(f"search is 'grid', 'random' or 'halving', not {search!r}")
        if search == "random" and not trials or search == "grid" and trials:
            raise ValueError("trials are how many points search='random' or 'halving' draws")
        X = estimator._check_X(X, reset=True)
        y = estimator._check_y(X, y)
        rows = count(X) if X is not None else 0
    if ctx.size > 1 and not estimator._same:
        estimator._share_width(ctx, X)
    report, beside = Handle("report"), {}
    with ctx.agree():
        fold = _fold_numbers(folds)
    for name, values in (("folds", fold), ("groups", groups)):
        if any(ctx.comm.allgather(values is not None)) if ctx.size > 1 else values is not None:
            beside[name] = _companion(ctx, values, name, rows, estimator._same)
    with ctx.telling(estimator.progress), estimator._encode_y(ctx, y) as Y:
        search_of = _Search(ctx, estimator, grid, trials)
        request = CrossValidation(folds if "folds" not in beside else 0, inner_folds, 0, 0,
                                  encode(",".join(names)) if names else None,
                                  encode(loss_kernel) if loss_kernel else None, search_of.wanted,
                                  *(beside[name].pointer if name in beside else None for name in ("folds", "groups")),
                                  search == "halving")
        with to_data(ctx, X, estimator._type_of_X(), "X", estimator._same) as data:
            ctx.call("dkm_cv_run", ct.byref(search_of.described()), data.pointer, Y.pointer, ct.byref(request),
                     report.out)
    with ctx.agree():
        found, _ = _settings.report_of(report)
    points = search_of.points()
    table = [_row(points[trial], found, trial, names[1:]) for trial in search_of.trials]
    return {"table": table, "best": points[found["best"]], "loss": found["loss.mean"],
            "stderr": found["loss.stderr"], "report": found}


def _row(point, found, trial, more):
    row = {"parameters": point, "mean": float(found["table.mean"][trial]),
           "stderr": float(found["table.stderr"][trial])}
    if more:
        row["losses"] = {name: float(found[f"table.{name}.mean"][trial]) for name in more}
    if "table.examples" in found:
        row["examples"] = int(found["table.examples"][trial])
    return row


def _extent(shape, objects):
    """Rows, type, columns and bytes of an object, of a shape or of objects."""
    if objects is not None:
        kind = type_of(objects) if not is_rows(objects) or objects.ndim > 1 else "dense"
        columns = objects.shape[1] if is_rows(objects) and objects.ndim > 1 else 1
        rows = count(objects)
        size = 8.0 * columns if kind == "dense" else max(1, sum(len(one) for one in objects) / max(rows, 1)) \
            if kind in ("strings", "sets", "graphs") else 16.0 * (objects.nnz / max(rows, 1))
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
    ctx.require_same(ranks=ranks, ranks_per_node=ranks_per_node)
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
