"""Sequential minimal optimisation: pairs of multipliers, on a Gram matrix that lies in memory.

    max W(alpha) = sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij
    s.t. 0 <= alpha_i <= C_i,  sum_i alpha_i y_i = 0

    f_i = sum_j alpha_j y_j K_ij - y_i        I_up  = {y_i > 0, alpha_i < C_i} + {y_i < 0, alpha_i > 0}
    gap = max_{I_low} f - min_{I_up} f        I_low = {y_i > 0, alpha_i > 0} + {y_i < 0, alpha_i < C_i}

alpha is optimal to `tol` when gap <= tol (Keerthi et al. 2001). A step moves one pair along y_i alpha_i + y_j alpha_j =
const: i has the least f of I_up, j of I_low promises the largest gain (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij) (Fan,
Chen, Lin 2005). y, alpha, C, f (n,) float64. At free SVs the decision function's bias is b = -f.

nu-SVC (Chang and Lin 2001) asks for sum_i alpha_i = nu sum_i C_i too. Then the sum over each class is fixed: a pair is
of one class, index sets and gap are each class's own, and -y_i in f cancels (decomposition/nu.py).

K lies in float32 blocks: example i = (a, u) = a n0 + u against j = (b, v) is blocks[which[a, b], u, v], so that a row
is J segments of n0. A plain matrix is one block (J = 1); sets of shifted images have one for each relative shift.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from svmcore._jit import FAST, greater, lesser

OUT = 1e300  # penalty that keeps an example out of I_up or I_low
FLAT = 1e-12  # least curvature of a pair, for kernels that are not positive definite
BLOCK = 256  # examples a pass compares before it looks for the index: arg-min does not vectorise, min does


class Pairs(NamedTuple):
    """One machine's problem, solved where its arrays lie."""

    blocks: np.ndarray  # (number of blocks, n0, n0) float32
    which: np.ndarray  # (J, J) int64, n = J n0
    y: np.ndarray  # (n,) float64, +1 or -1
    C: np.ndarray  # (n,) float64
    alpha: np.ndarray  # (n,) float64, changed in place
    f: np.ndarray  # (n,) float64, changed in place
    up: np.ndarray  # (g, n) float64: 0 in I_up, else OUT; one row, or one a class where pairs lie within classes
    low: np.ndarray  # (g, n) float64: 0 in I_low, else -OUT
    diag: np.ndarray  # (n,) float64, K_ii


def pairs(blocks, which, y, C, alpha, f, apart: bool = False) -> Pairs:
    """The problem of one machine with its index sets drawn up; a plain matrix (n, n) may stand for `blocks`. apart:
    both examples of a pair are of one class."""
    blocks = blocks[None] if blocks.ndim == 2 else blocks
    groups = np.stack([y > 0, y < 0]) if apart else np.ones((1, len(y)), bool)
    up, low = (groups & members for members in index_sets(y, C, alpha))
    diag = np.concatenate([blocks[which[a, a]].diagonal() for a in range(len(which))]).astype(np.float64)
    return Pairs(blocks, which, y, C, alpha, f, np.where(up, 0.0, OUT), np.where(low, 0.0, -OUT), diag)


