"""Objects of Python as data of the library, and back.

Rows of numbers are NumPy arrays or scipy.sparse matrices, strings are lists of str or bytes, sets are
lists of sets of words, label sets are lists of sets of integers, graphs are lists of adjacency matrices of
scipy.sparse or of pairs of one and the labels of its vertices. An array of float64 in C order is used
in place. float32 and other layouts are read where they are and copied once, into the library.
"""
import ctypes as ct

import numpy as np
import scipy.sparse

from ._library import Array, Lists, TYPES, idx, lib


def share(m, rank, size):
    """Rows first and count of a rank when m rows are in slabs, as the library spreads them."""
    return lib.dkm_slab_first(m, rank, size), lib.dkm_slab_count(m, rank, size)


def is_rows(objects):
    """Whether objects are rows of numbers, and not strings or sets."""
    return isinstance(objects, np.ndarray) or scipy.sparse.issparse(objects)


def count(objects):
    return objects.shape[0] if hasattr(objects, "shape") else len(objects)


def _first(objects):
    return next(iter(objects), None)


def as_objects(objects):
    """Objects as the other functions of this module take them. Local."""
    if scipy.sparse.issparse(objects) or isinstance(objects, (list, tuple)) and _special(objects):
        return objects
    if isinstance(objects, np.ndarray) and objects.dtype.kind in "US":
        return objects.ravel().tolist()
    if hasattr(objects, "__array__") or hasattr(objects, "__array_interface__") or isinstance(
            objects, (list, tuple)):
        array = _to_array(objects)
        if _special(array):
            return array.tolist()
        if array.dtype == object and array.ndim == 1:  # of numbers, as tables have them
            array = _to_array(array.tolist())
        return array
    raise TypeError(f"objects are arrays, sparse matrices or lists, not {type(objects).__name__}")


def _special(objects):
    if isinstance(objects, np.ndarray) and (objects.dtype != object or objects.ndim != 1):
        return False
    return isinstance(_first(objects), (str, bytes, set, frozenset)) or _is_graph(_first(objects))


def _is_graph(one):
    """Whether it is an adjacency matrix, or one with the labels of its vertices."""
    return scipy.sparse.issparse(one) or (isinstance(one, tuple) and len(one) == 2
                                          and scipy.sparse.issparse(one[0]))


def _to_array(objects):
    try:
        return np.asarray(objects)
    except ValueError as problem:  # ragged
        raise ValueError(f"rows of different lengths are no array of numbers: {problem}") from None


def numbers(objects, name="X", dimensions=2):
    """Check that objects are rows of numbers the library can take. Local.

    The messages are those that scikit-learn's users know.
    """
    if scipy.sparse.issparse(objects):
        matrix = objects.tocsr()
        values = matrix.data
    else:
        matrix = values = _numeric(_to_array(objects), name)
        if matrix.ndim == 0 or dimensions == 2 and matrix.ndim == 1:
            kind = "scalar" if matrix.ndim == 0 else "1D"
            raise ValueError(f"Expected 2D array, got {kind} array instead. Reshape your data either using "
                             "array.reshape(-1, 1) if your data has a single feature or "
                             "array.reshape(1, -1) if it contains a single sample.")
        if matrix.ndim > 2:
            raise ValueError(f"Found array with dim {matrix.ndim}. dkmap expected <= 2.")
    if matrix.ndim == 2 and matrix.shape[1] == 0:
        raise ValueError(f"0 feature(s) (shape={matrix.shape}) while a minimum of 1 is required.")
    if values.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if values.dtype not in (np.float32, np.float64):
        matrix = matrix.astype(np.float64)
        values = matrix.data if scipy.sparse.issparse(matrix) else matrix
    check_finite(values, name)
    return matrix


def _numeric(array, name):
    if array.dtype.kind in "biuf":
        return array
    if array.dtype.kind == "c":
        raise ValueError(f"Complex data not supported\n{array}\n")
    if array.dtype.kind in "US":
        raise ValueError(f"{name} has strings where numbers are wanted; dtype='numeric' is not compatible "
                         "with arrays of bytes/strings")
    if array.dtype != object:
        raise ValueError(f"{name} is an array of {array.dtype}, which are no numbers")
    try:
        return array.astype(np.float64)
    except (TypeError, ValueError) as problem:
        if any(isinstance(value, (list, tuple, np.ndarray)) for value in array.ravel()[:1]):
            raise ValueError(f"setting an array element with a sequence: rows of {name} are of different "
                             "lengths") from None
        kind = TypeError if isinstance(problem, TypeError) else ValueError
        raise kind(f"{problem}: argument must be a string or a number") from None


def check_finite(values, name):
    with np.errstate(all="ignore"):
        total = np.sum(values, dtype=np.float64)
    if np.isfinite(total) or values.size == 0:
        return
    if np.isnan(values).any():
        raise ValueError(f"Input {name} contains NaN.")
    if np.isinf(values).any() or values.dtype.itemsize > 8:
        raise ValueError(f"Input {name} contains infinity or a value too large for dtype('{values.dtype}').")


