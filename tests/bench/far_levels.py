"""Gaussian machines on tables whose columns are of unlike scale: `python -m tests.bench.far_levels [problems [seed]]`.

Each function draws a problem from a generator: X (n, d) float64, y (n,) 0 or 1, and parameters of SVC. Columns of the
size of 1 decide y; beside them lie columns with two far levels, years, money, one-hot groups, twins. A problem is
trained on half of its rows and judged on the other half, beside scikit-learn's SVC with the same parameters:

    false     "converged" where the gap by a naive float64 sum, differences squared one by one, is above tol
    worse     fewer held-out rows right than scikit-learn, beyond what the rows decided differently explain by chance,
              or a lower dual objective, where scikit-learn ends at its tol
    unsolved  ours ended above tol where scikit-learn did not

Nothing may be false or worse; what is unsolved is told.
"""

from __future__ import annotations

import sys
import time
import warnings
from typing import NamedTuple

import numpy as np
import sklearn.svm

from svmcore import SVC
from svmcore.memory import BudgetError

PAIRS = 1_000_000  # that scikit-learn may move
CHUNK = 500  # rows of a naive Gram matrix at a time


class Problem(NamedTuple):
    X: np.ndarray
    y: np.ndarray
    parameters: dict


def two_levels(rng) -> Problem:
    """A few features of the size of 1, and columns of two levels some powers of ten apart, with or without jitter."""
    X, y = _small(rng)
    columns = int(rng.integers(1, 4))
    levels = 10 ** rng.uniform(2, 4, columns) * rng.choice([-1, 1], (len(X), columns))
    return _problem(rng, [X, levels + rng.choice([0, 0.3]) * rng.normal(size=levels.shape)], y)


def years(rng) -> Problem:
    """Years from 1990 to 2024, or full of months, which move the boundary, beside small features."""
    X, y = _small(rng)
    year = rng.integers(1990, 2025, len(X)) + rng.choice([0, 1]) * rng.integers(0, 12, len(X)) / 12
    late = year > 2007
    y = np.where(late & (rng.random(len(X)) < 0.3), 1 - y, y)
    return _problem(rng, [X, year[:, None]], y)


def money(rng) -> Problem:
    """Log-normal amounts up to a million, in units or in thousands, beside small features."""
    X, y = _small(rng)
    return _problem(rng, [X, _amounts(rng, len(X)) / rng.choice([1, 1000])], y)


def groups_and_money(rng) -> Problem:
    """A one-hot group that decides with the small features, beside money: most entries are 0."""
    X, y = _small(rng)
    count = int(rng.integers(3, 30))
    group = rng.integers(count, size=len(X))
    y = np.where(group % 3 == 0, 1 - y, y)
    return _problem(rng, [X, np.eye(count)[group], np.rint(_amounts(rng, len(X)) / 100) * 100], y)


def far_twins(rng) -> Problem:
    """Half of the rows are copies of the other half, some with the other label; all beside two far levels."""
    found = two_levels(rng)
    half = len(found.X) // 2
    X, y = found.X.copy(), found.y.copy()
    X[half : 2 * half], y[half : 2 * half] = X[:half], y[:half]
    flipped = half + np.flatnonzero(rng.random(half) < 0.05)
    y[flipped] = 1 - y[flipped]
    order = rng.permutation(len(X))
    return Problem(X[order], y[order], found.parameters)


def far_rows(rng) -> Problem:
    """Every feature is of the size of 1, but for a few rows, which are thousands of times as long."""
    X, y = _small(rng)
    long = rng.random(len(X)) < 0.02
    X[long] *= 10 ** rng.uniform(1, 4, (long.sum(), 1))
    return _problem(rng, [X], y)


PROBLEMS = (two_levels, years, money, groups_and_money, far_twins, far_rows)


def _small(rng):
    n, d = int(10 ** rng.uniform(2.3, 3.5)), int(rng.integers(1, 8))
    X = rng.normal(size=(n, d))
    score = (
        np.sin(2 * X[:, 0]) + (X[:, 1 % d] * X[:, 2 % d] if d > 1 else 0) + rng.choice([0.1, 0.5]) * rng.normal(size=n)
    )
    return X, (score > 0).astype(int)


def _amounts(rng, n):
    return np.minimum(rng.lognormal(rng.uniform(6, 10), rng.uniform(0.5, 1.5), n), 1e6)[:, None]


def _problem(rng, columns, y) -> Problem:
    """C, gamma for the small features or by rule, and memory, at random; columns in any order."""
    X = np.concatenate(columns, axis=1)
    small = float(10 ** rng.uniform(-1, 0.5)) / columns[0].shape[1]
    gamma = [small, small, small, "scale", "auto"][rng.integers(5)]
    parameters = {
        "C": float(10 ** rng.uniform(-1, 3.5)),
        "gamma": gamma,
        "cache_mb": [None, None, 30, 3][rng.integers(4)],
    }
    return Problem(X[:, rng.permutation(X.shape[1])], y, parameters)


