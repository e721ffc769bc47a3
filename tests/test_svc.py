"""The estimator against scikit-learn's own: objectives, decisions, every estimator check, and its errors."""

import numpy as np
import pytest
from scipy.sparse import csr_matrix
from sklearn import svm
from sklearn.base import clone
from sklearn.datasets import load_digits, make_classification
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from svmcore import (
    RBF,
    SVC,
    BudgetError,
    CrossTrainingSVC,
    EditingSVC,
    FileRows,
    Jittered,
    Linear,
    NuSVC,
    Poly,
    Preprocessor,
    Sigmoid,
    VirtualSVC,
    bagged,
    load,
    save,
)
from svmcore.methods.tangent_neighbours import TangentNeighbours
from tests import naive
from tests.cases import all_cases

PARAMETERS = [
    {"kernel": "linear", "C": 0.5},
    {"kernel": "poly", "degree": 3, "gamma": "scale", "coef0": 1.0},
    {"kernel": "rbf", "C": 3.0},
    {"kernel": "rbf", "gamma": "auto", "class_weight": "balanced"},
]


def random_problem(seed):
    """Binary problem number `seed`: sizes, noise, duplicates, weights and offsets all vary."""
    rng = np.random.default_rng(seed)
    n = int([2, 3, 10, 40, 150, 400, 900, 2000][seed % 8])
    d = int(rng.choice([1, 2, 10, 60, 300]))
    X = rng.normal(size=(n, d)) * rng.uniform(0.1, 3) + (5.0 if seed % 5 == 0 else 0.0)
    y = np.where(X[:, 0] - X[:, 0].mean() + (seed % 3) * 0.7 * X.std() * rng.normal(size=n) > 0, 1, 0)
    y[:2] = 0, 1
    if seed % 4 == 1 and n > 10:
        X[n // 2 :] = X[: n - n // 2]  # duplicates, some with the other label
    weight = rng.uniform(0.2, 3, n) if seed % 2 else None
    return X, y, weight


@all_cases("seed", range(20))
def test_binary_problems_reach_scikit_learns_objective(seed):
    X, y, weight = random_problem(seed)
    parameters = PARAMETERS[seed % len(PARAMETERS)]
    ours = SVC(**parameters).fit(X, y, sample_weight=weight)
    theirs = svm.SVC(**parameters).fit(X, y, sample_weight=weight)
    K, sign = ours.kernel_.exact(X, X), np.where(y == 1, 1.0, -1.0)

    def dual(machine):
        alpha = np.zeros(len(y))
        alpha[machine.support_] = np.abs(machine.dual_coef_[0])
        return naive.dual(K, sign, alpha)

    assert ours.converged_
    assert dual(ours) == pytest.approx(dual(theirs), rel=1e-4)
    f, g = ours.decision_function(X), theirs.decision_function(X)
    clear = (np.abs(f) > 1e-3) & (np.abs(g) > 1e-3)
    np.testing.assert_array_equal(f[clear] > 0, g[clear] > 0)
    assert ours.n_support_.shape == theirs.n_support_.shape
    assert ours.dual_coef_.shape[0] == theirs.dual_coef_.shape[0]
    assert ours.intercept_.shape == theirs.intercept_.shape


def test_sigmoid_machines_end_with_a_small_gap():
    X, y = make_classification(300, 8, random_state=0)
    machine = SVC(kernel="sigmoid", gamma=0.05, coef0=-0.5).fit(X, y)
    K, sign = machine.kernel_.exact(X, X), np.where(y == 1, 1.0, -1.0)
    alpha = np.zeros(300)
    alpha[machine.support_] = np.abs(machine.dual_coef_[0])
    assert naive.kkt_gap(K, sign, np.ones(300), alpha) <= 2e-3


def test_several_classes_are_one_machine_each_against_the_rest():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    ours = SVC(kernel="rbf", gamma=0.05, C=5).fit(X[:1200], y[:1200])
    theirs = OneVsRestClassifier(svm.SVC(kernel="rbf", gamma=0.05, C=5)).fit(X[:1200], y[:1200])
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)
    np.testing.assert_array_equal(ours.predict(X[1200:]), theirs.predict(X[1200:]))
    assert ours.dual_coef_.shape == (10, len(ours.support_))
    assert ours.intercept_.shape == (10,)


