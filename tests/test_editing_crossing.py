"""Cross-training beside its oracle, its laws, and joblib's ways of training the subsets."""

import threading

import numpy as np
import pytest
from joblib import parallel_config
from sklearn import svm
from sklearn.base import clone
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svmcore import RBF, SVC, CrossTrainingSVC, NuSVC, bagged, load, save
from svmcore.gram.threads import CORES
from svmcore.methods.editing.beside import Beside
from svmcore.methods.editing.crossing import Crossing
from svmcore.methods.editing.roles import KEPT, REINSERTED, TITLES, VALIDATION
from svmcore.methods.editing.subsets import draw_subsets
from svmcore.solvers.session import Session
from tests import naive
from tests.cases import all_cases


def overlapping(n=400, apart=2.0, seed=0, share=0.5):
    rng = np.random.default_rng(seed)
    y = np.where(rng.permutation(n) < share * n, 1, -1)
    return (rng.normal(size=(n, 2)) + apart / 2 * y[:, None] * [1, 0]).astype(np.float32), y


@pytest.mark.parametrize(("balance", "part"), [(True, None), (False, None), (True, "third")])
def test_it_is_algorithm_3(balance, part):
    X, y = overlapping(160, share=0.35)
    how = {"n_subsets": 4, "subset_size": 30, "validation_size": part, "balance": balance, "random_state": 1}
    machine = CrossTrainingSVC(SVC(RBF(0.4), C=2, tol=1e-6), **how).fit(X, y)
    margins, at = [], machine.validation_
    assert len(at) == (10 if part else 0)
    for subset in machine.subsets_:
        assert np.bincount(y[subset] > 0).tolist() == [15, 15]
        assert not set(subset) & set(at)
        f = svm.SVC(gamma=0.4, C=2, tol=1e-8).fit(X[subset], y[subset]).decision_function(X)
        if part:
            ours = machine.first_stage_[len(margins)].decision_values(X)[:, 0]
            assert np.mean(np.sign(ours[at]) == y[at]) == naive.threshold(f[at], y[at])
            f = f + (ours - f).mean()
        margins.append(y * f)
    np.testing.assert_allclose(machine.margin_mean_, np.mean(margins, axis=0), atol=1e-4)
    np.testing.assert_allclose(machine.margin_variance_, np.var(margins, axis=0), atol=1e-4)
    roles = naive.cross_training_roles(margins, y.tolist(), at.tolist(), balance)
    assert [TITLES[code] for code in machine.role_] == roles
    left = np.flatnonzero(np.isin(machine.role_, (KEPT, REINSERTED)))
    final = svm.SVC(gamma=0.4, C=2, tol=1e-8).fit(X[left], y[left])
    shift = machine.decision_function(X) - final.decision_function(X)
    np.testing.assert_allclose(shift, shift.mean(), atol=1e-4)
    assert sorted(machine.support_) == sorted(left[final.support_])
    if part is None:
        assert abs(shift.mean()) < 1e-4


def test_fewer_support_vectors_that_do_not_grow():
    sizes, plain = [], []
    for n in (600, 2400):
        X, y = overlapping(n)
        svc = SVC(RBF(0.2), C=1)
        sizes.append(len(CrossTrainingSVC(svc, subset_size=100, random_state=0).fit(X, y).support_))
        plain.append(len(svc.fit(X, y).support_))
    assert plain[1] > 3 * plain[0]
    assert sizes[1] < 2.5 * sizes[0] < 2.5 * plain[0] / 2


