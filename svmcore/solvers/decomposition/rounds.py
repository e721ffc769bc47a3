"""The rounds of all machines together: working sets, the pairs of each, and f of all examples after them.

    for machine m of k:   max W_m(alpha_m)   s.t.  0 <= alpha_mi <= C_mi,  sum_i alpha_mi y_mi = 0        (smo.py)

A round solves each machine on its working set S_m (its SVs and its worst violators), whose small Gram matrix is
computed for it; then the rows of all changed examples, one product for all machines, bring the decision values f (k, n)
up to date. Working sets that hold all violators make this the decomposition of Osuna, Freund and Girosi (1997), section
3.2, whose proof of progress needs one violating pair in S_m; where memory allows only part of the SVs the worst
violators still are.

The first round's set is a random sample, the same for all machines. It tells whether the whole matrix takes less than
rounds (strategy.py); where it does and memory holds it, every set from then on holds all examples. Else most examples
are settled after the second round: they lie farther beyond every machine's margin than NEAR. From then on only the
others' f are kept up to date, until no machine is open. Then the settled examples' f are computed from the SVs, and
rounds go on without leaving any out.

f is added up from kernel values in single precision. A machine is done when its gap, with f computed afresh in double
precision from its SVs, is at most tol (exact.py); until then rounds go on.

Y, alpha, C, f (k, n) float64.
"""

from __future__ import annotations

from queue import SimpleQueue

import numpy as np

from svmcore.gram.sources import PLAIN, Dense
from svmcore.gram.threads import CORES
from svmcore.solvers import smo
from svmcore.solvers.decomposition.inner import FUTILE, Inner, as_matrix
from svmcore.solvers.decomposition.reported import Seen
from svmcore.solvers.decomposition.square import Square
from svmcore.solvers.decomposition.strategy import sample_size, whole_pays
from svmcore.solvers.decomposition.trace import Trace
from svmcore.solvers.exact import Exact
from svmcore.solvers.free import set_size
from svmcore.solvers.progress import Solution, Stopped
from svmcore.solvers.session import ending

GROWTH = 12_000  # violators a round adds to a working set, at most
NEAR = 0.02, 0.05  # y (f + b) up to which an example is near a machine's margin, at least and at most; 0 is on it
STALE, GAIN = 10, 1e-8  # rounds in turn whose gain, beside the dual objective, is so small before f is computed afresh
FEWER = 0.8  # share of the columns below which those outside the working sets are prepared by themselves


