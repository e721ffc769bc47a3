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


def support_vectors(n: int) -> float:
    """Distinct support vectors that n training examples lead to: min(1, 4.2 n^-1/4) n, read off runs on digits."""
    return min(1.0, 4.2 * max(n, 1) ** -0.25) * n


def in_the_end(plan: list[Stage]) -> float:
    """Distinct support vectors of all machines after the last stage."""
    return support_vectors(plan[-1].n) * plan[-1].times ** 0.7
