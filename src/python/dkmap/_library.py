"""libdkmap by ctypes: where it is, and the functions that the package calls.

ctypes releases the global interpreter lock during every call. Objects of the library are void
pointers here; Handle owns one.
"""
import ctypes as ct
import glob
import os
import pathlib
import shutil
import threading

VERSION = (0, 1)  # of the interface that this package was written for

idx = ct.c_int64
pointer = ct.c_void_p
to_pointer = ct.POINTER(ct.c_void_p)
text = ct.c_char_p

TYPES = ("dense", "sparse", "labels", "label-sets", "strings", "sets", "gram", "distance", "graph",
         "graphs")
WINDOW_WEIGHTS = ("equal", "loo")
PREIMAGES = ("auto", "candidates", "linear", "exact", "fixed-point", "gradient", "mds", "learned",
             "strings", "coordinates")
PREDICTIONS = ("outputs", "scores", "probabilities")
EXPORTS = ("c", "onnx")
LANDMARKS = ("uniform", "leverage", "pivoted", "first", "farthest", "cholesky")
FISHER = ("multinomial", "gaussian", "markov")
KINDS = ("text", "real", "int", "choice", "grid", "bytes", "time", "flag", "kernel", "joint", "data")
REQUIRED, HIDDEN = 1, 128  # of dkm_setting.flags


class Setting(ct.Structure):
    _fields_ = [("name", text), ("letter", ct.c_char), ("kind", ct.c_int), ("flags", ct.c_int),
                ("metavar", text), ("help", text), ("default_text", text), ("choices", text),
                ("min", ct.c_int64), ("max", ct.c_int64), ("aliases", text), ("old_names", text)]


class Result(ct.Structure):
    _fields_ = [("kind", ct.c_int), ("name", text), ("integer", ct.c_int64), ("real", ct.c_double),
                ("text", text), ("count", idx), ("values", ct.POINTER(ct.c_double))]


class Array(ct.Structure):
    _fields_ = [("values", pointer), ("precision", ct.c_int), ("rows", idx), ("cols", idx),
                ("row_stride", idx), ("col_stride", idx), ("borrow", ct.c_int)]


class Lists(ct.Structure):
    _fields_ = [("rows", idx), ("cols", idx), ("start", pointer), ("col", pointer),
                ("value", pointer)]


class Layout(ct.Structure):
    _fields_ = [("P", ct.c_int), ("Q", ct.c_int), ("block", idx)]


class PreimageSettings(ct.Structure):
    _fields_ = [("method", ct.c_int), ("candidates", pointer), ("stream", pointer), ("top", idx),
                ("neighbors", idx), ("window", idx), ("kz", pointer), ("gamma_z", ct.c_double),
                ("scores", ct.c_int), ("approximate", ct.c_double), ("info", pointer),
                ("window_weights", ct.c_int)]


class StdInfo(ct.Structure):
    _fields_ = [("recomputed", ct.c_int), ("scale", ct.c_double), ("noise", ct.c_double)]


class ConformalInfo(ct.Structure):
    _fields_ = [("rows", idx), ("radius", ct.c_double)]


class LleSettings(ct.Structure):
    _fields_ = [("neighbors", idx), ("components", idx), ("ridge", ct.c_double), ("gram", ct.c_int),
                ("layout", Layout)]


class LleInfo(ct.Structure):
    _fields_ = [("m", idx), ("components", idx), ("P", ct.c_int), ("Q", ct.c_int), ("block", idx),
                ("shift", ct.c_double), ("rounds", ct.c_int), ("residual", ct.c_double),
                ("smallest", ct.c_double), ("largest", ct.c_double), ("steps", ct.c_int),
                ("unresolved", ct.c_double), ("gram", pointer), ("error", ct.c_double)]


class ExtrapolateSettings(ct.Structure):
    _fields_ = [("shear", ct.c_int), ("cutoff", ct.c_double)]


class ExtrapolateInfo(ct.Structure):
    _fields_ = [("m", idx), ("n", idx), ("rank", idx), ("dimensions", idx),
                ("cutoff", ct.c_double), ("condition", ct.c_double), ("smallest", ct.c_double),
                ("largest", ct.c_double), ("shift", ct.c_double), ("direction_cutoff", ct.c_double),
                ("residual", ct.c_double), ("explained", ct.c_double)]


class Points(ct.Structure):
    _fields_ = [("kernels", idx), ("kernel", pointer), ("settings", idx), ("setting", pointer)]


class CrossValidation(ct.Structure):
    _fields_ = [("folds", idx), ("inner", idx), ("train_on_one", ct.c_int), ("groups", ct.c_int),
                ("loss", text), ("loss_kernel", text), ("wanted", ct.c_char_p), ("fold", pointer),
                ("group", pointer), ("halving", ct.c_int)]


