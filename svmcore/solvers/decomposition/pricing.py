"""Pricing: which examples outside the working set have their optimality condition evaluated, and in what order.

    alpha_i = 0 outside B:   i violates by   v_i = -b - f_i  (y_i > 0)   or   f_i + b  (y_i < 0)

Examples are taken in turn, beginning where the last pricing ended. Those that left B may be on a list that comes first.
Osuna, Freund and Girosi (1997), section 3.2.3 (lookahead) and section 3.3 (the list).

Examples are priced a block at a time. Where the text stops at the first violator, what a block holds behind it was
priced too, and is priced anew when its turn comes.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmcore.solvers.decomposition.settings import Decomposition

BLOCK = 4096  # examples priced at a time, at most


class Priced(NamedTuple):
    """What one pricing came to."""

    found: np.ndarray  # violators (v,), those to take first in front
    count: int  # examples priced
    violators: int  # of them
    seen: list[np.ndarray]  # the blocks that were priced


class Pricing:
    """The examples that one machine may take (usable (n,) bool), where the next turn begins, and who left B."""

    def __init__(self, settings: Decomposition, usable: np.ndarray):
        self.settings, self.usable, self.cursor = settings, usable, 0
        self.exited: list[int] = []  # who left B, the last one in front

    def leave(self, examples) -> None:
        """These left B."""
        if self.settings.keep_exited:
            self.exited = [*map(int, examples), *self.exited]

    def enter(self, examples) -> None:
        """These entered B."""
        if self.exited:
            entered = set(map(int, examples))
            self.exited = [i for i in self.exited if i not in entered]

    def price(self, inside, wanted: int, violations: Callable, allowed: float, everyone: bool = False) -> Priced:
        """Violators outside B, at most `wanted` of them.

        inside (n,) bool: in B. violations(examples (m,)) -> v (m,). allowed: largest v that is none. everyone: price
        all examples, whatever the settings say.
        """
        order = self._order(inside)
        all_of_them = everyone or self.settings.lookahead is None
        lookahead = len(order) if all_of_them else self.settings.lookahead
        first, known = self.settings.choice == "first-found" and not everyone, len(self.exited)
        found, values, seen, at = [], [], [], 0
        while at < len(order) and not (found and at >= lookahead):
            ahead = min(lookahead, known) if at < known else lookahead
            more = ahead - at if at < ahead else max(at, 1)  # past the lookahead: twice as many each time
            block = order[at : at + min(max(more, 1), BLOCK)]
            v = violations(block)
            seen.append(block)
            places = np.flatnonzero(v > allowed)
            if at >= lookahead:
                places = places[:1]
            elif first:
                places = places[: wanted - len(found)]
            found.extend(block[places].tolist())
            values.extend(v[places].tolist())
            stop = (first and len(found) >= wanted) or (at >= lookahead and len(places))
            at += int(places[-1]) + 1 if stop else len(block)
            if stop:
                break
        if at > known:
            self.cursor = int(order[at - 1]) + 1
        ranked = np.array(found, np.int64)
        ranked = ranked if first else ranked[np.argsort(-np.array(values), kind="stable")]
        return Priced(ranked[:wanted], sum(map(len, seen)), len(found), seen)

    def _order(self, inside) -> np.ndarray:
        """All examples outside B: those on the list, then the others from the cursor on."""
        out = self.usable & ~inside
        listed = np.array(self.exited, np.int64)
        listed = listed[out[listed]]
        self.exited = listed.tolist()
        out[listed] = False
        rest = np.flatnonzero(out)
        split = np.searchsorted(rest, self.cursor)
        return np.concatenate([listed, rest[split:], rest[:split]])
