"""The rounds of all machines together: working sets, the pairs of each, and f of all examples after them.

    for machine m of k:   max W_m(alpha_m)   s.t.  0 <= alpha_mi <= C_mi,  sum_i alpha_mi y_mi = 0        (smo.py)

A round solves each machine on its working set S_m (its free SVs and its worst violators), whose small Gram matrix is
computed for it; then the rows of all changed examples, one product for all machines, bring the decision values f (k, n)
up to date. Working sets that hold all violators make this the decomposition of Osuna, Freund and Girosi (1997), section
3.2, whose proof of progress needs one violating pair in S_m; where memory allows only part of the SVs the worst
violators still are.

The first round's set is a random sample, the same for all machines; an only machine of many examples begins on a part
of it (sample.py). The sample tells whether the whole matrix takes less than rounds; where it does and memory holds it,
every set from then on holds all examples. Else most examples are settled after the first round on all: they lie farther
beyond every machine's margin than NEAR. From then on only the others' f are kept up to date, until no machine is open.
Then the settled examples' f are computed from the SVs, and rounds go on without leaving any out.

f is added up from kernel values in single precision. A machine is done when its gap, with f computed afresh in double
precision from its SVs, is at most tol (exact.py); until then rounds go on.

Y, alpha, C, f (k, n) float64.
"""

from collections.abc import Callable

import numpy as np

from svmcore.gram.sources import PLAIN
from svmcore.solvers.decomposition.inner import LOOSE, as_matrix, solve_set
from svmcore.solvers.decomposition.interior import Interior
from svmcore.solvers.decomposition.look import check_gaps, compute_afresh, look_exactly, note, refresh, take_in
from svmcore.solvers.decomposition.sample import FEW, whole_pays
from svmcore.solvers.decomposition.square import Square
from svmcore.solvers.decomposition.state import FUTILE, State
from svmcore.solvers.decomposition.working_set import (
    GROWTH,
    leave_out_settled,
    left_out,
    plan_growth,
    samples,
    working_set,
)
from svmcore.solvers.progress import ROUNDS, WHOLE, Strategy
from svmcore.solvers.session import ending

STALE, GAIN = 10, 1e-8  # rounds in turn whose gain, beside the dual objective, is so small before f is computed afresh


