"""The gap in double precision: f of the examples that decide, computed afresh from the SVs.

    f_i = sum_j alpha_j y_j K_ij - y_i          sums in float64, and kernel values of all kernels
                                                but those that fill their own blocks

The working f differs from this by what single precision loses, for example i by some e_i. Errors of kernel values grow
with both examples' lengths s, so that |e_i| <= e s_i; s_i = sqrt(K_ii) (Cauchy and Schwarz), or |x_i|^2 where values do
not grow with it. Support vectors within a working set may have exact f while others have lost digits in every round,
so that no support vectors, free and bound ones have an e each. A first look computes f anew for the ends of both index
sets, the longest examples and a random sample of each of the three kinds: it measures their e, by those examples that
have lost anything. Then for every example whose working f lies within its own e s_i of an end, as long as they are few:
what lies farther inside cannot decide the gap.
Where they are many, the gap is known to what they leave open, and a target that is smaller by as much settles it with
some more pairs.

A machine whose exact gap is above tol goes on to a smaller target. Where errors are no longer small beside tol, f is
computed afresh first for all that may decide, however many; then rounds add small changes to exact values, as iterative
refinement does with linear equations. After TRIES such attempts that bring the gap no nearer, single precision has
given what it can. With a very large C sums in double precision lose tol too, |e_i| <= 2^-52 sqrt(K_ii) sum_j alpha_j
sqrt(K_jj): no gap is known to be small then.
"""

import numpy as np

from svmcore.gram.sources import Gram
from svmcore.solvers.session import Session
from svmcore.solvers.smo import index_sets, kkt_gap

ENDS = 8  # examples of the first look that lie nearest to each end
LONGEST = 16  # examples of the first look that are the longest
SAMPLE = 16, 4, 4  # of each kind, at least half at random beside the longest: f of SVs is kept best
SAFETY = 6.0  # times the root mean square of the errors e_i / s_i seen, what the largest is supposed to be
UNSURE = 4  # errors seen, of which that is twice as much; of more of them less, as their mean square is better known
LONG = 1.5  # times the median length, where an example counts as long
FEW = 512  # examples that are computed anew in one look; of half as many, all
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
        length, self.root = gram.lengths(), np.sqrt(np.abs(gram.diag.astype(np.float64)))
        self.usual = max(float(np.median(length)), np.finfo(np.float32).tiny)
        self.length = np.maximum(length, self.usual)  # (n,); a kernel that is not definite may go beyond a short one's

    def gap(self, m: int, alpha, f) -> tuple[float, float]:
        """(gap, b) of machine m; f (n,) is corrected where it was computed anew: if rough, wherever it may decide."""
        look = _Look(self, m, alpha, f)
        at = look.first()
        while len(at):
            look.compute(at)
            at = look.wanted()
            if len(at) > FEW:
                at = at[self.length[at] > LONG * self.usual][:FEW]
        gap, b = self._at_most(m, alpha, f, look.error)
        self.known[m] = gap <= self.tol
        if self.known[m]:
            return gap, b
        unknown = max(2 * look.e.max() * self.usual, gap - kkt_gap(self.Y[m], self.C[m], alpha, f)[0])
        rough = not unknown <= 2 * ROUGH * self.tol
        room = self.tol if rough else self.tol - unknown  # no errors are left once f is computed afresh
        self.target[m] = max(NARROWER * min(self.target[m], room), self.tol / 16)
        if not rough:
            return gap, b
        while len(wanted := look.wanted()):
            look.compute(wanted)
        return self._tried(m, alpha, f, look.error)

    def afresh(self, m: int, alpha, f) -> tuple[float, float]:
        """(gap, b) of machine m with all of f (n,) computed anew; an attempt that may be the last."""
        f[:] = self.f(m, alpha, np.arange(len(f)))
        return self._tried(m, alpha, f, self.rounding(alpha))

    def _tried(self, m: int, alpha, f, error) -> tuple[float, float]:
        """(gap, b) of machine m, an attempt that may be the last."""
        gap, b = self._at_most(m, alpha, f, error)
        self.known[m] = gap <= self.tol
        self._failed[m] = self._failed[m] + 1 if gap > NEARER * self._best[m] else 0
        self._best[m] = min(gap, self._best[m])
        self.given_up[m] = not self.known[m] and self._failed[m] >= TRIES
        return gap, b

    def _at_most(self, m: int, alpha, f, error) -> tuple[float, float]:
        """(gap, b) of machine m: the largest gap that so large an error (n,) of f leaves possible."""
        up, low = index_sets(self.Y[m], self.C[m], alpha)
        gap, b = kkt_gap(self.Y[m], self.C[m], alpha, f)
        open_to = (f + error)[low].max(initial=-np.inf) - (f - error)[up].min(initial=np.inf)
        return max(gap, float(open_to)), b

    def rounding(self, alpha) -> np.ndarray:
        """What f (n,) of these alpha (n,) may lose in double precision."""
        return np.finfo(float).eps * (alpha @ self.root) * self.root

    def f(self, m: int, alpha, at) -> np.ndarray:
        """f (len(at),) of some examples of machine m."""
        support = np.flatnonzero(alpha > 0)
        return self.gram.exact_sums(at, support, (alpha * self.Y[m])[support], self.session) - self.Y[m, at]


