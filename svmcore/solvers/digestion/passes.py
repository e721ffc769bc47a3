"""Full and inbounds passes of one machine, in bursts that can be taken up again where they ended.

Constants go to compiled functions as np.int64(...): a bare number is a type of its own to Numba, for which the function
is compiled once more.
"""

import numpy as np

from svmcore._jit import inner, native
from svmcore.solvers.digestion.rules import _digest
from svmcore.solvers.digestion.state import DONE, FULL, INBOUNDS, _claim, _kernel_row, _release


@native()
def _burst(s, rules, tol, budget, limit):
    """Passes until `budget` kernel values were computed or looked up, `limit` steps made, or the machine is done.

    DeCoste and Schölkopf (2002), section 4.2: full and inbounds passes, and the jump out of a full one. Bordes,
    Ertekin, Weston and Bottou (2005), section 3.2: in one pass PROCESS, here `_examine`, and a step as REPROCESS.
    """
    n, c = s.y.shape[0], s.count
    stop = c.evals + c.looks + budget
    while c.phase != DONE and c.steps < limit and c.evals + c.looks < stop:
        if c.phase == INBOUNDS:
            if not _step_inside(s, tol):
                c.evals_inbounds = c.evals - c.mark
                c.evals_back, c.sv_back, c.phase = c.evals, c.n_sv, DONE if s.one_pass else FULL
        elif c.seen == n:
            c.phase = DONE if c.changed == 0 else INBOUNDS
            c.passes += 1
        else:
            stepped = _examine(s, s.order[c.at], tol)
            c.seen += 1
            c.changed += stepped
            if s.one_pass:
                _step_inside(s, tol)
            if stepped and rules.on and _digest(s, rules):
                c.phase = INBOUNDS  # the full pass after it returns to this example first
                c.jumps += 1
            else:
                c.at = (c.at + 1) % n
        if c.phase == INBOUNDS and c.seen > 0:
            c.seen, c.changed, c.mark = 0, 0, c.evals
            s.seen.worst_before, s.seen.worst = s.seen.worst, 0.0


@inner()
def _step_inside(s, tol):
    """Step with the best known pair; False where none violates the KKT conditions by more than tol, or cannot move."""
    if s.edge[1] - s.edge[0] <= tol:
        return False
    return _step(s, s.count.i_up, np.int64(-1) if s.second_order else s.count.i_low)


@inner()
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
    s.seen.worst = max(s.seen.worst, to_low, to_up)
    if max(to_low, to_up) <= tol:
        return False
    return _step(s, i, c.i_low) if to_low >= to_up else _step(s, c.i_up, i)


@inner()
def _step(s, i, j):
    """Move the pair i (of I_up), j (of I_low) to its optimum; False where it cannot move. j = -1: the most gainful."""
    n_inside = s.count.n_inside
    members = np.empty(n_inside + 1, np.int64)
    for t in range(n_inside):
        members[t] = s.inside[t]
    members[n_inside] = j if j >= 0 else s.count.i_low
    row_i = np.empty(n_inside + 1, np.float32)
    _claim(s, i)
    _kernel_row(s, i, members, row_i)
    if j < 0:
        j, row_i[n_inside] = _partner(s, i, members, row_i)
    if i == j:
        return False
    curvature = np.float64(s.diag[i]) + np.float64(s.diag[j]) - 2.0 * np.float64(row_i[n_inside])
    room_i = s.C[i] - s.alpha[i] if s.y[i] > 0 else s.alpha[i]
    room_j = s.alpha[j] if s.y[j] > 0 else s.C[j] - s.alpha[j]
    step = min((s.f[j] - s.f[i]) / max(curvature, 1e-12), room_i, room_j)
    if step <= 1e-12 * (1.0 + s.C[i]) and step < room_i and step < room_j:
        return False  # but a tiny step that ends at a bound is made: rounding left alpha just beside it
    s.seen.dual += step * (s.f[j] - s.f[i]) - 0.5 * step * step * curvature
    row_j = np.empty(n_inside + 1, np.float32)
    _claim(s, j)
    _kernel_row(s, j, members, row_j)
    k_ij = np.float64(row_i[n_inside])
    for t in range(n_inside):
        s.f[members[t]] += step * (np.float64(row_i[t]) - np.float64(row_j[t]))
    s.count.updates += n_inside + (s.inside_at[i] < 0) + (s.inside_at[j] < 0)
    if s.inside_at[i] < 0:
        s.f[i] += step * (np.float64(s.diag[i]) - k_ij)
    if s.inside_at[j] < 0:
        s.f[j] += step * (k_ij - np.float64(s.diag[j]))
    _load(s, i, s.C[i] if s.y[i] > 0 else 0.0, step >= room_i, s.y[i] * step)
    _load(s, j, 0.0 if s.y[j] > 0 else s.C[j], step >= room_j, -s.y[j] * step)
    s.count.steps += 1
    _find_edges(s, i, j)
    return True


@inner()
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


@inner()
def _load(s, i, bound, at_bound, change):
    """alpha_i changes; its memberships and its cache row follow."""
    s.alpha[i] = bound if at_bound else s.alpha[i] + change
    loaded = s.alpha[i] > 0
    s.count.n_sv = _member(s.sv, s.sv_at, s.count.n_sv, i, loaded)
    inside = loaded and (s.one_pass or s.alpha[i] < s.C[i])
    s.count.n_inside = _member(s.inside, s.inside_at, s.count.n_inside, i, inside)
    s.count.sv_most = max(s.count.sv_most, s.count.n_sv)
    if s.hoard and not loaded and s.slot[i] >= 0:
        _release(s, i)


@inner()
def _member(members, at, size, i, wanted):
    """Enter i in the list or take it out (the last member takes its place); how many it has then."""
    if wanted and at[i] < 0:
        at[i], members[size] = size, i
        size += 1
    elif not wanted and at[i] >= 0:
        size -= 1
        last = members[size]
        members[at[i]], at[last] = last, at[i]
        at[i] = -1
    return size


@inner()
def _sides(s, i):
    """Whether i is in I_up, in I_low."""
    room, loaded = s.alpha[i] < s.C[i], s.alpha[i] > 0
    return (room, loaded) if s.y[i] > 0 else (loaded, room)


@inner()
def _consider(s, i):
    up, low = _sides(s, i)
    if up and s.f[i] < s.edge[0]:
        s.edge[0], s.count.i_up = s.f[i], i
    if low and s.f[i] > s.edge[1]:
        s.edge[1], s.count.i_low = s.f[i], i


@inner()
def _find_edges(s, i, j):
    """b_up and b_low over the inside and the pair that moved."""
    s.edge[0], s.edge[1] = np.inf, -np.inf
    for t in range(s.count.n_inside):
        _consider(s, s.inside[t])
    _consider(s, i)
    _consider(s, j)


@inner()
def _output(s, i):
    """f_i from all present SVs."""
    m = s.count.n_sv
    values = np.empty(m, np.float32)
    _kernel_row(s, i, s.sv[:m], values)
    total = -s.y[i]
    for t in range(m):
        j = s.sv[t]
        total += s.alpha[j] * s.y[j] * np.float64(values[t])
    return total


@native()
def _outputs(s, first, budget):
    """f of the examples from `first` on until `budget` kernel values were computed or looked up; where it ended."""
    n, c = s.y.shape[0], s.count
    stop = c.evals + c.looks + budget
    while first < n and c.evals + c.looks < stop:
        if s.inside_at[first] < 0:
            s.f[first] = _output(s, first)
        first += 1
    return first
