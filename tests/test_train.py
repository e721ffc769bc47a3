"""From recipe to outcome: splits that keep their word, and the figures of scikit-learn and of the paper."""

import numpy as np
import pytest
from sklearn.svm import SVC as PEER

from data import load as load_data
from svmcore.lab import train
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.split import positions
from svmcore.saved import load, save

DIGITS = RECIPES["digits-8x8-sv"]
TABLE_6 = [1955, 1354, 3784, 4157, 3231, 3977, 2352, 3090, 4396, 4130]  # DeCoste and Schölkopf (2002)


class Toy:
    """A dataset as `split` sees it."""

    def __init__(self, n_train, n_test, classes=3):
        self.y_train, self.y_test = np.arange(n_train) % classes, np.arange(n_test) % classes
        self.groups_of = lambda part, rows: None


def split(recipe, data):
    train_index, test_index, part = positions(recipe, data)
    assert len(np.unique(train_index)) == len(train_index)
    assert len(np.unique(test_index)) == len(test_index)
    return train_index, test_index, part


def test_a_set_without_test_part_is_split_without_overlap():
    data = Toy(300, 0)
    train_index, test_index, part = split(Recipe(n_train=200, n_test=60), data)
    assert (len(train_index), len(test_index), part) == (200, 60, "train")
    assert not set(train_index) & set(test_index)
    assert np.bincount(data.y_train[test_index]).tolist() == [20, 20, 20]


def test_what_is_left_open_is_all_there_is():
    assert [len(part) for part in split(Recipe(), Toy(300, 0))[:2]] == [240, 60]
    assert [len(part) for part in split(Recipe(n_train=250), Toy(300, 0))[:2]] == [250, 50]
    assert [len(part) for part in split(Recipe(), Toy(300, 90))[:2]] == [300, 90]


def test_of_a_few_examples_one_of_each_class_is_held_out():
    for n, recipe in ((5, Recipe()), (5, Recipe(n_train=4)), (7, Recipe())):
        train_index, test_index, _ = split(recipe, data := Toy(n, 0, classes=2))
        assert np.unique(data.y_train[test_index]).tolist() == [0, 1] == np.unique(data.y_train[train_index]).tolist()


def test_the_seed_decides_a_stratified_split():
    data = Toy(300, 90)
    one, again, other = (split(Recipe(n_train=30, n_test=30, seed=seed), data) for seed in (1, 1, 2))
    assert (one[0] == again[0]).all()
    assert (one[0] != other[0]).any()
    assert np.bincount(data.y_train[one[0]]).tolist() == [10, 10, 10]


def test_given_and_first_of_each_keep_the_order():
    data = Toy(300, 90)
    assert split(Recipe(split="given", n_train=50, n_test=10), data)[0].tolist() == list(range(50))
    recipe = Recipe(split="first-of-each", n_train=8, classes=(0, 2))
    train_index, test_index, part = split(recipe, data)
    assert (train_index.tolist(), part) == ([0, 2, 3, 5, 6, 8, 9, 11], "test")
    assert set(data.y_test[test_index]) == {0, 2}


@pytest.mark.parametrize(
    ("recipe", "field", "allowed"),
    [
        (Recipe(split="given"), "split", "stratified"),
        (Recipe(n_test=300), "n_test", "fewer than the 300 examples"),
        (Recipe(n_train=2, n_test=10), "n_train", r"at least 3, one of each class \(here 2 and 288\)"),
        (Recipe(n_test=1), "n_test", r"at least 3, one of each class \(here 299 and 1\)"),
    ],
)
def test_impossible_splits_are_refused(recipe, field, allowed):
    with pytest.raises(RecipeError, match=allowed) as caught:
        positions(recipe, Toy(300, 0))
    assert caught.value.field == field


def test_one_class_stands_against_the_rest():
    problem = train.prepare(DIGITS.replace(classes=(8,)))
    assert set(problem.y_train) == {-1, 1}
    assert (problem.y_train == 1).mean() == pytest.approx(0.1, abs=0.02)
    outcome = train.execute(DIGITS.replace(classes=(8,)))
    assert outcome.machine.classes.tolist() == [-1, 1]
    assert len(outcome.result["n_sv"]) == 1