def solve(problem: Pairs, tol: float, go_on, max_iterations: int = 2**62, burst=None) -> tuple[int, float]:
    """Pairs until gap <= tol, or until the worst pair cannot move in double precision.

    `go_on(iterations)` after each burst of pairs says whether to continue. burst: pairs at a time, or what gives them
    before each burst; None for as many as take about 20 ms. Returns (iterations, gap). alpha is feasible at every
    return.
    """
    usual, done = max(50, 20_000_000 // max(len(problem.y), 1)), 0
    while True:
        asked = burst() if callable(burst) else burst
        wanted = min(asked or usual, max_iterations - done)
        iterations, gap = _burst(problem, tol, wanted)
        done += iterations
        if not go_on(iterations) or gap <= tol or iterations < wanted or done >= max_iterations:
            return done, gap


def index_sets(y, C, alpha) -> tuple[np.ndarray, np.ndarray]:
    """Masks of I_up and I_low (shapes follow the arguments').

    Which multipliers may still grow or shrink: Bakir, Bottou and Weston (2004), section 2.1.
    """
    positive = y > 0
    room, loaded = alpha < C, alpha > 0
    return np.where(positive, room, loaded), np.where(positive, loaded, room)


def kkt_gap(y, C, alpha, f, apart: bool = False) -> tuple[float, float]:
    """(gap, b) of the present alpha: the largest KKT violation and the bias of the decision function; `apart`, of pairs
    within a class.

    Optimality conditions: Osuna, Freund and Girosi (1997), section 3.2.1.
    """
    if apart:
        gaps, levels = zip(*(kkt_gap(y[s], C[s], alpha[s], f[s]) for s in (y > 0, y < 0)), strict=True)
        return max(gaps), sum(levels) / 2
    up, low = index_sets(y, C, alpha)
    least = f[up].min() if up.any() else -np.inf
    most = f[low].max() if low.any() else np.inf
    free = up & low
    if free.any():
        b = -f[free].mean()
    else:
        finite = [end for end in (least, most) if np.isfinite(end)]
        b = -sum(finite) / max(len(finite), 1)
    return (max(most - least, 0.0) if up.any() and low.any() else 0.0), float(b)


def margin(y, C, alpha, f) -> float:
    """rho = 1 + (level of class +1 - level of class -1) / 2, where an optimal nu-SVC has its margin while pairs lie
    within classes: y (sum_j alpha_j y_j K_ij + b) = rho at free SVs. level: f there, halfway between the ends.

    Chang and Lin, Neural Computation 13 (2001), section 4.
    """
    levels = []
    for side in (y > 0, y < 0):
        up, low = (members & side for members in index_sets(y, C, alpha))
        ends = [f[up].min()] if up.any() else []
        ends += [f[low].max()] if low.any() else []
        levels.append(sum(ends) / max(len(ends), 1))
    return 1 + (levels[0] - levels[1]) / 2


def dual_objective(y, alpha, f) -> float:
    """W(alpha) from f alone: 1/2 sum_i alpha_i (1 - y_i f_i).

    DeCoste and Schoelkopf (2002), section 4, the quadratic programme; the same as
    Bakir, Bottou and Weston (2004), equation (3).
    """
    return float(0.5 * np.sum(alpha * (1 - y * f)))


@njit(cache=True, nogil=True, fastmath=FAST)
def _burst(p, tol, max_iterations):
    n = p.y.shape[0]
    space_i, space_j = np.zeros(n, np.float32), np.zeros(n, np.float32)
    g, i, least, gap = _worst(p, space_i, space_i, 0.0)
    for done in range(max_iterations):
        if gap <= tol:
            return done, gap
        row_i = _row(p, i, space_i)
        j = _partner(row_i, p.diag[i], p.diag, p.f, p.low[g], least)
        alpha_i, alpha_j = p.alpha[i], p.alpha[j]
        step = _move(p, g, i, j, row_i[j])
        if p.alpha[i] == alpha_i and p.alpha[j] == alpha_j:
            return done, gap  # the same pair would come again and again
        g, i, least, gap = _worst(p, row_i, _row(p, j, space_j), step)
    return max_iterations, gap


@njit(cache=True, nogil=True, fastmath=FAST)
def _worst(p, row_i, row_j, step):
    """f += step (K_i - K_j); then (group, i, f_i, gap) of the group of examples whose gap is largest."""
    i, least, most = _update_and_select(row_i, row_j, step, p.f, p.up[0], p.low[0])
    g, gap = 0, most - least
    for other in range(1, p.up.shape[0]):
        its_i, its_least, its_most = _update_and_select(row_i, row_j, 0.0, p.f, p.up[other], p.low[other])
        if its_most - its_least > gap:
            g, i, least, gap = other, its_i, its_least, its_most - its_least
    return g, i, least, gap


@njit(cache=True, nogil=True)
def _row(p, i, space):
    """Row i of K, gathered from its segments in `space` (n,) where it has several."""
    J, n0 = p.which.shape[0], p.blocks.shape[1]
    if J == 1:
        return p.blocks[p.which[0, 0], i]
    a, u = i // n0, i % n0
    for b in range(J):
        segment, target = p.blocks[p.which[a, b], u], space[b * n0 : (b + 1) * n0]
        for t in range(n0):  # Numba takes seconds to compile an assignment of slices
            target[t] = segment[t]
    return space


@njit(cache=True, nogil=True)
def _move(p, g, i, j, k_ij):
    """Step along the pair, clipped to the box: alpha and the index sets of i and j change, the step returns."""
    curvature = p.diag[i] + p.diag[j] - 2.0 * np.float64(k_ij)
    step = (p.f[j] - p.f[i]) / max(curvature, FLAT)
    room_i = p.C[i] - p.alpha[i] if p.y[i] > 0 else p.alpha[i]
    room_j = p.alpha[j] if p.y[j] > 0 else p.C[j] - p.alpha[j]
    step = min(step, room_i, room_j)
    for t, sign, room in ((i, p.y[i], room_i), (j, -p.y[j], room_j)):
        if step >= room:
            p.alpha[t] = p.C[t] if sign > 0 else 0.0
        else:
            p.alpha[t] += sign * step
        loaded, free_above = p.alpha[t] > 0, p.alpha[t] < p.C[t]
        p.up[g, t] = 0.0 if (free_above if p.y[t] > 0 else loaded) else OUT
        p.low[g, t] = 0.0 if (loaded if p.y[t] > 0 else free_above) else -OUT
    return step


@njit(cache=True, nogil=True, fastmath=FAST)
def _update_and_select(row_i, row_j, step, f, up, low):
    """f += step (K_i - K_j), and in the same pass (i, f_i, max f over I_low), where i has the least f of I_up.

    A pass finds the block of the least value, a second look at that block alone its place: arg-min does not vectorise.
    The second look searches the least anew instead of asking for equality, which fast math does not promise.
    """
    n = f.shape[0]
    least, most, where = OUT, -OUT, 0
    for start in range(0, n, BLOCK):
        part = slice(start, start + BLOCK)
        fs, ups, lows, rows_i, rows_j = f[part], up[part], low[part], row_i[part], row_j[part]
        block_least, block_most = OUT, -OUT
        for t in range(fs.shape[0]):
            fs[t] += step * (np.float64(rows_i[t]) - np.float64(rows_j[t]))
            block_least = lesser(block_least, fs[t] + ups[t])
            block_most = greater(block_most, fs[t] + lows[t])
        if block_least < least:
            least, where = block_least, start
        most = max(most, block_most)
    chosen, least = where, OUT
    for t in range(where, min(n, where + BLOCK)):
        if f[t] + up[t] < least:
            chosen, least = t, f[t] + up[t]
    return chosen, least, most


@njit(cache=True, nogil=True, fastmath=FAST)
def _partner(row_i, diag_i, diag, f, low, least):
    """j of I_low with the largest gain (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij)."""
    n = f.shape[0]
    best, where = -1.0, 0
    for start in range(0, n, BLOCK):
        part = slice(start, start + BLOCK)
        fs, lows, diags, rows_i = f[part], low[part], diag[part], row_i[part]
        block_best = -1.0
        for t in range(fs.shape[0]):
            ahead = greater(fs[t] + lows[t] - least, 0.0)
            curvature = greater(diag_i + diags[t] - 2.0 * np.float64(rows_i[t]), FLAT)
            block_best = greater(block_best, ahead * ahead / curvature)
        if block_best > best:
            best, where = block_best, start
    chosen, best = where, -1.0
    for t in range(where, min(n, where + BLOCK)):
        ahead = max(f[t] + low[t] - least, 0.0)
        gain = ahead * ahead / max(diag_i + diag[t] - 2.0 * np.float64(row_i[t]), FLAT)
        if gain > best:
            chosen, best = t, gain
    return chosen
