"""The state of one solve, which all files of this folder share: what each field holds stands beside it."""

from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import cached_property
from queue import SimpleQueue
from typing import NamedTuple

import numpy as np

from svmcore.gram.sources import Gram
from svmcore.gram.threads import CORES
from svmcore.solvers.decomposition.square import Square
from svmcore.solvers.decomposition.trace import Trace
from svmcore.solvers.exact import Exact
from svmcore.solvers.free import set_size
from svmcore.solvers.session import Session

SMALLEST_SET = 64  # examples that a working set may hold however little memory there is
FUTILE = 2  # futile calls of steps in turn after which a machine is at its end, unless memory cuts them short


class Seen(NamedTuple):
    """A machine when it was last looked at; never changed."""

    alpha: np.ndarray  # (n,) float64
    gap: float
    bias: float
    dual: float
    n_sv: int
    n_bound: int


@dataclass(eq=False)
class State:
    """k machines on n examples; a machine m is a row of each array, and arrays change in place."""

    # The problem, as of decomposition.solve
    gram: Gram  # where kernel values come from; replaced by one that holds all of K, where that pays
    session: Session
    Y: np.ndarray  # (k, n) float64, +1 and -1
    C: np.ndarray  # (k, n) float64, a copy: nu-SVC scales it
    tol: float
    square_bytes: int
    seed: int
    memory: ExitStack  # gives back what the session lends
    may_hold: bool = False  # whether all of K may come into memory, where that pays
    apart: bool = False  # pairs lie within a class (nu.py)
    trace: Trace | None = None
    start: tuple[np.ndarray, np.ndarray] | None = None  # alpha and f (k, n) to begin with; None for zeros

    # What the machines have come to
    alpha: np.ndarray = field(init=False)  # (k, n) float64
    f: np.ndarray = field(init=False)  # (k, n) float64, up to date for the examples `columns`
    lost: np.ndarray = field(init=False)  # (k, n) float32, what single precision may have lost of f (exact.py)
    gaps: np.ndarray = field(init=False)  # (k,) over `columns`, when last checked
    bias: np.ndarray = field(init=False)  # (k,)
    exact: Exact = field(init=False)  # what is known in double precision: targets, and who is done
    seen: list[Seen] = field(init=False)  # each machine, for reports

    # What it has taken, and how well it goes
    iterations: np.ndarray = field(init=False)  # (k,) int64, pairs, steps counted as the pairs that take as long
    limit: int = field(init=False)  # of these
    stale: np.ndarray = field(init=False)  # (k,) rounds in turn in which a machine gained next to nothing
    futile: np.ndarray = field(init=False)  # (k,) calls of second-order steps in turn that brought next to nothing
    cramped: np.ndarray = field(init=False)  # (k,) bool, steps lack memory
    bounded: np.ndarray = field(init=False)  # (k,) bool, whether an alpha has ever been at its C
    floor: np.ndarray = field(init=False)  # (k,) a gap below which no set is solved for now (nu.py)

    # Working sets and their Gram matrices
    columns: np.ndarray = field(init=False)  # examples whose f is kept up to date, ascending
    narrowed: tuple = (None, None)  # the columns that `add_to` was last asked for, as the source prepared them
    threads: int = field(init=False)  # machines solved side by side
    largest: int = field(init=False)  # examples of a working set at most
    sampling: bool = False  # whether rounds are on samples still, which are solved roughly
    entering: np.ndarray = field(init=False)  # (k,) violators that a machine's next set adds, at most
    K: tuple | None = field(init=False)  # all of K, as Gram.values has it, where it is in memory
    given: bool = field(init=False)  # the source came with all of K
    square: Square | None = None  # the only machine's working set, where not all of K is in memory
    spaces: SimpleQueue = field(default_factory=SimpleQueue)  # memory of working sets' K, one for each thread

    def __post_init__(self):
        self.Y, self.C = np.ascontiguousarray(self.Y, np.float64), np.array(self.C, np.float64)
        k, n = self.Y.shape
        self.alpha, self.f = (np.zeros_like(self.Y), -self.Y) if self.start is None else map(np.array, self.start)
        self.gaps, self.bias = np.full(k, np.inf), np.zeros(k)
        self.exact = Exact(self.gram, self.Y, self.C, self.tol, self.session, self.seed)
        self.lost = np.zeros((k, n), np.float32)
        for m in range(k):
            self.summed(m)
        self.seen = [Seen(self.alpha[0], np.inf, 0.0, 0.0, 0, 0)] * k
        self.iterations, self.limit = np.zeros(k, np.int64), self.session.iteration_limit(n)
        self.stale, self.futile = np.zeros(k, int), np.zeros(k, int)
        self.cramped, self.floor = np.zeros(k, bool), np.zeros(k)
        self.bounded = ((self.alpha >= self.C) & (self.C > 0)).any(1)
        self.columns, self.threads = np.arange(n), min(CORES, 2, k)
        self.largest = min(n, max(set_size(n, self.square_bytes // self.threads), SMALLEST_SET))
        self.entering = np.full(k, n, np.int64)
        self.K = self.gram.values
        self.given = self.K is not None
        self.may_hold &= 4 * n * n <= self.square_bytes

    @cached_property
    def rng(self) -> np.random.Generator:
        """Draws working sets."""
        return np.random.default_rng(self.seed)

    @property
    def k(self) -> int:
        return self.Y.shape[0]

    @property
    def n(self) -> int:
        return self.Y.shape[1]

    def of(self, m: int, at=slice(None)) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """(y, C, alpha, f) of machine m, of the examples `at`."""
        return self.Y[m, at], self.C[m, at], self.alpha[m, at], self.f[m, at]

    def summed(self, m: int, at=slice(None)) -> None:
        """Take note that f of machine m's examples `at` was summed from the SVs in single precision."""
        self.lost[m, at] = self.exact.weight(self.alpha[m])

    def changed(self, m: int, at, change, of=slice(None)) -> None:
        """Take note that a change of the alpha of the examples `of` was added to their f, in single precision."""
        self.lost[m, at] = np.hypot(self.lost[m, at], self.exact.weight(change, of))

    def alike(self) -> list[np.ndarray]:
        """The machines, in groups of those that are alike (exact.py)."""
        if self.exact.like is None:
            return list(np.arange(self.k)[:, None])
        like = np.asarray(self.exact.like)
        return [np.flatnonzero(like == number) for number in np.unique(like)]

    def ended(self) -> np.ndarray:
        """Machines (k,) that may not go on: their pairs, or what steps can do, are at an end."""
        return (self.iterations >= self.limit) | ((self.futile >= FUTILE) & ~self.cramped)

    def open(self) -> list[int]:
        """Machines that are not done, and may go on."""
        done = self.exact.known | self.exact.given_up | self.ended()
        return np.flatnonzero((self.gaps > self.exact.target) & ~done).tolist()
