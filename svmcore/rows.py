"""Examples that stay in their file: rows are read when they are asked for, and what was read is let go again.

    x_i = scale * numbers[i]        X (n, d), numbers in C order from `offset` on, of a .npy or uncompressed idx file

Rows are read by position (pread), not through a mapping of the file: pages of a mapping count as memory of the process,
and a file that has become shorter ends a process that reads its mapping by a signal (SIGBUS) that Python cannot catch.
Here it is an error. The file stays open, so that one which is deleted or replaced meanwhile is read to the end as it
was; one that is written to is noticed by its size and its time.
"""

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
LOST = 1e-3  # of a column's standard deviation, that float32 may round its numbers by
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
            raise ValueError(f"{path} has {info.st_size:,} bytes; {need:,} are {self.shape[0]:,} rows as it says")
        self._seen = info.st_size, info.st_mtime_ns

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
        """The rows that an array maps from a file; None for any other array, for one with gaps or changes of its own,
        and where the file is gone."""
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
        if isinstance(idx, slice):
            start, stop, step = idx.indices(len(self))
            return self._read(start, max(stop, start))[::step] if step > 0 else self[np.arange(start, stop, step)]
        idx = np.asarray(idx)
        idx = np.flatnonzero(idx) if idx.dtype == bool else idx
        out, order = np.empty((len(idx), self.shape[1]), np.float32), np.argsort(idx, kind="stable")
        row = max(self.shape[1] * self.stored.itemsize, 1)
        apart = np.flatnonzero(np.diff(idx[order]) * row > NEAR) + 1
        for places in np.split(order, apart) if len(idx) else ():
            most, at = rows_of_a_piece(self.shape[1]), 0
            while at < len(places):
                first = idx[places[at]]
                end = np.searchsorted(idx[places], first + most) if len(places) > 1 else 1
                some = places[at:end]
                out[some] = self._read(first, idx[some[-1]] + 1)[idx[some] - first]
                at = end
        return out

    def each(self, make: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        """make(rows) (m,) of every piece, joined: (n,)."""
        return np.concatenate([make(self[part]) for part in pieces(*self.shape)])

    def var(self, **_) -> float:
        """The variance of all numbers, in double precision."""
        count, total, squares = prod(self.shape), 0.0, 0.0
        for part in pieces(*self.shape):
            X = self[part].astype(np.float64)
            total, squares = total + X.sum(), squares + np.square(X).sum()
        return max(squares / count - (total / count) ** 2, 0.0)

    def _read(self, start: int, stop: int) -> np.ndarray:
        """Rows start to stop, float32."""
        numbers, read = np.empty((stop - start, self.shape[1]), self.stored), 0
        info, into = os.fstat(self._file), memoryview(numbers.reshape(-1).view(np.uint8))
        at = self.offset + start * self.shape[1] * self.stored.itemsize
        if (info.st_size, info.st_mtime_ns) == self._seen:
            while read < len(into) and (more := os.preadv(self._file, [into[read:]], at + read)):
                read += more
        if read < len(into):
            raise OSError(f"{self.path.name}: the file was changed or truncated while it was read")
        with np.errstate(over="ignore"):
            rows = numbers.astype(np.float32, copy=False)
            rows = rows if self.scale == 1 else rows * np.float32(self.scale)
        if self.stored.kind == "f" and not np.isfinite(rows).all():
            raise ValueError(f"{self.path.name} has missing or infinite values, or numbers beyond float32 (3e38)")
        return rows

    def __repr__(self) -> str:
        return f"FileRows({self.path.name!r}, {self.shape})"


def lost_columns(X) -> np.ndarray:
    """Columns (k,) of X (n, d) whose numbers float32 rounds by more than LOST of their standard deviation, as of times
    in seconds since 1970: what tells examples apart is lost, however exact kernels are."""
    if isinstance(X, FileRows) or hasattr(X, "toarray") or X.dtype.itemsize <= 4 or not X.size:
        return np.zeros(0, np.intp)
    mean, d = X.mean(axis=0), X.shape[1]
    rounding, squares = np.zeros(d), np.zeros(d)
    with np.errstate(over="ignore", invalid="ignore"):
        for part in pieces(len(X), 2 * d):
            rounding = np.maximum(rounding, np.abs(X[part] - X[part].astype(np.float32)).max(axis=0))
            squares += np.square(X[part] - mean).sum(axis=0)
        lost = np.flatnonzero(rounding > LOST * np.sqrt(squares / len(X)))
    return lost[(X[0, lost] != X[:, lost]).any(axis=0)]  # the deviation of a constant column is rounding itself


def require_float32(X: np.ndarray) -> None:
    """ValueError unless float32 holds all numbers of X, as kernels take them; before fits and decisions alike."""
    if X.dtype.kind == "c":
        raise ValueError(f"X has numbers of type {X.dtype}; allowed: real numbers")
    largest = np.finfo(np.float32).max
    if not (X.max(initial=0) <= largest and X.min(initial=0) >= -largest):  # so that NaN is refused too
        raise ValueError("X has missing or infinite values, or numbers beyond float32 (3e38); scale the features first")