def test_subsets_are_disjoint_as_long_as_a_class_lasts():
    label = np.arange(100) % 4 // 3  # 75 and 25
    everyone = np.arange(100)
    rows = draw_subsets(label, everyone, 5, 10, np.random.RandomState(0))
    assert len(np.unique(rows)) == 50
    rows = draw_subsets(label, everyone, 7, 20, np.random.RandomState(0))
    for row in rows:
        assert len(np.unique(row)) == 20
        assert label[row].sum() == 10
    times = np.bincount(rows[label[rows] == 1], minlength=100)[label == 1]
    assert set(times) <= {2, 3, 4}
    X, y = overlapping(200, share=0.2)
    machine = CrossTrainingSVC(n_subsets=5, subset_size=74, validation_size="third", random_state=0).fit(X, y)
    assert np.bincount(y[machine.validation_] > 0).tolist() == [21, 3]  # 5 of 24 would not leave 37 for each subset
    machine = CrossTrainingSVC(n_subsets=5).fit(*overlapping(200))
    assert machine.subsets_.shape == (5, 40)
    assert len(np.unique(machine.subsets_)) == 200


def test_c_and_thresholds_are_chosen_on_what_did_not_train():
    X, y = overlapping(600, share=0.25)
    how = {"subset_size": 90, "validation_size": "third", "random_state": 2}
    machine = CrossTrainingSVC(SVC(RBF(0.5)), grid=[0.01, 1, 100], final_grid=[1e-3, 3], **how).fit(X, y)
    alone = {C: CrossTrainingSVC(SVC(RBF(0.5), C=C), final=SVC(RBF(0.5), C=3), **how).fit(X, y) for C in (0.01, 1, 100)}
    right = {}
    for C, other in alone.items():
        signs = [np.sign(one.decision_values(X)[:, 0]) == y for one in other.first_stage_]
        unseen = [np.setdiff1d(np.arange(600), subset) for subset in other.subsets_]
        right[C] = np.concatenate([sign[at] for sign, at in zip(signs, unseen, strict=True)]).mean()
    assert max(right, key=right.get) == machine.C_
    same = alone[machine.C_]
    np.testing.assert_array_equal(same.role_, machine.role_)
    assert same.search_seconds_ == 0 < machine.search_seconds_
    at = machine.validation_
    assert (np.flatnonzero(machine.role_ == VALIDATION) == at).all()
    assert len(at) == 30
    finals = {C: clone(same).set_params(final__C=C).fit(X, y).decision_function(X) for C in (1e-3, 3)}
    shares = {C: np.mean(np.sign(f[at]) == y[at]) for C, f in finals.items()}
    assert machine.final_C_ == machine.machine_.C == max(shares, key=shares.get)
    np.testing.assert_allclose(machine.decision_function(X), finals[machine.final_C_], atol=1e-9)
    assert shares[machine.final_C_] == naive.threshold(finals[machine.final_C_][at], y[at])


def test_the_bagged_machine_is_the_average(tmp_path):
    X, y = overlapping()
    machine = CrossTrainingSVC(SVC(RBF(0.5)), subset_size=100, random_state=0).fit(X, y)
    one = bagged(machine.first_stage_)
    mean = np.mean([m.decision_values(X) for m in machine.first_stage_], axis=0)
    np.testing.assert_allclose(one.decision_values(X), mean, atol=1e-6)
    assert (X[one.support] == one.support_vectors).all()
    np.testing.assert_allclose(machine.margin_mean_, y * mean[:, 0], atol=1e-4)
    save(one, tmp_path / "bagged.npz")
    np.testing.assert_allclose(load(tmp_path / "bagged.npz").decision_values(X), mean, atol=1e-6)
    with pytest.raises(ValueError, match="first_stage is empty"):
        bagged([])


def test_same_seed_same_machine_whatever_trains_the_subsets():
    X, y = overlapping(300)
    machine = CrossTrainingSVC(NuSVC(RBF(0.5), nu=0.4), validation_size=30, random_state=5)
    first = clone(machine).set_params(n_jobs=1).fit(X, y)
    others = [clone(machine).set_params(n_jobs=n).fit(X, y) for n in (2, None)]
    with parallel_config(backend="loky", n_jobs=2):
        others.append(clone(machine).fit(X, y))
    for other in others:
        assert (other.role_ == first.role_).all()
        assert (other.dual_coef_ == first.dual_coef_).all()
        assert other.intercept_ == first.intercept_
        assert other.kernel_evals_ == first.kernel_evals_
    assert (clone(machine).set_params(random_state=6).fit(X, y).subsets_ != first.subsets_).any()


