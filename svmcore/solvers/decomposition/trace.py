"""What a decomposition did, round by round: who entered the working set, who left it, and who came again.

Osuna, Freund and Girosi (1997), section 3.3, observe that few examples ever enter, and some again and again.
"""

from itertools import pairwise
from math import isfinite
from typing import NamedTuple

import numpy as np

from svmcore.memory import MB

OFTEN, LONGEST = 30, 300  # examples and rounds that a summary tells of
SUMMED = ("entered", "left", "again", "priced", "violators")


class Round(NamedTuple):
    """One global iteration: a working set chosen and solved."""

    machine: int
    size: int  # |B|, examples in the working set
    entered: int  # of them those that were not in the last one
    left: int  # examples of the last one that are not in this one
    again: int  # of those that entered, the ones that had been in a set before
    priced: int  # examples whose optimality condition was evaluated to choose this set
    violators: int  # of them those that violated it by more than is allowed
    gap: float  # KKT gap over the examples priced and the set, before it is solved
    dual: float  # objective after it
    n_sv: int  # support vectors after it
    seconds: float  # since the fit began, after it
    memory_mb: float  # peak so far: of the examples, the solver's arrays, and all Gram matrices


class Trace:
    """rounds: the Rounds in their order. entries (n,) int32: how often each example entered a working set.
    examples_bytes: what the source of kernel values holds."""

    def __init__(self, n: int, examples_bytes: int = 0):
        self.examples_bytes = examples_bytes
        self.rounds: list[Round] = []
        self.entries = np.zeros(n, np.int32)
        self._last: dict[int, np.ndarray] = {}  # machine -> members of its set
        self._before: dict[int, np.ndarray] = {}  # machine -> whether an example has been in its set

    def summary(self) -> dict:
        """JSON-able. rounds; entered, again and priced, summed over them; peak_mb, and of it examples_mb; times: how
        many examples entered once, twice, ...; often: the OFTEN that entered most, as [position, times]; columns: the
        rounds by field, LONGEST at most, each the last of as many, with what all of them counted.
        """
        rounds, top = self.rounds, np.argsort(-self.entries, kind="stable")[:OFTEN]
        ends = np.unique(np.linspace(0, len(rounds), min(len(rounds), LONGEST) + 1).round().astype(int))
        parts = [rounds[start:end] for start, end in pairwise(ends)]
        columns = {
            name: [n if isfinite(n := getattr(part[-1], name)) else None for part in parts] for name in Round._fields
        }
        columns |= {name: [sum(getattr(one, name) for one in part) for part in parts] for name in SUMMED}
        return {
            "rounds": len(rounds),
            **{name: sum(getattr(one, name) for one in rounds) for name in ("entered", "again", "priced")},
            "examples_mb": self.examples_bytes / MB,
            "peak_mb": max((one.memory_mb for one in rounds), default=0.0),
            "times": np.bincount(self.entries)[1:].tolist(),
            "often": [[int(i), int(self.entries[i])] for i in top if self.entries[i] > 1],
            "columns": columns | {"number": [int(end) for end in ends[1:]]},
        }

    def note(self, m: int, members, *figures) -> None:
        """A round of machine m on the examples `members`; figures: the fields of a Round from `priced` on."""
        last = self._last.get(m, members[:0])
        before = self._before.setdefault(m, np.zeros(len(self.entries), bool))
        entered = np.setdiff1d(members, last)
        left, again = len(last) + len(entered) - len(members), int(before[entered].sum())
        before[entered], self._last[m] = True, members.copy()
        self.entries[entered] += 1
        self.rounds.append(Round(m, len(members), len(entered), left, again, *figures))