class _Look:
    """One look at a machine: alpha, f (n,); kind (n,), 0 of no support vector, 1 of a free one, 2 of a bound one;
    e (3,), what errors of each kind are, in lengths; error (n,), what each f may have lost."""

    def __init__(self, exact: Exact, m: int, alpha, f):
        self.exact, self.m, self.alpha, self.f = exact, m, alpha, f
        self.up, self.low = index_sets(exact.Y[m], exact.C[m], alpha)
        self.rounding = exact.rounding(alpha)
        self.kind = (alpha > 0).astype(int) + (alpha >= exact.C[m])
        self.computed, self.e, self.error = np.zeros(len(f), bool), np.zeros(3), self.rounding

    def first(self) -> np.ndarray:
        """What is computed first."""
        either, length = np.flatnonzero(self.up | self.low), self.exact.length
        if len(either) <= FEW // 2:
            return either
        longest = _ends(length > LONG * self.exact.usual, -length, LONGEST)
        samples = []
        for kind, count in enumerate(SAMPLE):
            of = either[self.kind[either] == kind]
            more = max(count - np.count_nonzero(self.kind[longest] == kind), count // 2)
            samples.append(self.exact.rng.choice(of, min(more, len(of)), replace=False))
        ends = _ends(self.up, self.f, ENDS), _ends(self.low, -self.f, ENDS)
        return np.unique(np.concatenate([*ends, longest, *samples]))

    def compute(self, at) -> None:
        """f of these examples, and what it tells of the errors of the others."""
        values, length = self.exact.f(self.m, self.alpha, at), self.exact.length
        error = np.abs(values - self.f[at])
        for kind in range(3):
            lost = (error / length[at])[(self.kind[at] == kind) & ~(error <= self.rounding[at])]
            if len(lost):
                supposed = SAFETY * (1 + UNSURE / len(lost)) * np.sqrt(np.mean(lost**2))
                self.e[kind] = np.max([self.e[kind], supposed, lost.max()])
        self.f[at], self.computed[at] = values, True
        self.error = np.where(self.computed, self.rounding, self.e[self.kind] * length + self.rounding)

    def wanted(self) -> np.ndarray:
        """The examples not computed yet that may decide the gap."""
        f, error, known = self.f, self.error, self.computed
        least, most = f[self.up & known].min(initial=np.inf), f[self.low & known].max(initial=-np.inf)
        inside = (~self.up | (f - error >= least)) & (~self.low | (f + error <= most))
        return np.flatnonzero(~(known | inside))


def _ends(members, f, count: int) -> np.ndarray:
    """So many of the members, with the least f."""
    at = np.flatnonzero(members)
    return at if len(at) <= count else at[np.argpartition(f[at], count)[:count]]