def test_both_solvers_make_the_same_machine(monkeypatch):
    monkeypatch.setattr("svmcore.solvers.decomposition.sample.LARGEST", 300)
    X, y = load_digits(return_X_y=True)
    machines = [
        SVC(RBF(0.001), C=2, solver=solver, cache_mb=mb, tol=1e-4).fit(X, y)
        for solver, mb in (("smo", None), ("decomposition", None), ("decomposition", 5))
    ]
    for other in machines[1:]:
        np.testing.assert_allclose(other.decision_function(X), machines[0].decision_function(X), atol=2e-3)


STEPS_ARE_POSITIONAL = {  # Preprocessor("deslant", "unit-norm"): scikit-learn asks for names only
    "check_no_attributes_set_in_init",
    "check_do_not_raise_errors_in_init_or_set_params",
    "check_set_params",
}


@pytest.mark.parametrize(
    ("estimator", "theirs"),
    [
        (SVC(), svm.SVC()),
        (SVC(kernel="linear"), svm.SVC()),
        (SVC(kernel=RBF(0.1)), svm.SVC()),
        (SVC(kernel="precomputed"), svm.SVC(kernel="precomputed")),
        (NuSVC(nu=0.2), svm.NuSVC(nu=0.2)),
        (CrossTrainingSVC(), svm.SVC()),
        (VirtualSVC(jitters="none"), svm.SVC()),
        (VirtualSVC(jitters="none", scope="all"), svm.SVC()),
        (TangentNeighbours(jitters="none"), KNeighborsClassifier()),
        (Preprocessor("zscore"), StandardScaler()),
        (Preprocessor("pca:1,whiten=1"), PCA(1, whiten=True)),
        (Preprocessor(), StandardScaler()),
        (Preprocessor("zscore", "pca:1", "unit-norm"), make_pipeline(StandardScaler(), PCA(1), Normalizer())),
        (make_pipeline(Preprocessor("zscore", "pca:1"), SVC()), make_pipeline(StandardScaler(), PCA(1), svm.SVC())),
    ],
    ids=repr,
)
def test_every_estimator_check_that_scikit_learns_own_passes(estimator, theirs):
    def passed(candidate):
        checks = check_estimator(candidate, on_fail=None, on_skip=None)
        found = {check["check_name"] for check in checks if check["status"] == "passed"}
        return found, {check["check_name"] for check in checks if check["status"] == "failed"}

    excused = STEPS_ARE_POSITIONAL if "Preprocessor" in repr(estimator) else set()
    should = passed(theirs)[0]
    assert len(should) > 30
    assert should & passed(estimator)[1] <= excused


def test_pipelines_and_searches():
    X, y = load_digits(return_X_y=True)
    scores = []
    for estimator in (SVC(), svm.SVC()):
        search = GridSearchCV(make_pipeline(StandardScaler(), estimator), {"svc__C": [1, 10]}, cv=3)
        scores.append(search.fit(X[:600], y[:600]).best_score_)
    assert scores[0] == pytest.approx(scores[1], abs=0.02)


def test_searches_over_the_fields_of_a_kernel():
    X, y = load_digits(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), SVC(Poly(3, 0.01)))
    search = GridSearchCV(pipe, {"svc__kernel__degree": [1, 4], "svc__kernel": [Poly(2, 0.01), Poly(2, 0.02)]}, cv=3)
    search.fit(X[:300], y[:300])
    assert search.best_estimator_[-1].kernel_.degree in (1, 4)
    assert search.best_estimator_[-1].kernel_.gamma in (0.01, 0.02)
    jittered = SVC(Jittered(Poly(3), "box:1", (8, 8)))
    assert clone(jittered).set_params(kernel__base__degree=7).kernel.base == Poly(7)
    assert jittered.kernel.base == Poly(3)
    assert jittered.get_params()["kernel__base__degree"] == 3
    with pytest.raises(ValueError, match="unknown field 'width'; allowed: degree, gamma"):
        SVC(Poly(3)).set_params(kernel__width=3)
    with pytest.raises(ValueError, match="allowed: a Kernel object"):
        SVC("rbf").set_params(kernel__gamma=3)


