"""Nearest points of hulls, against a quadratic program of their weights; other lines, against a linear separator."""

import numpy as np
import pytest
from scipy.optimize import LinearConstraint, minimize
from sklearn import svm

from svmcore.explain import hulls


def clouds(seed, apart):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(24) % 2, -1, 1)
    return (rng.normal(size=(24, 2)) * 0.4 + apart * y[:, None]).astype(np.float64), y


def by_weights(X, y, mu):
    """|z+ - z-|^2 minimised over the weights of both hulls."""
    Z = X * y[:, None]
    sums = LinearConstraint(np.array([y > 0, y < 0], float), 1, 1)
    start = np.where(y > 0, 1 / np.sum(y > 0), 1 / np.sum(y < 0))
    found = minimize(
        lambda l: np.sum((l @ Z) ** 2), start, jac=lambda l: 2 * Z @ (l @ Z), bounds=[(0, mu)] * len(y),
        constraints=sums, method="SLSQP", options={"ftol": 1e-14, "maxiter": 2000},
    )  # fmt: skip
    return np.sqrt(found.fun)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("apart", "C"), [(1.2, 1e6), (0.4, 0.5), (0.2, 5.0)])
def test_the_alphas_of_a_machine_are_weights_of_the_nearest_points(seed, apart, C):
    X, y = clouds(seed, apart)
    machine = svm.SVC(kernel="linear", C=C, tol=1e-8).fit(X, y)
    alpha = np.zeros(len(y))
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    found = hulls.nearest(X, y, alpha, alpha >= C * (1 - 1e-9), C)
    ends = found.ends[0] - found.ends[1]
    assert np.linalg.norm(ends) == pytest.approx(by_weights(X, y, found.mu), abs=1e-4)
    w = machine.coef_[0]
    assert abs(ends[0] * w[1] - ends[1] * w[0]) < 1e-5 * np.linalg.norm(ends) * np.linalg.norm(w)  # parallel
    if apart > 1:
        assert found.mu == 1
        assert found.ends.mean(axis=0) @ w + machine.intercept_[0] == pytest.approx(0, abs=1e-4)  # halved


@pytest.mark.parametrize("mu", [1.0, 0.5, 0.3, 0.11, 1 / 12])
def test_a_reduced_hull_reaches_as_far_in_every_direction_as_its_weights_allow(mu):
    X, y = clouds(3, 0.5)
    X = X[y > 0]
    corners = hulls.reduced_hull(X, mu)
    for angle in np.linspace(0, 2 * np.pi, 200):
        along = np.sort(X @ [np.cos(angle), np.sin(angle)])[::-1]
        left, reach = 1.0, 0.0
        for value in along:
            reach, left = reach + min(left, mu) * value, left - min(left, mu)
        assert (corners @ [np.cos(angle), np.sin(angle)]).max() == pytest.approx(reach, abs=1e-9)
    area = np.roll(corners, -1, axis=0)
    turn = corners[:, 0] * area[:, 1] - corners[:, 1] * area[:, 0]
    assert turn.sum() >= -1e-12  # counterclockwise
    with pytest.raises(ValueError, match="sum to 1"):
        hulls.reduced_hull(X, 0.08)


@pytest.mark.filterwarnings("ignore:Solver terminated early")
@pytest.mark.parametrize("seed", range(10))
def test_other_lines_separate_with_a_smaller_margin_than_the_machine(seed):
    X, y = clouds(seed, 1.2)
    machine = svm.SVC(kernel="linear", C=1e8, tol=1e-8).fit(X, y)
    widest = 1 / np.linalg.norm(machine.coef_)
    lines = hulls.perceptrons(X, y, 6, seed)
    assert hulls.separable(X, y)
    assert len(lines) == 6
    for line in lines:
        assert np.all(y * (X @ line[:2] + line[2]) > 0)
        assert 0 < hulls.margin(X, y, line) <= widest * (1 + 1e-6)
    y[0] *= -1
    right = svm.SVC(kernel="linear", C=1e8, max_iter=100_000).fit(X, y).score(X, y) == 1  # it ends soon where one does
    assert hulls.separable(X, y) == right == bool(hulls.perceptrons(X, y, 1))


def test_one_point_and_one_colour_are_no_fault():
    assert hulls.reduced_hull(np.array([[0.5, 0.5]]), 1.0).tolist() == [[0.5, 0.5]]
    assert hulls.reduced_hull(np.array([[0.0, 0.0], [1.0, 0.0]]), 1.0).shape == (2, 2)
    with pytest.raises(ValueError, match="no support"):
        hulls.nearest(np.zeros((2, 2)), np.array([1, 1]), np.ones(2), np.zeros(2, bool), 1.0)
