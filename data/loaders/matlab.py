"""Reader of MATLAB files of versions 5 to 7: numeric and sparse matrices, and texts for labels, within size limits.

    X (n, d) or (d, n);  images (n, h, w[, 3]) or (h, w[, 3], n);  y (n, 1) or (1, n) numbers, or n texts

An element is a type, a size and that many bytes. A matrix is an element that consists of elements: flags, shape, name,
values. Each compressed element is unpacked once, to at most MAX_BYTES. A shape is accepted only if as many values
follow. Reference: MathWorks, "MAT-File Format" (2023), "Level 5 MAT-File Format".
"""

import math
import struct
import zlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from data.dataset import Arrays, DataError, in_words, megabytes
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED, unread
from data.loaders.npz import GROUPS, IMAGES, with_beside
from data.loaders.sieve import TooLarge

ACCEPTED = (
    "a MATLAB file, saved with -v7, with matrices X and y (table2array and cellstr convert tables and texts), "
    "optionally X_test and y_test, and images or groups with one entry per example"
)
NAMES = (("x_train", "y_train"), ("x", "y"), ("data", "labels"), ("data", "label"), ("data", "target"),
         ("images", "labels"), ("fea", "gnd"), ("meas", "species"))  # fmt: skip
TEST_NAMES = (("x_test", "y_test"), ("xtest", "ytest"))
_MATRIX, _COMPRESSED = 14, 15
_TYPES = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_TEXTS = {1: "latin-1", 2: "latin-1", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_CLASSES = ("", "cell", "struct", "object", "char", "sparse", "double", "single", "int8", "uint8", "int16", "uint16",
            "int32", "uint32", "int64", "uint64", "function", "table, string or other object")  # fmt: skip
_NUMBERS = frozenset((*_CLASSES[5:16],))
_COMPLEX = 0x800
MAX_TEXTS = 1 << 20  # largest number of labels in a cell array
NAMED = 10  # variables listed in an error


class _Variable(NamedTuple):
    """A variable. what: its class; parts: the elements after its header, as (type, bytes)."""

    name: str
    what: str  # one of _CLASSES
    shape: tuple[int, ...]
    complex: bool
    parts: Iterator[tuple[int, memoryview]]

    def __str__(self) -> str:
        return f"{self.name} ({' x '.join(map(str, self.shape))} {self.what})".replace("( ", "(")


def is_matlab(name: str, content: bytes) -> bool:
    """Whether a file is a MATLAB file of any version."""
    return content[124:128] in (b"\0\1IM", b"\1\0MI", b"\0\2IM", b"\2\0MI") or (
        name.lower().endswith(".mat") and b"\0" in content[:128]
    )


def read(name: str, content: bytes) -> tuple[Arrays, list[str]]:
    """The training and test sets, recognised by the names of the variables (case-insensitive), and notes."""
    order = {b"\0\1IM": "<", b"\1\0MI": ">"}.get(content[124:128])
    if order is None:
        version = "7.3 (HDF5)" if content[124:128] in (b"\0\2IM", b"\2\0MI") else "4, or damaged"
        raise DataError(
            f"{name} is a MATLAB file of version {version}", "version 7, as saved by save('a.mat', 'X', 'y', '-v7')"
        )
    with in_words(f"{name} is damaged or incomplete", "the complete MATLAB file"):
        matrices = [_variable(matrix, order) for matrix in _unpacked(name, content, order)]
        named = {variable.name.lower(): variable for variable in matrices}
        pair = next((pair for pair in NAMES if named.keys() >= set(pair)), None)
        if pair is None:
            there = ", ".join(map(str, matrices[:NAMED])) or "no variables"
            raise DataError(f"{name} has {there}, but no X and y", ACCEPTED)
        X, y, notes = _examples(*(named[key] for key in pair), order)
        test = next((pair for pair in TEST_NAMES if named.keys() >= set(pair)), None)
        arrays = Arrays(X, y, *_examples(*(named[key] for key in test), order)[:2]) if test else Arrays.unsplit(X, y)
        images = next((names for names in IMAGES if names[0] in named and names[0] != pair[0]), None)
        used = {*pair, *(test or ()), *(images or ()), *GROUPS}
        if others := [str(variable) for name, variable in named.items() if name not in used]:
            notes.append(unread("Variables", others, NAMED))
        return with_beside(arrays, named, lambda name: _beside(name, named[name], arrays, order), images), notes


def _beside(name: str, variable: _Variable, arrays: Arrays, order: str) -> np.ndarray:
    """The images or the groups of X, or of X_test if they are named so, with the examples in the first dimension."""
    if name in GROUPS:
        return _labels(variable, order)
    if variable.what not in _NUMBERS or variable.complex:
        raise DataError(f"{variable} is not an array of real numbers", ACCEPTED)
    values, n = _values(variable, order), len(arrays.X_test if name.endswith("test") else arrays.X_train)
    return np.moveaxis(values, -1, 0) if values.shape[0] != n == values.shape[-1] else values


def _unpacked(name: str, content: bytes, order: str) -> Iterator[memoryview]:
    """The matrices of a file, unpacked if compressed."""
    left = MAX_BYTES
    for kind, body in _elements(memoryview(content)[128:], order, aligned=False):
        if kind == _COMPRESSED:
            unpacked = zlib.decompressobj().decompress(body, left + 1)
            if (left := left - len(unpacked)) < 0:
                raise TooLarge(f"{name} unpacks to more than {MAX_BYTES >> 20} MB", SIZE_ACCEPTED)
            kind, body = next(_elements(memoryview(unpacked), order, aligned=False), (0, body))
        if kind == _MATRIX:
            yield body


def _elements(content: memoryview, order: str, aligned: bool = True) -> Iterator[tuple[int, memoryview]]:
    """(type, bytes) of consecutive elements; up to 4 bytes may be in the header. aligned: each at a multiple of 8."""
    at = 0
    while at + 8 <= len(content):
        kind, size = struct.unpack_from(f"{order}II", content, at)
        if kind >> 16:
            start, size, kind, after = at + 4, kind >> 16, kind & 0xFFFF, at + 8
        else:
            start = at + 8
            after = start + (-(-size // 8) * 8 if aligned else size)
        if start + size > len(content) or (start == at + 4 and size > 4):
            raise ValueError(f"an element of {size:,} bytes extends beyond the end of the file")
        yield kind, content[start : start + size]
        at = after


def _next(parts: Iterator[tuple[int, memoryview]]) -> tuple[int, memoryview]:
    if (part := next(parts, None)) is None:
        raise ValueError("a matrix ends before its values")
    return part


def _variable(matrix: memoryview, order: str) -> _Variable:
    parts = _elements(matrix, order)
    flags = int(np.frombuffer(_next(parts)[1], f"{order}u4")[0])
    what = _CLASSES[flags & 0xFF] if flags & 0xFF < len(_CLASSES) else _CLASSES[-1]
    if what == _CLASSES[-1]:  # such a class has no shape
        return _Variable(bytes(_next(parts)[1]).decode("latin-1"), what, (), False, parts)
    shape = tuple(np.frombuffer(_next(parts)[1], f"{order}i4").tolist())
    name = bytes(_next(parts)[1]).decode("latin-1")
    if len(shape) < 2 or min(shape) < 0:
        raise ValueError(f"{name} has the shape {shape}")
    return _Variable(name, what, shape, bool(flags & _COMPLEX), parts)


def _examples(X: _Variable, y: _Variable, order: str) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """X with the examples in the first dimension, y (n,), and a note if they were in the last."""
    if X.what not in _NUMBERS or X.complex:
        raise DataError(f"{X.name} has the type {'complex' if X.complex else X.what}, not real numbers", ACCEPTED)
    values, labels = _values(X, order), _labels(y, order)
    n, shape = len(labels), values.shape
    if shape[0] != n != shape[-1]:
        raise DataError(f"{X} has no dimension of {n:,}, the number of labels in {y}", ACCEPTED)
    if values.ndim > 2 and shape[0] == shape[-1]:
        reason = f"{X} may have its {n:,} images along the first dimension or the last"
        raise DataError(reason, "X whose first and last dimensions differ, or a matrix X with one image per row")
    if shape[0] == n:  # a square matrix has its examples in rows
        return values, labels, []
    return (
        np.moveaxis(values, -1, 0),
        labels,
        [f"{X} is read with one example per {'column' if len(shape) == 2 else 'slice'}"],
    )


def _values(variable: _Variable, order: str) -> np.ndarray:
    """The values of a variable in its shape."""
    if variable.what == "sparse":
        return _dense(variable, order)
    return _numbers(*_next(variable.parts), order, variable).reshape(variable.shape, order="F")


def _numbers(kind: int, content: memoryview, order: str, variable: _Variable, n: int | None = None) -> np.ndarray:
    """(n,) the numbers of an element; n is the size of the variable by default."""
    if kind not in _TYPES:
        raise ValueError(f"{variable.name} has values of the type {kind}")
    values, n = np.frombuffer(content, order + _TYPES[kind]), math.prod(variable.shape) if n is None else n
    if len(values) < n or (len(values) > n and variable.what != "sparse"):
        raise ValueError(f"{variable} has {len(values):,} values")
    return values[:n]


def _dense(variable: _Variable, order: str) -> np.ndarray:
    """A dense copy of a sparse matrix (n, d), stored as row indices, column starts and values."""
    if len(variable.shape) != 2 or math.prod(variable.shape) * 4 > MAX_BYTES:
        raise TooLarge(f"{variable} takes {megabytes(math.prod(variable.shape) * 4)} as a dense matrix", SIZE_ACCEPTED)
    (h, w), parts = variable.shape, list(variable.parts)
    starts = _numbers(*parts[1], order, variable, w + 1).astype(np.int64)
    counts, n = np.diff(starts), int(starts[-1])
    rows, values = (_numbers(*parts[k], order, variable, n) for k in (0, 2))
    if starts[0] != 0 or (counts < 0).any() or (n and not 0 <= rows.min() <= rows.max() < h):
        raise ValueError(f"{variable} has values outside its shape")
    with np.errstate(over="ignore"):
        full = np.zeros(variable.shape, np.result_type(values.dtype, np.float32))  # float64 where values need it
        full[rows, np.repeat(np.arange(w), counts)] = values
    return full


def _labels(variable: _Variable, order: str) -> np.ndarray:
    """(n,) labels: numbers, the rows of a character matrix, or a text in each cell."""
    if variable.what == "char":
        return np.array(_texts(variable, order) or [""])
    if variable.what not in _NUMBERS - {"sparse"} and variable.what != "cell":
        raise DataError(f"{variable.name} has the type {variable.what}, not labels", ACCEPTED)
    if sum(side != 1 for side in variable.shape) > 1:
        raise DataError(f"{variable} is not a column of labels", ACCEPTED)
    if variable.what != "cell":
        return _values(variable, order).ravel()
    n = math.prod(variable.shape)
    if n > MAX_TEXTS:
        raise TooLarge(f"{variable} has {n:,} labels", f"at most {MAX_TEXTS:,} texts, or numbers")
    labels = [_text_of_cell(variable, body, order) for _, body in variable.parts]
    if len(labels) != n:
        raise ValueError(f"{variable} has {len(labels):,} cells")
    return np.array(labels or [""])


def _text_of_cell(variable: _Variable, matrix: memoryview, order: str) -> str:
    cell = _variable(matrix, order)
    texts = _texts(cell, order) if cell.what == "char" else None
    if texts is None or len(texts) > 1:
        raise DataError(
            f"{variable.name} has a cell that is not a text ({cell.what})",
            ACCEPTED + ", with numbers or texts as labels",
        )
    return texts[0] if texts else ""


def _texts(variable: _Variable, order: str) -> list[str]:
    """The rows of a character matrix, without trailing spaces."""
    kind, content = next(variable.parts, (1, b""))
    if kind not in _TEXTS or len(variable.shape) != 2:
        raise ValueError(f"{variable} has letters of the type {kind}")
    coding = _TEXTS[kind] + ({"<": "-le", ">": "-be"}[order] if _TEXTS[kind] in ("utf-16", "utf-32") else "")
    text, (h, w) = bytes(content).decode(coding), variable.shape
    if len(text) != h * w:
        raise ValueError(f"{variable} has {len(text):,} letters")
    return [text[k::h].rstrip() for k in range(h)] if w else []
