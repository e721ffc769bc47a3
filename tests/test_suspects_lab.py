"""A run's suspects: by its folds, its cross-training, its alphas and its test; copies and outliers of its data."""

import numpy as np
import pytest

from data import load, own
from data.dataset import Arrays
from svmcore import SVC
from svmcore.explain.suspects import doubts
from svmcore.kernels import RBF, Poly
from svmcore.lab import Recipe, RecipeError, execute, prepare, problem, split, train
from svmcore.lab.analyses import suspects
from svmcore.lab.tasks import task_of
from svmcore.metrics import class_positions
from tests.trained import finished

DIGITS = Recipe(dataset="digits-8x8", n_train=500, n_test=100, kernel=Poly(3, 1.0, 1.0), options={"noise": 0.1})
PAIR = DIGITS.replace(classes=(3, 8), n_train=120, n_test=50)


def flipped(run):
    """Positions of the training examples whose labels the recipe's noise has changed."""
    index, recipe = run.train_index(), run.recipe
    return set(index[split.flipped(len(index), recipe.option("noise"), recipe.seed)].tolist())


@pytest.mark.parametrize("seed", [0, pytest.param(3, marks=pytest.mark.ci)])
def test_a_run_with_folds_finds_the_labels_that_its_noise_flipped(home, seed):
    run = finished(suspects.searched(DIGITS.replace(seed=seed)))
    assert suspects.ways(run) == ("folds", "bound", "test")
    found = suspects.suspects(run)
    assert (np.diff(found.score) <= 0).all()
    assert sorted(found.index.tolist()) == run.train_index().tolist()
    true = flipped(run)
    assert np.mean([i in true for i in found.index[:50]]) > 0.85, "by chance it is 0.1"
    assert 35 < found.likely < 65
    assert 0.07 < found.rate < 0.13
    y = dict(zip(prepare(run.recipe).train_index.tolist(), prepare(run.recipe).y_train.tolist()))
    assert [y[i] for i in found.index.tolist()] == found.given.tolist()
    right = load("digits-8x8").y_train[found.index[:50]]
    assert (found.said[:50] == right).mean() > 0.85
    bound = suspects.suspects(run, "bound")
    assert np.mean([i in true for i in bound.index[:50]]) > 0.7
    assert set(bound.index.tolist()) <= set(run.train_index().tolist())
    tested = suspects.suspects(run, "test")
    assert tested.part == run.test().split
    assert sorted(tested.index.tolist()) == sorted(run.test().index.tolist())


@pytest.mark.parametrize("steps", [(), ("zscore",)], ids=["together", "one by one"])
@pytest.mark.parametrize("recipe", [DIGITS, PAIR, PAIR.replace(classes=(8,), n_train=300)], ids=["ten", "two", "one"])
def test_the_second_time_the_folds_do_not_see_what_the_first_time_doubts(recipe, steps, monkeypatch):
    recipe = recipe.replace(folds=3, preprocess=steps)
    once = execute(recipe)
    _, given = np.unique(once.folded.y_true, return_inverse=True)
    likely = once.folded.index[doubts(once.folded.decision, given, given.max() + 1).likely]
    seen, fit, together = [], train.fit, SVC.held_out_decisions
    monkeypatch.setattr(train, "fit", lambda *a, **k: seen.append(a[1].train_index) or fit(*a, **k))

    def of_folds(machine, X, y, left_out, *a, **k):
        seen.extend(prepare(recipe).train_index[~rows] for rows in left_out)
        return together(machine, X, y, left_out, *a, **k)

    monkeypatch.setattr(SVC, "held_out_decisions", of_folds)
    twice = execute(recipe.replace(refold=True))
    assert len(seen) == 1 + 3 + 3
    assert sorted(np.concatenate(seen[1:4])) == sorted(2 * once.folded.index.tolist())
    for first, second in zip(seen[1:4], seen[4:]):
        assert second.tolist() == np.setdiff1d(first, likely).tolist()
    assert twice.result["validation"]["folds"] == once.result["validation"]["folds"]
    assert twice.folded.index.tolist() == once.folded.index.tolist()
    assert not np.array_equal(twice.folded.decision, once.folded.decision)


