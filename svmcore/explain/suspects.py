"""Label errors: the odds that each label is wrong, from out-of-sample decision values.

    P_c(x) = exp(s f_c(x)) / sum_y exp(s f_y(x))                            probability of class c
    the label z of an example of class y is y with probability 1 - r; else it is the class of rank j by P among the
    others, with probability r q_j;   q_j = 1 / (k - 1) for uniform errors, q_0 = 1 if errors go to the most similar
    class

    p(z | x) = (1 - r) P_z + r sum_{y != z} q_j P_y,    j the rank of z without y       max over s, r, q of prod p
    score    = log  r sum_{y != z} q_j P_y / ((1 - r) P_z)                           log odds that the label is wrong

s, r and q are estimated from the given labels; r is the fraction of wrong labels. A second score uses Platt's P,
proportional to exp(w_c . f + v_c) and fitted by maximum likelihood, with each example weighted by the probability that
its label is right. The result is the mean of both. The first P has one parameter, so that few examples suffice; the
second is better with many. With j the rank of z among all classes, the sum is q_{j-1} (P of the classes before z) + q_j
(P of those after it), so that a step of EM takes O(n). For two classes q is irrelevant.

Decision values f (n, k) float64 must be out of sample: from the machine of the other folds for training examples, from
the machine itself for test examples. If labels are wrong, these machines have learned some of the errors; repeating the
folds without the likely errors (`likely`) is better.

References: Dawid and Skene, Applied Statistics 28 (1979), for r and q by EM; Platt, Advances in Large Margin
Classifiers (1999); Northcutt, Jiang and Chuang, Confident learning, JAIR 70 (2021), for odds out of sample; Brodley and
Friedl, Identifying mislabeled training data, JAIR 11 (1999), and Wilson, IEEE Trans. SMC 2 (1972), for leaving out
examples that others misclassify; alpha at C: Vapnik, The nature of statistical learning theory (1995), section 5.5.
"""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from svmcore.gram.threads import one_openmp_thread
from svmcore.model import Machine

STEPS = 30  # of EM, enough for two digits of r and q
SLOPES = 0.1, 100.0  # bounds of s, for f with median lead 1
PRECISE = 0.05  # precision of log s
LEAST = 1e-9  # least median lead, relative to the largest f
WEAK, ROUNDS, CLOSE = 1.0, 300, 1e-5  # C, largest number of iterations and tolerance of the logistic regression
TINY = 1e-300


class Doubts(NamedTuple):
    """The odds that the given labels are wrong."""

    score: np.ndarray  # (n,) float64, log odds that the label is wrong
    said: np.ndarray  # (n,) int64, the class of the largest f
    own: np.ndarray  # (n,) float64, f of the given class
    other: np.ndarray  # (n,) float64, the largest f of another class
    rate: float  # r, the fraction of wrong labels
    likest: float  # q_0, the fraction of wrong labels that name the most similar other class

    @property
    def likely(self) -> np.ndarray:
        """(n,) bool: labels that are more likely wrong than right."""
        return self.score > 0


def doubts(decision: np.ndarray, given: np.ndarray, k: int, check: Callable[[], None] = lambda: None) -> Doubts:
    """The odds that labels are wrong.

    decision : (n, k) f, or (n, 1) of one machine for class 1 against class 0; out of sample
    given : (n,) int, the labels as classes 0 ... k - 1
    check : called between pieces, and may raise to stop

    ValueError for arrays that do not match, and for no examples.
    """
    if not len(given):
        raise ValueError("given: no labels; allowed: at least one")
    f = _columns(decision, given, k)
    own, other, _ = leads(decision, given, k)
    lead = max(float(np.median(np.abs(own - other))), LEAST * float(np.abs(f).max())) or 1.0
    f = f / lead

    def mixture(log_s: float) -> _Mixture:
        check()
        return _mixture(np.exp(log_s) * f, given)

    options = {"bounds": np.log(SLOPES), "method": "bounded", "options": {"xatol": PRECISE}}
    first = mixture(minimize_scalar(lambda log_s: -mixture(log_s).likelihood, **options).x)
    check()
    platt = _sides(_platt(f, given, expit(-first.score)), given)
    score = (first.score + _log_odds(platt, first.rate, first.q)) / 2
    return Doubts(score, f.argmax(axis=1), own, other, first.rate, float(first.q[1]))