def test_a_precomputed_kernel_is_the_kernel_itself(tmp_path):
    X, y = load_digits(return_X_y=True)
    X = X / 16
    K = RBF(0.05).exact(X.astype(np.float32), X[:800].astype(np.float32))
    given, plain = SVC(kernel="precomputed", C=5).fit(K[:800], y[:800]), SVC(RBF(0.05), C=5).fit(X[:800], y[:800])
    theirs = svm.SVC(kernel="precomputed", C=5).fit(K[:800], y[:800] == 3)
    np.testing.assert_allclose(given.decision_function(K), plain.decision_function(X), atol=3e-3)
    binary = SVC(kernel="precomputed", C=5).fit(K[:800], y[:800] == 3)
    np.testing.assert_allclose(binary.decision_function(K), theirs.decision_function(K), atol=3e-3)
    save(given, tmp_path / "machine.npz")
    loaded = load(tmp_path / "machine.npz")
    np.testing.assert_array_equal(loaded.decision_values(K), given.decision_function(K))
    with pytest.raises(ValueError, match="allowed: \\(n, 800\\)"):
        loaded.decision_values(K[:, :799])
    with pytest.raises(ValueError, match="square"):
        SVC(kernel="precomputed").fit(K[:900], y[:900])


def test_an_example_of_weight_zero_is_as_if_it_were_not_there():
    X, y = make_classification(200, 5, random_state=1)
    weight = np.where(np.arange(200) % 4 == 0, 0.0, 1.0)
    whole, part = SVC().fit(X, y, sample_weight=weight), SVC(gamma=1 / (5 * X.astype(np.float32).var()))
    part.fit(X[weight > 0], y[weight > 0])
    np.testing.assert_allclose(whole.decision_function(X), part.decision_function(X), atol=5e-3)


def test_linear_machines_have_weights():
    X, y = make_classification(100, 5, random_state=2)
    machine = SVC(Linear()).fit(X, y)
    np.testing.assert_allclose(X @ machine.coef_[0] + machine.intercept_, machine.decision_function(X), atol=1e-5)
    with pytest.raises(AttributeError, match="linear"):
        _ = SVC().fit(X, y).coef_


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": "spline"}, ["kernel", "spline", "rbf"]),
        ({"C": -1}, ["C", "-1", "above 0"]),
        ({"C": "x"}, ["C", "x"]),
        ({"tol": 0}, ["tol", "0"]),
        ({"solver": "magic"}, ["solver", "magic", "decomposition"]),
        ({"kernel": "precomputed", "solver": "smo-digestion"}, ["solver", "smo-digestion", "precomputed"]),
        ({"gamma": "wide"}, ["gamma", "wide", "scale"]),
        ({"cache_mb": 0}, ["cache_mb", "0"]),
        ({"cache_mb": 0.01}, ["cache_mb", "needs", "at least"]),
    ],
)
def test_errors_name_field_value_and_way_out(parameters, words):
    X, y = make_classification(100, 5, random_state=3)
    with pytest.raises(ValueError, match="allowed") as caught:
        SVC(**parameters).fit(X, y)
    assert all(word in str(caught.value) for word in words)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda X, y: (X * np.where(X > 1, np.nan, 1), y), "NaN"),
        (lambda X, y: (X, np.zeros(100)), "one|1 class"),
        (lambda X, y: (X[:0], y[:0]), "0 sample"),
        (lambda X, y: (X, y[:50]), "inconsistent"),
        (lambda X, y: (X * 1e300, y), "float32|infinity|too large"),
        (lambda X, y: (X, np.linspace(0, 1, 100)), "continuous"),
    ],
)
def test_bad_data_is_refused(change, words):
    X, y = make_classification(100, 5, random_state=4)
    with pytest.raises(ValueError, match=words):
        SVC().fit(*change(X, y))


