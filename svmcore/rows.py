"""Examples that stay in their file: rows are read when they are asked for, and what was read is let go again.

    x_i = scale * numbers[i]        X (n, d), numbers in C order from `offset` on, of a .npy or uncompressed idx file

Rows are read by position (pread), not through a mapping of the file: pages of a mapping count as memory of the process,
and a file that has become shorter ends a process that reads its mapping by a signal (SIGBUS) that Python cannot catch.
Here it is an error. The file stays open, so that one which is deleted or replaced meanwhile is read to the end as it
was; one that is written to is noticed by its size and its time.
"""

import copy
import mmap
import os
import stat
import struct
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path

import numpy as np

from svmcore.files import array_header

PIECE = 8 << 20  # bytes of float32 rows that are read at a time
LOST = 1e-3  # of the narrowest range that holds a quarter of a column, that float32 may round numbers in it by
MERGED = 0.1  # of neighbouring quantiles of a column, that may become equal in float32
QUANTILES = 256  # of a column, so that numbers which are neighbours because they are many do not count
SEEN = 2048  # rows, evenly spaced, that a column is judged by
NOISE = 16 * np.finfo(np.float64).eps  # relative: what differs by less is the rounding of double precision itself
NEAR = 1 << 15  # bytes between two rows that are read over rather than left out
IDX = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}  # type codes of the format


