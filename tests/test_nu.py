"""nu-SVC: the machine of scikit-learn's NuSVC, and of the C-SVC whose C it finds."""

import numpy as np
import pytest
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

from svmcore import RBF, SVC, Decomposition, NuSVC, VirtualSVC, load, save
from svmcore.solvers import smo
from tests import naive


def clouds(n, apart=2.0, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 1, -1)
    return (rng.normal(size=(n, 5)) + apart / 2 * y[:, None] * np.eye(5)[0]).astype(np.float32), y


def objective(dual_coef, K, scale):
    """-1/2 sum alpha_i alpha_j y_i y_j K_ij, with alpha between 0 and 1."""
    v = dual_coef[0] / scale
    return -0.5 * v @ K @ v


@pytest.mark.parametrize(("nu", "share"), [(0.1, 0.5), (0.4, 0.5), (0.8, 0.5), (0.55, 0.3)])
def test_it_is_the_machine_of_scikit_learn(nu, share):
    X, y = clouds(300, share=share)
    ours = NuSVC(RBF(0.2), nu=nu, tol=1e-5).fit(X, y)
    theirs = svm.NuSVC(nu=nu, gamma=0.2, tol=1e-6).fit(X, y)
    assert ours.converged_
    assert abs(len(ours.support_) - len(theirs.support_)) <= 2
    C = np.abs(theirs.dual_coef_).max()
    assert ours.C_[0] == pytest.approx(C, rel=1e-3)
    assert ours.C_[0] == ours.machine_.C
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    mine = objective(ours.dual_coef_, RBF(0.2).exact(ours.support_vectors_, ours.support_vectors_), ours.C_[0])
    known = theirs.support_vectors_
    assert mine == pytest.approx(objective(theirs.dual_coef_, RBF(0.2).exact(known, known), C), rel=1e-4)


def test_nu_bounds_the_shares_and_the_sums_are_kept():
    X, y = clouds(400)
    for nu in (0.2, 0.5):
        machine = NuSVC(RBF(0.2), nu=nu).fit(X, y)
        margin_errors = np.mean(y * machine.decision_function(X) < 1 - 1e-2)
        assert margin_errors <= nu <= len(machine.support_) / 400
        alpha, sign = np.abs(machine.dual_coef_[0]), np.sign(machine.dual_coef_[0])
        for side in (1, -1):
            assert alpha[sign == side].sum() == pytest.approx(nu * 400 * machine.C_[0] / 2, rel=1e-9)
        assert alpha.max() == machine.C_[0]
        assert (alpha[machine.machine_.bound[0]] == machine.C_[0]).all()


def test_it_is_the_c_svc_of_its_c_and_its_gap_is_that_ones():
    X, y = clouds(250)
    machine = NuSVC(RBF(0.3), nu=0.3, tol=1e-4).fit(X, y)
    other = SVC(RBF(0.3), C=machine.C_[0], tol=1e-4).fit(X, y)
    np.testing.assert_allclose(machine.decision_function(X), other.decision_function(X), atol=1e-3)
    alpha = np.zeros(250)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    gap = naive.kkt_gap(naive.gram(RBF(0.3), X, X), y.astype(float), np.full(250, machine.C_[0]), alpha)
    assert gap <= 1e-4 * (1 + 1e-6)
    assert machine.gap_ <= 1e-4


def test_working_sets_reach_the_same_machine(monkeypatch):
    X, y = clouds(1500, apart=1.5)
    whole = NuSVC(RBF(0.2), nu=0.6, solver="smo", tol=1e-4).fit(X, y)
    monkeypatch.setattr("svmcore.solvers.decomposition.sample.LARGEST", 300)
    monkeypatch.setattr("svmcore.solvers.decomposition.working_set.GROWTH", 200)
    parts = NuSVC(RBF(0.2), nu=0.6, solver="decomposition", cache_mb=4, tol=1e-4).fit(X, y)
    assert whole.converged_
    assert parts.converged_
    assert parts.C_[0] == pytest.approx(whole.C_[0], rel=1e-3)
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), atol=2e-3)