def test_a_kernel_that_overflows_says_so():
    X, y = make_classification(50, 5, random_state=5)
    with pytest.raises(ValueError, match="overflow"):
        SVC(Poly(9, 1.0, 1.0, normalised=False)).fit(X * 1e5, y)


def test_a_budget_that_is_too_small_says_what_is_needed():
    X, y = make_classification(2000, 5, random_state=6)
    with pytest.raises(BudgetError, match=r"needs 1. MB and the ceiling is 2 MB"):
        SVC(solver="smo", cache_mb=2).fit(X, y)


def test_rbf_far_from_the_origin_keeps_its_precision():
    X, y = make_classification(300, 5, random_state=7)
    near, far = SVC(RBF(0.1)).fit(X, y), SVC(RBF(0.1)).fit(X + 1000, y)
    theirs = svm.SVC(gamma=0.1).fit(X + 1000, y)
    np.testing.assert_allclose(far.decision_function(X + 1000), theirs.decision_function(X + 1000), atol=2e-2)
    assert abs(len(near.support_) - len(far.support_)) <= 3


@all_cases("beyond", [1e39, -1e39, 1e300])
@all_cases("make", [SVC, lambda: VirtualSVC(rounds=0, jitters="none"), NuSVC, CrossTrainingSVC])
def test_what_fit_refuses_predict_refuses(make, beyond):
    X = np.random.default_rng(0).normal(size=(60, 4))
    X[:30, 0] += 3
    y = np.arange(60) // 30
    far = X.copy()
    far[7, 2] = beyond
    machine = make().fit(X, y)
    for refused in (lambda: make().fit(far, y), lambda: machine.predict(far), lambda: machine.decision_function(far)):
        with pytest.raises(ValueError, match=r"float32"):
            refused()
    with pytest.raises(ValueError, match="beyond float32"):
        machine.machine_.decision_values(far)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "estimator", [SVC("rbf", C=10.0), NuSVC("rbf", nu=0.2), SVC("rbf", C=10.0, solver="decomposition")]
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_differences_that_float32_would_round_away_reach_a_gaussian_kernel(estimator, n_classes, tmp_path):
    rng = np.random.default_rng(n_classes)
    shift = np.array([20000.0, 1.7e12, -3.0])
    spread = np.array([1e-3, 600e3, 1.0])
    Z = rng.random((300, 3))
    y = (n_classes * Z[:, 0]).astype(int)
    X = shift + spread * Z
    gamma = {"gamma": 1 / X.var(axis=0)[0]}
    X[:, 1:] = shift[1:] + (spread[1:] * Z[:, 1:]).round() * 1e-3
    fitted = clone(estimator).set_params(**gamma).fit(X, y)
    theirs = svm.SVC(C=10.0, tol=1e-5, **gamma) if type(fitted) is SVC else svm.NuSVC(nu=0.2, tol=1e-5, **gamma)
    theirs = (OneVsRestClassifier(theirs) if n_classes > 2 else theirs).fit(X - X.mean(axis=0), y)
    wanted = theirs.decision_function(X - X.mean(axis=0))
    assert np.abs(fitted.decision_function(X) - wanted).max() < 0.01
    assert np.abs(fitted.support_vectors_ - X[fitted.support_]).max() == 0
    save(fitted, tmp_path / "machine.npz")
    np.testing.assert_array_equal(load(tmp_path / "machine.npz").predict(X), fitted.predict(X))


