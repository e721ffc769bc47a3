"""Pairs and rounds: the dual objective of a general optimiser, feasible multipliers, exact optimality at the end."""

import numpy as np
import pytest

from svmcore import RBF, Linear, Poly
from svmcore.gram.products import Operand
from svmcore.gram.sources import PLAIN, Cached, Dense, Streamed
from svmcore.solvers import decomposition, smo
from svmcore.solvers.session import Session
from tests import naive


def problem(n, d=4, seed=0, noise=0.5):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    y = np.where(X[:, 0] + noise * rng.normal(size=n) > 0, 1.0, -1.0)
    y[:2] = 1, -1
    return X, y


@pytest.mark.parametrize("kernel", [Linear(), Poly(3), RBF(0.5)], ids=repr)
@pytest.mark.parametrize("weighted", [False, True])
def test_smo_reaches_the_objective_of_a_general_optimiser(kernel, weighted):
    X, y = problem(30)
    K = naive.gram(kernel, X, X)
    C = np.random.default_rng(1).uniform(0.1, 2, 30) if weighted else np.full(30, 1.0)
    p = smo.pairs(K.astype(np.float32), PLAIN, y, C, np.zeros(30), -y)
    _, gap = smo.solve(p, 1e-5, lambda iterations: True)
    best = naive.dual(K, y, naive.qp(K, y, C))
    assert gap <= 1e-5
    assert naive.dual(K, y, p.alpha) == pytest.approx(best, rel=1e-5)
    assert smo.dual_objective(y, p.alpha, p.f) == pytest.approx(best, rel=1e-5)
    assert naive.kkt_gap(K, y, C, p.alpha) == pytest.approx(smo.kkt_gap(y, C, p.alpha, p.f)[0], abs=1e-4)
    feasible(p.alpha, y, C)


def test_rows_in_segments_are_rows():
    """Blocks by relative shift: K[(a, u), (b, v)] = blocks[b - a][u, v], here made from a circulant of 3 shifts."""
    rng = np.random.default_rng(5)
    n0, J = 7, 3
    base = rng.normal(size=(J, n0, 40))
    spectrum = np.fft.fft(base, axis=0)
    blocks = np.real(np.fft.ifft(np.einsum("sud,svd->suv", spectrum.conj(), spectrum), axis=0)).astype(np.float32)
    which = (np.arange(J)[None, :] - np.arange(J)[:, None]) % J
    K = np.block([[blocks[which[a, b]] for b in range(J)] for a in range(J)])
    np.testing.assert_allclose(K, K.T, atol=1e-4)
    y, C = np.where(np.arange(J * n0) % 2, 1.0, -1.0), np.full(J * n0, 5.0)
    alphas = []
    for arguments in ((K, PLAIN), (blocks, which)):
        p = smo.pairs(*arguments, y, C, np.zeros(J * n0), -y)
        smo.solve(p, 1e-6, lambda iterations: True)
        alphas.append(p.alpha)
    assert alphas[0].any()
    np.testing.assert_allclose(alphas[1], alphas[0], atol=1e-5)


def feasible(alpha, y, C):
    assert (alpha >= 0).all()
    assert (alpha <= C).all()
    assert abs(alpha @ y) <= 1e-9 * max(alpha.sum(), 1)


def test_smo_stops_feasible_when_asked():
    X, y = problem(400, noise=2.0)
    C = np.full(400, 100.0)
    p = smo.pairs(Linear().block(X, X), PLAIN, y, C, np.zeros(400), -y)
    asked = []
    done, gap = smo.solve(p, 1e-9, lambda iterations: asked.append(iterations) or len(asked) < 3, burst=7)
    assert (done, asked) == (21, [7, 7, 7])
    assert gap > 1e-9
    assert p.alpha.any()
    feasible(p.alpha, y, C)
    np.testing.assert_allclose(p.f, Linear().exact(X, X) @ (p.alpha * y) - y, atol=1e-3)


