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

import numpy as np

from svmcore.gram.sources import PLAIN, STEP
from svmcore.solvers import smo
from svmcore.solvers.decomposition.inner import LOOSE, solve_on
from svmcore.solvers.decomposition.look import check_gaps, compute_afresh, look_exactly, note, see, see_present
from svmcore.solvers.decomposition.pricing import Priced, Pricing
from svmcore.solvers.decomposition.rounds import GAIN
from svmcore.solvers.decomposition.settings import Decomposition
from svmcore.solvers.decomposition.square import Square
from svmcore.solvers.decomposition.state import FUTILE, SMALLEST_SET, State
from svmcore.solvers.decomposition.working_set import both_ends
from svmcore.solvers.progress import Stopped
from svmcore.solvers.session import ending

ROUGHLY = 0.25  # times the worst violation that entered, the gap that a set is solved to; less would be in vain
SINGLES = 8  # single violators that are tried in the place of a support vector before B is as good as it gets
BEYOND = 200  # rounds at most in which there may be support vectors outside B, to see whether they fit in the end
ABOVE = 1.125  # times |B|, the support vectors that there may be in these rounds
IDLE = 1000  # rounds in turn without gain before f is computed afresh


class Bounded:
    """The strategy on a state, by `settings`: one machine after the other, each on a working set of `size` examples.
    full (k,): machines whose support vectors fill it while others violate."""

    def __init__(self, state: State, settings: Decomposition):
        self.s, self.settings = state, settings
        self.size = min(state.n, settings.working_set or max(int((state.square_bytes / 4) ** 0.5), SMALLEST_SET))
        self.full = np.zeros(state.k, bool)
        state.columns, state.K, state.threads = np.arange(state.n), None, 1

    def solve(self) -> None:
        """To the end. Stopped where someone asks for one."""
        s = self.s
        check_gaps(s)
        space = s.memory.enter_context(s.session.memory(self.size**2))
        s.square = Square(s.gram, s.session, space, self.size)
        s.session.side_by_side(self._machine, [(m,) for m in range(s.k)], 1)

    def ending(self) -> str:
        """Why machines ended above tol; empty where none did."""
        s = self.s
        if not self.full.any():
            return ending(s.gaps, s.tol, s.iterations, s.limit, s.futile >= FUTILE, s.cramped)
        who = f"{self.full.sum()} of {s.k} machines" if s.k > 1 else "the machine"
        return (
            f"the support vectors of {who} do not fit into a working set of {self.size} examples; the best "
            f"solution with this set has a gap of {s.gaps.max():.2g}, above tol = {s.tol:g}"
        )

    def _machine(self, m: int) -> None:
        """In a thread of its own."""
        self.full[m] = _Machine(self.s, m, self.settings, self.size).solve()