EMPTY = ""  # the type of an empty list, which may be of any kind of objects


def type_of(objects):
    """The type that objects have when nobody says. Local."""
    if scipy.sparse.issparse(objects):
        return "sparse"
    if isinstance(objects, np.ndarray):
        return "dense"
    sample = _first(objects)
    if sample is None:
        return EMPTY
    if isinstance(sample, (set, frozenset)):
        members = (member for one in objects for member in one)
        return "sets" if isinstance(next(members, None), str) else "label-sets"
    if _is_graph(sample):
        return "graphs"
    return "strings"


def _words(one):
    """A set as the library takes it: words with blanks between them."""
    words = sorted(one)
    for word in words:
        if not isinstance(word, str) or not word or any(letter.isspace() for letter in word):
            raise ValueError(f"members of sets are words without blanks, not {word!r}")
    return " ".join(words).encode()


def _graph(one):
    """A graph as the library takes it: the labels of its vertices, and its edges."""
    if not _is_graph(one):
        return _bytes(one)
    matrix, labels = one if isinstance(one, tuple) else (one, None)
    matrix = scipy.sparse.coo_matrix(matrix)
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"an adjacency matrix is square, not {matrix.shape[0]} x {matrix.shape[1]}")
    words = ["."] * matrix.shape[0] if labels is None else [str(label) for label in labels]
    if len(words) != matrix.shape[0]:
        raise ValueError(f"a graph of {matrix.shape[0]} vertices has {len(words)} labels")
    for word in words:
        if not word or word == "|" or any(letter.isspace() for letter in word):
            raise ValueError(f"labels of vertices are words without blanks other than '|', not {word!r}")
    edges = [f"{i}-{j}" for i, j, weight in zip(matrix.row, matrix.col, matrix.data) if weight]
    return " ".join(words + ["|"] + edges).encode()


def _bytes(one):
    if isinstance(one, bytes):
        return one
    if isinstance(one, str):
        return one.encode()
    raise TypeError(f"a list of strings has {type(one).__name__} in it: {one!r}")


def to_data(ctx, objects, type_name=None, name="X", replicated=False):
    """Data of the library from this rank's objects, or from its share of the same objects. Collective.

    objects may be None on ranks that have none.
    """
    with ctx.agree():
        part = _part(ctx, objects, replicated)
        kind = type_name or (type_of(part) if part is not None else None)
        if kind not in TYPES + (EMPTY, None):
            raise ValueError(f"'{kind}' is no type of objects: {', '.join(TYPES)}")
    if replicated:
        ctx.require_same(**{f"the number of rows of {name}": None if objects is None else count(objects)})
    known = ctx.comm.allgather(kind) if ctx.size > 1 else [kind]
    said = [other for other in known if other not in (EMPTY, None)]
    kind = next(iter(said), "strings" if EMPTY in known else "dense")
    with ctx.agree():
        if any(other != kind for other in said):
            raise ValueError(f"{name}: ranks pass different types of objects: "
                             f"{', '.join(sorted(set(said)))}")
        make, arguments, keep = _prepare(kind, part, name)
    data = ctx.create("data", make, ctx.pointer, TYPES.index(kind), *arguments)
    if lib.dkm_data_is_borrowed(data.pointer):
        data.keep = keep
    return data


def _part(ctx, objects, replicated):
    if objects is None or not replicated:
        return objects
    first, rows = share(count(objects), ctx.rank, ctx.size)
    return objects[first:first + rows]


def _prepare(kind, part, name):
    """The function that makes data of a type, its arguments, and what they point into. Local."""
    if kind in ("dense", "gram", "distance", "labels"):
        return _prepare_array(part, name)
    if kind in ("sparse", "label-sets", "graph"):
        return _prepare_lists(kind, part, name)
    return _prepare_strings(kind, part)


def _prepare_array(part, name):
    if part is None:
        return "dkm_data_from_array", [ct.byref(Array())], None
    array = numbers(part.toarray() if scipy.sparse.issparse(part) else part, name, dimensions=1)
    array = array.reshape(len(array), array.shape[1] if array.ndim == 2 else 1)
    size = array.itemsize
    if not array.flags.aligned or any(step % size or step < 0 for step in array.strides):
        array = np.ascontiguousarray(array)
    steps = [step // size for step in array.strides]
    if array.flags.c_contiguous:
        steps = [0, 0]
    described = Array(array.ctypes.data, int(size == 4), *array.shape, *steps, 1)
    described.keep = array
    return "dkm_data_from_array", [ct.byref(described)], array


def _prepare_lists(kind, part, name):
    if part is None:
        empty = np.zeros(1, np.int64)
        lists = Lists(0, 0, empty.ctypes.data, empty.ctypes.data, None)
        lists.keep = empty
        return "dkm_data_from_csr", [ct.byref(lists)], None
    if kind == "label-sets" and not scipy.sparse.issparse(part):
        part = _label_sets(part)
    matrix = scipy.sparse.csr_matrix(part)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    check_finite(matrix.data, name)
    start, col = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64)
    value = np.ascontiguousarray(matrix.data, np.float64)
    cols = 0 if kind == "label-sets" else matrix.shape[1]
    lists = Lists(matrix.shape[0], cols, start.ctypes.data, col.ctypes.data,
                  None if kind == "label-sets" else value.ctypes.data)
    lists.keep = start, col, value
    return "dkm_data_from_csr", [ct.byref(lists)], None


