"""The small language that names jitter sets: its grammar. The words stand in families.py.

    set     = product {"+" product} ["@" border]        union
    product = factor {"*" factor}                       every combination, one from each factor
    factor  = family [":" values] | "(" set ")"

Every set contains the identity, as its first member.
"""

import re
from collections.abc import Iterable
from functools import lru_cache
from itertools import product

from svmcore.jitter.families import FAMILIES, MOST, Jitter

BORDERS = ("background", "edge", "zero")  # what a move brings in from outside


@lru_cache(maxsize=16)  # a form, its forecast and its run read the same few texts again and again
def parse(text: str) -> tuple[tuple[Jitter, ...], str]:
    """Jitters and border of a set such as "box:1*thick:0.5@edge": no duplicates, the identity first, all shifts of the
    same parts together.

    Raises ValueError that quotes the text and says what is allowed.
    """
    body, at, border = text.partition("@")
    if at and border not in BORDERS:
        raise ValueError(f"jitters '{text}': border '{border}' is unknown; allowed: @{', @'.join(BORDERS)}")
    reader = _Reader(body)
    try:
        jitters = reader.read_set()
        if reader.peek():
            raise ValueError(f"'{reader.peek()}' is out of place; allowed: '+' (union) or '*' (product) between sets")
    except ValueError as error:
        raise ValueError(f"jitters '{text}': {error}") from None
    first_seen = {parts: place for place, parts in enumerate(dict.fromkeys(j.parts for j in jitters))}
    return tuple(sorted(jitters, key=lambda j: first_seen[j.parts])), border or BORDERS[0]


def power(text: str, exponent: int) -> str:
    """The product of a set with itself: "box:1@edge", 2 -> "(box:1)*(box:1)@edge"; "none" for exponent 0."""
    body, at, border = text.partition("@")
    return ("*".join([f"({body})"] * exponent) or "none") + at + border


def without_shifts(text: str) -> str:
    """The same expression with every family of translations replaced by the identity."""
    shifts = "|".join(name for name, family in FAMILIES.items() if family.shifts)
    return re.sub(rf"\b({shifts})(:[^+*()@]*)?", "none", text)


class _Reader:
    """Recursive descent over the tokens of an expression."""

    def __init__(self, text: str):
        self.tokens = re.findall(r"[()+*]|[^()+*]+", text)

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def read_set(self) -> tuple[Jitter, ...]:
        jitters = self._read_product()
        while self.peek() == "+":
            self.tokens.pop(0)
            jitters = _distinct(jitters + self._read_product())
        return jitters

    def _read_product(self) -> tuple[Jitter, ...]:
        jitters = self._read_factor()
        while self.peek() == "*":
            self.tokens.pop(0)
            factor = self._read_factor()
            if len(jitters) * len(factor) > MOST:
                raise ValueError(f"the product has {len(jitters) * len(factor)} jitters; allowed: at most {MOST}")
            jitters = _distinct(a.then(b) for a, b in product(jitters, factor))
        return jitters

    def _read_factor(self) -> tuple[Jitter, ...]:
        token = self.tokens.pop(0) if self.tokens else "nothing"
        if token == "(":
            jitters = self.read_set()
            if self.peek() != ")":
                raise ValueError("a closing ')' is missing")
            self.tokens.pop(0)
            return jitters
        name, _, values = token.partition(":")
        if name not in FAMILIES:
            raise ValueError(f"'{token}' is unknown; allowed: {', '.join(f.usage for f in FAMILIES.values())}")
        try:
            return _distinct([Jitter(), *FAMILIES[name].make(values)])
        except ValueError as error:
            raise ValueError(f"'{token}': {error}; the form is {FAMILIES[name].usage}") from None


def _distinct(jitters: Iterable[Jitter]) -> tuple[Jitter, ...]:
    first = {}
    for jitter in jitters:
        first.setdefault(jitter.key, jitter)
    return tuple(first.values())
