"""What a forecast is made of: the sizes of a problem, and the trainings that a method makes of it.

    support vectors of one machine on n examples = min(n, h n^0.65),    h = hardness

Classes that are told apart well leave few examples near the margin, classes that overlap many. Machines that share
their examples share support vectors: k of them have k^0.7 times as many distinct ones as one has. Where classes overlap
alphas go to C and back: the larger C, the longer a training takes (`effort`).
"""

from collections.abc import Iterable
from math import prod
from statistics import mean
from typing import NamedTuple

# Hardness, read off runs: a digit against the rest, by a polynomial of degree 9; candidates of a matched filter, noisy
# tables, virtual examples
EASY, HARD = 2.9, 10.5
RATE = 0.65  # support vectors of one machine grow with this power of the examples
# Of overlapping classes, as their examples are no longer told apart: times as long at C up to 1, a power of C, the
# largest C that counts. Read off adult, 500 to 20,000 rows with C of 0.1 to 1000, and noisy tables of 400 to 60,000
SLOWER, BY_C, MOST_C = 1.4, 0.45, 300.0
DEGREE, SIMPLER = 9, 0.6  # of a polynomial of lower degree: times (degree / DEGREE)^SIMPLER
STEPS = {"deslant": 0.65}  # times the support vectors without this step
STEADY = {"unit-norm", "scale01"}  # preparations that a shift does not change, but for ink that it clips


class Sizes(NamedTuple):
    """How large a recipe's problem is."""

    n_train: int
    n_test: int
    d: int
    machines: int
    stored: float = 0.0  # bytes of the whole dataset, as it is read
    hardness: float = EASY
    positive: float = 0.5  # share of the examples that are of a machine's positive class
    overlap: bool = False  # whether classes overlap: tables, candidates, labels that are swapped


class Stage(NamedTuple):
    """One training, done so many times."""

    n: int
    machines: int
    times: int = 1
    hardness: float | None = None  # None: the problem's
    made: int = 0  # rows of d float32 numbers that are made for it alone
    blocks: int = 0  # of made x made kernel values each that are all it keeps; 0: as many as its solver likes
    solver: str | None = None  # None: the plan's
    rounds: float = 1.0  # trainings on so many examples that it takes as long as
    decided: int = 0  # examples that its machines decide meanwhile, by half of those that they have in the end


class Work(NamedTuple):
    """How many plain kernel values one value takes, while training and when deciding."""

    training: float
    deciding: float


class Plan(NamedTuple):
    """What a method makes of a problem of some size."""

    size: Sizes
    stages: list[Stage]  # trainings, one after the other
    work: Work
    held: float  # rows of d float32 numbers held beside the training and test examples
    beside: float = 0.0  # seconds of other work that counts as training
    solver: str = "auto"
    working_set: int | None = None  # examples, of a solver that has been given a number of them
    settings: object = None  # of the solver, where it has some
    filled: bool = False  # whether kernel values are so dear that rows of them are kept
    real: bool = False  # whether features are no whole numbers of one step
    bounds: bool = False  # whether every machine is trained once without each of its support vectors
    most: int = 0  # of a recipe's first plan: examples of its largest training, if all become support vectors
    # Of what is no training of machines on examples:
    seconds: float | None = None  # that it takes
    vectors: float | None = None  # distinct ones that decide in the end
    least: float | None = None  # bytes that it cannot do without


def vectors_of_one(n: float, hardness: float) -> float:
    """Support vectors of one machine on n examples."""
    return min(n, hardness * max(n, 1) ** RATE)


def effort(size: Sizes, values: Iterable[float]) -> float:
    """Times as long that trainings take as those of classes that are told apart well, in the mean over values of C."""
    return mean(SLOWER * min(max(C, 1.0), MOST_C) ** BY_C for C in values) if size.overlap else 1.0


def easy(kernel, steps) -> float:
    """The hardness of classes that are told apart well, by a kernel after some steps of preprocessing."""
    local = getattr(kernel, "inner", DEGREE) * getattr(kernel, "outer", 1)  # products of products
    simpler = min(1.0, getattr(kernel, "degree", local) / DEGREE) ** SIMPLER
    return EASY * simpler * prod(STEPS.get(step, 1.0) for step in steps)


def support_vectors(n: int) -> float:
    """Distinct support vectors that n training examples lead to: min(1, 4.2 n^-1/4) n, read off runs on digits."""
    return min(1.0, 4.2 * max(n, 1) ** -0.25) * n


def in_the_end(stages: list[Stage]) -> float:
    """Distinct support vectors of all machines after the last stage."""
    return support_vectors(stages[-1].n) * stages[-1].times ** 0.7
