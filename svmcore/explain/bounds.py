"""Bounds on the error of a trained machine, from the machine and its training examples only.

    leave-one-out    x_i is misclassified by the machine trained without it, computed exactly (retraining.py); what was
                     learned from all examples before the machine, a scaling or gamma="scale", stays as it is
    xi-alpha         2 alpha_i D + xi_i >= 1,    D = max K(x, x) - min K(x, x')
    span             alpha_i S_i^2 >= y_i f(x_i)
    radius, margin   (R^2 + 1 / C) (|w|^2 + 2 sum_i C_i xi_i)      R^2 / margin^2 if all xi are 0 and C is infinite
    VC bound         wrong + n sqrt((h (log(2 n / h) + 1) - log(eta / 4)) / n),    h = min(R^2 |w|^2, n) + 1

xi-alpha counts every example that leave-one-out may misclassify. The span S_i is the distance of phi(x_i) from the
combinations of free SVs with weights that sum to 1. Leaving out x_i changes y_i f(x_i) by exactly alpha_i S_i^2 as long
as the free SVs stay free and the other alpha do not change. R is the radius of the smallest sphere around all examples;
four times the radius-margin line bounds leave-one-out, so only the position of its minimum matters. The VC bound is the
quantity that structural risk minimisation minimises: the training errors, which fall, plus a term in the capacity h,
which grows with the set of machines (by degree, width or C). It holds with probability 1 - eta for a set chosen in
advance, and is far above 1 for most sets of examples.

For k one-vs-rest machines, leave-one-out and span use the predicted class; xi-alpha counts an example once if any
machine may misclassify it; radius and margin, and the VC bound, are summed over the machines.

Symbols: alpha, y, xi (k, n), xi = max(0, 1 - y f); K (n, n).
Joachims, ICML (2000), section 4.1; Vapnik and Chapelle, Neural Computation 12 (2000), theorem 3; Chung, Kao, Sun, Wang
and Lin, Neural Computation 15 (2003), section 4; Osuna, Freund and Girosi (1997), sections 1 and 2.1.
"""

import time
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmcore.explain.retraining import HELD, Retraining
from svmcore.model import labels
from svmcore.solvers import smo

RIDGE = 1e-10  # added to K_ii, relative to its mean: linearly dependent examples have no span
FULL = 1e-3  # fraction of their range that the other free SVs must have left, so that some stay free
ETA = 0.05  # probability with which the VC bound may fail
PRECISION = 1e-3  # of the squared radius, relative to the mean K_ii


class Bound(NamedTuple):
    """One bound of a machine: the number of errors among n examples, and the seconds it took."""

    errors: float
    n: int
    seconds: float


def bounds(retraining: Retraining, check: Callable[[], None] = lambda: None) -> dict[str, Bound]:
    """All bounds by name. The kernel is taken as given. For a kernel learned from these examples (tangent vectors,
    positive part) leave-one-out would not be valid, and the lab refuses such runs.

    ValueError if there are too many examples for their kernel matrix to fit into memory. `check` is called between
    pieces of work, and may raise to stop.
    """
    if retraining.ridge is not None:
        allowed = "'hinge', because these bounds use the slack of the hinge loss"
        raise ValueError(f"bounds: loss = 'squared_hinge'; allowed: {allowed}")
    gram = retraining.source.gram
    if gram.blocks is None:
        raise ValueError(
            f"bounds: {gram.n:,} examples; allowed: up to {HELD:,}, with a kernel matrix that fits into memory"
        )
    results = {}
    for name, bound in BOUNDS.items():
        started = time.perf_counter()
        errors = bound(retraining, check)
        results[name] = Bound(float(errors), int(np.count_nonzero(retraining.box)), time.perf_counter() - started)
    return results


def leave_one_out(r: Retraining, check=lambda: None) -> int:
    """Examples misclassified by the machine trained without them."""
    return _wrong(r, r.leave_one_out())


def xi_alpha(r: Retraining, check=lambda: None) -> int:
    """Upper bound on the examples that leave-one-out misclassifies.

    Joachims (2000), definition 1 and lemma 2, which assumes that free SVs determine the bias. An example whose alpha
    cannot be redistributed to the other free SVs, so that b may jump, is counted too.
    """
    K = r.source.gram.blocks[0]
    D = float(K.diagonal().max()) - float(K.min())
    free = (r.alpha > 0) & (r.alpha < r.box)
    room = (
        np.where(free, r.box - r.alpha, 0.0),
        np.where(free, r.alpha, 0.0),
    )  # how much alpha can grow on one side and fall on the other
    positive = r.Y > 0
    for_one, for_other = ((np.where(positive == side, *room)).sum(1, keepdims=True) for side in (True, False))
    crowded = r.alpha >= (1 - FULL) * (np.where(positive, for_one, for_other) - room[0])
    return int((((2 * r.alpha * D + _slack(r) >= 1) | (crowded & (r.alpha > 0))) & (r.box > 0)).any(0).sum())