class PlanRequest(ct.Structure):
    _fields_ = [("m", idx), ("x_type", ct.c_int), ("y_type", ct.c_int), ("x_cols", idx), ("y_cols", idx),
                ("x_bytes", ct.c_double), ("y_bytes", ct.c_double), ("ranks", ct.c_int), ("nodes", ct.c_int),
                ("P", ct.c_int), ("Q", ct.c_int), ("block", idx)]


MESSAGE = ct.CFUNCTYPE(None, pointer, ct.c_int, text)
PROGRESS = ct.CFUNCTYPE(None, pointer, text, ct.c_double, ct.c_double)
ASKED = ct.CFUNCTYPE(ct.c_int, pointer)
BLOCK = ct.CFUNCTYPE(ct.c_int, pointer, pointer, pointer, ct.POINTER(ct.c_double))
DIAGONAL = ct.CFUNCTYPE(ct.c_int, pointer, pointer, ct.POINTER(ct.c_double))


class Listener(ct.Structure):
    _fields_ = [("user", pointer), ("message", MESSAGE), ("progress", PROGRESS)]


class KernelCallback(ct.Structure):
    _fields_ = [("user", pointer), ("block", BLOCK), ("diagonal", DIAGONAL)]


# name: (what it returns, its arguments); None stands for void
FUNCTIONS = {
    "dkm_version": (text, []),
    "dkm_version_number": (ct.c_int, []),
    "dkm_blas_choose_core": (ct.c_int, []),
    "dkm_ctx_create_f": (ct.c_int, [ct.c_int, to_pointer]),
    "dkm_ctx_message": (text, [pointer]),
    "dkm_ctx_set_listener": (None, [pointer, Listener]),
    "dkm_ctx_set_interrupt": (None, [pointer, ASKED, pointer]),
    "dkm_ctx_set_seed": (None, [pointer, ct.c_uint64]),
    "dkm_ctx_set_threads": (None, [pointer, ct.c_int]),
    "dkm_ctx_live_blocks": (idx, [pointer]),
    "dkm_ctx_live_bytes": (ct.c_int64, [pointer]),
    "dkm_ctx_peak_bytes": (ct.c_int64, [pointer]),
    "dkm_method_at": (pointer, [ct.c_int]),
    "dkm_method_find": (pointer, [text]),
    "dkm_method_name": (text, [pointer]),
    "dkm_method_summary": (text, [pointer]),
    "dkm_method_setting": (ct.POINTER(Setting), [pointer, ct.c_int]),
    "dkm_settings_create": (ct.c_int, [pointer, text, to_pointer]),
    "dkm_settings_set": (ct.c_int, [pointer, text, text]),
    "dkm_settings_set_data": (ct.c_int, [pointer, text, pointer]),
    "dkm_settings_destroy": (None, [to_pointer]),
    "dkm_slab_first": (idx, [idx, ct.c_int, ct.c_int]),
    "dkm_slab_count": (idx, [idx, ct.c_int, ct.c_int]),
    "dkm_data_from_array": (ct.c_int, [pointer, ct.c_int, ct.POINTER(Array), to_pointer]),
    "dkm_data_from_csr": (ct.c_int, [pointer, ct.c_int, ct.POINTER(Lists), to_pointer]),
    "dkm_data_from_strings": (ct.c_int, [pointer, ct.c_int, idx, pointer, pointer, to_pointer]),
    "dkm_data_type": (ct.c_int, [pointer]),
    "dkm_data_rows": (idx, [pointer]),
    "dkm_data_cols": (idx, [pointer]),
    "dkm_data_is_borrowed": (ct.c_int, [pointer]),
    "dkm_data_read": (ct.c_int, [pointer, text, ct.c_int, text, to_pointer]),
    "dkm_data_destroy": (None, [to_pointer]),
    "dkm_rows_get": (ct.c_int, [pointer, idx, idx, to_pointer]),
    "dkm_rows_type": (ct.c_int, [pointer]),
    "dkm_rows_count": (idx, [pointer]),
    "dkm_rows_cols": (idx, [pointer]),
    "dkm_rows_values": (pointer, [pointer, idx]),
    "dkm_rows_entries": (idx, [pointer, idx, to_pointer, to_pointer]),
    "dkm_rows_string": (pointer, [pointer, idx, ct.POINTER(idx)]),
    "dkm_rows_destroy": (None, [to_pointer]),
    "dkm_kernel_parse": (ct.c_int, [pointer, text, to_pointer]),
    "dkm_kernel_text": (text, [pointer]),
    "dkm_kernel_register": (ct.c_int, [pointer, text, ct.POINTER(KernelCallback)]),
    "dkm_kernel_destroy": (None, [to_pointer]),
    "dkm_kernel_prepare": (ct.c_int, [pointer, pointer, to_pointer]),
    "dkm_kernel_prepare_new": (ct.c_int, [pointer, pointer, to_pointer]),
    "dkm_prepared_destroy": (None, [to_pointer]),
    "dkm_grid_create": (ct.c_int, [pointer, ct.c_int, ct.c_int, to_pointer]),
    "dkm_plan": (ct.c_int, [pointer, pointer, ct.POINTER(PlanRequest), to_pointer]),
    "dkm_random_uniform": (ct.c_double, [ct.c_uint64, ct.c_uint64, ct.c_uint64, ct.c_uint64]),
    "dkm_cv_run": (ct.c_int, [ct.POINTER(Points), pointer, pointer, ct.POINTER(CrossValidation), to_pointer]),
    "dkm_grid_block": (idx, [pointer, idx]),
    "dkm_grid_destroy": (None, [to_pointer]),
    "dkm_dmat_to_rows": (ct.c_int, [pointer, pointer]),
    "dkm_dmat_destroy": (None, [to_pointer]),
    "dkm_data_create_dense": (ct.c_int, [pointer, idx, idx, to_pointer]),
    "dkm_data_copy": (ct.c_int, [pointer, to_pointer]),
    "dkm_data_values": (pointer, [pointer]),
    "dkm_gram": (ct.c_int, [pointer, pointer, pointer, idx, ct.c_int, to_pointer]),
    "dkm_gram_from_rows": (ct.c_int, [pointer, pointer, idx, to_pointer]),
    "dkm_gram_to_rows": (ct.c_int, [pointer, to_pointer]),
    "dkm_gram_cross": (ct.c_int, [pointer, pointer, pointer, pointer, idx, idx, ct.c_int, to_pointer]),
    "dkm_gram_center": (ct.c_int, [pointer, pointer]),
    "dkm_gram_center_new": (ct.c_int, [pointer, pointer]),
    "dkm_features_dense": (ct.c_int, [pointer, idx, to_pointer]),
    "dkm_features_landmarks": (ct.c_int, [pointer, pointer, idx, ct.c_int, ct.POINTER(Layout), to_pointer]),
    "dkm_features_fisher": (ct.c_int, [pointer, ct.c_int, to_pointer]),
    "dkm_features_lle": (ct.c_int, [pointer, idx, ct.c_double, to_pointer, to_pointer]),
    "dkm_features_apply": (ct.c_int, [pointer, pointer, to_pointer]),
    "dkm_features_destroy": (None, [to_pointer]),
    "dkm_extend_fit": (ct.c_int, [pointer, pointer, pointer, ct.POINTER(ExtrapolateSettings),
                                  to_pointer, ct.POINTER(ExtrapolateInfo)]),
    "dkm_extend_coordinates": (ct.c_int, [pointer, pointer, to_pointer]),
    "dkm_lle_fit": (ct.c_int, [pointer, pointer, ct.POINTER(LleSettings), to_pointer, to_pointer,
                               ct.POINTER(LleInfo)]),
    "dkm_fit": (ct.c_int, [pointer, text, pointer, pointer, pointer, to_pointer, to_pointer]),
    "dkm_report_count": (idx, [pointer]),
    "dkm_report_at": (ct.POINTER(Result), [pointer, idx]),
    "dkm_report_destroy": (None, [to_pointer]),
    "dkm_model_method": (text, [pointer]),
    "dkm_model_output_type": (ct.c_int, [pointer]),
    "dkm_model_output_cols": (idx, [pointer]),
    "dkm_model_batch_rows": (idx, [pointer]),
    "dkm_model_configure": (ct.c_int, [pointer, ct.POINTER(PreimageSettings)]),
    "dkm_model_predict": (ct.c_int, [pointer, pointer, to_pointer]),
    "dkm_model_decode": (ct.c_int, [pointer, pointer, to_pointer]),
    "dkm_model_choose_prediction": (ct.c_int, [pointer, ct.c_int, ct.c_double]),
    "dkm_model_export": (ct.c_int, [pointer, ct.c_int, text, ct.POINTER(ct.c_int)]),
    "dkm_model_choose_std": (ct.c_int, [pointer, ct.c_int, ct.c_double, ct.POINTER(StdInfo)]),
    "dkm_model_hold_out": (ct.c_int, [pointer, pointer, pointer]),
    "dkm_model_calibrate": (ct.c_int, [pointer, ct.c_double, ct.POINTER(ConformalInfo)]),
    "dkm_model_prediction_sets": (ct.c_int, [pointer, pointer, to_pointer]),
    "dkm_model_set_candidate_lists": (ct.c_int, [pointer, pointer]),
    "dkm_model_append_weighted": (ct.c_int, [pointer, pointer, pointer, pointer, to_pointer]),
    "dkm_model_forget": (ct.c_int, [pointer, idx, ct.POINTER(idx), to_pointer]),
    "dkm_model_save": (ct.c_int, [pointer, text, text]),
    "dkm_model_load": (ct.c_int, [pointer, text, ct.POINTER(Layout), to_pointer]),
    "dkm_model_destroy": (None, [to_pointer]),
    "dkm_parts_create": (ct.c_int, [pointer, to_pointer]),
    "dkm_parts_count": (idx, [pointer]),
    "dkm_parts_name": (text, [pointer, idx]),
    "dkm_parts_text": (text, [pointer, text]),
    "dkm_parts_reals": (ct.POINTER(ct.c_double), [pointer, text, ct.POINTER(idx)]),
    "dkm_parts_data": (pointer, [pointer, text]),
    "dkm_parts_destroy": (None, [to_pointer]),
    "MPI_Get_library_version": (ct.c_int, [text, ct.POINTER(ct.c_int)]),
    "MPI_Finalized": (ct.c_int, [ct.POINTER(ct.c_int)]),
}


