"""Second-order steps on the free support vectors, for problems on which pairs crawl: large C, few dimensions.

    beta_i = y_i alpha_i,    f = K beta - y          F = {i: 0 < alpha_i < C_i}

The best beta on F, all others as they are, makes f the same for all of F: with a ridge r on the diagonal

    (K_FF + r I) delta = level - f_F,    sum_F delta = 0           level: the multiplier of the sum

nu-SVC fixes the sum over each class (nu.py): then there are two such sums, and f has a level in each class.

A step is walked as far as the box allows; an example that reaches its bound stays there, and the others go on as is
best without it. A step that came to its end is followed by one with a smaller ridge, with the least one by more of them
as long as they help, until f is level; then the worst violators of the others come into F. Each raises the dual
objective, so that they end at the optimum, as active-set methods do: Scheinberg, Journal of Machine Learning Research 7
(2006).

Sums are made in double precision, and so are the kernel values, which are computed for F alone: C = 1e6 multiplies what
single precision loses. Kernels that fill their own blocks have values of single precision alone.
"""

import numpy as np
from scipy.linalg.lapack import dpotrf, dtrtri

from svmcore.solvers.smo import fixed_sums, index_sets, kkt_gap

MOST = 2000  # examples of F at most, those farthest from level: a factor of so many, and its inverse, take 0.3 s
PANEL = 200  # columns of a factor between two looks at whether to go on; LAPACK keeps all other threads waiting
PART = 200  # rows of kernel values, and no more than a quarter of the memory, that a working set leaves to steps
SQUARES = 3  # matrices as large as K_FF that a step holds
RIDGE, LEAST, SMALLER = 1e-6, 1e-12, 1e-3  # of the mean K_ii: the first ridge and the least, and times one the next
LEVEL, HELPS = 0.1, 0.5  # times tol, the spread of f over F that counts as level; share of it that a step may leave
DROPS = 300  # examples that may reach a bound within one step
ENTER, FEW = 0.2, 20  # times the examples of F, the violators that come in at a time; at least so many
FACTORS, LIKELY = 60, 4  # factors of one call at most, and those that it is expected to take
VALUE, FACTOR, PASSED = 6.0, 1 / 45, 0.9  # ns of a kernel value, of the cube of |F|, of an example that a pair passes


def worth(alpha, C, room: int, others: int = 0) -> float:
    """Pairs that cost as much as a call does, on the examples of alpha (n,), of a machine with so many other support
    vectors; infinite where F is empty, or `room` bytes are too few for a part of it that is worth a factor."""
    n, free = len(alpha), np.count_nonzero((alpha > 0) & (alpha < C))
    capacity = _capacity(n, room)
    if not free or capacity < min(free, FEW):
        return np.inf
    free = min(free, capacity)
    return VALUE * (free + others + np.count_nonzero(alpha)) / PASSED + LIKELY * _pairs(free, n)


def cramped(alpha, C, room: int) -> bool:
    """Whether steps would take in more of these free examples if `room` were larger."""
    return _capacity(len(alpha), room) < min(np.count_nonzero((alpha > 0) & (alpha < C)), MOST)


