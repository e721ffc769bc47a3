"""Slack that costs its square (gram/ridged.py), against the primal, minimised, and against naive retraining."""

import warnings

import numpy as np
import pytest
from scipy import optimize
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification

from svmcore import SVC, Linear, NuSVC, Poly, Retraining, Sigmoid, VirtualSVC
from svmcore.estimator import one_vs_rest
from svmcore.gram.products import Operand
from svmcore.gram.ridged import Ridged
from svmcore.gram.sources import Cached, Dense, Streamed, Work
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import pipeline
from svmcore.lab.train import execute
from svmcore.solvers.decomposition import Decomposition
from tests.cases import all_cases

SQUARED = "squared_hinge"


def primal(X, y, costs):
    """(w, b) of min 1/2 |w|^2 + sum_i costs_i xi_i^2; labels 0 and 1."""

    def objective(w):
        slack = np.maximum(0, 1 - (2 * y - 1) * (X @ w[:-1] + w[-1]))
        own = -2 * costs * slack * (2 * y - 1)
        return w[:-1] @ w[:-1] / 2 + costs @ slack**2, np.append(w[:-1] + X.T @ own, own.sum())

    options = {"ftol": 1e-16, "gtol": 1e-9, "maxiter": 50_000, "maxfun": 100_000}
    return optimize.minimize(objective, np.zeros(X.shape[1] + 1), jac=True, method="L-BFGS-B", options=options).x


def problem(seed, n=200, d=6, scale=1.0):
    X, y = make_classification(n, d, n_informative=min(d, 4), n_redundant=0, random_state=seed, flip_y=0.2)
    return (scale * X).astype(np.float32), y


@all_cases("solver", ["auto", "smo", "decomposition", Decomposition(working_set=290), "general"], ids=str)
@all_cases(("seed", "C", "n", "scale"), [(0, 0.01, 200, 1), (1, 1.0, 40, 3), (2, 100.0, 300, 0.1)])
def test_the_machine_is_that_of_the_primal(solver, seed, C, n, scale):
    """Osuna, Freund and Girosi (1997), section 2.3, k = 2; some examples cost more, and some nothing."""
    X, y = problem(seed, n, scale=scale)
    weight = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 3.0], n)
    ours = SVC(Linear(), C=C, loss=SQUARED, class_weight={0: 1.0, 1: 2.0}, tol=1e-5, solver=solver).fit(X, y, weight)
    w = primal(X.astype(float), y, C * weight * (1 + y))
    wanted = X @ w[:-1] + w[-1]
    assert ours.converged_
    assert ours.n_bound_.sum() == 0
    assert np.abs(ours.decision_function(X) - wanted).max() < 2e-3 * max(1, np.abs(wanted).max())
    assert not np.isin(np.flatnonzero(weight == 0), ours.support_).any()


