"""The paper's own solver: SMO by full and inbounds passes over a cache of R kernel rows, with digestion.

A full pass visits every example i, computes its output from all present SVs,

    f_i = sum_j alpha_j y_j K_ij - y_i,

and steps with the worst partner known where the KKT conditions are violated (Keerthi et al. 2001, modification 2). An
inbounds pass steps with the pair among 0 < alpha < C that gains most, or with the worst, until none violates. Training
ends after a full pass without a step: gap <= tol.

Every SV holds a cache row, filled entry by entry, as long as its alpha is above 0; an SV that found the cache full has
its kernel values computed again and again (section 4.1: rows are hoarded). Without hoarding rows go to the examples
that moved last, whether they still are SVs or not. During a full pass the SVs bulge beyond their final number.
Digestion jumps out of the pass into an inbounds pass when they have grown too much; the full pass after it begins at
the example at which it jumped out, and like every full pass goes once round all n. DeCoste and Schölkopf (2002),
section 4.2; the five rules of `Digestion` are theirs, in their order of priority. Costs are counted in kernel
evaluations, so that a run repeats exactly.

With `one_pass` the solver is LASVM (Bordes, Ertekin, Weston and Bottou, JMLR 6, 2005), which came to much the same from
online learning: the only full pass is its PROCESS, a step of the SVs after each example its REPROCESS, the inbounds
pass at the end its FINISHING. f is kept up to date of SVs at C, too. An SV whose alpha becomes 0 is dropped at once;
LASVM drops it with the next REPROCESS, unless it violates. What gap is left is computed on the SVs and on LOOKED_AT
other examples, so that it is at least so large.

What it saves is measured by tests/bench/digestion.py and told in tests/bench/NOTES.md.
"""

import time
from typing import NamedTuple

import numpy as np

from svmcore.gram.products import Operand
from svmcore.gram.sources import Streamed, Work
from svmcore.kernels import Kernel, taken_apart
from svmcore.solvers.digestion.passes import _burst, _outputs
from svmcore.solvers.digestion.rules import Digestion
from svmcore.solvers.digestion.state import COUNTERS, DONE, FULL, VIOLATIONS, State
from svmcore.solvers.exact import TRIES, Exact
from svmcore.solvers.progress import Solution, Standing, Stopped
from svmcore.solvers.session import Session, ending
from svmcore.solvers.smo import kkt_gap

__all__ = ["Costs", "Digestion", "solve"]

BURST = 150_000  # kernel evaluations, or as many look-ups, between two reports
LOOKED_AT = 1000  # examples beside the SVs that say which gap one pass has left
FRESH_GAP = 2.0  # of a machine without support vectors
STILL = np.zeros((1, 2), np.int64)  # the only move of a kernel that moves nothing


class Costs(NamedTuple):
    """What a stage took, all its machines together."""

    n: int  # examples
    rows: int  # of the cache
    values: int  # kernel values computed
    lookups: int  # kernel values found in the cache
    updates: int  # of f, one for each example that is kept up to date and each step
    steps: int
    passes: int  # full ones
    jumps: int  # digestions
    sv_most: int  # support vectors of one machine, at most at once
    entries_most: int  # kernel values in the cache, at most at once
    products: int  # inner products that a kernel value takes
    seconds: float  # of the processor, without the first burst, in which compiled code is loaded

    def summary(self) -> dict:
        """JSON-able."""
        return self._asdict()


def solve(
    operand: Operand,
    kernel: Kernel,
    Y,
    C,
    session: Session,
    *,
    tol=1e-3,
    stage="train",
    whole=None,
    cache_bytes=2**30,
    seed=0,
    settings: Digestion | None = None,
) -> Solution:
    """Solve the machines of Y (k, n), C (k, n) one after the other, each with a row cache of `cache_bytes`. seed: draws
    the examples by which values in double precision are checked.

    TypeError for a kernel that compiled code does not know: it takes those with a `code`, and those that are the
    largest value of one over shifts of an image. Arguments and Solution as of decomposition.solve. The session's trace
    is the Costs.
    """
    if not (kernel.moved or [kernel])[0].compiled:
        known = "a function of inner products with compiled code, or the largest such value over shifts"
        raise TypeError(f"kernel {kernel.name} is not {known}; allowed: another solver")
    return _Machines(
        operand, kernel, Y, C, session, tol, stage, whole, cache_bytes, seed, settings or Digestion()
    ).run()


