"""Second-order steps on the free support vectors, for problems on which pairs crawl: large C, few dimensions.

    beta_i = y_i alpha_i,    f = K beta - y          F = {i: 0 < alpha_i < C_i}

The best beta on F, all others as they are, makes f the same for all of F:

    K_FF delta = level - f_F,    sum_F delta = 0           level: the multiplier of the sum

nu-SVC fixes the sum over each class (nu.py): then there are two such sums, and f has a level in each class.

P = (K_FF + r I)^-1 with a ridge r gives a first step; where it has left f uneven, conjugate gradients that P
preconditions give the next ones, and where they bring little the ridge becomes smaller. P is computed once: an example
that leaves F, or some that come in, change it by as many ranks,

    P' = P_RR - P_RG P_GG^-1 P_GR                                            R: remain, G: gone
    P' = [[P + T B'P, -T], [-T', S^-1]],   S = K_NN + r I - B'P B,  T = P B S^-1,  B = K_FN              N: new

A step is walked as far as the box allows; an example that reaches its bound stays there, and the others go on as is
best without it. When f is level, the worst violators of the others come into F. Each step raises the dual objective,
so that they end at the optimum, as active-set methods do: Scheinberg, Journal of Machine Learning Research 7 (2006).

Sums are made in double precision, and so are the kernel values, which are computed for F alone: C = 1e6 multiplies what
single precision loses. Kernels that fill their own blocks have values of single precision alone.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from svmcore.gram.threads import CORES, cut, side_by_side
from svmcore.solvers.smo import fixed_sums, index_sets, kkt_gap

MOST = 6000  # examples of F at most, those farthest from level; P of 6,000 takes 5 s to compute
PANEL = 200  # columns of a factor, and rows of K, between two looks at whether to go on
PART = 200  # rows of kernel values, and no more than a quarter of the memory, that a working set leaves to steps
SQUARES = 3  # matrices as large as K_FF that a step holds
RIDGE, LEAST, SMALLER = 1e-6, 1e-12, 1e-3  # of the mean K_ii: the first ridge and the least, and times one the next
LEVEL, HELPS = 0.1, 0.5  # times tol, the spread of f over F that counts as level; share of it that a step may leave
DROPS = 300  # examples that may reach a bound within one step
ENTER, FEW = 0.2, 20  # times the examples of F, the violators that come in at a time; at least so many
ROUNDING = 1e-10  # of what the dual changes by, that it may lose by rounding
ANEW = 0.25  # share of F that leaves or comes in at a time, above which P is computed anew
LARGE = 1200  # examples of F from which on that takes longer than ranks and gradients, which bounds cut short
GRADIENTS, CUTS = 25, 3  # conjugate gradients of a step; such steps on one F that bounds may cut short
STEPS, LIKELY = 60, 2  # steps of one call at most, and how many times P is expected to be computed
VALUE, FACTOR, READ, PASSED = 2.0, 1 / 60, 0.4, 0.9  # ns of a kernel value, of |F|^3 where P is computed, of a number
# that a product reads, of an example that a pair passes
OVERHEAD = 3e5  # ns of a step, however few its examples


def worth(alpha, C, room: int, others: int = 0) -> float:
    """Pairs that cost as much as a call does, on the examples of alpha (n,), of a machine with so many other support
    vectors; infinite where F is empty, or `room` bytes are too few for a part of it that is worth a factor."""
    n, free = len(alpha), np.count_nonzero((alpha > 0) & (alpha < C))
    capacity = _capacity(n, room)
    if not free or capacity < min(free, FEW):
        return np.inf
    free = min(free, capacity)
    return (VALUE * (free + others + np.count_nonzero(alpha)) + LIKELY * FACTOR * free**3 / n) / PASSED


def cramped(alpha, C, room: int) -> bool:
    """Whether steps would take in more of these free examples if `room` were larger."""
    return _capacity(len(alpha), room) < min(np.count_nonzero((alpha > 0) & (alpha < C)), MOST)


def set_size(n: int, room: int) -> int:
    """Examples of a working set, of n, whose Gram matrix lies in so many bytes and leaves some of them to steps."""
    square = room / 4
    return n if n * n <= square else int(max((square * 3 / 4) ** 0.5, (PART**2 + square) ** 0.5 - PART))


def _capacity(n: int, room: int) -> int:
    """Rows of n kernel values that may be kept in so many bytes, with what a step takes on as many examples."""
    of_a_row = n / (2 * SQUARES)
    rows = (of_a_row**2 + max(room, 0) / (8 * SQUARES)) ** 0.5 - of_a_row
    return int(min(rows, n, MOST))


class Free:
    """The free set of one machine. rows(idx) -> K (len(idx), n) float64; y, C, alpha, f (n,) float64, f exact; alpha
    and f change in place. going(): asked before each piece of work whether to go on. room: bytes that kernel values and
    factors may take; apart: as of smo.pairs. pairs: what the steps so far have cost, in pairs."""

    def __init__(self, rows, y, C, alpha, f, going, room: int, apart: bool = False):
        self.rows, self.y, self.C, self.alpha, self.f, self.going = rows, y, C, alpha, f, going
        self.beta, self.low, self.high = alpha * y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
        self.sums, self.apart, self.pairs, self.steps = fixed_sums(y, apart), apart, 0.0, 0
        capacity = _capacity(len(y), room)
        self.members = np.full(capacity, -1)  # examples whose rows of K are here, F among them; -1: none
        self.places = np.empty(0, np.int64)  # where among the members those of F are, in the order of P
        self.K = np.empty((capacity, len(y)))
        self.P = None  # None: to be computed
        self.ridge, self.scale = RIDGE, 1.0  # of P, in units of the mean K_ii of those of F that it was computed for
        self.changed = False  # whether ranks have changed P since it was computed
        self.spread = np.inf  # of f over F after the last step
        self.cuts = -1  # steps of gradients on this F that a bound has cut short; -1: P alone makes the next step
        free = np.flatnonzero((alpha > 0) & (alpha < C))
        away = np.abs(f - self._levels(free))[free]
        self._take_in(free[np.argsort(-away, kind="stable")[:capacity]])

    @property
    def F(self) -> np.ndarray:  # noqa: N802
        """(m,): the examples of F, in the order of P."""
        return self.members[self.places]

    @property
    def rows_here(self) -> np.ndarray:
        """(m', n): the rows of K of all members; they fill the first places."""
        return self.K[: np.count_nonzero(self.members >= 0)]

    def settle(self, tol: float) -> None:
        """Steps until the gap is at most tol, STEPS have been made, or someone asks for an end."""
        while self.steps < STEPS and self.going():
            self.steps += 1
            if len(self.places) < 2:
                if not len(self.places) or not self._enter(tol):
                    return
                continue
            if self.P is None and not self._compute():
                return
            whole = self._step(tol)
            settled = whole is None or (whole and self._level(tol))
            if settled and (self._gap() <= tol or not self._enter(tol)):
                return

    def _gap(self) -> float:
        return kkt_gap(self.y, self.C, self.alpha, self.f, self.apart)[0]

    def _levels(self, F) -> np.ndarray:
        """(n,): the level of each example's sum, the mean f of those of F that are in it."""
        levels, inside = np.empty(len(self.f)), np.zeros(len(self.f), bool)
        inside[F] = True
        for s in self.sums:
            own = s & inside
            others = self.y[s], self.C[s], self.alpha[s], self.f[s]
            levels[s] = self.f[own].mean() if own.any() else -kkt_gap(*others)[1]
        return levels

    def _cost(self, nanoseconds: float) -> None:
        self.pairs += nanoseconds / (PASSED * len(self.f))

    # The inverse

    def _compute(self) -> bool:
        """P anew, with a larger ridge where the matrix is not positive definite; False where it cannot be, or someone
        asks for an end."""
        while True:
            K = self.K[np.ix_(self.places, self.F)]
            self.scale = float(K.diagonal().mean())
            K[np.diag_indices(len(K))] += self.ridge * self.scale
            self._cost(FACTOR * len(K) ** 3)
            P = _inverse(K, self.going)
            if P is None:
                return False
            if len(P):
                self.P, self.changed = P, False
                return True
            self.ridge /= SMALLER
            if self.ridge > 1:
                return False

    def _changes(self, m: int, ranks: int) -> bool:
        """Whether to update P (m, m) by a matrix of this rank: if that is less work than computing P anew, and accurate
        enough."""
        return m >= LARGE and ranks <= ANEW * m and self.ridge == RIDGE

    def _leave(self, gone) -> None:
        """Those of F that `gone` (m,) marks are no longer in it."""
        remain, self.places = ~gone, self.places[~gone]
        if self.P is None or not self._changes(len(gone), np.count_nonzero(gone)):
            self.P = None
            return
        self._cost(4 * FACTOR * len(gone) ** 2 * np.count_nonzero(gone))
        L, failed = dpotrf(self.P[np.ix_(gone, gone)], lower=1)
        if failed:
            self.P = None
            return
        X = dtrtri(L, lower=1)[0] @ self.P[np.ix_(gone, remain)]
        P, self.P = self.P[np.ix_(remain, remain)], None
        _add_product(P, -X.T, X)
        self.P, self.changed = P, True

    def _join(self, new) -> None:
        """The members at the places `new` (q,) are in F from now on."""
        if not len(new):
            return
        m, P, F = len(self.places), self.P, self.F
        self.places, self.P = np.concatenate([self.places, new]), None
        if P is None or not self._changes(m, len(new)):
            return
        self._cost(4 * FACTOR * m**2 * len(new))
        B, N = self.K[np.ix_(new, F)].T, self.members[new]
        PB = _product(P, np.ascontiguousarray(B))
        S = self.K[np.ix_(new, N)] - B.T @ PB
        S[np.diag_indices(len(S))] += self.ridge * self.scale
        inverse = _inverse(S, lambda: True)
        if not len(inverse):
            return
        T = PB @ inverse
        self.P = np.empty((m + len(new), m + len(new)))
        self.P[:m, :m] = P
        _add_product(self.P[:m, :m], T, PB.T)
        self.P[:m, m:], self.P[m:, :m], self.P[m:, m:] = -T, -T.T, inverse
        self.changed = True

    # Steps

    def _step(self, tol: float) -> bool | None:
        """One step; whether it went its whole way. None where rounding leaves nothing to go by."""
        F = self.F
        A = self.sums[:, F][self.sums[:, F].any(1)].astype(float)
        along = A @ self.P  # (g, m); without it P changes none of the sums
        across = np.linalg.solve(along @ A.T, along)
        self._cost(OVERHEAD + READ * len(F) * (len(F) + 2 * len(self.f)))

        def inside(v):
            return _product(self.P, v) - along.T @ (across @ v)

        if self.cuts < 0:
            return self._walk(F, -inside(self.f[F]), lambda k: self.P[k] - along.T @ across[:, k])
        whole = self._walk(F, self._gradients(F, inside, tol))
        if not whole and self.P is not None:
            self.cuts += 1
            if self.cuts == CUTS:
                self._compute_anew()
        return whole

    def _gradients(self, F, inside, tol: float) -> np.ndarray:
        """delta (m,) by conjugate gradients, preconditioned by P: until f would be level, at most GRADIENTS."""
        delta, f, x, rows = np.zeros(len(F)), self.f[F].copy(), np.zeros(len(self.f)), self.rows_here
        z = inside(f)
        p, size = -z, f @ z
        for _ in range(GRADIENTS):
            if not self.going():
                break
            self._cost(READ * (len(F) ** 2 + rows.size))
            x[F] = p
            Kp = _product(rows, x)[self.places] + LEAST * self.scale * p
            bend = p @ Kp
            if not bend > 0 or not size > 0:
                break
            delta += size / bend * p
            f += size / bend * Kp
            if self._spread_of(f, F) <= LEVEL * tol / 2:
                break
            z = inside(f)
            size, last = f @ z, size
            p = size / last * p - z
        return delta

    def _walk(self, F, delta, column_of=None) -> bool | None:
        """From beta along delta (m,); who reaches its bound stays there, and the others go on as is best without it:
        the inverse, whose columns are column_of(k), loses a rank; without one the walk ends there. Whether the way was
        walked to its end; None as of `_step`."""
        beta, before = self.beta[F], self.beta[F]
        going, left, W = np.ones(len(F), bool), 1.0, np.empty((DROPS, len(F)))
        for drops in range(DROPS + 1):
            delta = np.where(going, delta, 0.0)
            for own in self.sums[:, F] & going:
                delta[own] -= delta[own].sum() / max(np.count_nonzero(own), 1)  # what rounding has left of the sum
            end = np.where(delta > 0, self.high[F], self.low[F])
            with np.errstate(divide="ignore", invalid="ignore"):
                ways = np.where(delta != 0, (end - beta) / delta, np.inf)
            k = int(ways.argmin())
            if ways[k] >= 1:
                beta, left = beta + delta, 0.0
                break
            beta = beta + ways[k] * delta
            beta[k], going[k] = end[k], False
            if column_of is None:
                break
            column = column_of(k) - W[:drops, k] @ W[:drops]
            if drops == DROPS or column[k] <= 0:
                break
            delta = (1 - ways[k]) * delta
            delta -= column * (delta[k] / column[k])
            W[drops] = column / np.sqrt(column[k])
        beta = np.clip(beta, self.low[F], self.high[F])  # rounding may have led a little beyond
        rows, change = self.rows_here, beta - before
        moved = np.zeros(len(rows))
        moved[self.places] = change
        f = self.f + _product(rows.T, moved)
        slope = (f + self.f)[F]
        if change @ slope > ROUNDING * np.abs(change) @ np.abs(slope):  # the dual would lose: P lacks digits
            if not self.changed and self.cuts < 0:
                return None
            self._compute_anew()
            return False
        self.beta[F], self.alpha[F], self.f[:] = beta, np.abs(beta), f
        if not going.all():
            self._leave(~going)
        return left == 0

    def _spread_of(self, f, F) -> float:
        """The largest spread of f (m,) over those of F that share a sum."""
        return max((np.ptp(f[s]) for s in self.sums[:, F] if s.any()), default=0.0)

    def _level(self, tol: float) -> bool:
        """Whether f is level over F, or can hardly become so; else what the next step is to be."""
        F, last = self.F, self.spread
        self.spread = self._spread_of(self.f[F], F)
        if self.spread <= LEVEL * tol:
            return True
        if self.cuts < 0 and len(F) >= LARGE:
            self.cuts = 0
        elif self.spread > HELPS * last and self.ridge == LEAST and not self.changed:
            return True
        elif self.cuts < 0 or self.spread > HELPS * last:
            self._compute_anew()
        return False

    def _compute_anew(self) -> None:
        """P of this F next, with a smaller ridge unless ranks have changed it."""
        self.ridge = self.ridge if self.changed else max(self.ridge * SMALLER, LEAST)
        self.P, self.cuts = None, -1

    # Who comes in

    def _take_in(self, new) -> None:
        """Examples become members and come into F, in the place of members that are not in it where there is no
        other."""
        inside = np.isin(np.arange(len(self.members)), self.places)
        places = np.argsort(inside * 2 + (self.members >= 0), kind="stable")[: len(new)]
        self.members[places] = -1
        for at in range(0, len(new), PANEL):
            part = slice(at, at + PANEL)
            self.K[places[part]] = self.rows(new[part])
        self._cost(VALUE * len(new) * len(self.f))
        self.members[places] = new
        self._join(places)

    def _enter(self, tol: float) -> bool:
        """The worst violators outside F come in; whether there are any, and room for them."""
        up, low = index_sets(self.y, self.C, self.alpha)
        F = self.F
        level = self._levels(F)
        violation = np.maximum(np.where(up, level - self.f, 0.0), np.where(low, self.f - level, 0.0))
        violation[F] = 0.0
        count = min(max(int(ENTER * len(F)), FEW), len(self.members) - len(F))
        worst = np.argsort(-violation, kind="stable")[: max(count, 0)]
        worst = worst[violation[worst] > tol / 4]
        if not len(worst):
            return False
        if self.ridge < RIDGE:
            self.ridge, self.P = RIDGE, None
        self._join(np.flatnonzero(np.isin(self.members, worst)))
        self._take_in(np.setdiff1d(worst, self.members))
        self.spread, self.cuts = np.inf, -1
        return True


def _product(A, B) -> np.ndarray:
    """A (m, n) @ B (n,) or (n, k), rows of A shared between the cores."""
    out = np.empty((len(A), *B.shape[1:]))
    side_by_side(np.matmul, [(A[part], B, out[part]) for part in cut(len(A), CORES)])
    return out


def _add_product(P, A, B) -> None:
    """P (m, n) += A (m, k) @ B (k, n), shared between the cores."""

    def add(part):
        P[part] += A[part] @ B

    side_by_side(add, [(part,) for part in cut(len(P), CORES)])


def _inverse(K, going) -> np.ndarray | None:
    """K^-1 (m, m) of a symmetric K (m, m), which is overwritten; (0, 0) where K is not positive definite, None where
    someone asks for an end meanwhile. K = L L^T and K^-1 = L^-T L^-1, by panels."""
    m = len(K)
    panels = [(a, min(a + PANEL, m)) for a in range(0, m, PANEL)]
    for a, b in panels:
        if not going():
            return None
        if a:
            _add_product(K[a:, a:b], K[a:, :a], -K[a:b, :a].T)
        factor, failed = dpotrf(K[a:b, a:b], lower=1)
        if failed:
            return K[:0, :0]
        K[a:b, a:b], _ = dtrtri(factor, lower=1)
        if b < m:
            K[b:, a:b] = _product(K[b:, a:b], K[a:b, a:b].T)
    for a, b in panels:
        if not going():
            return None
        if a:
            rows = -(K[a:b, a:b] @ K[a:b, :a])
            K[a:b, :a] = _product(K[:a, :a].T, rows.T).T
        K[:a, a:b] = 0
    inverse = np.empty_like(K)
    for a, b in panels:
        if not going():
            return None
        inverse[a:b, :b] = _product(K[a:, :b].T, K[a:, a:b]).T
        inverse[:a, a:b] = inverse[a:b, :a].T
    return inverse