def test_class_weights_go_to_the_labels_they_name():
    heavy = train.execute(DIGITS.replace(classes=(3, 8), n_test=100, class_weight={"8": 5.0}, C=0.1)).machine
    assert heavy.alpha[heavy.coef > 0].max() == pytest.approx(0.5)
    assert heavy.alpha[heavy.coef < 0].max() <= 0.1 + 1e-12
    with pytest.raises(RecipeError, match="class_weight"):
        train.execute(DIGITS.replace(class_weight={"ten": 2.0}))


def test_a_run_repeats_exactly():
    one, other = train.execute(DIGITS), train.execute(DIGITS)
    assert (one.test.decision == other.test.decision).all()
    assert one.result["data_hash"] == other.result["data_hash"]


def test_watching_changes_nothing():
    class Watcher:
        burst = 7
        calls = 0

        def __call__(self, progress):
            self.calls += 1
            return True

    watcher = Watcher()
    watched = train.execute(DIGITS, watcher)
    assert watcher.calls > 50
    assert (watched.test.decision == train.execute(DIGITS).test.decision).all()


def test_a_training_that_is_stopped_is_judged_as_it_is():
    outcome = train.execute(DIGITS, lambda progress: progress.iterations == 0)
    assert not outcome.result["converged"]
    assert outcome.machine.alpha.max(initial=0) <= DIGITS.C
    assert len(outcome.test.y_pred) == outcome.result["n_test"]


def test_checks_stop_what_the_solver_does_not_see():
    def check(stage):
        if stage == "predicting":
            raise train.Cancelled

    problem = train.prepare(DIGITS)
    with pytest.raises(train.Cancelled):
        train.judge(DIGITS, train.fit(DIGITS, problem), check)


@pytest.mark.slow
def test_the_preset_errs_like_scikit_learn():
    recipe = RECIPES[PRESET]
    problem = train.prepare(recipe)
    outcome = train.execute(recipe)
    K, K_test = ((0.5 * A.astype(float) @ problem.X_train.T + 0.5) ** 9 for A in (problem.X_train, problem.X_test))
    f = np.empty((len(K_test), 10))
    for digit in range(10):
        peer = PEER(kernel="precomputed", C=2, tol=1e-3, cache_size=500).fit(K, problem.y_train == digit)
        f[:, digit] = peer.decision_function(K_test)
        assert abs(outcome.result["n_sv"][digit] - len(peer.support_)) <= 0.01 * len(peer.support_)
    top = np.sort(f, axis=1)
    clear = top[:, -1] - top[:, -2] > 5e-3
    assert (f.argmax(axis=1) == outcome.test.y_pred)[clear].all()
    assert abs((f.argmax(axis=1) != problem.y_test).sum() - outcome.result["errors"]) <= (~clear).sum()
    np.testing.assert_allclose(outcome.test.decision, f, atol=5e-3)


@pytest.mark.full
def test_the_paper_s_mnist_machine(dataset):
    dataset("mnist")
    result = train.execute(RECIPES["mnist-sv"]).result
    assert result["errors"] <= 127
    assert result["n_sv"] == pytest.approx(TABLE_6, rel=0.02)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"preprocess": ("scale01", "smooth:0.5", "unit-norm")},
        {"method": "vsv", "jitters": "plus:1", "preprocess": ("scale01", "crop:1", "zscore")},
        {"method": "query-jitter", "jitters": "plus:1", "classes": (3, 8)},
    ],
    ids=str,
)
def test_a_run_s_machine_takes_examples_as_the_data_set_has_them(changes, tmp_path):
    """Taken away from the lab it knows its preprocessing: raw pixels used to be answered, wrongly, without a word."""
    recipe = DIGITS.replace(n_train=200, n_test=100, **changes)
    outcome = train.execute(recipe)
    save(outcome.machine, tmp_path / "machine.npz")
    images = load_data(recipe.dataset).X_train[outcome.test.index]
    machine = load(tmp_path / "machine.npz")
    np.testing.assert_allclose(machine.decision_function(images), outcome.test.decision, atol=1e-6)
    np.testing.assert_array_equal(machine.predict(images), outcome.test.y_pred)


def test_a_table_s_machine_standardises_its_columns(tmp_path):
    outcome = train.execute(RECIPES["moons"].replace(preprocess=("zscore",)))
    save(outcome.machine, tmp_path / "machine.npz")
    rows = load_data("toy-moons").X_test[outcome.test.index]
    np.testing.assert_allclose(load(tmp_path / "machine.npz").decision_function(rows), outcome.test.decision, atol=1e-6)
