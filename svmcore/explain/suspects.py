"""Which labels are likely wrong: the odds of it for each example, from decision values out of sample.

    P_c(x) = exp(s f_c(x)) / sum_y exp(s f_y(x))                            chance that the class is c
    the label z of an example of class y is y with chance 1 - r; else it is the class of rank j by f among the others,
    with chance r q_j;   q_j = 1 / (k - 1) where labels go anywhere, q_0 = 1 where they go to what the example is likest

    p(z | x) = (1 - r) P_z + r sum_{y != z} q_j P_y,    j the rank of z without y       max over s, r, q of prod p
    score    = log  r sum_{y != z} q_j P_y / ((1 - r) P_z)                           log odds that the label is wrong

s, r and q are found from the given labels themselves; r is the share of labels that are wrong. With j the rank of z
among all, the sum is q_{j-1} (P of the classes before z) + q_j (P of those behind it), so that a step of EM takes O(n).
Of two classes q has nothing to say, and the order is that of the margin z f.

Decision values f (n, k) float64 must be out of sample: of the examples of a fold by the machine of the other folds, of
test examples by the machine. Where labels are wrong, those machines have learned some of them; folds once more without
the likely ones (`likely`) do better.

References: Dawid and Skene, Applied Statistics 28 (1979), for r and q by EM; Northcutt, Jiang and Chuang, Confident
learning, JAIR 70 (2021), for odds out of sample; Brodley and Friedl, Identifying mislabeled training data, JAIR 11
(1999), and Wilson, IEEE Trans. SMC 2 (1972), for leaving out what others get wrong.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar

from svmcore.model import Machine

STEPS = 40  # of EM; r and q are then known to three digits
SLOPES = 0.1, 100.0  # times 1 / median lead, between which s is looked for
PRECISE = 0.02  # of log s
LEAST = 1e-9  # of the largest f, a median lead
TINY = 1e-300


class Doubts(NamedTuple):
    """How far machines doubt the given labels."""

    score: np.ndarray  # (n,) float64, log odds that the label is wrong
    said: np.ndarray  # (n,) int64, the class of the largest f
    own: np.ndarray  # (n,) float64, f of the given class
    other: np.ndarray  # (n,) float64, the largest f of another class
    rate: float  # r, the share of labels that are wrong
    likest: float  # q_0, the share of wrong labels that are the likest class but the true one

    @property
    def likely(self) -> np.ndarray:
        """(n,) bool: labels that are more likely wrong than right."""
        return self.score > 0


def doubts(decision: np.ndarray, given: np.ndarray, k: int, check: Callable[[], None] = lambda: None) -> Doubts:
    """The odds that labels are wrong.

    decision : (n, k) f, or (n, 1) of one machine that tells class 1 from class 0; out of sample
    given : (n,) int, the labels as classes 0 ... k - 1
    check : called between pieces, and may raise to stop

    ValueError for arrays that do not fit, and where there is no example.
    """
    if not len(given):
        raise ValueError("given: no labels; allowed: at least one")
    f = _columns(decision, given, k)
    own, other, _ = leads(decision, given, k)
    before = f > own[:, None]
    before |= (f == own[:, None]) & (np.arange(k) < given[:, None])  # equal ones in the order of classes
    rank = before.sum(axis=1)
    behind = ~before
    behind[np.arange(len(f)), given] = False
    lead = max(float(np.median(np.abs(own - other))), LEAST * float(np.abs(f).max())) or 1.0

    def mixture(log_s: float) -> _Mixture:
        check()
        return _mixture(*_chances(f, own, before, behind, np.exp(log_s)), rank, k)

    bounds = tuple(np.log(np.array(SLOPES) / lead))
    how = {"bounds": bounds, "method": "bounded", "options": {"xatol": PRECISE}}
    best = mixture(minimize_scalar(lambda log_s: -mixture(log_s).likelihood, **how).x)
    return Doubts(best.score, f.argmax(axis=1), own, other, best.rate, float(best.q[0]))


def leads(decision: np.ndarray, given: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """f of the given class, the largest f of another class, and that class; each (n,). ValueError as of `doubts`."""
    f = _columns(decision, given, k)
    i, others = np.arange(len(f)), f.copy()
    others[i, given] = -np.inf
    rival = others.argmax(axis=1)
    return f[i, given], others[i, rival], rival


def of_margins(mean: np.ndarray, variance: np.ndarray) -> np.ndarray:
    """(n,) -(m + v) of the margins that cross-training keeps: above 0 where its machines agree on the other side.

    Bakir, Bottou and Weston (2004), Algorithm 3, step 4.
    """
    return -(mean + variance)


def at_bound(machine: Machine) -> tuple[np.ndarray, np.ndarray]:
    """Training examples (m,) whose alpha is at C in some machine, ascending, and f (m, k) of the machine that was
    trained with them. Those are the ones that it could not get right, or not well enough; a wrong label among many
    right ones ends there. ValueError for a machine of constructed vectors, which has no alpha of examples.
    """
    if machine.constructed.any() and machine.parent is None:
        raise ValueError("machine: its vectors were constructed; allowed: one whose support vectors are examples")
    held = machine.bound.any(axis=0)
    if machine.jitter is not None:
        held &= machine.jitter == 0  # the example itself
    origin = (machine.support if machine.parent is None else machine.parent)[held]
    order = np.argsort(origin, kind="stable")
    return origin[order], machine.decision_values(machine.support_vectors[held][order])


class _Mixture(NamedTuple):
    score: np.ndarray
    likelihood: float
    rate: float
    q: np.ndarray


def _columns(decision: np.ndarray, given: np.ndarray, k: int) -> np.ndarray:
    """f (n, k), of two classes -f and f."""
    decision, given = np.asarray(decision, np.float64), np.asarray(given)
    columns = 1 if k == 2 and decision.shape[1:] == (1,) else k
    if k < 2 or decision.shape != (len(given), columns):
        raise ValueError(f"decision: the shape {decision.shape}; allowed: ({len(given)}, {max(k, 2)})")
    if given.dtype.kind not in "iu" or not 0 <= given.min(initial=0) <= given.max(initial=0) < k:
        raise ValueError(f"given: classes {np.unique(given)[[0, -1]].tolist()}; allowed: whole numbers, 0 to {k - 1}")
    if not np.isfinite(decision).all():
        raise ValueError("decision: values that are missing or infinite; allowed: finite ones")
    return np.hstack((-decision, decision)) if decision.shape[1] == 1 else decision


def _chances(f, own, before, behind, s: float) -> tuple[np.ndarray, ...]:
    """log P of the given class, and P of the classes before and behind it by f; each (n,)."""
    most = f.max(axis=1, keepdims=True)
    P = np.exp(s * (f - most))
    total = P.sum(axis=1)
    log_own = s * (own - most[:, 0]) - np.log(total)
    return log_own, np.where(before, P, 0).sum(axis=1) / total, np.where(behind, P, 0).sum(axis=1) / total


def _mixture(log_own, above, below, rank, k: int) -> _Mixture:
    """r and q by EM for given P."""
    q, r, P = np.full(k + 1, 1 / (k - 1)), 0.1, np.exp(log_own)
    q[0] = q[k] = 0  # q[j + 1] is q_j: no class is before the first, none behind the last
    n = len(rank)
    for _ in range(STEPS):
        first, second = r * q[rank] * above, r * q[rank + 1] * below
        total = (1 - r) * P + first + second + TINY
        first, second = first / total, second / total
        r = (first.sum() + second.sum() + 1) / (n + 2)
        mass = np.bincount(rank, first, k + 1)
        mass[1:] += np.bincount(rank, second, k)[:k]
        mass[1:k] += 1 / (k - 1)  # one wrong label that may be any, so that none is impossible
        q[1:k] = mass[1:k] / mass[1:k].sum()
    wrong = r * (q[rank] * above + q[rank + 1] * below)
    likelihood = float(np.log(wrong + (1 - r) * P + TINY).mean())
    return _Mixture(np.log(wrong + TINY) - np.log1p(-r) - log_own, likelihood, float(r), q[1:k])
