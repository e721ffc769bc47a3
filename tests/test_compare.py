"""Runs laid side by side: counts and corrections against slow oracles, and each reason why two cannot be paired."""

import time
from itertools import combinations, product

import numpy as np
import pytest

from data import catalogue
from data.dataset import Arrays
from svmcore.kernels import RBF
from svmcore.lab import split, train
from svmcore.lab.analyses import comparison
from svmcore.lab.analyses.comparison import alone, on_same_examples, together, why_not
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs
from svmcore.lab.tasks import TASKS
from svmcore.metrics import OUTCOMES, holm, outcomes, paired_test
from tests import damage, detections

DIGITS = Recipe(dataset="digits-8x8", kernel=RBF(1.0), C=1.0, n_train=80, n_test=60)


def kept(recipe, title="A run"):
    return damage.finished(recipe, title)


@pytest.fixture(scope="module")
def outcome():
    """One trained machine, lent to every run whose answers a test makes up."""
    return train.execute(DIGITS)


@pytest.fixture
def made_up(home, outcome):
    """`made_up(y_pred, ...) -> Run`: a finished run with these answers."""

    def make(y_pred, y_true, index=None, part="train", recipe=DIGITS, k=10, **result):
        n = len(y_true)
        index = np.arange(n) if index is None else np.asarray(index)
        test = TASKS["classify"].kept(index, np.asarray(y_true), np.asarray(y_pred), np.zeros((n, k)), part)
        run = runs.create(recipe)
        run.save_part(outcome.machine, test)
        run.complete(outcome.result | result)
        run.release()
        return run

    return make


def test_outcomes_and_test_count_alike():
    rng = np.random.default_rng(0)
    a, b = rng.random((2, 300)) < 0.3
    names = [OUTCOMES[i] for i in outcomes(a, b)]
    slow = {(0, 0): "both right", (1, 0): "fixed", (0, 1): "broken", (1, 1): "both wrong"}
    assert names == [slow[int(x), int(y)] for x, y in zip(a, b)]
    test = paired_test(a, b)
    assert (test.only_a, test.only_b) == (names.count("fixed"), names.count("broken"))
    with pytest.raises(ValueError, match="same examples"):
        outcomes(a, b[:-1])


def test_holm_rejects_what_the_step_down_procedure_rejects():
    """Oracle: go through the p-values from the smallest, stop at the first above level / how many are left."""
    rng = np.random.default_rng(1)
    for m, level in product((1, 2, 5, 15), (0.01, 0.05, 0.3)):
        p = np.round(rng.random(m) ** 4, 3)
        rejected = set()
        for step, i in enumerate(np.argsort(p, kind="stable")):
            if p[i] > level / (m - step):
                break
            rejected.add(int(i))
        assert set(np.flatnonzero(holm(p) <= level).tolist()) == rejected
    assert holm(np.array([0.01, 0.04, 0.03])).tolist() == pytest.approx([0.03, 0.06, 0.06])
    assert len(holm(np.array([]))) == 0


def test_answers_are_laid_in_one_order(made_up):
    rng = np.random.default_rng(2)
    y, index = rng.integers(0, 10, 50), rng.permutation(500)[:50]
    said = rng.integers(0, 10, (2, 50))
    order = rng.permutation(50)
    a, b = made_up(said[0], y, index), made_up(said[1][order], y[order], index[order])
    assert why_not(a, b) is None
    found = together([a, b])
    at = {int(i): j for j, i in enumerate(index)}
    for row, i in enumerate(found.index):
        j = at[int(i)]
        assert (found.y_true[row], *found.y_pred[:, row]) == (y[j], said[0][j], said[1][j])
    assert list(found.index) == sorted(index)
    assert found.classes.tolist() == list(range(10))
    assert found.wrong.tolist() == [[p != t for p, t in zip(row, found.y_true)] for row in found.y_pred]


def test_each_reason_is_given_in_words(made_up):
    y = np.arange(40) % 10
    base = made_up(y, y)
    cases = {
        "data": made_up(y, y, recipe=DIGITS.replace(dataset="mnist-5k")),
        "replaced": made_up(y, y, data_hash="another"),
        "classes": made_up(y, y, recipe=DIGITS.replace(classes=(3, 8))),
        "part": made_up(y, y, part="test"),
        "examples": made_up(y, y, index=np.arange(40) + 10, recipe=DIGITS.replace(seed=7)),
    }
    said = {kind: why_not(base, run) for kind, run in cases.items()}
    assert {kind: reason.kind for kind, reason in said.items()} == {kind: kind for kind in cases}
    assert "mnist-5k, the reference on digits-8x8" in said["data"].text
    assert "separates 3, 8; the reference separates all classes" in said["classes"].text
    assert "seed 7" in said["examples"].text
    assert "Both share 30 examples" in said["examples"].text
    assert why_not(base, made_up(y, y[::-1])).kind == "replaced"
    assert why_not(base, made_up(y, y, recipe=DIGITS.replace(classes=tuple(range(10))))) is None
    assert why_not(base, made_up(y[:-1], y[:-1])).kind == "examples"
    own = made_up(np.sign(y - 4.5).astype(int), np.sign(y - 4.5).astype(int), recipe=DIGITS.replace(classes=(8,)), k=1)
    assert "8 and the rest; the reference" in why_not(base, own).text