class Rounds(Inner):
    """State of one solve: alpha and f of every machine, and what was last seen of those being solved. Arguments as of
    `decomposition.solve`; memory: an ExitStack that gives back what the session lends."""

    def __init__(self, gram, Y, C, session, tol, stage, whole, square_bytes, seed, memory, settings=None, hold=False):
        self.gram, self.session, self.tol, self.memory = gram, session, tol, memory
        self.Y, self.C = np.ascontiguousarray(Y, np.float64), np.array(C, np.float64)
        self.k, self.n = self.Y.shape
        self.alpha = np.zeros_like(self.Y)
        self.f = -self.Y
        self.gaps, self.bias = np.full(self.k, np.inf), np.zeros(self.k)
        self.exact = Exact(gram, self.Y, self.C, tol, session, np.random.default_rng(seed))
        self.threads = min(CORES, 2, self.k)
        self.largest = min(self.n, max(set_size(self.n, square_bytes // self.threads), 64))
        self.square_bytes, self.given = square_bytes, gram.blocks is not None
        self.K = (gram.blocks, gram.which) if self.given else None  # all of K, where it is in memory
        self.may_hold = hold and 4 * self.n**2 <= square_bytes  # whether K may come into memory, where that pays
        self.square: Square | None = None  # the only machine's working set, where not all of K is in memory
        self.spaces = SimpleQueue()  # memory of working sets' Gram matrices, one for each thread
        self.rng = np.random.default_rng(seed)
        self.columns = self._first_set()  # examples whose f is up to date
        self.narrowed = None, None  # the columns that `add_to` was last asked for, as the source prepared them
        self.seen: list[Seen] = [Seen(self.alpha[0], np.inf, 0.0, 0.0, 0, 0)] * self.k
        self.trace = session.trace = None if settings is None else Trace(self.n, gram.nbytes)
        self.stale = np.zeros(self.k, int)  # rounds in turn in which a machine gained next to nothing
        self.iterations, self.limit = np.zeros(self.k, np.int64), session.iteration_limit(self.n)
        self.futile = np.zeros(self.k, int)  # calls of second-order steps in turn that brought next to nothing
        self.cramped = np.zeros(self.k, bool)  # machines whose steps lack memory
        session.begin(stage, lambda: whole(self.standing()) if whole else self.standing())

    def run(self) -> Solution:
        """To the end, or to the stop that someone asks for."""
        why = "stopped"
        try:
            self._solve()
            why = self._ending()
        except Stopped:
            self.gaps[:], self.bias[:] = zip(*((seen.gap, seen.bias) for seen in self.seen), strict=True)
        else:
            self.session.report()
        return Solution(self.alpha, self.bias, self.gaps, not why, self.iterations, why, self.C)

    def _solve(self) -> None:
        self._first_round()
        if len(self.columns) < self.n:
            self._hold_where_it_pays()
        for narrow in (True, False):
            self._take_in(self._left_out())
            while sets := {m: self._working_set(m) for m in self._open()}:
                self._round(sets)
                if narrow and self._open():
                    self._leave_out_settled()
        while self._check_exactly():
            while sets := {m: self._working_set(m) for m in self._open()}:
                self._round(sets)

    def _ending(self) -> str:
        """Why machines ended above tol; empty where none did."""
        states = self.iterations, self.limit, self.futile >= FUTILE, self.cramped
        return ending(self.gaps, self.tol, *states)

    def _first_round(self) -> None:
        """All machines on one set: their Gram matrix is computed once, or is there already."""
        first, self.columns = self.columns, self.columns[:0]
        self.session.strategy = f"whole matrix of {self.n} examples"
        self._take_in(first)
        if self.K is None:
            sizes = [max(self.largest, len(first)) ** 2] * (1 if len(first) == self.n else self.threads)
            spaces = [self.memory.enter_context(self.session.memory(size)) for size in sizes]
            if self.k == 1 and len(first) < self.n:
                self.square = Square(self.gram, self.session, spaces[0], max(self.largest, len(first)))
                return self._round({0: first})
            K = self.gram.square(first, self.session, as_matrix(spaces[0], len(first)))
            if len(first) == self.n:
                self.K = K[None], PLAIN
                self.exact.gram = self.gram if self.gram.double else Dense(K)
            else:
                self._round(dict.fromkeys(self._open(), first), (K[None], PLAIN))
                for space in spaces:
                    self.spaces.put(space)
                return None
        return self._round(dict.fromkeys(self._open(), first))

    def _hold_where_it_pays(self) -> None:
        """All of K into memory, where that takes less than rounds and the budget allows."""
        pays, why = whole_pays(self.alpha, self.columns, self.iterations)
        hold = pays and self.may_hold
        self.session.strategy = f"{'whole matrix' if hold else 'rounds'}: {why}"
        if hold:
            self.memory.close()  # what the first round was lent
            space = self.memory.enter_context(self.session.memory(self.n**2))
            self.gram = self.gram.held(self.gram.square(np.arange(self.n), self.session, as_matrix(space, self.n)))
            self.K, self.square = (self.gram.blocks, self.gram.which), None

    # Which examples

    def _left_out(self) -> np.ndarray:
        every = np.arange(self.n)
        return every[:0] if len(self.columns) == self.n else np.setdiff1d(every, self.columns)

    def _take_in(self, more) -> None:
        """f of examples that were left out so far, from the SVs."""
        if not len(more):
            return
        support = np.flatnonzero((self.alpha > 0).any(0))
        f = -self.Y.take(more, axis=1)
        if len(support):
            self.gram.add_to(f, support, (self.alpha * self.Y)[:, support], self.gram.columns(more), self.session)
        self.f[:, more] = f
        self.columns = np.union1d(self.columns, more)
        self._check_gaps()

    def _leave_out_settled(self) -> None:
        """`columns` become the examples that some machine may still need."""
        at = self.columns
        slack = self.Y[:, at] * (self.f[:, at] + self.bias[:, None])
        needed = (slack < _margin(self.gaps.max())).any(0) | (self.alpha[:, at] > 0).any(0)
        if self.square:
            needed |= np.isin(at, self.square.members)  # whose f rounds keep up to date anyway
        self.columns = at[needed]

    def _open(self) -> list[int]:
        """Machines that are not done, and may go on."""
        done = self.exact.known | self.exact.given_up | self._ended()
        going = (self.gaps > self.exact.target) & ~done
        return np.flatnonzero(going).tolist()

    def _first_set(self) -> np.ndarray:
        """One set for all machines: every example if K fits, else random ones that leave no class out."""
        size = sample_size(self.n, self.largest)
        if self.gram.whole or size == self.n:
            return np.arange(self.n)
        chosen = self.rng.choice(self.n, size, replace=False)
        few = size // (8 * self.k)
        for targets, C in zip(self.Y, self.C, strict=True):
            for label in (1.0, -1.0):
                members = np.flatnonzero((targets == label) & (C > 0))
                chosen = np.union1d(chosen, self.rng.choice(members, min(few, len(members)), replace=False))
        return chosen

    def _working_set(self, m) -> np.ndarray:
        """SVs of machine m and its worst violators; where SVs alone are too many, the worst violators of both kinds.

        Osuna, Freund and Girosi (1997), section 3.2.2: the set to optimise next must hold a violator.
        """
        if self.K is not None:
            return np.arange(self.n)
        f, alpha, b = self.f[m, self.columns], self.alpha[m, self.columns], self.bias[m]
        up, low = smo.index_sets(self.Y[m, self.columns], self.C[m, self.columns], alpha)
        violation = np.maximum(np.where(up, -b - f, -np.inf), np.where(low, f + b, -np.inf))
        loaded = alpha > 0
        room = self.largest - np.count_nonzero(loaded)
        if room >= min(self.largest // 8, GROWTH):
            violation[loaded] = -np.inf
            chosen = _top(violation, min(room, GROWTH))
            chosen = np.concatenate([np.flatnonzero(loaded), chosen[violation[chosen] > -_margin(self.gaps[m])]])
        else:
            chosen = self._both_ends(f, up, low, self.largest)
        chosen = self.columns[np.sort(chosen)]
        return self.square.plan(chosen) if self.square else chosen

    def _both_ends(self, f, up, low, size: int) -> np.ndarray:
        """The worst violators of both kinds, and free SVs drawn at random."""
        quarter = max(size // 4, 1)
        first, last = _top(np.where(up, -f, -np.inf), quarter), _top(np.where(low, f, -np.inf), quarter)
        free = np.setdiff1d(np.flatnonzero(up & low), np.concatenate([first, last]))
        more = self.rng.choice(free, min(len(free), size // 2, size - 2 * quarter), replace=False)
        return np.unique(np.concatenate([first, last, more]))

    # One round

    def _round(self, sets, K=None) -> None:
        """Solve machine m on sets[m], then bring all of f up to date; K = (blocks, which) of a set that all share.

        Osuna, Freund and Girosi (1997), section 3.2.3: one iteration of the decomposition.
        """
        before, gained, gaps = self.alpha.copy(), [self.seen[m].dual for m in sets], self.gaps.copy()
        tasks = [(m, chosen, K) for m, chosen in sets.items()]
        self.session.side_by_side(self._solve_set, tasks, self.threads)
        if any(len(chosen) < len(self.columns) for chosen in sets.values()):
            self._refresh(before, sets)
        self._check_gaps()
        for m in sets if self.trace else ():
            self._note(m, sets[m], len(self.columns), len(sets[m]), gaps[m])
        for m, dual in zip(sets, gained, strict=True):
            stuck = np.array_equal(self.alpha[m], before[m])
            gains = self.seen[m].dual - dual > GAIN * (1 + abs(dual))
            self.stale[m] = 0 if gains else STALE if stuck else self.stale[m] + 1
            if self.gaps[m] > self.exact.target[m] and self.stale[m] >= STALE:
                self._compute_afresh(m)

    def _refresh(self, before, sets) -> None:
        """f of the examples outside each working set, by the rows of every example whose alpha changed."""
        change = (self.alpha - before) * self.Y
        idx = np.flatnonzero(change.any(0))
        exact = {m: self.f[m, chosen] for m, chosen in sets.items()}
        at, columns = self._outside(sets)
        f = self.f.take(at, axis=1)
        self.gram.add_to(f, idx, change[:, idx], columns, self.session)
        self.f[:, at] = f
        for m, chosen in sets.items():
            self.f[m, chosen] = exact[m]

    def _outside(self, sets) -> tuple[np.ndarray, object]:
        """The columns that some machine's set leaves out, or all of them where the sets have little in common; and
        these as the source prepared them."""
        times = np.bincount(np.concatenate(list(sets.values())), minlength=self.n)
        outside = self.columns[times[self.columns] < len(sets)]
        if len(outside) < FEWER * len(self.columns):
            return outside, self.gram.columns(outside)
        if self.narrowed[0] is not self.columns:
            everything = len(self.columns) == self.n
            self.narrowed = self.columns, self.gram.columns(None if everything else self.columns)
        return self.narrowed

    def _check_gaps(self) -> None:
        at = self.columns if len(self.columns) < self.n else slice(None)
        for m in range(self.k):
            self.gaps[m], self.bias[m] = smo.kkt_gap(self.Y[m, at], self.C[m, at], self.alpha[m, at], self.f[m, at])
            self._see(m, self.alpha[m].copy(), self.f[m], self.gaps[m], self.bias[m])
        self.session.check()

    # In double precision

    def _check_exactly(self) -> bool:
        """Exact gaps of the machines that are at their target; whether one of them has to go on."""
        for m in range(self.k):
            if not (self.exact.known[m] or self.exact.given_up[m]):
                self.gaps[m], self.bias[m] = self.exact.gap(m, self.alpha[m], self.f[m])
                self._see(m, self.alpha[m].copy(), self.f[m], self.gaps[m], self.bias[m])
        return bool(self._open())

    def _compute_afresh(self, m) -> None:
        """All of f of machine m from its SVs: what was added up over many rounds may have lost its digits."""
        self.stale[m] = 0
        self.gaps[m], self.bias[m] = self.exact.afresh(m, self.alpha[m], self.f[m])


def _margin(gap) -> float:
    """How near an example is to a machine's margin if it may still become an SV."""
    return min(max(gap / 20, NEAR[0]), NEAR[1])


def _top(values, count) -> np.ndarray:
    """Indices of the `count` largest finite values."""
    if count < len(values):
        best = np.argpartition(values, len(values) - count)[len(values) - count :]
    else:
        best = np.arange(len(values))
    return best[np.isfinite(values[best])]