def test_a_cluster_trains_the_subsets():
    """Two workers as threads: that tasks survive the way into another process is loky's test, whose start is faster."""
    distributed = pytest.importorskip("distributed", reason="dask is not installed")
    X, y = overlapping(300)
    machine = CrossTrainingSVC(SVC(RBF(0.5)), random_state=5)
    here = clone(machine).fit(X, y)
    with (
        distributed.LocalCluster(2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster,
        distributed.Client(cluster),
        parallel_config(backend="dask"),
    ):
        there = clone(machine).fit(X, y)
    assert (there.role_ == here.role_).all()
    assert (there.dual_coef_ == here.dual_coef_).all()


def test_reports_come_in_the_fitting_thread_and_cover_both_stages():
    X, y = overlapping(3000)
    seen, threads, rows = [], set(), []

    def monitor(progress):
        seen.append(progress)
        threads.add(threading.get_ident())
        if progress.snapshot is not None:
            snapshot = progress.snapshot()
            assert snapshot.coef.shape == (1, len(snapshot.support)) == snapshot.bound.shape
            rows.append((progress.stage, snapshot.support))
        return True

    machine = CrossTrainingSVC(SVC(RBF(0.5)), random_state=0).fit(X, y, monitor=monitor)
    assert rows[-1][0] == "final"
    assert set(rows[-1][1]) == set(machine.support_)
    assert all(set(at) <= set(machine.subsets_.ravel()) for stage, at in rows if stage == "first stage")
    assert threads == {threading.get_ident()}
    assert [p.stage for p in seen] == sorted([p.stage for p in seen], key=["first stage", "final"].index)
    assert {p.stage for p in seen} == {"first stage", "final"}
    for name in ("iterations", "kernel_evals", "seconds"):
        values = [getattr(p, name) for p in seen]
        assert values == sorted(values)
    assert machine.history_[-1].kernel_evals == machine.kernel_evals_


def test_a_no_in_the_first_stage_ends_it(monkeypatch):
    """Nobody was asked before all of its machines were trained."""
    begun, said, fit = [], threading.Event(), SVC.fit

    def held(svc, *arguments, **settings):
        begun.append(svc)
        said.wait(0.3)
        return fit(svc, *arguments, **settings)

    def monitor(progress):
        if begun:
            said.set()
            raise OSError("no")
        return True

    monkeypatch.setattr(SVC, "fit", held)
    with pytest.raises(OSError, match="no"):
        CrossTrainingSVC(SVC(RBF(2.0)), n_subsets=25, random_state=0).fit(*overlapping(1000), monitor=monitor)
    assert 1 <= len(begun) <= CORES + 1


def test_a_pause_in_the_first_stage_holds_its_machines(monkeypatch):
    ticks, paused, real = [], [], Beside._monitor

    def ticking(beside, slot):
        monitor = real(beside, slot)

        def tick(progress):
            go_on = monitor(progress)
            ticks.append(slot)
            return go_on

        return tick

    def monitor(progress):
        if progress.iterations and not paused:
            threading.Event().wait(0.1)  # those that were asked already go on to their next report
            paused.append(len(ticks))
            threading.Event().wait(0.3)
            paused.append(len(ticks))
        return len(paused) < 2

    monkeypatch.setattr(Beside, "_monitor", ticking)
    X, y = overlapping(6000, apart=1.0)
    CrossTrainingSVC(SVC(RBF(2.0), C=1000), subset_size=2000, random_state=0).fit(X, y, monitor=monitor)
    assert len(paused) == 2
    assert paused[0] == paused[1]


@pytest.mark.parametrize("stage", ["first stage", "final"])
def test_a_stop_leaves_a_machine(stage):
    X, y = overlapping(4000, apart=1.0)
    machine = CrossTrainingSVC(SVC(RBF(2.0), C=10), subset_size=1000, random_state=0)
    machine.fit(X, y, monitor=lambda progress: progress.stage != stage or progress.iterations < 20)
    assert not machine.converged_
    assert machine.ending_ == "stopped"
    assert np.isfinite(machine.decision_function(X)).all()
    if stage == "first stage":
        assert np.isnan(machine.margin_mean_).all()
        assert (machine.role_ == KEPT).all()
        assert len(machine.first_stage_) == 5
    else:
        assert (machine.role_ != KEPT).any()
    machine.fit(X, y, monitor=lambda progress: False)
    assert machine.ending_ == "stopped"


@all_cases(
    ("change", "said"),
    [
        ({"n_subsets": 1}, "n_subsets = 1; allowed: a whole number from 2"),
        ({"n_subsets": 2.0}, "n_subsets = 2.0; allowed"),
        ({"subset_size": 31}, "subset_size = 31; allowed: an even number from 2 to 40"),
        ({"subset_size": 42}, "subset_size = 42; allowed: an even number from 2 to 40, twice the 20 examples"),
        ({"subset_size": 1000}, "subset_size = 1000; allowed"),
        ({"subset_size": 40, "validation_size": 20}, "validation_size = 20; allowed: None, or smaller subsets, since"),
        ({"subset_size": 36, "validation_size": 70}, "validation_size = 70; allowed: from 2 to 64, since the subsets"),
        ({"validation_size": 1}, "validation_size = 1; allowed"),
        ({"validation_size": "half"}, "validation_size = 'half'; allowed"),
        ({"validation_size": 100}, "validation_size = 100; allowed"),
        ({"final_grid": [1, 2]}, "final_grid = .* with validation_size = None; allowed: a validation_size"),
        ({"slack": -1}, "slack = -1; allowed"),
        ({"final_grid": [0], "validation_size": 20}, "final_grid = \\[0\\]; allowed: numbers above 0"),
        ({"grid": 3}, "grid = 3; allowed: numbers above 0"),
        ({"grid": [1, "2"]}, "grid = .*; allowed: numbers above 0"),
        ({"n_jobs": 0}, "n_jobs = 0; allowed"),
        ({"slack": "x"}, "slack = 'x'; allowed"),
        ({"grid": []}, "grid = \\[\\]; allowed"),
        ({"estimator": svm.SVC()}, "estimator = SVC"),
        ({"final": SVC("precomputed")}, "final: kernel = 'precomputed'"),
        ({"final": SVC(C=0)}, "final: C = 0; allowed"),
    ],
)
def test_what_cannot_be_is_said(change, said):
    X, y = overlapping(100, share=0.2)
    with pytest.raises(ValueError, match=said):
        CrossTrainingSVC(**change).fit(X, y)


def test_other_input_that_cannot_be():
    X, y = overlapping(90)
    three = np.arange(90) % 3
    with pytest.raises(ValueError, match=r"3 classes; allowed: 2\..*OneVsRestClassifier"):
        CrossTrainingSVC().fit(X, three)
    assert OneVsRestClassifier(CrossTrainingSVC(n_subsets=2)).fit(X + three[:, None] * 9, three).score(
        X + three[:, None] * 9, three
    ) == pytest.approx(1, abs=0.05)
    with pytest.raises(ValueError, match="NaN"):
        CrossTrainingSVC().fit(np.where(np.arange(90)[:, None] == 3, np.nan, X), y)
    assert make_pipeline(StandardScaler(), CrossTrainingSVC(n_subsets=2)).fit(X, y).score(X, y) > 0.6


def test_a_class_is_never_lost_without_a_word():
    X, y = overlapping(200, apart=20.0)  # everything is easy: the easy ones come back, also without balance
    for balance in (True, False):
        machine = CrossTrainingSVC(SVC(RBF(0.05), C=100), balance=balance, random_state=0).fit(X, y)
        assert machine.score(X, y) == 1
    X, y = overlapping(200)
    stage = Crossing(X, y, (y > 0).astype(int), Session())
    stage.mean, stage.variance = np.where(y > 0, -1.0, 0.5), np.zeros(200)
    with pytest.raises(ValueError, match="misclassify every example of class 1"):
        stage.discard(balance=True)
