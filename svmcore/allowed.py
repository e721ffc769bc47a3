"""What a value may be: kinds of value, each its test and its words, and one way to refuse any other.

    check(self, C=above(0), rows=optional(whole(1)))    rows = 0; allowed: a whole number from 1, or None
    check_object(value, {"n": size, "C": amount})    n = 0; allowed: a whole number from 1

Estimators, kernels and the settings of solvers and rules declare their parameters so, recipes their fields
(lab/fields.py), methods and tasks what they write into the files of a run.
"""

import re
import sys
from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np


class Allowed(NamedTuple):
    """A kind of value in words, and whether a value is of it."""

    words: str
    takes: Callable[[object], bool]
    fields: tuple[Mapping, Mapping] | None = None  # of an object those that it must have, and those that it may

    def or_a(self, words: str, *types: type) -> "Allowed":
        """This kind, or an object of these types."""
        return Allowed(f"{self.words}, or {words}", lambda value: isinstance(value, types) or self.takes(value))

    def checked(self, value):
        """The value, which is all that a file holds. ValueError where it is not of this kind."""
        if not self.takes(value):
            raise ValueError(f"it holds {shown(value)}, not {self.words}")
        return value


def check(owner, where: str = "", **kinds: Allowed) -> None:
    """ValueError naming the first attribute of an owner that is not of its kind; `where` stands before its name."""
    for name, kind in kinds.items():
        require(kind.takes(getattr(owner, name)), f"{where}{name}", getattr(owner, name), kind.words)


def require(good: bool, name: str, value, allowed: str) -> None:
    """ValueError, unless it is good, that names what has this value, and says what is allowed."""
    if not good:
        raise ValueError(refusal(name, value, allowed))


def refusal(name: str, value, allowed: str) -> str:
    """What is said of a value that cannot be."""
    return f"{name} = {shown(value)}; allowed: {allowed}"


def shown(value) -> str:
    """A value as it may be quoted, in at most 80 characters."""
    try:
        text = repr(value)
    except ValueError:  # Python writes no whole number of more than 4300 digits
        text = "a number with thousands of digits"
    return text if len(text) <= 80 else f"{text[:77]}..."


def is_whole(value, least: float = -np.inf) -> bool:
    """Whether a value is a whole number, no truth value, of at least so much."""
    return isinstance(value, Integral) and not isinstance(value, bool) and value >= least


def is_number(value) -> bool:
    """Whether a value is a number of double precision, no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool) and bool(abs(value) <= sys.float_info.max)


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
finite = Allowed("a number", is_number)
amount, fraction = number(0), number(0, 1)
text = Allowed("a text", lambda value: isinstance(value, str))
anything = Allowed("anything", lambda value: True)
count = Allowed("a whole number from 0", lambda value: is_whole(value, 0) and value < 2**63)
size = Allowed("a whole number from 1", lambda value: is_whole(value, 1) and value < 2**63)


# What a file of JSON holds


def several(kind: Allowed, least: int = 1, most: int = 10_000) -> Allowed:
    """Lists of values of a kind."""
    lengths = str(least) if least == most else f"{least} or more"
    return Allowed(
        f"a list of {lengths} values, each {kind.words}",
        lambda value: isinstance(value, list) and least <= len(value) <= most and all(map(kind.takes, value)),
    )


def an_object(fields: Mapping[str, Allowed], optional: Mapping[str, Allowed] | None = None) -> Allowed:
    """Objects with all of the fields, and perhaps the optional ones; others are left as they are."""

    def takes(value) -> bool:
        if not isinstance(value, dict) or not fields.keys() <= value.keys():
            return False
        known = {**fields, **(optional or {})}
        return all(known[name].takes(own) for name, own in value.items() if name in known)

    return Allowed(f"an object with {', '.join(fields or optional)}", takes, (fields, optional or {}))


def check_object(value, fields: Mapping[str, Allowed], optional: Mapping[str, Allowed] | None = None) -> dict:
    """An object as in `an_object`. ValueError naming the field that is missing, or not of its kind."""
    if not isinstance(value, dict):
        raise ValueError(f"it holds {shown(value)}, not an object")
    for name in fields:
        if name not in value:
            raise ValueError(f"it has no {name}")
    for name, kind in {**fields, **(optional or {})}.items():
        if name not in value or kind.takes(value[name]):
            continue
        if kind.fields is not None:  # the field of a field is named
            try:
                check_object(value[name], *kind.fields)
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        raise ValueError(refusal(name, value[name], kind.words))
    return value
