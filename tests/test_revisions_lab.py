"""A revision in the lab: who trains and who tests stays, labels are those of the verdicts, and runs are comparable."""

import numpy as np
import pytest

from data import catalogue, load, revisions
from data.verdicts import KEEP, LABEL, OUT, UNSURE, Verdict
from svmcore.kernels import Poly
from svmcore.lab import RECIPES, Recipe, execute, jobs, split
from svmcore.lab.analyses import comparison
from svmcore.lab.fields import RecipeError
from svmcore.lab.forecast import estimate
from svmcore.lab.tasks import task_of
from tests.trained import finished

DIGITS = Recipe(dataset="digits-8x8", n_train=300, n_test=200, kernel=Poly(3, 1.0, 1.0))
NAME = "digits-8x8@checked"


def on(row, verdict, label=None, part="train"):
    y = load("digits-8x8").y_train
    return Verdict(part, int(row), int(y[row]), verdict, label)


def judge(*verdicts, name=NAME):
    revisions.add(name, load("digits-8x8"), verdicts)
    return catalogue.pinned(name)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("classes", [(), (3, 8), (8,)])
@pytest.mark.parametrize("share", [0.0, 0.2])
def test_the_split_is_the_bases_with_what_the_verdicts_say(home, seed, classes, share):
    base, rng = load("digits-8x8"), np.random.default_rng(seed)
    recipe = DIGITS.replace(seed=seed, classes=classes, n_train=200 if len(classes) == 2 else 300, n_test=100)
    before = split.whole(recipe, base, share)
    rows = rng.permutation(np.concatenate([before.train, before.test]))[:40].tolist()
    verdicts = [on(r, (KEEP, LABEL, OUT, UNSURE)[rng.integers(4)]) for r in rows]
    verdicts = [v._replace(label=int(rng.integers(10))) if v.verdict == LABEL else v for v in verdicts]
    said = {v.row: v for v in verdicts}
    after = split.whole(recipe, load(judge(*verdicts)), share)

    def naive(index, y):
        """Row by row, without an array."""
        kept, labels = [], []
        for row, label in zip(index.tolist(), y.tolist(), strict=True):
            verdict = said.get(row)
            if verdict and verdict.verdict == OUT:
                continue
            if verdict and verdict.verdict == LABEL:
                if len(classes) == 2 and verdict.label not in classes:
                    continue
                label = (1 if verdict.label == classes[0] else -1) if len(classes) == 1 else verdict.label
            kept.append(row)
            labels.append(label)
        return kept, labels

    assert (after.train.tolist(), after.y_train.tolist()) == naive(before.train, before.y_train)
    assert (after.test.tolist(), after.y_test.tolist()) == naive(before.test, before.y_test)
    if share:
        assert after.y_noisy.tolist() == naive(before.test, before.y_noisy)[1]


def test_verdicts_that_undo_the_noise_give_the_machine_without_noise(home):
    base, recipe = load("digits-8x8"), DIGITS.replace(options={"noise": 0.1})
    train = split.whole(DIGITS, base).train
    flipped = train[split.flipped(len(train), 0.1, recipe.seed)]
    mended = judge(*(on(row, LABEL, int(base.y_train[row])) for row in flipped))
    clean, undone = execute(DIGITS), execute(recipe.replace(dataset=mended))
    assert undone.test.decision.tobytes() == clean.test.decision.tobytes()
    assert execute(recipe).result["n_sv"] != clean.result["n_sv"]


def test_a_run_keeps_the_state_that_it_was_trained_on(home):
    train = split.whole(DIGITS, load("digits-8x8")).train
    judge(on(train[5], OUT), on(train[6], LABEL, 3))
    run = finished(DIGITS.replace(dataset=NAME))
    assert run.recipe.dataset == f"{NAME}.2"
    assert run.result["n_train"] == 299
    assert run.result["data_hash"] == load(NAME).content_hash
    judge(on(train[7], OUT))
    assert run.result["data_hash"] == load(run.recipe.dataset).content_hash != load(NAME).content_hash
    assert jobs.submit(DIGITS.replace(dataset=NAME), once_in=60.0) != run.id  # another state is another run


def test_forecasts_and_folds_count_what_is_left(home):
    y = load("digits-8x8").y_train
    judge(*(on(row, OUT) for row in np.flatnonzero(y == 4)[4:]), *(on(row, OUT) for row in np.flatnonzero(y < 4)))
    whole, left = (task_of(DIGITS).size(Recipe(dataset=name)) for name in ("digits-8x8", NAME))
    assert left.n_train + left.n_test == whole.n_train + whole.n_test - sum(load(NAME).entry.out)
    assert estimate(Recipe(dataset=NAME)).fits
    with pytest.raises(RecipeError, match="folds"):
        split.whole(Recipe(dataset=NAME, folds=5), load(NAME))


def test_a_revision_that_leaves_one_class_is_refused(home):
    y = load("digits-8x8").y_train
    judge(*(on(row, OUT) for row in np.flatnonzero(y == 8)))
    with pytest.raises(RecipeError, match="two classes to train on"):
        split.whole(Recipe(dataset=NAME, classes=(3, 8)), load(NAME))


def test_runs_of_a_base_and_its_revision_are_paired_by_the_labels_of_either(home):
    before = finished(DIGITS)
    test, train = before.test(), before.train_index()
    wrong = test.index[test.y_pred != test.y_true][0]
    said = int(test.y_pred[test.index == wrong][0])
    out = test.index[test.y_pred == test.y_true][0]
    judge(on(train[0], OUT), on(wrong, LABEL, said), on(out, OUT))
    after = finished(DIGITS.replace(dataset=NAME))
    assert comparison.why_not(before, after) is None
    found = comparison.together([before, after])
    assert (len(found.index), found.left) == (199, 1)
    assert found.index[found.judged].tolist() == [wrong]
    assert found.wrong[0].sum() == before.result["errors"]
    assert found.by(1).wrong[0].sum() == before.result["errors"] - 1
    assert found.by(1).wrong[1].sum() == after.result["errors"]
    judge(on(train[1], OUT))
    assert comparison.why_not(finished(DIGITS.replace(dataset=NAME)), after) is None


def test_runs_on_other_examples_are_not_paired_because_one_is_on_a_revision(home):
    judge(on(3, OUT))
    before, after = finished(DIGITS), finished(DIGITS.replace(dataset=NAME, seed=1))
    assert comparison.why_not(before, after).kind == comparison.EXAMPLES
    letters = finished(DIGITS.replace(dataset="mnist-5k", n_train=100, n_test=50))
    assert comparison.why_not(letters, after).kind == comparison.DATA


def test_what_a_run_is_asked_on_is_pinned_by_its_task(home):
    """Examples of a recipe's own set, and windows that a search trains on; pictures have no revisions."""
    now = judge(on(3, LABEL, 7))
    assert task_of(DIGITS).pinned(DIGITS.replace(dataset=NAME)).dataset == now
    assert task_of(DIGITS).pinned(DIGITS) == DIGITS
    faces = RECIPES["faces-lfw"]
    assert task_of(faces).pinned(faces) == faces
    pinned = task_of(faces).pinned(faces.replace(windows=NAME))
    judge(on(4, LABEL, 7))
    assert pinned == faces.replace(windows=now) != task_of(faces).pinned(faces.replace(windows=NAME))
