"""The decomposition with a working set B of a given size, filled by pricing, one machine after the other.

    1   B: |B| examples at random
    2   solve the machine on B; all alpha outside B are 0
    3   price examples outside B; where one violates the optimality conditions, it takes the place of one in B whose
        alpha is 0, and 2 again

Osuna, Freund and Girosi (1997), section 3.2.3. Each round raises the dual objective (section 3.2.2), so that it ends.
f of an example outside B is computed when it is priced: from the SVs, or, where a round prices all, from what changed.

Where support vectors fill B, those with the least alpha are replaced by violators, and what comes of it is kept if the
dual objective is larger. After the first attempts that all fail the answer is the best one found in B.
"""

from __future__ import annotations

import numpy as np

from svmcore.gram.sources import STEP
from svmcore.solvers import smo
from svmcore.solvers.decomposition.inner import LOOSE
from svmcore.solvers.decomposition.pricing import Priced, Pricing
from svmcore.solvers.decomposition.rounds import GAIN, PLAIN, Rounds
from svmcore.solvers.decomposition.settings import Decomposition
from svmcore.solvers.decomposition.square import Square
from svmcore.solvers.progress import Stopped

ROUGHLY = 0.25  # times the worst violation that entered, the gap that a set is solved to; less would be in vain
ATTEMPTS = 8  # single violators that are tried in the place of a support vector before B is as good as it gets
BEYOND, ABOVE = 200, 1.125  # rounds with support vectors outside B, and times |B| that there may be of them meanwhile
FUTILE = 1000  # rounds in turn without gain before f is computed afresh


