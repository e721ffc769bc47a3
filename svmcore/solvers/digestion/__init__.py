"""The paper's own solver: SMO by full and inbounds passes over a cache of R kernel rows, with digestion.

A full pass visits every example i, computes its output from all present SVs,

    f_i = sum_j alpha_j y_j K_ij - y_i,

and steps with the worst partner known where the KKT conditions are violated (Keerthi et al. 2001, modification 2). An
inbounds pass steps with the worst pair among 0 < alpha < C until none violates. Training ends after a full pass without
a step: gap <= tol.

Every SV holds a cache row, filled entry by entry, as long as its alpha is above 0; an SV that found the cache full has
its kernel values computed again and again. During a full pass the SVs bulge beyond their final number. Digestion jumps
out of the pass into an inbounds pass when they have grown too much; the full pass after it begins at the example at
which it jumped out, and like every full pass goes once round all n. DeCoste and Schoelkopf (2002), section 4.2; the
five rules of `Digestion` are theirs, in their order of priority. Costs are counted in kernel evaluations, so that a run
repeats exactly.

Measured (tests/bench/digestion.py: n = 14247 virtual examples, 1151 SVs, rules chosen there): beside the same solver
without digestion 1.3 times fewer kernel values with a cache for a third of the SVs, 1.4 for half of them, 1.9 for all;
the paper says over 5 times for some of its machines. Without digestion the SVs bulge to twice their final number, in
the first pass only, and each of the four or five passes computes (n - S)(S - R) values of uncached SVs with digestion
or without: with R = S / 3 that alone is two fifths of all that is computed without digestion. Rule 2 as published
digests every few hundred examples there, which costs more steps than it saves; with more SVs among the examples (a
third and over) the gain is gone.
"""

from __future__ import annotations

import time

import numpy as np

from svmcore.gram.products import Operand
from svmcore.kernels import Kernel
from svmcore.solvers.digestion.passes import _burst, _outputs
from svmcore.solvers.digestion.rules import Digestion, compiled
from svmcore.solvers.digestion.state import (
    DONE,
    EVALS,
    FULL,
    HITS,
    I_LOW,
    I_UP,
    N_COUNTERS,
    N_FREE,
    PHASE,
    STEPS,
    State,
)
from svmcore.solvers.progress import Monitor, Progress, Snapshot, Solution
from svmcore.solvers.smo import dual_objective, kkt_gap

__all__ = ["Digestion", "solve"]

BURST = 150_000  # kernel evaluations, or as many look-ups, between two reports


def solve(
    operand: Operand,
    kernel: Kernel,
    Y,
    C,
    *,
    tol=1e-3,
    monitor: Monitor | None = None,
    stage="train",
    cache_bytes=2**30,
    settings: Digestion | None = None,
) -> Solution:
    """Solve the machines of Y (k, n), C (k, n) one after the other, each with a row cache of `cache_bytes`.

    TypeError for a kernel that is not a function of inner products. Returns a Solution, as decomposition.solve does.
    """
    return _Machines(operand, kernel, Y, C, tol, monitor, stage, cache_bytes, settings or Digestion()).run()


class _Machines:
    def __init__(self, operand, kernel, Y, C, tol, monitor, stage, cache_bytes, settings):
        self.operand, self.kernel, self.Y, self.C = operand, kernel, np.asarray(Y, float), np.asarray(C, float)
        self.tol, self.monitor, self.stage = tol, monitor, stage
        self.rules = compiled(settings)
        self.k, self.n = self.Y.shape
        self.code, self.diag = kernel.code(), kernel.diag(operand.X)
        rows = int(min(self.n, cache_bytes // (4 * self.n), self.n if settings.rows is None else settings.rows))
        self.store = np.empty((rows, self.n), np.float32)
        self.alpha, self.f = np.zeros_like(self.Y), -self.Y
        self.gaps, self.bias = np.full(self.k, np.inf), np.zeros(self.k)
        self.counts = np.zeros((self.k, N_COUNTERS), np.int64)
        self.history, self.started, self.stopped = [], time.perf_counter(), False

    def run(self) -> Solution:
        converged = self._report()
        for m in range(self.k):
            converged = self._solve(m) and converged
        steps = int(self.counts[:, STEPS].sum())
        return Solution(self.alpha, self.bias, self.gaps, converged, steps, self.history)

    def _solve(self, m) -> bool:
        state = self._state(m)
        going = not self.stopped
        while going and state.count[PHASE] != DONE:
            _burst(state, self.rules, self.tol, BURST)
            self.gaps[m], self.bias[m] = max(state.edge[1] - state.edge[0], 0), -state.edge.mean()
            going = self._report()
        if state.count[PHASE] == DONE:
            _outputs(state, self.f[m])
            self.gaps[m], self.bias[m] = kkt_gap(self.Y[m], self.C[m], self.alpha[m], self.f[m])
            self._report()
        return bool(state.count[PHASE] == DONE)

    def _state(self, m) -> State:
        n, y = self.n, self.Y[m]
        self.store.fill(np.nan)
        lists = [np.full(n, -1, np.int64) for _ in range(5)]
        count = self.counts[m]
        usable = self.C[m] > 0
        count[[N_FREE, PHASE]] = len(self.store), FULL
        count[I_UP], count[I_LOW] = np.flatnonzero((y > 0) & usable)[0], np.flatnonzero((y < 0) & usable)[0]
        slot, sv, sv_at, inside, inside_at = lists
        return State(
            self.operand.X, self.operand.sq, self.diag, self.code, y, self.C[m], self.alpha[m], self.f[m], self.store,
            slot, np.arange(len(self.store), dtype=np.int64), sv, sv_at, inside, inside_at, count, np.array([-1.0,
            1.0]),
        )  # fmt: skip

    def _report(self) -> bool:
        """Publish a Progress; False where the monitor wants an end."""
        alpha, Y, bias = self.alpha.copy(), self.Y, self.bias.copy()

        def snapshot():
            support = np.flatnonzero((alpha > 0).any(0))
            return Snapshot(support, (alpha * Y)[:, support], bias, ((alpha > 0) & (alpha >= self.C))[:, support])

        total = self.counts.sum(axis=0)
        finite = np.where(np.isfinite(self.gaps), self.gaps, 2.0)
        progress = Progress(
            stage=self.stage,
            iterations=int(total[STEPS]),
            gap=float(finite.max()),
            gaps=tuple(finite),
            dual=float(sum(dual_objective(*machine) for machine in zip(Y, alpha, self.f, strict=True))),
            n_sv=int(np.count_nonzero(alpha > 0)),
            n_bound=int(np.count_nonzero((alpha > 0) & (alpha >= self.C))),
            kernel_evals=int(total[EVALS]),
            cache_hits=int(total[HITS]),
            cache_misses=int(total[EVALS]),
            seconds=round(time.perf_counter() - self.started, 3),
            snapshot=snapshot,
        )
        self.history.append(progress._replace(snapshot=None))
        self.stopped = self.stopped or (self.monitor is not None and not self.monitor(progress))
        return not self.stopped
