"""Expansions through kernels, the weights at their best, rho and its gradient, against naive sums and differences."""

from itertools import pairwise

import numpy as np
import pytest

from svmcore import RBF, Linear, LocalPoly, Poly, Sigmoid
from svmcore.gram.sources import Work
from svmcore.methods.reduced import joint
from svmcore.methods.reduced.expansion import Expansion, solve
from svmcore.methods.reduced.joint import Rho, optimise
from svmcore.methods.reduced.start import STARTS, first_vectors
from tests.naive import expansion_rho, gram, smallest_rho

KERNELS = [
    Linear(),
    Poly(2, 0.7, 0.0),
    Poly(5, 1.0, 1.0),
    Poly(3, 0.5, 1.0, normalised=False),
    RBF(0.3),
    Sigmoid(0.2, 0.1),
]
named = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def some(kernel=None, n=9, d=4, k=3, seed=0) -> Expansion:
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)).astype(np.float32)
    return Expansion(kernel or RBF(0.3), X, random.normal(size=(k, n)))


@named
def test_slopes_are_those_of_finite_differences(kernel):
    random = np.random.default_rng(1)
    u, v, step = random.normal(size=4), random.normal(size=4), 1e-6
    K, by_dot, by_norm = (
        None if part is None else float(part)
        for part in kernel.slopes(np.array(u @ v), np.array(u @ u), np.array(v @ v))
    )
    assert pytest.approx(gram(kernel, [u], [v])[0, 0]) == K
    for i in range(4):
        e = step * np.eye(4)[i]
        change = (gram(kernel, [u], [v + e]) - gram(kernel, [u], [v - e]))[0, 0] / (2 * step)
        assert by_dot * u[i] + 2 * (by_norm or 0) * v[i] == pytest.approx(change, abs=1e-6)


def test_a_constant_kernel_is_flat():
    K, by_dot, by_norm = Poly(0, 1.0, 1.0).slopes(np.array([2.0]), None, None)
    assert (K, by_dot, by_norm) == (1, 0, None)


def test_a_kernel_without_a_gradient_says_which_have_one():
    with pytest.raises(ValueError, match=r"kernel = local-poly.*allowed: linear, poly, rbf, sigmoid"):
        LocalPoly((8, 8)).slopes(1.0, 1.0, 1.0)


@named
def test_rho_is_the_squared_distance_through_kernels(kernel):
    target, random = some(kernel), np.random.default_rng(2)
    Z, gamma = random.normal(size=(5, 4)), random.normal(size=(3, 5))
    expected = [expansion_rho(kernel, target.vectors, c, Z, g) for c, g in zip(target.coef, gamma, strict=True)]
    if not isinstance(kernel, Sigmoid):  # whose squared distances may lie below 0
        np.testing.assert_allclose(target.rho2(Z, gamma), expected, rtol=1e-9)
    np.testing.assert_allclose(
        target.norms(),
        np.einsum("ci,ij,cj->c", target.coef, gram(kernel, target.vectors, target.vectors), target.coef),
        rtol=1e-9,
    )


@pytest.mark.parametrize("kernel", KERNELS[1:5], ids=str)
def test_weights_are_those_of_the_smallest_rho(kernel):
    target, Z = some(kernel), np.random.default_rng(3).normal(size=(4, 4))
    gamma = target.weights(Z)
    best = target.rho2(Z, gamma)
    np.testing.assert_allclose(best, smallest_rho(kernel, target.vectors, target.coef, Z), rtol=1e-6)
    for i in range(4):
        for step in (-1e-3, 1e-3):
            other = gamma.copy()
            other[:, i] += step
            assert (target.rho2(Z, other) >= best).all()


def test_twins_among_the_vectors_do_not_blow_the_weights_up():
    target = some()
    Z = np.repeat(target.vectors[:3], 2, axis=0)
    gamma = target.weights(Z)
    assert np.abs(gamma).max() < 100
    np.testing.assert_allclose(target.rho2(Z, gamma), target.rho2(Z[::2], target.weights(Z[::2])), rtol=1e-6)


def test_weights_of_an_indefinite_matrix_are_finite():
    assert np.isfinite(solve(np.array([[1.0, 3.0], [3.0, 1.0]]), np.ones((1, 2)))).all()


@named
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("single", [False, True])
def test_the_gradient_is_that_of_finite_differences(kernel, k, single, monkeypatch):
    monkeypatch.setattr(joint, "SINGLE_FROM", 0 if single else np.inf)
    target = some(kernel, k=k)
    m = 1 if isinstance(kernel, Linear) else 3
    Z = np.random.default_rng(4).normal(size=(m, 4))
    fun = Rho(target, Z, target.norms(), Work())
    value, gradient = fun(Z.ravel())
    step, tol = (1e-2, 6e-3) if single else (1e-5, 1e-6)
    for i in range(Z.size):
        e = step * np.eye(Z.size)[i]
        assert (fun(Z.ravel() + e)[0] - fun(Z.ravel() - e)[0]) / (2 * step) == pytest.approx(gradient[i], abs=tol)
    np.testing.assert_allclose(
        value, target.rho2(Z, target.weights(Z)).sum() / target.norms().sum(), rtol=1e-5, atol=1e-8
    ) if not isinstance(kernel, Sigmoid) else None


@pytest.mark.parametrize("kernel", KERNELS[1:5], ids=str)
def test_rho_never_rises_and_ends_where_a_plain_optimiser_does(kernel):
    target = some(kernel, n=10, d=2, k=2)
    norms = target.norms()
    for start in STARTS:
        seen, Z = [], first_vectors(target, 2, start)
        found = optimise(target, Z, norms, Work(), iterations=300, tol=1e-9, seen=seen.append)
        rho = [float(reduced.rho2.sum()) for reduced in seen]
        assert len(rho) > 3, start
        assert all(after <= before for before, after in pairwise(rho)), start
        assert found.rho2.sum() == rho[-1]
        assert rho[-1] == pytest.approx(target.rho2(found.Z, found.gamma).sum(), rel=1e-4, abs=1e-6)
    assert rho[-1] <= smallest_rho(kernel, target.vectors, target.coef, Z, moving=True) + 1e-3 * norms.sum()


def test_all_support_vectors_as_the_start_leave_nothing_to_do():
    target = some(RBF(0.3), n=12)
    for start in STARTS:
        found = optimise(target, first_vectors(target, 12, start), target.norms(), Work(), iterations=20, tol=1e-3)
        assert found.rho2.max() <= 1e-8 * target.norms().max(), start


def test_features_that_are_nowhere_used_stay_unused():
    target = some(Poly(3, 1.0, 1.0))
    X = np.insert(target.vectors, [1, 3], 0, axis=1)
    wide, how = Expansion(target.kernel, X, target.coef), {"iterations": 30, "tol": 0.0}
    narrow = optimise(target, target.vectors[:3], target.norms(), Work(), **how)
    found = optimise(wide, X[:3], wide.norms(), Work(), **how)
    assert not found.Z[:, [1, 4]].any()
    np.testing.assert_allclose(found.rho2, narrow.rho2, rtol=1e-6)


def test_an_expansion_says_what_is_wrong_with_its_shapes_and_numbers():
    X = np.ones((3, 2), np.float32)
    with pytest.raises(ValueError, match=r"allowed: \(n, d\) and \(k, n\)"):
        Expansion(RBF(1), X, np.ones((1, 2)))
    with pytest.raises(ValueError, match="vectors has numbers that are not finite"):
        Expansion(RBF(1), X * np.nan, np.ones((1, 3)))
