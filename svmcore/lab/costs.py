"""What a method makes of a problem of some size, the trainings of a plan, and by rules of thumb what these cost.

    support vectors of one machine on n examples = min(n, h n^0.65),    h = hardness

Classes that are told apart well leave few examples near the margin, classes that overlap many. Where they overlap
alphas go to C and back: the larger C and the fewer features, the longer a training takes (`effort`). Machines share
support vectors as they share examples: if one of k machines has s of n examples, all of them together have

    distinct = n (1 - (1 - s/n)^(k^0.8)),    k^0.8 s where each has examples of its own

Seconds and megabytes of the stages of a plan:

    train(n) = (2 d w / F + (6 + k) / S) u n,    u = distinct support vectors of n examples
    test(u)  = 2 d w u t / F
    memory   = code + dataset + prepared examples + max(the search for examples, each fit, the machine in the end)
    fit      = rows made for it + operand + numbers of each example and machine + Gram matrices

Gram matrices: the whole one where there are few examples; else of the sample of the first round and of working sets,
about WIDER times a machine's support vectors, or these and the violators of a round where they are many; one for each
core, where there are several machines.

n, t, d  training and test examples, features;  k  machines;  w  plain kernel values that one takes;  F  rate of kernel
products (flop/s), zeros counted;  S  rate of the solver's passes over examples (1/s). The rates are read off runs of
2000 to 60000 digits, and of tables, on two cores (tests/bench/measured) that multiply and add whole numbers in one
instruction; `slower` says how many times as long others take.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache
from math import inf, prod
from statistics import mean
from typing import NamedTuple

from llvmlite import binding

from data.revisions import base_of
from svmcore.gram.sources import STEP
from svmcore.memory import MB
from svmcore.preprocess import parse_step
from svmcore.solvers.decomposition.sample import sample_size
from svmcore.solvers.decomposition.working_set import GROWTH
from svmcore.solvers.general import SLOW
from svmcore.source import NUMBERS, SMO_UP_TO

# Hardness, read off runs: a digit against the rest, by a polynomial of degree 9; candidates of a matched filter and
# noisy tables
EASY, HARD = 2.9, 10.5
RATE = 0.65  # support vectors of one machine grow with this power of the examples
# Of overlapping classes, as their examples are no longer told apart: times as long at C up to 1, a power of C, the
# features from which on it becomes less, the largest C that counts. Read off adult, forest and noisy tables of 2 to 123
# features, 3,000 to 30,000 rows, C of 1 to 1000
SLOWER, BY_C, FEW_FEATURES, MOST_C = 1.1, 0.4, 16, 1000.0
SHARED = 0.8  # read off fits of ten machines on three datasets of digits, degrees 2 to 9: powers of .74 to .94
# A polynomial of lower degree has (degree / DEGREE)^SIMPLER times as many; below SIMPLEST as many as at SIMPLEST
DEGREE, SIMPLER, SIMPLEST = 9, 0.6, 4
HARDER = {"fashion-mnist": 1.4, "usps": 0.62, "digits-8x8": 0.5}  # times the support vectors of as many of MNIST
# Of one digit against the rest, times the mean of all digits, read off 6000 digits by a polynomial of degree 9
OF_DIGIT = {0: 0.66, 1: 0.52, 2: 1.13, 3: 1.15, 4: 1.12, 5: 1.2, 6: 0.84, 7: 0.99, 8: 1.21, 9: 1.16}
DIGITS = ("mnist", "qmnist", "usps", "digits-8x8")  # the datasets, with those drawn from them

# Seconds and memory
REAL_VALUE = 3e-9  # seconds more of a kernel value that is decided by, of features that are no whole numbers
FLOPS, PASSES = 600e9, 2.5e9
WITHOUT_VNNI, OLDER = 3.0, 1.3  # times as long without such an instruction, read off 60 recipes: on tiles, all else
START, READING = 0.8, 2e-8  # seconds of a start, in which compiled code is loaded; of a feature read and prepared
DIGESTING, GENERAL = "smo-digestion", "general"
ONE_BY_ONE, AGAIN = 9e9, 3  # flop/s of kernel values that are made one by one; times that each is made
CODE_MB = 55  # compiled functions, the pool's threads and their stacks
OPERAND = 2  # bytes of a feature in whole-number tiles and the lists of their rows
REAL = 4  # of one in real tiles; those of the examples that rounds bring up to date are held as well
WIDER = 2.4  # times a machine's support vectors, the largest working set that it has on the way
WORST = 0.6  # share of noisy examples that is in the largest working set
FEW = 1.2  # times the sample, with the examples of small classes that are added to it
LARGEST = 1.25  # times the mean: support vectors of the two machines that have the most
AT_A_TIME = 20_000, 2.4  # more support vectors are solved for in parts, which take as many times as long
REMOVAL = 1e-3, 2.3e-6  # seconds of retraining without one example: at least, and for each of the examples
GRADIENTS, GRADIENT = 3, (6e-5, 6e-10)  # of a general optimiser for each example; seconds of one, for each n^2 of it
SOLVED = 0.5e-7  # seconds that one which solves equations takes in all, for each n^3
SIDES = 2  # trainings that are done side by side


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
    grouped: float = 1.0  # examples of one group, about
    # Of a machine that is trained already: support vectors of one against the rest, distinct ones of all of them
    counted: tuple[float, float] | None = None
    looking: float = 0.0  # bytes that the search for its examples takes, freed before a training


class Stage(NamedTuple):
    """Trainings of one size, `times` of them."""

    n: int
    machines: int
    times: int = 1
    hardness: float | None = None  # None: the problem's
    made: int = 0  # rows of d float32 numbers that are made for it alone
    blocks: int = 0  # of made x made kernel values each that are all it keeps; 0: as many as its solver likes
    solver: str | None = None  # None: the plan's
    rounds: float = 1.0  # as many trainings on n examples take as long as one of these
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
    made: float = 1.0  # share of its kernel values that it makes; the others are there
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
    power = BY_C * min(1.0, FEW_FEATURES / max(size.d, 1))
    return mean(SLOWER * min(max(C, 1.0), MOST_C) ** power for C in values) if size.overlap else 1.0


def fewer(steps: Iterable[str]) -> float:
    """Times the support vectors that there would be without some steps of preprocessing."""
    return prod(parse_step(step).step.fewer for step in steps)


def easy(kernel, steps, dataset: str = "", classes: tuple = ()) -> float:
    """The hardness of classes that are told apart well, by a kernel after some steps of preprocessing. classes: the
    recipe's; one label means that class against the rest."""
    dataset = base_of(dataset)
    simpler = min(1.0, max(getattr(kernel, "degree", DEGREE), SIMPLEST) / DEGREE) ** SIMPLER
    alone = OF_DIGIT.get(classes[0], 1.0) if len(classes) == 1 and dataset.startswith(DIGITS) else 1.0
    return EASY * HARDER.get(dataset, 1.0) * simpler * fewer(steps) * alone


