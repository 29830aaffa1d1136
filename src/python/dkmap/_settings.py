"""The parameters of estimators, from the tables of settings of the methods."""
import inspect
import re

import numpy as np

from ._context import ArgumentError
from ._data import to_data
from ._library import HIDDEN, KINDS, REQUIRED, encode, lib

# Names of settings that scikit-learn's users know by others.
RENAMED = {"kx": "kernel", "ky": "output_kernel", "gamma": "alpha", "components": "n_components",
           "k": "n_neighbors", "neighbours": "n_neighbors"}


class Row:
    """One setting of a method as a parameter."""

    def __init__(self, setting):
        self.setting = setting.name.decode()
        self.name = RENAMED.get(self.setting, self.setting.replace("-", "_"))
        self.kind = KINDS[setting.kind]
        self.help = _in_python(setting.help.decode() if setting.help else "")
        self.choices = [one for one in (setting.choices or b"").decode().split("|") if one]
        self.required = bool(setting.flags & REQUIRED)
        names = [self.setting, *((setting.aliases or b"") + b"|" + (setting.old_names or b"")).decode().split("|")]
        self.aliases = {one.replace("-", "_") for one in names if one} - {self.name, "gamma"}
        self.default = self._value(setting.default_text)

    def _value(self, default):
        if self.kind == "flag":
            return False
        if default is None:
            return None
        text = default.decode()
        return {"real": float, "int": int}.get(self.kind, str)(text)

    def text(self, value):
        """A value as the library reads it."""
        if self.setting == "components":
            return _components(value)
        if isinstance(value, (bool, np.bool_)):
            return "yes" if value else "no"
        if isinstance(value, (list, tuple, np.ndarray)):
            return ",".join(self.text(one) for one in value)
        if isinstance(value, (float, np.floating)):
            return repr(float(value))
        return str(value)


def _components(value):
    """scikit-learn's number of components: None is all, a float below 1 a share of variance."""
    if value is None:
        return "all"
    if isinstance(value, (float, np.floating)) and 0 < value < 1:
        return f"{100 * value!r}%"
    return str(value)


# What options of other commands are called here.
ELSEWHERE = {"std": "predict(return_std=True)", "coverage": "predict_set()", "scores": "decision_function()",
             "top": "top_candidates()", "seed": "random_state"}


def _in_python(help):
    """The help of an option with the names that its words have here."""
    help = re.sub(r"\b(?:predict|fit|cv) (?=--)", "", help)
    help = re.sub(r"--([a-z][a-z-]*)", lambda found: ELSEWHERE.get(
        found[1], RENAMED.get(found[1], found[1].replace("-", "_"))), help)
    return re.sub(r"\bgamma(s?)\b", r"alpha\1", help)


def rows_of(method):
    """The settings of a method, in order, without those that are not documented."""
    at = lib.dkm_method_find(encode(method))
    rows, k = [], 0
    while True:
        found = lib.dkm_method_setting(at, k)
        if not found:
            return rows
        if not found.contents.flags & HIDDEN:
            rows.append(Row(found.contents))
        k += 1


def is_default(value, default):
    return value is default or type(value) is type(default) and value == default


def apply(ctx, method, rows, values, objects):
    """Settings of the library from parameters. Collective.

    objects are the parameters that are data: name -> Handle, to be held while the settings are used.
    """
    settings = ctx.create("settings", "dkm_settings_create", ctx.pointer, encode(method))
    for row in rows:
        value = values[row.name]
        if row.kind == "data" and value is not None and not isinstance(value, str):
            objects[row.name] = to_data(ctx, value, name=row.name)
            ctx.call("dkm_settings_set_data", settings.pointer, encode(row.setting),
                     objects[row.name].pointer)
        elif row.setting == "components" or not is_default(value, row.default) and value is not None:
            _set(ctx, settings, row, value)
    return settings


def _set(ctx, settings, row, value):
    """Set one value; a message about it calls it as Python does. Collective."""
    try:
        ctx.call("dkm_settings_set", settings.pointer, encode(row.setting), encode(row.text(value)))
    except ArgumentError as failure:
        raise ArgumentError(re.sub(rf"^{re.escape(row.setting)}\b", row.name, str(failure))) from None


def make_init(parameters, aliases):
    """An __init__ that stores parameters, under any of their names, and a signature that lists them.

    parameters are pairs of name and default, in order; aliases map other names to them.
    """
    names = [name for name, _ in parameters]
    defaults = dict(parameters)

    def __init__(self, *positional, **named):
        if len(positional) > len(names):
            raise TypeError(f"{type(self).__name__}() takes {len(names)} arguments at most, not "
                            f"{len(positional)}")
        values = dict(defaults)
        values.update(zip(names, positional))
        for given, value in named.items():
            name = aliases.get(given, given)
            if name not in defaults:
                raise TypeError(f"{type(self).__name__}() got an unexpected keyword argument '{given}'; it "
                                f"takes {', '.join(names)}")
            values[name] = value
        for name, value in values.items():
            setattr(self, name, value)

    fields = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    fields += [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default)
               for name, default in parameters]
    __init__.__signature__ = inspect.Signature(fields)
    return __init__


def report_of(handle):
    """A report as a dictionary, and its warnings."""
    report, warnings = {}, []
    for k in range(lib.dkm_report_count(handle.pointer)):
        one = lib.dkm_report_at(handle.pointer, k).contents
        name = one.name.decode() if one.name else ""
        if one.kind == 0:
            report[name] = one.integer
        elif one.kind == 1:
            report[name] = one.real
        elif one.kind == 2:
            report[name] = one.text.decode()
        elif one.kind == 3:
            report[name] = np.array(one.values[:one.count])
        elif one.kind == 5:
            warnings.append(one.text.decode())
    return report, warnings
