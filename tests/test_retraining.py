"""Retraining without some examples equals training anew, and bounds are on the side of leave-one-out that they say.

`python -m tests.test_retraining` does the same for as many problems as the issue asks for."""

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn import svm
from sklearn.datasets import load_digits

from svmcore import RBF, SVC, Linear, NuSVC, Poly, Retraining
from svmcore.explain import bounds
from tests import naive

SURE = 1e-9  # a decision nearer to 0 is anybody's


def problem(seed):
    """(kernel, X, y, C, C of each example): sizes, scales, C from 0.01 to 1e5 and kernels in turn."""
    rng = np.random.default_rng(seed)
    C, d, scale = 10.0 ** rng.uniform(-2, 5), int(rng.integers(1, 12)), 10.0 ** rng.integers(-2, 3)
    n = int(rng.integers(10, 60 if C < 100 else 30))
    X = rng.normal(size=(n, d))
    y = np.where(X @ rng.normal(size=d) + rng.normal(size=n) * rng.uniform(0, 1) > 0, 1, -1)
    y[:3], y[3:6] = 1, -1
    kernel = [Linear(), Poly(3, 1.0, 1.0), RBF(1 / d / scale**2), Poly(9, 1.0, 1.0), RBF(10 / scale**2)][seed % 5]
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if isinstance(kernel, Poly) else X * scale
    C = C / scale**2 if isinstance(kernel, Linear) else C
    return kernel, X.astype(np.float32), y, C, rng.choice([0.5, 1.0, 3.0], n) if seed % 4 == 1 else np.ones(n)


def left_out(K, y, C):
    """Least and largest f of each example by scikit-learn's machine without it, where b may be any of an interval;
    None where that does not converge."""
    ends = []
    for i in range(len(y)):
        keep = np.arange(len(y)) != i
        machine = svm.SVC(kernel="precomputed", C=1.0, tol=1e-6, max_iter=1_000_000)
        machine.fit(K[np.ix_(keep, keep)], y[keep], sample_weight=C[keep])
        if machine.fit_status_:
            return None
        coef, alpha = np.zeros(len(y)), np.zeros(len(y))
        coef[np.flatnonzero(keep)[machine.support_]] = machine.dual_coef_[0]
        alpha, f = np.abs(coef), K @ coef - y
        grows, falls = keep & (alpha < C * (1 - 1e-9)), keep & (alpha > C * 1e-9)
        up, low = (grows & (y > 0)) | (falls & (y < 0)), (falls & (y > 0)) | (grows & (y < 0))
        b = sorted((-f[up].min(), -f[low].max()))
        ends.append([K[i] @ coef + b[0], K[i] @ coef + b[1]])
    return np.array(ends).T


def check_left_out(seed) -> bool:
    """Whether the problem was one that scikit-learn could solve."""
    kernel, X, y, C, weight = problem(seed)
    low_high = left_out(kernel.exact(X, X), y, C * weight)
    if low_high is None:
        return False
    low, high = low_high
    retraining = Retraining(SVC(kernel, C=C).fit(X, y, weight), X, y, weight)
    f = retraining.leave_one_out()[:, 0]
    close = 2e-3 * (1 + np.abs(f))
    assert ((low - close <= f) & (f <= high + close)).all(), (seed, np.max([low - f, f - high]))
    sure = (low > SURE) | (high < -SURE)
    assert ((f > 0) == (low > 0))[sure & (np.abs(f) > close / 2)].all(), seed
    found, errors = bounds.bounds(retraining), int(((f > 0) != (y > 0)).sum())
    assert found["leave_one_out"].errors == errors
    assert 4 * found["radius_margin"].errors >= errors
    assert found["xi_alpha"].errors >= errors, seed
    assert found["vc"].errors >= int((retraining.decision[:, 0] * y <= 0)[weight > 0].sum())
    return True


