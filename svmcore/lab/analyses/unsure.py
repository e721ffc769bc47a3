"""A machine that may also say *not sure*: what it then answers, and how often it is wrong where it does.

    Platt      P_c(x) ~ exp(w_c . f(x) + v_c), w and v by maximum likelihood; of two classes a logistic curve of f
    isotonic   P_c(x) ~ s_c(f_c(x)), s_c the increasing step function nearest to whether an example is of class c

    R_a(x) = sum_c cost[c, a] P_c(x)                   what the answer a costs on the average
    answer  argmin_a R_a(x) where it is below the cost of *not sure*, else none

With costs of 1 for every wrong answer and u for *not sure*, that is the likeliest class wherever P > 1 - u. P is fitted
to what the machines of folds said of training examples that they had not seen. Where a run has no folds it is fitted to
the tested examples, each of which is judged by what was fitted without it.

References: Chow, "On optimum recognition error and reject tradeoff", IEEE Trans. Information Theory 16 (1970); Platt,
"Probabilistic outputs for support vector machines", Advances in Large Margin Classifiers (1999); Zadrozny and Elkan,
"Transforming classifier scores into accurate multiclass probability estimates", KDD (2002).
"""

from typing import NamedTuple

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import KFold

from svmcore.metrics import class_positions

WAYS = ("Platt", "isotonic")
WEAK = 10.0  # C of the logistic regression, whose inputs are of the size of 1
FOLDS = 5
LEAST = 20  # examples from which there is something to fit
UNSURE = -1


class Reliability(NamedTuple):
    """By parts of [0, 1] that hold examples: said, the mean of what was said; right, the share that was right; n."""

    said: np.ndarray
    right: np.ndarray
    n: np.ndarray

    @property
    def error(self) -> float:
        """Expected calibration error: the mean of |said - right| over the examples."""
        return float(np.average(np.abs(self.said - self.right), weights=self.n))


class Calibrated(NamedTuple):
    """Probabilities of a run's test examples."""

    P: np.ndarray  # (n, k)
    folded: int  # training examples that they were fitted to; 0 where that was the other tested ones

    @property
    def how(self) -> str:
        """What they were fitted to, in a sentence."""
        if self.folded:
            return (
                f"Fitted to {self.folded:,} training examples, each scored by a fold's machine that was not trained "
                "on it."
            )
        fitted = "Cross-fitted: each test example is scored by a fit to other test examples."
        return f"{fitted} Training with folds avoids this."


def of_run(run, way: str = "Platt") -> Calibrated:
    """P of a run's test examples. ValueError as in `probabilities`."""
    classes, test, folded = run.machine().classes, run.test(), run.folded()
    learned = folded and (folded.decision, class_positions(folded.y_true, classes))
    true = class_positions(test.y_true, classes)
    P = probabilities(test.decision, true, len(classes), way, learned, run.recipe.seed)
    return Calibrated(P, len(folded.index) if folded else 0)


def probabilities(
    decision: np.ndarray, true: np.ndarray, k: int, way: str = "Platt", learned: tuple | None = None, seed: int = 0
) -> np.ndarray:
    """(n, k) P_c(x).

    decision : (n, k), or (n, 1) of one machine that tells class 1 from class 0
    true : (n,) the examples' classes, 0 ... k - 1
    way : one of WAYS
    learned : decision and true of other examples, to which P is fitted; None to fit it to these in folds
    seed : of the folds

    ValueError for fewer than LEAST examples to fit it to, or where all are of one class.
    """
    f, y = learned or (decision, true)
    if len(y) < LEAST or len(np.unique(y)) < 2:
        n = len(np.unique(y))
        raise ValueError(
            f"Probabilities need at least {LEAST} examples of at least two classes (got {len(y)} "
            f"{'example' if len(y) == 1 else 'examples'}, {n} {'class' if n == 1 else 'classes'})"
        )
    if learned:
        return _fitted(way, f, y, decision, k)
    found = np.zeros((len(true), k))
    for others, held in KFold(FOLDS, shuffle=True, random_state=seed).split(decision):
        found[held] = _fitted(way, f[others], y[others], decision[held], k)
    return found


def risks(P: np.ndarray, cost: np.ndarray | None = None) -> np.ndarray:
    """(n, k) R_a(x). cost: (k, k) of answering a where c is true, by default 1 for every wrong answer."""
    return P @ (1.0 - np.eye(P.shape[1]) if cost is None else cost)


def answers(P: np.ndarray, unsure: float, cost: np.ndarray | None = None) -> np.ndarray:
    """(n,) the class that costs least, or UNSURE where that costs no less than `unsure`. cost: as in `risks`."""
    R = risks(P, cost)
    return np.where(R.min(axis=1) < unsure, R.argmin(axis=1), UNSURE)


def coverage(sure: np.ndarray, wrong: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coverage (n,) from the surest example on, and the selective risk; equally sure ones are taken together."""
    order = np.argsort(-sure, kind="stable")
    n = np.arange(1, len(sure) + 1)
    rate = np.cumsum(wrong[order]) / n
    last = np.append(np.diff(sure[order]) != 0, True)
    return n[last] / len(sure), rate[last]


def reliability(sure: np.ndarray, right: np.ndarray, parts: int = 10) -> Reliability:
    """What was said of the examples beside what came of them."""
    at = np.minimum((sure * parts).astype(int), parts - 1)
    n = np.bincount(at, minlength=parts)
    held = n > 0
    means = (np.bincount(at, weights=w, minlength=parts)[held] / n[held] for w in (sure, right.astype(float)))
    return Reliability(*means, n[held])


def _fitted(way: str, f: np.ndarray, true: np.ndarray, new: np.ndarray, k: int) -> np.ndarray:
    """(m, k) of new decision values, fitted to f (n, k or 1) and the classes (n,) of other examples."""
    present, found = np.unique(true), np.zeros((len(new), k))
    some = 1.0 if len(present) < 2 else (_logistic if way == "Platt" else _isotonic)(f, true, new)
    found[:, present] = some
    return found


def _logistic(f: np.ndarray, true: np.ndarray, new: np.ndarray) -> np.ndarray:
    return LogisticRegression(C=WEAK, max_iter=1000).fit(f, true).predict_proba(new)


def _isotonic(f: np.ndarray, true: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Of the classes that `true` has, in ascending order."""
    classes = np.unique(true)
    if f.shape[1] == 1:  # the one machine's f is that of class 1
        f, new = np.hstack((-f, f)), np.hstack((-new, new))
    P = np.stack(
        [IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip").fit(f[:, c], true == c).predict(new[:, c])
         for c in classes], axis=1,
    )  # fmt: skip
    P += 1e-9  # where all are 0, all are alike
    return P / P.sum(axis=1, keepdims=True)