def test_runs_without_answers_say_why(made_up):
    y = np.arange(40) % 10
    base, broken = made_up(y, y), made_up(y, y)
    (broken.path / "state.json").write_text("[1]")
    assert "state.json is damaged" in why_not(base, broken).text
    waiting = runs.create(DIGITS)
    assert why_not(base, waiting).kind == "unfinished"
    waiting.set_state("cancelled")
    waiting.release()
    assert (why_not(base, waiting).kind, "was cancelled" in why_not(base, waiting).text) == ("ended", True)
    finder = detections.stored(RECIPES["volcano-synthetic"], detections.two_parts())
    assert why_not(base, finder).kind == "answerless"


def test_a_file_that_turns_out_damaged_is_said_so(made_up):
    y = np.arange(40) % 10
    base, run = made_up(y, y), made_up(y, y)
    damage.INSIDE["test.npz"]["nan"](run.path / "test.npz")
    with pytest.raises(runs.Damaged):
        why_not(base, run)
    assert why_not(base, run).kind == "damaged"


@pytest.mark.parametrize("other", [{"n_train": 50}, {"seed": 3}, {"n_test": 20}, {"C": 5.0, "n_train": None}])
@pytest.mark.parametrize("name", ["digits-8x8", "own:mine"])
def test_the_way_out_leads_to_the_same_examples(home, name, other):
    """The recipe offered is tested on exactly the reference's examples, with a test part and without one."""
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 6), np.float32), np.arange(90) % 3
    catalogue.keep("Mine", Arrays(X, y, X[:45], y[:45]))
    recipe = DIGITS.replace(dataset=name, n_train=30, n_test=None if name == "digits-8x8" else 25)
    if name == "own:mine":
        recipe = recipe.replace(preprocess=())
    reference, run = kept(recipe), kept(recipe.replace(seed=9, n_test=15).replace(**other))
    offered = on_same_examples(run, reference)
    data = catalogue.load(name)
    train_rows, test_rows, _ = split.positions(offered, data)
    assert np.array_equal(test_rows, np.sort(reference.test().index))
    assert name != "digits-8x8" or not set(train_rows) & set(test_rows)
    assert offered.C == run.recipe.C
    again = kept(offered)
    assert why_not(reference, again) is None


def test_a_way_out_that_cannot_be_says_so(home):
    """Virtual examples need images: the forecast, asked before such a run is offered, refuses."""
    reference = kept(Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0), C=1.0))
    run = kept(DIGITS.replace(method="vsv", jitters="plus:1"))
    assert why_not(reference, run).kind == "data"
    with pytest.raises(RecipeError):
        estimate(on_same_examples(run, reference))


@pytest.mark.parametrize("r", [3, 4, 6])
def test_who_stands_alone(r):
    wrong = np.array(list(product((False, True), repeat=r))).T
    for column, found in zip(wrong.T, alone(wrong)):
        right = [i for i in range(r) if not column[i]]
        mistaken = [i for i in range(r) if column[i]]
        if not mistaken or not right:
            assert found == (1 if mistaken else 0)
        elif len(right) == 1:
            assert found == 2 + right[0]
        elif len(mistaken) == 1:
            assert found == 2 + r + mistaken[0]
        else:
            assert found == 2 + 2 * r


def test_classes_are_known_without_the_machine(made_up):
    y = np.arange(40) % 3
    assert together([made_up(y, y)]).classes.tolist() == list(range(10))
    some = made_up(y, y, recipe=DIGITS.replace(classes=(0, 1, 2, 5)), k=4)
    assert together([some]).classes.tolist() == [0, 1, 2, 5]
    signs = np.where(y == 1, 1, -1)
    assert together([made_up(signs, signs, recipe=DIGITS.replace(classes=(1,)), k=1)]).classes.tolist() == [-1, 1]
    gone = made_up(y, y, recipe=DIGITS.replace(dataset="own:gone"))
    assert together([gone]).classes.tolist() == [0, 1, 2]


def test_ten_thousand_examples_of_six_runs_are_quick(made_up):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 10, 10_000)
    six = [made_up(np.where(rng.random(10_000) < 0.02, (y + 1) % 10, y), y) for _ in range(6)]
    start = time.process_time()
    assert all(why_not(six[0], run) is None for run in six[1:])
    wrong = together(six).wrong
    p = [paired_test(wrong[i], wrong[j]).p_value for i, j in combinations(range(6), 2)]
    assert len(holm(np.array(p))) == 15
    assert time.process_time() - start < 2  # a tenth of it on a quiet machine
    assert comparison.unfit(six[0]) is None
