"""What the package and its tests call of mpi4py, by the library of MPI that DKMAP_STAND_IN names. For MPICH and
its kin: their handles are integers, the same in C and in Fortran. Objects travel pickled."""
import ctypes as ct
import itertools
import os
import pickle
import time

from . import rc

_mpi = ct.CDLL(os.environ["DKMAP_STAND_IN"])
_BYTE, _INT = 0x4C00010D, 0x4C000405
_attributes, _keyvals = {}, itertools.count()

Wtime = time.time


def _call(name, *arguments):
    code = getattr(_mpi, name)(*arguments)
    if code:
        raise RuntimeError(f"{name} returns {code}")


def Init_thread():
    _call("MPI_Init_thread", None, None, 3, ct.byref(ct.c_int()))
    if rc.finalize:
        ct.pythonapi.Py_AtExit(_mpi.MPI_Finalize)  # when objects of Python are gone, as mpi4py does


def Get_library_version():
    text, length = ct.create_string_buffer(8192), ct.c_int()
    _call("MPI_Get_library_version", text, ct.byref(length))
    return text.value.decode()


class Comm:
    def __init__(self, handle):
        self._handle = ct.c_int(handle)

    def _number(self, function):
        number = ct.c_int()
        _call(function, self._handle, ct.byref(number))
        return number.value

    def __eq__(self, other):
        return isinstance(other, Comm) and self.py2f() == other.py2f()

    def __hash__(self):
        return hash(self.py2f())

    def Get_rank(self):
        return self._number("MPI_Comm_rank")

    def Get_size(self):
        return self._number("MPI_Comm_size")

    rank, size = property(Get_rank), property(Get_size)

    def py2f(self):
        return self._handle.value

    def Get_name(self):
        text, length = ct.create_string_buffer(256), ct.c_int()
        _call("MPI_Comm_get_name", self._handle, text, ct.byref(length))
        return text.value.decode()

    def Dup(self):
        return type(self)(self._number("MPI_Comm_dup"))

    def Barrier(self):
        _call("MPI_Barrier", self._handle)

    def Abort(self, code):
        _call("MPI_Abort", self._handle, code)

    def allgather(self, value):
        mine, size = pickle.dumps(value), self.size
        lengths, starts = (ct.c_int * size)(), (ct.c_int * size)()
        _call("MPI_Allgather", ct.byref(ct.c_int(len(mine))), 1, _INT, lengths, 1, _INT, self._handle)
        for k in range(1, size):
            starts[k] = starts[k - 1] + lengths[k - 1]
        every = (ct.c_char * sum(lengths))()
        _call("MPI_Allgatherv", mine, len(mine), _BYTE, every, lengths, starts, _BYTE, self._handle)
        return [pickle.loads(every[at:at + length]) for at, length in zip(starts, lengths)]

    def allreduce(self, value):
        return sum(self.allgather(value))

    def bcast(self, value, root=0):
        return self.allgather(value if self.rank == root else None)[root]

    @staticmethod
    def Create_keyval():
        return next(_keyvals)

    def Get_attr(self, keyval):
        return _attributes.get((self.py2f(), keyval))

    def Set_attr(self, keyval, value):
        _attributes[self.py2f(), keyval] = value


class Intracomm(Comm):
    pass


class Cartcomm(Intracomm):
    pass


class Graphcomm(Intracomm):
    pass


COMM_WORLD, COMM_SELF = Intracomm(0x44000000), Intracomm(0x44000001)
if rc.initialize:
    Init_thread()
