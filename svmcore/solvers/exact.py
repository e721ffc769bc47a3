"""The gap in double precision: f of the examples that decide, computed afresh from the SVs.

    f_i = sum_j alpha_j y_j K_ij - y_i          sums in float64, and kernel values of all kernels
                                                but those that fill their own blocks

The working f differs from this by what single precision loses, for example i by some e_i. Each change d of the
multipliers by which f_i was brought up to date, since it was computed in double precision, has lost some of it at
random, and errors of kernel values grow with both examples' lengths, so that

    |e_i| <= e s_i w_i,    w_i^2 = sum over changes d of sum_j d_j^2 K_jj

s_i = sqrt(K_ii) (Cauchy and Schwarz), or |x_i|^2 where values do not grow with it. A first look computes f anew for the
ends of both index sets, the largest s_i w_i and a random sample of the others: it measures e. Where a kernel is so
narrow that few examples have large neighbours, a few errors are many times the usual one: then a larger sample tells
how large, and e is some times the largest. After that, f is computed for every example whose working f lies within
e s_i w_i of an end, if they are few. The others lie farther inside and cannot decide the gap.
Where they are many, the gap is known to what they leave open, and a target that is smaller by as much settles it with
some more pairs. Where machines are alike, of the same labels on nearly the same examples (folds), one whose gap is at
most tol with ALIKE times the e of those before it needs no look of its own.

A machine whose exact gap is above tol goes on to a smaller target. Where errors are no longer small beside tol, f is
computed afresh first for all that may decide, however many; then rounds add small changes to exact values, as iterative
refinement does with linear equations. After TRIES such attempts that bring the gap no nearer, single precision has
given what it can. With a very large C sums in double precision lose tol too, |e_i| <= 2^-52 sqrt(K_ii) sum_j alpha_j
sqrt(K_jj): no gap is known to be small then.
"""

from functools import cached_property

import numpy as np

from svmcore.gram.sources import Gram
from svmcore.solvers.session import Session
from svmcore.solvers.smo import index_sets, kkt_gap

ENDS = 8  # examples of the first look that lie nearest to each end
LARGEST = 16  # examples of the first look that may have lost most
SAMPLE = 24  # examples of the first look at random, of those that have lost anything
SAFETY = 6.0  # times the root mean square of the errors e_i / (s_i w_i) seen, what the largest is supposed to be
UNSURE = 4  # errors seen, of which that is twice as much; of more of them less, as their mean square is better known
HEAVY, SAMPLES, TAIL = 8.0, 512, 6.0  # times the median error, the largest from which on some are that large; examples
# of the larger sample; times its largest error, what the largest of all is supposed to be
MATTERS = 0.05  # share of tol that an error of e takes, from which on the larger sample is worth it
ALIKE = 2.0  # times the e of other machines, what one that was not looked at is supposed to have
MUCH = 1.5  # times what an example has lost in the median, where one has lost much
FEW = 512  # examples that are computed anew in one look; of half as many, all
ROUGH = 0.4  # share of tol above which the errors of the working f are too large to go on with
NARROWER = 0.9  # times what is left of tol, the next target of a machine whose exact gap is above tol
TRIES, NEARER = 3, 0.7  # attempts that may fail in turn; an attempt fails that leaves more than this of the gap


class Exact:
    """What is known of k machines in double precision; arrays (k,).

    target: working gap at which a machine is looked at; known: its gap is exact for the present alpha, and at most tol;
    given_up: no attempt brings its gap nearer to tol. rng: a generator, or the seed of one.
    """

    def __init__(self, gram: Gram, Y, C, tol: float, session: Session, rng):
        self.gram, self.Y, self.C, self.tol, self.session = gram, Y, C, tol, session
        k = len(Y)
        self.target = np.full(k, float(tol))
        self.known, self.given_up = np.zeros(k, bool), np.zeros(k, bool)
        self._rng = rng
        self.like = None  # (k,) which machines are alike, those of one number; None where none are
        self._e: dict[int, float] = {}  # by that number, the largest of their looks
        self._best, self._failed = np.full(k, np.inf), np.zeros(k, int)
        length, self.root = gram.lengths(), np.sqrt(np.abs(gram.diag.astype(np.float64)))
        usual = max(_median(length), np.finfo(np.float32).tiny)
        self.length = np.maximum(length, usual)  # (n,); a kernel that is not definite may go beyond a short one's

    @cached_property
    def draws(self) -> list[np.random.Generator]:
        """Of each machine its own: what one draws does not depend on the others."""
        return np.random.default_rng(self._rng).spawn(len(self.Y))

    def gap(self, m: int, alpha, f, lost=None) -> tuple[float, float]:
        """(gap, b) of machine m; f (n,) is corrected where it was computed anew: if rough, wherever it may decide. lost
        (n,): w, which is 0 then; None where all f came about alike."""
        lost = np.ones(len(f)) if lost is None else lost
        alike = None if self.like is None else int(self.like[m])
        if alike in self._e:
            supposed = ALIKE * self._e[alike] * self.length * lost + self.rounding(alpha)
            gap, b = self._at_most(m, alpha, f, supposed)
            self.known[m] = gap <= self.tol
            if self.known[m]:
                return gap, b
        look = _Look(self, m, alpha, f, lost)
        at = look.first()
        while len(at):
            look.compute(at)
            at = look.more()
        if alike is not None and look.e > 0:
            self._e[alike] = max(look.e, self._e.get(alike, 0.0))
        gap, b = self._at_most(m, alpha, f, look.error)
        self.known[m] = gap <= self.tol
        if self.known[m]:
            return gap, b
        unknown = max(2 * look.e * look.usual, gap - kkt_gap(self.Y[m], self.C[m], alpha, f)[0])
        rough = not unknown <= 2 * ROUGH * self.tol
        room = self.tol if rough else self.tol - unknown  # no errors are left once f is computed afresh
        self.target[m] = max(NARROWER * min(self.target[m], room), self.tol / 16)
        if not rough:
            return gap, b
        while len(wanted := look.wanted()):
            look.compute(wanted)
        return self._tried(m, alpha, f, look.error)

    def afresh(self, m: int, alpha, f, lost) -> tuple[float, float]:
        """(gap, b) of machine m with all of f (n,) computed anew; an attempt that may be the last."""
        f[:], lost[:] = self.f(m, alpha, np.arange(len(f))), 0
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

    def weight(self, change, of=slice(None)) -> float:
        """sqrt(sum_j d_j^2 K_jj), of a change d of the alpha of the examples `of`."""
        return float(np.linalg.norm(change * self.root[of]))

    def rounding(self, alpha) -> np.ndarray:
        """What f (n,) of these alpha (n,) may lose in double precision."""
        return np.finfo(float).eps * (alpha @ self.root) * self.root

    def f(self, m: int, alpha, at) -> np.ndarray:
        """f (len(at),) of some examples of machine m."""
        support = np.flatnonzero(alpha > 0)
        return self.gram.exact_sums(at, support, (alpha * self.Y[m])[support], self.session) - self.Y[m, at]