class Slower(NamedTuple):
    """How many times as long something takes on this processor as on those that the rates were read off."""

    tiles: float  # tiles of the Gram matrix (gram/registers.py), and passes, decisions and reductions that work on them
    rest: float  # all else


@lru_cache(maxsize=1)
def slower() -> Slower:
    """By what the processor can do: whether it multiplies and adds whole numbers in one instruction."""
    features = binding.get_host_cpu_features()
    newer = any("vnni" in name for name, has in features.items() if has)
    return Slower(1.0, 1.0) if newer else Slower(WITHOUT_VNNI, OLDER)


def vectors_of_each(size: Sizes, stage: Stage) -> float:
    """Support vectors of one machine of a stage."""
    return vectors_of_one(stage.n, size.hardness if stage.hardness is None else stage.hardness)


def distinct(size: Sizes, stage: Stage) -> float:
    """Distinct support vectors of all machines of a stage."""
    share = vectors_of_each(size, stage) / max(stage.n, 1)
    return stage.n * (1 - (1 - share) ** stage.machines**SHARED) * stage.times**SHARED


def as_digits(n: int) -> float:
    """Distinct support vectors of n examples by which trainings are timed: min(1, 4.2 n^-1/4) n, read off runs on
    digits."""
    return min(1.0, 4.2 * max(n, 1) ** -0.25) * n


