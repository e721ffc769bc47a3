"""Second-order steps on the free set: the optimum where pairs crawl, and a feasible alpha at every stop."""

import numpy as np
import pytest

from svmcore import RBF, SVC, Linear
from svmcore.solvers import free, smo
from svmcore.solvers.decomposition import inner
from tests import naive

ROOM = 10**9


def overlapping(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2)).astype(np.float32)
    y = np.where(np.sin(3 * X[:, 0]) + X[:, 1] + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)
    return X, y


def started(C, n=120, seed=0):
    """(K, y, C, alpha, f) after some pairs."""
    X, y = overlapping(n, seed)
    K, C = RBF(1.0).exact(X, X), np.full(n, float(C))
    p = smo.pairs(K.astype(np.float32), np.zeros((1, 1), np.int64), y, C, np.zeros(n), -y)
    smo.solve(p, 1e-3, lambda iterations: True, max_iterations=500)
    return K, y, C, p.alpha, K @ (p.alpha * y) - y


@pytest.mark.parametrize("C", [1.0, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_steps_reach_the_optimum_and_never_lose(C, seed):
    K, y, C, alpha, f = started(C, seed=seed)
    duals = [naive.dual(K, y, alpha)]

    def going():
        duals.append(naive.dual(K, y, alpha))
        return True

    for _ in range(20):
        free.Free(lambda idx: K[idx], y, C, alpha, f, going, ROOM).settle(1e-6)
        if smo.kkt_gap(y, C, alpha, f)[0] <= 1e-6:
            break
    assert naive.kkt_gap(K, y, C, alpha) <= 1e-5
    assert (np.diff(duals) >= -1e-9 * np.abs(duals[-1])).all()
    np.testing.assert_allclose(f, K @ (alpha * y) - y, atol=1e-9 * C.max())
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    assert abs(alpha @ y) <= 1e-9 * C.max()


@pytest.mark.parametrize("pieces", [0, 1, 2, 5])
def test_a_stop_leaves_a_feasible_alpha(pieces):
    K, y, C, alpha, f = started(1e4)
    asked = []
    free.Free(lambda idx: K[idx], y, C, alpha, f, lambda: asked.append(1) or len(asked) <= pieces, ROOM).settle(1e-6)
    assert len(asked) == pieces + 1
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    assert abs(alpha @ y) <= 1e-5
    np.testing.assert_allclose(f, K @ (alpha * y) - y, atol=1e-5)


@pytest.mark.parametrize("kernel", [RBF(2.0), Linear()], ids=repr)
@pytest.mark.parametrize("C", [1e3, 1e6])
def test_a_fit_with_a_large_box_ends_at_tol(kernel, C):
    """Pairs alone moved ten millions here and ended above tol."""
    X, y = overlapping(400)
    machine = SVC(kernel, C=C).fit(X, y)
    assert machine.converged_
    assert "second-order steps on free sets" in machine.strategy_
    alpha = np.zeros(400)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    assert naive.kkt_gap(naive.gram(kernel, X, X), y, np.full(400, C), alpha) <= 1e-3 * (1 + 1e-3)
    assert machine.n_iter_[0] < 400_000


def test_pairs_that_end_soon_are_left_alone():
    X, y = overlapping(400)
    assert "second-order" not in SVC(RBF(2.0), C=1.0).fit(X, y).strategy_


def test_a_stop_between_steps_keeps_what_there_is(monkeypatch):
    monkeypatch.setattr(inner, "PATIENCE", 1)
    X, y = overlapping(400)
    begun = []

    def monitor(progress):
        return not begun

    step = free.Free._step
    monkeypatch.setattr(free.Free, "_step", lambda self: begun.append(1) or step(self))
    machine = SVC(RBF(2.0), C=1e6).fit(X, y, monitor=monitor)
    assert begun
    assert machine.ending_ == "stopped"
    assert len(machine.support_) > 0
    assert abs(machine.dual_coef_.sum()) <= 1e-3


def test_a_free_set_that_is_too_large_is_worked_on_in_part(monkeypatch):
    """Of a linear machine nearly all examples are free after some pairs with a large box, and 55 in the end."""
    monkeypatch.setattr(free, "MOST", 60)
    X, y = overlapping(400)
    machine = SVC(Linear(), C=1e5).fit(X, y)
    assert machine.converged_
    assert machine.n_iter_[0] < 1_000_000


def test_an_empty_free_set_is_not_worth_it():
    C = np.ones(free.MOST + 5)
    assert free.worth(np.zeros(len(C)), C, ROOM) == np.inf
    assert np.isfinite(free.worth(np.where(np.arange(len(C)) < 50, 0.5, 0.0), C, ROOM))


@pytest.mark.parametrize("m", [1, 3, 8, 21])
def test_the_inverse_by_panels(monkeypatch, m):
    monkeypatch.setattr(free, "PANEL", 4)
    A = np.random.default_rng(m).standard_normal((m, m + 5))
    K = A @ A.T
    np.testing.assert_allclose(free._inverse(K.copy(), lambda: True) @ K, np.eye(m), atol=1e-8)
    assert not len(free._inverse(K - 2 * np.diag(K.diagonal()), lambda: True))
    asked = []
    assert free._inverse(K.copy(), lambda: asked.append(1)) is None
    assert len(asked) == 1


def test_kernel_values_stay_within_the_room(monkeypatch):
    """Rows of members that left F make room for others, and the steps end where they ended with all the room."""
    monkeypatch.setattr(free, "PANEL", 7)
    K, y, C, alpha, f = started(1e4)
    count, n = np.count_nonzero((alpha > 0) & (alpha < C)), len(y)
    rows = count + 12
    room = 8 * rows * n + 8 * free.SQUARES * rows**2
    assert free.worth(alpha, C, 8 * count * n) == np.inf
    assert np.isfinite(free.worth(alpha, C, room))
    for _ in range(30):
        steps = free.Free(lambda idx: K[idx], y, C, alpha, f, lambda: True, room)
        assert steps.K.nbytes <= 8 * rows * n
        steps.settle(1e-6)
        known = steps.members >= 0
        np.testing.assert_array_equal(steps.K[known], K[steps.members[known]])
        if smo.kkt_gap(y, C, alpha, f)[0] <= 1e-6:
            break
    assert naive.kkt_gap(K, y, C, alpha) <= 1e-5


@pytest.mark.parametrize("cache_mb", [1.3, 40])
def test_steps_are_made_where_the_ceiling_leaves_room(cache_mb):
    X, y = overlapping(500)
    machine = SVC(RBF(2.0), C=1e6, cache_mb=cache_mb, max_iter=200_000).fit(X, y)
    assert ("second-order" in machine.strategy_) == (cache_mb == 40)
    alpha = np.zeros(500)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    assert (alpha <= 1e6).all()
