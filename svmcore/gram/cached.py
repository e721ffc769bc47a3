"""Kernel rows kept as long as a byte budget allows: for kernels whose values are dearer than memory."""

from threading import Lock

import numpy as np

from svmcore.gram.moves import pick
from svmcore.gram.products import Operand
from svmcore.gram.sources import Gram, steps, symmetric
from svmcore.kernels import Kernel


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
            work.check()
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
