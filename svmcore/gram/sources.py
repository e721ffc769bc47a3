"""Gram matrices as a solver sees them: n, the diagonal, and rows on request.

    rows(idx)[a, j] = K(x_idx[a], x_j)        idx (m,) int64, rows (m, n) float32

Everything else follows from rows, and a source that knows better overrides it: `square`, the Gram matrix of a few
examples; `add_to`, the update of decision values f += sum_a coef_a K_a; `exact_sums`, such sums in double precision for
a few examples. A source that holds all of K in memory has it in `blocks`, `which` and `rest` (smo.py), where a solver
reads it.

    Dense      the whole matrix
    Streamed   nothing: a value is computed when it is asked for, added to f, and forgotten; up to TINY examples'
               values in double precision are kept, as every machine asks for most of them
    Cached     rows computed in blocks, kept as long as its byte budget allows

Streamed is what kernels of inner products are best served by: K of 60000 digits and their 17000 support vectors is
computed in less time than its 4 GB take to be written and read again. Cached is for kernels whose values are dearer
than memory. All serve all one-vs-rest machines at once, since rows do not depend on labels.

A source never changes under its user and may be shared between fits, in turn or at the same time: what it costs is
counted by the fit that asks, in the Work that comes with every question.
"""

from threading import Lock

import numpy as np

from svmcore.gram.filed import FiledOperand
from svmcore.gram.moves import mirror, pick
from svmcore.gram.products import Operand
from svmcore.gram.threads import CORES, side_by_side
from svmcore.kernels import Kernel

PLAIN = np.zeros((1, 1), np.int64)  # `which` of a matrix in one block
NO_REST = np.empty((0, 0), np.float32), np.empty((0, 0), np.float32)  # where blocks describe all examples
STEP = 256  # rows computed or added between two looks at whether to go on
TINY = 256  # examples up to which all values in double precision are kept, half a MB
TILE = 500  # rows and columns of double precision values that one core computes at a time


class Work:
    """Kernel values that one user of a source has caused, and whether to go on with it."""

    evaluations: int
    hits: int  # rows that were there
    misses: int

    def __init__(self):
        self.evaluations = self.hits = self.misses = 0
        self._counting = Lock()

    def check(self) -> None:
        """Called between pieces of at most some tens of milliseconds; a user who may want to stop raises here."""

    def check_when_due(self) -> None:
        """As `check`, between pieces that may take no time."""
        self.check()

    def count(self, evaluations=0, hits=0, misses=0) -> None:
        with self._counting:
            self.evaluations += evaluations
            self.hits += hits
            self.misses += misses


