"""An operand whose examples stay in their file: what is asked of it is done piece by piece.

A piece is some rows of the file as an Operand, made when it is needed; the first of them are kept as far as `keep`
bytes go, so that what memory can hold is read and packed once. Whatever is of a few examples alone (working sets,
changed examples) is an Operand in memory.
"""

from collections.abc import Iterator

import numpy as np

from svmcore.gram.products import Operand
from svmcore.kernels import Kernel, squared_norms
from svmcore.rows import PIECE, FileRows, pieces, rows_of_a_piece

PACKED = 2.5  # times a piece's rows, what its Operand may hold with them


class FiledOperand:
    """X (n, d) in a file, or some of its rows `at` (n,), with what a Streamed source asks of an Operand.

    Attributes: X, n, d, sq (n,) = |x|^2, layout; nbytes: what it holds in memory."""

    in_memory, layout, _tiles = False, "in its file", None

    def __init__(self, X: FileRows, keep: int = 0):
        self.X, self.at, self.keep, (self.n, self.d) = X, None, keep, X.shape
        self.sq = X.each(squared_norms)
        self.held: dict[int, Operand] = {}

    @property
    def nbytes(self) -> int:
        """What it holds at most: what is kept, a piece, and as many rows that pass over it."""
        return int(self.sq.nbytes + self.keep + 2 * PACKED * PIECE)

    def apart(self, kernel: Kernel) -> None:
        """Each piece takes its own far features apart."""

    def diag(self, kernel: Kernel) -> np.ndarray:
        """K_ii (n,) float32."""
        return self.X.each(kernel.diag)

    def subset(self, idx) -> "Operand | FiledOperand":
        """The examples idx (m,): in memory where they are no more than a piece."""
        idx = np.asarray(idx)
        if 4 * len(idx) * self.d <= PIECE or self.at is not None:
            return Operand(self.rows(idx))
        part = object.__new__(FiledOperand)
        part.X, part.at, part.keep, part.held = self.X, idx, 0, {}
        part.n, part.d, part.sq = len(idx), self.d, self.sq[idx]
        return part

    def in_all(self, idx) -> Operand:
        """The examples idx (m,) in memory, however many."""
        return Operand(self.rows(np.asarray(idx)))

    def rows(self, idx) -> np.ndarray:
        """The examples idx (m,), float32."""
        return self.X[idx if self.at is None else self.at[idx]]

    def pieces(self) -> Iterator[tuple[slice, Operand]]:
        """All examples in their order: (which, operand)."""
        for number, part in enumerate(pieces(self.n, self.d)):
            operand = self.held.get(number)
            if operand is None:
                operand = Operand(self.X[part] if self.at is None else self.X[self.at[part]])
                if (len(self.held) + 1) * PACKED * 4 * rows_of_a_piece(self.d) * self.d <= self.keep:
                    self.held[number] = operand
            yield part, operand

    def at_hand(self, idx) -> Iterator[tuple[slice, Operand, np.ndarray]]:
        """The examples idx (m,), a piece of them at a time: (which of them, an operand of these, where)."""
        for some in pieces(len(idx), self.d):
            yield some, Operand(self.rows(idx[some])), np.arange(some.stop - some.start)

    def take(self, idx, kernel: Kernel, cols: slice | None = None, out=None) -> np.ndarray:
        """As of an Operand."""
        start, stop, _ = (cols or slice(None)).indices(self.n)
        A, sq = self.rows(idx), self.sq[idx]
        out = np.empty((len(A), stop - start), np.float32) if out is None else out
        for part, operand in self.pieces():
            first, last = max(part.start, start), min(part.stop, stop)
            if first < last:
                within = slice(first - part.start, last - part.start)
                out[:, first - start : last - start] = operand.product(A, sq, kernel, within)
        return out
