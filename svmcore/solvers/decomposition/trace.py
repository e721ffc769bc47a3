"""What a decomposition did, round by round: who entered the working set, who left it, and who came again.

Osuna, Freund and Girosi (1997), section 3.3, observe that few examples ever enter, and some again and again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmcore.memory import MB


class Round(NamedTuple):
    """One global iteration: a working set chosen and solved."""

    machine: int
    size: int  # |B|, examples in the working set
    entered: int  # of them those that were not in the last one
    left: int  # examples of the last one that are not in this one
    again: int  # of those that entered, the ones that had been in a set before
    priced: int  # examples whose optimality condition was evaluated to choose this set
    violators: int  # of them those that violated it by more than is allowed
    gap: float  # KKT gap over the examples priced and the set, before it is solved; inf in the first round
    dual: float  # objective after it
    n_sv: int  # support vectors after it
    seconds: float  # since the fit began, after it
    memory_mb: float  # peak so far: of the examples, the solver's arrays, and all Gram matrices


class Trace:
    """rounds: the Rounds in their order. entries (n,) int32: how often each example entered a working set."""

    def __init__(self, n: int):
        self.rounds: list[Round] = []
        self.entries = np.zeros(n, np.int32)
        self._last: dict[int, np.ndarray] = {}  # machine -> members of its set
        self._before: dict[int, np.ndarray] = {}  # machine -> whether an example has been in its set

    def note(self, m: int, members, *, priced, violators, gap, dual, n_sv, seconds, peak_bytes) -> None:
        """A round of machine m on the examples `members`."""
        last = self._last.get(m, members[:0])
        before = self._before.setdefault(m, np.zeros(len(self.entries), bool))
        entered = np.setdiff1d(members, last)
        left, again = len(last) + len(entered) - len(members), int(before[entered].sum())
        before[entered], self._last[m] = True, members.copy()
        self.entries[entered] += 1
        sizes = m, len(members), len(entered), left, again, int(priced), int(violators)
        figures = float(gap), float(dual), int(n_sv), round(float(seconds), 4), round(peak_bytes / MB, 3)
        self.rounds.append(Round(*sizes, *figures))
