"""Checks of values that a file brings: each returns the value, or raises ValueError saying what it is instead."""

from collections.abc import Callable, Mapping
from math import isfinite


def an_object(value, fields: Mapping[str, Callable], optional: Mapping[str, Callable] | None = None) -> dict:
    """A JSON object with all of `fields`, and perhaps the optional ones, each checked."""
    if not isinstance(value, dict):
        raise ValueError(f"it holds {short(value)}, not an object")
    for name, check in fields.items():
        if name not in value:
            raise ValueError(f"it has no {name}")
        _field(name, check, value[name])
    for name, check in (optional or {}).items():
        if name in value:
            _field(name, check, value[name])
    return value


def _field(name, check, value):
    try:
        check(value)
    except ValueError as error:
        raise ValueError(f"{name} is {error}") from None


def number(value) -> float:
    """A finite number that is not absurdly long."""
    if not isinstance(value, int | float) or isinstance(value, bool) or not abs(value) < 1e300 or not isfinite(value):
        raise ValueError(f"{short(value)}, not a number")
    return value


def positive(value) -> float:
    """A number that is not negative: seconds, megabytes, a rate."""
    if number(value) < 0:
        raise ValueError(f"{short(value)}, which is negative")
    return value


def count(value) -> int:
    """A whole number that is not negative."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**63:
        raise ValueError(f"{short(value)}, not a count")
    return value


def size(value) -> int:
    """A whole number above 0."""
    if not count(value):
        raise ValueError("0, where there should be some")
    return value


def maybe(check) -> Callable:
    """A check of values that may be missing."""
    return lambda value: value if value is None else check(value)


def share(value) -> float:
    """A number from 0 to 1."""
    if positive(value) > 1:
        raise ValueError(f"{short(value)}, not a share")
    return value


def flag(value) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise ValueError(f"{short(value)}, neither true nor false")
    return value


def text(value) -> str:
    """A text."""
    if not isinstance(value, str):
        raise ValueError(f"{short(value)}, not a text")
    return value


def among(allowed) -> Callable:
    """The check of one of a few words."""

    def check(value) -> str:
        if value not in allowed:
            raise ValueError(f"{short(value)} is none of {', '.join(allowed)}")
        return value

    return check


def anything(value):
    """Whatever it is."""
    return value


def several(check, least=1, most=10_000):
    """A check of lists of `least` to `most` values."""

    def check_all(value):
        if not isinstance(value, list) or not least <= len(value) <= most:
            raise ValueError(f"{short(value)}, not a list of {least} or more")
        return [check(item) for item in value]

    return check_all


def short(value) -> str:
    """A value as it may be quoted."""
    shown = repr(value) if not isinstance(value, int) or abs(value) < 1e300 else "a number of hundreds of digits"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