def _pairs(m: int, n: int) -> float:
    """Pairs on n examples that cost as much as a step on m of them."""
    return 1 + m + FACTOR * m**3 / (PASSED * n)


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
    """The free set of one machine. rows(idx) -> K (len(idx), n) float64; y, C, alpha (n,) float64; f (n,) float64,
    exact; alpha and f change in place. going(): asked before each piece of work whether to go on. room: bytes that
    kernel values and factors may take; apart: as of smo.pairs. pairs: what the steps so far have cost, in pairs."""

    def __init__(self, rows, y, C, alpha, f, going, room: int, apart: bool = False):
        self.rows, self.y, self.C, self.alpha, self.f, self.going = rows, y, C, alpha, f, going
        self.beta, self.low, self.high = alpha * y, np.where(y > 0, 0.0, -C), np.where(y > 0, C, 0.0)
        self.sums, self.apart, self.pairs = fixed_sums(y, apart), apart, 0.0
        capacity = _capacity(len(y), room)
        self.members = np.full(capacity, -1)  # examples whose rows of K are here, F among them; -1: none
        self.inside = np.zeros(capacity, bool)  # which of the members are in F
        self.K = np.empty((capacity, len(y)))
        self.ridge, self.spread, self.factors = RIDGE, np.inf, 0
        free = np.flatnonzero((alpha > 0) & (alpha < C))
        away = np.abs(f - self._levels(free))[free]
        self._take_in(free[np.argsort(-away, kind="stable")[:capacity]])

    def _take_in(self, new) -> None:
        """Examples become members and come into F, in the place of members that are not in it where there is no
        other."""
        places = np.argsort(self.inside * 2 + (self.members >= 0), kind="stable")[: len(new)]
        self.members[places] = -1
        for at in range(0, len(new), PANEL):
            part = slice(at, at + PANEL)
            self.K[places[part]] = self.rows(new[part])
        self.pairs += VALUE * len(new) / PASSED
        self.members[places], self.inside[places] = new, True

    def settle(self, tol: float) -> None:
        """Steps until the gap is at most tol, FACTORS have been made, or someone asks for an end."""
        while self.factors < FACTORS and self.going():
            self.factors += 1
            if (whole := self._step()) is None:
                return
            if whole and self._level(tol) and (self._gap() <= tol or not self._enter(tol)):
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

    def _step(self) -> bool | None:
        """One step; whether it went its whole way. None where there is nothing to go by."""
        F = self.members[self.inside]
        if len(F) < 2:
            return None if not len(F) else True
        self.pairs += _pairs(len(F), len(self.f))
        K = self.K[np.ix_(self.inside, F)]
        K[np.arange(len(F)), np.arange(len(F))] += self.ridge * float(K.diagonal().mean())
        inverse = _inverse(K, self.going)
        if inverse is None:
            return None
        if not len(inverse):
            self.ridge /= SMALLER
            return None if self.ridge > 1 else False
        A = self.sums[:, F][self.sums[:, F].any(1)].astype(float)
        along = A @ inverse  # (g, m); what is left of the inverse changes none of the sums
        across = np.linalg.solve(along @ A.T, along)
        for a in range(0, len(F), PANEL):
            inverse[a : a + PANEL] -= along[:, a : a + PANEL].T @ across
        whole = self._walk(F, inverse)
        if whole:
            self.ridge = max(self.ridge * SMALLER, LEAST)
        return whole

    def _walk(self, F, inverse) -> bool:
        """From beta towards the best on F; who reaches its bound stays there, and the others go on as is best without
        it: the inverse loses a rank. Whether the way was walked to its end."""
        beta, before, delta = self.beta[F], self.beta[F], -inverse @ self.f[F]
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
            column = inverse[:, k] - W[:drops, k] @ W[:drops]
            if drops == DROPS or column[k] <= 0:
                break
            delta = (1 - ways[k]) * delta
            delta -= column * (delta[k] / column[k])
            W[drops] = column / np.sqrt(column[k])
        beta = np.clip(beta, self.low[F], self.high[F])  # rounding may have led a little beyond
        self.beta[F], self.alpha[F] = beta, np.abs(beta)
        places = np.flatnonzero(self.inside)
        for a in range(0, len(F), PANEL):
            part = slice(a, a + PANEL)
            self.f += (beta - before)[part] @ self.K[places[part]]
        self.inside[places[~going]] = False
        return left == 0

    def _level(self, tol: float) -> bool:
        """Whether f is level over F, or can hardly become so."""
        F, last = self.members[self.inside], self.spread
        self.spread = max((np.ptp(self.f[F[s]]) for s in self.sums[:, F] if s.any()), default=0.0)
        return self.spread <= LEVEL * tol or (self.ridge == LEAST and self.spread > HELPS * last)

    def _enter(self, tol: float) -> bool:
        """The worst violators outside F come in; whether there are any, and room for them."""
        up, low = index_sets(self.y, self.C, self.alpha)
        F = self.members[self.inside]
        level = self._levels(F)
        violation = np.maximum(np.where(up, level - self.f, 0.0), np.where(low, self.f - level, 0.0))
        violation[F] = 0.0
        count = min(max(int(ENTER * len(F)), FEW), len(self.members) - len(F))
        worst = np.argsort(-violation, kind="stable")[: max(count, 0)]
        worst = worst[violation[worst] > tol / 4]
        if not len(worst):
            return False
        self.inside |= np.isin(self.members, worst)
        self._take_in(np.setdiff1d(worst, self.members))
        self.ridge, self.spread = RIDGE, np.inf
        return True


def _inverse(K, going) -> np.ndarray | None:
    """K^-1 (m, m) of a symmetric K (m, m), which is overwritten; (0, 0) where K is not positive definite, None where
    someone asks for an end meanwhile. K = L L^T and K^-1 = L^-T L^-1, by panels."""
    panels = [(a, min(a + PANEL, len(K))) for a in range(0, len(K), PANEL)]
    for a, b in panels:
        if not going():
            return None
        K[a:, a:b] -= K[a:, :a] @ K[a:b, :a].T
        factor, failed = dpotrf(K[a:b, a:b], lower=1)
        if failed:
            return K[:0, :0]
        K[a:b, a:b], _ = dtrtri(factor, lower=1)
        K[b:, a:b] = K[b:, a:b] @ K[a:b, a:b].T
    for a, b in panels:
        if not going():
            return None
        K[a:b, :a] = -(K[a:b, a:b] @ K[a:b, :a]) @ K[:a, :a]
        K[:a, a:b] = 0
    inverse = np.empty_like(K)
    for a, b in panels:
        if not going():
            return None
        inverse[a:b, :b] = K[a:, a:b].T @ K[a:, :b]
        inverse[:a, a:b] = inverse[a:b, :a].T
    return inverse
