"""Second-order steps on the free set: the optimum where pairs crawl, and a feasible alpha at every stop."""

import re
import warnings
from contextlib import ExitStack

import numpy as np
import pytest

from svmcore import RBF, SVC, Linear, NuSVC, Poly
from svmcore.gram.products import Operand
from svmcore.gram.sources import Streamed
from svmcore.solvers import free, session, smo
from svmcore.solvers.decomposition import inner
from svmcore.solvers.decomposition.state import State
from svmcore.solvers.session import Session
from tests import naive
from tests.cases import all_cases

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


@all_cases("C", [1.0, 1e2, 1e4, 1e6])
@all_cases("seed", range(3))
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
    assert "second-order steps on free support vectors" in machine.strategy_
    alpha = np.zeros(400)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    assert naive.kkt_gap(naive.gram(kernel, X, X), y, np.full(400, C), alpha) <= 1e-3 * (1 + 1e-3)
    assert machine.n_iter_[0] < 400_000


def test_pairs_that_end_soon_are_left_alone():
    X, y = overlapping(400)
    assert "second-order" not in SVC(RBF(2.0), C=1.0).fit(X, y).strategy_


def test_a_stop_between_steps_keeps_what_there_is(monkeypatch):
    monkeypatch.setattr(inner, "PATIENCE", 1)
    monkeypatch.setattr(session, "REPORT_SECONDS", 0)  # else so small a fit ends before it is asked
    X, y = overlapping(400)
    begun = []

    def monitor(progress):
        return not begun

    step = free.Free._step
    monkeypatch.setattr(free.Free, "_step", lambda self, tol: begun.append(1) or step(self, tol))
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