def test_pairs_stay_within_a_class():
    X, y = clouds(60)
    K, C, y = naive.gram(RBF(0.2), X, X), np.ones(60), y.astype(float)
    alpha = np.where(np.arange(60) % 2 == 0, 0.5, 0.0)
    sums = alpha[y > 0].sum(), alpha[y < 0].sum()
    problem = smo.pairs(K.astype(np.float32), np.zeros((1, 1), np.int64), y, C, alpha, K @ (alpha * y) - y, apart=True)
    iterations, gap = smo.solve(problem, 1e-6, lambda iterations: True)
    assert iterations > 5
    assert gap <= 1e-6
    assert (problem.alpha[y > 0].sum(), problem.alpha[y < 0].sum()) == pytest.approx(sums)
    assert smo.kkt_gap(y, C, problem.alpha, problem.f, apart=True)[0] == pytest.approx(gap, abs=1e-6)


def test_one_machine_a_class_and_weights():
    X, y = load_iris(return_X_y=True)
    machine = NuSVC(nu=0.3).fit(X, y)
    assert machine.score(X, y) > 0.95
    assert machine.C_.shape == (3,)
    assert machine.C_.max() == machine.machine_.C
    X, y = clouds(200)
    weight = np.where(np.arange(200) % 5, 1.0, 0.0)
    left_out = NuSVC(RBF(0.2), nu=0.4, tol=1e-5).fit(X, y, sample_weight=weight)
    without = NuSVC(RBF(0.2), nu=0.4, tol=1e-5).fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(left_out.decision_function(X), without.decision_function(X), atol=1e-3)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"nu": 0.0}, "nu = 0.0; allowed"),
        ({"nu": 1.5}, "nu = 1.5; allowed"),
        ({"nu": "half"}, "nu = 'half'; allowed"),
        ({"nu": 0.7}, "nu = 0.7 is infeasible; allowed: at most 0.5"),
        ({"solver": "smo-digestion"}, "allowed for nu-SVC"),
        ({"solver": "general"}, "allowed for nu-SVC"),
        ({"solver": Decomposition(working_set=20)}, "allowed for nu-SVC"),
    ],
)
def test_what_cannot_be_is_said(change, said):
    X, y = clouds(80, share=0.25)
    with pytest.raises(ValueError, match=said):
        NuSVC(**{"nu": 0.3, **change}).fit(X, y)
    with pytest.raises(ValueError, match="estimator = NuSVC"):
        VirtualSVC(NuSVC()).fit(X, y)


def test_classes_that_overlap_more_than_nu_end_soon_and_are_said():
    X, y = clouds(200, apart=0.0)
    with pytest.warns(ConvergenceWarning, match="nu = 0.05 leaves almost no margin"):
        machine = NuSVC("linear", nu=0.05).fit(X, y)
    assert not machine.converged_
    assert np.isfinite(machine.dual_coef_).all()


def test_a_stop_leaves_the_sums_and_the_box():
    X, y = clouds(2000, apart=1.0)
    machine = NuSVC(RBF(0.5), nu=0.5).fit(X, y, monitor=lambda progress: progress.iterations < 1)
    alpha = np.abs(machine.dual_coef_[0])
    assert not machine.converged_
    assert machine.ending_ == "stopped"
    assert alpha.max() <= machine.C_[0]
    assert alpha.sum() == pytest.approx(0.5 * 2000 * machine.C_[0])


def test_it_is_an_estimator(tmp_path):
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    machine = clone(NuSVC(nu=0.2)).fit(X, y)
    assert machine.score(X, y) > 0.95
    assert "C" not in machine.get_params()
    save(machine, tmp_path / "nu.npz")
    again = load(tmp_path / "nu.npz")
    np.testing.assert_allclose(again.decision_function(X)[:, 0], machine.decision_function(X))
    assert again.meta == {"nu": 0.2}