@pytest.fixture
def small_sets(monkeypatch):
    monkeypatch.setattr(decomposition.sample, "LARGEST", 120)
    monkeypatch.setattr(decomposition.sample, "SMALLEST", 120)
    monkeypatch.setattr(decomposition.working_set, "GROWTH", 60)


@pytest.mark.parametrize("square_bytes", [2**30, 4 * 100**2], ids=["all SVs fit", "only part of the SVs fits"])
@pytest.mark.parametrize("rows", [None, 0, 50, 600])
def test_rounds_reach_the_optimum_of_the_whole_problem(small_sets, square_bytes, rows):
    X, _ = problem(600)
    label = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.6, 0.6])
    Y = np.where(label == np.arange(3)[:, None], 1.0, -1.0)
    C, kernel = np.full_like(Y, 2.0), RBF(0.3)
    gram = Streamed(Operand(X), kernel) if rows is None else Cached(Operand(X), kernel, rows * 4 * 600)
    solution = decomposition.solve(gram, Y, C, Session(), tol=1e-4, square_bytes=square_bytes)
    K = kernel.exact(X, X)
    assert solution.converged
    for m in range(3):
        feasible(solution.alpha[m], Y[m], C[m])
        assert naive.kkt_gap(K, Y[m], C[m], solution.alpha[m]) <= 1e-4 * (1 + 1e-6)
        p = smo.pairs(K.astype(np.float32), PLAIN, Y[m], C[m], np.zeros(600), -Y[m])
        smo.solve(p, 1e-4, lambda iterations: True)
        best = naive.dual(K, Y[m], p.alpha)
        assert naive.dual(K, Y[m], solution.alpha[m]) == pytest.approx(best, rel=1e-5)


def test_same_seed_same_machine_and_reports_tell_the_truth(small_sets):
    X, y = problem(500, noise=1.0)
    seen = []
    runs = []
    for _ in range(2):
        gram = Cached(Operand(X), RBF(0.5), 4 * 500 * 100)
        session = Session(lambda p: not seen.append(p))
        runs.append(decomposition.solve(gram, y[None], np.ones((1, 500)), session, seed=3))
    np.testing.assert_array_equal(runs[0].alpha, runs[1].alpha)
    last, snapshot = seen[-1], seen[-1].snapshot()
    alpha = runs[1].alpha
    assert last.n_sv == (alpha > 0).sum()
    assert last.n_bound == (alpha >= 1).sum()
    assert last.gap <= 1e-3
    assert last.kernel_evals == session.evaluations
    np.testing.assert_array_equal(snapshot.support, np.flatnonzero(alpha[0]))
    np.testing.assert_allclose(snapshot.coef[0], (alpha[0] * y)[snapshot.support])
    np.testing.assert_array_equal(snapshot.bound[0], (alpha[0] >= 1)[snapshot.support])
    assert last.dual == pytest.approx(naive.dual(RBF(0.5).exact(X, X), y, alpha[0]), rel=1e-5)


@pytest.mark.parametrize("after", [0, 1, 2, 5])
def test_stopping_leaves_a_feasible_machine(small_sets, after):
    X, y = problem(500, noise=1.0)
    C = np.full((1, 500), 50.0)
    calls = []
    gram = Cached(Operand(X), Poly(3), 4 * 500 * 500)
    solution = decomposition.solve(
        gram, y[None], C, Session(lambda p: calls.append(p) or len(calls) <= after), tol=1e-8
    )
    assert not solution.converged
    assert solution.alpha.any() or after < 5
    assert after > 0 or not solution.alpha.any()
    feasible(solution.alpha[0], y, C[0])


def test_examples_with_no_room_stay_out():
    X, y = problem(60)
    C = np.where(np.arange(60) % 3 == 0, 0.0, 1.0)[None]
    solution = decomposition.solve(Dense(RBF(1.0).block(X, X)), y[None], C, Session())
    assert (solution.alpha[0][C[0] == 0] == 0).all()
    assert solution.alpha.any()