@pytest.mark.parametrize("seed", range(4))
def test_examples_that_leave_or_join_change_the_inverse_by_ranks(monkeypatch, seed):
    monkeypatch.setattr(free, "LARGE", 10)
    rng = np.random.default_rng(seed)
    K, y, C, alpha, f = started(1e3, seed=seed)
    steps = free.Free(lambda idx: K[idx], y, C, alpha, f, lambda: True, ROOM)
    assert steps._compute()

    def expected():
        F = steps.F
        return np.linalg.inv(K[np.ix_(F, F)] + free.RIDGE * steps.scale * np.eye(len(F)))

    for _ in range(3):
        gone = rng.random(len(steps.places)) < 0.15
        out = steps.places[gone]
        steps._leave(gone)
        assert steps.changed
        assert steps.P is not None
        np.testing.assert_allclose(steps.P, expected(), rtol=1e-5, atol=1e-5 * np.abs(steps.P).max())
        steps._join(out[: len(out) // 2])
        np.testing.assert_allclose(steps.P, expected(), rtol=1e-5, atol=1e-5 * np.abs(steps.P).max())
        assert len(np.unique(steps.F)) == len(steps.F)
    steps._leave(np.arange(len(steps.places)) % 2 == 0)
    assert steps.P is None, "so many leave that it is computed anew"


def test_a_step_that_would_lose_is_taken_back():
    """An inverse that is none leads downhill, and is computed anew."""
    K, y, C, alpha, f = started(1e3)
    steps = free.Free(lambda idx: K[idx], y, C, alpha, f, lambda: True, ROOM)
    steps._compute()
    steps.P, steps.changed, before = -steps.P, True, (alpha.copy(), f.copy())
    assert steps._step(1e-3) is False
    assert steps.P is None
    np.testing.assert_array_equal((alpha, f), before)
    dual = naive.dual(K, y, alpha)
    steps.settle(1e-6)
    assert naive.dual(K, y, alpha) > dual


@pytest.mark.parametrize("C", [1e3, 1e5])
def test_conjugate_gradients_level_what_the_inverse_leaves(C):
    K, y, C, alpha, f = started(C)
    steps = free.Free(lambda idx: K[idx], y, C, alpha, f, lambda: True, ROOM)
    steps._compute()
    F = steps.F
    along = steps.P.sum(0)[None]
    across = along / along.sum()
    delta = steps._gradients(F, lambda v: steps.P @ v - along.T @ (across @ v), 1e-3)
    assert abs(delta.sum()) <= 1e-6 * np.abs(delta).max()
    once = -(steps.P @ f[F] - along.T @ (across @ f[F]))
    left, levelled = (np.ptp((f + K[:, F] @ d)[F]) for d in (once, delta))
    assert levelled <= max(free.LEVEL * 1e-3, 0.1 * left)


def test_kernel_values_stay_within_the_room(monkeypatch):
    """Rows of members that left F make room for others, and the steps end where they ended with all the room."""
    monkeypatch.setattr(free, "PANEL", 7)
    K, y, C, alpha, f = started(1e4)
    count, n = np.count_nonzero((alpha > 0) & (alpha < C)), len(y)
    rows = count + 12
    room = 8 * rows * n + 8 * free.SQUARES * rows**2
    assert free.worth(alpha, C, 8 * (free.FEW - 1) * n) == np.inf
    assert np.isfinite(free.worth(alpha, C, 8 * count * n))
    assert free.cramped(alpha, C, 8 * count * n)
    assert not free.cramped(alpha, C, room)
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
def test_steps_are_made_in_what_room_the_ceiling_leaves(cache_mb):
    """With 1.3 MB there used to be none: the free set did not fit as a whole."""
    X, y = overlapping(500)
    machine = SVC(RBF(2.0), C=1e6, cache_mb=cache_mb, max_iter=200_000).fit(X, y)
    assert "second-order" in machine.strategy_
    assert machine.converged_ or ("a larger cache_mb" in machine.ending_) == (cache_mb == 1.3)
    alpha = np.zeros(500)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    assert (alpha <= 1e6).all()


@pytest.mark.parametrize("kernel", [RBF(2.0), Linear(), Poly(3, 1.0, 1.0)], ids=repr)
@pytest.mark.parametrize("C", [1.0, 1e3, 1e6])
def test_support_vectors_outside_the_set_count_too(kernel, C):
    """f came out wrong by thousands where a working set could not hold all support vectors."""
    X, y = overlapping(200)
    rng, K, box = np.random.default_rng(0), kernel.exact(X, X), np.full((1, 200), C)
    gram, session = Streamed(Operand(X), kernel), Session()
    state = State(gram, session, y[None], box, 1e-3, ROOM, 0, ExitStack())
    for size in (20, 120, 190):
        state.alpha[0] = rng.uniform(0, C / 2, 200) * (rng.random(200) < 0.9)
        chosen = rng.choice(200, size, replace=False)
        alpha, f = state.alpha[0, chosen], np.zeros(size)
        inner.settle_free(state, 0, chosen, y[chosen], box[0, chosen], alpha, f, 1e-3, lambda: True, ROOM)
        beta = state.alpha[0] * y
        beta[chosen] = alpha * y[chosen]
        np.testing.assert_allclose(f, (K @ beta - y)[chosen], atol=1e-9 * C * np.abs(K).max())


@pytest.mark.parametrize(("kernel", "duplicates", "solved"), [
    (Linear(), False, False), (Poly(3, 1.0, 1.0), False, False), (Linear(), True, True), (RBF(0.2), False, True),
], ids=repr)  # fmt: skip
def test_what_no_steps_can_solve_ends_soon_and_says_why(kernel, duplicates, solved):
    """C = 1e12 went on for minutes and tens of thousands of factors."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 5)), rng.integers(0, 2, 150)
    if duplicates:
        X, y = np.vstack([X, X]), np.concatenate([y, 1 - y])
    with warnings.catch_warnings(action="ignore"):
        machine = SVC(kernel, C=1e12).fit(X, y)
    assert machine.converged_ == solved
    assert solved or re.search(
        "tol = 0.001: (neither pairs of alphas nor|rounding errors).*; use a smaller C", machine.ending_
    )
    assert machine.n_iter_[0] < 2_000_000


def test_steps_count_against_the_limit():
    X, y = overlapping(400)
    with pytest.warns(match="after max_iter = 5,000 pairs"):
        machine = SVC(Linear(), C=1e6, max_iter=5000).fit(X, y)
    steps = int(re.search(r"(\d+) second-order", machine.strategy_)[1])
    assert 0 < steps <= free.STEPS
    assert machine.n_iter_[0] >= 5000 > machine.n_iter_[0] - steps * 1500


@pytest.mark.parametrize("seed", range(3))
def test_steps_within_classes_keep_both_sums_and_reach_the_optimum(seed):
    X, y = overlapping(120, seed)
    K, C = RBF(1.0).exact(X, X), np.full(120, 100.0)
    alpha = np.where(np.random.default_rng(seed).random(120) < 0.5, 30.0, 10.0)
    f, sums = K @ (alpha * y) - y, [alpha[y > 0].sum(), alpha[y < 0].sum()]
    duals = [-0.5 * (alpha * y) @ K @ (alpha * y)]
    for _ in range(20):
        free.Free(lambda idx: K[idx], y, C, alpha, f, lambda: True, ROOM, apart=True).settle(1e-6)
        duals.append(-0.5 * (alpha * y) @ K @ (alpha * y))
        if smo.kkt_gap(y, C, alpha, f, apart=True)[0] <= 1e-6:
            break
    assert (np.diff(duals) >= -1e-9 * np.abs(duals[-1])).all()
    assert [alpha[y > 0].sum(), alpha[y < 0].sum()] == pytest.approx(sums, rel=1e-9)
    assert ((alpha >= 0) & (alpha <= C)).all()
    exact = K @ (alpha * y) - y
    assert smo.kkt_gap(y, C, alpha, exact, apart=True)[0] <= 1e-5


def test_nu_svc_takes_steps_where_its_pairs_crawl():
    X, y = overlapping(600)
    machine = NuSVC(RBF(0.5), nu=0.3).fit(X, y)
    assert machine.converged_
    assert "second-order steps" in machine.strategy_
    alpha = np.zeros(600)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    K = RBF(0.5).exact(X, X)
    assert naive.kkt_gap(K, y, np.full(600, machine.C_[0]), alpha) <= 1e-3 * (1 + 1e-3)
    for side in (1, -1):
        assert alpha[y == side].sum() == pytest.approx(0.3 * 600 * machine.C_[0] / 2, rel=1e-9)
