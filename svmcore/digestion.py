"""The paper's own solver: SMO by full and inbounds passes over a cache of R kernel rows, with digestion.

A full pass visits every example i, computes its output from all present SVs,

    f_i = sum_j alpha_j y_j K_ij - y_i,

and steps with the worst partner known where the KKT conditions are violated (Keerthi et al. 2001, modification 2). An
inbounds pass steps with the worst pair among 0 < alpha < C until none violates. Training ends after a full pass without
a step: gap <= tol.

Every SV holds a cache row, filled entry by entry, as long as its alpha is above 0; an SV that found the cache full has
its kernel values computed again and again. During a full pass the SVs bulge far beyond their final number. Digestion
jumps out of the pass into an inbounds pass when they have grown too much, and returns to the example at which it jumped
out. DeCoste and Schoelkopf (2002), section 4.2; the five rules of `Digestion` are theirs, in their order of priority.
Costs are counted in kernel evaluations, so that a run repeats exactly.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit

from svmcore._jit import FAST
from svmcore.decomposition import Monitor, Progress, Snapshot, Solution
from svmcore.kernels import Kernel, KernelCode, _finish
from svmcore.products import Operand
from svmcore.smo import dual_objective, kkt_gap

BURST = 150_000  # kernel evaluations, or as many look-ups, between two reports
INBOUNDS, FULL, DONE = range(3)
# Places in the counters of a machine
N_SV, N_INSIDE, N_FREE, EVALS, HITS, LOOKS, STEPS, PHASE, AT, CHANGED = range(10)
EVALS_BACK, EVALS_INBOUNDS, SV_BACK, MARK, I_UP, I_LOW, N_COUNTERS = range(10, 17)


@dataclass(frozen=True)
class Digestion:
    """When a full pass is left for an inbounds one; the defaults are the paper's, the highest priority first.

    `new SVs` and `kernel values` count from the last return to the full pass. `growth` is the alternative that the
    paper suggests, a fraction of the SVs at that return; None leaves it out. `on=False` is the same solver without
    digestion.
    """

    on: bool = True
    wait: int = 1000  # 1: no digestion before so many new kernel values
    force: int = 100_000  # 2: digestion after so many
    patience: float = 2.0  # 3: else none before this factor of the last inbounds pass's kernel values
    new_svs_when_full: int = 200  # 4: digestion at so many net new SVs while SVs exceed the cache's rows
    new_svs: int = 1000  # 5: digestion at so many in any case
    growth: float | None = None

    def __post_init__(self):
        for name in ("wait", "force", "patience", "new_svs_when_full", "new_svs"):
            if not getattr(self, name) >= 0:
                raise ValueError(f"digestion: {name} = {getattr(self, name)!r}; allowed: a number from 0")
        if self.growth is not None and not self.growth > 0:
            raise ValueError(f"digestion: growth = {self.growth!r}; allowed: a fraction above 0, or None")


class _Rules(NamedTuple):
    on: bool
    wait: int
    force: int
    patience: float
    new_svs_when_full: int
    new_svs: int
    growth: float


class _State(NamedTuple):
    """One machine, changed in place. Lists are an array of members and every example's place in it (-1: not in it)."""

    X: np.ndarray  # (n, d) float32
    sq: np.ndarray  # (n,) float32, |x|^2
    diag: np.ndarray  # (n,) float32, K_ii
    code: KernelCode
    y: np.ndarray  # (n,) float64
    C: np.ndarray  # (n,) float64
    alpha: np.ndarray  # (n,) float64
    f: np.ndarray  # (n,) float64, up to date inside, and at i_up and i_low
    store: np.ndarray  # (R, n) float32, NaN where not computed yet
    slot: np.ndarray  # (n,) int64, example -> row of the store or -1
    free: np.ndarray  # (R,) int64, a stack of free rows
    sv: np.ndarray  # (n,) int64, examples with alpha > 0
    sv_at: np.ndarray  # (n,) int64
    inside: np.ndarray  # (n,) int64, examples with 0 < alpha < C
    inside_at: np.ndarray  # (n,) int64
    count: np.ndarray  # (N_COUNTERS,) int64
    edge: np.ndarray  # (2,) float64: b_up = f at i_up, b_low = f at i_low


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
    settings: Digestion = Digestion(),
) -> Solution:
    """Solve the machines of Y (k, n), C (k, n) one after the other, each with a row cache of `cache_bytes`.

    TypeError for a kernel that is not a function of inner products. Returns a Solution, as decomposition.solve does.
    """
    return _Machines(operand, kernel, Y, C, tol, monitor, stage, cache_bytes, settings).run()