class _Machines:
    def __init__(self, operand, kernel, Y, C, session, tol, stage, whole, cache_bytes, seed, settings):
        self.session, self.tol = session, tol
        self.Y, self.C = np.asarray(Y, float), np.asarray(C, float)
        self.rules = settings.compiled
        self.k, self.n = self.Y.shape
        base, moves, shape = kernel.moved or (kernel, STILL, (1, 1, 1))
        self.code, self.diag, self.moves = base.code(), kernel.diag(operand.X), np.ascontiguousarray(moves, np.int64)
        self.shape = np.array([*shape, 1][:3], np.int64)
        self.X, self.side = taken_apart(operand.X, operand.apart(kernel)[0], operand.sq)
        self.settings, self.clock, self.rng = settings, 0.0, np.random.default_rng(seed)
        self.store = np.empty((settings.rows_of(self.n, cache_bytes), self.n), np.float32)
        self.alpha, self.f = np.zeros_like(self.Y), -self.Y
        self.gaps, self.bias, self.duals = np.full(self.k, FRESH_GAP), np.zeros(self.k), np.zeros(self.k)
        self.exact = Exact(Streamed(operand, kernel), self.Y, self.C, tol, session, self.rng)
        self.counts, self.limit = np.zeros(self.k, COUNTERS).view(np.recarray), session.iteration_limit(self.n)
        session.begin(stage, lambda: whole(self.standing()) if whole else self.standing())

    def run(self) -> Solution:
        why = "stopped"
        try:
            self.session.check()
            for m in range(self.k):
                self._solve(m)
            why = ending(self.gaps, self.tol, self.counts.steps, self.limit)
            if self.settings.one_pass and (why or self.n > LOOKED_AT):
                why = f"one pass over the examples ended at a gap of {self.gaps.max():.2g} or more"
        except Stopped:
            pass
        self.session.trace = self._costs()
        return Solution(self.alpha, self.bias, self.gaps, not why, self.counts.steps.copy(), why)

    def _solve(self, m) -> None:
        """Machine m, passes until its exact gap is at most tol, or does not come there."""
        state = self._state(m)
        if self.settings.one_pass and state is not None:
            self._passes(m, state)
            self._look(m)
            self.session.check()
            return
        for _ in range(TRIES):
            if state is not None:
                self._passes(m, state)
            self.gaps[m], self.bias[m] = self.exact.gap(m, self.alpha[m], self.f[m])
            self.session.check()
            if self.exact.known[m] or self.counts[m].steps >= self.limit:
                return
            count = state.count
            count.phase, count.seen, count.changed, count.at = FULL, 0, 0, 0

    def _look(self, m) -> None:
        """The gap of machine m on its SVs and on some other examples. Its kernel values are not counted: the machine
        does not need them."""
        support = np.flatnonzero(self.alpha[m] > 0)
        at = np.union1d(support, self.rng.permutation(self.n)[:LOOKED_AT])
        coef = (self.alpha[m] * self.Y[m])[support]
        self.f[m, at] = self.exact.gram.exact_sums(at, support, coef, Work()) - self.Y[m, at]
        self.gaps[m], self.bias[m] = kkt_gap(self.Y[m, at], self.C[m, at], self.alpha[m, at], self.f[m, at])

    def _passes(self, m, state) -> None:
        """Full and inbounds passes to the machine's target, then f of all examples, unless one pass is all."""
        while state.count.phase != DONE and state.count.steps < self.limit:
            before = state.count.copy()
            pairs = state.count.steps + (self.session.burst or self.limit)
            start = time.thread_time()
            _burst(state, self.rules, self.exact.target[m], BURST, min(self.limit, int(pairs)))
            self.clock += (time.thread_time() - start) * bool(before.steps)
            self._tell(m, state, before)
        first = self.n if self.settings.one_pass else 0
        while first < self.n:
            before = state.count.copy()
            first = _outputs(state, first, BURST)
            self._tell(m, state, before)

    def _costs(self) -> Costs:
        summed, largest = ("evals", "hits", "updates", "steps", "passes", "jumps"), ("sv_most", "entries_most")
        counted = (int(self.counts[name].sum()) for name in summed)
        most = (int(self.counts[name].max()) for name in largest)
        return Costs(self.n, len(self.store), *counted, *most, len(self.moves), self.clock)

    def _tell(self, m, state, before) -> None:
        """Count what a burst has cost, and report: the gap is the largest violation that is known of."""
        evals, hits, steps = (int(state.count[name] - before[name]) for name in ("evals", "hits", "steps"))
        self.session.count(evaluations=evals, hits=hits, misses=evals, iterations=steps)
        violations = state.edge[1] - state.edge[0], state.seen.worst, state.seen.worst_before
        self.gaps[m], self.bias[m], self.duals[m] = max(violations), -state.edge.mean(), state.seen.dual
        self.session.check()

    def _state(self, m) -> State | None:
        """Machine m at its start; None where one class has no example that may become a support vector."""
        n, y = self.n, self.Y[m]
        up, low = (np.flatnonzero((y == side) & (self.C[m] > 0)) for side in (1, -1))
        if not len(up) or not len(low):
            return None
        self.store.fill(np.nan)
        slot, sv, sv_at, inside, inside_at = (np.full(n, -1, np.int64) for _ in range(5))
        count = self.counts[m]
        count.n_free, count.phase, count.i_up, count.i_low = len(self.store), FULL, up[0], low[0]
        return State(
            X=self.X,
            side=self.side,
            moves=self.moves,
            shape=self.shape,
            diag=self.diag,
            code=self.code,
            y=y,
            C=self.C[m],
            alpha=self.alpha[m],
            f=self.f[m],
            store=self.store,
            slot=slot,
            free=np.arange(len(self.store), dtype=np.int64),
            owner=np.full(len(self.store), -1, np.int64),
            used=np.zeros(len(self.store), np.int64),
            hoard=self.settings.hoard,
            second_order=self.settings.second_order,
            order=self.rng.permutation(n) if self.settings.one_pass else np.arange(n),
            one_pass=self.settings.one_pass,
            sv=sv,
            sv_at=sv_at,
            inside=inside,
            inside_at=inside_at,
            count=count,
            edge=np.array([-1.0, 1.0]),
            seen=np.rec.array([(0.0, FRESH_GAP, FRESH_GAP)], VIOLATIONS)[0],
        )

    def standing(self) -> Standing:
        """How the machines stand; those to come have no support vectors yet."""
        return Standing.of(self.Y, self.C, self.alpha, self.bias, self.gaps, self.duals.sum())