class Gram:
    """Base of all Gram sources: a subclass gives `n`, `diag` (n,) float32 and `rows`."""

    n: int
    diag: np.ndarray
    blocks: np.ndarray | None = None  # (number of blocks, n0, n0) float32 where all of K is in memory
    which: np.ndarray | None = None  # (J, J) int64
    rest: tuple[np.ndarray, np.ndarray] = NO_REST  # rows and columns of the examples that no block describes
    whole: bool = False  # all of K is in memory, or small enough for a solver to ask for the square of all examples
    nbytes: int = 0  # held, the examples among them
    width: int = 0  # features of an example, where the source has examples
    double: bool = False  # `exact_sums` has values of more digits than `rows`

    @property
    def values(self) -> tuple | None:
        """(blocks, which, rest), as `smo.pairs` takes them; None where not all of K is in memory."""
        return None if self.blocks is None else (self.blocks, self.which, self.rest)

    def lengths(self) -> np.ndarray:
        """(n,) float64 sqrt(K_ii): the loss by single precision in a row's values grows with it (Cauchy-Schwarz)."""
        return np.sqrt(np.abs(self.diag.astype(np.float64)))

    def in_memory(self, K) -> "Dense":
        """The same source with K (n, n) float32, its square of all examples, in memory."""
        return Dense(K, self)

    def rows(self, idx, work: Work) -> np.ndarray:
        """Rows idx (m,) of the Gram matrix: (m, n) float32."""
        raise TypeError(f"{type(self).__name__} does not define how rows are computed")

    def exact_sums(self, idx, cols, coef, work: Work) -> np.ndarray:
        """sum_b coef[b] K(x_idx[a], x_cols[b]) (m,) float64, of values as exact as this source has them."""
        sums = np.zeros(len(idx))
        for part in steps(np.arange(len(idx))):
            work.check_when_due()
            sums[part] = self.rows(idx[part], work)[:, cols].astype(np.float64) @ coef
        return sums

    def exact(self, idx, cols, work: Work) -> np.ndarray:
        """K(x_idx[a], x_cols[b]) (m, m') float64, as exact as this source has them."""
        return self.between(idx, cols, work).astype(np.float64)

    def square(self, idx, work: Work, out=None) -> np.ndarray:
        """The Gram matrix of the examples idx (m,): (m, m) float32, into `out` if given."""
        return self.between(idx, idx, work, out)

    def extend(self, idx, first: int, K, work: Work) -> None:
        """Complete K (m, m), the Gram matrix of the examples idx (m,): its rows and columns from `first` on."""
        self.between(idx[first:], idx, work, K[first:])
        K[:first, first:] = K[first:, :first].T

    def between(self, idx, cols, work: Work, out=None) -> np.ndarray:
        """Kernel values of the examples idx (m,) with cols (m',): (m, m') float32, into `out` if given."""
        out = np.empty((len(idx), len(cols)), np.float32) if out is None else out
        for places in steps(np.arange(len(idx))):
            work.check_when_due()
            out[places] = self.rows(idx[places], work)[:, cols]
        return out

    def columns(self, cols) -> object:
        """The examples cols (m',), None for all, as `add_to` takes them: prepared once for many updates."""
        return slice(None) if cols is None else cols

    def add_to(self, F, idx, coef, columns, work: Work) -> None:
        """F (k, m') float64 += coef (k, m) @ rows(idx)[:, columns], where `columns` is what `columns` made."""
        for part in steps(np.arange(len(idx))):
            work.check_when_due()
            F += coef[:, part].astype(np.float32) @ self.rows(idx[part], work)[:, columns]


class Dense(Gram):
    """The whole Gram matrix K (n, n) in memory: float32 to work with; exact values are those of the source `of` that it
    is the square of, where that has more digits, else K's own as it came."""

    whole = True

    def __init__(self, K, of: Gram | None = None):
        self.given = np.asarray(K)
        if self.given.ndim != 2 or self.given.shape[0] != self.given.shape[1]:
            raise ValueError(f"a Gram matrix must be square; got shape {self.given.shape}")
        self.K, self.of = np.ascontiguousarray(self.given, np.float32), of
        self.n, self.nbytes = len(self.K), self.K.nbytes + (of.nbytes if of else 0)
        self.diag, self.width = (of.diag, of.width) if of else (self.K.diagonal().copy(), 0)
        self.double = of.double if of else self.given.dtype == np.float64
        self.blocks, self.which = self.K[None], PLAIN

    def lengths(self):
        return self.of.lengths() if self.of else super().lengths()

    def rows(self, idx, work):
        work.count(hits=len(idx))
        return self.K[idx]

    def exact(self, idx, cols, work):
        if self.of and self.of.double:
            return self.of.exact(idx, cols, work)
        work.count(hits=len(idx))
        return self.given[np.ix_(idx, cols)].astype(np.float64)

    def exact_sums(self, idx, cols, coef, work):
        if self.of and self.of.double:
            return self.of.exact_sums(idx, cols, coef, work)
        work.count(hits=len(idx))
        sums = np.zeros(len(idx))
        for part in steps(np.arange(len(idx))):
            sums[part] = self.given[np.ix_(idx[part], cols)].astype(np.float64) @ coef
        return sums


