"""One machine on its working set: pairs of multipliers, and where they crawl second-order steps on the free set.

The set's Gram matrix K (m, m) float32 is given, grown from that of the last set, or computed in memory that a thread
is lent.
"""

from __future__ import annotations

import numpy as np

from svmcore.gram.sources import PLAIN
from svmcore.solvers import free, smo
from svmcore.solvers.decomposition.reported import Reported
from svmcore.solvers.progress import Stopped

LOOSE = 0.05  # gap at which a round on a sample is left
ROUGHLY = 0.05  # times the present gap of all examples, the gap that a set is solved to which stays for the next round
PATIENCE = 10  # pairs for each example of a set before it is asked whether steps on the free set cost less
NEARER, GAINS = 0.7, 1e-3  # a call of steps is futile that leaves more than this of the gap, and adds less to the dual
FUTILE = 2  # such calls in turn, after which a machine has come as far as it can, unless memory cuts its steps short


class Inner(Reported):
    """Base of the rounds, of whose state it changes alpha, f and iterations of one machine at a time."""

    apart = False  # whether pairs lie within a class (nu.py)

    def _ended(self) -> np.ndarray:
        """Machines (k,) that may not go on: their pairs, or what steps can do, are at an end."""
        return (self.iterations >= self.limit) | ((self.futile >= FUTILE) & ~self.cramped)

    def _solve_set(self, m, chosen, K) -> None:
        """Machine m on its working set, in a thread of its own."""
        self.session.check()
        if self.square:
            return self._solve_on(m, chosen, self.square.hold(chosen)[None], PLAIN)
        if K is not None or self.K is not None:
            return self._solve_on(m, chosen, *(K or self.K))
        space = self.spaces.get()
        try:
            K = self.gram.square(chosen, self.session, as_matrix(space, len(chosen)))
            return self._solve_on(m, chosen, K[None], PLAIN)
        finally:
            self.spaces.put(space)

    def _solve_on(self, m, chosen, blocks, which, tol=None) -> None:
        """Machine m on `chosen`, whose Gram matrix lies in `blocks`, to `tol`: by pairs, and where they crawl by steps
        on the free set."""
        whole, values = len(chosen) == self.n, (self.Y, self.C, self.alpha, self.f)
        y, C, alpha, f = (array[m, chosen] for array in values)
        tol = tol or self._tolerance(m, whole)

        def go_on(iterations):
            gap, b = smo.kkt_gap(y, C, alpha, f, self.apart)
            all_alpha, all_f = self.alpha[m].copy(), self.f[m].copy()
            all_alpha[chosen], all_f[chosen] = alpha, f
            self.iterations[m] += iterations
            gap = gap if whole else max(gap, self.gaps[m])  # of all n, as last seen
            return self.session.see(iterations, lambda: self._see(m, all_alpha, all_f, gap, b))

        others = np.count_nonzero(self.alpha[m]) - np.count_nonzero(alpha)
        patience, moved, room = PATIENCE * len(chosen), 0, self._room(len(chosen))
        best, beta_then, f_then = smo.kkt_gap(y, C, alpha, f, self.apart)[0], alpha * y, f.copy()
        while True:
            pairs = smo.pairs(blocks, which, y, C, alpha, f, self.apart)
            most = min(self.limit - self.iterations[m], patience)
            done, gap = smo.solve(pairs, tol, go_on, most, lambda: self.session.burst)
            moved += done
            if gap <= tol or done < patience or self.session.stopped:
                break
            self.cramped[m] = free.cramped(alpha, C, room)
            if moved < free.worth(alpha, C, room, others):
                continue
            moved, self.alpha[m, chosen] = 0, alpha
            self._settle_free(m, chosen, y, C, alpha, f, tol, lambda: go_on(0), room)
            gap, beta = smo.kkt_gap(y, C, alpha, f, self.apart)[0], alpha * y
            gain = (beta_then - beta) @ (f_then + f) / 2  # of the dual objective, pairs and steps together
            if gap <= NEARER * best or gain > GAINS * abs(self.seen[m].dual):
                self.futile[m] = 0
            else:
                self.futile[m], patience = self.futile[m] + 1, 2 * patience
            best, beta_then, f_then = min(gap, best), beta, f.copy()
            if gap <= tol or self._ended()[m] or self.session.stopped:
                break
        self.alpha[m, chosen], self.f[m, chosen] = alpha, f

    def _settle_free(self, m, chosen, y, C, alpha, f, tol, going, room) -> None:
        """Second-order steps of machine m's free SVs among `chosen`, whose alpha and f change in place; its other SVs
        stay as they are."""
        try:
            support = np.flatnonzero(self.alpha[m])
            coef = (self.alpha[m] * self.Y[m])[support]
            f[:] = self.gram.exact_sums(chosen, support, coef, self.session) - y
            rows = lambda i: self.gram.exact(chosen[i], chosen, self.session)  # noqa: E731
            steps = free.Free(rows, y, C, alpha, f, going, room, self.apart)
            steps.settle(tol)
            self.iterations[m] += round(steps.pairs)
            self.session.count(iterations=round(steps.pairs), second_order=steps.factors)
        except Stopped:
            return

    def _room(self, m: int) -> int:
        """Bytes that a working set of m examples leaves to its thread; the whole matrix serves all threads, and is not
        counted where the source came with it."""
        if self.K is None:
            return self.square_bytes // self.threads - 4 * m * m
        return (self.square_bytes - (0 if self.given else 4 * m * m)) // self.threads

    def _tolerance(self, m, whole: bool) -> float:
        """The gap that machine m is solved to on its next set."""
        target = self.exact.target[m]
        if whole:
            return target
        rough = ROUGHLY * self.gaps[m] if self.square else 0.0
        return max(target / 2, rough if self.alpha[m].any() else LOOSE)


def as_matrix(space, n) -> np.ndarray:
    """(n, n) at the beginning of lent memory."""
    return space[: n * n].reshape(n, n)
