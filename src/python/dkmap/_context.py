"""One context of the library for each communicator; failures of any rank as exceptions on all."""
import contextlib
import copyreg
import ctypes as ct
import logging
import signal
import sys
import threading

import numpy as np
from mpi4py import MPI

from ._library import ASKED, Handle, Listener, MESSAGE, PROGRESS, lib, mpi_version

log = logging.getLogger("dkmap")


class Error(Exception):
    """A failure that the library reports, the same on every rank."""


class ArgumentError(Error, ValueError):
    """A wrong value, or objects that do not fit."""


class FileError(Error, OSError):
    """A file that cannot be read or written."""


class FormatError(Error, ValueError):
    """A file with wrong content."""


class OutOfMemory(Error, MemoryError):
    """Too large for the memory of the nodes."""


class NumericalError(Error, np.linalg.LinAlgError, ValueError):
    """A computation that does not go through, such as a matrix that is not positive definite."""


class UnsupportedError(Error, TypeError, ValueError):
    """Something that is not possible for these objects."""


class FitWarning(UserWarning):
    """What a fit did otherwise than asked."""


class Stopped(KeyboardInterrupt):
    """A call that was interrupted and stopped at a safe point on all ranks."""


# by the codes of status.h, from 1 on
ERRORS = (ArgumentError, FileError, FormatError, OutOfMemory, NumericalError, ArgumentError,
          UnsupportedError, Stopped, Error, Error)

_defaults = {"comm": None, "replicated": False}


def set_config(comm=None, replicated=None):
    """Set what `comm=None` and `replicated=None` of estimators and functions stand for.

    comm : mpi4py communicator
        At first MPI.COMM_SELF: each process works on its own.
    replicated : bool
        Whether every rank passes the same objects, all of them, and gets all results. At first
        False: each rank passes objects of its own, and gets the results of those.
    """
    if comm is not None:
        _defaults["comm"] = comm
    if replicated is not None:
        _defaults["replicated"] = bool(replicated)


def get_config():
    """What set_config() has set, as a dictionary."""
    return {"comm": _defaults["comm"] or MPI.COMM_SELF, "replicated": _defaults["replicated"]}


def _reduce_comm(comm):
    """Communicators are neither copied nor pickled, but for the two that each process has."""
    for name in ("COMM_WORLD", "COMM_SELF"):
        if comm == getattr(MPI, name):
            return name
    return comm.Get_name() or "communicator"


for _kind in (MPI.Comm, MPI.Intracomm, MPI.Cartcomm, MPI.Graphcomm):
    copyreg.dispatch_table.setdefault(_kind, _reduce_comm)


class Bar:
    """A line on stderr that is written again as a call goes on, in a terminal and in a notebook."""

    def __init__(self, width=30):
        self.width = width
        self.shown = False

    def __call__(self, phase, fraction, left):
        done = int(self.width * min(max(fraction, 0), 1))
        rest = f" {left:.0f} s left" if left >= 0 else ""
        sys.stderr.write(f"\r{phase:16.16s} [{'#' * done:{self.width}s}] {100 * fraction:3.0f}%{rest:12s}")
        sys.stderr.flush()
        self.shown = True

    def close(self):
        if self.shown:
            sys.stderr.write("\r" + " " * (self.width + 40) + "\r")
            sys.stderr.flush()


