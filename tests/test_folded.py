"""A run with folds keeps what each training example was answered by the machine that had not seen its label."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from svmcore import SVC
from svmcore.kernels import Poly
from svmcore.lab import Recipe, execute, prepare, train
from svmcore.lab.store import runs
from svmcore.lab.tasks import classify
from tests.trained import finished

DIGITS = Recipe(dataset="digits-8x8", classes=(1, 3, 8), n_train=120, n_test=50, kernel=Poly(3, 1.0, 1.0), folds=4)
NOISY = DIGITS.replace(options={"noise": 0.1})


@pytest.fixture
def run(home):
    return finished(NOISY)


@pytest.mark.parametrize("classes", [(1, 3, 8), (3, 8), (8,)])
@pytest.mark.parametrize("seed", [0, 7])
def test_it_is_what_machines_say_that_were_trained_without_each_fold(classes, seed):
    recipe = NOISY.replace(classes=classes, seed=seed)
    problem, folded = prepare(recipe), execute(recipe).folded
    assert folded.split == "train"
    assert folded.index.tolist() == problem.train_index.tolist()
    assert folded.y_true.tolist() == problem.y_train.tolist(), "with the label noise, as training saw it"
    X, y = problem.X_train, problem.y_train
    f = np.zeros(folded.decision.shape)
    for others, held in StratifiedKFold(4, shuffle=True, random_state=seed).split(X, y):
        found = SVC(recipe.kernel, C=recipe.C).fit(X[others], y[others]).decision_function(X[held])
        f[held] = found.reshape(len(held), -1)
    np.testing.assert_allclose(folded.decision, f, atol=5e-3)
    assert (folded.y_pred != folded.y_true).sum() == execute(recipe).result["validation"]["errors"]


def test_the_run_has_what_the_command_line_has(run):
    folded, own = run.folded(), execute(NOISY).folded
    assert isinstance(folded, classify.TestSet)
    for theirs, ours in zip(folded, own, strict=True):
        assert np.array_equal(theirs, ours)
    assert folded.index.tolist() == run.train_index().tolist()
    run.check()


def test_without_folds_and_in_runs_of_before_there_is_none(run):
    run_id = finished(DIGITS.replace(folds=None)).id
    assert runs.get(run_id).folded() is None
    (run.path / "folded.npz").unlink()
    assert run.folded() is None
    assert run.state == "done"
    run.check()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda f: {"index": f.index[:-1]}, "different lengths"),
        (lambda f: {"index": f.index[::-1].copy()}, "not the training examples"),
        (lambda f: {"split": "test"}, "not the training examples"),
        (lambda f: {"y_true": np.full(len(f.index), 99)}, "does not fit the machine"),
        (lambda f: {"decision": np.full(f.decision.shape, np.nan)}, "missing or infinite"),
        (lambda f: {"decision": f.decision[:, :1]}, "does not fit the machine"),
        (lambda f: {"y_pred": np.array([None] * len(f.index))}, "folded.npz is damaged"),
    ],
)
def test_a_file_that_is_not_this_runs_is_damage(run, change, why):
    arrays = run.folded()._asdict()
    np.savez(run.path / "folded.npz", **arrays | change(run.folded()))
    with pytest.raises(runs.Damaged, match=why):
        run.check()
    assert run.state == "damaged"
    assert run.damage.startswith("folded.npz is damaged")


def test_a_class_that_a_fold_did_not_know_leaves_nothing_to_keep(monkeypatch):
    fold = train.task_of(DIGITS).fold(DIGITS, 0, train.unchecked)
    whole, two = (np.zeros((len(fold.test_index), k)) for k in (3, 1))
    judged = [classify.TestSet(fold.test_index, fold.y_test, fold.y_test, f, "train") for f in (whole, two)]
    assert train.task_of(DIGITS).folded(judged) is None
