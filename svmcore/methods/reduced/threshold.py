"""Thresholds from examples: where the two classes' distributions of decision values differ most.

    b = argmax_b  #{i : y_i = +1, g_i + b > 0} - #{i : y_i = -1, g_i + b > 0},      g = f - bias

the largest difference of the unnormalised cumulative distributions, which is the empirical Bayes error of one decision
value. Burges and Schoelkopf (1997), section 5.

g (n, k) float64; y (n,) labels; the examples are the training set's originals, also for a machine that was trained on
jittered forms of them, so that what it was fitted to counts for little.
"""

from __future__ import annotations

import numpy as np

from svmcore.estimator import one_vs_rest


def best_thresholds(decision, y, classes) -> np.ndarray:
    """The shift of each machine's bias (k,) that gives it the fewest errors on examples with decision values (n, k).

    Of several equally good stretches the one nearest to no shift, and there its middle, or no shift where it is inside.
    Burges and Schoelkopf (1997), section 5. ValueError for labels that are none of the classes (k,), or (2,) for k = 1.
    """
    decision, y = np.asarray(decision, np.float64), np.asarray(y)
    if decision.ndim != 2 or len(y) != len(decision) or not len(y):
        raise ValueError(f"y has shape {y.shape} for decision values {decision.shape}; allowed: one label an example")
    if len(strange := np.setdiff1d(y, classes)):
        raise ValueError(f"y: label {strange[0]}; allowed: {', '.join(map(str, classes))}")
    Y = one_vs_rest(np.searchsorted(classes, y), len(classes))
    return np.array([_shift(f, target) for f, target in zip(decision.T, Y, strict=True)])


def _shift(f, target) -> float:
    """The best shift for one machine, f (n,) and target (n,) of +1 and -1."""
    order = np.argsort(f, kind="stable")
    values, target = f[order], target[order]
    last = np.flatnonzero(np.append(np.diff(values) > 0, True))  # a cut lies between different values
    errors = np.cumsum(target)  # of positives below the cut, less negatives below it
    errors = np.concatenate([[0.0], errors[last]])
    low = np.concatenate([[-np.inf], values[last]])
    high = np.append(values[np.concatenate([[0], last[:-1] + 1])], np.inf)
    best = np.flatnonzero(errors == errors.min())
    if ((low[best] <= 0) & (high[best] > 0)).any():
        return 0.0
    at = best[np.argmin(np.minimum(np.abs(low[best]), np.abs(high[best])))]
    if not np.isfinite(low[at]) or not np.isfinite(high[at]):  # all on one side: just beyond the last
        return float(-np.nextafter(high[at], -np.inf)) if np.isfinite(high[at]) else float(-low[at])
    return float(-(low[at] + high[at]) / 2)
