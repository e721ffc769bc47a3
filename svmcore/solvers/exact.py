"""The gap in double precision: f of the examples that decide, computed afresh from the SVs.

    f_i = sum_j alpha_j y_j K_ij - y_i          kernel values, products and sums in float64

The working f differs from this by what single precision loses, e. A first look computes f anew for the ends of both
index sets and for a random sample: it measures e. Then for every example whose working f lies within e of an end, as
long as they are few: what lies farther inside cannot decide the gap. Where they are many, the gap is known to 2 e, and
a target that is smaller by as much settles it with some more pairs.

A machine whose exact gap is above tol goes on to a smaller target. Where e itself is no longer small beside tol, f is
computed afresh for all examples first; then rounds add small changes to exact values, as iterative refinement does with
linear equations. After TRIES such attempts that bring the gap no nearer, single precision has given what it can.
"""

from __future__ import annotations

import numpy as np

from svmcore.gram.sources import Gram
from svmcore.solvers.session import Session
from svmcore.solvers.smo import index_sets, kkt_gap

ENDS, SAMPLE = 8, 32  # examples of the first look: of each end, and drawn at random
SAFETY = 6.0  # times the root mean square of the errors seen, the largest error supposed
FEW = 512  # examples that are computed anew in one look
ROUGH = 0.4  # share of tol above which the errors of the working f are too large to go on with
NARROWER = 0.9  # times what is left of tol, the next target of a machine whose exact gap is above tol
TRIES, NEARER = 3, 0.7  # attempts that may fail in turn; an attempt fails that leaves more than this of the gap


class Exact:
    """What is known of k machines in double precision; arrays (k,).

    target: working gap at which a machine is looked at; known: its gap is exact for the present alpha, and at most tol;
    given_up: no attempt brings its gap nearer to tol.
    """

    def __init__(self, gram: Gram, Y, C, tol: float, session: Session, rng):
        self.gram, self.Y, self.C, self.tol, self.session, self.rng = gram, Y, C, tol, session, rng
        k = len(Y)
        self.target = np.full(k, float(tol))
        self.known, self.given_up = np.zeros(k, bool), np.zeros(k, bool)
        self._best, self._failed = np.full(k, np.inf), np.zeros(k, int)

    def gap(self, m: int, alpha, f) -> tuple[float, float]:
        """(gap, b) of machine m; f (n,) is corrected where it was computed anew, everywhere if it was rough."""
        up, low = index_sets(self.Y[m], self.C[m], alpha)
        computed, error = np.zeros(len(f), bool), 0.0
        wanted = self._first_look(up, low, f)
        while 0 < len(wanted) <= FEW:
            values = self._f(m, alpha, wanted)
            lost = values - f[wanted]
            error = max(error, SAFETY * float(np.sqrt(np.mean(lost**2))), float(np.abs(lost).max()))
            f[wanted], computed[wanted] = values, True
            least, most = f[up & computed].min(initial=np.inf), f[low & computed].max(initial=-np.inf)
            wanted = np.flatnonzero(~computed & ((up & (f < least + error)) | (low & (f > most - error))))
        gap, b = kkt_gap(self.Y[m], self.C[m], alpha, f)
        most_gap = gap + 2 * error if len(wanted) else gap  # none of those left is farther out than its error
        self.known[m] = most_gap <= self.tol
        if self.known[m]:
            return most_gap, b
        rough = error > ROUGH * self.tol
        room = self.tol if rough else self.tol - 2 * error  # no errors are left once f is computed afresh
        self.target[m] = max(NARROWER * min(self.target[m], room), self.tol / 16)
        return self.afresh(m, alpha, f, ~computed) if rough else (gap, b)

    def afresh(self, m: int, alpha, f, wanted=None) -> tuple[float, float]:
        """(gap, b) of machine m with all of f (n,), or what is wanted of it, computed anew; an attempt that may be the
        last."""
        at = np.arange(len(f)) if wanted is None else np.flatnonzero(wanted)
        f[at] = self._f(m, alpha, at)
        gap, b = kkt_gap(self.Y[m], self.C[m], alpha, f)
        self.known[m] = gap <= self.tol
        self._failed[m] = self._failed[m] + 1 if gap > NEARER * self._best[m] else 0
        self._best[m] = min(gap, self._best[m])
        self.given_up[m] = not self.known[m] and self._failed[m] >= TRIES
        return gap, b

    def _first_look(self, up, low, f) -> np.ndarray:
        either = np.flatnonzero(up | low)
        sample = self.rng.choice(either, min(SAMPLE, len(either)), replace=False)
        return np.unique(np.concatenate([_ends(up, f), _ends(low, -f), sample]))

    def _f(self, m: int, alpha, at) -> np.ndarray:
        """f (len(at),) of some examples of machine m."""
        support = np.flatnonzero(alpha > 0)
        return self.gram.exact_sums(at, support, (alpha * self.Y[m])[support], self.session) - self.Y[m, at]


def _ends(members, f) -> np.ndarray:
    """The members with the least f."""
    at = np.flatnonzero(members)
    return at if len(at) <= ENDS else at[np.argpartition(f[at], ENDS)[:ENDS]]