class Cost(NamedTuple):
    """Seconds and memory, by the rates and what this processor can do."""

    n_train: int  # examples of the first training
    parts: list[tuple[float, float]]  # seconds of each training and of the test that follows it
    start: float  # seconds in which compiled code is loaded
    reading: float  # seconds in which examples are read and prepared
    examples_mb: float  # beside a fit
    looking_mb: float  # what the search for examples takes, freed before a fit
    least_mb: float  # what a fit cannot do without
    fit_mb: float  # what a fit takes when nothing holds it back
    enough_mb: float  # what every fit gets by with (`_enough_mb`)
    alone: bool  # whether its trainings are work for one processor

    @property
    def seconds(self) -> float:
        """Of all parts."""
        return sum(map(sum, self.parts))

    def advice(self, cache_mb: float | None, free: float) -> str:
        """What would fit into `free` MB."""
        least = self.examples_mb + max(self.least_mb, self.looking_mb)
        text = f"{self.n_train} training examples need at least {least:,.0f} MB; "
        text += f"{free:,.0f} MB are free" + (f" and cache_mb is {cache_mb:g}" if cache_mb is not None else "")
        if least <= free:
            return f"{text}. cache_mb from {self.least_mb:,.0f} to {free - self.examples_mb:,.0f} would fit."
        if self.looking_mb > self.least_mb:  # whatever n_train is
            return f"{text}. Pictures of fewer pixels would fit."
        n = int(self.n_train * (free - CODE_MB) / least)
        return f"{text}. " + (f"n_train up to {n} would fit." if n >= 2 else "No number of examples would fit.")


def cost(plan: Plan, others: Sequence[Plan]) -> Cost:
    """The whole cost of a recipe: of its first training, and of those that follow."""
    parts = [part for each in (plan, *others) for part in _seconds(each)]
    if plan.bounds:
        parts.append((_bounds_seconds(plan), 0.0))
    size = plan.size
    largest = max((each.size.n_train + each.size.n_test + each.held for each in others), default=0)
    rows = size.n_train + size.n_test + plan.held + largest
    examples = 4 * rows * size.d + size.stored
    least, most = plan.least, plan.least
    if least is None:
        least = _least_bytes(plan)
        # the support vectors, twice while the machine is put together, and as the operand that decides
        at_the_end = size.d * (8 + _tiled(plan)) * distinct(size, plan.stages[-1])
        most = max(*(_fit_bytes(plan, stage) for stage in plan.stages), at_the_end)
    if plan.bounds:  # all kernel values, in double precision where there is room
        least, most = max(least, 2 * 4 * size.n_train**2), max(most, 2 * 12 * size.n_train**2)
    alone = all(_solver(plan, stage) in OTHER for stage in plan.stages)
    start, reading = (slower().rest * each for each in (START, READING * (size.n_train + size.n_test) * size.d))
    memory = examples / MB + CODE_MB, size.looking / MB, least / MB, most / MB, _enough_mb(plan)
    return Cost(size.n_train, parts, start, reading, *memory, alone)


def _enough_mb(plan: Plan) -> float:
    """A ceiling that every fit gets by with, however slowly and if all examples become support vectors; infinite where
    what it takes is no choice of its solver."""
    if plan.least is not None or plan.solver in ("smo", GENERAL) or plan.working_set is not None:
        return inf
    return SIDES * plan.most * (12 * plan.size.d + 8 * NUMBERS * plan.size.machines + 8 * STEP) / MB


def _seconds(plan: Plan) -> list[tuple[float, float]]:
    size, stages = plan.size, plan.stages
    tiles, rest = slower()
    value = tiles * (plan.made * 2.0 * size.d * plan.work.training / FLOPS)
    decided = tiles * (2.0 * size.d * plan.work.deciding / FLOPS + REAL_VALUE * plan.real)
    trainings = [
        rest * OTHER[_solver(plan, s)](plan, s) if _solver(plan, s) in OTHER
        else _timed(size, s) * s.n * s.times * s.rounds * (value + tiles * (6 + s.machines) / PASSES)
        + s.decided * s.n / 2 * decided
        for s in stages
    ]  # fmt: skip
    if plan.seconds is not None:
        trainings = [tiles * plan.seconds]
    trainings[0] += rest * plan.beside
    vectors = distinct(size, stages[-1]) if plan.vectors is None else plan.vectors
    tests = [0.0] * (len(trainings) - 1) + [vectors * size.n_test * decided]
    return list(zip(trainings, tests, strict=True))