def test_a_class_is_never_left_out_as_a_whole():
    asked = prepare(PAIR)
    left = problem.left_out(asked, asked.train_index[asked.y_train == 3])
    assert left is asked
    some = problem.left_out(asked, asked.train_index[:40])
    assert len(some.X_train) == len(some.y_train) == len(some.images) == 80
    assert np.array_equal(some.X_train, asked.X_train[40:])


def test_virtual_vectors_and_cross_training_have_their_ways(home):
    virtual = finished(DIGITS.replace(method="vsv", jitters="plus:1", n_train=200))
    assert suspects.ways(virtual) == ("bound", "test")
    assert set(suspects.suspects(virtual, "bound").index.tolist()) <= set(virtual.train_index().tolist())
    run = finished(PAIR.replace(method="cross-training", n_train=200))
    assert "crossed" in suspects.ways(run)
    found, kept = suspects.suspects(run, "crossed"), run.edited()
    at = class_positions(found.index, kept.index)
    np.testing.assert_allclose(found.score, -(kept.mean + kept.variance)[at])
    assert (np.diff(found.score) <= 0).all()
    true = flipped(run)
    assert np.mean([i in true for i in found.index[: len(true)]]) > 0.6
    assert "variance" in found.sentence(0)


def test_each_score_is_told_in_a_sentence(home):
    run = finished(PAIR.replace(folds=3))
    found = suspects.suspects(run).first(4)
    assert len(found.index) == len(found.score) == 4
    one = found._replace(given=np.array([3]), rival=np.array([8]), own=np.array([-0.4]), other=np.array([0.9]))
    said = "f of 8 is 0.90, f of its own label 3 is \u22120.40"
    one = one._replace(score=np.array([2.0]))
    assert one.sentence(0) == f"Out of sample, {said}: the label is wrong with a probability of 88\u00a0%."
    assert one._replace(way="bound").sentence(0).endswith(f"inside the margin or misclassified: {said}.")


def test_a_way_that_a_run_does_not_have_is_refused(home):
    run = finished(DIGITS.replace(n_train=100))
    for way in ("folds", "crossed", "../x"):
        with pytest.raises(ValueError, match="allowed for this run: bound, test"):
            suspects.suspects(run, way)
    with pytest.raises(RecipeError, match="refold"):
        DIGITS.replace(refold=True)
    twice = suspects.searched(DIGITS)
    assert twice.replace(folds=None) == DIGITS
    assert twice.outcome == DIGITS.outcome, "the machine is the same"
    with pytest.raises(RecipeError, match="classify"):
        suspects.searched(Recipe(task="detect", dataset="volcanoes"))


def test_copies_links_and_outliers_are_told_by_positions_of_the_data_set(home):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(40, 3)), 5 + rng.normal(size=(40, 3))]).astype(np.float32)
    y, tested = np.repeat([0, 1], 40), rng.normal(size=(6, 3)).astype(np.float32)
    X[33], X[70] = X[11], X[12]  # a copy with the same label, and one with another
    X[21] += 30
    X[50] = X[13] + 1e-3
    tested[4] = X[60]
    entry = own.keep("Made", Arrays(X, y, tested, np.arange(6) % 2))
    found = suspects.related(Recipe(dataset=entry.name, split="given", kernel=RBF(0.05), preprocess=()))
    assert [group.tolist() for group in found.unlike_copies] == [[12, 70]]
    assert (found.across.tolist(), found.split) == ([[4, 60]], "test")
    assert [13, 50] in found.linked.tolist()
    assert (np.diff(found.apart) >= 0).all()
    assert found.outliers[0] == 21

    def stop(stage):
        if stage == "comparing":
            raise train.Cancelled

    with pytest.raises(train.Cancelled):
        suspects.related(DIGITS, stop)


def test_only_one_example_of_a_class_leaves_no_folds(home):
    y = np.array([0] * 20 + [1] * 20 + [2])
    entry = own.keep("Lonely", Arrays(np.random.default_rng(0).normal(size=(41, 2)).astype(np.float32), y,
                                      np.zeros((3, 2), np.float32), np.arange(3)))  # fmt: skip
    recipe = Recipe(dataset=entry.name, split="given", kernel=RBF(1.0), preprocess=())
    with pytest.raises(RecipeError, match="at least 2"):
        suspects.searched(recipe)
    assert task_of(recipe).answers
