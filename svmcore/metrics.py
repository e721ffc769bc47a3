"""Error counts, confidence intervals, the paired test of two classifiers, and ROC and FROC curves.

    wilson:   the proportions p with |p - e/n| <= z sqrt(p (1 - p) / n),  z the normal quantile of the level
    paired:   b, c = examples that only the first, only the second machine gets wrong;
              under "no difference" b ~ Binomial(b + c, 1/2)  (exact McNemar test);
              of groups of like examples, d_g of a group's b - c: under "no difference" each d_g may have either sign,
              so that sum_g d_g ~ sum_g +-|d_g|, which is the same where every example is a group  (exact sign test)
    holm:     of m tests the i-th smallest p becomes max over j <= i of (m - j + 1) p_j, so that the chance of any
              false alarm among them stays below the level
    ROC area: P(f of a positive example > f of a negative one), ties counting half
    FROC:     detection rate t -> |{targets with a hit scoring >= t}| / n_targets
              against false alarms t -> |{misses scoring >= t}| / area

Symbols: y (n,) labels; decision (n, k) values f before the sign, column c for class c against the rest;
scores (n,) float; hits (n,) int, the number of the target that a candidate covers, -1 for a false alarm.

References: Wilson, JASA 22 (1927); McNemar, Psychometrika 12 (1947); Holm, Scandinavian Journal of Statistics 6
(1979); Hanley and McNeil, Radiology 143 (1982).
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln, ndtri
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold


def stratified_folds(
    y: np.ndarray, folds: int, seed: int, groups: np.ndarray | None = None
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Positions (train, held out) of each fold, drawn by the seed; groups (n,) stay in one fold."""
    kind = StratifiedKFold if groups is None else StratifiedGroupKFold
    return kind(folds, shuffle=True, random_state=seed).split(y, y, groups)


class PairedTest(NamedTuple):
    """Outcome of `paired_test`: examples wrong for one machine only, the two-sided p-value. n_groups: groups of
    examples that are alike, 0 if none are."""

    only_a: int
    only_b: int
    p_value: float
    n_groups: int = 0


NARROW = 0.5  # per cent: an interval below it is written in two digits
OUTCOMES = ("both right", "fixed", "broken", "both wrong")  # numbers of `outcomes`: of b, measured against a


class Froc(NamedTuple):
    """A free-response curve, one point for each distinct score, from the strictest threshold down; arrays (m,)."""

    threshold: np.ndarray
    alarms: np.ndarray  # false alarms per unit area
    rate: np.ndarray  # detected targets / n_targets


def wilson(errors: int, n: int, level: float = 0.95, groups: int = 0) -> tuple[float, float]:
    """Score interval of an error rate, as proportions (low, high) within [0, 1].

    groups : how many groups of like examples the n are, if they are: the interval is that of as many examples, which
             covers the rate also where a group is answered as one
    Raises ValueError unless 0 <= errors <= n, n >= 1 and 0 < level < 1. Source: Wilson (1927).
    """
    if n < 1 or not 0 <= errors <= n:
        raise ValueError(f"errors = {errors} of n = {n}; allowed: 0 <= errors <= n with n at least 1")
    if not 0 < level < 1:
        raise ValueError(f"level = {level}; allowed: a number between 0 and 1, such as 0.95")
    if groups:
        errors, n = errors / n * groups, groups
    z2 = ndtri((1 + level) / 2) ** 2
    centre = (errors + z2 / 2) / (n + z2)
    half = np.sqrt(z2 * (errors * (n - errors) / n + z2 / 4)) / (n + z2)
    return float(max(centre - half, 0.0)), float(min(centre + half, 1.0))


def rate_text(rate: float, interval: tuple[float, float]) -> str:
    """`4.00 % (3.0–5.3)`: a share with its interval, both given as proportions, as it is written everywhere."""
    return f"{100 * rate:.2f} % ({interval_text(interval)})"