def rows_of_a_piece(d: int) -> int:
    """How many rows of d numbers are a PIECE."""
    return max(PIECE // (4 * max(d, 1)), 1)


def pieces(n: int, d: int) -> Iterator[slice]:
    """n rows of d numbers, in slices of PIECE."""
    step = rows_of_a_piece(d)
    return (slice(start, min(start + step, n)) for start in range(0, n, step))


class FileRows:
    """Rows of numbers in a file, for estimators that take them from there: `SVC.fit`, `decision_function`, `predict`.

    Parameters
    ----------
    path : path
        The file.
    shape : tuple of int
        (n, d); of images (n, h, w[, c]), whose rows are their pixels.
    dtype : dtype, default float32
        Of the numbers as they stand there: whole or floating.
    offset : int, default 0
        Bytes before the first.
    scale : float, default 1.0
        What each number is multiplied by.

    Raises
    ------
    ValueError
        Naming what is wrong with the file, then or when rows of it are read that hold no finite numbers.
    OSError
        When rows are read from a file that was changed or cut short since.

    Examples
    --------
    >>> import numpy as np, os, tempfile
    >>> from svmcore import RBF, SVC, FileRows
    >>> X = np.random.default_rng(0).normal(size=(300, 4)).astype(np.float32)
    >>> path = os.path.join(tempfile.mkdtemp(), "X.npy")
    >>> np.save(path, X)
    >>> rows = FileRows.open(path)
    >>> rows.shape, np.array_equal(rows[[5, 2]], X[[5, 2]])
    ((300, 4), True)
    >>> machine = SVC(RBF(0.5), cache_mb=50).fit(rows, X[:, 0] > 0)
    >>> machine.score(rows, X[:, 0] > 0) > 0.9
    True
    """

    ndim, dtype, nbytes = 2, np.dtype(np.float32), 0  # of what it gives; nothing of it is in memory

    def __init__(self, path, shape, dtype=np.float32, offset: int = 0, scale: float = 1.0):
        self.path, self.scale, self.stored = Path(path), float(scale), np.dtype(dtype)
        self.shape, self.offset = (int(shape[0]), prod(shape[1:])), int(offset)
        if len(shape) < 2 or self.stored.kind not in "iuf":
            raise ValueError(f"{path}: {self.stored} of shape {tuple(shape)}; allowed: rows of numbers")
        self._file = os.open(self.path, os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
        info = os.fstat(self._file)
        need = self.offset + prod(self.shape) * self.stored.itemsize
        if not stat.S_ISREG(info.st_mode) or info.st_size < need:
            raise ValueError(f"{path} has {info.st_size:,} bytes, but its {self.shape[0]:,} rows need {need:,} bytes")
        self._seen, self._less = (info.st_size, info.st_mtime_ns), None

    def __del__(self):
        if (file := self.__dict__.pop("_file", None)) is not None:
            os.close(file)

    @classmethod
    def open(cls, path, scale: float = 1.0) -> "FileRows":
        """The rows of a .npy file, or of an idx file that is not compressed. ValueError for any other."""
        with open(path, "rb") as file:
            begin = file.read(4)
            file.seek(0)
            if begin[:2] == b"\0\0" and begin[2:3] and begin[2] in IDX and len(begin) == 4:
                shape = struct.unpack(f">{begin[3]}I", file.read(4 + 4 * begin[3])[4:])
                return cls(path, shape, IDX[begin[2]], file.tell(), scale)
            try:
                shape, columns_first, dtype = array_header(file)
            except (ValueError, struct.error) as error:
                raise ValueError(f"{path} is neither an .npy file nor an uncompressed idx file: {error}") from None
            if columns_first:
                raise ValueError(f"{path} is stored by columns; allowed: stored by rows (numpy.ascontiguousarray)")
            return cls(path, shape, dtype, file.tell(), scale)

    @classmethod
    def of(cls, X) -> "FileRows | None":
        """The rows that an array maps from a file; None for any other array, for gaps or changes, or a missing file."""
        if not isinstance(X, np.memmap) or X.filename is None or X.mode == "c" or X.ndim < 2:
            return None
        if not X.flags.c_contiguous or X.dtype.kind not in "iuf":
            return None
        begin = np.frombuffer(X._mmap, np.uint8).ctypes.data  # a slice's own offset is that of the array it is from
        offset = X.offset - X.offset % mmap.ALLOCATIONGRANULARITY + X.ctypes.data - begin
        try:
            return cls(X.filename, X.shape, X.dtype, offset)
        except (OSError, ValueError):
            return None

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, idx) -> np.ndarray:
        """Rows idx, a slice or (m,) positions or booleans: (m, d) float32. OSError where the file is not what it was,
        ValueError for what is no finite number."""
        return self.rows(idx)

    def rows(self, idx, dtype=np.float32) -> np.ndarray:
        """The same in this precision: float32 or float64."""
        if isinstance(idx, slice):
            start, stop, step = idx.indices(len(self))
            if step < 0:
                return self.rows(np.arange(start, stop, step), dtype)
            return self._read(start, max(stop, start), dtype)[::step]
        idx = np.asarray(idx)
        idx = np.flatnonzero(idx) if idx.dtype == bool else idx
        out, order = np.empty((len(idx), self.shape[1]), dtype), np.argsort(idx, kind="stable")
        row = max(self.shape[1] * self.stored.itemsize, 1)
        apart = np.flatnonzero(np.diff(idx[order]) * row > NEAR) + 1
        for places in np.split(order, apart) if len(idx) else ():
            most, at = rows_of_a_piece(self.shape[1]), 0
            while at < len(places):
                first = idx[places[at]]
                end = np.searchsorted(idx[places], first + most) if len(places) > 1 else 1
                some = places[at:end]
                out[some] = self._read(first, idx[some[-1]] + 1, dtype)[idx[some] - first]
                at = end
        return out

    def each(self, make: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """make(rows) (m,) of every piece, joined: (n,)."""
        return np.concatenate([make(self[part]) for part in pieces(*self.shape)])

    def less(self, shift: np.ndarray) -> "FileRows":
        """The same rows less shift (d,) float64, subtracted in double precision."""
        moved = copy.copy(self)
        moved._file, moved._less = os.dup(self._file), shift
        return moved

    def var(self, **_) -> float:
        """The variance of all numbers, in double precision."""
        return variance(self)

    def _read(self, start: int, stop: int, dtype=np.float32) -> np.ndarray:
        """Rows start to stop."""
        numbers, read = np.empty((stop - start, self.shape[1]), self.stored), 0
        info, into = os.fstat(self._file), memoryview(numbers.reshape(-1).view(np.uint8))
        at = self.offset + start * self.shape[1] * self.stored.itemsize
        if (info.st_size, info.st_mtime_ns) == self._seen:
            while read < len(into) and (more := os.preadv(self._file, [into[read:]], at + read)):
                read += more
        if read < len(into):
            raise OSError(f"{self.path.name}: the file was changed or truncated while it was read")
        with np.errstate(over="ignore"):
            rows = numbers.astype(dtype if self._less is None else np.float64, copy=False)
            rows = rows if self.scale == 1 else rows * rows.dtype.type(self.scale)
            rows = rows if self._less is None else rows - self._less
            rows, single = rows.astype(dtype, copy=False), rows.astype(np.float32, copy=False)
        if self.stored.kind == "f" and not np.isfinite(single).all():
            raise ValueError(f"{self.path.name} has missing or infinite values, or numbers beyond float32 (3e38)")
        return rows

    def __repr__(self) -> str:
        return f"FileRows({self.path.name!r}, {self.shape})"


def lost_columns(X, less: np.ndarray | None = None) -> np.ndarray:
    """Columns (k,) of X (n, d), an array, sparse or FileRows, less (d,), in which float32 rounds away differences, as
    of times in seconds since 1970: what tells examples apart is lost, however exact kernels are. One number far from
    all others, or several groups of numbers, make no difference: a column is judged by neighbours (`_rounded`)."""
    found = [np.zeros(0, np.intp)]
    for columns, numbers in _sorted_columns(X):
        shift = 0 if less is None else less[columns, None]
        found.append(columns.start + np.flatnonzero(_rounded(numbers - shift)))
    return np.concatenate(found)


def middles(X, columns) -> np.ndarray:
    """(d,) float64: the median of these columns of X, in its first digits at least, and 0 for all others."""
    out = np.zeros(X.shape[1])
    for some, numbers in _sorted_columns(X):
        out[some] = numbers[:, numbers.shape[1] // 2]
    out[np.setdiff1d(np.arange(len(out)), columns)] = 0
    return out


def double_rows(X, part) -> np.ndarray:
    """Rows of X, an array, sparse or FileRows, as an array of all digits that they have."""
    if isinstance(X, FileRows):
        return X.rows(part, np.float64)
    return X[part].toarray() if hasattr(X, "toarray") else X[part]


def variance(X) -> float:
    """The variance of all numbers of X (n, d), sparse or FileRows, in double precision and in one pass. Squares are of
    differences to the mean of the first rows: a mean that is many times the deviation would cancel them."""
    count, total, squares, origin = prod(X.shape), 0.0, 0.0, None
    for part in pieces(*X.shape):
        rows = double_rows(X, part).astype(np.float64, copy=False)
        origin = rows.mean() if origin is None else origin
        rows = rows - origin
        total, squares = total + rows.sum(), squares + np.square(rows).sum()
    return max(squares / count - (total / count) ** 2, 0.0)


def _sorted_columns(X) -> Iterator[tuple[slice, np.ndarray]]:
    """Some columns of X at a time, with their numbers in SEEN rows, sorted (c, m); none if float32 holds all digits."""
    stored = X.stored if isinstance(X, FileRows) else X.dtype
    if stored.itemsize < (8 if stored.kind == "f" else 4) or not prod(X.shape):
        return
    n, d = X.shape
    if isinstance(X, FileRows):  # whose rows are read whole
        n_seen = min(n, SEEN, max(rows_of_a_piece(2 * d), 16))
        X = X.rows(np.linspace(0, n - 1, n_seen).astype(np.intp), np.float64)
    else:
        X = X[np.linspace(0, n - 1, min(n, SEEN)).astype(np.intp)]
    width = max(PIECE // (8 * X.shape[0]), 1)
    for start in range(0, d, width):
        columns = slice(start, min(start + width, d))
        yield columns, np.sort(double_rows(X[:, columns], slice(None)).T.astype(np.float64), axis=1)


def _rounded(numbers: np.ndarray) -> np.ndarray:
    """Which columns (c,) bool, sorted numbers (c, m), float32 rounds so that more than MERGED of neighbouring quantiles
    become equal, or, somewhere, by more than LOST of the range of a quarter of them."""
    numbers = numbers[:, :: max(numbers.shape[1] // QUANTILES, 1)]
    with np.errstate(over="ignore"):
        single = numbers.astype(np.float32)
    noise, rounding = NOISE * np.abs(numbers), np.abs(numbers - single)
    apart = np.diff(numbers) > np.maximum(noise[:, 1:], noise[:, :-1])
    merged = apart & (single[:, 1:] == single[:, :-1])
    quarter = max(numbers.shape[1] // 4, 1)
    wide, (low, high) = numbers[:, quarter:] - numbers[:, :-quarter], (slice(None, -quarter), slice(quarter, None))
    moved = np.maximum(rounding[:, low], rounding[:, high]) > LOST * wide
    moved &= wide > np.maximum(noise[:, low], noise[:, high])
    return (merged.sum(axis=1) > MERGED * apart.sum(axis=1)) | moved.any(axis=1)


def require_float32(X: np.ndarray) -> None:
    """ValueError unless float32 holds all numbers of X, as kernels take them; before fits and decisions alike."""
    if X.dtype.kind == "c":
        raise ValueError(f"X has numbers of type {X.dtype}; allowed: real numbers")
    largest = np.finfo(np.float32).max
    if not (X.max(initial=0) <= largest and X.min(initial=0) >= -largest):  # so that NaN is refused too
        raise ValueError("X has missing or infinite values, or numbers beyond float32 (3e38); scale the features first")
