"""All one-vs-rest machines of one data set solved together, on working sets of their own over one Gram source.

    for machine m of k:   max W_m(alpha_m)   s.t.  0 <= alpha_mi <= C_mi,  sum_i alpha_mi y_mi = 0        (smo.py)

A round solves each machine on its working set S_m (its SVs and its worst violators), whose small Gram matrix is
computed for it; then the rows of all changed examples, one product for all machines, bring the decision values f (k, n)
up to date. Working sets that hold all violators make this the decomposition of Osuna, Freund and Girosi (1997), section
3.2, whose proof of progress needs one violating pair in S_m; where memory allows only part of the SVs the worst
violators still are.

The first round's set is a random sample, the same for all machines. After the second most examples are settled: they
lie farther beyond every machine's margin than NEAR. From then on only the others' f are kept up to date, until no
machine is open. Then the settled examples' f are computed from the SVs, so that gaps are exact over all n; rounds go
on, without leaving any example out, while one is above tol.

Y, alpha, C, f (k, n) float64.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor, wait
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from svmcore.gram.products import one_blas_thread
from svmcore.gram.sources import PLAIN, Gram
from svmcore.solvers import smo
from svmcore.solvers.progress import Monitor, Progress, Snapshot, Solution, Stopped

FIRST = 10_000  # examples of the random sample that the first round works on: a quarter of all, this at most
GROWTH = 12_000  # violators a round adds to a working set, at most
ROUGH = 0.05  # gap at which a round on a sample is left
NEAR = 0.02, 0.05  # y (f + b) up to which an example is near a machine's margin, at least and at most; 0 is on it
MAX_HISTORY = 2000  # reports kept; past it every second one goes
REPORT_SECONDS = 0.04  # between two reports while machines are being solved


class _Seen(NamedTuple):
    """A machine when it was last looked at; never changed."""

    alpha: np.ndarray  # (n,) float64
    gap: float
    bias: float
    dual: float
    n_sv: int
    n_bound: int


def solve(gram: Gram, Y, C, *, tol=1e-3, monitor: Monitor | None = None, stage="train", square_bytes=2**30, seed=0):
    """Solve the k machines with labels Y (k, n) of +1 and -1 and box C (k, n); returns a Solution.

    `square_bytes` is what the Gram matrices of working sets may take at a time. `monitor` gets a Progress at least
    every few dozen milliseconds and stops the solver by returning False; one with an attribute `burst` gets it also
    whenever a machine has worked on so many pairs, which changes nothing in the result.
    """
    with one_blas_thread:
        return _Rounds(gram, Y, C, tol, monitor, stage, square_bytes, seed).run()


class _Rounds:
    """State of one solve: alpha and f of every machine, and what was last seen of those being solved."""

    def __init__(self, gram, Y, C, tol, monitor, stage, square_bytes, seed):
        self.gram, self.tol, self.monitor, self.stage = gram, tol, monitor, stage
        self.Y, self.C = np.ascontiguousarray(Y, np.float64), np.ascontiguousarray(C, np.float64)
        self.k, self.n = self.Y.shape
        self.alpha = np.zeros_like(self.Y)
        self.f = -self.Y
        self.gaps, self.bias = np.full(self.k, np.inf), np.zeros(self.k)
        self.threads = min(2, self.k)
        self.largest = min(self.n, max(int((square_bytes / self.threads / 4) ** 0.5), 64))
        self.spaces = SimpleQueue()  # memory of working sets' Gram matrices, one for each thread
        self.rng = np.random.default_rng(seed)
        self.columns = self._first_set()  # examples whose f is up to date
        self.seen: list[_Seen] = [_Seen(self.alpha[0], np.inf, 0.0, 0.0, 0, 0)] * self.k
        self.iterations, self.history, self.started = 0, [], time.perf_counter()
        self.stopped, self.gate = False, threading.Lock()
        self.burst = getattr(monitor, "burst", None)

    def run(self) -> Solution:
        converged = True
        try:
            self._first_round()
            for narrow in (True, False):
                self._take_in(np.setdiff1d(np.arange(self.n), self.columns))
                while sets := {m: self._working_set(m) for m in self._open()}:
                    self._round(sets)
                    if narrow:
                        self._leave_out_settled()
        except Stopped:
            converged = False
            self.gaps[:], self.bias[:] = zip(*((seen.gap, seen.bias) for seen in self.seen), strict=True)
        self._report()
        return Solution(self.alpha, self.bias, self.gaps, converged, self.iterations, self.history)

    def _first_round(self) -> None:
        """All machines on one set: their Gram matrix is computed once, or is there already."""
        self._check_gaps()
        first = self.columns
        if self.gram.blocks is not None:
            self._round(dict.fromkeys(self._open(), first), (self.gram.blocks, self.gram.which))
            return
        spaces = [np.empty(max(self.largest, len(first)) ** 2, np.float32) for _ in range(self.threads)]
        space = None if len(first) == self.n else _matrix(spaces[0], len(first))  # all of K is the source's to keep
        K = self.gram.square(first, self._check, space)
        self._round(dict.fromkeys(self._open(), first), (K, PLAIN))
        for space in spaces:
            self.spaces.put(space)

    # Which examples

    def _take_in(self, more) -> None:
        """f of examples that were left out so far, from the SVs."""
        if not len(more):
            return
        support = np.flatnonzero((self.alpha > 0).any(0))
        f = -self.Y.take(more, axis=1)
        self.gram.add_to(f, support, (self.alpha * self.Y)[:, support], more, self._check)
        self.f[:, more] = f
        self.columns = np.union1d(self.columns, more)
        self._check_gaps()

    def _leave_out_settled(self) -> None:
        """`columns` become the examples that some machine may still need."""
        at = self.columns
        slack = self.Y[:, at] * (self.f[:, at] + self.bias[:, None])
        self.columns = at[(slack < _margin(self.gaps.max())).any(0) | (self.alpha[:, at] > 0).any(0)]

    def _open(self) -> list[int]:
        """Machines that are not done."""
        return [m for m in range(self.k) if self.gaps[m] > self.tol]

    def _first_set(self) -> np.ndarray:
        """One set for all machines: every example if K fits, else random ones that leave no class out."""
        if self.gram.whole or self.n <= min(self.largest, FIRST // 4):
            return np.arange(self.n)
        size = min(max(self.n, FIRST) // 4, FIRST, self.largest)
        chosen = self.rng.choice(self.n, size, replace=False)
        few = size // (8 * self.k)
        for targets, C in zip(self.Y, self.C, strict=True):
            for label in (1.0, -1.0):
                members = np.flatnonzero((targets == label) & (C > 0))
                chosen = np.union1d(chosen, self.rng.choice(members, min(few, len(members)), replace=False))
        return chosen

    def _working_set(self, m) -> np.ndarray:
        """SVs of machine m and its worst violators; where SVs alone are too many, the worst violators of both kinds."""
        f, alpha, b = self.f[m, self.columns], self.alpha[m, self.columns], self.bias[m]
        up, low = smo.index_sets(self.Y[m, self.columns], self.C[m, self.columns], alpha)
        violation = np.maximum(np.where(up, -b - f, -np.inf), np.where(low, f + b, -np.inf))
        loaded = alpha > 0
        room = self.largest - np.count_nonzero(loaded)
        if room >= min(self.largest // 8, GROWTH):
            violation[loaded] = -np.inf
            chosen = _top(violation, min(room, GROWTH))
            chosen = np.concatenate([np.flatnonzero(loaded), chosen[violation[chosen] > -_margin(self.gaps[m])]])
        else:
            quarter = self.largest // 4
            first, last = _top(np.where(up, -f, -np.inf), quarter), _top(np.where(low, f, -np.inf), quarter)
            free = np.setdiff1d(np.flatnonzero(up & low), np.concatenate([first, last]))
            more = self.rng.choice(free, min(len(free), self.largest // 2), replace=False)
            chosen = np.unique(np.concatenate([first, last, more]))
        return self.columns[np.sort(chosen)]

    # One round

    def _round(self, sets, K=None) -> None:
        """Solve machine m on sets[m], then bring all of f up to date; K = (blocks, which) of a set that all share."""
        before = self.alpha.copy()
        self._solve_sets(sets, K)
        if any(len(chosen) < len(self.columns) for chosen in sets.values()):
            self._refresh(before, sets)
        self._check_gaps()

    def _solve_sets(self, sets, K) -> None:
        """Machines on their working sets, two at a time; the calling thread reports."""
        with ThreadPoolExecutor(self.threads, "machine") as executor:
            pending = {executor.submit(self._solve_set, m, chosen, K) for m, chosen in sets.items()}
            while pending:
                done, pending = wait(pending, timeout=REPORT_SECONDS)
                for future in done:
                    future.result()
                self._report()
        self._halt()

    def _solve_set(self, m, chosen, K) -> None:
        self._halt()
        if K is not None:
            return self._solve_on(m, chosen, K)
        space = self.spaces.get()
        try:
            K = self.gram.square(chosen, self._halt, _matrix(space, len(chosen)))
            return self._solve_on(m, chosen, (K, PLAIN))
        finally:
            self.spaces.put(space)

    def _solve_on(self, m, chosen, K) -> None:
        """Machine m on its working set, whose Gram matrix is K = (blocks, which)."""
        whole = len(chosen) == self.n
        problem = smo.pairs(*K, *(values[m, chosen] for values in (self.Y, self.C, self.alpha, self.f)))
        tol = self.tol if whole else self.tol / 2 if self.alpha[m].any() else max(self.tol / 2, ROUGH)

        def go_on(iterations):
            gap, b = smo.kkt_gap(problem.y, problem.C, problem.alpha, problem.f)
            alpha, f = self.alpha[m].copy(), self.f[m].copy()
            alpha[chosen], f[chosen] = problem.alpha, problem.f
            with self.gate:
                self.iterations += iterations
                self._see(m, alpha, f, gap if whole else max(gap, self.gaps[m]), b)  # of all n, as last seen
            if self.burst:
                self._report()
            return not self.stopped

        smo.solve(problem, tol, go_on, burst=self.burst)
        self.alpha[m, chosen], self.f[m, chosen] = problem.alpha, problem.f

    def _refresh(self, before, sets) -> None:
        """f of the examples outside each working set, by the rows of every example whose alpha changed."""
        change = (self.alpha - before) * self.Y
        idx = np.flatnonzero(change.any(0))
        exact = {m: self.f[m, chosen] for m, chosen in sets.items()}
        f = self.f.take(self.columns, axis=1)
        self.gram.add_to(f, idx, change[:, idx], None if len(self.columns) == self.n else self.columns, self._check)
        self.f[:, self.columns] = f
        for m, chosen in sets.items():
            self.f[m, chosen] = exact[m]

    def _check_gaps(self) -> None:
        at = self.columns
        for m in range(self.k):
            self.gaps[m], self.bias[m] = smo.kkt_gap(self.Y[m, at], self.C[m, at], self.alpha[m, at], self.f[m, at])
            self._see(m, self.alpha[m].copy(), self.f[m], self.gaps[m], self.bias[m])
        self._check()

    # Reports

    def _see(self, m, alpha, f, gap, b) -> None:
        loaded = alpha > 0
        counts = np.count_nonzero(loaded), np.count_nonzero(loaded & (alpha >= self.C[m]))
        self.seen[m] = _Seen(alpha, gap, b, smo.dual_objective(self.Y[m], alpha, f), *counts)

    def _halt(self) -> None:
        """A worker's check: it does not report."""
        if self.stopped:
            raise Stopped

    def _check(self) -> None:
        self._report()
        self._halt()

    def _report(self) -> None:
        """Publish a Progress and ask whether to go on; workers wait at the gate, so a pause holds them too."""
        with self.gate:
            progress = self._progress()
            if self.monitor is not None and not self.monitor(progress):
                self.stopped = True
        self.history.append(progress._replace(snapshot=None))
        if len(self.history) > MAX_HISTORY:
            del self.history[1:-1:2]

    def _progress(self) -> Progress:
        seen, Y = tuple(self.seen), self.Y

        def snapshot():
            alpha = np.array([machine.alpha for machine in seen])
            support = np.flatnonzero((alpha > 0).any(0))
            bound = ((alpha > 0) & (alpha >= self.C))[:, support]
            return Snapshot(support, (alpha * Y)[:, support], np.array([machine.bias for machine in seen]), bound)

        gaps = tuple(float(machine.gap) for machine in seen)
        return Progress(
            self.stage,
            self.iterations,
            max(gaps),
            gaps,
            sum(machine.dual for machine in seen),
            sum(machine.n_sv for machine in seen),
            sum(machine.n_bound for machine in seen),
            self.gram.evaluations,
            self.gram.hits,
            self.gram.misses,
            round(time.perf_counter() - self.started, 3),
            snapshot,
        )


def _matrix(space, n) -> np.ndarray:
    return space[: n * n].reshape(n, n)


def _margin(gap) -> float:
    """How near an example is to a machine's margin if it may still become an SV."""
    return min(max(gap / 20, NEAR[0]), NEAR[1])


def _top(values, count) -> np.ndarray:
    """Indices of the `count` largest finite values."""
    if count < len(values):
        best = np.argpartition(values, len(values) - count)[len(values) - count :]
    else:
        best = np.arange(len(values))
    return best[np.isfinite(values[best])]