def leads(decision: np.ndarray, given: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f of the given class, the largest f of another class, and that class; each (n,). ValueError as in `doubts`."""
    f = _columns(decision, given, k)
    i, others = np.arange(len(f)), f.copy()
    others[i, given] = -np.inf
    runner_up = others.argmax(axis=1)
    return f[i, given], others[i, runner_up], runner_up


def of_margins(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """(n,) -(m + v) of the margins from cross-training: above 0 if its machines agree on the other class.

    Bakir, Bottou and Weston (2004), Algorithm 3, step 4.
    """
    return -(mean + variance)


def at_bound(machine: Machine) -> tuple[np.ndarray, np.ndarray]:
    """Training examples (m,) whose alpha is at C in some machine, ascending, and f (m, k) of the machine trained
    with them. These are misclassified or within the margin; a wrong label among many right ones usually ends there.
    ValueError for a machine of constructed vectors, which has no alpha of examples.
    """
    if machine.constructed.any() and machine.parent is None:
        raise ValueError("machine: its vectors are constructed; allowed: a machine whose support vectors are examples")
    bounded = machine.bound.any(axis=0)
    if machine.jitter is not None:
        bounded &= machine.jitter == 0  # the example itself
    origin = machine.origin[bounded]
    order = np.argsort(origin, kind="stable")
    return origin[order], machine.decision_values(machine.support_vectors[bounded][order])


class _Sides(NamedTuple):
    """For each example (n,): log P of its label, P of the classes ranked before and after it, and its rank."""

    log_own: np.ndarray
    above: np.ndarray
    below: np.ndarray
    rank: np.ndarray


class _Mixture(NamedTuple):
    score: np.ndarray  # (n,)
    likelihood: float  # mean of log p
    rate: float
    q: np.ndarray  # (k + 1,), q_j at j + 1; 0 at both ends, as no class is before the first or after the last


def _columns(decision: np.ndarray, given: np.ndarray, k: int) -> np.ndarray:
    """f (n, k); for two classes -f and f."""
    decision, given = np.asarray(decision, np.float64), np.asarray(given)
    columns = 1 if k == 2 and decision.shape[1:] == (1,) else k
    if k < 2 or decision.shape != (len(given), columns):
        raise ValueError(f"decision has the shape {decision.shape}; allowed: ({len(given)}, {max(k, 2)})")
    if given.dtype.kind not in "iu" or not 0 <= given.min(initial=0) <= given.max(initial=0) < k:
        raise ValueError(f"given: classes {np.unique(given)[[0, -1]].tolist()}; allowed: whole numbers, 0 to {k - 1}")
    if not np.isfinite(decision).all():
        raise ValueError("decision: missing or infinite values; allowed: finite values")
    return np.hstack((-decision, decision)) if decision.shape[1] == 1 else decision


def _platt(f: np.ndarray, given: np.ndarray, right: np.ndarray) -> np.ndarray:
    """log P (n, k) by a logistic regression of f, each label weighted by its probability of being right (n,)."""
    L = np.full(f.shape, np.log(TINY))
    present = np.unique(given)
    if len(present) < 2:
        L[:, present] = 0
        return L
    fitted = LogisticRegression(C=WEAK, max_iter=ROUNDS, tol=CLOSE)
    with one_openmp_thread, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # its last iterate is good enough
        L[:, present] = fitted.fit(f, given, right).predict_log_proba(f)
    return np.maximum(L, np.log(TINY))


def _sides(L: np.ndarray, given: np.ndarray) -> _Sides:
    """For P ~ exp(L), L (n, k); ties in the order of the classes."""
    i, most, own = np.arange(len(L)), L.max(axis=1), L[np.arange(len(L)), given][:, None]
    behind = (own > L) | ((own == L) & (np.arange(L.shape[1]) > given[:, None]))
    before = ~behind
    before[i, given] = False
    P = np.exp(L - most[:, None])
    total = P.sum(axis=1)
    above, below = (np.where(side, P, 0).sum(axis=1) / total for side in (before, behind))
    return _Sides(own[:, 0] - most - np.log(total), above, below, before.sum(axis=1))


def _mixture(L: np.ndarray, given: np.ndarray) -> _Mixture:
    """r and q by EM for P ~ exp(L), L (n, k)."""
    (n, k), sides = L.shape, _sides(L, given)
    P, rank, r, q = np.exp(sides.log_own), sides.rank, 0.1, np.full(k + 1, 1 / (k - 1))
    q[0] = q[k] = 0
    for _ in range(STEPS):
        first, second = r * q[rank] * sides.above, r * q[rank + 1] * sides.below
        total = (1 - r) * P + first + second + TINY
        first, second = first / total, second / total
        r = float((first.sum() + second.sum() + 1) / (n + 2))
        mass = np.bincount(rank, first, k + 1)
        mass[1:] += np.bincount(rank, second, k)
        mass[1:k] += 1 / (k - 1)  # one pseudo-count spread over all classes, so that none is impossible
        q[1:k] = mass[1:k] / mass[1:k].sum()
    return _Mixture(_log_odds(sides, r, q), float(np.log(total).mean()), r, q)


def _log_odds(sides: _Sides, r: float, q: np.ndarray) -> np.ndarray:
    wrong = r * (q[sides.rank] * sides.above + q[sides.rank + 1] * sides.below)
    return np.log(wrong + TINY) - np.log1p(-r) - sides.log_own