def check_without(seed):
    kernel, X, y, C, weight = problem(seed)
    rng, estimator = np.random.default_rng(seed), SVC(kernel, C=C, tol=1e-4)
    X, y, weight = (np.concatenate([part] * 8) for part in (X, y, weight))
    X = X + (0.1 * X.std() * rng.normal(size=X.shape)).astype(np.float32)
    machine = estimator.fit(X, y, weight).machine_
    retraining = Retraining(estimator, X, y, weight)
    for size in (1, 10, 100):
        gone = rng.permutation(machine.support)[: min(size, len(machine.support) * 3 // 4)]
        if len(np.unique(np.delete(y, gone))) < 2:
            continue
        new = retraining.without(gone)
        kept = np.setdiff1d(np.arange(len(y)), gone)
        anew = SVC(kernel, C=C, tol=1e-5).fit(X[kept], y[kept], weight[kept]).machine_
        assert not np.isin(gone, new.support).any()
        K, K_anew = (kernel.exact(m.support_vectors, m.support_vectors) for m in (new, anew))
        ours = naive.dual(K, np.sign(new.coef[0]), new.alpha[0])
        theirs = naive.dual(K_anew, np.sign(anew.coef[0]), anew.alpha[0])
        assert ours == pytest.approx(theirs, rel=1e-6), (seed, size)
        if (new.alpha[0] > 0).any() and not new.bound.all():
            f, g = (m.decision_values(X)[:, 0] for m in (new, anew))
            alike = (f > 0) == (g > 0)
            assert alike[np.abs(g) > 1e-3].all(), (seed, size)


@pytest.mark.parametrize("seed", range(24))
def test_leave_one_out_is_that_of_training_anew(seed):
    check_left_out(seed)


@pytest.mark.parametrize("seed", range(12))
def test_without_some_is_training_anew(seed):
    check_without(seed)


def test_several_classes_and_a_source_that_keeps_nothing(monkeypatch):
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    estimator = SVC(Poly(3, 1.0, 1.0), C=1.0, tol=1e-5).fit(X, y)
    gone = estimator.support_[::9]
    kept = np.setdiff1d(np.arange(300), gone)
    anew = SVC(Poly(3, 1.0, 1.0), C=1.0, tol=1e-6).fit(X[kept], y[kept]).decision_function(X)
    for held in (10_000, 0):
        monkeypatch.setattr("svmcore.explain.retraining.HELD", held)
        monkeypatch.setattr("svmcore.explain.retraining.DOUBLE", 0)
        new = Retraining(estimator, X, y).without(gone)
        np.testing.assert_allclose(new.decision_values(X), anew, atol=1e-3)
    with pytest.raises(ValueError, match="bounds: 300 examples; allowed: up to"):
        bounds.bounds(Retraining(estimator, X, y))


def test_the_decided_class_of_several_machines_is_left_out_too():
    X, y = load_digits(return_X_y=True)
    X, y = X[:100] / 16, y[:100]
    estimator = SVC(RBF(0.1), C=5.0).fit(X, y)
    decision = Retraining(estimator, X, y).leave_one_out()
    for i in range(0, 100, 7):
        keep = np.arange(100) != i
        anew = SVC(RBF(0.1), C=5.0, tol=1e-5).fit(X[keep], y[keep])
        np.testing.assert_allclose(decision[i], anew.decision_function(X[i : i + 1])[0], atol=2e-3)
    found = bounds.bounds(Retraining(estimator, X, y))
    assert found["leave_one_out"].errors == (estimator.classes_[decision.argmax(1)] != y).sum()
    assert found["xi_alpha"].errors >= found["leave_one_out"].errors


def test_the_span_is_how_far_leaving_out_moves():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 30)).astype(np.float32)
    y = np.where(X[:, 0] > 0, 1, -1)
    estimator = SVC(RBF(0.01), C=2.0, tol=1e-7).fit(X, y)
    retraining = Retraining(estimator, X, y)
    moved = y * (retraining.decision - retraining.leave_one_out())[:, 0]
    support = np.flatnonzero(retraining.alpha[0])
    free = retraining.alpha[0, support] < 2.0
    told = retraining.alpha[0, support] * bounds._spans(retraining, support, free)
    same = []
    for p, i in enumerate(support):
        new = retraining.without([i])
        kinds = dict(zip(new.support, new.bound[0], strict=True))
        if kinds == {j: bool(b) for j, b in zip(support, ~free, strict=True) if j != i}:
            same.append(p)
    assert len(same) >= 3
    np.testing.assert_allclose(told[same], moved[support][same], rtol=1e-3)


def test_the_sphere_is_the_smallest():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(12, 3)).astype(np.float32)
    retraining = Retraining(SVC(Linear(), C=1.0).fit(X, X[:, 0] > 0), X, X[:, 0] > 0)
    ball = {"type": "ineq", "fun": lambda c: c[3] - ((X - c[:3]) ** 2).sum(1)}  # centre, then squared radius
    least = minimize(lambda c: c[3], [0, 0, 0, 99], constraints=ball, method="SLSQP")
    assert bounds.radius(retraining) == pytest.approx(least.fun, rel=5e-3)


def test_what_cannot_be_is_named():
    X, y = np.arange(12.0)[:, None], np.arange(12) > 5
    estimator = SVC(Linear()).fit(X, y)
    retraining = Retraining(estimator, X, y)
    with pytest.raises(ValueError, match=r"indices = \[3, 12\]; allowed: 0 to 11"):
        retraining.without([12, 3])
    with pytest.raises(ValueError, match="all of a class"):
        retraining.without(range(6))
    with pytest.raises(ValueError, match="3 examples; allowed: those that the machine was trained on"):
        Retraining(estimator, X[5:8], y[5:8])
    with pytest.raises(ValueError, match="a nu-SVC"):
        Retraining(NuSVC(nu=0.3).fit(X, y), X, y)


if __name__ == "__main__":
    solved = sum(check_left_out(seed) for seed in range(1000, 1206))
    print(f"leave-one-out equals training anew on {solved} problems that scikit-learn solves")
    for seed in range(1000, 1100):
        check_without(seed)
    print("without 1, 10 and 100 equals training anew on 100 problems")