def _below(prefix):
    """Libraries of an installation with this prefix, or of a build folder."""
    found = []
    for folder in ("", "lib", "lib64", "lib/*-linux-*"):
        found += sorted(glob.glob(os.path.join(prefix, folder, "libdkmap.so*")), key=len)
    return found[:1]


def _places():
    """Where the library may be, the likeliest first."""
    if os.environ.get("DKMAP_LIBRARY"):
        return [os.environ["DKMAP_LIBRARY"]]
    here = pathlib.Path(__file__).resolve().parent
    candidates = []
    for parent in list(here.parents)[:5]:  # PREFIX/lib/python3.x/site-packages/dkmap
        if parent != pathlib.Path(parent.anchor):
            candidates += _below(parent)
    command = shutil.which("dkmap")
    if command:
        folder = os.path.dirname(os.path.realpath(command))
        candidates += _below(os.path.dirname(folder)) + _below(folder)
    candidates.append(f"libdkmap.so.{VERSION[0]}.{VERSION[1]}")  # where the loader looks
    default = here / "default_library.txt"
    if default.exists():
        candidates.append(default.read_text().strip())
    return candidates


def _load():
    problems = []
    for place in _places():
        try:
            return ct.CDLL(place)
        except OSError as problem:
            problems.append(f"  {place}: {problem}")
    raise ImportError("libdkmap was not found; install dkmap, or name the library in the environment "
                      "variable DKMAP_LIBRARY. Tried:\n" + "\n".join(problems))


