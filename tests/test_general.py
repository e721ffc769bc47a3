"""General optimisers on the machine's own problem: the answer of the solvers for SVMs, where they say they have one."""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest
from scipy.optimize import linprog
from sklearn.exceptions import ConvergenceWarning

from svmcore import RBF, SVC, BudgetError, General, Jittered, Linear, Poly
from svmcore.solvers.general import SLOW, WAYS, minimum
from tests.cases import all_cases

QUICK = [way for way in WAYS if way not in SLOW]


def overlapping(n, seed=0, classes=2):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2)).astype(np.float32)
    y = np.searchsorted(np.linspace(-0.5, 0.5, classes - 1), X[:, 0] + 0.7 * random.normal(size=n))
    y[:classes] = range(classes)
    return X, y


def fitted(kernel, X, y, way, monitor=None, **how):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return SVC(kernel, solver=General(way), **how).fit(X, y, monitor=monitor)


@all_cases(
    ("way", "kernel", "C"),
    [(way, kernel, C) for way in QUICK for kernel in (Linear(), RBF(0.7)) for C in (0.5, 20.0)]
    + [(way, RBF(0.7), 0.5) for way in SLOW],
    ids=str,
)
def test_the_answer_is_that_of_pairs(way, kernel, C):
    for seed, n in enumerate((12,) if way in SLOW else (12, 50)):
        X, y = overlapping(n, seed)
        general, machine = fitted(kernel, X, y, way, C=C), SVC(kernel, C=C, tol=1e-5).fit(X, y)
        dual, best = general.history_[-1].dual, machine.history_[-1].dual
        assert dual <= best * (1 + 1e-4) + 1e-6
        assert dual >= best * (1 - (0.02 if way in SLOW else 1e-3))
        if general.converged_:
            f = machine.decision_function(X)
            sure = np.abs(f) > 0.05
            np.testing.assert_array_equal(general.predict(X)[sure], machine.predict(X)[sure])
        assert way in SLOW or general.gap_ <= 1e-2


@pytest.mark.parametrize("way", [way for way in QUICK if way != "TNC"])  # which scales its variables by their bounds
def test_a_bound_far_above_every_alpha_changes_nothing(way):
    for seed in range(3):
        X, y = overlapping(40, seed)
        duals = []
        for C in (1e3, 1e8):
            machine = fitted(RBF(20.0), X, y, way, C=C)
            assert machine.gap_ <= 3e-3
            assert np.abs(machine.dual_coef_).max() < 100
            duals.append(machine.history_[-1].dual)
        assert duals[0] == pytest.approx(duals[1], rel=1e-4)


@pytest.mark.parametrize("way", QUICK)
def test_several_classes_weights_and_examples_that_are_left_out(way):
    X, y = overlapping(60, 1, classes=3)
    weight = np.where(np.arange(60) % 5 == 4, 0.0, 1.0)
    how = {"C": 3.0, "class_weight": {0: 2.0, 1: 0.5, 2: 1.0}}
    general, machine = (SVC(RBF(0.7), solver=solver, **how).fit(X, y, weight) for solver in (General(way), "smo"))
    assert general.converged_
    assert not set(general.support_) & set(np.flatnonzero(weight == 0))
    np.testing.assert_allclose(general.decision_function(X), machine.decision_function(X), atol=0.02)
    assert general.n_iter_.shape == (3,)


@pytest.mark.parametrize("way", WAYS)
def test_whoever_stops_it_gets_a_feasible_machine(way):
    X, y = overlapping(150, 2)
    seen = []

    def monitor(progress):
        seen.append(progress)
        return progress.iterations < 6

    monitor.burst = 1  # asks at each gradient
    machine = fitted(RBF(0.7), X, y, way, monitor, C=10.0)
    assert not machine.converged_
    assert 5 <= machine.n_iter_.sum() <= 7
    alpha = machine.dual_coef_[0] * np.where(y[machine.support_] == 1, 1, -1)
    assert (alpha >= 0).all()
    assert (alpha <= 10).all()
    assert abs(machine.dual_coef_.sum()) < 1e-9
    assert np.isfinite(seen[-1].gap)


