"""When to write progress, how long is left, and how slow slow motion is.

    next line   after max(50 ms, 1 % of the run's age): a second gives twenty lines, an hour seven hundred
    time left   (1 - w) (prior - t) + w t_gap,   w = min(1, t / prior)

t is the run's age, prior its predicted time, t_gap the time until the gap, which falls about geometrically, reaches tol
at its recent rate. A short run reports after bursts of so few pairs that there is something to see: about n / 3 pairs
make a machine of n examples. Slow motion cuts bursts finer still and rests the real solver for REST after each report,
until it has rested for SLOW.
"""

from __future__ import annotations

from collections import deque
from math import isfinite, log

SLOW, REST = 20.0, 0.2  # seconds
SHORT = 5.0  # seconds of a run that reports by pairs
REPORTS, SLOW_REPORTS = 30, 120  # that such a run has about
RECENT = 40  # progress lines that the rate of the gap is read off


class Pace:
    """Clockwork of one run; `prior` is its predicted seconds. Ages leave pauses out."""

    def __init__(self, prior: float, tol: float):
        self.prior, self.tol = max(prior, 0.05), tol
        self._written = -1.0
        self._recent = deque(maxlen=RECENT)
        self._rest_left = SLOW

    def should_write(self, age: float) -> bool:
        """Whether the progress of this moment belongs in the file."""
        if self._written >= 0 and age - self._written < max(0.05, age / 100):
            return False
        self._written = age
        return True

    def seen(self, age: float, gap: float) -> None:
        """Take note of a gap."""
        best = min(gap, self._recent[-1][1]) if self._recent else gap
        if isfinite(best) and best > 0 and (not self._recent or age - self._recent[-1][0] >= 0.02 * self.prior):
            self._recent.append((age, best))

    def eta(self, age: float) -> float:
        """Seconds left."""
        expected = max(self.prior - age, 0.0)
        by_gap = self._time_to_tol()
        weight = min(1.0, age / self.prior) if by_gap is not None else 0.0
        return (1 - weight) * expected + weight * (by_gap or 0.0)

    def burst(self, machines: int, n: int, slow_motion: bool) -> int | None:
        """Pairs that a machine works on between two reports; None where the solver's own pace will do."""
        if not slow_motion and self.prior > SHORT:
            return None
        return max(1, machines * n // 3 // (SLOW_REPORTS if slow_motion else REPORTS))

    def rest(self) -> float:
        """Seconds to rest after a burst in slow motion."""
        rest = min(REST, self._rest_left)
        self._rest_left -= rest
        return rest

    def _time_to_tol(self) -> float | None:
        if len(self._recent) < 3:
            return None
        (t0, g0), (t1, g1) = self._recent[0], self._recent[-1]
        if g1 <= self.tol:
            return 0.0
        return log(g1 / self.tol) * (t1 - t0) / log(g0 / g1) if g1 < g0 else None