@all_cases("how", ["array", "csr", "FileRows", "memmap", "memmap in its file"])
@pytest.mark.filterwarnings("error")
def test_differences_that_float32_would_round_away_survive_however_rows_are_given(how, tmp_path):
    """Against scikit-learn on the same numbers less 20000; the labels depend on what float32 would lose."""
    rng = np.random.default_rng(5)
    n, d = (400, 3) if how != "memmap in its file" else (3000, 200)
    X = np.column_stack([20000 + 1e-3 * rng.random(n), *rng.normal(size=(d - 1, n))])
    X[:, 1:] *= 1e-4
    y = X[:, 0] > 20000.0005
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    given = {"csr": csr_matrix(X), "FileRows": FileRows.open(tmp_path / "X.npy"), "array": X}.get(how, mapped)
    gamma = 1 / X[:, 0].var()
    fitted = SVC(RBF(gamma), C=10.0, tol=1e-4, cache_mb=19 if how == "memmap in its file" else None).fit(given, y)
    theirs = svm.SVC(gamma=gamma, C=10.0, tol=1e-5).fit(X - [20000, *[0] * (d - 1)], y)
    wanted = theirs.decision_function(X - [20000, *[0] * (d - 1)])
    save(fitted, tmp_path / "machine.npz")
    for ask in (given, X, csr_matrix(X), FileRows.open(tmp_path / "X.npy")):
        for decided in (fitted.decision_function(ask), load(tmp_path / "machine.npz").decision_function(ask)[:, 0]):
            assert np.abs(decided - wanted).max() < 0.01
    np.testing.assert_array_equal(np.asarray(fitted.support_vectors_), X[fitted.support_])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("given", [np.asarray, csr_matrix])
def test_one_number_far_from_all_others_takes_no_digits_from_them(given):
    """A time of 0 among times of now: neither its deviation nor its mean says what float32 does to the others."""
    rng = np.random.default_rng(2)
    X = 1.7e9 + 600 * rng.random((400, 1))
    y = X[:, 0] > 1.7e9 + 300
    X[0] = 0
    fitted, theirs = SVC(RBF(12 / 600**2), C=10).fit(given(X), y), svm.SVC(gamma=12 / 600**2, C=10).fit(X - 1.7e9, y)
    assert np.abs(fitted.decision_function(given(X)) - theirs.decision_function(X - 1.7e9)).max() < 0.01


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("how", [{}, {"solver": "decomposition"}, {"solver": "general"}, {"loss": "squared_hinge"}])
def test_a_linear_machine_of_numbers_far_from_0_is_that_of_the_numbers_centred(how, tmp_path):
    rng = np.random.default_rng(4)
    near = np.column_stack([rng.uniform(-300, 300, 300), 50 * rng.normal(size=300)])
    y, shift = near[:, 0] + 2 * near[:, 1] + 40 * rng.normal(size=300) > 0, np.array([1.7e9, 0])
    X = near + shift
    near = X - shift
    fitted, theirs = SVC("linear", C=0.1, tol=1e-5, **how).fit(X, y), svm.SVC(kernel="linear", C=0.1, tol=1e-6)
    if how.get("loss"):
        theirs = svm.SVC(kernel="precomputed", C=1e9, tol=1e-6)  # the ridge 1 / 2C of slack that costs its square
        wanted = theirs.fit(near @ near.T + 5 * np.eye(300), y).decision_function(near @ near.T)
    else:
        wanted = theirs.fit(near, y).decision_function(near)
    save(fitted, tmp_path / "machine.npz")
    for decided in (fitted.decision_function(X), load(tmp_path / "machine.npz").decision_function(X)[:, 0]):
        np.testing.assert_allclose(decided, wanted, atol=2e-3)
    np.testing.assert_allclose(X @ fitted.coef_[0] + fitted.intercept_, wanted, atol=2e-3)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    "make",
    [
        lambda svc: CrossTrainingSVC(svc, subset_size=100, random_state=0),
        lambda svc: CrossTrainingSVC(svc, subset_size=100, final=SVC(RBF(1e-4), C=2), random_state=0),
        lambda svc: EditingSVC(svc, random_state=0),
    ],
)
def test_machines_of_edited_examples_keep_differences_too(make, tmp_path):
    """Against the same estimator on the same numbers moved by hand."""
    rng = np.random.default_rng(1)
    X = np.column_stack([1.7e9 + rng.uniform(0, 600, 300), rng.normal(size=300)])
    y, shift = X[:, 0] > 1.7e9 + 300, np.array([np.sort(X[:, 0])[150], 0])
    svc = SVC(RBF(1 / X[:, 0].var()), C=5)
    fitted, wanted = make(svc).fit(X, y), make(svc).fit(X - shift, y)
    np.testing.assert_allclose(fitted.decision_function(X), wanted.decision_function(X - shift), atol=1e-6)
    np.testing.assert_array_equal(fitted.support_vectors_, X[fitted.support_])
    assert fitted.score(X, y) > 0.98
    save(fitted, tmp_path / "machine.npz")
    np.testing.assert_array_equal(load(tmp_path / "machine.npz").predict(X), fitted.predict(X))
    if isinstance(fitted, CrossTrainingSVC):
        assert np.mean(bagged(fitted.first_stage_).predict(X) == y) > 0.98