def span(r: Retraining, check=lambda: None) -> int:
    """Examples that leave-one-out misclassifies if every free SV stays free and every bounded SV bounded.

    Vapnik and Chapelle (2000), theorem 3.
    """
    moved = np.zeros_like(r.alpha)
    for c in range(len(r.Y)):
        check()
        support = np.flatnonzero(r.alpha[c])
        moved[c, support] = r.alpha[c, support] * _spans(r, support, r.alpha[c, support] < r.box[support])
    return _wrong(r, r.decision - (r.Y * moved).T)


def radius_margin(r: Retraining, check=lambda: None) -> float:
    """(R^2 + 1 / C) (|w|^2 + 2 sum C xi), summed over the machines.

    Chung, Kao, Sun, Wang and Lin (2003), section 4.
    """
    cost = capacity(r) + 2 * (r.box * _slack(r)).sum(1)
    return float(((radius(r, check) + 1 / r.box.max()) * cost).sum())


def vc_bound(r: Retraining, check=lambda: None) -> float:
    """Bound on the number of errors from empirical risk and capacity, summed over the machines.

    Osuna, Freund and Girosi (1997), section 2.1: h is at most min(R^2 |w|^2, dimension) + 1. A feature space may have
    any dimension, but n examples span at most n.
    """
    n = np.count_nonzero(r.box)
    h = np.minimum(radius(r, check) * capacity(r), n) + 1
    hidden = n * np.sqrt((h * (np.log(2 * n / h) + 1) - np.log(ETA / 4)) / n)
    return float((((r.Y * r.decision.T <= 0) & (r.box > 0)).sum(1) + hidden).sum())


BOUNDS = {
    "leave_one_out": leave_one_out,
    "xi_alpha": xi_alpha,
    "span": span,
    "radius_margin": radius_margin,
    "vc": vc_bound,
}


def capacity(r: Retraining) -> np.ndarray:
    """|w|^2 (k,) of the machines, 1 / margin^2."""
    return (r.alpha * r.Y * (r.f + r.Y)).sum(1)


def radius(r: Retraining, check=lambda: None) -> float:
    """R^2 of the smallest sphere around all examples: max_beta sum beta_i K_ii - beta' K beta, sum beta = 1, beta >= 0,
    solved as the pair problem (smo.py) with y = 1 and f = K beta - K_ii / 2."""
    gram = r.source.gram
    K, diag = gram.blocks[0], gram.diag.astype(np.float64)
    ones, beta = np.ones(gram.n), np.full(gram.n, 1 / gram.n)
    problem = smo.pairs(K, gram.which, ones, ones, beta, K.mean(1, dtype=np.float64) - diag / 2)
    smo.solve(problem, PRECISION * max(float(diag.mean()), 1e-300), lambda _: check() is None)
    return float(problem.alpha @ (diag / 2 - problem.f))


def _slack(r: Retraining) -> np.ndarray:
    """xi (k, n)."""
    return np.maximum(0, 1 - r.Y * r.decision.T)


def _wrong(r: Retraining, decision) -> int:
    """Training examples misclassified by decision values (n, k)."""
    decided = labels(r.targets.classes, decision)
    return int(np.count_nonzero((decided != r.targets.y) & (r.box > 0)))


def _spans(r: Retraining, support, free) -> np.ndarray:
    """S^2 (m,) of support vectors; free (m,): which of them are free.

    With K~ = (K_FF 1; 1' 0): S_p^2 = 1 / (K~^-1)_pp for a free SV, K_pp - v' K~^-1 v with v = (K_Fp, 1) for another
    (Vapnik and Chapelle 2000, section 4). If none is free: the largest squared distance, as in xi-alpha.
    """
    K = r.source.gram.given
    F, bound = support[free], support[~free]
    if not len(F):
        return np.full(len(support), 2 * (float(K.diagonal().max()) - float(K.min())))
    m = len(F)
    bordered = np.ones((m + 1, m + 1))
    bordered[:m, :m] = K[np.ix_(F, F)]
    bordered[np.arange(m), np.arange(m)] += RIDGE * float(r.source.gram.diag.mean())
    bordered[m, m] = 0
    inverse, spans = np.linalg.inv(bordered), np.empty(len(support))
    spans[free] = 1 / np.maximum(inverse.diagonal()[:m], 1e-300)
    v = np.ones((m + 1, len(bound)))
    v[:m] = K[np.ix_(F, bound)]
    spans[~free] = np.maximum(K[bound, bound] - (v * (inverse @ v)).sum(0), 0)
    return spans