def naive_gram(gamma: float, A, B) -> np.ndarray:
    """exp(-gamma |a - b|^2) (m, n) float64, by differences, feature by feature."""
    K = np.empty((len(A), len(B)))
    for start in range(0, len(A), CHUNK):
        rows = slice(start, start + CHUNK)
        squares = sum(np.subtract.outer(A[rows, k], B[:, k]) ** 2 for k in range(A.shape[1]))
        K[rows] = np.exp(-gamma * squares)
    return K


def gap_and_dual(K, y, coef, support, C: float) -> tuple[float, float]:
    """KKT gap and dual objective of coef (m,) = y alpha of the examples `support`; K (n, n) float64, y (n,) of +-1."""
    signed = np.zeros(len(y))
    signed[support] = coef
    Ka = K[:, support] @ coef
    f, alpha = Ka - y, signed * y
    room = alpha < C * (1 - 1e-12)
    up, low = np.where(y > 0, room, alpha > 0), np.where(y > 0, alpha > 0, room)
    return f[low].max() - f[up].min(), float(alpha.sum() - 0.5 * signed @ Ka)


class Judged(NamedTuple):
    """One problem: what went wrong, in words (empty where nothing did), and the figures behind it."""

    name: str
    wrong: list[str]
    accuracy: tuple[float, float]  # ours, scikit-learn's
    seconds: tuple[float, float]
    converged: tuple[bool, bool]


def judge(name: str, problem: Problem) -> Judged:
    """Train both on half of the rows."""
    half = len(problem.X) // 2
    X, y, sign = problem.X[:half], problem.y[:half], np.where(problem.y[:half], 1.0, -1.0)
    ours, seconds = _ours(X, y, problem.parameters)
    gamma, rounded = ours.kernel_.gamma, X.astype(np.float32).astype(np.float64)
    gap, dual = gap_and_dual(naive_gram(gamma, rounded, rounded), sign, ours.dual_coef_[0], ours.support_, ours.C)
    theirs, their_seconds = _theirs(X, y, ours.C, gamma)
    _, their_dual = gap_and_dual(naive_gram(gamma, X, X), sign, theirs.dual_coef_[0], theirs.support_, ours.C)
    held, truth = problem.X[half:], problem.y[half:]
    right, their_right = (machine.predict(held) == truth for machine in (ours, theirs))
    wrong, ended = [], theirs.fit_status_ == 0
    if ours.converged_ and gap > ours.tol * (1 + 1e-6):
        wrong.append(f"false: gap {gap:.2g} of {ours.tol:g}")
    lost, won = np.count_nonzero(their_right & ~right), np.count_nonzero(right & ~their_right)
    if ended and lost - won > 3 + 2 * np.sqrt(lost + won):
        wrong.append(f"worse: {lost} rows lost, {won} won")
    if ended and dual < their_dual - 1e-3 * abs(their_dual):
        wrong.append(f"worse: dual {dual:.6g} of {their_dual:.6g}")
    if ended and not ours.converged_:
        wrong.append(f"unsolved: gap {gap:.2g}; {ours.ending_}")
    figures = (right.mean(), their_right.mean()), (seconds, their_seconds), (bool(ours.converged_), bool(ended))
    return Judged(name, wrong, *figures)


def _ours(X, y, parameters: dict):
    parameters = dict(parameters)
    while True:
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                return SVC(**parameters).fit(X, y), time.perf_counter() - start
        except BudgetError:
            parameters["cache_mb"] *= 2


def _theirs(X, y, C: float, gamma: float):
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = sklearn.svm.SVC(C=C, gamma=gamma, max_iter=PAIRS).fit(X, y)
    return machine, time.perf_counter() - start


def main(count: int = 60, seed: int = 0) -> int:
    """Judge so many problems, drawn in turn; 1 if any was false or worse."""
    told = []
    for number in range(count):
        make = PROBLEMS[number % len(PROBLEMS)]
        problem = make(np.random.default_rng([seed, number]))
        told.append(judge(make.__name__, problem))
        for words in told[-1].wrong:
            settings = ", ".join(f"{key} {value}" for key, value in problem.parameters.items())
            print(f"{number:4d} {make.__name__}, {problem.X.shape}, {settings}: {words}", flush=True)
    print("problem              fits  converged (scikit-learn)  accuracy (scikit-learn)  seconds (scikit-learn)  wrong")
    for make in PROBLEMS:
        some = [each for each in told if each.name == make.__name__]
        if some:
            means = [np.mean([pair(each) for each in some], axis=0) for pair in (_converged, _accuracy)]
            spent = np.sum([each.seconds for each in some], axis=0)
            (a, b), (c, d), wrong = *means, sum(map(bool, (each.wrong for each in some)))
            figures = f"{a:8.3f} ({b:.3f}) {c:16.3f} ({d:.3f}) {spent[0]:16.1f} ({spent[1]:.1f}) {wrong:12d}"
            print(f"{make.__name__:20s} {len(some):4d} {figures}")
    return int(any(not words.startswith("unsolved") for each in told for words in each.wrong))


def _converged(judged: Judged):
    return judged.converged


def _accuracy(judged: Judged):
    return judged.accuracy


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
