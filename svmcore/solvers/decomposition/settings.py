"""The settings of the decomposition: how large the working set is, and how it is filled from round to round."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

CHOICES = ("most-violating", "first-found")


@dataclass(frozen=True)
class Decomposition:
    """How examples come into the working set B. The defaults are the library's own: B as large as memory allows, all
    violators priced in every round, the worst first.

    working_set: examples in B, |B|; the machine then holds |B|^2 kernel values at a time, and all alpha outside B are
    0. Where the support vectors do not fit, the answer is the best one found with |B| of them, and it says so.
    Osuna, Freund and Girosi (1997), section 3.2.2 (step 1), and section 3.3 for SVs that exceed B.
    new_points: how many violators may enter in a round. Section 3.2.3, the second parameter.
    lookahead: how many examples are priced (have their optimality condition evaluated) before the round starts with
    the violators found among them; where there is none, pricing goes on to the first one. Section 3.2.3.
    choice: of the violators that were found the "most-violating", or those "first-found", with which pricing ends as
    soon as `new_points` are found. Section 3.3, second suggestion on pivoting.
    keep_exited: examples that left B are kept on a list and priced first. Section 3.3, first suggestion.
    None: no limit (working_set: what memory allows). ValueError naming the setting for a value that cannot be.
    """

    working_set: int | None = None
    new_points: int | None = None
    lookahead: int | None = None
    choice: str = "most-violating"
    keep_exited: bool = False

    def __post_init__(self):
        for name, least in (("working_set", 2), ("new_points", 1), ("lookahead", 1)):
            value = getattr(self, name)
            whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
            if value is not None and not (whole and value >= least):
                raise ValueError(f"decomposition: {name} = {value!r}; allowed: a whole number from {least}, or None")
        if self.choice not in CHOICES:
            raise ValueError(f"decomposition: choice = {self.choice!r}; allowed: {', '.join(CHOICES)}")
        if not isinstance(self.keep_exited, bool | np.bool_):
            raise ValueError(f"decomposition: keep_exited = {self.keep_exited!r}; allowed: True, False")

    @property
    def usual(self) -> bool:
        """Whether all settings are the defaults."""
        return all(getattr(self, field.name) == field.default for field in fields(self))
