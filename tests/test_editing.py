"""Editing rules beside obvious oracles, what they do to two classes that overlap, and what cannot be asked of them."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

from svmcore import RBF, SVC, EditingSVC, NuSVC, edit
from svmcore.gram.sources import Work
from svmcore.methods.editing import RULES
from svmcore.methods.editing import trimmed as module
from svmcore.methods.editing.crossing import threshold
from svmcore.methods.editing.neighbours import condense, edited_nn, multiedit
from svmcore.methods.editing.roles import EASY, KEPT, REASONS, TITLES, WRONG_SIDE, counts
from svmcore.solvers.progress import Stopped
from tests import naive
from tests.cases import all_cases


def overlapping(n=400, apart=2.0, seed=0):
    """Two clouds in the plane; the Bayes rule is the sign of the first feature."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2, 1, -1)
    return (rng.normal(size=(n, 2)) + apart / 2 * y[:, None] * [1, 0]).astype(np.float32), y


@pytest.mark.parametrize("seed", range(3))
def test_neighbour_rules_are_those_of_the_oracle(seed):
    rng = np.random.default_rng(seed)
    X, label = rng.normal(size=(50, 3)).astype(np.float32), rng.integers(0, 3, 50)
    X[label == 2] += 1.5
    for k in (1, 2, 3):
        assert edited_nn(X, label, Work(), k).tolist() == naive.edited_nn(X, label.tolist(), k)
    ours = multiedit(X, label, Work(), np.random.RandomState(seed), n_splits=3, patience=2)
    theirs = naive.multiedit(X, label.tolist(), np.random.RandomState(seed), 3, 2)
    assert np.flatnonzero(ours).tolist() == theirs
    ours = condense(X, label, Work(), np.random.RandomState(seed))
    assert np.flatnonzero(ours).tolist() == naive.condense(
        X, label.tolist(), np.random.RandomState(seed).permutation(50)
    )


def test_twins_are_neighbours_of_each_other():
    X = np.repeat(np.arange(4, dtype=np.float32), 5)[:, None]
    label = np.repeat([0, 1, 0, 1], 5)
    assert edited_nn(X, label, Work(), 2).all()
    label[0] = 1  # alone among its four twins
    assert np.flatnonzero(~edited_nn(X, label, Work(), 4)).tolist() == [0]
    left = condense(X, label, Work(), np.random.RandomState(0))  # twins of two classes: no set has all of them right
    assert 4 <= left.sum() <= 6


def test_multiedit_removes_the_overlap_and_condense_keeps_the_boundary():
    X, y = overlapping(600)
    wrong = np.sign(X[:, 0]) != y
    distance = np.abs(X[:, 0])
    left = edit("multiedit", X, y, seed=1)
    assert wrong[left.kept].mean() < 0.02 < 0.1 < wrong.mean()
    both = edit("multiedit+condense", X, y, seed=1)
    assert len(both.kept) < 0.1 * len(y)
    assert np.median(distance[both.kept]) < 0.7 * np.median(distance[left.kept])
    assert set(both.kept) <= set(left.kept)
    assert counts(both.role)["wrong side"] == 600 - len(left.kept)
    condensed = edit("condense", X, y, seed=1)
    assert wrong[condensed.kept].sum() == wrong.sum() or wrong[condensed.kept].mean() > wrong.mean()
    assert set(np.unique(condensed.role)) == {KEPT, EASY}


@pytest.mark.parametrize("rule", RULES)
def test_every_rule_edits_and_a_machine_follows(rule):
    X, y = overlapping()
    svc = SVC(RBF(0.5), C=10)
    plain = svc.fit(X, y)
    machine = EditingSVC(svc, rule=rule, random_state=3).fit(X, y)
    again = EditingSVC(svc, rule=rule, random_state=3).fit(X, y)
    assert machine.converged_
    assert (machine.role_ == again.role_).all()
    assert (machine.dual_coef_ == again.dual_coef_).all()
    assert len(machine.support_) < len(plain.support_)
    assert set(machine.support_) <= set(machine.kept_)
    assert (machine.machine_.support_vectors == X[machine.support_]).all()
    X_test, y_test = overlapping(2000, seed=9)
    assert machine.score(X_test, y_test) > plain.score(X_test, y_test) - 0.05
    assert sum(counts(machine.role_).values()) == len(y)
    assert RULES[rule].why.endswith(".")
    assert RULES[rule].source


def test_the_trimmed_machine_has_nobody_far_on_the_wrong_side():
    X, y = overlapping(apart=3.0)
    y[:20] = -y[:20]
    svc = SVC(RBF(0.1), C=1)
    machine = EditingSVC(svc, rule="trimmed", below=-0.5).fit(X, y)
    margins = y * machine.decision_function(X)
    assert ((margins < -0.5) == (machine.role_ == WRONG_SIDE)).all()
    assert counts(machine.role_)["wrong side"] >= 10
    assert counts(EditingSVC(svc, rule="trimmed", below=-50).fit(X, y).role_)["kept"] == len(y)


