"""The Gram matrix of one machine's working set, kept from round to round: most of a set is in the next one too.

    K (m, m) float32 of the examples `members` (m,), in memory lent by the session

A set that shares enough with the last one is added to it: rows move apart in place, and only the new rows are computed.
Then members that the round did not ask for stay in the set, which does no harm; where there is no room for them, rows
close up first. Else all of K is computed anew.
"""

import numpy as np

from svmcore._jit import native
from svmcore.gram.sources import STEP, Gram
from svmcore.solvers.session import Session

MOVED = 0.1  # cost of moving a value of K, where computing one is 1
CHEAPER = 0.9  # share of a fresh matrix's cost below which the old one grows
LARGER = 1.5  # times the examples asked for, the most that a set which grows may hold


class Square:
    """K of a growing working set. space (at least limit^2,) float32: where K lies; limit: examples at most."""

    def __init__(self, gram: Gram, session: Session, space: np.ndarray, limit: int):
        self.gram, self.session, self.space, self.limit = gram, session, space, limit
        self.members = np.empty(0, np.int64)

    def plan(self, chosen: np.ndarray) -> np.ndarray:
        """What the set is to be when `chosen` (m,) are asked for: the members with those that are new, or just those
        asked for, whichever is cheaper."""
        new, kept = np.setdiff1d(chosen, self.members), self.members
        if len(kept) + len(new) > min(self.limit, LARGER * len(chosen)):
            kept = kept[np.isin(kept, chosen)]
        grown = len(new) * (len(kept) + len(new) / 2) + MOVED * len(kept) ** 2
        return chosen if grown > CHEAPER * len(chosen) ** 2 / 2 else np.concatenate([kept, new])

    def hold(self, members: np.ndarray) -> np.ndarray:
        """K (m, m) of these members; what of it is there already is not computed again."""
        total, places = len(members), np.flatnonzero(np.isin(self.members, members))
        kept = len(places) if np.array_equal(members[: len(places)], self.members[places]) else 0
        m, self.members = len(self.members), members[:0]  # none as long as K is not whole
        if 0 < kept < m:
            for top in range(0, kept, STEP):
                self.session.check()
                _close_up(self.space, m, places, top, min(top + STEP, kept))
        for bottom in range(kept if total > kept else 0, 0, -STEP):
            self.session.check()
            _widen(self.space, kept, total, max(bottom - STEP, 0), bottom)
        K = self.space[: total * total].reshape(total, total)
        self.gram.extend(members, kept, K, self.session)
        self.members = members
        return K

    def swap(self, slots, new) -> tuple[np.ndarray, np.ndarray]:
        """(members, K) with the examples `new` in the places `slots`; members change in place."""
        m = len(self.members)
        K = self.space[: m * m].reshape(m, m)
        members = self.members.copy()
        members[slots] = new
        for part in (slice(a, a + STEP) for a in range(0, len(new), STEP)):
            rows = self.gram.between(members[slots[part]], members, self.session)
            K[slots[part]] = rows
            K[:, slots[part]] = rows.T
        self.members[:] = members
        return self.members, K


@native()
def _close_up(flat, m, places, top, bottom):
    """Of a matrix of m columns, rows and columns `places` (kept,) become one of kept columns: its rows top <= a <
    bottom; from the first one."""
    kept = len(places)
    for a in range(top, bottom):
        source, target = flat[places[a] * m : (places[a] + 1) * m], flat[a * kept : (a + 1) * kept]
        for b in range(kept):
            target[b] = source[places[b]]


@native()
def _widen(flat, m, total, top, bottom):
    """Rows top <= i < bottom of a matrix of m columns move to where they lie in one of `total`; from the last one."""
    for i in range(bottom - 1, top - 1, -1):
        source, target = flat[i * m : (i + 1) * m], flat[i * total : i * total + m]
        for j in range(m - 1, -1, -1):
            target[j] = source[j]
