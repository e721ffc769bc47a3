"""One machine on its working set: pairs of multipliers, and where they crawl second-order steps on the free set.

The set's Gram matrix K (m, m) float32 is given, grown from that of the last set, or computed in memory that a thread
is lent. Of the state only machine m's alpha, f, what f has lost, and counts change.
"""

import numpy as np

from svmcore.gram.sources import NO_REST, PLAIN
from svmcore.solvers import free, smo
from svmcore.solvers.decomposition.look import see
from svmcore.solvers.decomposition.state import State
from svmcore.solvers.progress import Stopped

LOOSE = 0.05  # gap at which a round on a sample is left
ROUGHLY = 0.05  # times the present gap of all examples, the gap that a set is solved to which stays for the next round
PATIENCE = 10  # pairs for each example of a set before it is asked whether steps on the free set cost less
NEARER, GAINS = 0.7, 1e-3  # a call of steps is futile that leaves more than this of the gap, and adds less to the dual


def solve_set(s: State, m: int, chosen, K) -> None:
    """Machine m on its working set, in a thread of its own; K, as of Gram.values: its Gram matrix, where
    sets share it."""
    s.session.check_when_due()
    if s.square:
        return solve_on(s, m, chosen, s.square.hold(chosen)[None], PLAIN)
    if K is not None or s.K is not None:
        return solve_on(s, m, chosen, *(K or s.K))
    space = s.spaces.get()
    try:
        K = s.gram.square(chosen, s.session, as_matrix(space, len(chosen)))
        return solve_on(s, m, chosen, K[None], PLAIN)
    finally:
        s.spaces.put(space)


def solve_on(s: State, m: int, chosen, blocks, which, rest=NO_REST, *, tol: float | None = None) -> None:
    """Machine m on `chosen`, whose Gram matrix lies in `blocks`, to `tol`: by pairs, and where they crawl by steps on
    the free set."""
    whole = len(chosen) == s.n
    y, C, alpha, f = s.of(m, chosen)
    tol = tol or _tolerance(s, m, whole)

    def go_on(iterations):
        gap, b = smo.kkt_gap(y, C, alpha, f, s.apart)
        all_alpha, all_f = s.alpha[m].copy(), s.f[m].copy()
        all_alpha[chosen], all_f[chosen] = alpha, f
        s.iterations[m] += iterations
        gap = gap if whole else max(gap, s.gaps[m])  # of all n, as last seen
        return s.session.see(iterations, lambda: see(s, m, all_alpha, all_f, gap, b))

    others = np.count_nonzero(s.alpha[m]) - np.count_nonzero(alpha)
    patience, moved, room = PATIENCE * len(chosen), 0, _room(s, len(chosen))
    best, beta_then, f_then = smo.kkt_gap(y, C, alpha, f, s.apart)[0], alpha * y, f.copy()
    since = alpha.copy()
    while True:
        pairs = smo.pairs(blocks, which, y, C, alpha, f, s.apart, rest, s.bounded[m : m + 1])
        most = min(s.limit - s.iterations[m], patience)
        done, gap = smo.solve(pairs, tol, go_on, most, lambda: s.session.burst)
        moved += done
        if gap <= tol or done < patience or s.session.stopped:
            break
        s.cramped[m] = free.cramped(alpha, C, room)
        if moved < free.worth(alpha, C, room, others):
            continue
        moved, s.alpha[m, chosen] = 0, alpha
        settle_free(s, m, chosen, y, C, alpha, f, tol, lambda: go_on(0), room)
        since = alpha.copy()
        gap, beta = smo.kkt_gap(y, C, alpha, f, s.apart)[0], alpha * y
        gain = (beta_then - beta) @ (f_then + f) / 2  # of the dual objective, pairs and steps together
        if gap <= NEARER * best or gain > GAINS * abs(s.seen[m].dual):
            s.futile[m] = 0
        else:
            s.futile[m], patience = s.futile[m] + 1, 2 * patience
        best, beta_then, f_then = min(gap, best), beta, f.copy()
        if gap <= tol or s.ended()[m] or s.session.stopped:
            break
    s.alpha[m, chosen], s.f[m, chosen] = alpha, f
    s.changed(m, chosen, alpha - since, chosen)


def settle_free(s: State, m: int, chosen, y, C, alpha, f, tol: float, going, room: int) -> None:
    """Second-order steps of machine m's free SVs among `chosen`, whose alpha and f change in place; its other SVs
    stay as they are."""
    s.bounded[m] = True  # for all that is known
    try:
        support = np.flatnonzero(s.alpha[m])
        coef = (s.alpha[m] * s.Y[m])[support]
        f[:], s.lost[m, chosen] = s.gram.exact_sums(chosen, support, coef, s.session) - y, 0
        rows = lambda i: s.gram.exact(chosen[i], chosen, s.session)  # noqa: E731
        steps = free.Free(rows, y, C, alpha, f, going, room, s.apart)
        steps.settle(tol)
        s.iterations[m] += round(steps.pairs)
        s.session.count(iterations=round(steps.pairs), second_order=steps.steps)
    except Stopped:
        return


def _room(s: State, m: int) -> int:
    """Bytes that a working set of m examples leaves to its thread; the whole matrix serves all threads, and is not
    counted where the source came with it."""
    if s.K is None:
        return s.square_bytes // s.threads - 4 * m * m
    return (s.square_bytes - (0 if s.given else 4 * m * m)) // s.threads


def _tolerance(s: State, m: int, whole: bool) -> float:
    """The gap that machine m is solved to on its next set."""
    target = s.exact.target[m]
    if whole:
        return max(target, s.floor[m])
    rough = ROUGHLY * s.gaps[m] if s.square else 0.0
    return max(target / 2, LOOSE if s.sampling else rough, s.floor[m])


def as_matrix(space, n: int) -> np.ndarray:
    """(n, n) at the beginning of lent memory."""
    return space[: n * n].reshape(n, n)
