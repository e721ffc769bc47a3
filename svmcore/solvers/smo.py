"""Sequential minimal optimisation: pairs of multipliers, on a Gram matrix that lies in memory.

    max W(alpha) = sum_i alpha_i - 1/2 sum_ij alpha_i alpha_j y_i y_j K_ij
    s.t. 0 <= alpha_i <= C_i,  sum_i alpha_i y_i = 0

    f_i = sum_j alpha_j y_j K_ij - y_i        I_up  = {y_i > 0, alpha_i < C_i} + {y_i < 0, alpha_i > 0}
    gap = max_{I_low} f - min_{I_up} f        I_low = {y_i > 0, alpha_i > 0} + {y_i < 0, alpha_i < C_i}

alpha is optimal to `tol` when gap <= tol (Keerthi et al. 2001). A step moves one pair along y_i alpha_i + y_j alpha_j =
const: i has the least f of I_up, j of I_low promises the largest gain (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij) (Fan,
Chen, Lin 2005). y, alpha, C, f (n,) float64. At free SVs the decision function's bias is b = -f.

Pairs move in stretches. Within one f + b is kept in single precision: it is small where pairs are still to be moved, so
that its error is small beside the gap, and half the bytes pass by. At the end of a stretch f is summed anew, in double
precision, from what alpha has changed by.

nu-SVC (Chang and Lin 2001) asks for sum_i alpha_i = nu sum_i C_i too. Then the sum over each class is fixed: a pair is
of one class, index sets and gap are each class's own, and -y_i in f cancels (decomposition/nu.py).

K lies in float32 blocks: example i = (a, u) = a n0 + u against j = (b, v) is blocks[which[a, b], u, v], so that a row
is J segments of n0. A plain matrix is one block (J = 1); sets of shifted images have one for each relative shift. Of
examples behind the first J n0, which no block describes, `rest` has the rows (r, n), and the same as columns (n, r).
"""

from typing import NamedTuple

import numpy as np

from svmcore._jit import FAST, greater, inner, lesser, native
from svmcore.gram.sources import NO_REST

BEYOND = np.float32(3e38)  # penalty that keeps an example out of I_up or I_low
FLAT = np.float32(1e-12)  # least curvature of a pair, for kernels that are not positive definite
BLOCK = 64  # examples a pass compares before it looks for the index: arg-min does not vectorise, min does
SHORT = 0.95  # times tol, the gap at which a stretch ends: single precision may take it for smaller than it is
FINEST = 1e-4  # times the gap at its start, the least gap at which a stretch ends: all that single precision resolves
STRETCH = 10_000, 4  # pairs of a stretch at most: so many, and so many for each example
TRIES = 3  # stretches in turn that do not halve the gap, after which single precision has given what it can
COLUMNS, PIECE = 2048, 50_000_000  # examples whose f is summed at a time; values of K between two looks at `go_on`


class Pairs(NamedTuple):
    """One machine's problem, solved where its arrays lie."""

    blocks: np.ndarray  # (number of blocks, n0, n0) float32
    which: np.ndarray  # (J, J) int64, n = J n0
    y: np.ndarray  # (n,) float64, +1 or -1
    C: np.ndarray  # (n,) float64
    alpha: np.ndarray  # (n,) float64, changed in place
    f: np.ndarray  # (n,) float64, changed in place
    near: np.ndarray  # (n,) float32, f + b while pairs move
    up: np.ndarray  # (g, n) float32: 0 in I_up, else BEYOND; one row, or one a class where pairs lie within classes
    low: np.ndarray  # (g, n) float32: 0 in I_low, else -BEYOND
    diag: np.ndarray  # (n,) float32, K_ii
    rows: np.ndarray  # (r, n) float32, K of the last r examples, which are in no block
    columns: np.ndarray  # (n, r) float32, the same turned round
    bounded: np.ndarray  # (1,) bool, whether an alpha has come to its C, changed in place


