"""Retraining without some examples equals training anew, and bounds are on the side of leave-one-out that they say.

`python -m tests.test_retraining` does the same for as many problems as the issue asks for."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.sparse import csr_matrix
from sklearn import svm
from sklearn.datasets import load_digits
from sklearn.model_selection import LeaveOneOut, cross_val_predict

from svmcore import RBF, SVC, FileRows, Linear, NuSVC, Poly, Retraining, load, save
from svmcore.estimator import one_vs_rest
from svmcore.explain import bounds
from tests import naive
from tests.cases import all_cases

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


def larger(seed):
    """(estimator, X, y, weight) of 10 to 400 examples: two to five classes, kernels in turn, C from 0.1 to 1e4, class
    weights, unlike scales, duplicates of which some have other labels."""
    rng = np.random.default_rng(seed)
    n, d, k, scale = (
        int(rng.integers(10, 401)),
        int(rng.integers(1, 12)),
        int(rng.integers(2, 6)),
        10.0 ** (seed % 5 - 2),
    )
    X, y = rng.normal(size=(n, d)), rng.permutation(np.arange(n) % k)
    X += rng.uniform(0.3, 3) * rng.normal(size=(k, d))[y]
    X[: n // 5] = X[n // 5 : 2 * (n // 5)]
    kernel = [Linear(), Poly(3, 1.0, 1.0), RBF(1 / d / scale**2), Poly(9, 1.0, 1.0), RBF(10 / scale**2)][seed % 5]
    X = X / np.linalg.norm(X, axis=1, keepdims=True) if isinstance(kernel, Poly) else X * scale
    C = 10.0 ** rng.uniform(-1, 4) / (scale**2 if isinstance(kernel, Linear) else 1)
    names = np.array(["ant", "bee", "cow", "dog", "elk"])
    weights = [None, "balanced", dict(zip(names[:k].tolist(), rng.uniform(0.5, 2, k)))][seed // 5 % 3]
    weight = rng.choice([0.5, 1.0, 3.0], n) if seed % 4 == 1 else np.ones(n)
    return SVC(kernel, C=C, tol=1e-4, class_weight=weights), X.astype(np.float32), names[y], weight


def dual(machine, targets) -> np.ndarray:
    """(k,) of its machines, where `targets` (k, n) are those of the examples that its `support` counts in."""
    K = machine.kernel.exact(machine.support_vectors, machine.support_vectors)
    return np.array([naive.dual(K, y[machine.support], alpha) for y, alpha in zip(targets, machine.alpha)])


def check_changed(seed):
    """Without 1, 10, 100 support vectors, and with another label for as many: the machines of training anew."""
    rng, (estimator, X, y, weight) = np.random.default_rng(seed), larger(seed)
    finest = SVC(estimator.kernel, C=estimator.C, tol=1e-5, class_weight=estimator.class_weight)
    machine = estimator.fit(X, y, weight).machine_
    retraining = Retraining(estimator, X, y, weight)
    hows = ("out", "label", "both")
    for size, how in zip((1, 10, 100), hows[seed % 3 :] + hows[: seed % 3]):
        some = rng.permutation(machine.support)[: min(size, len(machine.support) // 2)]
        gone = some if how == "out" else some[::2] if how == "both" else some[:0]
        labels = {int(i): rng.choice(machine.classes[machine.classes != y[i]]) for i in np.setdiff1d(some, gone)}
        kept, new_y = np.setdiff1d(np.arange(len(y)), gone), y.copy()
        new_y[list(labels)] = list(labels.values())
        if len(np.unique(new_y[kept])) < len(machine.classes):
            continue
        new = retraining.changed(gone, labels)
        anew = finest.fit(X[kept], new_y[kept], weight[kept]).machine_
        assert not np.isin(gone, new.support).any()
        targets = one_vs_rest(np.searchsorted(machine.classes, new_y), len(machine.classes))
        assert np.abs(new.coef.sum(1)).max() <= 1e-9 * (1 + np.abs(new.coef).sum(1).max())
        np.testing.assert_allclose(
            dual(new, targets), dual(anew, targets[:, kept]), rtol=1e-6, err_msg=f"{seed} {size}"
        )
        free = ((new.alpha > 0) & ~new.bound).any(1)  # else b may be any of an interval
        f, g = new.decision_values(X)[:, free], anew.decision_values(X)[:, free]
        assert ((f > 0) == (g > 0))[np.abs(g) > 1e-3].all(), (seed, size, how)


@all_cases("seed", range(24))
def test_leave_one_out_is_that_of_training_anew(seed):
    check_left_out(seed)


@all_cases("seed", range(12))
def test_changed_is_training_anew(seed):
    check_changed(seed)


@pytest.mark.ci
@pytest.mark.slow
def test_changed_is_training_anew_fifteen_times():
    for seed in range(1000, 1015):
        check_changed(seed)


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
        new = Retraining(estimator, X, y).changed(gone)
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


@all_cases("how", ["array", "csr", "FileRows"])
def test_retraining_of_a_machine_that_centred_its_input(how, tmp_path):
    """Times, of which float32 keeps five: against scikit-learn on the numbers less 1.7e9, left out one by one."""
    rng = np.random.default_rng(0)
    times = 1.7e9 + rng.uniform(0, 600, 60)
    X, y = np.column_stack([times, 100 * rng.normal(size=60)]), (times - 1.7e9) % 200 < 100
    np.save(tmp_path / "X.npy", X)
    given = {"csr": csr_matrix(X), "FileRows": FileRows.open(tmp_path / "X.npy")}.get(how, X)
    near, theirs = X - [1.7e9, 0], svm.SVC(gamma=1 / 60**2, C=5.0, tol=1e-6)
    wrong = int((cross_val_predict(theirs, near, y, cv=LeaveOneOut()) != y).sum())
    estimator = SVC(RBF(1 / 60**2), C=5.0, tol=1e-6).fit(given, y)
    retraining = Retraining(estimator, given, y)
    assert bounds.bounds(retraining)["leave_one_out"].errors == wrong
    gone = estimator.support_[:10]
    new, anew = retraining.changed(gone), theirs.fit(np.delete(near, gone, 0), np.delete(y, gone))
    save(new, tmp_path / "machine.npz")
    for decided in (new.decision_function(given), load(tmp_path / "machine.npz").decision_function(X)):
        np.testing.assert_allclose(decided[:, 0], anew.decision_function(near), atol=2e-3)
    changed = retraining.changed(labels={int(gone[0]): not y[gone[0]]})
    flipped = np.where(np.arange(60) == gone[0], ~y, y)
    wanted = theirs.fit(near, flipped).decision_function(near)
    np.testing.assert_allclose(changed.decision_function(X)[:, 0], wanted, atol=2e-3)


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
        new = retraining.changed([i])
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
    with pytest.raises(ValueError, match=r"take_out = \[3, 12\]; allowed: 0 to 11"):
        retraining.changed([12, 3])
    with pytest.raises(ValueError, match=r"labels = \[-1, -1\]; allowed: 0 to 11"):
        retraining.changed(labels={-1: True})
    with pytest.raises(ValueError, match="no example of class False would be left"):
        retraining.changed(range(6))
    with pytest.raises(ValueError, match="no example of class True would be left"):
        retraining.changed([11], dict.fromkeys(range(6, 11), False))
    with pytest.raises(ValueError, match="labels: 'x'; allowed: False, True"):
        retraining.changed(labels={3: "x"})
    with pytest.raises(ValueError, match="example 3 is also in take_out"):
        retraining.changed([1, 3], {3: True})
    with pytest.raises(ValueError, match="3 examples; allowed: the training examples of the machine"):
        Retraining(estimator, X[5:8], y[5:8])
    with pytest.raises(ValueError, match="a nu-SVC"):
        Retraining(NuSVC(nu=0.3).fit(X, y), X, y)


if __name__ == "__main__":
    solved = sum(check_left_out(seed) for seed in range(1000, 1206))
    print(f"leave-one-out equals training anew on {solved} problems that scikit-learn solves")
    for seed in range(2000, 2100):
        check_changed(seed)
    print("without 1, 10 and 100, and with other labels of as many, equals training anew on 100 problems")