def _timed(size: Sizes, stage: Stage) -> float:
    """Distinct support vectors of a training, or as many as take as long."""
    if not size.overlap:
        return as_digits(stage.n)
    more = AT_A_TIME[1] if vectors_of_each(size, stage) > AT_A_TIME[0] else 1.0
    return more * max(as_digits(stage.n), distinct(size, stage._replace(times=1)))


def _bounds_seconds(plan: Plan) -> float:
    """Every machine once without each of its support vectors."""
    size = plan.size
    removals = size.machines * vectors_of_one(size.n_train, size.hardness)
    values = 2.0 * size.d * plan.work.training * size.n_train**2 / FLOPS
    return slower().tiles * (removals * (REMOVAL[0] + REMOVAL[1] * size.n_train) + values)


def _digesting(plan: Plan, stage: Stage) -> float:
    """Kernel values one by one, of each example with each support vector in every pass."""
    values = AGAIN * stage.n * vectors_of_each(plan.size, stage) * stage.machines * stage.times
    return values * 2.0 * plan.size.d * plan.work.training / ONE_BY_ONE


def _general(plan: Plan, stage: Stage) -> float:
    """The whole Gram matrix, then a gradient after the other."""
    n, slow = stage.n, plan.settings.way in SLOW
    values = 2.0 * plan.size.d * plan.work.training * n**2 / FLOPS
    solving = SOLVED * n**3 if slow else GRADIENTS * n * (GRADIENT[0] + GRADIENT[1] * n**2)
    return stage.times * (values + stage.machines * solving)


OTHER = {DIGESTING: _digesting, GENERAL: _general}  # solvers with forecasts of their own


def _solver(plan: Plan, stage: Stage) -> str:
    return plan.solver if stage.solver is None else stage.solver


def _least_bytes(plan: Plan) -> float:
    """A fit's operand, twice for a while, nine numbers an example and machine, a little room for working sets, and all
    kernel values for a solver that takes no fewer."""
    d, stages = plan.size.d, plan.stages
    return max(
        s.n * (8 * d + 72 * s.machines + 4 * STEP)
        + 4 * s.n * d * (s is not stages[0])
        + _gram_bytes(plan, s) * (_solver(plan, s) == GENERAL)
        for s in stages
    )


def _tiled(plan: Plan) -> int:
    """Bytes of a feature in an operand."""
    return REAL * (1 + (plan.working_set is None)) if plan.real else OPERAND


def _fit_bytes(plan: Plan, stage: Stage) -> float:
    """What a training holds at its most, where nothing holds it back."""
    operand, rows = (stage.made, stage.made + stage.n) if stage.blocks else (stage.n, stage.made)
    one = plan.size.d * (4 * rows + _tiled(plan) * operand) + 8 * NUMBERS * stage.n * stage.machines
    return (one + _gram_bytes(plan, stage)) * (SIDES if stage.times > 1 else 1)


def _gram_bytes(plan: Plan, stage: Stage) -> float:
    n, k = stage.n, stage.machines
    if stage.blocks:
        return 4 * stage.blocks * (LARGEST * stage.made) ** 2
    if plan.working_set is not None:
        return 4 * min(n, plan.working_set) ** 2
    solver = _solver(plan, stage)
    if solver == GENERAL:
        return plan.settings.nbytes(n)
    if solver == DIGESTING:
        return 4 * n * plan.settings.rows_of(n, 4 * n * n)
    if solver == "smo" or (solver == "auto" and n <= (SMO_UP_TO if k == 1 else 2 * SMO_UP_TO)):
        return 4 * n * n
    hardness = plan.size.hardness if stage.hardness is None else stage.hardness
    own, sample = vectors_of_one(n, hardness), min(FEW * sample_size(n, n), n)
    second = vectors_of_one(sample, hardness) + GROWTH
    last = min(LARGEST * own + GROWTH / 2, WORST * n)  # of noisy examples, nearly all of them SVs, sets hold the worst
    working = min(WIDER * own, max(second, last), (own + 3 * n) / 4)
    kept = 4 * n * min(WIDER * own * k**0.7, n) if plan.filled else 0.0
    return kept + 4 * max(sample, working) ** 2 + (4 * working**2 if k > 1 else 0.0)
