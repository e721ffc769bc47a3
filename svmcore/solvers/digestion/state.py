"""One machine of the paper's solver: its lists, its counters, and the cache rows that its SVs hold."""

from typing import NamedTuple

import numpy as np

from svmcore._jit import FAST, inner, native
from svmcore.kernels import KernelCode, Side, _finish

INBOUNDS, FULL, DONE = range(3)  # phases
COUNTERS = np.dtype([(name, np.int64) for name in (
    "n_sv", "n_inside", "n_free", "evals", "hits", "looks", "steps", "phase", "at", "seen", "changed",
    "evals_back", "evals_inbounds", "sv_back", "mark", "i_up", "i_low",
    "updates", "passes", "jumps", "sv_most", "entries", "entries_most",  # what `Costs` tells
)])  # fmt: skip
VIOLATIONS = np.dtype([(name, np.float64) for name in ("dual", "worst", "worst_before")])


class State(NamedTuple):
    """One machine, changed in place. Lists are an array of members and every example's place in it (-1: not in it)."""

    X: np.ndarray  # (n, d) float32, 0 in the far features of a kernel of distances (kernels/apart.py)
    side: Side  # what kernel values take of each example beside inner products
    moves: np.ndarray  # (J, 2) int64, shifts of an image of which the largest kernel value counts; (0, 0) alone: none
    shape: np.ndarray  # (3,) int64, of that image: height, width, channels
    diag: np.ndarray  # (n,) float32, K_ii
    code: KernelCode
    y: np.ndarray  # (n,) float64
    C: np.ndarray  # (n,) float64
    alpha: np.ndarray  # (n,) float64
    f: np.ndarray  # (n,) float64, up to date inside, and at i_up and i_low
    store: np.ndarray  # (R, n) float32, NaN where not computed yet
    slot: np.ndarray  # (n,) int64, example -> row of the store or -1
    free: np.ndarray  # (R,) int64, a stack of free rows
    owner: np.ndarray  # (R,) int64, row -> the example that has it
    used: np.ndarray  # (R,) int64, row -> the step at which that example moved last
    hoard: bool  # rows belong to SVs; False: to the examples that moved last
    second_order: bool  # inbounds passes choose the partner that gains most; False: the worst pair
    order: np.ndarray  # (n,) int64, in which a full pass visits the examples
    one_pass: bool  # there is no second one; f is kept up to date of all SVs
    sv: np.ndarray  # (n,) int64, examples with alpha > 0
    sv_at: np.ndarray  # (n,) int64
    inside: np.ndarray  # (n,) int64, examples with 0 < alpha < C; in one pass, all with alpha > 0
    inside_at: np.ndarray  # (n,) int64
    count: np.record  # of COUNTERS
    edge: np.ndarray  # (2,) float64: b_up = f at i_up, b_low = f at i_low
    seen: np.record  # of VIOLATIONS: dual objective; largest violation met in this full pass, in the last one


@inner()
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
    s.count.hits += members.shape[0] - m
    s.count.looks += 1 + members.shape[0] // 16
    s.count.evals += m
    fresh, norms = np.empty(m, np.float32), np.empty(m, np.float32)
    form = s.X[i]
    for q in range(s.moves.shape[0]):
        if s.moves.shape[0] > 1:
            form = _moved(s.X[i], s.shape, s.moves[q])
        for a in range(m):
            j = members[missing[a]]
            fresh[a] = _dot(form, s.X[j]) - _half_distance(s.side.far[i], s.side.far[j])
            norms[a] = s.side.sq[j]
        _finish(s.code, fresh, s.side.sq[i], norms)
        for a in range(m):
            values[missing[a]] = max(fresh[a], values[missing[a]]) if q > 0 else fresh[a]
    for a in range(m):
        j = members[missing[a]]
        row, column = (own, j) if own >= 0 else (s.slot[j], i)
        if row >= 0:
            s.count.entries += np.isnan(s.store[row, column])
            s.store[row, column] = values[missing[a]]
    s.count.entries_most = max(s.count.entries_most, s.count.entries)


@inner()
def _slot(s, i):
    """The cache row of i; where rows are hoarded, an SV without one takes a free one."""
    if s.hoard and s.slot[i] < 0 and s.alpha[i] > 0 and s.count.n_free > 0:
        _take(s, i)
    return s.slot[i]


@inner()
def _claim(s, i):
    """Where rows are not hoarded, i, which moves, has one: at need that of the example that moved longest ago."""
    if s.hoard:
        return
    if s.slot[i] < 0:
        if s.count.n_free == 0:
            _release(s, s.owner[np.argmin(s.used)])
        _take(s, i)
    s.used[s.slot[i]] = s.count.steps


@inner()
def _take(s, i):
    s.count.n_free -= 1
    s.slot[i] = s.free[s.count.n_free]
    s.owner[s.slot[i]] = i


@inner()
def _release(s, i):
    """The row of i is empty and free."""
    row = s.store[s.slot[i]]
    for t in range(row.shape[0]):
        s.count.entries -= not np.isnan(row[t])
        row[t] = np.nan
    s.free[s.count.n_free] = s.slot[i]
    s.count.n_free += 1
    s.slot[i] = -1


@native()
def _moved(x, shape, move):
    """The image x (h w c,) shifted by (dy, dx), zeros shifted in."""
    h, w, c = shape
    out = np.zeros(x.shape[0], np.float32)
    for row in range(max(0, move[0]), min(h, h + move[0])):
        for column in range(max(0, move[1]), min(w, w + move[1])):
            for k in range(c):
                out[(row * w + column) * c + k] = x[((row - move[0]) * w + column - move[1]) * c + k]
    return out


@inner(fastmath=FAST)
def _dot(u, v):
    total = np.float32(0)
    for k in range(u.shape[0]):
        total += u[k] * v[k]
    return total


@inner(fastmath=FAST)
def _half_distance(u, v):
    total = np.float32(0)
    for k in range(u.shape[0]):
        total += np.float32(0.5) * (u[k] - v[k]) * (u[k] - v[k])
    return total
