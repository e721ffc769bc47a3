"""When to write progress, how long is left, and how slow slow motion is.

    next line   after max(50 ms, 1 % of the run's age): a second gives twenty lines, an hour seven hundred
    time left   l + v (p_2 + ... + p_m),   l = (1 - w) (p_1 - t) + w t_gap,   w = min(1, t / p_1)

p_1 is the predicted time of the training at work, t its age, t_gap the time until the mean gap, which falls about
geometrically, reaches tol at its recent rate; p_2 ... those of what is still to come (stages, folds, tests), v how the
run compares with its prediction so far. Another training begins where the gap has been at tol and rises again. Where it
rises in the last one (copies are drawn batch by batch, and solved for each), the gap tells nothing: l = v p_1 - t.
Below 0 is by how much the run takes longer than that.

A short run reports after bursts of so few pairs that there is something to see: about n / 3 pairs make a machine of n
examples. Where it takes more the bursts grow with them, or a run whose C is large would do little but report. Slow
motion cuts bursts finer still and rests the real solver after its reports, for at most REST each and
RESTS in all: of a training's part of RESTS as much as it has come down of the way from gap 2 to tol, on the log axis.
"""

from collections import deque
from collections.abc import Sequence
from math import inf, log

from svmcore.lab.forecast.estimate import RESTS

REST = 0.2  # seconds
SHORT = 5.0  # seconds of a run that reports by pairs
REPORTS, SLOW_REPORTS = 30, 120  # that such a run has about
RECENT = 40  # progress lines that the rate of the gap is read off


class Pace:
    """Clockwork of one run; `parts`: predicted seconds of each training and its test. Ages leave pauses out."""

    def __init__(self, parts: Sequence[tuple[float, float]], tol: float, slow_motion: bool = False):
        self.slow = RESTS / len(parts) if slow_motion else 0.0  # seconds that a training rests
        self.parts, self.tol = [(max(training, 1e-3) + self.slow, test) for training, test in parts], tol
        self.prior = sum(map(sum, self.parts))
        self._written = -1.0
        self._part, self._begun = 0, None  # the training at work; when the first one and this one began
        self._gap, self._rested = inf, 0.0  # of this training: smallest mean gap; seconds
        self._again = False  # whether the gap of the last training has risen from tol
        self._recent = deque(maxlen=RECENT)

    def should_write(self, age: float) -> bool:
        """Whether the progress of this moment belongs in the file."""
        if self._written >= 0 and age - self._written < max(0.05, age / 100):
            return False
        self._written = age
        return True

    def seen(self, age: float, gap: float) -> None:
        """Take note of the mean gap."""
        if self._begun is None:
            self._begun = age, age
        if self._done() and gap > self.tol and self._part < len(self.parts) - 1:
            self._part, self._begun = self._part + 1, (self._begun[0], age)
            self._gap, self._rested = inf, 0.0
            self._recent.clear()
        self._again |= self._done() and gap > 2 * self.tol
        self._gap = max(min(gap, self._gap), self.tol)
        if not self._recent or age - self._recent[-1][0] >= 0.02 * self.parts[self._part][0]:
            self._recent.append((age, self._gap))

    def eta(self, age: float) -> float:
        """Seconds left; below 0, by how much it takes longer than forecast."""
        if self._begun is None:
            return self.prior - age
        begun, here = self._begun[0], age - self._begun[1]
        (training, test), by_gap = self.parts[self._part], self._time_to_tol()
        weight = 0.0 if by_gap is None else 1.0 if self._done() else min(1.0, here / training)
        left = (1 - weight) * (training - here) + weight * (by_gap or 0.0)
        before = sum(map(sum, self.parts[: self._part]))
        if self._again:
            slower = (self._begun[1] - begun) / before if before else 1.0
            left = slower * training - here
        until_now = before + training
        to_come = test + sum(map(sum, self.parts[self._part + 1 :]))
        return left + (age - begun + left) / until_now * to_come

    def burst(self, machines: int, n: int, pairs: int = 0) -> int | None:
        """Pairs that a machine works on between two reports, after so many in all; None where the solver's own pace
        will do."""
        if not self.slow and self.prior > SHORT:
            return None
        return max(1, max(machines * n // 3, pairs) // (SLOW_REPORTS if self.slow else REPORTS))

    def rest(self) -> float:
        """Seconds to rest after a burst in slow motion."""
        down = 1 - log(min(self._gap, 2.0) / self.tol) / log(2.0 / self.tol)
        rest = min(REST, max(self.slow * down - self._rested, 0.0))
        self._rested += rest
        return rest

    def _done(self) -> bool:
        return self._gap <= self.tol

    def _time_to_tol(self) -> float | None:
        if self._done():
            return 0.0
        if len(self._recent) < 3:
            return None
        (t0, g0), (t1, g1) = self._recent[0], self._recent[-1]
        return log(g1 / self.tol) * (t1 - t0) / log(g0 / g1) if g1 < g0 else None