def _declare(library):
    for name, (returns, arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = returns
        function.argtypes = arguments
    number = library.dkm_version_number()
    if (number // 10000, number // 100 % 100) != VERSION:
        raise ImportError(f"{library._name} is version {library.dkm_version().decode()}, and this "
                          f"package is for version {VERSION[0]}.{VERSION[1]}")
    return library


lib = _declare(_load())
# The same kernels of the BLAS as in the command. Another thread might be in the BLAS, through NumPy.
if threading.active_count() == 1:
    lib.dkm_blas_choose_core()


def encode(value):
    return os.fsencode(value)


def finalized():
    """Whether MPI is over, after which nothing of the library may be called."""
    flag = ct.c_int()
    lib.MPI_Finalized(ct.byref(flag))
    return bool(flag.value)


def mpi_version():
    """What the MPI says that the library is linked with."""
    buffer, length = ct.create_string_buffer(8192), ct.c_int()
    lib.MPI_Get_library_version(buffer, ct.byref(length))
    return buffer.value.decode(errors="replace")


class Handle:
    """Owns an object of the library. Destroying is local."""

    def __init__(self, kind):
        self.pointer = ct.c_void_p()
        self._destroy = getattr(lib, f"dkm_{kind}_destroy")
        self.keep = []  # what the object borrows

    @property
    def out(self):
        """For the argument by which a function hands over a new object."""
        return ct.byref(self.pointer)

    def __bool__(self):
        return bool(self.pointer)

    def close(self):
        if self.pointer and not finalized():
            self._destroy(ct.byref(self.pointer))
        self.pointer = ct.c_void_p()
        self.keep = []

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        self.close()

    def __del__(self):
        try:
            self.close()
        except Exception:  # at the end of the interpreter modules may be gone
            pass
