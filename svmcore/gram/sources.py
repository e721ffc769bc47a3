"""Gram matrices as a solver sees them: n, the diagonal, and rows on request.

    rows(idx)[a, j] = K(x_idx[a], x_j)        idx (m,) int64, rows (m, n) float32

Everything else follows from rows, and an implementation that knows better overrides it: `square`, the Gram matrix of a
few examples, and `add_to`, the update of decision values f += sum_a coef_a K_a. A source that holds all of K in memory
has it in `blocks` and `which` (smo.py), and a solver may read it there.

    Dense      the whole matrix
    Streamed   nothing: a value is computed when it is asked for, added to f, and forgotten
    Cached     rows computed in blocks, kept as long as its byte budget allows

Streamed is what kernels of inner products are best served by: K of 60000 digits and their 17000 support vectors is
computed in less time than its 4 GB take to be written and read again. Cached is for kernels whose values are dearer
than memory. Both serve all one-vs-rest machines at once, since rows do not depend on labels. Budgets count what grows
with the data; `evaluations` counts kernel values, so that costs repeat exactly.
"""

from __future__ import annotations

from threading import Lock

import numpy as np
from numba import njit

from svmcore.gram.products import Operand, side_by_side
from svmcore.kernels import Kernel

PLAIN = np.zeros((1, 1), np.int64)  # `which` of a matrix in one block
CHUNK = 256  # rows a step computes or adds between two looks at whether to go on


def proceed() -> None:
    """The check of a caller that never stops; others raise from theirs."""


class Gram:
    """Base of all Gram sources: a subclass gives `n`, `diag` (n,) float32 and `rows`."""

    n: int
    diag: np.ndarray
    blocks: np.ndarray | None = None  # (number of blocks, n0, n0) float32 where all of K is in memory
    which: np.ndarray | None = None  # (J, J) int64
    whole: bool = False  # all of K is in memory, or small enough for a solver to ask for the square of all examples

    def __init__(self):
        self.evaluations = self.hits = self.misses = 0
        self._count_lock = Lock()

    def rows(self, idx) -> np.ndarray:
        """Rows idx (m,) of the Gram matrix: (m, n) float32."""
        raise TypeError(f"{type(self).__name__} does not say how rows are made")

    def square(self, idx, check=proceed, out=None) -> np.ndarray:
        """The Gram matrix of the examples idx (m,): (m, m) float32, into `out` if given; `check` as for `add_to`."""
        out = np.empty((len(idx), len(idx)), np.float32) if out is None else out
        for places in chunks(np.arange(len(idx))):
            check()
            out[places] = self.rows(idx[places])[:, idx]
        return out

    def add_to(self, F, idx, coef, cols=None, check=proceed) -> None:
        """F (k, m') float64 += coef (k, m) @ rows(idx)[:, cols], cols (m',) examples, None all; `check` is called
        between steps and may raise to stop."""
        cols = slice(None) if cols is None else cols
        for part in chunks(np.arange(len(idx))):
            check()
            F += coef[:, part].astype(np.float32) @ self.rows(idx[part])[:, cols]

    def _count(self, evaluations=0, hits=0, misses=0) -> None:
        with self._count_lock:
            self.evaluations += evaluations
            self.hits += hits
            self.misses += misses


class Dense(Gram):
    """The whole Gram matrix K (n, n) float32 in memory."""

    whole = True

    def __init__(self, K):
        super().__init__()
        self.K = np.ascontiguousarray(K, np.float32)
        if self.K.ndim != 2 or self.K.shape[0] != self.K.shape[1]:
            raise ValueError(f"a Gram matrix is square; got shape {self.K.shape}")
        self.n = len(self.K)
        self.diag = self.K.diagonal().copy()
        self.blocks, self.which = self.K[None], PLAIN

    def rows(self, idx):
        self._count(hits=len(idx))
        return self.K[idx]


