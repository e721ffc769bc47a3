"""A machine whose alpha meets no bound is that of every larger C: taken or solved anew, it is the same bit by bit."""

import numpy as np
import pytest
from sklearn.base import clone

from svmcore import RBF, SVC
from svmcore.solvers import smo
from tests import naive
from tests.cases import all_cases

CS = (0.25, 1.0, 2.0, 8.0, 64.0, 512.0)


def problem(seed, classes, n=150):
    """Overlapping classes: X (n, 3) float32, y (n,), weights (n,), and four folds."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3)).astype(np.float32)
    y = np.digitize(X[:, 0] + 0.7 * rng.standard_normal(n), np.quantile(X[:, 0], np.arange(1, classes) / classes))
    return X, y, rng.uniform(0.5, 2, n), rng.integers(0, 4, n) == np.arange(4)[:, None]


@pytest.fixture
def moved(monkeypatch):
    """Pairs moved by each machine that is solved."""
    pairs, solve = [], smo.solve

    def counted(*arguments):
        done = solve(*arguments)
        pairs.append(done[0])
        return done

    monkeypatch.setattr(smo, "solve", counted)
    return pairs


@all_cases("seed", range(3))
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("gamma", [1.0, 8.0, 200.0])
def test_fits_that_share_their_kernel_values_are_those_that_share_nothing(seed, classes, gamma, moved):
    X, y, weight, left_out = problem(seed, classes)
    source, solved = SVC(RBF(gamma)).shared_source(X, classes), {}
    for C in np.random.default_rng(seed).permutation(CS) if seed % 2 else CS:
        machine = SVC(RBF(gamma), C=C)
        for given in (source, None):
            moved.clear()
            fit = SVC(RBF(gamma), C=C).fit(X, y, weight, source=given)
            folds = machine.held_out_decisions(X, y, left_out, weight, source=given)
            solved[C, given is None] = fit, folds, sum(moved)
        (shared, decided, _), (alone, wanted, _) = solved[C, False], solved[C, True]
        assert np.array_equal(decided, wanted)
        for name in ("support_", "dual_coef_", "intercept_", "n_bound_", "n_iter_", "gap_"):
            assert np.array_equal(getattr(shared, name), getattr(alone, name)), name
        assert shared.history_[-1].iterations == alone.history_[-1].iterations, "as many as the machine has taken"
    if gamma == 200 and not seed % 2:  # K is nearly the identity: alpha < 2 / weight
        assert solved[64.0, False][2] == solved[512.0, False][2] == 0
        assert solved[512.0, True][2] > 0
        assert f"with a smaller C: {len(solved[512.0, False][0].machine_.bias)}" in solved[512.0, False][0].strategy_


def test_a_machine_at_its_bound_is_solved_again(moved):
    X, y, _, _ = problem(0, 2, n=50)
    source = SVC(RBF(8.0)).shared_source(X, 1)
    for C in (0.5, 1.0, 1.01):
        moved.clear()
        machine = SVC(RBF(8.0), C=C).fit(X, y, source=source)
        alpha = np.zeros(len(y))
        alpha[machine.support_] = np.abs(machine.dual_coef_[0])
        assert (alpha >= C).any()
        assert sum(moved) > 0
        targets = np.where(y > 0, 1.0, -1.0)
        K = naive.gram(RBF(8.0), X, X)
        best = naive.qp(K, targets, np.full(len(y), C))
        assert naive.dual(K, targets, alpha) == pytest.approx(naive.dual(K, targets, best), rel=1e-4)


def test_other_labels_weights_or_limits_are_other_machines(moved):
    X, y, weight, _ = problem(1, 2)
    source = SVC(RBF(200.0)).shared_source(X, 1)
    SVC(RBF(200.0), C=8).fit(X, y, source=source)
    others = [
        (SVC(RBF(200.0), C=8), 1 - y, None),
        (SVC(RBF(200.0), C=8), y, np.where(np.arange(len(y)) < 5, 0.0, 1.0)),
        (SVC(RBF(200.0), C=8), y, np.where(weight < 1, 0.9, 1.0)),
        (SVC(RBF(200.0), C=8, tol=1e-5), y, None),
        (SVC(RBF(200.0), C=8, max_iter=10**6), y, None),
    ]
    for machine, labels, weights in others:
        moved.clear()
        shared = machine.fit(X, labels, weights, source=source)
        assert sum(moved) > 0
        alone = clone(machine).fit(X, labels, weights)
        assert np.array_equal(shared.dual_coef_, alone.dual_coef_)
    moved.clear()
    SVC(RBF(200.0), C=8).fit(X, y, np.where(weight < 1, 1.5, 1.0), source=source)
    assert sum(moved) == 0