class Streamed(Gram):
    """Kernel values computed anew each time, but for those of TINY problems in double precision, from an operand and a
    kernel. whole: a solver may ask for the square of all examples at once, and keep it."""

    n: int
    operand: Operand | FiledOperand
    kernel: Kernel

    def __init__(self, operand: Operand | FiledOperand, kernel: Kernel, whole: bool = False):
        self.operand, self.kernel, self.n, self.whole = operand, kernel, operand.n, whole
        self.double = not kernel.fills
        self.diag = operand.diag(kernel)
        self.nbytes, self.width = operand.X.nbytes + operand.nbytes, operand.d
        self._tiny, self._exact = operand.in_memory and self.n <= TINY, None
        self.nbytes += 8 * self.n**2 * self._tiny

    def lengths(self):
        """Of values that stay below a bound the errors grow with the products that they are made of: |x|^2."""
        bounded = self.kernel.constant_diagonal or not self.kernel.definite
        return self.operand.sq.astype(np.float64) if bounded else super().lengths()

    def rows(self, idx, work):
        work.count(evaluations=len(idx) * self.n)
        return self.operand.take(np.asarray(idx), self.kernel)

    def exact(self, idx, cols, work):
        if not self.double:
            return super().exact(idx, cols, work)
        out, X = np.empty((len(idx), len(cols))), self.operand.X

        def fill(a, b):
            out[a, b] = self.kernel.exact(X[idx[a]], X[cols[b]])

        tiles = [(a, b) for a in _stretches(len(idx)) for b in _stretches(len(cols))]
        for some in (tiles[at : at + CORES] for at in range(0, len(tiles), CORES)):
            work.check_when_due()
            side_by_side(fill, some)
        work.count(evaluations=out.size)
        return out

    def exact_sums(self, idx, cols, coef, work):
        X = self.operand.X
        if self._tiny:
            work.check_when_due()
            work.count(evaluations=len(idx) * len(cols))  # for each fit that asks, computed or kept
            if self._exact is None:
                self._exact = self.kernel.exact(X, X)
            return (self._exact @ np.bincount(cols, coef, self.n))[idx]
        tiles = [(a, b) for a in _stretches(len(idx)) for b in _stretches(len(cols))]
        sums = np.zeros(len(idx))
        part = np.empty((CORES, min(TILE, len(idx))))

        def add(core, a, b):
            part[core, : a.stop - a.start] = self.kernel.exact(X[idx[a]], X[cols[b]]) @ coef[b]

        for some in (tiles[at : at + CORES] for at in range(0, len(tiles), CORES)):
            work.check_when_due()
            side_by_side(add, [(core, a, b) for core, (a, b) in enumerate(some)])
            for core, (a, _) in enumerate(some):
                sums[a] += part[core, : a.stop - a.start]
        work.count(evaluations=len(idx) * len(cols))
        return sums

    def square(self, idx, work, out=None):
        work.count(len(idx) * (len(idx) + 1) // 2)
        everything = len(idx) == self.n and self.operand.in_memory
        operand = self.operand if everything else self.operand.in_all(np.asarray(idx))
        return symmetric(operand, self.kernel, work, out)

    def extend(self, idx, first, K, work):
        m, operand = len(idx), self.operand.in_all(np.asarray(idx))
        work.count((m - first) * (m + first + 1) // 2)
        for top in range(first, m, STEP):
            work.check_when_due()
            part = slice(top, min(m, top + STEP))
            operand.take(part, self.kernel, slice(0, part.stop), K[part, : part.stop])
            mirror(K, part.start, part.stop)

    def between(self, idx, cols, work, out=None):
        columns, X, sq = self.operand.in_all(np.asarray(cols)), self.operand.X, self.operand.sq
        out = np.empty((len(idx), len(cols)), np.float32) if out is None else out
        for part in (slice(a, a + STEP) for a in range(0, len(idx), STEP)):
            work.check_when_due()
            columns.product(X[idx[part]], sq[idx[part]], self.kernel, slice(0, len(cols)), out[part])
        work.count(evaluations=out.size)
        return out

    def columns(self, cols):
        return self.operand if cols is None else self.operand.subset(cols)

    def add_to(self, F, idx, coef, columns, work):
        idx, coef = np.asarray(idx), coef.astype(np.float32)
        for some, own, at in self.operand.at_hand(idx):
            for which, operand in columns.pieces():
                f, weight = np.ascontiguousarray(F[:, which]), coef[:, some]
                for part in steps(np.arange(len(at))):
                    work.check_when_due()
                    operand.add_own_to(f, own, at[part], self.kernel, weight[:, part])
                    work.count(evaluations=len(part) * operand.n)
                if not np.shares_memory(f, F):
                    F[:, which] = f


def symmetric(operand: Operand, kernel: Kernel, work: Work, out=None) -> np.ndarray:
    """Gram matrix (n, n) float32 of the operand's examples; only the part right of the block diagonal is computed."""
    n = operand.n
    K = np.empty((n, n), np.float32) if out is None else out
    for start in range(0, n, STEP):
        work.check_when_due()
        part = slice(start, min(n, start + STEP))
        operand.take(part, kernel, slice(start, n), K[part, start:])
        mirror(K, part.start, part.stop, above=True)
    return K


def _stretches(n: int) -> list[slice]:
    """range(n) in slices of TILE."""
    return [slice(start, min(start + TILE, n)) for start in range(0, n, TILE)]


def steps(idx):
    """idx in stretches of STEP."""
    return (idx[start : start + STEP] for start in range(0, len(idx), STEP))


class Cached(Gram):
    """Rows computed in blocks and kept up to `budget_bytes`; the least recently used make room."""

    def __init__(self, operand: Operand, kernel: Kernel, budget_bytes: int):
        self.operand, self.kernel, self.n = operand, kernel, operand.n
        self.diag = kernel.diag(operand.X)
        self.capacity = int(min(self.n, max(budget_bytes // (4 * self.n), 0)))
        self.store = np.empty((self.capacity, self.n), np.float32)
        self.nbytes, self.width = operand.X.nbytes + operand.nbytes + self.store.nbytes, operand.d
        self.slot = np.full(self.n, -1, np.int64)  # example -> slot of the store, -1 = not held
        self.owner = np.full(self.capacity, -1, np.int64)  # slot -> example
        self.stamp = np.zeros(self.capacity, np.int64)
        self.clock = 0
        self.lock = Lock()  # of the store; held for one step of rows at most

    def rows(self, idx, work):
        idx = np.asarray(idx)
        out = np.empty((len(idx), self.n), np.float32)
        for part in steps(np.arange(len(idx))):
            with self.lock:
                self._take(idx[part], out[part[0] : part[-1] + 1], work)
        return out

    def square(self, idx, work, out=None):
        idx = np.asarray(idx)
        out = np.empty((len(idx), len(idx)), np.float32) if out is None else out
        with self.lock:
            held = self.slot[idx] >= 0
        inside, outside = np.flatnonzero(held), np.flatnonzero(~held)
        for places in steps(inside):
            work.check_when_due()
            pick(self.rows(idx[places], work), idx, places, out)
        if len(outside):
            out[np.ix_(outside, inside)] = out[np.ix_(inside, outside)].T
            work.count(evaluations=len(outside) * (len(outside) + 1) // 2, misses=len(outside))
            out[np.ix_(outside, outside)] = symmetric(self.operand.subset(idx[outside]), self.kernel, work)
        return out

    def _take(self, idx, out, work) -> None:
        """Rows of up to STEP examples into `out`: held ones are copied, others computed and entered."""
        self.clock += 1
        slots = self.slot[idx]
        held = slots >= 0
        self.stamp[slots[held]] = self.clock
        out[held] = self.store[slots[held]]
        missing = np.flatnonzero(~held)
        work.count(evaluations=len(missing) * self.n, hits=len(idx) - len(missing), misses=len(missing))
        if not len(missing):
            return
        fresh = self.operand.take(idx[missing], self.kernel)
        out[missing] = fresh
        slots = self._room(len(missing))
        entered = idx[missing[: len(slots)]]
        self.store[slots] = fresh[: len(slots)]
        self.slot[entered], self.owner[slots], self.stamp[slots] = slots, entered, self.clock

    def _room(self, m: int) -> np.ndarray:
        """Up to m slots, ascending: the free ones, then those least recently used, never one used in this same step."""
        old = np.flatnonzero(self.stamp < self.clock)
        slots = np.sort(old[np.argsort(self.stamp[old], kind="stable")[:m]])
        evicted = self.owner[slots]
        self.slot[evicted[evicted >= 0]] = -1
        return slots
