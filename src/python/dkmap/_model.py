"""Fitted models: predictions, pre-images, parts, files."""
import ctypes as ct
import os
import sys
import tempfile

import numpy as np

from ._data import count, from_data, to_data
from ._library import (EXPORTS, Handle, Layout, PREDICTIONS, PREIMAGES, PreimageSettings, TYPES, WINDOW_WEIGHTS, encode, idx,
                       lib)


class Model:
    """A model of the library on a context. Its calls are collective."""

    def __init__(self, ctx, handle):
        self.ctx, self.handle = ctx, handle

    @property
    def method(self):
        return lib.dkm_model_method(self.handle.pointer).decode()

    def configure(self, preimage="auto", candidates=None, top=0, neighbors=0, window=0, kz=None,
                  gamma_z=1e-3, window_weights="equal", scores=False, approximate=None):
        """Choose how coordinates become objects, by the names of the command."""
        ctx = self.ctx
        with ctx.agree():
            if preimage not in PREIMAGES:
                raise ValueError(f"preimage is one of {', '.join(PREIMAGES)}, not {preimage!r}")
            if window_weights not in WINDOW_WEIGHTS:
                raise ValueError(f"window_weights is one of {', '.join(WINDOW_WEIGHTS)}, not {window_weights!r}")
            settings = PreimageSettings(method=PREIMAGES.index(preimage), top=top or 0,
                                        neighbors=neighbors or 0, window=window or 0, gamma_z=gamma_z,
                                        window_weights=WINDOW_WEIGHTS.index(window_weights), scores=int(scores),
                                        approximate=approximate or 0)
        kernel, data = Handle("kernel"), Handle("data")
        if kz is not None:
            kernel = ctx.create("kernel", "dkm_kernel_parse", ctx.pointer, encode(kz))
        if candidates is not None:
            data = to_data(ctx, candidates, name="candidates")
            self.handle.keep += data.keep if isinstance(data.keep, list) else [data.keep]
        with kernel, data:
            settings.kz, settings.candidates = kernel.pointer, data.pointer
            ctx.call("dkm_model_configure", self.handle.pointer, ct.byref(settings))

    def apply(self, function, objects, type_name=None, name="X", replicated=False, lists=None):
        """Map objects, some at a time so that memory stays bounded, and join what comes out.

        lists : of each object the candidates that count, the same on every rank whether there are any
        """
        ctx = self.ctx
        rows = count(objects) if objects is not None else 0
        at_once = max(1, lib.dkm_model_batch_rows(self.handle.pointer))
        if not replicated:
            at_once = max(1, at_once // ctx.size)
        most = max(ctx.comm.allgather(rows)) if ctx.size > 1 else rows
        results = []
        for at in range(0, max(most, 1), at_once):
            if lists is not None:
                self._count_only(_cut(lists, at, at_once), replicated)
            results.append(self._batch(function, _cut(objects, at, at_once), type_name, name, replicated))
        if lists is not None:
            ctx.call("dkm_model_set_candidate_lists", self.handle.pointer, None)
        return _join(results)

    def _count_only(self, lists, replicated):
        ctx = self.ctx
        with to_data(ctx, lists, "label-sets", "candidate_lists", replicated) as data:
            ctx.call("dkm_model_set_candidate_lists", self.handle.pointer, data.pointer)

    def _batch(self, function, part, type_name, name, replicated):
        ctx = self.ctx
        with to_data(ctx, part, type_name, name, replicated) as X:
            with ctx.create("data", function, self.handle.pointer, X.pointer) as Y:
                if replicated:
                    return from_data(ctx, Y.pointer)
                rows = count(part) if part is not None else 0
                return from_data(ctx, Y.pointer, first_of(ctx, rows), rows)

    def parts(self, names):
        """Numbers of the model by the names of its parts, as arrays, where it has them."""
        ctx, found = self.ctx, {}
        with ctx.create("parts", "dkm_parts_create", self.handle.pointer) as parts:
            for name in names:
                n = idx()
                values = lib.dkm_parts_reals(parts.pointer, encode(name), ct.byref(n))
                data = lib.dkm_parts_data(parts.pointer, encode(name))
                if values:
                    found[name] = np.array(values[:n.value])
                elif data:
                    found[name] = from_data(ctx, data)
        return found

    def describe(self):
        """Texts of its kernels, type and columns of its inputs, and its classes, where it has them."""
        texts, inputs, classes, n = {}, None, None, idx()
        with self.ctx.create("parts", "dkm_parts_create", self.handle.pointer) as parts:
            for part, name in (("kernel", "kernel"), ("output_kernel", "output_kernel"), ("kx", "kernel"),
                               ("ky", "output_kernel"), ("joint_kernel", "joint")):
                text = lib.dkm_parts_text(parts.pointer, encode(part))
                if text:
                    texts[name] = text.decode()
            data = lib.dkm_parts_data(parts.pointer, b"inputs")
            if data:
                inputs = TYPES[lib.dkm_data_type(data)], lib.dkm_data_cols(data)
            values = lib.dkm_parts_reals(parts.pointer, b"classes", ct.byref(n))
            if values:
                classes = np.array(values[:n.value])
        return texts, inputs, classes

    def choose(self, prediction, threshold=0.5):
        """Choose what is predicted: outputs, scores or probabilities. Collective."""
        self.ctx.call("dkm_model_choose_prediction", self.handle.pointer, PREDICTIONS.index(prediction), threshold)

    def export(self, path, form):
        """Write the model as C or ONNX. Collective. Whether coordinates become objects there."""
        decodes = ct.c_int()
        self.ctx.require_same(path=os.fspath(path), format=form)
        self.ctx.call("dkm_model_export", self.handle.pointer, EXPORTS.index(form), encode(path), ct.byref(decodes))
        return bool(decodes.value)

    def save(self, path):
        with self.ctx.agree():
            path = os.fspath(path)
        self.ctx.require_same(path=path)
        self.ctx.call("dkm_model_save", self.handle.pointer, encode(path), encode(" ".join(sys.argv)))

    def dump(self):
        """The model's file as bytes, on every rank."""
        ctx, content = self.ctx, None
        folder = tempfile.mkdtemp(prefix="dkmap-") if ctx.rank == 0 else None
        folder = ctx.comm.bcast(folder)
        path = os.path.join(folder, "model.h5")
        try:
            self.save(path)
            with ctx.agree():
                if ctx.rank == 0:
                    with open(path, "rb") as file:
                        content = file.read()
        finally:
            if ctx.rank == 0:
                _remove(path, folder)
        return ctx.comm.bcast(content)


def _remove(path, folder):
    if os.path.exists(path):
        os.remove(path)
    os.rmdir(folder)


def load_model(ctx, path):
    """A model from its file. Collective."""
    handle = ctx.create("model", "dkm_model_load", ctx.pointer, encode(path), ct.byref(Layout()))
    return Model(ctx, handle)


def restore(ctx, content):
    """A model from the bytes of its file, which rank 0 writes for all. Collective."""
    folder = tempfile.mkdtemp(prefix="dkmap-") if ctx.rank == 0 else None
    folder = ctx.comm.bcast(folder)
    path = os.path.join(folder, "model.h5")
    try:
        with ctx.agree():
            if ctx.rank == 0:
                with open(path, "wb") as file:
                    file.write(content)
        return load_model(ctx, path)
    finally:
        ctx.comm.Barrier()
        if ctx.rank == 0:
            _remove(path, folder)


def first_of(ctx, rows):
    """How many rows the ranks before this one have. Collective."""
    return sum(ctx.comm.allgather(rows)[:ctx.rank]) if ctx.size > 1 else 0


def _cut(objects, at, rows):
    return None if objects is None else objects[at:at + rows]


def _join(results):
    if len(results) == 1:
        return results[0]
    if isinstance(results[0], np.ndarray):
        return np.concatenate(results)
    return [one for part in results for one in part]
