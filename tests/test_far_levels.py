"""Gaussian kernels where features are of unlike scale: values, decisions and fits keep their digits."""

import numpy as np
import pytest

from svmcore import RBF, SVC, Jittered, JitterSet, Linear, NuSVC, ReducedSet, TangentWhitened, load, save
from svmcore.gram.products import Operand
from svmcore.gram.sources import Cached, Streamed, Work
from svmcore.memory import MB
from svmcore.source import gram_source
from tests.bench import far_levels
from tests.bench.far_levels import judge, naive_gram
from tests.cases import all_cases

GAMMA = 0.2
PRECISE = {"rtol": 5e-5, "atol": 1e-6}  # of single precision values
LAYOUTS = ("dense", "sparse", "whole")
GENERAL = Jittered(RBF(GAMMA), jitters="none", image_shape=(1, 6))  # no function of inner products, and as good as RBF


def table(layout: str, n=700, seed=0):
    """(n, 6) float32 in some order of features: levels of +-1000, years, and features of the size of 1; where it is to
    be whole numbers from 0 to 255 of one step a row, levels that are 250 apart."""
    rng = np.random.default_rng(seed)
    if layout == "whole":
        return (np.concatenate([rng.choice([3, 253], (n, 2)), rng.integers(0, 3, (n, 4))], axis=1) / 3).astype(
            np.float32
        )
    small = rng.normal(size=(n, 3)) * (rng.random((n, 3)) < (0.3 if layout == "sparse" else 1))
    levels, years = rng.choice([-1000, 1000], (n, 2)), rng.integers(1990, 2025, (n, 1))
    return np.concatenate([levels, small, years], axis=1).astype(np.float32)[:, [0, 2, 5, 3, 1, 4]]


def truth(A, B):
    return naive_gram(GAMMA, A.astype(np.float64), B.astype(np.float64))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("kernel", [RBF(GAMMA), GENERAL, TangentWhitened(RBF(GAMMA), np.eye(6))], ids=lambda k: k.name)
def test_values_sums_and_updates_are_those_of_differences(layout, kernel):
    X, A, rng = table(layout), table(layout, 40, 1), np.random.default_rng(2)
    K, operand, idx = truth(X, X), Operand(X, layout), rng.integers(0, 700, 30)
    np.testing.assert_allclose(operand.block(A, kernel), truth(A, X), **PRECISE)
    np.testing.assert_allclose(operand.take(idx, kernel, slice(100, 650)), K[idx, 100:650], **PRECISE)
    part, cols = operand.subset(np.arange(1, 700, 2)).subset(np.arange(300)), np.arange(1, 600, 2)
    np.testing.assert_allclose(part.take(slice(10, 20), kernel), K[np.ix_(cols[10:20], cols)], **PRECISE)
    coef = rng.normal(size=(3, 30)).astype(np.float32)
    for add in (
        lambda F: part.add_own_to(F, operand, idx, kernel, coef),
        lambda F: part.add_to(F, X[idx], operand.sq[idx], kernel, coef),
    ):
        F = np.zeros((3, 300))
        add(F)
        np.testing.assert_allclose(F, coef @ K[np.ix_(idx, cols)], rtol=0, atol=2e-4)
    weights = rng.normal(size=(2, 700))
    np.testing.assert_allclose(operand.sums(A, kernel, weights), truth(A, X) @ weights.T, rtol=0, atol=2e-3)