class Context:
    """A communicator's context: calls of the library, and agreement on failures between ranks."""

    def __init__(self, comm):
        ours, theirs = mpi_version().strip("\0 \n"), MPI.Get_library_version().strip("\0 \n")
        if ours != theirs:
            raise ImportError("libdkmap and mpi4py are built with two MPIs: "
                              f"'{ours.splitlines()[0]}' and '{theirs.splitlines()[0]}'")
        self.comm = comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self.pointer = ct.c_void_p()
        status = lib.dkm_ctx_create_f(comm.py2f(), ct.byref(self.pointer))
        if status:
            raise ERRORS[status - 1]("no context could be made on the communicator")
        self.kernels = {}  # functions that are registered: function -> name, callbacks
        self.failures = []  # exceptions of callbacks of this rank
        self.progress = None
        self._callbacks = MESSAGE(self._message), PROGRESS(self._progress)
        self._asked_callback = ASKED(self._asked)
        lib.dkm_ctx_set_listener(self.pointer, Listener(None, *self._callbacks))
        lib.dkm_ctx_set_interrupt(self.pointer, self._asked_callback, None)

    def _message(self, user, level, text):
        levels = (logging.WARNING, logging.INFO, logging.DEBUG)
        log.log(levels[level], "%s", text.decode(errors="replace"))

    def _asked(self, user):
        """Whether to stop at this safe point. Python handles signals as soon as it runs anything."""
        return int(bool(self.failures))

    @contextlib.contextmanager
    def _interrupts_deferred(self):
        """Note the exceptions of the handler of Ctrl-C, to be raised when the library has stopped."""
        handler = signal.getsignal(signal.SIGINT)
        if not callable(handler) or threading.current_thread() is not threading.main_thread():
            yield
            return

        def note(number, frame):
            try:
                handler(number, frame)
            except BaseException as failure:
                self.failures.append(failure)

        signal.signal(signal.SIGINT, note)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, handler)

    def _progress(self, user, phase, fraction, left):
        if self.progress:
            try:
                self.progress(phase.decode(), fraction, left)
            except BaseException as failure:
                self.failures.append(failure)
                self.progress = None

    def call(self, function, *arguments):
        """Call a collective of the library; a failure raises on every rank."""
        with self._interrupts_deferred():
            status = getattr(lib, function)(*arguments)
        if status:
            self._raise(status)

    def create(self, kind, function, *arguments):
        """The same for one whose last argument hands over a new object."""
        handle = Handle(kind)
        self.call(function, *arguments, handle.out)
        return handle

    def _raise(self, status):
        """The exception of a function of the program, where one failed; else what the library says."""
        message = lib.dkm_ctx_message(self.pointer).decode(errors="replace")
        with self.agree():
            pass
        raise ERRORS[status - 1](message)

    @contextlib.contextmanager
    def agree(self):
        """Around local steps: what one rank raises, there or in a function that the library called, all of
        them raise. Collective."""
        failure = None
        try:
            yield
        except BaseException as problem:
            failure = problem
        if self.failures:
            failure = failure or self.failures[0]
            self.failures.clear()
        if self.size > 1:
            others = self.comm.allgather(_portable(failure))
            first = next((rank for rank, other in enumerate(others) if other), None)
            if failure is None and first is not None:
                other = others[first]
                raise type(other)(f"[rank {first}] {other}")
        if failure is not None:
            raise failure

    def require_same(self, **values):
        """Raise on all ranks where one has another value than rank 0. Collective.

        What ranks cannot compare, such as functions and objects of the data, must be of the same type.
        """
        if self.size == 1:
            return
        mine = {name: _comparable(value) for name, value in values.items()}
        first = self.comm.bcast(mine)
        with self.agree():
            for name in {**first, **mine}:
                theirs, ours = first.get(name, "missing"), mine.get(name, "missing")
                if theirs != ours:
                    raise ArgumentError(f"{name} must be the same on all ranks: it is {theirs} on rank 0 and {ours} "
                                        f"on rank {self.rank}")

    @contextlib.contextmanager
    def telling(self, progress):
        """Report progress to a function, or by a bar on rank 0."""
        self.progress = Bar() if progress is True and self.rank == 0 else progress or None
        try:
            yield
        finally:
            if isinstance(self.progress, Bar):
                self.progress.close()
            self.progress = None


def _comparable(value):
    """A value as a text that is the same on all ranks where the value is."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_comparable, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{name}: {_comparable(one)}' for name, one in value.items())}}}"
    if isinstance(value, np.ndarray) and value.size <= 1000:
        return _comparable(value.tolist())
    if isinstance(value, (str, bytes, int, float, type(None), np.number, np.bool_)):
        return repr(value.item() if isinstance(value, np.generic) else value)
    return f"a {type(value).__name__}"


def _portable(failure):
    """An exception that other ranks can raise."""
    if failure is None:
        return None
    kind = type(failure)
    if kind.__module__ not in ("builtins", "dkmap._context"):
        kind = ValueError if isinstance(failure, ValueError) else RuntimeError
    if issubclass(kind, UnicodeError):
        kind = ValueError
    try:
        return kind(str(failure))
    except TypeError:
        return RuntimeError(str(failure))


_keyval = None


def context(comm=None):
    """The context of a communicator, made when it is first asked for. Collective then."""
    global _keyval
    comm = comm or _defaults["comm"] or MPI.COMM_SELF
    if _keyval is None:
        _keyval = MPI.Comm.Create_keyval()
    found = comm.Get_attr(_keyval)
    if found is None:
        found = Context(comm)
        comm.Set_attr(_keyval, found)
    return found