def _label_sets(part):
    rows = [sorted(one) for one in part]
    labels = np.array([label for row in rows for label in row])
    if labels.size and (labels.dtype.kind not in "iu" or labels.min() < 0):
        raise ValueError("members of label sets are integers from 0 on")
    start = np.cumsum([0] + [len(row) for row in rows])
    width = int(labels.max()) + 1 if labels.size else 1
    return scipy.sparse.csr_matrix((np.ones(len(labels)), labels.astype(np.int64), start),
                                   shape=(len(rows), width))


def _prepare_strings(kind, part):
    text_of = {"sets": _words, "graphs": _graph}.get(kind, _bytes)
    texts = [text_of(one) for one in part or []]
    pointers = (ct.c_char_p * max(len(texts), 1))(*texts)
    lengths = np.array([len(one) for one in texts], np.int64)
    arguments = [len(texts), ct.cast(pointers, ct.c_void_p), lengths.ctypes.data_as(ct.c_void_p)]
    arguments[1].keep = pointers, lengths, texts
    return "dkm_data_from_strings", arguments, None


def rows_to_array(rows):
    """Rows of numbers at hand as a view, without a copy. Local."""
    m, d = lib.dkm_rows_count(rows), lib.dkm_rows_cols(rows)
    if m == 0 or d == 0:
        return np.zeros((m, d))
    first = lib.dkm_rows_values(rows, 0)
    step = lib.dkm_rows_values(rows, 1) - first if m > 1 else 8 * d
    buffer = (ct.c_char * (step * (m - 1) + 8 * d)).from_address(first)
    return np.ndarray((m, d), np.float64, buffer, strides=(step, 8))


def rows_to_lists(rows):
    """Rows of a sparse matrix, label sets or a graph at hand as a CSR matrix. Local."""
    m, d = lib.dkm_rows_count(rows), lib.dkm_rows_cols(rows)
    start, col, value = [0], [], []
    for i in range(m):
        at_cols, at_values = ct.c_void_p(), ct.c_void_p()
        n = lib.dkm_rows_entries(rows, i, ct.byref(at_cols), ct.byref(at_values))
        if n:
            col.append(np.array((ct.c_int64 * n).from_address(at_cols.value)))
            value.append(np.array((ct.c_double * n).from_address(at_values.value))
                         if at_values.value else np.ones(n))
        start.append(start[-1] + n)
    col = np.concatenate(col) if col else np.zeros(0, np.int64)
    value = np.concatenate(value) if value else np.zeros(0)
    return scipy.sparse.csr_matrix((value, col, start), shape=(m, d))


def rows_to_strings(rows):
    length, strings = idx(), []
    for i in range(lib.dkm_rows_count(rows)):
        at = lib.dkm_rows_string(rows, i, ct.byref(length))
        strings.append(ct.string_at(at, length.value))
    return strings


def rows_to_objects(rows, text=True):
    """Objects at hand as those of Python. Local."""
    kind = TYPES[lib.dkm_rows_type(rows)]
    if kind in ("dense", "gram", "distance"):
        return rows_to_array(rows)
    if kind == "labels":
        return rows_to_array(rows)[:, 0]
    if kind in ("sparse", "graph"):
        return rows_to_lists(rows)
    if kind == "label-sets":
        matrix = rows_to_lists(rows)
        return [frozenset(matrix.indices[a:b].tolist()) for a, b in zip(matrix.indptr, matrix.indptr[1:])]
    strings = rows_to_strings(rows)
    if kind == "sets":
        return [frozenset(one.decode().split()) for one in strings]
    return [one.decode(errors="surrogateescape") for one in strings] if text else strings


def from_data(ctx, data, first=None, rows=None, text=True):
    """Objects first, first + 1, ... of data, rows of them; all where neither is given. Collective."""
    if first is None:
        first, rows = 0, lib.dkm_data_rows(data)
    with ctx.create("rows", "dkm_rows_get", data, first, rows) as at_hand:
        objects = rows_to_objects(at_hand.pointer, text)
        return objects.copy() if isinstance(objects, np.ndarray) else objects
