"""ReducedSet: the laws of each method, what it refuses, what a stop leaves, and that a reduced machine is a machine."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.optimize import OptimizeResult
from scipy.sparse import csr_matrix
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.svm import SVC as SKLEARN

from svmcore import (
    RBF,
    SVC,
    Answers,
    BudgetError,
    Jittered,
    Linear,
    Machine,
    Poly,
    ReducedSet,
    Sigmoid,
    VirtualSVC,
    load,
    save,
)
from svmcore.detection.quadratic import quadratic
from svmcore.gram.sources import Work
from svmcore.methods.reduced import METHODS, STARTS, Expansion, best_thresholds, joint
from svmcore.methods.reduced.direct import Direct
from svmcore.methods.reduced.exact import by_distance, pivots
from svmcore.methods.reduced.joint import optimise
from svmcore.methods.reduced.quadratic import eigenvectors
from svmcore.methods.reduced.search import SEARCHES, one_by_one
from svmcore.methods.reduced.stages import Stages
from svmcore.methods.reduced.start import first_vectors
from svmcore.methods.tangent import TangentWhitened
from svmcore.model import ROUNDING, multiply_adds
from svmcore.solvers.session import Session
from tests.cases import all_cases
from tests.naive import best_cut

UNIT = Poly(5, 1, 1)


@cache
def digits(n=600):
    X, y = load_digits(return_X_y=True)
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    return X[:n].astype(np.float32), y[:n]


@cache
def ten(kernel=UNIT) -> Machine:
    return SVC(kernel, C=10).fit(*digits()).machine_


@cache
def eight(kernel=UNIT) -> Machine:
    X, y = digits()
    return SVC(kernel, C=10).fit(X, y == 8).machine_


def share(fitted) -> float:
    return float((fitted.rho_**2).sum() / (fitted.norms_**2).sum())


def by_hand(kernel, X, coef) -> Machine:
    """A machine for two classes."""
    m, coef = len(X), np.reshape(coef, (1, -1)).astype(float)
    return Machine(kernel, np.array([0, 1]), np.arange(m), X, coef, np.zeros(1), 1.0, np.zeros((1, m), bool))


# The methods


@pytest.mark.parametrize("kernel", [Poly(2, 1, 0), Poly(2, 0.5, 4), Poly(2, 2, 1, False)], ids=str)
def test_eigenvectors_are_the_machine_of_degree_2_and_no_vectors_do_better(kernel):
    X, _ = digits()
    machine = eight(kernel)
    target = Expansion.of(machine)
    norms, exact = target.norms(), eigenvectors(target)
    full = ReducedSet(min(len(machine.support), 65), method="quadratic").fit(machine)
    assert full.n_after_ <= 65
    np.testing.assert_allclose(full.machine_.decision_values(X), machine.decision_values(X), atol=1e-5)
    assert full.rho_.max() <= 3e-5 * norms[0] ** 0.5
    for m in (2, 8):
        Z, gamma = exact.Z[:m].astype(np.float32), exact.gamma[None, :m]
        assert target.rho2(Z, gamma) / norms == pytest.approx(exact.rho2[m] / norms, abs=1e-6)  # through kernels
        for start in ("greedy", "k-means"):
            found = optimise(target, first_vectors(target, m, start), norms, Work(), iterations=40, tol=1e-6)
            assert exact.rho2[m] <= found.rho2[0] + 1e-6 * norms[0], (m, start)


def test_a_line_search_that_fails_is_not_the_end(monkeypatch):
    target = Expansion.of(eight(RBF(1.0)))
    Z, norms, asked = first_vectors(target, 8, "k-means"), target.norms(), []

    def fails_at_first(*args, **how):
        if len(asked) < 2:
            how["options"] = how["options"] | {"maxiter": 2}
        found = minimize(*args, **how)
        found.status = joint.ABNORMAL if len(asked) < 2 else found.status
        asked.append(found.nit)
        return found

    whole = optimise(target, Z, norms, Work(), iterations=30, tol=0)
    minimize = joint.minimize
    monkeypatch.setattr(joint, "minimize", fails_at_first)
    again = optimise(target, Z, norms, Work(), iterations=30, tol=0)
    assert asked == [2, 2, 26]
    assert again.rho2[0] <= whole.rho2[0] + 0.05 * norms[0]
    monkeypatch.setattr(joint, "minimize", lambda *args, **how: OptimizeResult(status=joint.ABNORMAL))
    assert optimise(target, Z, norms, Work(), iterations=30, tol=0).iterations == 0  # nor is it tried for ever


def test_an_eigenvector_without_a_constant_part_is_still_an_example():
    X = np.eye(4, dtype=np.float32)  # Psi is homogeneous: S has no entries that the constant part shares
    target = Expansion(Poly(2, 1, 1), np.concatenate([X, -X]), np.array([[1.0, -2, 3, 0, 1, -2, 3, 0]]))
    exact = eigenvectors(target)
    assert np.isfinite(exact.Z).all()
    assert target.rho2(exact.Z.astype(np.float32), exact.gamma[None]) / target.norms() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(
    ("kernel", "most"),
    [(Linear(), 2), (Poly(2, 1, 0), 3), (Poly(2, 1, 1), 6), (Poly(3, 1, 1), 10), (RBF(0.02), 60)],
    ids=str,
)
def test_support_vectors_that_depend_on_others_go_and_no_decision_moves(kernel, most):
    X, y = make_moons(500, noise=0.3, random_state=0)
    machine = SVC(kernel, C=10).fit(X.astype(np.float32), y).machine_
    fitted = ReducedSet().fit(machine)
    assert fitted.method_ == "exact"
    assert fitted.n_after_ <= most < fitted.n_before_ == len(machine.support)
    np.testing.assert_allclose(fitted.machine_.decision_values(X), machine.decision_values(X), atol=1e-6)
    assert not fitted.machine_.constructed.any()
    assert set(fitted.machine_.support) <= set(machine.support)
    np.testing.assert_array_equal(fitted.machine_.support_vectors, X.astype(np.float32)[fitted.machine_.support])


@pytest.mark.parametrize("shared", [True, False])
def test_several_machines_lose_what_depends_in_each_or_in_all(shared):
    X, _ = digits()
    machine = ten(Linear())
    fitted = ReducedSet(shared=shared).fit(machine)
    assert fitted.machine_.n_sv.max() <= 64
    assert shared == (fitted.n_after_ <= 64)
    np.testing.assert_allclose(fitted.machine_.decision_values(X), machine.decision_values(X), atol=1e-6)


def test_pivots_know_how_far_decisions_could_move():
    target = Expansion.of(eight(RBF(0.3)))
    X, _ = digits()
    basis = pivots(target, by_distance, 60)
    kept = Expansion(target.kernel, target.vectors[basis.chosen], basis.gamma)
    moved = np.abs(target.along(X) - kept.along(X)).max()
    assert 0 < moved <= basis.bound
    assert basis.rho2[-1] == pytest.approx(target.rho2(kept.vectors, kept.coef), rel=1e-6)
    assert (np.diff(basis.rho2[:, 0]) <= 1e-9).all()


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("shared", [True, False])
def test_ten_times_fewer_vectors_decide_nearly_alike(start, shared):
    X, _ = load_digits(return_X_y=True)
    X = (X[600:] / np.linalg.norm(X[600:], axis=1, keepdims=True)).astype(np.float32)
    before = ten()
    fitted = ReducedSet(0.1, start=start, shared=shared, random_state=1).fit(before, *digits())
    sizes = [len(Expansion.of(before).used)] if shared else before.n_sv
    assert fitted.n_after_ == sum(max(1, round(0.1 * n)) for n in sizes)
    assert (fitted.rho_ < fitted.rho_start_).all()
    assert share(fitted) < 0.3 < 0.4 < (fitted.rho_start_**2).sum() / (fitted.norms_**2).sum()
    assert np.mean(fitted.predict(X) != before.predict(X)) < 0.08
    assert fitted.machine_.constructed.all()


@pytest.mark.parametrize("kernel", [RBF(2.0), Poly(3, 1, 1)], ids=str)
@pytest.mark.parametrize("how", SEARCHES)
def test_the_search_finds_the_nearest_vector_of_the_whole_plane(how, kernel):
    if how == "fixed-point" and not isinstance(kernel, RBF):
        pytest.skip("of Gaussian kernels alone")
    side = np.linspace(-3, 3, 301)
    grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2).astype(np.float32)
    for seed in range(4):
        random = np.random.default_rng(seed)
        X = random.uniform(-1, 1, (25, 2)).astype(np.float32)
        target = Expansion(kernel, X, random.uniform(0.1, 1, (1, 25)))
        norms = target.norms()
        reached = (target.along(grid)[0] ** 2 / kernel.diag(grid)).max()
        Z = one_by_one(target, first_vectors(target, 3, "greedy"), norms, how, Work())
        rho2 = [target.rho2(Z[:m], target.weights(Z[:m]))[0] for m in (1, 2, 3)]
        assert rho2[0] <= norms[0] - reached + 1e-4 * norms[0]
        assert rho2[2] <= rho2[1] <= rho2[0]


@pytest.mark.parametrize("how", SEARCHES)
@pytest.mark.parametrize("shared", [True, False])
def test_the_searches_come_about_as_near_as_all_vectors_together(how, shared):
    together, apart = (ReducedSet(0.1, method=way, shared=shared).fit(ten(RBF(1.0))) for way in ("rho", how))
    assert together.n_after_ == apart.n_after_
    assert (apart.rho_ <= apart.rho_start_).all()
    assert share(apart) < (1.25 if how == "one-by-one" else 1.5) * share(together)


def test_no_search_is_nearer_than_the_eigenvectors():
    machine = eight(Poly(2, 1, 1))
    exact = eigenvectors(Expansion.of(machine)).rho2
    for m in (2, 8):
        found = ReducedSet(m, method="one-by-one").fit(machine)
        assert exact[m] - 1e-6 * exact[0] <= found.rho_[0] ** 2 <= exact[m] + 0.05 * exact[0]


def test_labels_say_nothing_where_the_machine_says_what_is_right():
    X, y = digits()
    told, machine = Answers(epochs=2, by="machine"), SVC(UNIT, C=0.003).fit(X, y)
    assert (machine.predict(X) != y).any()
    made = [
        ReducedSet(20, method="answers", answers=told).fit(machine, X, labels).machine_
        for labels in (y, np.random.default_rng(0).permutation(y))
    ]
    np.testing.assert_array_equal(made[0].support_vectors, made[1].support_vectors)
    other = ReducedSet(20, method="answers", answers=Answers(epochs=2)).fit(machine, X, y).machine_
    assert (other.support_vectors != made[0].support_vectors).any()
    with pytest.raises(ValueError, match="by = 'me'; allowed: labels, machine"):
        ReducedSet(20, method="answers", answers=Answers(by="me")).fit(ten(), X, y)


@pytest.mark.parametrize("classes", [2, 10])
def test_nothing_of_the_machine_is_in_what_begins_with_examples(classes):
    X, y = digits()
    X, y = X[y < classes], y[y < classes]
    made = [
        ReducedSet(2 + 3 * classes, method="answers", start="examples", answers=Answers(epochs=30, batch=16))
        .fit(SVC(UNIT, C=C).fit(X, y), X, y)
        .machine_
        for C in (0.01, 10)
    ]
    np.testing.assert_array_equal(made[0].support_vectors, made[1].support_vectors)
    np.testing.assert_array_equal(made[0].coef, made[1].coef)
    assert np.mean(made[0].predict(X) != y) < 0.1


def test_as_many_vectors_as_support_vectors_decide_alike():
    X, _ = digits()
    machine = ten()
    fitted = ReducedSet(len(Expansion.of(machine).used), method="rho").fit(machine)
    assert share(fitted) < 1e-9
    np.testing.assert_allclose(fitted.machine_.decision_values(X), machine.decision_values(X), atol=1e-3)


def test_answers_deform_images_that_are_still_images():
    X, y = load_digits(return_X_y=True)
    X, y = X[:200].astype(np.float32), y[:200] == 8
    plain = SVC(RBF(0.001)).fit(X[:, :40], y)
    told = replace(plain.machine_, meta={"image_shape": [8, 8]})  # of the images before they were cropped
    settings = {"method": "answers", "answers": Answers(epochs=2)}
    for machine in (plain.machine_, told):
        assert ReducedSet(9, **settings).fit(machine, X[:, :40], y).n_after_ == 9
    whole = SVC(RBF(0.001)).fit(X, y).machine_
    still, moved = (
        ReducedSet(9, **settings).fit(replace(whole, meta=meta), X, y).machine_.support_vectors
        for meta in ({}, {"image_shape": [8, 8]})
    )
    assert (still != moved).any()


def test_what_auto_stands_for():
    few = {"iterations": 0}
    assert ReducedSet().fit(ten()).method_ == "exact"
    assert ReducedSet(5, **few).fit(ten()).method_ == "rho"
    assert ReducedSet(5).fit(eight(Poly(2, 1, 1))).method_ == "quadratic"
    assert ReducedSet(5, **few).fit(ten(Poly(2, 1, 1))).method_ == "rho"
    assert ReducedSet(5, shared=False).fit(ten(Poly(2, 1, 1))).method_ == "quadratic"


def test_answers_move_vectors_weights_and_biases_together(monkeypatch):
    X, y = digits()
    few = Answers(epochs=15, batch=16)
    fitted = ReducedSet(40, method="answers", answers=few, start="greedy", random_state=1).fit(ten(), X, y)
    assert fitted.n_after_ == 40
    assert np.isnan(fitted.rho_).all()
    assert (fitted.threshold_shift_ != 0).all()
    assert np.mean(fitted.predict(X) != y) < 0.2
    assert {progress.stage for progress in fitted.history_} >= {"start", "answers"}
    again = clone(fitted).fit(ten(), X, y)
    np.testing.assert_array_equal(again.machine_.support_vectors, fitted.machine_.support_vectors)
    two = ReducedSet(8, method="answers", answers=few).fit(eight(), X, y == 8, X_val=X, y_val=y == 8)
    ((m, rho, error),) = two.path_
    assert (m, rho) == (8, None)
    assert error == np.mean(two.predict(X) != (y == 8)) < 0.15
    monkeypatch.setattr("svmcore.methods.reduced.checks.MANY", len(y))
    assert ReducedSet(5, answers=few).fit(ten(), X, y).method_ == "answers"
    assert ReducedSet(5, answers=few, shared=False, iterations=1).fit(ten(), X, y).method_ == "rho"


# The path, thresholds


def test_the_path_grows_until_it_is_good_enough():
    X, y = digits()
    fitted = ReducedSet(64, steps=6, max_rho=0.5).fit(eight())
    assert [m for m, _, _ in fitted.path_] == [2, 4, 8, 16, 32, 64][: len(fitted.path_)]
    assert fitted.path_[-1][1] == pytest.approx(share(fitted) ** 0.5)
    assert share(fitted) ** 0.5 <= 0.5 < fitted.path_[-2][1]
    judged = ReducedSet(64, steps=6).fit(eight(), X_val=X, y_val=y == 8)
    assert judged.path_[-1][2] < judged.path_[0][2]
    assert judged.path_[-1][2] == np.mean(judged.predict(X) != (y == 8))


def test_thresholds_are_where_the_fewest_errors_are():
    random = np.random.default_rng(0)
    for trial in range(30):
        f, y = random.normal(size=40).round(1), random.integers(2, size=40)
        shift = best_thresholds(f[:, None], y, np.array([0, 1]), slack=0)[0]
        fewest = best_cut(f, y)
        assert np.sum((f + shift > 0) != y) == fewest, trial
        small = best_thresholds(f[:, None], y, np.array([0, 1]))[0]
        assert abs(small) <= abs(shift)
        assert np.sum((f + small > 0) != y) <= fewest + np.sqrt(max(fewest, 1)), trial
    many = best_thresholds(random.normal(size=(50, 3)), np.repeat(["a", "b"], 25), np.array(["a", "b", "c"]))
    assert np.isfinite(many).all()
    assert best_thresholds([[-1.0], [2.0]], [0, 1], [0, 1]) == 0  # as good as any: it stays
    assert best_thresholds([[-1.0], [-0.5], [2.0]], [0, 1, 1], [0, 1]) == 0  # and one example alone moves nothing
    for y in ([0, 0], [1, 1]):
        shift = best_thresholds([[-1.0], [2.0]], y, [0, 1], slack=0)[0]
        assert ((np.array([-1, 2]) + shift > 0) == y).all()


def test_the_bias_is_set_anew_on_training_examples():
    X, y = digits()
    kept, moved, least = (
        ReducedSet(6, thresholds=how, iterations=3).fit(eight(), X, y == 8) for how in ("kept", "auto", "fewest")
    )
    assert kept.threshold_shift_ == 0 != moved.threshold_shift_
    assert moved.threshold_shift_ == moved.machine_.bias - eight().bias
    f = kept.machine_.decision_values(X)[:, 0]
    fewest, wrong = best_cut(f, y == 8), np.sum(moved.predict(X) != (y == 8))
    assert np.sum(least.predict(X) != (y == 8)) == fewest <= wrong <= fewest + np.sqrt(fewest)
    assert wrong < np.sum(kept.predict(X) != (y == 8))


# A reduced machine is a machine


def test_it_is_saved_loaded_and_counted(tmp_path):
    X, _ = digits()
    fitted = ReducedSet(0.1, iterations=5).fit(ten())
    save(fitted, tmp_path / "reduced.npz")
    again = load(tmp_path / "reduced.npz")
    np.testing.assert_array_equal(again.decision_values(X), fitted.machine_.decision_values(X))
    assert again.constructed.all()
    assert again.meta["reduced"]["n_after"] == fitted.n_after_ == len(again.support)
    assert again.meta["reduced"]["rho"] == list(fitted.rho_)
    assert multiply_adds(again) == fitted.n_after_ * (64 + 10)
    assert multiply_adds(ten()) == len(ten().support) * 64 + ten().n_sv.sum()
    twice = ReducedSet(5, iterations=5).fit(again)  # a reduction's machine can be reduced
    assert twice.n_after_ == 5


def test_what_a_fitted_estimator_holds_may_be_given_and_a_second_fit_forgets_the_first():
    X, y = digits()
    svc = SVC(UNIT, C=10).fit(X, y == 8)
    reduction = ReducedSet(8, random_state=3, start="k-means")
    first = clone(reduction).fit(svc).machine_
    reduction.fit(ten()).fit(svc)
    np.testing.assert_array_equal(reduction.machine_.support_vectors, first.support_vectors)
    np.testing.assert_array_equal(reduction.machine_.coef, first.coef)
    assert reduction.decision_function(X).shape == (len(X),)


def test_a_report_tells_vectors_and_rho_and_shows_the_machines():
    X, seen = digits()[0], []

    def monitor(progress):
        seen.append((progress, progress.snapshot()))
        return True

    fitted = ReducedSet(0.1, shared=False, iterations=20).fit(ten(), monitor=monitor)
    progress, snapshot = seen[-1]
    assert progress.n_sv == fitted.n_after_ == len(snapshot.vectors) == len(snapshot.support)
    assert progress.gaps == pytest.approx((fitted.rho_ / fitted.norms_) ** 2)
    f = Expansion(snapshot.kernel, snapshot.vectors, snapshot.coef).along(X).T + snapshot.bias
    np.testing.assert_allclose(f, fitted.machine_.decision_values(X), atol=1e-4)
    assert fitted.converged_ == (not fitted.ending_)
    assert fitted.kernel_evals_ > 0
    assert fitted.history_[-1].snapshot is None


WAYS = [
    {"shared": False},
    {},
    {"steps": 3},
    {"method": "one-by-one", "n_vectors": 6},
    {"method": "exact"},
    {"method": "answers"},
    {"kernel": Poly(2, 1, 1)},
]


@all_cases("reports", [0, 2, 6])
@all_cases("options", WAYS, ids=str)
def test_a_stop_leaves_a_machine_that_decides(options, reports):
    X, y = digits()
    left, options = iter(range(reports)), dict(options)
    machine = ten(options.pop("kernel", UNIT))
    n = None if options.get("method") == "exact" else options.pop("n_vectors", 0.2)
    fitted = ReducedSet(n, tol=0, **options).fit(machine, X, y, monitor=lambda progress: next(left, None) is not None)
    assert np.isfinite(fitted.machine_.decision_values(X)).all()
    assert fitted.converged_ == (fitted.ending_ == "")
    assert np.mean(fitted.predict(X) != y) < (0.9 if fitted.method_ == "answers" else 0.5)
    assert reports or fitted.ending_ == "stopped"


def test_what_a_stop_finds_not_begun_keeps_its_support_vectors():
    X, _ = digits()
    stages = Stages(ReducedSet(5), ten(), "rho", Session())
    np.testing.assert_allclose(stages.assemble().decision_values(X), ten().decision_values(X), atol=ROUNDING)


def test_a_machine_of_virtual_support_vectors_keeps_what_they_were_made_from():
    X, y = load_digits(return_X_y=True)
    virtual = VirtualSVC(SVC(Linear()), jitters="plus:1", image_shape=(8, 8)).fit(X[:300] / 16, y[:300] == 8).machine_
    exact = ReducedSet().fit(virtual).machine_
    assert len(exact.support) <= 64 < len(virtual.support)
    assert len(exact.parent) == len(exact.jitter) == len(exact.support)
    reduced = ReducedSet(9, iterations=3).fit(virtual).machine_
    assert reduced.parent is None
    assert reduced.jitter is None
    assert reduced.constructed.all()


# What is refused


REFUSED = [
    ({"n_vectors": 0}, "n_vectors = 0; allowed: a whole number from 1, a fraction"),
    ({"n_vectors": 1.5}, "n_vectors = 1.5"),
    ({"n_vectors": "all"}, "n_vectors = 'all'"),
    ({"n_vectors": True}, "n_vectors = True"),
    ({"n_vectors": 10_000}, r"n_vectors = 10000; allowed: 1 to \d+, the number of support vectors"),
    (
        {"n_vectors": 80, "shared": False},
        r"n_vectors = 80; allowed: 1 to \d+, .* of machine \d+ of 10",
    ),
    ({"n_vectors": None, "method": "rho"}, "n_vectors = None with method = 'rho'"),
    ({"method": "exact"}, "n_vectors = 5 with method = 'exact'"),
    ({"method": "eigen"}, f"method = 'eigen'; allowed: {', '.join(METHODS)}"),
    ({"method": "quadratic"}, "method = 'quadratic' for Poly.*allowed: only with Poly of degree 2"),
    ({"method": "fixed-point"}, "method = 'fixed-point' for Poly.*allowed: RBF"),
    ({"start": "zeros"}, "start = 'zeros'; allowed: auto, k-means"),
    ({"start": "examples"}, "start = 'examples' with method = 'rho'; allowed: only with method = 'answers'"),
    ({"shared": "no"}, "shared = 'no'; allowed: True, False"),
    ({"max_rho": 2}, "max_rho = 2; allowed: a number from 0 to 1"),
    ({"tol": -1}, "tol = -1"),
    ({"iterations": 1.5}, "iterations = 1.5; allowed: a whole number from 0"),
    ({"steps": 0}, "steps = 0; allowed: a whole number from 1"),
    ({"thresholds": "train"}, "thresholds = 'train' without X and y"),
    ({"thresholds": "fewest"}, "thresholds = 'fewest' without X and y"),
    ({"thresholds": "test"}, "thresholds = 'test'; allowed: auto, train, fewest, kept"),
    ({"cache_mb": 0}, "cache_mb = 0"),
    ({"method": "answers"}, "method = 'answers' without X and y; allowed: only with training examples"),
    ({"method": "direct"}, "method = 'direct' without X and y; allowed: only with training examples"),
    ({"method": "answers", "shared": False, "X": True}, "shared = False with method = 'answers'; allowed: True"),
    ({"method": "answers", "answers": 3, "X": True}, "answers = 3; allowed: an Answers, or None"),
    (
        {"method": "answers", "image_shape": (9, 9), "X": True},
        r"image_shape = \(9, 9\); allowed: a shape of 64 numbers",
    ),
]


@all_cases(("options", "words"), REFUSED, ids=lambda value: str(value)[:40])
def test_a_bad_parameter_is_refused_by_name(options, words):
    options = {"n_vectors": 5} | options
    examples = digits() if options.pop("X", False) else ()
    with pytest.raises(ValueError, match=words):
        ReducedSet(**options).fit(ten(), *examples)


def test_a_machine_that_cannot_be_reduced_says_why():
    X, y = digits()
    other = replace(eight(), kernel=TangentWhitened(UNIT, np.eye(64, dtype=np.float32)))
    with pytest.raises(ValueError, match="kernel = tangent-whitened, which has no gradient; allowed: linear, poly"):
        ReducedSet(3).fit(other)
    exact = ReducedSet().fit(other).machine_  # nothing is constructed: any definite kernel will do
    np.testing.assert_allclose(exact.decision_values(X), other.decision_values(X), atol=1e-4)
    given = SVC("precomputed").fit(X[:60] @ X[:60].T, y[:60] < 5)
    with pytest.raises(ValueError, match="kernel = precomputed"):
        ReducedSet(3).fit(given)
    empty = by_hand(RBF(1), np.zeros((0, 4), np.float32), [])
    with pytest.raises(ValueError, match="machine: no support vectors"):
        ReducedSet(1).fit(empty)
    for machine in (None, "mnist", SVC()):
        with pytest.raises(ValueError, match="allowed: a Machine, or a fitted estimator"):
            ReducedSet(3).fit(machine)
    with pytest.raises(ValueError, match="shared = True with method = 'quadratic'"):
        ReducedSet(3, method="quadratic").fit(ten(Poly(2, 1, 1)))


def test_kernels_that_are_not_positive_definite_have_no_distances():
    X, y = digits()
    X, y = X[:100], y[:100] < 5
    few = Answers(epochs=2)
    for kernel in (Sigmoid(0.5, 0.1), Poly(3, 1, -0.5, normalised=False)):
        machine = SVC(kernel, C=1).fit(X, y).machine_
        for options in ({"n_vectors": None, "method": "exact"}, {"n_vectors": 8, "method": "rho"}):
            with pytest.raises(
                ValueError, match=rf"method = '{options['method']}' for .* with a positive definite kernel"
            ):
                ReducedSet(**options).fit(machine)
        fitted = ReducedSet(8, answers=few).fit(machine, X, y)
        assert (fitted.method_, fitted.n_after_) == ("answers", 8)
    jittered = SVC(Jittered(UNIT, "plus:1", (8, 8))).fit(X, y)
    with pytest.raises(ValueError, match=r"method = 'exact' for Jittered.* with a positive definite kernel$"):
        ReducedSet().fit(jittered)
    assert TangentWhitened(RBF(1.0), np.eye(3, 64, dtype=np.float32)).definite
    assert not TangentWhitened(Sigmoid(), np.eye(3, 64, dtype=np.float32)).definite


def test_vectors_that_are_alike_to_nothing_leave_nowhere_to_go():
    X, y = digits()
    machine = SVC(RBF(1e4), C=10).fit(X[:200], y[:200]).machine_
    for start in STARTS:
        fitted = ReducedSet(10, start=start).fit(machine)
        assert 0.9 < share(fitted) <= 1
        assert np.isfinite(fitted.machine_.support_vectors).all()


def test_a_machine_without_support_vectors_stays_its_bias():
    X, y = digits()
    coef = ten().coef.copy()
    coef[3] = 0
    machine = replace(ten(), coef=coef)
    for options in ({"n_vectors": 5}, {"n_vectors": None}, {"n_vectors": 5, "shared": True}):
        fitted = ReducedSet(**{"shared": False, "thresholds": "kept", "iterations": 3} | options).fit(machine, X, y)
        f = fitted.machine_.decision_values(X)[:, 3]
        np.testing.assert_allclose(f, machine.bias[3], atol=1e-6)


def test_a_machine_that_is_its_bias_alone_stays_so():
    zero = by_hand(Poly(2, 1, 0), np.zeros((3, 2), np.float32), [1, -2, 3])
    for n in (None, 1):
        for kernel in (Poly(2, 1, 0), Poly(3, 1, 0)):
            fitted = ReducedSet(n).fit(replace(zero, kernel=kernel))
            np.testing.assert_array_equal(fitted.machine_.decision_values(np.ones((4, 2))), np.zeros((4, 1)))


def test_bad_examples_are_refused_by_name():
    X, y = digits()
    fit = ReducedSet(5, iterations=1).fit
    for examples, words in (
        ((X[:, :9], y), r"X has shape \(600, 9\); allowed: \(n, 64\)"),
        ((X[:0], y[:0]), "X has shape"),
        ((X * np.nan, y), "X has numbers that are not finite"),
        ((X, y[:9]), r"y has shape \(9,\); allowed: \(600,\)"),
        ((X, y + 5), "y: label 10; allowed: 0, 1"),
        ((X, None), "y = None; allowed: both of X and y"),
    ):
        with pytest.raises(ValueError, match=words):
            fit(ten(), *examples)
    with pytest.raises(ValueError, match="X_val = None; allowed: both of X_val and y_val"):
        fit(ten(), y_val=y)


def test_memory_is_asked_for_before_it_starts():
    with pytest.raises(BudgetError, match=r"the reduction needs \d+ MB and the ceiling is 1 MB"):
        ReducedSet(0.9, cache_mb=1).fit(ten())
    assert ReducedSet(2, cache_mb=3, iterations=1).fit(ten()).n_after_ == 2


def test_one_vector_and_one_support_vector_are_enough():
    X = np.array([[0.0, 1], [1, 0]], np.float32)
    machine = SVC(RBF(1)).fit(X, [0, 1]).machine_
    for method in ("rho", "auto"):
        assert ReducedSet(1, method=method).fit(machine).n_after_ == 1
    alone = by_hand(RBF(1), X[:1], [1])
    assert ReducedSet(1).fit(alone).rho_ == pytest.approx(0, abs=3e-5)


def test_a_detector_of_degree_2_is_the_same_quadratic_form_with_as_many_vectors_as_pixels():
    X, _ = digits()
    machine = eight(Poly(2, 1, 1))
    reduced = ReducedSet(65, method="quadratic").fit(machine).machine_
    np.testing.assert_allclose(quadratic(reduced).values(X), quadratic(machine).values(X), atol=1e-4)
    assert len(reduced.support) <= 65 < len(machine.support)


def test_a_reduced_machine_refuses_what_it_cannot_decide():
    X, _ = digits()
    fitted = ReducedSet(5, iterations=1).fit(ten())
    for size in (1e19, 1e38):
        with pytest.raises(ValueError, match="overflow; scale the features first"):
            fitted.predict(np.full((2, 64), size))
    for far in (X + 1j, X * np.nan, X + 1e39):
        with pytest.raises(ValueError, match=r"real numbers|beyond float32"):
            fitted.predict(far)


def test_examples_of_a_machine_that_centred_them_come_as_they_are():
    """No other threshold has fewer errors on them, by counting."""
    rng = np.random.default_rng(0)
    X = np.column_stack([1.7e9 + rng.uniform(0, 600, 200), 100 * rng.normal(size=200)])
    y = (X[:, 0] - 1.7e9) % 400 < 200
    fitted = SVC(RBF(1 / 200**2), C=5).fit(X, y)
    assert fitted.machine_.prepare is not None
    for given in (X, csr_matrix(X)):
        f = ReducedSet(10, thresholds="train", random_state=0).fit(fitted, given, y).decision_function(given)
        fewest = min(np.count_nonzero((f + shift > 0) != y) for shift in np.linspace(-2, 2, 401))
        assert np.count_nonzero((f > 0) != y) == fewest


def noisy_moons(n=300):
    X, y = make_moons(n, noise=0.3, random_state=1)
    return X.astype(np.float32), y


@pytest.mark.parametrize("kernel", [RBF(1.0), Poly(3, 1, 1)])
def test_direct_at_fixed_vectors_is_the_machine_of_their_kernel(kernel):
    """That of K(X, Z) B^-1 K(Z, X), by scikit-learn."""
    X, y = noisy_moons()
    machine = SVC(kernel, C=2).fit(X, y).machine_
    reduced = ReducedSet(8, method="direct", iterations=0, thresholds="kept").fit(machine, X, y)
    Z, T = reduced.machine_.support_vectors.astype(float), np.random.default_rng(0).normal(size=(50, 2))
    B, K, own = kernel.exact(Z, Z), kernel.exact(X, Z), kernel.exact(T.astype(np.float32), Z)
    theirs = SKLEARN(C=2, kernel="precomputed", tol=1e-5).fit(K @ np.linalg.solve(B, K.T), y)
    expected = theirs.decision_function(own @ np.linalg.solve(B, K.T))
    np.testing.assert_allclose(reduced.decision_function(T), expected, atol=0.02)
    assert reduced.n_after_ == 8
    assert np.isnan(reduced.rho_).all()


def test_the_gradient_of_direct_is_that_of_differences():
    """Wu, Schölkopf and Bakır (2006): alpha counts as constant."""
    X, y = noisy_moons(120)
    Y = np.where(y, 1.0, -1.0)[None]
    fun = Direct(RBF(0.7), 1.0, X, Y, X[:3], Work())
    at = X[:3].astype(float).ravel()
    gradient, step = fun(at)[1], 0.02
    for j in range(len(at)):
        ahead, back = (fun(at + way * step * np.eye(len(at))[j])[0] for way in (1, -1))
        assert gradient[j] == pytest.approx((ahead - back) / (2 * step), rel=0.05, abs=0.05)


def test_direct_lowers_the_objective_towards_that_of_all_vectors_and_beats_the_nearest_expansion():
    X, y = noisy_moons(600)
    train, test = slice(None, 300), slice(300, None)
    svc = SVC(RBF(2.0), C=10).fit(X[train], y[train])
    right = {}
    for method in ("rho", "direct"):
        reduced = ReducedSet(5, method=method, random_state=0).fit(svc, X[train], y[train])
        right[method] = np.mean(reduced.predict(X[test]) == y[test])
    duals = [progress.dual for progress in reduced.history_ if progress.stage == "direct" and progress.dual]
    assert duals[-1] < 0.95 * duals[0]
    assert min(duals) == duals[-1] > svc.history_[-1].dual
    assert right["direct"] > right["rho"]
    assert right["direct"] > svc.score(X[test], y[test]) - 0.02


@pytest.mark.parametrize("shared", [True, False])
def test_direct_of_several_machines(shared):
    X, y = digits(300)
    reduced = ReducedSet(10, method="direct", shared=shared, iterations=5).fit(SVC(RBF(1.0), C=5).fit(X, y), X, y)
    assert reduced.n_after_ == (10 if shared else 100)
    assert (np.count_nonzero(reduced.machine_.coef, axis=1) == 10).all()
    assert np.mean(reduced.predict(X) == y) > 0.85
