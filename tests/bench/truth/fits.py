"""Fits by kind: whether "converged" is true, of rows and columns of unlike scale, duplicates, large C, small memory,
bounded working sets. The KKT gap comes from a slow sum in float64 (tests/naive.py); beside scikit-learn, where that
ends well, the dual objective and the training accuracy."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass, field

import numpy as np
from sklearn import svm

from svmcore import RBF, SVC, BudgetError, Decomposition, Kernel, Linear, Poly
from tests import naive
from tests.bench.truth.outcome import Outcome, limited

PAIRS = 300_000  # of scikit-learn, which does not end where it cannot


@dataclass(frozen=True)
class Problem:
    """One fit. y (n,) of 0 and 1; settings: more arguments of SVC."""

    X: np.ndarray
    y: np.ndarray
    kernel: Kernel
    C: float
    settings: dict = field(default_factory=dict)

    def solved(self, limit: float, beside: bool) -> Outcome:
        settings = dict(self.settings)
        with warnings.catch_warnings(action="ignore"):
            while True:
                machine = SVC(self.kernel, C=self.C, random_state=0, **settings)
                started = time.perf_counter()
                try:
                    machine.fit(self.X, self.y, monitor=limited(limit))
                    break
                except BudgetError:
                    settings["cache_mb"] *= 1.5
            seconds = time.perf_counter() - started
            other = theirs(self) if beside else None
        gap, dual, right = judged(self, machine)
        worse = None
        if other is not None and not isinstance(settings.get("solver"), Decomposition):
            _, best, known = judged(self, other)
            worse = max((best - dual) / max(abs(best), 1e-9), known - right)
        return Outcome(machine.converged_, gap, machine.tol, machine.ending_, seconds, worse)


def drawn(rng, n: int | None = None, power=(-1.0, 3.0)) -> Problem:
    """Overlapping classes in a few dimensions, or labels at random; C = 10^power."""
    n, d = n or int(10 ** rng.uniform(1.3, 3.2)), int(rng.integers(2, 12))
    X = rng.normal(size=(n, d))
    y = (X[:, 0] + rng.choice([0.0, 0.5, 2.0, 1e6]) * rng.normal(size=n) > 0).astype(int)
    y[:2] = 0, 1
    gamma = 1 / d
    kernel = (Linear(), RBF(gamma), Poly(int(rng.integers(2, 4)), gamma, 1.0, normalised=False))[rng.integers(3)]
    return Problem(X, y, kernel, float(10 ** rng.uniform(*power)))


def changed(problem: Problem, **how) -> Problem:
    return Problem(**{**vars(problem), **how})


def rows(rng) -> Problem:
    """A few long rows, in columns that do not matter."""
    problem = drawn(rng)
    X, long = problem.X.copy(), rng.random(len(problem.X)) < rng.choice([0.01, 0.05])
    X[np.ix_(long, np.arange(1, X.shape[1]))] *= 10 ** rng.uniform(1, 4)
    return changed(problem, X=X, kernel=problem.kernel if rng.random() < 0.3 else Linear())


def columns(rng) -> Problem:
    """Columns of unlike scale."""
    problem = drawn(rng)
    return changed(problem, X=problem.X * 10 ** rng.uniform(-2, 2, problem.X.shape[1]))


def scales(rng) -> Problem:
    """Every row and every column of a scale of its own."""
    problem = columns(rng)
    return changed(problem, X=problem.X * 10 ** rng.normal(0, 0.5, len(problem.X))[:, None])


def duplicates(rng) -> Problem:
    """Half of the examples twice, some with the other label."""
    problem = drawn(rng, power=(-1, 5))
    half = len(problem.X) // 2
    y = np.where(rng.random(half) < 0.1, 1 - problem.y[:half], problem.y[:half])
    return changed(problem, X=np.vstack([problem.X[:half]] * 2), y=np.concatenate([problem.y[:half], y]))


def large_c(rng) -> Problem:
    """C up to 1e12."""
    return drawn(rng, n=int(10 ** rng.uniform(1.3, 3)), power=(4, 12))


def small_memory(rng) -> Problem:
    """A ceiling that holds a part of the Gram matrix."""
    problem = drawn(rng, n=int(rng.integers(400, 1600)), power=(0, 4))
    return changed(problem, settings={"cache_mb": float(10 ** rng.uniform(0.2, 1)), "solver": "decomposition"})


def bounded(rng) -> Problem:
    """A working set of a given size."""
    problem = drawn(rng, n=int(10 ** rng.uniform(1.3, 2.9)), power=(-1, 4))
    size = int(rng.integers(2, len(problem.X)))
    return changed(problem, settings={"solver": Decomposition(size)})


def judged(problem: Problem, machine) -> tuple[float, float, float]:
    """(KKT gap, dual objective, training accuracy) of a fitted machine, ours or scikit-learn's."""
    X, y = problem.X.astype(np.float32), np.where(problem.y, 1.0, -1.0)
    coef, alpha = machine.dual_coef_[0], np.zeros(len(y))
    alpha[machine.support_] = np.abs(coef)
    sums = naive.sums(problem.kernel, X, X[machine.support_], coef)
    C = np.full(len(y), max(problem.C, alpha.max(initial=0.0)))
    dual = alpha.sum() - 0.5 * (alpha * y) @ sums
    right = np.mean((sums + machine.intercept_[0] > 0) == (y > 0))
    return naive.gap_of(sums - y, y, C, alpha), float(dual), float(right)


def theirs(problem: Problem):
    """scikit-learn's machine; None where it did not end well."""
    kernel = problem.kernel
    how = {name: getattr(kernel, name) for name in ("gamma", "degree", "coef0") if hasattr(kernel, name)}
    machine = svm.SVC(kernel=kernel.name, C=problem.C, max_iter=PAIRS, cache_size=500, **how)
    machine.fit(problem.X.astype(np.float32).astype(float), problem.y)
    return None if machine.fit_status_ or (machine.n_iter_ >= PAIRS).any() else machine


KINDS = {kind.__name__: kind for kind in (bounded, columns, duplicates, large_c, rows, scales, small_memory)}