@all_cases("solver", ["auto", "smo", "decomposition", Decomposition(working_set=190), "general"], ids=str)
@all_cases(("seed", "n_classes"), [(0, 2), (1, 3)])
def test_the_gap_of_a_kernel_without_an_optimum_is_that_of_the_stated_problem(solver, seed, n_classes):
    """Recomputed from alpha without any bound; the bound that a solver is given in the place of none is not one."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(150, 3)).astype(np.float32), rng.permutation(np.arange(150) % n_classes)
    kernel, weight = Sigmoid(0.05, -0.5), rng.choice([0.5, 1.0, 2.0], 150)
    for C, ends in ((0.2, True), (100.0, False)):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            ours = SVC(kernel, C=C, loss=SQUARED, solver=solver).fit(X, y, weight)
        K = kernel.exact(X, X) + np.diag(0.5 / (C * weight))
        assert (np.linalg.eigvalsh(K - K.mean(0) - K.mean(1)[:, None] + K.mean()).min() > -1e-9) == ends
        gaps = []
        for coef, sign in zip(ours.dual_coef_, one_vs_rest(y, n_classes)):
            alpha = np.zeros(150)
            alpha[ours.support_] = np.abs(coef)
            f = K @ (alpha * sign) - sign
            gaps.append(f[(sign < 0) | (alpha > 0)].max() - f[(sign > 0) | (alpha > 0)].min())
        assert ours.converged_ == ends
        assert ours.gap_ == pytest.approx(max(gaps), rel=1e-4, abs=1e-4)
        if not ends:
            assert any("not positive definite: the gap is" in str(one.message) for one in heard)
            with pytest.raises(ValueError, match="to keep alpha finite"):
                Retraining(ours, X, y, weight)


@pytest.mark.parametrize("C", [1e-3, 1.0, 1e5])
def test_a_given_gram_matrix_and_several_machines(C):
    X, y = load_digits(return_X_y=True)
    X, y = (X[:500] / 64).astype(np.float32), y[:500]
    kernel = Poly(3, 1.0, 1.0)
    ours = SVC(kernel, C=C, loss=SQUARED, tol=1e-4).fit(X, y)
    given = SVC("precomputed", C=C, loss=SQUARED, tol=1e-4).fit(kernel.exact(X, X), y)
    assert np.allclose(ours.decision_function(X), given.decision_function(kernel.exact(X, X)), atol=2e-3)
    digit = SVC(kernel, C=C, loss=SQUARED, tol=1e-4).fit(X, y == 3)
    assert np.allclose(ours.decision_function(X)[:, 3], digit.decision_function(X), atol=2e-3)
    slack = np.maximum(0, 1 - np.where(y == 3, 1, -1) * digit.decision_function(X))[digit.support_]
    assert np.allclose(np.abs(digit.dual_coef_[0]), 2 * C * slack, rtol=0.02, atol=2e-3 * 2 * C)  # alpha = 2 C xi


@pytest.mark.parametrize("seed", range(4))
def test_a_source_is_the_other_with_a_ridge(seed):
    rng = np.random.default_rng(seed)
    X, ridge = rng.normal(size=(300, 5)).astype(np.float32), rng.exponential(10.0 ** (seed - 1), 300)
    kernel, work = Poly(2, 1.0, 1.0), Work()
    K = kernel.exact(X, X) + np.diag(ridge)
    operand = Operand(X)
    idx, cols = (rng.permutation(300)[:k] for k in (90, 170))
    coef, near = rng.normal(size=(2, 90)), {"rtol": 1e-4, "atol": 1e-3 * K.max()}
    sources = (Streamed(operand, kernel), Cached(operand, kernel, 10**6), Dense(kernel.exact(X, X)))
    held = Ridged(sources[0], ridge).in_memory(K.astype(np.float32))
    for source in (*(Ridged(source, ridge) for source in sources), held):
        assert np.allclose(source.diag, K.diagonal(), **near)
        assert np.allclose(source.rows(idx, work), K[idx], **near)
        assert np.allclose(source.square(idx, work), K[np.ix_(idx, idx)], **near)
        assert np.allclose(source.between(idx, cols, work), K[np.ix_(idx, cols)], **near)
        assert np.allclose(source.exact(idx, cols, work), K[np.ix_(idx, cols)], **near)
        grown = np.zeros((90, 90), np.float32)
        grown[:50, :50] = source.square(idx[:50], work)
        source.extend(idx, 50, grown, work)
        assert np.allclose(grown, K[np.ix_(idx, idx)], **near)
        assert np.allclose(source.exact_sums(cols, idx, coef[0], work), K[np.ix_(cols, idx)] @ coef[0], **near)
        for some in (None, cols):
            F = np.zeros((2, 300 if some is None else 170))
            source.add_to(F, idx, coef, source.columns(some), work)
            assert np.allclose(F, coef @ (K[idx] if some is None else K[np.ix_(idx, cols)]), **near)


@pytest.mark.parametrize("seed", range(3))
def test_taking_examples_out_is_training_anew(seed):
    X, y = problem(seed, 120)
    estimator = SVC(Poly(2, 0.2, 1.0), C=3.0, loss=SQUARED, tol=1e-4)
    retraining = Retraining(clone(estimator).fit(X, y), X, y)
    assert np.allclose(retraining.decision[:, 0], clone(estimator).fit(X, y).decision_function(X), atol=5e-3)
    gone = retraining.estimator.support_[:3]
    anew = clone(estimator).fit(np.delete(X, gone, 0), np.delete(y, gone))
    assert np.allclose(retraining.changed(gone).decision_function(X)[:, 0], anew.decision_function(X), atol=5e-3)
    other = y.copy()
    other[gone[0]] = 1 - other[gone[0]]
    changed = retraining.changed(labels={int(gone[0]): int(other[gone[0]])})
    assert np.allclose(
        changed.decision_function(X)[:, 0], clone(estimator).fit(X, other).decision_function(X), atol=5e-3
    )
    left, wanted = retraining.leave_one_out()[:, 0], []
    for i in range(0, 120, 8):
        fitted = clone(estimator).fit(np.delete(X, i, 0), np.delete(y, i))
        wanted.append(fitted.decision_function(X[i : i + 1])[0])
    assert np.allclose(left[::8], wanted, atol=5e-3)


def test_what_cannot_be_is_named():
    X, y = problem(0, 40)
    with pytest.raises(ValueError, match="loss = 'log'; allowed: hinge, squared_hinge"):
        SVC(loss="log").fit(X, y)
    with pytest.raises(ValueError, match="solver = 'smo-digestion'; allowed: another one"):
        SVC(loss=SQUARED, solver="smo-digestion").fit(X, y)
    with pytest.raises(ValueError, match="estimator: loss = 'squared_hinge'; allowed: 'hinge'"):
        VirtualSVC(SVC(loss=SQUARED), jitters="plus:1", image_shape=(2, 3)).fit(X, y)
    with pytest.raises(ValueError, match="class_weight = 'balanced'; allowed: None"):
        Retraining(SVC(loss=SQUARED, class_weight="balanced").fit(X, y), X, y)
    assert "loss" not in NuSVC().get_params()


def test_a_recipe_asks_for_it():
    recipe = Recipe(dataset="digits-8x8", n_train=300, n_test=300, options={"loss": SQUARED})
    assert Recipe().with_texts(recipe.to_query()) == recipe
    outcome = execute(recipe)
    assert outcome.result["n_bound"] == [0] * 10
    assert outcome.result["converged"]
    with pytest.raises(RecipeError, match="bounds"):
        recipe.replace(bounds=True)
    with pytest.raises(RecipeError, match="solver"):
        recipe.replace(solver="smo-digestion")
    assert "has no squared hinge loss" in pipeline.obstacle(recipe)
    assert not pipeline.obstacle(recipe.replace(loss="hinge"))
    assert "loss" not in recipe.replace(method="nu-sv").to_query()
