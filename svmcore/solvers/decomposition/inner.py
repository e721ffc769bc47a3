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


class Inner(Reported):
    """Base of the rounds, of whose state it changes alpha, f and iterations of one machine at a time."""

    apart = False  # whether pairs lie within a class (nu.py)

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

        patience, moved, gap, room = PATIENCE * len(chosen), 0, np.inf, self._room(len(chosen))
        while True:
            pairs = smo.pairs(blocks, which, y, C, alpha, f, self.apart)
            most = min(self.limit - self.iterations[m], patience)
            done, gap = smo.solve(pairs, tol, go_on, most, lambda: self.session.burst)
            moved += done
            if gap <= tol or done < patience or self.session.stopped:
                break
            if not self.apart and moved >= free.worth(alpha, C, room):
                self._settle_free(chosen, y, C, alpha, f, tol, lambda: go_on(0), room)
                moved = 0
        self.alpha[m, chosen], self.f[m, chosen] = alpha, f

    def _settle_free(self, chosen, y, C, alpha, f, tol, going, room) -> None:
        """Second-order steps of a machine's free SVs among `chosen`, whose alpha and f change in place."""
        try:
            support = np.flatnonzero(alpha)
            coef = (alpha * y)[support]
            f[:] = self.gram.exact_sums(chosen, chosen[support], coef, self.session) - y
            rows = lambda i: self.gram.exact(chosen[i], chosen, self.session)  # noqa: E731
            steps = free.Free(rows, y, C, alpha, f, going, room)
            steps.settle(tol)
        except Stopped:
            return
        self.session.second_order += steps.factors

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