class Bounded(Rounds):
    """As Rounds, with `settings`."""

    def __init__(self, gram, Y, C, session, tol, stage, whole, square_bytes, seed, memory, settings: Decomposition):
        super().__init__(gram, Y, C, session, tol, stage, whole, square_bytes, seed, memory, settings)
        self.settings, self.K, self.threads = settings, None, 1
        self.size = min(self.n, settings.working_set or max(int((square_bytes / 4) ** 0.5), 64))
        self.columns = np.arange(self.n)
        self.full = np.zeros(self.k, bool)  # machines whose support vectors fill B while others violate
        self.summed = np.zeros_like(self.alpha)  # alpha when f of all examples was last known
        self.every = np.zeros_like(self.alpha)  # f at that time

    def _solve(self) -> None:
        self._check_gaps()
        space = self.memory.enter_context(self.session.memory(self.size**2))
        self.square = Square(self.gram, self.session, space, self.size)
        self.session.side_by_side(self._machine, [(m,) for m in range(self.k)], 1)

    def _ending(self) -> str:
        if not self.full.any():
            return super()._ending()
        who = f"{self.full.sum()} of {self.k} machines" if self.k > 1 else "the machine"
        return (
            f"the support vectors of {who} do not fit into a working set of {self.size} examples; the best answer "
            f"found in it has a gap of {self.gaps.max():.2g}, above tol = {self.tol:g}"
        )

    def _machine(self, m) -> None:
        """Rounds of one machine, in a thread of its own."""
        pricing = Pricing(self.settings, self.C[m] > 0)
        self.square.members = self.square.members[:0]
        B = self._arbitrary(m)
        K, priced, futile, rough, dual = self.square.hold(B), None, 0, LOOSE, 0.0
        while True:
            finest = self.exact.target[m] / 2
            tol = max(finest, rough)
            self._solve_B(m, B, K, priced, tol)
            futile, dual = (0, now) if (now := self._dual(m, B)) > dual + GAIN * (1 + abs(dual)) else (futile + 1, dual)
            if futile >= FUTILE and not self._goes_on_afresh(m):
                return None
            futile %= FUTILE
            ended = self._ended()[m]
            priced = self._price(m, B, pricing, everyone=ended)
            if ended:
                return None
            spare = self.size - np.count_nonzero(self.alpha[m])
            if (
                len(priced.found)
                and (spare > 1 or not futile)
                and (entered := self._enter(m, B, priced.found, pricing)) is not None
            ):
                B, K, worst = entered
                rough = ROUGHLY * worst
            elif tol > finest:
                rough = 0.0
            elif not len(priced.found):
                self._look_exactly(m)
                if self.exact.known[m] or self.exact.given_up[m]:
                    return None
            elif not self._exchange(m, B, K, pricing):
                if (after_all := self._without_bound(m)) is None:
                    return self._end_full(m)
                B, K = after_all, self.square.hold(after_all)

    def _end_full(self, m) -> None:
        """Support vectors fill B, and nothing in their place would gain."""
        self.full[m] = True
        self.gaps[m], self.bias[m] = self.exact.afresh(m, self.alpha[m], self.f[m])
        self._see(m, self.alpha[m].copy(), self.f[m], self.gaps[m], self.bias[m])

    def _arbitrary(self, m) -> np.ndarray:
        """|B| examples at random, at least one of each class where there is one.

        Osuna, Freund and Girosi (1997), section 3.2.3, step 1.
        """
        usable = np.flatnonzero(self.C[m] > 0)
        order = usable[self.rng.permutation(len(usable))]
        ends = [np.flatnonzero(self.Y[m, order] == label)[:1] for label in (1.0, -1.0)]
        first = np.concatenate(ends)
        return order[np.concatenate([first, np.setdiff1d(np.arange(len(order)), first)])][: self.size]

    def _solve_B(self, m, B, K, priced: Priced | None, tol: float) -> None:  # noqa: N802
        """The machine on B, to `tol`."""
        gap = self.gaps[m]
        self._solve_on(m, B, K[None], PLAIN, tol)
        inner, self.bias[m] = smo.kkt_gap(self.Y[m, B], self.C[m, B], self.alpha[m, B], self.f[m, B])
        self._see(m, self.alpha[m].copy(), self.f[m], max(inner, gap), self.bias[m])
        count, violators = (priced.count, priced.violators) if priced else (0, 0)
        self._note(m, B, count, violators, gap)

    # Pricing

    def _price(self, m, B, pricing: Pricing, everyone: bool = False) -> Priced:
        """Violators outside B; the gap as far as it is known then.

        Osuna, Freund and Girosi (1997), section 3.2.1: the conditions where alpha is 0.
        """
        inside = np.zeros(self.n, bool)
        inside[B] = True
        adrift = not ((self.alpha[m, B] > 0) & (self.alpha[m, B] < self.C[m, B])).any()
        everyone = everyone or adrift
        whole = everyone or (self.settings.lookahead is None and self.settings.choice == "most-violating")
        if whole:
            self._sum_all(m, inside)
        if adrift:  # no free SV in B says what b is: halfway between the ends of all examples
            _, self.bias[m] = smo.kkt_gap(self.Y[m], self.C[m], self.alpha[m], self.f[m])

        def violations(examples):
            if not whole:
                self._sum(m, examples)
            return self._violations(m, examples)

        zeros = self.size - np.count_nonzero(self.alpha[m])
        wanted = min(self.settings.new_points or self.n, max(zeros, ATTEMPTS))
        priced = pricing.price(inside, wanted, violations, self.exact.target[m] / 2, everyone)
        at = np.concatenate([B, *priced.seen])
        self.gaps[m], _ = smo.kkt_gap(self.Y[m, at], self.C[m, at], self.alpha[m, at], self.f[m, at])
        return priced

    def _violations(self, m, examples) -> np.ndarray:
        """v (m,) of examples whose alpha is 0."""
        v = -self.Y[m, examples] * (self.f[m, examples] + self.bias[m])
        return np.where(self.C[m, examples] > 0, v, -np.inf)

    def _sum(self, m, examples) -> None:
        """f of some examples, from the SVs."""
        f, support = -self.Y[m, examples][None], np.flatnonzero(self.alpha[m])
        coef = (self.alpha[m] * self.Y[m])[support][None]
        self.gram.add_to(f, support, coef, self.gram.columns(examples), self.session)
        self.f[m, examples] = f[0]

    def _sum_all(self, m, inside) -> None:
        """f of all examples outside B: what has changed since it was last known for all is added."""
        change = (self.alpha[m] - self.summed[m]) * self.Y[m]
        idx = np.flatnonzero(change)
        if len(idx) > np.count_nonzero(self.alpha[m]) or not self.summed[m].any():
            outside = np.flatnonzero(~inside)
            for start in range(0, len(outside), 16 * STEP):
                self._sum(m, outside[start : start + 16 * STEP])
        else:
            f = self.every[m : m + 1]
            self.gram.add_to(f, idx, change[idx][None], self.gram.columns(None), self.session)
            self.f[m, ~inside] = f[0, ~inside]
        self.every[m], self.summed[m] = self.f[m], self.alpha[m]

    def _look_exactly(self, m) -> None:
        """In double precision: whether the machine is done; else its target is smaller now."""
        self.gaps[m], self.bias[m] = self.exact.gap(m, self.alpha[m], self.f[m])
        self._see(m, self.alpha[m].copy(), self.f[m], self.gaps[m], self.bias[m])

    def _goes_on_afresh(self, m) -> bool:
        """After many rounds without gain: f afresh; whether there is more to be had."""
        self._compute_afresh(m)
        return not (self.exact.known[m] or self.exact.given_up[m])

    # Who enters

    def _enter(self, m, B, found, pricing: Pricing):
        """(B, K, largest violation that entered) with violators in the place of examples whose alpha is 0, those
        farthest from violating first; None where there are none such.

        Osuna, Freund and Girosi (1997), section 3.2.2: replacing raises the dual objective.
        """
        zeros = np.flatnonzero(self.alpha[m, B] == 0)
        room = self.size - len(B)
        found = found[: room + len(zeros)]
        if not len(found):
            return None
        leaving = max(len(found) - room, 0)
        slots = zeros[np.argsort(self._violations(m, B[zeros]), kind="stable")[:leaving]]
        pricing.leave(B[slots])
        pricing.enter(found)
        worst = self._violations(m, found).max()
        if leaving == len(found):
            return *self.square.swap(slots, found), worst
        B = np.concatenate([np.delete(B, slots), found])
        return B, self.square.hold(B), worst

    def _exchange(self, m, B, K, pricing: Pricing) -> bool:
        """Violators in the place of support vectors, fewer and fewer, until the dual objective gains; False if never.

        Osuna, Freund and Girosi (1997), section 3.3: the best solution that the working set allows.
        """
        found = self._price(m, B, pricing, everyone=True).found
        count = max(min(len(found), self.size // 8), 1)
        trials = []
        while count > 1:
            trials.append(found[:count])
            count //= 2
        trials += [found[i : i + 1] for i in range(min(len(found), ATTEMPTS))]
        return any(self._gains(m, B, new, pricing) for new in trials)

    def _gains(self, m, B, new, pricing: Pricing) -> bool:
        """Whether `new` in the place of the SVs with the least alpha gain; if not, all is as it was."""
        alpha, f, dual = self.alpha[m].copy(), self.f[m].copy(), self._dual(m, B)
        slots = np.argsort(alpha[B], kind="stable")[: len(new)]
        old = B[slots]
        try:
            _, K = self.square.swap(slots, new)
            self._empty(m, old, B)
            v = self.alpha[m, B] * self.Y[m, B]
            for start in range(0, len(B), STEP):
                part = slice(start, start + STEP)
                self.f[m, B[part]] = K[part] @ v - self.Y[m, B[part]]
            self._solve_on(m, B, K[None], PLAIN, self.exact.target[m] / 2)
            self.session.check()
            if self._dual(m, B) > dual + GAIN * (1 + abs(dual)):
                pricing.leave(old)
                pricing.enter(new)
                return True
        except Stopped:
            self.alpha[m], self.f[m] = alpha, f
            raise
        self.square.swap(slots, old)
        self.alpha[m], self.f[m] = alpha, f
        return False

    def _without_bound(self, m) -> np.ndarray | None:
        """Where no replacing gains: whether the SVs of the optimum fit into B, and then a B that holds them. To find
        it SVs outside B keep their alpha for a while; where they become too many all is as it was."""
        alpha, f = self.alpha[m].copy(), self.f[m].copy()
        nobody = np.zeros(self.n, bool)
        try:
            for _ in range(BEYOND):
                self._sum_all(m, nobody)
                values = self.Y[m], self.C[m], self.alpha[m], self.f[m]
                self.gaps[m], self.bias[m] = smo.kkt_gap(*values)
                loaded = np.flatnonzero(self.alpha[m])
                done = self.gaps[m] <= self.exact.target[m] / 2
                if done and len(loaded) <= self.size:
                    return loaded
                if done or len(loaded) > ABOVE * self.size + ATTEMPTS:
                    break
                B = self._both_ends(self.f[m], *smo.index_sets(*values[:3]), self.size)
                K = self.square.hold(B)
                self._solve_on(m, B, K[None], PLAIN, self.exact.target[m] / 4)
                self.session.check()
        except Stopped:
            self.alpha[m], self.f[m] = alpha, f
            raise
        self.alpha[m], self.f[m] = alpha, f
        return None

    def _empty(self, m, old, B) -> None:
        """alpha of `old` becomes 0; the class that has more then is scaled down to what the other has."""
        self.alpha[m, old] = 0
        positive = self.Y[m, B] > 0
        sums = [self.alpha[m, B[side]].sum() for side in (positive, ~positive)]
        more = int(sums[1] > sums[0])
        side = B[~positive if more else positive]
        self.alpha[m, side] *= sums[1 - more] / sums[more] if sums[more] else 0.0

    def _dual(self, m, B) -> float:
        return smo.dual_objective(self.Y[m, B], self.alpha[m, B], self.f[m, B])
