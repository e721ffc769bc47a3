"""Thresholds from examples: where the two classes' distributions of decision values differ most.

    b = argmax_b  #{i : y_i = +1, g_i + b > 0} - #{i : y_i = -1, g_i + b > 0},      g = f - bias

the largest difference of the unnormalised cumulative distributions, which is the empirical Bayes error of one decision
value. Burges and Schölkopf (1997), section 5.

Few examples are as good as none to tell one threshold from the next: the bias is moved only as far as it takes to come
within a standard deviation of the fewest errors e, to e + sqrt(e), and by one where e = 0: no single example out of its
place moves a bias far. What that is worth is in tests/bench/NOTES.md.

g (n, k) float64; y (n,) labels; the examples are the training set's originals, also for a machine that was trained on
jittered forms of them, so that what it was fitted to counts for little.
"""

import numpy as np

from svmcore.estimator import one_vs_rest


def best_thresholds(decision, y, classes, slack: float = 1.0) -> np.ndarray:
    """The smallest shift of each machine's bias (k,) that brings its errors on examples with decision values (n, k) to
    within `slack` standard deviations of the fewest; 0 for the fewest of all.

    Between two values of f it lies in the middle. Burges and Schölkopf (1997), section 5. ValueError for labels that
    are none of the classes (k,), or (2,) for k = 1.
    """
    decision, y = np.asarray(decision, np.float64), np.asarray(y)
    if decision.ndim != 2 or len(y) != len(decision) or not len(y):
        raise ValueError(f"y has shape {y.shape} for decision values {decision.shape}; allowed: one label per example")
    if len(strange := np.setdiff1d(y, classes)):
        raise ValueError(f"y: label {strange[0]}; allowed: {', '.join(map(str, classes))}")
    Y = one_vs_rest(np.searchsorted(classes, y), len(classes))
    return np.array([_shift(f, target, slack) for f, target in zip(decision.T, Y, strict=True)])


def _shift(f, target, slack: float) -> float:
    """The shift for one machine, f (n,) and target (n,) of +1 and -1."""
    order = np.argsort(f, kind="stable")
    values, target = f[order], target[order]
    last = np.flatnonzero(np.append(np.diff(values) > 0, True))  # a cut lies between different values
    errors = np.concatenate([[0.0], np.cumsum(target)[last]]) + np.count_nonzero(target < 0)
    low = np.concatenate([[-np.inf], values[last]])
    high = np.append(values[np.concatenate([[0], last[:-1] + 1])], np.inf)
    best = np.flatnonzero(errors <= errors.min() + slack * np.sqrt(max(errors.min(), 1.0)))
    if ((low[best] <= 0) & (high[best] > 0)).any():
        return 0.0
    at = best[np.argmin(np.minimum(np.abs(low[best]), np.abs(high[best])))]
    if not np.isfinite(low[at]) or not np.isfinite(high[at]):  # all on one side: just beyond the last
        return float(-np.nextafter(high[at], -np.inf)) if np.isfinite(high[at]) else float(-low[at])
    return float(-(low[at] + high[at]) / 2)