def test_a_long_step_asks_whether_to_go_on():
    X, label = overlapping(120, 1)
    y, gradients, products = np.where(label > 0, 1.0, -1.0), [], []
    Q = RBF(0.7).exact(X, X) * np.outer(y, y)

    def ask():
        products.append(len(gradients))
        if len(products) == asked:
            raise InterruptedError

    for asked in (None, 30):
        gradients.clear()
        products.clear()
        with pytest.raises(InterruptedError) if asked else nullcontext():
            minimum("trust-constr", Q, y, np.full(120, 2.0), 1e-3, gradients.append, ask)
        assert len(products) > 2 * len(gradients)
        assert not asked or len(products) == asked


@pytest.mark.parametrize("burst", [None, 7])
def test_a_fit_is_stopped_within_a_step(burst, monkeypatch):
    X, y = overlapping(200, 2)
    monkeypatch.setattr("svmcore.solvers.session.REPORT_SECONDS", 0.0)
    seen = []

    def monitor(progress):
        seen.append(progress.iterations)
        return seen.count(seen[-1]) < 3 or seen[-1] == 0

    monitor.burst = burst
    machine = fitted(RBF(0.7), X, y, "trust-constr", monitor, C=10.0)
    assert not machine.converged_
    assert seen[-3:] == [machine.n_iter_.sum()] * 3
    assert abs(machine.dual_coef_.sum()) < 1e-9


def test_kernels_that_are_given_or_fill_their_own_blocks():
    X, y = overlapping(40, 3)
    kernel = Poly(2, 1.0, 1.0)
    own, K = fitted(kernel, X, y, "conjugate-gradients"), kernel.exact(X, X)
    given = SVC("precomputed", solver="general").fit(K, y)
    np.testing.assert_allclose(own.decision_function(X), given.decision_function(K), atol=2e-3)
    images = np.random.default_rng(0).random((30, 16), dtype=np.float32)
    labels = (images[:, 5] > 0.5).astype(int)
    kernel = Jittered(RBF(0.5), "plus:1", (4, 4))
    machines = [SVC(kernel, solver=solver).fit(images, labels) for solver in ("general", "smo")]
    np.testing.assert_allclose(*(machine.decision_function(images) for machine in machines), atol=0.01)


def test_sonar_can_be_parted_by_a_plane_which_osuna_says_it_cannot(dataset):
    data = dataset("sonar")
    X, y = data.X_train.astype(float), np.where(data.y_train == "R", 1, -1)
    plane = linprog(np.zeros(61), -y[:, None] * np.c_[X, np.ones(208)], -np.ones(208), bounds=(None, None))
    assert plane.status == 0  # some plane has all 208 on their sides
    for kernel, C in ((Linear(), 1e6), (Poly(3, 1.0, 1.0), 100.0)):
        machine = SVC(kernel, C=C).fit(X, y)
        assert machine.converged_
        assert not machine.n_bound_.any()
        assert (machine.predict(X) == y).all()


def test_its_limits_are_said():
    X, y = overlapping(60, 4)
    with pytest.warns(ConvergenceWarning, match="TNC ended after max_iter = 5 gradients at a gap of"):
        machine = SVC(RBF(0.7), solver=General("TNC"), max_iter=5).fit(X, y)
    assert machine.n_iter_.tolist() == [5]
    with pytest.raises(BudgetError, match="solver 'general' by SLSQP"):
        SVC(RBF(0.7), solver=General("SLSQP"), cache_mb=0.1).fit(X, y)
    with pytest.raises(ValueError, match="way = 'MINOS'; allowed: conjugate-gradients"):
        General("MINOS")
