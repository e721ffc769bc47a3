"""Note 3: without b a Gaussian machine of large gamma answers as the nearest neighbour, by the alphas of its dual."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_digits, make_moons
from sklearn.neighbors import KNeighborsClassifier

from pages.paper.nearest import agreement, signs, without_b


def rbf(A, B, gamma):
    return np.exp(-gamma * ((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize(("n", "gamma", "C", "seed"), [(20, 0.5, 1.0, 0), (60, 2.0, 0.3, 1), (60, 30.0, 10.0, 2)])
def test_alphas_are_those_of_the_dual_without_its_sum(n, gamma, C, seed):
    X, y = make_moons(n, noise=0.3, random_state=seed)
    y = 2 * y - 1
    K = rbf(X, X, gamma)
    Q = K * np.outer(y, y)
    best = minimize(lambda a: a @ Q @ a / 2 - a.sum(), np.zeros(n), jac=lambda a: Q @ a - 1, bounds=[(0, C)] * n,
                    method="L-BFGS-B", options={"ftol": 1e-14, "gtol": 1e-9})  # fmt: skip
    a = without_b(K, y, C) * y
    assert (a >= 0).all()
    assert (a <= C + 1e-9).all()
    assert a @ Q @ a / 2 - a.sum() == pytest.approx(best.fun, rel=1e-3)
    assert K @ (a * y) == pytest.approx(K @ (best.x * y), abs=0.01)


@pytest.mark.parametrize(("digit", "n"), [(3, 200), (8, 500)])
def test_for_a_large_gamma_every_answer_is_the_nearest_neighbours(digit, n):
    X, y = load_digits(return_X_y=True)
    X, y = X / np.linalg.norm(X, axis=1, keepdims=True), np.where(y == digit, 1, -1)
    X, X_test, y = X[:n], X[n : n + 300], y[:n]
    near = KNeighborsClassifier(1).fit(X, y).predict(X_test)
    assert (near == 1).any()
    squared = ((X_test[:, None] - X[None]) ** 2).sum(axis=2)
    without = signs(squared, 1e5, without_b(rbf(X, X, 1e5), y, 10.0))
    assert (without == near).all()
    free, tied = agreement(X, y, X_test, 1e5, 10.0)
    assert free == 1
    assert tied == pytest.approx(np.mean(near == -1)), "with b all answers are b's"


def test_a_small_gamma_answers_otherwise():
    X, y = make_moons(300, noise=0.4, random_state=0)
    assert agreement(X[:200], 2 * y[:200] - 1, X[200:], 0.5, 1.0)[0] < 1


def test_signs_are_those_of_the_sum_where_numbers_can_hold_it():
    rng = np.random.default_rng(0)
    squared, coef = rng.uniform(0, 4, (50, 9)), rng.normal(size=9)
    for b in (0.0, 0.3, -0.3):
        assert (signs(squared, 1.0, coef, b) == np.sign(np.exp(-squared) @ coef + b)).all()