def interval_text(interval: tuple[float, float]) -> str:
    """`3.0–5.3`, `0.54–0.86`: an interval of proportions in per cent; a narrow one deserves a digit more."""
    low, high = (100 * share for share in interval)
    digits = 2 if high - low < NARROW else 1
    return f"{low:.{digits}f}–{high:.{digits}f}"


def confusion(y_true: np.ndarray, y_pred: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Counts (k, k) int64: row = true class, column = predicted class, both in the order of `classes`.

    Raises ValueError when a label is not among the classes.
    """
    k = len(classes)
    cells = class_positions(y_true, classes) * k + class_positions(y_pred, classes)
    return np.bincount(cells, minlength=k * k).reshape(k, k)


def per_class_table(
    decision: np.ndarray, y_true: np.ndarray, y_pred: np.ndarray, classes: np.ndarray
) -> list[dict[str, int]]:
    """One row a class: {"digit", "errors", "fn", "fp"}. Source: DeCoste and Schölkopf (2002), Tables 4, 5, 7 and 8.

    `errors` counts the examples of the class that the whole classifier gets wrong; `fn` and `fp` the mistakes of the
    class's own machine taken alone (f <= 0 on the class, f > 0 on the rest). decision: (n, k), or (n,) for two
    classes, positive meaning classes[1]. Raises ValueError when shapes or labels do not fit the classes.
    """
    decision = np.asarray(decision)
    if decision.ndim == 1:
        decision = np.stack([-decision, decision], axis=1)
    if decision.shape != (len(y_true), len(classes)):
        raise ValueError(f"decision has shape {decision.shape}; allowed: {(len(y_true), len(classes))}")
    own = class_positions(y_true, classes)[:, None] == np.arange(len(classes))  # (n, k)
    wrong = np.asarray(y_true) != np.asarray(y_pred)
    errors = (own & wrong[:, None]).sum(axis=0)
    fn = (own & (decision <= 0)).sum(axis=0)
    fp = (~own & (decision > 0)).sum(axis=0)
    names = np.asarray(classes).tolist()
    return [
        {"digit": name, "errors": int(e), "fn": int(m), "fp": int(p)}
        for name, e, m, p in zip(names, errors, fn, fp, strict=True)
    ]


def paired_test(err_a: np.ndarray, err_b: np.ndarray, groups: np.ndarray | None = None) -> PairedTest:
    """Exact McNemar test of two machines on the same examples; err_a, err_b (n,) bool, True where wrong.

    groups : (n,) int, which examples are alike, if some are: the signs of whole groups are what chance decides
    Raises ValueError when the shapes differ.
    """
    found = outcomes(err_a, err_b)
    _, only_a, only_b, _ = np.bincount(found.ravel(), minlength=4).tolist()
    d, n_groups = np.choose(found, (0, 1, -1, 0)), 0
    if groups is not None and len(groups):
        n_groups = len(np.unique(groups[d != 0]))
        d = np.bincount(np.unique(groups, return_inverse=True)[1], d).astype(np.int64)
    sizes, counts = np.unique(np.abs(d[d != 0]), return_counts=True)
    chance = np.ones(1)  # of each sum of the |d| with the first sign
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        some = np.zeros(size * count + 1)
        k = np.arange(count + 1)
        some[::size] = np.exp(gammaln(count + 1) - gammaln(k + 1) - gammaln(count - k + 1) - count * np.log(2))
        chance = np.convolve(chance, some)
    total, seen = len(chance) - 1, abs(int(d.sum()))
    p_value = chance[np.abs(2 * np.arange(total + 1) - total) >= seen].sum()
    return PairedTest(only_a, only_b, min(1.0, float(p_value)), n_groups)


def outcomes(err_a: np.ndarray, err_b: np.ndarray) -> np.ndarray:
    """b against a: (n,) int8 positions in OUTCOMES; err_a, err_b (n,) bool, True: wrong. ValueError for unequal
    sizes."""
    err_a, err_b = np.asarray(err_a, dtype=bool), np.asarray(err_b, dtype=bool)
    if err_a.shape != err_b.shape:
        raise ValueError(f"err_a has shape {err_a.shape} and err_b {err_b.shape}; allowed: the same examples in both")
    return (err_a + 2 * err_b).astype(np.int8)


def holm(p_values: np.ndarray) -> np.ndarray:
    """The p-values (m,) of m tests, corrected for there being m of them. Source: Holm (1979)."""
    p = np.asarray(p_values, dtype=np.float64)
    order = np.argsort(p, kind="stable")
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)), 1.0)
    return corrected


def roc_area(f: np.ndarray, positive: np.ndarray) -> float:
    """Area under the ROC curve of decision values f (n,), positive (n,) bool: 1 when every positive example is above
    every other one, 0.5 by chance.

    Raises ValueError when shapes differ or one kind is missing. Source: Hanley and McNeil (1982).
    """
    from sklearn.metrics import roc_auc_score  # 0.3 s to import

    f, positive = np.asarray(f), np.asarray(positive, dtype=bool)
    if f.ndim != 1 or f.shape != positive.shape:
        raise ValueError(f"f has shape {f.shape} and positive {positive.shape}; allowed: one value per example")
    if positive.all() or not positive.any():
        raise ValueError(f"{positive.sum()} of {len(f)} examples are positive; allowed: some, but not all")
    return float(roc_auc_score(positive, f))


def froc(scores: np.ndarray, hits: np.ndarray, n_targets: int, area: float) -> Froc:
    """Detection rate against false alarms per unit area, as the threshold falls over the distinct scores.

    Parameters
    ----------
    scores : array-like (m,)
        Of the candidates.
    hits : array-like (m,) of int
        The target that each candidate is on, -1 for none. A target counts once, at its best candidate; further ones on
        it are neither detections nor false alarms.
    n_targets : int
        How many targets could be found.
    area : float
        In the unit wanted: km^2, images.

    Returns
    -------
    Froc
        (threshold, alarms, rate), one point for each distinct score, from the strictest threshold down.

    Raises
    ------
    ValueError
        When the shapes differ or a denominator is not positive.

    References
    ----------
    DeCoste and Schölkopf (2002), note 10 and Figures 7-9.

    Examples
    --------
    >>> from svmcore import froc
    >>> froc([3.0, 2.0, 1.0], [0, -1, 1], n_targets=2, area=1.0).rate.tolist()
    [0.5, 0.5, 1.0]
    """
    scores, hits = np.asarray(scores, dtype=np.float64), np.asarray(hits)
    if scores.shape != hits.shape:
        raise ValueError(f"scores has shape {scores.shape} and hits {hits.shape}; allowed: one hit number per score")
    if n_targets <= 0 or area <= 0:
        raise ValueError(f"n_targets = {n_targets}, area = {area}; allowed: positive numbers")
    order = np.argsort(-scores, kind="stable")
    scores, hits = scores[order], hits[order]
    _, first = np.unique(hits, return_index=True)
    first_hit = np.zeros(len(hits), dtype=bool)
    first_hit[first] = True
    last = np.flatnonzero(np.append(scores[:-1] != scores[1:], True)) if len(scores) else np.empty(0, np.int64)
    alarms = np.cumsum(hits < 0)[last] / area
    rate = np.cumsum(first_hit & (hits >= 0))[last] / n_targets
    return Froc(scores[last], alarms, rate)


def class_positions(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Position (n,) int64 of each label in `classes`; ValueError names the labels that are not there."""
    y, classes = np.asarray(y), np.asarray(classes)
    order = np.argsort(classes)
    at = order[np.searchsorted(classes, y, sorter=order).clip(max=len(classes) - 1)]
    unknown = np.unique(y[classes[at] != y])
    if len(unknown):
        raise ValueError(f"labels {unknown.tolist()} are unknown; allowed: the classes {classes.tolist()}")
    return at