@pytest.mark.parametrize("source", ["streamed", "cached"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_source_has_them(source, layout):
    X, work, rng = table(layout, 300), Work(), np.random.default_rng(0)
    operand = Operand(X, layout)
    gram = Streamed(operand, RBF(GAMMA)) if source == "streamed" else Cached(operand, RBF(GAMMA), 4 * 300 * 50)
    K, idx = truth(X, X), rng.choice(300, 120, replace=False)
    square = K[np.ix_(idx, idx)]
    np.testing.assert_allclose(gram.rows(idx, work), K[idx], **PRECISE)
    np.testing.assert_allclose(gram.square(idx, work), square, **PRECISE)
    np.testing.assert_allclose(gram.between(idx[:20], idx, work), square[:20], **PRECISE)
    grown = square.astype(np.float32)
    grown[50:] = grown[:, 50:] = np.nan
    gram.extend(idx, 50, grown, work)
    np.testing.assert_allclose(grown, square, **PRECISE)
    F, coef = np.zeros((1, 300)), rng.normal(size=(1, 120))
    gram.add_to(F, idx, coef, gram.columns(None), work)
    np.testing.assert_allclose(F, coef @ K[idx], rtol=0, atol=1e-3)
    if gram.double:
        np.testing.assert_allclose(gram.exact(idx, idx, work), square, rtol=1e-12)
        np.testing.assert_allclose(gram.exact_sums(idx, np.arange(300), F[0], work), K[idx] @ F[0], rtol=1e-9)


@pytest.mark.parametrize("scale", [1e2, 1e4, 1e6])
@pytest.mark.parametrize("offset", [0, 1e7])
def test_double_precision_is_that_of_differences_however_far(scale, offset):
    X = table("dense", 200)
    X[:, [0, 4]] *= np.float32(scale / 1000)
    X[:, 2] += np.float32(offset)
    np.testing.assert_allclose(RBF(GAMMA).exact(X[:50], X), truth(X[:50], X), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(RBF(GAMMA).block(X[:50], X), truth(X[:50], X), **PRECISE)


def test_what_jitters_is_the_nearest_form():
    rng = np.random.default_rng(0)
    images = np.zeros((60, 5, 5), np.float32)
    images[:, 1:4, 1:4] = rng.choice([0, 500], (60, 3, 3)) + rng.normal(size=(60, 3, 3))
    X = images.reshape(60, 25)
    for jitters in ("box:1@zero", "box:1@edge"):
        K = Jittered(RBF(GAMMA), jitters=jitters, image_shape=(5, 5)).block(X, X)
        nearest = np.max([truth(form, X) for form in JitterSet.parse(jitters, (5, 5)).apply(X)], axis=0)
        expected = nearest if jitters.endswith("zero") else (nearest + nearest.T) / 2
        np.testing.assert_allclose(K, expected, **PRECISE)
        assert np.count_nonzero(K > 1e-6) > 60


def test_few_features_are_far():
    """A feature of money beside a hundred that are 0 or 1: the product with the others stays one of zeros."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.random((500, 100)) < 0.05, rng.lognormal(10, 1, (500, 1))], axis=1)
    operand = Operand(X)
    far, side = operand.apart(RBF(1.0))
    assert operand.layout == "sparse"
    assert far.tolist() == [100]
    np.testing.assert_array_equal(side.sq, X[:, :100].sum(axis=1))
    for kernel in (RBF(1e-12), Linear()):
        assert len(operand.apart(kernel)[0]) == 0


def test_what_far_features_take_is_counted():
    X = table("dense", 3000)
    operand = Operand(X)
    before = operand.nbytes
    assert Streamed(operand, Linear()).nbytes == X.nbytes + before
    far, side = operand.apart(RBF(GAMMA))
    assert operand.nbytes - before == side.nbytes == 4 * 3000 * (len(far) + 1)
    gram = SVC(RBF(GAMMA), cache_mb=200).shared_source(X, 1).gram
    assert gram.nbytes >= X.nbytes + operand.nbytes
    few = operand.subset(np.arange(100))
    assert few.apart(RBF(GAMMA))[1].nbytes + few.sq.nbytes == few.nbytes == 4 * 100 * (len(far) + 2)


@all_cases("make", far_levels.PROBLEMS, ids=lambda make: make.__name__)
@all_cases("seed", [0, 1, 2])
def test_fits_are_true_and_as_good_as_scikit_learns(make, seed):
    problem = make(np.random.default_rng(seed))
    n = min(len(problem.X), 600)
    rows = problem._replace(X=problem.X[:n], y=problem.y[:n])
    assert judge(make.__name__, rows).wrong == []


@pytest.mark.parametrize("make", far_levels.PROBLEMS, ids=lambda make: make.__name__)
def test_fits_with_digestion_are_true_too(make):
    problem = make(np.random.default_rng(3))
    rows = problem._replace(X=problem.X[:300], y=problem.y[:300])
    rows = rows._replace(parameters=rows.parameters | {"solver": "smo-digestion", "C": min(rows.parameters["C"], 10)})
    assert judge(make.__name__, rows).wrong == []


@pytest.fixture(scope="module", name="labelled")
def _labelled():
    X = table("dense", 1200)
    return X, (np.sin(2 * X[:, 1]) + X[:, 3] * X[:, 5] > 0).astype(int)


@pytest.mark.parametrize("make", [SVC, NuSVC])
def test_machines_decide_by_them_saved_and_loaded_too(labelled, make, tmp_path, monkeypatch):
    X, y = labelled
    fitted = make(RBF(GAMMA), cache_mb=50).fit(X[:600], y[:600])
    assert fitted.converged_
    save(fitted, tmp_path / "machine.npz")
    expected = truth(X, fitted.support_vectors_) @ fitted.dual_coef_[0] + fitted.intercept_
    for most in (1 << 20, 0):  # numbers of support vectors that are still decided in double precision
        monkeypatch.setattr("svmcore.model.EXACT_UP_TO", most)
        again = load(tmp_path / "machine.npz")
        np.testing.assert_allclose(
            fitted.decision_function(X), expected, rtol=0, atol=1e-4 * fitted.machine_.alpha.sum() ** 0.5
        )
        np.testing.assert_array_equal(again.decision_values(X)[:, 0], fitted.decision_function(X))


def test_reduced_sets_measure_distances_by_them(labelled):
    X, y = labelled
    machine = SVC(RBF(GAMMA)).fit(X[:600], y[:600]).machine_
    found = ReducedSet(n_vectors=len(machine.support)).fit(machine).machine_
    np.testing.assert_allclose(found.decision_values(X), machine.decision_values(X), rtol=0, atol=0.02)


def test_the_budget_counts_them():
    X = table("dense", 1000)
    operand = Operand(X)
    plain, far = (gram_source(X, kernel, "auto", 100 * MB, 1).square_bytes for kernel in (Linear(), RBF(GAMMA)))
    assert plain - far == operand.apart(RBF(GAMMA))[1].nbytes
    assert far < 100 * MB