class _Look:
    """One look at a machine: alpha, f, lost (n,); scale (n,), s_i w_i; usual: the median of those that are not 0; e;
    error (n,), what each f may have lost."""

    def __init__(self, exact: Exact, m: int, alpha, f, lost):
        self.exact, self.m, self.alpha, self.f, self.lost = exact, m, alpha, f, lost
        self.up, self.low = index_sets(exact.Y[m], exact.C[m], alpha)
        self.rounding = exact.rounding(alpha)
        self.scale = exact.length * lost
        some = self.scale[self.scale > 0]
        self.usual = _median(some) if len(some) else 0.0
        self.computed, self.e, self.error = np.zeros(len(f), bool), 0.0, self.rounding
        self.uneven = self.sampled_more = False

    def first(self) -> np.ndarray:
        """What is computed first."""
        either, scale = np.flatnonzero(self.up | self.low), self.scale
        if len(either) <= FEW // 2:
            return either
        largest = _ends(scale > MUCH * self.usual, -scale, LARGEST)
        inexact, count = either[scale[either] > 0], max(SAMPLE - len(largest), SAMPLE // 2)
        sample = self.exact.draws[self.m].choice(inexact, min(count, len(inexact)), replace=False)
        ends = _ends(self.up, self.f, ENDS), _ends(self.low, -self.f, ENDS)
        return np.unique(np.concatenate([*ends, largest, sample]))

    def more(self) -> np.ndarray:
        """What is computed next: a larger sample where errors are uneven, once, then few of those that may decide."""
        if self.uneven and not self.sampled_more and self.e * self.usual > MATTERS * self.exact.tol:
            self.sampled_more, left = True, np.flatnonzero((self.up | self.low) & ~self.computed & (self.scale > 0))
            if len(left):
                return self.exact.draws[self.m].choice(left, min(SAMPLES, len(left)), replace=False)
        at = self.wanted()
        return at if len(at) <= FEW else at[self.scale[at] > MUCH * self.usual][:FEW]

    def compute(self, at) -> None:
        """f of these examples, and what it tells of the errors of the others."""
        values = self.exact.f(self.m, self.alpha, at)
        error, scale = np.abs(values - self.f[at]), self.scale[at]
        measured = (scale > 0) & ~(error <= self.rounding[at])
        if measured.any():
            each = error[measured] / scale[measured]
            supposed = SAFETY * (1 + UNSURE / len(each)) * np.sqrt(np.mean(each**2))
            self.uneven |= each.max() > HEAVY * _median(each)
            self.e = np.max([self.e, supposed, each.max() * (TAIL if self.uneven else 1.0)])
        self.f[at], self.lost[at], self.computed[at] = values, 0, True
        self.error = np.where(self.computed, self.rounding, self.e * self.scale + self.rounding)

    def wanted(self) -> np.ndarray:
        """The examples not computed yet that may decide the gap."""
        f, error, known = self.f, self.error, self.computed
        if known.all():
            return np.empty(0, np.intp)
        least, most = f[self.up & known].min(initial=np.inf), f[self.low & known].max(initial=-np.inf)
        inside = (~self.up | (f - error >= least)) & (~self.low | (f + error <= most))
        return np.flatnonzero(~(known | inside))


def _median(values) -> float:
    """As of NumPy, whose own takes as long as all else that is done with some hundred values."""
    middle = (len(values) - 1) // 2, len(values) // 2
    return float(np.partition(values, middle)[list(middle)].sum() / 2)


def _ends(members, f, count: int) -> np.ndarray:
    """So many of the members, with the least f."""
    at = np.flatnonzero(members)
    return at if len(at) <= count else at[np.argpartition(f[at], count)[:count]]