def test_the_ramp_loss_never_rises_and_ends_where_the_published_procedure_would_stay(monkeypatch):
    """Collobert et al. (2006), Algorithm 2: each round by its dual, whose multipliers of those left out may be below
    0."""
    X, y = overlapping(80, apart=2.0)
    y[:16] = -y[:16]
    C, s, kernel, losses = 2.0, -0.3, RBF(0.3), []
    K, decisions = naive.gram(kernel, X, X), module.decisions

    def watched(machines, rows, session):
        (machine,) = machines
        a, left = np.zeros(len(X)), np.flatnonzero(watched.keep)
        a[left[machine.support]] = machine.coef[0]
        losses.append(naive.ramp_loss(K, y, C, a, machine.bias[0], s))
        f = decisions(machines, rows, session)
        watched.keep = y * f[0] >= s
        return f

    watched.keep = np.ones(len(X), bool)
    monkeypatch.setattr(module, "decisions", watched)
    machine = EditingSVC(SVC(kernel, C=C, tol=1e-6), rule="trimmed", below=s).fit(X, y)
    assert len(losses) > 2
    assert (np.diff(losses) <= 1e-4).all()
    assert losses[-1] < losses[0] - 1
    f = machine.decision_function(X)
    beta = np.where(y * f < s, C, 0.0)
    assert (beta > 0).sum() > 5
    np.testing.assert_allclose(naive.ramp_round(K, y, C, beta), f, atol=2e-3)


def test_three_classes_where_a_rule_takes_them():
    X, y = load_iris(return_X_y=True)
    machine = EditingSVC(rule="edited-nn", n_neighbors=3).fit(X, y.astype(str))
    assert machine.score(X, y.astype(str)) > 0.95
    assert len(edit("multiedit-svm", X, y).kept) > 80
    for rule in ("trimmed", "cross-training"):
        with pytest.raises(ValueError, match=f"rule = '{rule}' with 3 classes; allowed: two"):
            edit(rule, X, y)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rule": "none"}, "rule = 'none'; allowed: edited-nn, multiedit"),
        ({"rule": "edited-nn", "n_neighbors": 0}, "n_neighbors = 0; allowed"),
        ({"rule": "edited-nn", "n_neighbors": 400}, "n_neighbors = 400; allowed: from 1 to 399"),
        ({"rule": "multiedit", "n_splits": 1}, "n_splits = 1; allowed"),
        ({"rule": "multiedit", "patience": 2.5}, "patience = 2.5; allowed"),
        ({"rule": "trimmed", "below": 1.0}, "below = 1.0; allowed"),
        ({"rule": "cross-training", "n_subsets": 1}, "n_subsets = 1; allowed"),
        ({"rule": "cross-training", "subset_size": 500}, "subset_size = 500; allowed: an even number from 2 to 400"),
        ({"estimator": "SVC"}, "estimator = 'SVC'; allowed"),
        ({"estimator": SVC(C=-1)}, "estimator: C = -1; allowed"),
        ({"estimator": SVC("precomputed")}, "precomputed"),
    ],
)
def test_what_cannot_be_is_said(change, said):
    X, y = overlapping()
    with pytest.raises(ValueError, match=said):
        EditingSVC(**change).fit(X, y)


def test_a_rule_that_leaves_no_example_of_a_class_says_so():
    X, y = overlapping(60)
    y = np.where(np.arange(60) == 30, "rare", "usual")
    with pytest.raises(ValueError, match="rule = 'edited-nn' leaves no example of class 'rare'"):
        EditingSVC(rule="edited-nn").fit(X, y)


def test_reports_count_in_the_training_set():
    X, y = overlapping(1500)
    for rule in ("multiedit-svm", "trimmed", "edited-nn"):
        seen = []
        machine = EditingSVC(SVC(RBF(0.5)), rule=rule).fit(X, y, monitor=lambda p, seen=seen: seen.append(p) or True)
        assert set(seen[-1].snapshot().support) == set(machine.support_)
        assert seen[-1].kernel_evals == machine.kernel_evals_ > 0
        for progress in seen:
            assert progress.snapshot is None or progress.stage in ("final", "editing")


def test_a_stop_while_editing_leaves_everything_and_no_machine():
    X, y = overlapping()
    for rule in RULES:
        machine = EditingSVC(rule=rule).fit(X, y, monitor=lambda progress: False)
        assert machine.ending_ == "stopped"
        assert (machine.role_ == KEPT).all()
        assert not machine.decision_function(X).any()
    with pytest.raises(Stopped):
        edit("multiedit", X, y, monitor=lambda progress: False)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_nu_machine_may_be_inside():
    X, y = overlapping()
    assert EditingSVC(NuSVC(RBF(0.5), nu=0.3), rule="multiedit-svm").fit(X, y).score(X, y) > 0.8


@all_cases("seed", range(20))
def test_no_threshold_is_better(seed):
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(25) < 0.4, 1.0, -1.0)
    f = np.round(rng.normal(size=25) + 0.8 * y + rng.normal(), 1 if seed % 2 else 6)  # with ties, and without
    shift, right = threshold(f, y)
    assert right == pytest.approx(naive.threshold(f, y))
    assert np.mean((f + shift > 0) == (y > 0)) == right
    assert shift == 0 or np.mean((f > 0) == (y > 0)) < right


def test_every_role_says_why():
    assert len(TITLES) == len(REASONS) == 5