class Streamed(Gram):
    """Kernel values computed anew each time, from an operand and a kernel.

    whole: a solver may ask for the square of all examples at once. Once made it is kept, in `blocks`.
    """

    def __init__(self, operand: Operand, kernel: Kernel, whole: bool = False):
        super().__init__()
        self.operand, self.kernel, self.n, self.whole = operand, kernel, operand.n, whole
        self.diag = kernel.diag(operand.X)
        self._narrow: tuple = (None, operand)  # examples, and their operand

    def rows(self, idx):
        self._count(evaluations=len(idx) * self.n)
        return self.operand.take(np.asarray(idx), self.kernel)

    def square(self, idx, check=proceed, out=None):
        idx = np.asarray(idx)
        self._count(len(idx) * (len(idx) + 1) // 2)
        if len(idx) < self.n:
            return symmetric(self.operand.subset(idx), self.kernel, check, out)
        out = symmetric(self.operand, self.kernel, check, out)
        self.blocks, self.which = out[None], PLAIN
        return out

    def add_to(self, F, idx, coef, cols=None, check=proceed):
        if self._narrow[0] is not cols:
            self._narrow = cols, self.operand if cols is None else self.operand.subset(cols)
        columns, coef = self._narrow[1], coef.astype(np.float32)
        for part in chunks(np.arange(len(idx))):
            check()
            of = idx[part]
            columns.add_to(F, self.operand.X[of], self.operand.sq[of], self.kernel, coef[:, part])
        self._count(evaluations=len(idx) * columns.n)


class Cached(Streamed):
    """Rows computed in blocks and kept up to `budget_bytes`; the least recently used make room."""

    def __init__(self, operand: Operand, kernel: Kernel, budget_bytes: int):
        super().__init__(operand, kernel)
        self.capacity = int(min(self.n, max(budget_bytes // (4 * self.n), 0)))
        self.store = np.empty((self.capacity, self.n), np.float32)
        self.slot = np.full(self.n, -1, np.int64)  # example -> slot of the store, -1 = not held
        self.owner = np.full(self.capacity, -1, np.int64)  # slot -> example
        self.stamp = np.zeros(self.capacity, np.int64)
        self.clock = 0

    def rows(self, idx):
        idx = np.asarray(idx)
        out = np.empty((len(idx), self.n), np.float32)
        held = self._touch(idx)
        out[held] = self.store[self.slot[idx[held]]]
        missing = np.flatnonzero(~held)
        for part in chunks(missing):
            out[part] = self._compute(idx[part])
        return out

    def add_to(self, F, idx, coef, cols=None, check=proceed):
        idx, coef = np.asarray(idx), coef.astype(np.float32)
        cols = slice(None) if cols is None else cols
        held = self._touch(idx)
        by_slot = np.zeros((len(coef), self.capacity), np.float32)
        by_slot[:, self.slot[idx[held]]] = coef[:, held]
        in_use = np.flatnonzero(by_slot.any(0)) // CHUNK
        for start in np.unique(in_use) * CHUNK:
            check()
            F += (by_slot[:, start : start + CHUNK] @ self.store[start : start + CHUNK])[:, cols]
        for part in chunks(np.flatnonzero(~held)):
            check()
            F += (coef[:, part] @ self._compute(idx[part]))[:, cols]

    def square(self, idx, check=proceed, out=None):
        idx = np.asarray(idx)
        held = self.slot[idx] >= 0
        inside, outside = np.flatnonzero(held), np.flatnonzero(~held)
        if len(inside) == 0:
            return super().square(idx, check, out)
        out = np.empty((len(idx), len(idx)), np.float32) if out is None else out
        for places in chunks(inside):
            check()
            _gather(self.store, self.slot[idx[places]], idx, places, out)
        if len(outside):
            out[np.ix_(outside, inside)] = out[np.ix_(inside, outside)].T
            out[np.ix_(outside, outside)] = super().square(idx[outside], check)
        self._count(hits=len(inside), misses=len(outside))
        return out

    def _touch(self, idx) -> np.ndarray:
        """Mask of the examples whose rows are held; those become the most recently used."""
        self.clock += 1
        slots = self.slot[idx]
        held = slots >= 0
        self.stamp[slots[held]] = self.clock
        self._count(hits=int(held.sum()), misses=int((~held).sum()))
        return held

    def _compute(self, idx) -> np.ndarray:
        """Rows of examples that are not held, entered where older ones make room."""
        slots = self._room(len(idx))
        together = len(slots) == len(idx) and slots[-1] - slots[0] == len(slots) - 1
        out = self.store[slots[0] : slots[-1] + 1] if together else np.empty((len(idx), self.n), np.float32)
        self.operand.take(idx, self.kernel, out=out)
        self._count(evaluations=len(idx) * self.n)
        if not together:
            self.store[slots] = out[: len(slots)]
        entered = idx[: len(slots)]
        self.slot[entered], self.owner[slots], self.stamp[slots] = slots, entered, self.clock
        return out

    def _room(self, m: int) -> np.ndarray:
        """Up to m slots, ascending: the free ones, then those least recently used, never one used in this same call."""
        old = np.flatnonzero(self.stamp < self.clock)
        slots = np.sort(old[np.argsort(self.stamp[old], kind="stable")[:m]])
        evicted = self.owner[slots]
        self.slot[evicted[evicted >= 0]] = -1
        return slots


def symmetric(operand: Operand, kernel: Kernel, check=proceed, out=None) -> np.ndarray:
    """Gram matrix (n, n) float32 of the operand's examples; only the part right of the block diagonal is computed."""
    n = operand.n
    K = np.empty((n, n), np.float32) if out is None else out
    for start in range(0, n, CHUNK):
        check()
        part = slice(start, min(n, start + CHUNK))
        operand.take(part, kernel, slice(start, n), K[part, start:])
    transpose_into(K, K)
    return K


def transpose_into(target, source) -> None:
    """target = source.T; of one and the same matrix, its part right of the diagonal is mirrored."""
    n, same = len(source), target is source
    side_by_side(_transpose, [(target, source, top, min(top + CHUNK, n), same) for top in range(0, n, CHUNK)])


def chunks(idx):
    """idx in stretches of CHUNK."""
    return (idx[start : start + CHUNK] for start in range(0, len(idx), CHUNK))


@njit(cache=True, nogil=True)
def _gather(store, slots, columns, places, out):
    for a in range(slots.shape[0]):
        row, target = store[slots[a]], out[places[a]]
        for j in range(columns.shape[0]):
            target[j] = row[columns[j]]


@njit(cache=True, nogil=True)
def _transpose(target, source, top, bottom, same):
    """Rows top <= i < bottom of source become columns of target, by blocks that stay in cache."""
    n = source.shape[0]
    for left in range(0, n, 64):
        for i in range(top, bottom):
            row = source[i]
            for j in range(max(left, i + 1) if same else left, min(n, left + 64)):
                target[j, i] = row[j]