def pairs(blocks, which, y, C, alpha, f, apart: bool = False, rest=NO_REST, bounded=None) -> Pairs:
    """The problem of one machine with its index sets drawn up; a plain matrix (n, n) may stand for `blocks`. apart:
    both examples of a pair are of one class. rest: (rows, columns) of the examples that are in no block. bounded: as of
    Pairs, where the caller wants to know."""
    blocks = blocks[None] if blocks.ndim == 2 else blocks
    up, low = (np.where(fixed_sums(y, apart) & members, np.float32(0), BEYOND) for members in index_sets(y, C, alpha))
    diag = [blocks[which[a, a]].diagonal() for a in range(len(which))]
    diag = np.concatenate([*diag, rest[0][:, len(y) - len(rest[0]) :].diagonal()])
    bounded = np.zeros(1, bool) if bounded is None else bounded
    return Pairs(blocks, which, y, C, alpha, f, np.empty(len(y), np.float32), up, -low, diag, *rest, bounded)


def solve(problem: Pairs, tol: float, go_on, max_iterations: int = 2**62, burst=None) -> tuple[int, float]:
    """Pairs until gap <= tol, or until none can move that would bring it nearer.

    `go_on(iterations)` after each burst of pairs says whether to continue. burst: pairs at a time, or what gives them
    before each burst; None for as many as take about 20 ms. Returns (iterations, gap). alpha is feasible at every
    return.
    """
    apart, done, tries = len(problem.up) > 1, 0, 0
    gap, b = kkt_gap(problem.y, problem.C, problem.alpha, problem.f, apart)
    while True:
        begun, before = problem.alpha.copy(), problem.f.copy()
        goal, most = max(SHORT * tol, FINEST * gap), min(STRETCH[0] + STRETCH[1] * len(begun), max_iterations - done)
        moved, going = _stretch(problem, b, goal, most, go_on, burst)
        done += moved
        if not going or not _sum_anew(problem, begun, before, go_on):
            return done, gap
        last, (gap, b) = gap, kkt_gap(problem.y, problem.C, problem.alpha, problem.f, apart)
        tries = 0 if gap <= last / 2 or moved == most else tries + 1
        if gap <= tol or not moved or done >= max_iterations or tries == TRIES:
            return done, gap


