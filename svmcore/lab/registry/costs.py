"""What a forecast is made of: the sizes of a problem, and the trainings that a method makes of it."""

from __future__ import annotations

from typing import NamedTuple


class Sizes(NamedTuple):
    """How large a recipe's problem is."""

    n_train: int
    n_test: int
    d: int
    machines: int


class Stage(NamedTuple):
    """One training, done so many times."""

    n: int
    machines: int
    times: int = 1


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
    # Of what is no training of machines on examples:
    seconds: float | None = None  # that it takes
    vectors: float | None = None  # distinct ones that decide in the end
    least: float | None = None  # bytes that it cannot do without


def support_vectors(n: int) -> float:
    """Distinct support vectors that n training examples lead to: min(1, 4.2 n^-1/4) n, read off runs on digits."""
    return min(1.0, 4.2 * max(n, 1) ** -0.25) * n


def in_the_end(stages: list[Stage]) -> float:
    """Distinct support vectors of all machines after the last stage."""
    return support_vectors(stages[-1].n) * stages[-1].times ** 0.7
