"""Wrong labels are found where they are known, whatever they are called and however examples lie."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from svmcore import RBF, SVC
from svmcore.explain import suspects
from svmcore.explain.suspects import doubts
from tests import naive


def clouds(seed, n=900, k=5, rare=False):
    """Overlapping clouds in the plane, some of 4 % of their labels wrong; the last class rare if asked for."""
    rng = np.random.default_rng(seed)
    share = np.ones(k) / k
    if rare:
        share = np.array([0.4, 0.3, 0.18, 0.1, 0.02])
    true = rng.choice(k, n, p=share)
    angle = 2 * np.pi * true / k
    X = 2 * np.stack((np.cos(angle), np.sin(angle)), axis=1) + 0.5 * rng.normal(size=(n, 2))
    wrong = np.zeros(n, bool)
    wrong[rng.permutation(n)[: n // 10]] = True
    given = np.where(wrong, (true + rng.integers(1, k, n)) % k, true)
    return X.astype(np.float32), given, wrong


def out_of_folds(X, given, k):
    f = np.zeros((len(X), k if k > 2 else 1))
    for others, held in StratifiedKFold(5, shuffle=True, random_state=0).split(X, given):
        found = SVC(RBF(0.5), C=1.0).fit(X[others], given[others]).decision_function(X[held])
        f[held] = found.reshape(len(held), -1)
    return f


def recall(score, wrong):
    return wrong[np.argsort(-score, kind="stable")[: wrong.sum()]].mean()


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("rare", [False, True])
def test_most_flipped_labels_come_first_and_are_counted(seed, rare):
    X, given, wrong = clouds(seed, rare=rare)
    found = doubts(out_of_folds(X, given, 5), given, 5)
    assert recall(found.score, wrong) > 0.85, "by chance it is 0.1"
    assert 0.07 < found.rate < 0.13
    assert wrong[found.likely].mean() > 0.85


@pytest.mark.parametrize("seed", range(3))
def test_of_two_classes_the_order_within_each_is_that_of_the_margin(seed):
    X, given, wrong = clouds(seed, k=2)
    f = out_of_folds(X, given, 2)
    found = doubts(f, given, 2)
    margin = np.where(given == 1, f[:, 0], -f[:, 0])
    for side in (0, 1):
        own = given == side
        assert np.array_equal(np.argsort(-found.score[own], kind="stable"), np.argsort(margin[own], kind="stable"))
    assert recall(found.score, wrong) > 0.8
    np.testing.assert_allclose(doubts(np.hstack((-f, f)), given, 2).score, found.score)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_names_of_classes_order_of_examples_and_scale_do_not_matter(seed, scale):
    X, given, _ = clouds(seed)
    f, rng = out_of_folds(X, given, 5), np.random.default_rng(seed)
    found = doubts(f, given, 5)
    rows, classes = rng.permutation(len(X)), rng.permutation(5)
    moved = doubts(scale * f[rows][:, classes], np.argsort(classes)[given[rows]], 5)
    np.testing.assert_allclose(moved.score, found.score[rows], rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(moved.own, scale * found.own[rows])
    assert moved.rate == pytest.approx(found.rate, rel=1e-3)
    assert np.array_equal(classes[moved.said], found.said[rows])


@pytest.mark.parametrize("k", [2, 3, 6])
def test_the_odds_are_those_of_the_formula(k):
    rng = np.random.default_rng(k)
    f, given = rng.normal(size=(40, k)), rng.integers(0, k, 40)
    found = suspects._mixture(1.7 * f, given)
    score = naive.label_odds(f, given, 1.7, found.rate, found.q[1:])
    np.testing.assert_allclose(found.score, score, rtol=1e-9)


def test_labels_that_go_to_the_likest_class_are_told_from_others():
    rng = np.random.default_rng(0)
    f = rng.normal(size=(3000, 6))
    P = np.exp(3 * f) / np.exp(3 * f).sum(axis=1, keepdims=True)
    true = np.array([rng.choice(6, p=p) for p in P])
    others = f.copy()
    others[np.arange(3000), true] = -np.inf
    wrong = rng.random(3000) < 0.15
    near = doubts(f, np.where(wrong, others.argmax(axis=1), true), 6)
    far = doubts(f, np.where(wrong, (true + rng.integers(1, 6, 3000)) % 6, true), 6)
    assert near.likest > 0.7
    assert far.likest < 0.4
    assert far.rate == pytest.approx(0.15, abs=0.04)


@pytest.mark.parametrize("f", [np.zeros((30, 3)), np.full((30, 3), 1e300), np.eye(3)[np.arange(30) % 3] * 1e12])
def test_decision_values_that_say_nothing_or_all_give_finite_odds(f):
    found = doubts(f, np.arange(30) % 3, 3)
    assert np.isfinite(found.score).all()
    assert 0 < found.rate < 1


def test_what_does_not_fit_is_refused():
    f, given = np.zeros((4, 3)), np.array([0, 1, 2, 0])
    for decision, labels, k, why in [
        (f[:, :2], given, 3, "the shape"),
        (f[:3], given, 3, "the shape"),
        (f, given + 1, 3, "0 to 2"),
        (f, given.astype(float), 3, "whole numbers"),
        (f * np.nan, given, 3, "finite"),
        (f[:0], given[:0], 3, "at least one"),
        (f[:, :1], given * 0, 1, "the shape"),
    ]:
        with pytest.raises(ValueError, match=why):
            doubts(decision, labels, k)


def test_it_stops_when_asked():
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        doubts(np.zeros((4, 3)), np.array([0, 1, 2, 0]), 3, stop)


@pytest.mark.parametrize("seed", range(3))
def test_alpha_at_its_bound_holds_most_flipped_labels(seed):
    X, given, wrong = clouds(seed)
    machine = SVC(RBF(0.5), C=1.0).fit(X, given).machine_
    at, f = suspects.at_bound(machine)
    expected = [int(i) for i in machine.support[machine.bound.any(axis=0)]]
    assert at.tolist() == sorted(expected)
    np.testing.assert_allclose(f, machine.decision_values(X[at]), rtol=1e-6, atol=1e-6)
    own, other, _ = suspects.leads(f, given[at], 5)
    first = at[np.argsort(own - other, kind="stable")[: wrong.sum()]]
    assert wrong[first].mean() > 0.75
    with pytest.raises(ValueError, match="constructed"):
        suspects.at_bound(replace(machine, support=np.full(len(machine.support), -1)))
