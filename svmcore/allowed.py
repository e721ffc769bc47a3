"""What a parameter may be: kinds of value, each its test and its words, and one way to refuse any other.

    check(self, C=above(0), rows=optional(whole(1)))    rows = 0; allowed: a whole number from 1, or None

Estimators, kernels and the settings of solvers and rules declare theirs so.
"""

import re
from collections.abc import Callable, Iterable
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np


class Allowed(NamedTuple):
    """A kind of value in words, and whether a value is of it."""

    words: str
    takes: Callable[[object], bool]

    def or_a(self, words: str, *types: type) -> "Allowed":
        """This kind, or an object of these types."""
        return Allowed(f"{self.words}, or {words}", lambda value: isinstance(value, types) or self.takes(value))


def check(owner, where: str = "", **kinds: Allowed) -> None:
    """ValueError naming the first attribute of an owner that is not of its kind; `where` stands before its name."""
    for name, kind in kinds.items():
        require(kind.takes(getattr(owner, name)), f"{where}{name}", getattr(owner, name), kind.words)


def require(good: bool, name: str, value, allowed: str) -> None:
    """ValueError, unless it is good, that names what has this value, and says what is allowed."""
    if not good:
        raise ValueError(f"{name} = {value!r}; allowed: {allowed}")


def is_whole(value, least: float = -np.inf) -> bool:
    """Whether a value is a whole number, no truth value, of at least so much."""
    return isinstance(value, Integral) and not isinstance(value, bool) and value >= least


def is_number(value) -> bool:
    """Whether a value is a finite number, no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(abs(value) < np.inf)


def whole(least: int, most: float = np.inf) -> Allowed:
    """Whole numbers from one to another, both included."""
    return Allowed(f"a whole number{_span(least, most)}", lambda value: is_whole(value, least) and value <= most)


def number(least: float, most: float = np.inf) -> Allowed:
    """Numbers from one to another, both included."""
    return Allowed(f"a number{_span(least, most)}", lambda value: is_number(value) and least <= value <= most)


def above(least: float, most: float = np.inf) -> Allowed:
    """Numbers above one, and up to another."""
    upper = f", up to {spelled(most)}" if most < np.inf else ""
    return Allowed(f"a number above {spelled(least)}{upper}", lambda value: is_number(value) and least < value <= most)


def _span(least: float, most: float) -> str:
    lower = f" from {spelled(least)}" if least > -np.inf else ""
    return lower + (f" to {spelled(most)}" if most < np.inf else "")


def spelled(limit: float) -> str:
    """`4,294,967,295`, `0.5`, `1e-8`: a number as a reader would write it."""
    return re.sub(r"e\+?(-?)0*", r"e\1", f"{limit:,.12g}")


def one_of(values: Iterable) -> Allowed:
    """These values, and what is equal to one of them."""
    values = tuple(values)
    return Allowed(", ".join(map(str, values)), lambda value: value in values)


def optional(kind: Allowed) -> Allowed:
    """A kind of value, or None."""
    return Allowed(f"{kind.words}, or None", lambda value: value is None or kind.takes(value))


flag = Allowed("True, False", lambda value: isinstance(value, bool | np.bool_))