class Rounds:
    """Rounds of all machines of a state. rescale(): what is done to the machines before their gaps are looked at
    (nu.py). interior: machines that need not be solved again, of a source that holds all of K."""

    def __init__(self, state: State, rescale: Callable[[], None] = lambda: None, interior: Interior | None = None):
        self.s, self.rescale, self.interior = state, rescale, interior
        self.samples = samples(state) if state.start is None else []

    def solve(self) -> None:
        """To the end. Stopped where someone asks for one."""
        s = self.s
        self._sampled() if s.start is None else self._go_on()
        s.entering[:] = GROWTH  # of the next set, which looks at most examples for the first time
        if len(s.columns) < s.n:
            self._hold_where_it_pays()
        for narrow in (True, False):
            self._take_in(left_out(s))
            self._to_target(narrow)
        while self._check_exactly():
            self._to_target()
        if self.interior:
            self.interior.keep(s)

    def ending(self) -> str:
        """Why machines ended above tol; empty where none did."""
        s = self.s
        return ending(s.gaps, s.tol, s.iterations, s.limit, s.futile >= FUTILE, s.cramped)

    def _sampled(self) -> None:
        """A round on the smaller sample, and one on the larger where its gap is above LOOSE: on SVs and violators alone
        where few examples of the smaller one are SVs."""
        s = self.s
        s.columns, s.sampling = s.columns[:0], True
        self._first_round(self.samples[0])
        for larger in self.samples[1:]:
            few = (s.alpha[:, s.columns] > 0).mean() < FEW
            self._take_in(np.setdiff1d(larger, s.columns))
            s.entering[:] = len(larger)
            self._round({m: working_set(s, m) if few else larger for m in s.open() if s.gaps[m] > LOOSE})
        s.sampling = False

    def _first_round(self, first) -> None:
        """All machines on one set: their Gram matrix is computed once, or is there already."""
        s = self.s
        s.session.strategy = Strategy(WHOLE, s.n)
        self._take_in(first)
        if self.interior:
            self.interior.take(s)
        shared = None
        if s.K is None:
            sizes = [max(s.largest, len(first)) ** 2] * (1 if len(first) == s.n else s.threads)
            spaces = [s.memory.enter_context(s.session.memory(size)) for size in sizes]
            if s.k == 1 and len(first) < s.n:
                s.square = Square(s.gram, s.session, spaces[0], max(s.largest, len(first)))
                return self._round({0: first})
            K = s.gram.square(first, s.session, as_matrix(spaces[0], len(first)))
            if len(first) == s.n:
                s.K = K[None], PLAIN
                s.exact.gram = s.gram.in_memory(K)
            else:
                shared = K[None], PLAIN
        self._round(dict.fromkeys(s.open(), first), shared)
        for space in spaces if shared else ():
            s.spaces.put(space)
        return None

    def _go_on(self) -> None:
        """In place of the first round, where f of all examples is known: each machine has a set of its own at once."""
        s = self.s
        s.session.strategy = Strategy(ROUNDS if s.K is None else WHOLE, s.n)
        if s.K is None:
            spaces = [s.memory.enter_context(s.session.memory(s.largest**2)) for _ in range(s.threads)]
            s.square = Square(s.gram, s.session, spaces[0], s.largest) if s.k == 1 else None
            for space in spaces:
                s.spaces.put(space)
        self._bring_up_to_date()

    def _hold_where_it_pays(self) -> None:
        """All of K into memory, where that takes less than rounds and the budget allows."""
        s = self.s
        pays, share = whole_pays(s.alpha, s.C, s.columns, s.iterations)
        hold = pays and s.may_hold
        s.session.strategy = Strategy(WHOLE if hold else ROUNDS, len(s.columns), share)
        if hold:
            s.memory.close()  # what the first round was lent
            space = s.memory.enter_context(s.session.memory(s.n**2))
            s.gram = s.gram.in_memory(s.gram.square(np.arange(s.n), s.session, as_matrix(space, s.n)))
            s.K, s.square = s.gram.values, None

    def _take_in(self, more) -> None:
        if len(more):
            take_in(self.s, more)
            self._bring_up_to_date()

    def _bring_up_to_date(self) -> None:
        self.rescale()
        check_gaps(self.s)

    def _to_target(self, narrow: bool = False) -> None:
        """Rounds until no machine is open; narrow: without the examples that are settled."""
        s = self.s
        while sets := {m: working_set(s, m) for m in s.open()}:
            self._round(sets)
            if narrow and s.K is None and s.open():
                leave_out_settled(s)

    def _round(self, sets: dict[int, np.ndarray], K=None) -> None:
        """Solve machine m on sets[m], then bring all of f up to date; K as of solve_set, of a set that all share.

        Osuna, Freund and Girosi (1997), section 3.2.3: one iteration of the decomposition.
        """
        s = self.s
        before, duals, gaps = s.alpha.copy(), [s.seen[m].dual for m in sets], s.gaps.copy()
        turns = [m for group in s.alike() for m in group if m in sets]  # those that are alike need the same rows of K
        s.session.side_by_side(solve_set, [(s, m, sets[m], K) for m in turns], s.threads)
        if any(len(chosen) < len(s.columns) for chosen in sets.values()):
            refresh(s, before, sets)
        self._bring_up_to_date()
        for m in sets if s.trace else ():
            note(s, m, sets[m], len(s.columns), len(sets[m]), gaps[m])
        for m, dual in zip(sets, duals, strict=True):
            plan_growth(s, m, before[m])
            stuck = np.array_equal(s.alpha[m], before[m])
            gains = s.seen[m].dual - dual > GAIN * (1 + abs(dual))
            s.stale[m] = 0 if gains else STALE if stuck else s.stale[m] + 1
            if s.gaps[m] > s.exact.target[m] and s.stale[m] >= STALE:
                compute_afresh(s, m)

    def _check_exactly(self) -> bool:
        """Exact gaps of the machines that are at their target; whether one of them has to go on."""
        s = self.s
        for m in range(s.k):
            if not (s.exact.known[m] or s.exact.given_up[m]):
                look_exactly(s, m)
        return bool(s.open())