def test_groups_of_numbers_that_single_precision_cannot_hold_together_are_named():
    rng = np.random.default_rng(3)
    X = np.column_stack([rng.random(400), np.where(rng.random(400) < 0.5, 1e6, 0) + 0.01 * rng.random(400)])
    with pytest.warns(UserWarning, match=r"differences in column 1; its numbers form groups far apart: replace it"):
        SVC(RBF(1e4)).fit(X, X[:, 1] % 1 > 0.005)


@pytest.mark.parametrize("given", [np.asarray, csr_matrix])
def test_a_kernel_that_needs_all_digits_says_which_column_loses_them(given, tmp_path):
    X = np.column_stack([np.arange(80.0), 20000 + 1e-3 * np.random.default_rng(0).random(80), np.full(80, 0.1)])
    np.save(tmp_path / "X.npy", X)
    for rows in (given(X), FileRows.open(tmp_path / "X.npy")):
        with pytest.warns(UserWarning, match=r"differences in column 1; subtract its .*Preprocessor\('zscore'\)"):
            SVC(Sigmoid(1e-9)).fit(rows, X[:, 1] > 20000.0005)


def test_gamma_by_scale_is_that_of_all_digits(tmp_path):
    X = 16_000_000 + np.random.default_rng(0).integers(0, 2, (300, 4)).astype(float)
    X[:, 0] += 0.01 * np.arange(300)
    np.save(tmp_path / "X.npy", X)
    wanted = 1 / (4 * X.astype(np.longdouble).var())
    for given in (X, csr_matrix(X), FileRows.open(tmp_path / "X.npy"), np.load(tmp_path / "X.npy", mmap_mode="r")):
        assert SVC().fit(given, X[:, 1] > 16_000_000.5).kernel_.gamma == pytest.approx(float(wanted), rel=1e-6)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("weights", [{}, {"class_weight": "balanced"}, {"class_weight": {0: 3.0}}])
def test_held_out_decisions_are_those_of_machines_that_have_not_seen_the_examples(classes, weights):
    rng = np.random.default_rng(0)
    X, y, weight = rng.normal(size=(90, 4)), np.arange(90) % classes, rng.uniform(0.5, 2, 90)
    X[:, 0] += y
    left_out = np.arange(90) % 7 == np.arange(3)[:, None]
    machine = SVC(RBF(0.5), C=3, tol=1e-5, **weights)
    decided = machine.held_out_decisions(X, y, left_out, weight)
    for out, decision in zip(left_out, decided, strict=True):
        alone = clone(machine).fit(X[~out], y[~out], weight[~out]).decision_function(X)
        np.testing.assert_allclose(decision.squeeze(), alone, atol=1e-3)
    shared = machine.held_out_decisions(X, y, left_out, weight, source=machine.shared_source(X, classes))
    np.testing.assert_allclose(shared, decided, atol=1e-4)
    with pytest.raises(ValueError, match="class"):
        machine.held_out_decisions(X, y, (y == 1)[None])
    with pytest.raises(ValueError, match="squared_hinge"):
        clone(machine).set_params(loss="squared_hinge").held_out_decisions(X, y, left_out)