class _Machine:
    """Machine m of a state, on its working set.

    B: the set's examples, K their Gram matrix; alpha, f, lost (n,), y, C: the machine's rows of the state's arrays;
    known: alpha, f and lost when f of all examples was last summed.
    """

    def __init__(self, state: State, m: int, settings: Decomposition, size: int):
        self.s, self.m, self.settings, self.size, self.square = state, m, settings, size, state.square
        self.y, self.C, self.alpha, self.f = state.of(m)
        self.lost = state.lost[m]
        self.pricing = Pricing(settings, self.C > 0)
        self.known = np.zeros((3, state.n))
        self.square.members = self.square.members[:0]
        self._hold(self._arbitrary())

    def solve(self) -> bool:
        """Rounds to the end; whether support vectors fill B there, and nothing in their place would gain."""
        s, m = self.s, self.m
        priced, idle, rough, dual = None, 0, LOOSE, 0.0
        while True:
            finest = s.exact.target[m] / 2
            tol = max(finest, rough)
            self._solve_set(priced, tol)
            idle, dual = (0, now) if (now := self._dual()) > dual + GAIN * (1 + abs(dual)) else (idle + 1, dual)
            if idle >= IDLE and not self._goes_on_afresh():
                return False
            idle %= IDLE
            ended = s.ended()[m]
            priced = self._price(everyone=ended)
            if ended:
                return False
            spare = self.size - np.count_nonzero(self.alpha)
            if len(priced.found) and (spare > 1 or not idle) and (worst := self._enter(priced.found)) is not None:
                rough = ROUGHLY * worst
            elif tol > finest:
                rough = 0.0
            elif not len(priced.found):
                look_exactly(s, m)
                if s.exact.known[m] or s.exact.given_up[m]:
                    return False
            elif not self._exchange() and not self._without_bound():
                compute_afresh(s, m)
                see_present(s, m)
                return True

    def _arbitrary(self) -> np.ndarray:
        """|B| examples at random, at least one of each class where there is one.

        Osuna, Freund and Girosi (1997), section 3.2.3, step 1.
        """
        usable = np.flatnonzero(self.C > 0)
        order = usable[self.s.rng.permutation(len(usable))]
        first = np.concatenate([np.flatnonzero(self.y[order] == label)[:1] for label in (1.0, -1.0)])
        return order[np.concatenate([first, np.setdiff1d(np.arange(len(order)), first)])][: self.size]

    def _solve_set(self, priced: Priced | None, tol: float) -> None:
        """The machine on B, to `tol`."""
        s, m = self.s, self.m
        gap = s.gaps[m]
        solve_on(s, m, self.B, self.K[None], PLAIN, tol=tol)
        inner, s.bias[m] = smo.kkt_gap(*s.of(m, self.B))
        see(s, m, self.alpha.copy(), self.f, max(inner, gap), s.bias[m])
        note(s, m, self.B, *(priced.count, priced.violators) if priced else (0, 0), gap)

    def _goes_on_afresh(self) -> bool:
        """After many rounds without gain: f afresh; whether there is more to be had."""
        compute_afresh(self.s, self.m)
        return not (self.s.exact.known[self.m] or self.s.exact.given_up[self.m])

    # Pricing

    def _price(self, everyone: bool = False) -> Priced:
        """Violators outside B; the gap as far as it is known then.

        Osuna, Freund and Girosi (1997), section 3.2.1: the conditions where alpha is 0.
        """
        s, m, B = self.s, self.m, self.B
        inside = np.zeros(s.n, bool)
        inside[B] = True
        adrift = not ((self.alpha[B] > 0) & (self.alpha[B] < self.C[B])).any()
        everyone = everyone or adrift
        whole = everyone or (self.settings.lookahead is None and self.settings.choice == "most-violating")
        if whole:
            self._sum_all(inside)
        if adrift:  # no free SV in B says what b is: halfway between the ends of all examples
            _, s.bias[m] = smo.kkt_gap(*s.of(m))

        def violations(examples):
            if not whole:
                self._sum(examples)
            return self._violations(examples)

        zeros = self.size - np.count_nonzero(self.alpha)
        wanted = min(self.settings.new_points or s.n, max(zeros, SINGLES))
        priced = self.pricing.price(inside, wanted, violations, s.exact.target[m] / 2, everyone)
        s.gaps[m], _ = smo.kkt_gap(*s.of(m, np.concatenate([B, *priced.seen])))
        return priced

    def _violations(self, examples) -> np.ndarray:
        """v (len(examples),) of examples whose alpha is 0."""
        v = -self.y[examples] * (self.f[examples] + self.s.bias[self.m])
        return np.where(self.C[examples] > 0, v, -np.inf)

    def _sum(self, examples) -> None:
        """f of some examples, from the SVs."""
        f, support, gram = -self.y[examples][None], np.flatnonzero(self.alpha), self.s.gram
        gram.add_to(f, support, (self.alpha * self.y)[support][None], gram.columns(examples), self.s.session)
        self.f[examples] = f[0]
        self.s.summed(self.m, examples)

    def _sum_all(self, inside) -> None:
        """f of all examples outside B: what has changed since it was last known for all is added."""
        known_alpha, known_f, known_lost = self.known
        change = (self.alpha - known_alpha) * self.y
        idx = np.flatnonzero(change)
        if len(idx) > np.count_nonzero(self.alpha) or not known_alpha.any():
            outside = np.flatnonzero(~inside)
            for start in range(0, len(outside), 16 * STEP):
                self._sum(outside[start : start + 16 * STEP])
        else:
            gram = self.s.gram
            gram.add_to(known_f[None], idx, change[idx][None], gram.columns(None), self.s.session)
            self.f[~inside], self.lost[~inside] = known_f[~inside], known_lost[~inside]
            self.s.changed(self.m, ~inside, change)
        self.known[:] = self.alpha, self.f, self.lost

    # Who enters

    def _enter(self, violators) -> float | None:
        """Violators come in, those farthest from violating among the examples whose alpha is 0 leave for them: the
        largest violation that entered; None where there is no room for any.

        Osuna, Freund and Girosi (1997), section 3.2.2: replacing raises the dual objective.
        """
        zeros = np.flatnonzero(self.alpha[self.B] == 0)
        room = self.size - len(self.B)
        entering = violators[: room + len(zeros)]
        if not len(entering):
            return None
        leaving = max(len(entering) - room, 0)
        slots = zeros[np.argsort(self._violations(self.B[zeros]), kind="stable")[:leaving]]
        self.pricing.leave(self.B[slots])
        self.pricing.enter(entering)
        worst = self._violations(entering).max()
        if leaving == len(entering):
            self.B, self.K = self.square.swap(slots, entering)
        else:
            self._hold(np.concatenate([np.delete(self.B, slots), entering]))
        return worst

    def _hold(self, members) -> None:
        """B becomes these examples."""
        self.B, self.K = members, self.square.hold(members)

    def _exchange(self) -> bool:
        """Violators in the place of support vectors, fewer and fewer, until the dual objective gains; False if never.

        Osuna, Freund and Girosi (1997), section 3.3: the best solution that the working set allows.
        """
        violators = self._price(everyone=True).found
        count = max(min(len(violators), self.size // 8), 1)
        trials = []
        while count > 1:
            trials.append(violators[:count])
            count //= 2
        trials += [violators[i : i + 1] for i in range(min(len(violators), SINGLES))]
        return any(self._gains(new) for new in trials)

    def _gains(self, new) -> bool:
        """Whether `new` in the place of the SVs with the least alpha gain; if not, all is as it was."""
        before, dual = self._present(), self._dual()
        slots = np.argsort(self.alpha[self.B], kind="stable")[: len(new)]
        old = self.B[slots]
        try:
            self.B, self.K = self.square.swap(slots, new)
            self._empty(old)
            v = self.alpha[self.B] * self.y[self.B]
            for start in range(0, len(self.B), STEP):
                part = slice(start, start + STEP)
                self.f[self.B[part]] = self.K[part] @ v - self.y[self.B[part]]
            self.s.summed(self.m, self.B)
            solve_on(self.s, self.m, self.B, self.K[None], PLAIN, tol=self.s.exact.target[self.m] / 2)
            self.s.session.check()
            if self._dual() > dual + GAIN * (1 + abs(dual)):
                self.pricing.leave(old)
                self.pricing.enter(new)
                return True
        except Stopped:
            self._back_to(before)
            raise
        self.square.swap(slots, old)
        self._back_to(before)
        return False

    def _without_bound(self) -> bool:
        """Where no replacing gains: whether the SVs of the optimum fit into B, which then holds them. To find it SVs
        outside B keep their alpha for a while; where they become too many alpha and f are as they were."""
        s, m, before = self.s, self.m, self._present()
        nobody = np.zeros(s.n, bool)
        try:
            for _ in range(BEYOND):
                self._sum_all(nobody)
                s.gaps[m], s.bias[m] = smo.kkt_gap(*s.of(m))
                loaded = np.flatnonzero(self.alpha)
                done = s.gaps[m] <= s.exact.target[m] / 2
                if done and len(loaded) <= self.size:
                    self._hold(loaded)
                    return True
                if done or len(loaded) > ABOVE * self.size + SINGLES:
                    break
                self._hold(both_ends(self.f, *smo.index_sets(self.y, self.C, self.alpha), self.size, s.rng))
                solve_on(s, m, self.B, self.K[None], PLAIN, tol=s.exact.target[m] / 4)
                s.session.check()
        except Stopped:
            self._back_to(before)
            raise
        self._back_to(before)
        return False

    def _present(self) -> tuple[np.ndarray, ...]:
        return self.alpha.copy(), self.f.copy(), self.lost.copy()

    def _back_to(self, before: tuple[np.ndarray, ...]) -> None:
        self.alpha[:], self.f[:], self.lost[:] = before

    def _empty(self, old) -> None:
        """alpha of `old` becomes 0; the class that has more then is scaled down to what the other has."""
        self.alpha[old] = 0
        positive = self.y[self.B] > 0
        sums = [self.alpha[self.B[side]].sum() for side in (positive, ~positive)]
        more = int(sums[1] > sums[0])
        side = self.B[~positive if more else positive]
        self.alpha[side] *= sums[1 - more] / sums[more] if sums[more] else 0.0

    def _dual(self) -> float:
        y, _, alpha, f = self.s.of(self.m, self.B)
        return smo.dual_objective(y, alpha, f)