class _Machines:
    def __init__(self, operand, kernel, Y, C, tol, monitor, stage, cache_bytes, settings):
        self.operand, self.kernel, self.Y, self.C = operand, kernel, np.asarray(Y, float), np.asarray(C, float)
        self.tol, self.monitor, self.stage = tol, monitor, stage
        self.rules = _rules(settings)
        self.k, self.n = self.Y.shape
        self.code, self.diag = kernel.code(), kernel.diag(operand.X)
        rows = int(min(self.n, cache_bytes // (4 * self.n)))
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

    def _state(self, m) -> _State:
        n, y = self.n, self.Y[m]
        self.store.fill(np.nan)
        lists = [np.full(n, -1, np.int64) for _ in range(5)]
        count = self.counts[m]
        usable = self.C[m] > 0
        count[[N_FREE, PHASE]] = len(self.store), FULL
        count[I_UP], count[I_LOW] = np.flatnonzero((y > 0) & usable)[0], np.flatnonzero((y < 0) & usable)[0]
        slot, sv, sv_at, inside, inside_at = lists
        return _State(
            self.operand.X, self.operand.sq, self.diag, self.code, y, self.C[m], self.alpha[m], self.f[m], self.store,
            slot, np.arange(len(self.store), dtype=np.int64), sv, sv_at, inside, inside_at, count, np.array([-1.0,
            1.0]),
        )  # fmt: skip

    def _report(self) -> bool:
        """Publish a Progress; False where the monitor wants an end."""
        alpha, Y, bias = self.alpha.copy(), self.Y, self.bias.copy()

        def snapshot():
            support = np.flatnonzero((alpha > 0).any(0))
            return Snapshot(support, (alpha * Y)[:, support], bias)

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


def _rules(settings: Digestion) -> _Rules:
    growth = np.inf if settings.growth is None else settings.growth
    return _Rules(
        settings.on,
        settings.wait,
        settings.force,
        float(settings.patience),
        settings.new_svs_when_full,
        settings.new_svs,
        float(growth),
    )


@njit(cache=True, nogil=True)
def _burst(s, rules, tol, budget):
    """Passes until `budget` kernel values were computed or looked up, or the machine is done."""
    n, c = s.y.shape[0], s.count
    stop = c[EVALS] + c[LOOKS] + budget
    while c[PHASE] != DONE and c[EVALS] + c[LOOKS] < stop:
        if c[PHASE] == INBOUNDS:
            if s.edge[1] - s.edge[0] <= tol or not _step(s, c[I_UP], -1):
                c[EVALS_INBOUNDS] = c[EVALS] - c[MARK]
                c[EVALS_BACK], c[SV_BACK], c[PHASE] = c[EVALS], c[N_SV], FULL
        elif c[AT] == n:
            c[PHASE] = DONE if c[CHANGED] == 0 else INBOUNDS
            c[AT], c[CHANGED], c[MARK] = 0, 0, c[EVALS]
        else:
            stepped = _examine(s, c[AT], tol)
            c[AT] += 1
            c[CHANGED] += stepped
            if stepped and rules.on and _digest(s, rules):
                c[PHASE], c[MARK] = INBOUNDS, c[EVALS]


@njit(cache=True, nogil=True)
def _digest(s, rules):
    """The five rules, the highest priority first."""
    c = s.count
    computed, new = c[EVALS] - c[EVALS_BACK], c[N_SV] - c[SV_BACK]
    if computed < rules.wait:
        return False
    if computed >= rules.force:
        return True
    if computed < rules.patience * c[EVALS_INBOUNDS]:
        return False
    if c[N_SV] > s.store.shape[0] and new >= rules.new_svs_when_full:
        return True
    return new >= rules.new_svs or new >= rules.growth * max(c[SV_BACK], 1)


@njit(cache=True, nogil=True)
def _examine(s, i, tol):
    """Step with the worst known partner of i if they violate the KKT conditions by more than tol."""
    if s.C[i] <= 0:
        return False
    c = s.count
    if s.inside_at[i] < 0:
        s.f[i] = _output(s, i)
        _consider(s, i)
    up, low = _sides(s, i)
    to_low = s.edge[1] - s.f[i] if up else 0.0
    to_up = s.f[i] - s.edge[0] if low else 0.0
    if max(to_low, to_up) <= tol:
        return False
    return _step(s, i, c[I_LOW]) if to_low >= to_up else _step(s, c[I_UP], i)


@njit(cache=True, nogil=True)
def _step(s, i, j):
    """Move the pair i (of I_up), j (of I_low) to its optimum; False where it cannot move. j = -1: the most gainful."""
    n_inside = s.count[N_INSIDE]
    members = np.empty(n_inside + 1, np.int64)
    members[:n_inside], members[n_inside] = s.inside[:n_inside], j if j >= 0 else s.count[I_LOW]
    row_i = np.empty(n_inside + 1, np.float32)
    _kernel_row(s, i, members, row_i)
    if j < 0:
        j, row_i[n_inside] = _partner(s, i, members, row_i)
    if i == j:
        return False
    curvature = np.float64(s.diag[i]) + np.float64(s.diag[j]) - 2.0 * np.float64(row_i[n_inside])
    room_i = s.C[i] - s.alpha[i] if s.y[i] > 0 else s.alpha[i]
    room_j = s.alpha[j] if s.y[j] > 0 else s.C[j] - s.alpha[j]
    step = min((s.f[j] - s.f[i]) / max(curvature, 1e-12), room_i, room_j)
    if step <= 1e-12 * (1.0 + s.C[i]):
        return False
    row_j = np.empty(n_inside + 1, np.float32)
    _kernel_row(s, j, members, row_j)
    k_ij = np.float64(row_i[n_inside])
    for t in range(n_inside):
        s.f[members[t]] += step * (np.float64(row_i[t]) - np.float64(row_j[t]))
    if s.inside_at[i] < 0:
        s.f[i] += step * (np.float64(s.diag[i]) - k_ij)
    if s.inside_at[j] < 0:
        s.f[j] += step * (k_ij - np.float64(s.diag[j]))
    _load(s, i, s.C[i] if s.y[i] > 0 else 0.0, step >= room_i, s.y[i] * step)
    _load(s, j, 0.0 if s.y[j] > 0 else s.C[j], step >= room_j, -s.y[j] * step)
    s.count[STEPS] += 1
    _find_edges(s, i, j)
    return True


@njit(cache=True, nogil=True)
def _partner(s, i, members, row_i):
    """The member j of I_low that gains most with i, as in smo.py, and K_ij."""
    best, chosen, k_ij = -1.0, i, row_i[0]
    for t in range(members.shape[0]):
        j = members[t]
        ahead = s.f[j] - s.f[i]
        if ahead > 0 and _sides(s, j)[1]:
            gain = (
                ahead * ahead / max(np.float64(s.diag[i]) + np.float64(s.diag[j]) - 2.0 * np.float64(row_i[t]), 1e-12)
            )
            if gain > best:
                best, chosen, k_ij = gain, j, row_i[t]
    return chosen, k_ij


@njit(cache=True, nogil=True)
def _load(s, i, bound, at_bound, change):
    """alpha_i changes; its memberships and its cache row follow."""
    s.alpha[i] = bound if at_bound else s.alpha[i] + change
    loaded = s.alpha[i] > 0
    _member(s.sv, s.sv_at, s.count, N_SV, i, loaded)
    _member(s.inside, s.inside_at, s.count, N_INSIDE, i, loaded and s.alpha[i] < s.C[i])
    if not loaded and s.slot[i] >= 0:
        s.store[s.slot[i]] = np.nan
        s.free[s.count[N_FREE]] = s.slot[i]
        s.count[N_FREE] += 1
        s.slot[i] = -1


@njit(cache=True, nogil=True)
def _member(members, at, count, size, i, wanted):
    """Enter i in the list or take it out (the last member takes its place)."""
    if wanted and at[i] < 0:
        at[i] = count[size]
        members[at[i]] = i
        count[size] += 1
    elif not wanted and at[i] >= 0:
        count[size] -= 1
        last = members[count[size]]
        members[at[i]], at[last] = last, at[i]
        at[i] = -1


@njit(cache=True, nogil=True)
def _sides(s, i):
    """Whether i is in I_up, in I_low."""
    room, loaded = s.alpha[i] < s.C[i], s.alpha[i] > 0
    return (room, loaded) if s.y[i] > 0 else (loaded, room)


@njit(cache=True, nogil=True)
def _consider(s, i):
    up, low = _sides(s, i)
    if up and s.f[i] < s.edge[0]:
        s.edge[0], s.count[I_UP] = s.f[i], i
    if low and s.f[i] > s.edge[1]:
        s.edge[1], s.count[I_LOW] = s.f[i], i


@njit(cache=True, nogil=True)
def _find_edges(s, i, j):
    """b_up and b_low over the inside and the pair that moved."""
    s.edge[0], s.edge[1] = np.inf, -np.inf
    for t in range(s.count[N_INSIDE]):
        _consider(s, s.inside[t])
    _consider(s, i)
    _consider(s, j)


@njit(cache=True, nogil=True)
def _output(s, i):
    """f_i from all present SVs."""
    m = s.count[N_SV]
    values = np.empty(m, np.float32)
    _kernel_row(s, i, s.sv[:m], values)
    total = -s.y[i]
    for t in range(m):
        j = s.sv[t]
        total += s.alpha[j] * s.y[j] * np.float64(values[t])
    return total


@njit(cache=True, nogil=True)
def _outputs(s, f):
    """f of every example, for the exact check at the end."""
    for i in range(s.y.shape[0]):
        if s.inside_at[i] < 0:
            f[i] = _output(s, i)


@njit(cache=True, nogil=True)
def _kernel_row(s, i, members, values):
    """values[t] = K(i, members[t]): from the cache row of i or of the member, else computed and kept where a row is."""
    own = _slot(s, i)
    missing = np.empty(members.shape[0], np.int64)
    m = 0
    for t in range(members.shape[0]):
        j = members[t]
        value = s.store[own, j] if own >= 0 else np.float32(np.nan)
        if np.isnan(value):
            theirs = _slot(s, j)
            if theirs >= 0:
                value = s.store[theirs, i]
        if np.isnan(value):
            missing[m] = t
            m += 1
        values[t] = value
    s.count[HITS] += members.shape[0] - m
    s.count[LOOKS] += members.shape[0] // 16
    s.count[EVALS] += m
    fresh, norms = np.empty(m, np.float32), np.empty(m, np.float32)
    for a in range(m):
        j = members[missing[a]]
        fresh[a], norms[a] = _dot(s.X[i], s.X[j]), s.sq[j]
    _finish(s.code, fresh, s.sq[i], norms)
    for a in range(m):
        j = members[missing[a]]
        values[missing[a]] = fresh[a]
        if own >= 0:
            s.store[own, j] = fresh[a]
        elif s.slot[j] >= 0:
            s.store[s.slot[j], i] = fresh[a]


@njit(cache=True, nogil=True)
def _slot(s, i):
    """The cache row of i; an SV without one takes a free one."""
    if s.slot[i] < 0 and s.alpha[i] > 0 and s.count[N_FREE] > 0:
        s.count[N_FREE] -= 1
        s.slot[i] = s.free[s.count[N_FREE]]
    return s.slot[i]


@njit(cache=True, nogil=True, fastmath=FAST)
def _dot(u, v):
    total = np.float32(0)
    for k in range(u.shape[0]):
        total += u[k] * v[k]
    return total