def _stretch(p: Pairs, b: float, goal: float, most: int, go_on, burst) -> tuple[int, bool]:
    """Bursts of pairs in single precision, until the gap is at the goal or `most` have moved; f is good enough for
    reports. Returns (pairs moved, whether to go on)."""
    p.near[:] = p.f + b
    usual, done = max(50, 20_000_000 // max(len(p.y), 1)), 0
    while True:
        asked = burst() if callable(burst) else burst
        wanted = min(asked or usual, most - done)
        iterations, gap = _burst(p, np.float32(goal), wanted)
        done += iterations
        np.subtract(p.near, b, out=p.f)
        if not go_on(iterations):
            return done, False
        if gap <= goal or iterations < wanted or done >= most:
            return done, True


def _sum_anew(p: Pairs, begun, before, go_on) -> bool:
    """f from what it was `before` and what has changed in alpha since it was `begun`, in double precision; False if
    there was a stop."""
    change = (p.alpha - begun) * p.y
    changed = np.flatnonzero(change)
    change, n0, summed = change[changed], p.blocks.shape[1], 0
    inside = n0 * len(p.which)  # examples that the blocks describe
    for b in range(len(p.which)):
        for start in range(0, n0, COLUMNS):
            part = slice(start, min(start + COLUMNS, n0))
            f = before[b * n0 :][part]
            _add_rows(p.blocks, p.which[:, b].copy(), p.rows, changed, change, b * n0, part.start, f)
            summed += len(f) * len(changed)
            if summed > PIECE:
                summed = 0
                if not go_on(0):
                    return False
    if len(p.rows):
        before[inside:] += p.rows[:, changed] @ change
    p.f[:] = before
    return True


def fixed_sums(y, apart: bool) -> np.ndarray:
    """Examples whose y_i alpha_i have a sum that stays: masks (g, n), one for all, or one a class."""
    return np.stack([y > 0, y < 0]) if apart else np.ones((1, len(y)), bool)


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
    least, most, total, free = _ends(y, C, alpha, f)
    if free:
        return max(most - least, 0.0), -total / free
    finite = [end for end in (least, most) if np.isfinite(end)]
    gap = 0.0 if least == np.inf or most == -np.inf else max(most - least, 0.0)  # where a set is empty
    return gap, -sum(finite) / max(len(finite), 1)


def dual_objective(y, alpha, f) -> float:
    """W(alpha) from f alone: 1/2 sum_i alpha_i (1 - y_i f_i).

    DeCoste and Schölkopf (2002), section 4, the quadratic programme; the same as
    Bakir, Bottou and Weston (2004), equation (3).
    """
    return float(0.5 * np.sum(alpha * (1 - y * f)))


@native()
def _ends(y, C, alpha, f):
    """(min f over I_up, max f over I_low, sum of f over both, how many are in both); NaN where an f is."""
    least, most, total, free = np.inf, -np.inf, 0.0, 0
    for t in range(len(y)):
        room, loaded = alpha[t] < C[t], alpha[t] > 0
        up, low = (room, loaded) if y[t] > 0 else (loaded, room)
        if (up or low) and np.isnan(f[t]):
            return np.nan, np.nan, np.nan, 0
        if up:
            least = min(least, f[t])
        if low:
            most = max(most, f[t])
        if up and low:
            total += f[t]
            free += 1
    return least, most, total, free


@native(fastmath=FAST)
def _burst(p, goal, max_iterations):
    blocks, which, y, C, alpha, f, ups, lows, diag = p.blocks, p.which, p.y, p.C, p.alpha, p.near, p.up, p.low, p.diag
    n, groups = y.shape[0], ups.shape[0]
    space_i, space_j, change, done = np.zeros(n, np.float32), np.zeros(n, np.float32), np.float32(0), 0
    row_i, row_j = space_i, space_j
    while True:
        g, (i, least, most) = 0, _update_and_select(row_i, row_j, change, f, ups[0], lows[0])
        for other in range(1, groups):  # the group of examples whose gap is largest
            its = _update_and_select(row_i, row_j, np.float32(0), f, ups[other], lows[other])
            if its[2] - its[1] > most - least:
                g, (i, least, most) = other, its
        if most - least <= goal or done == max_iterations:
            return done, most - least
        row_i = _fetch(blocks, which, p.rows, p.columns, i, space_i)
        j = _partner(row_i, diag[i], diag, f, lows[g], least)
        row_j = _fetch(blocks, which, p.rows, p.columns, j, space_j)
        curvature = np.float64(diag[i]) + np.float64(diag[j]) - 2.0 * np.float64(row_i[j])
        step = (np.float64(f[j]) - np.float64(f[i])) / max(curvature, np.float64(FLAT))
        step = _move(i, j, step, y, C, alpha, ups[g], lows[g], p.bounded)
        if step == 0:
            return done, most - least  # the same pair would come again and again
        change, done = np.float32(step), done + 1


@inner(fastmath=FAST)
def _fetch(blocks, which, rows, columns, i, space):
    """Row i of K, gathered in `space` (n,) where it has several segments.

    A plain row is read once for its sum, which nobody needs: read alone it comes at memory's full speed, which a pass
    over several arrays does not reach, and then it is in cache.
    """
    n0 = blocks.shape[1]
    if which.shape[0] == 1:
        row, total = blocks[which[0, 0], i], np.float32(0)
        for t in range(n0):
            total += row[t]
        space[0] = total
        return row
    inside = n0 * which.shape[0]
    if i >= inside:
        return rows[i - inside]
    a, u = i // n0, i % n0
    for t in range(columns.shape[1]):
        space[inside + t] = columns[i, t]
    for b in range(which.shape[0]):
        segment, target = blocks[which[a, b], u], space[b * n0 : (b + 1) * n0]
        for t in range(n0):  # Numba takes seconds to compile an assignment of slices
            target[t] = segment[t]
    return space


@inner()
def _move(i, j, step, y, C, alpha, up, low, bounded):
    """Step along the pair, clipped to the box: alpha and the index sets of i and j change. The step that was made; 0
    where alpha is too large for it to make a difference."""
    room_i = C[i] - alpha[i] if y[i] > 0 else alpha[i]
    room_j = alpha[j] if y[j] > 0 else C[j] - alpha[j]
    step, stays = min(step, room_i, room_j), True
    for t, sign, room in ((i, y[i], room_i), (j, -y[j], room_j)):
        before = alpha[t]
        if step >= room:
            alpha[t] = C[t] if sign > 0 else 0.0
        else:
            alpha[t] += sign * step
        stays &= alpha[t] == before
        loaded, free_above = alpha[t] > 0, alpha[t] < C[t]
        bounded[0] |= not free_above
        up[t] = np.float32(0) if (free_above if y[t] > 0 else loaded) else BEYOND
        low[t] = np.float32(0) if (loaded if y[t] > 0 else free_above) else -BEYOND
    return 0.0 if stays else step


@inner(fastmath=FAST)
def _update_and_select(row_i, row_j, step, f, up, low):
    """f += step (K_i - K_j), and in the same pass (i, f_i, max f over I_low), where i has the least f of I_up.

    A pass finds the block of the least value, a second look at that block alone its place: arg-min does not vectorise.
    Unsigned indices, as signed ones may count from the end, which keeps vectors away; slices would cost a count each.
    The second look searches the least anew instead of asking for equality, which fast math does not promise.
    """
    n = f.shape[0]
    least, most, where = BEYOND, -BEYOND, 0
    for start in range(0, n, BLOCK):
        block_least, block_most = BEYOND, -BEYOND
        for t in range(np.uint64(start), np.uint64(min(n, start + BLOCK))):
            f[t] += step * (row_i[t] - row_j[t])
            block_least = lesser(block_least, f[t] + up[t])
            block_most = greater(block_most, f[t] + low[t])
        if block_least < least:
            least, where = block_least, start
        most = max(most, block_most)
    chosen, least = where, BEYOND
    for t in range(np.uint64(where), np.uint64(min(n, where + BLOCK))):
        if f[t] + up[t] < least:
            chosen, least = np.int64(t), f[t] + up[t]
    return chosen, least, most


@inner(fastmath=FAST)
def _partner(row_i, diag_i, diag, f, low, least):
    """j of I_low with the largest gain (f_j - f_i)^2 / (K_ii + K_jj - 2 K_ij)."""
    n = f.shape[0]
    best, where = np.float32(-1), 0
    for start in range(0, n, BLOCK):
        block_best = np.float32(-1)
        for t in range(np.uint64(start), np.uint64(min(n, start + BLOCK))):
            ahead = greater(f[t] + low[t] - least, np.float32(0))
            curvature = greater(diag_i + diag[t] - np.float32(2) * row_i[t], FLAT)
            block_best = greater(block_best, ahead * (ahead / curvature))
        if block_best > best:
            best, where = block_best, start
    chosen, best = where, np.float32(-1)
    for t in range(np.uint64(where), np.uint64(min(n, where + BLOCK))):
        ahead = max(f[t] + low[t] - least, np.float32(0))
        gain = ahead * (ahead / max(diag_i + diag[t] - np.float32(2) * row_i[t], FLAT))
        if gain > best:
            chosen, best = np.int64(t), gain
    return chosen


@native(fastmath=FAST)
def _add_rows(blocks, block_of, rest, idx, weight, first, start, f):
    """f (m,) float64 += sum_r weight[r] K[idx[r], first + start : first + start + m] of one column of blocks, block_of
    (J,), whose examples begin at `first`; rest: the rows of examples that are in no block."""
    n0, m = blocks.shape[1], f.shape[0]
    inside = n0 * block_of.shape[0]
    for r in range(idx.shape[0]):
        i, w = idx[r], weight[r]
        if i < inside:
            row = blocks[block_of[i // n0], i % n0][start : start + m]
        else:
            row = rest[i - inside][first + start : first + start + m]
        for t in range(m):
            f[t] += w * np.float64(row[t])
