"""What a run belongs to: its recipe and the content of its data, whatever the dataset is called."""

import numpy as np
import pytest
from scipy.io import savemat

from data import catalogue, revisions
from data.dataset import Arrays, DataError
from data.verdicts import KEEP, LABEL, Verdict
from svmcore import RBF
from svmcore.lab.analyses import asking, repeats, suspects
from svmcore.lab.jobs import analyses
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import runs
from tests.driven import finished


def test_no_lookup_answers_with_a_run_of_data_that_were_replaced(home):
    """The new set has the old labels turned round: whoever takes an old machine for a new one is wrong everywhere."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)).astype(np.float32)
    X[:, 0] += np.where(np.arange(120) % 2, 2, -2)
    labels = np.arange(120) % 2
    dataset = catalogue.keep("turned", Arrays(X[:80], labels[:80], X[80:], labels[80:])).name
    recipe = RECIPES["moons"].replace(dataset=dataset, kernel=RBF(0.5), preprocess=(), C=1.0)
    reduced = recipe.replace(method="reduced", options={"n_vectors": 4})
    old = [finished(recipe.replace(seed=seed)) for seed in (0, 1)]
    old_reduced = finished(reduced)
    found = old_reduced.id, old[0].id

    def lookups():
        return {
            "table": runs.stored([reduced, recipe], finished=True),
            "form": runs.stored([reduced, recipe]),
            "machine": [runs.with_machine(reduced), runs.with_machine(recipe)],
            "just now": [runs.asked_within(reduced, 3600), runs.asked_within(recipe, 3600)],
        }

    assert [run.id for run in lookups()["table"]] == [run.id for run in lookups()["form"]] == list(found)
    before = analyses.study_key(recipe)
    catalogue.keep("turned", Arrays(X[:80], 1 - labels[:80], X[80:], 1 - labels[80:]), replace=True)
    assert {name: runs_ for name, runs_ in lookups().items() if any(runs_)} == {}
    assert analyses.study_key(recipe) != before
    new = finished(recipe.replace(seed=2))
    assert set(repeats.of(new, runs.newest_first())) == {2}  # seeds 0 and 1 are of the old data
    assert set(repeats.of(old[0], runs.newest_first())) == {0, 1}
    again = finished(reduced)
    test = again.test()
    np.testing.assert_array_equal(test.y_true, 1 - labels[80:])
    assert np.mean(test.y_true == test.y_pred) > 0.9
    assert runs.is_current(again)
    assert not runs.is_current(old_reduced)


def test_what_is_looked_up_in_the_data_of_a_run_is_refused_where_they_were_replaced(home):
    """Labels doubted, copies and invariances of a run were those of the new set, and filed as the old one's."""
    rng, labels = np.random.default_rng(0), np.arange(60) % 2
    images = rng.integers(0, 256, (60, 6, 6)).astype(np.uint8)
    dataset = catalogue.keep("turned", Arrays(images[:40], labels[:40], images[40:], labels[40:])).name
    recipe = RECIPES["moons"].replace(dataset=dataset, kernel=RBF(1.0), preprocess=("unit-norm",), C=0.1)
    run = finished(recipe)
    found = suspects.suspects(run, "bound")
    assert len(found.index)
    np.testing.assert_array_equal(found.given, labels[found.index])
    catalogue.keep("turned", Arrays(images[5:40], 1 - labels[5:40], images[40:], labels[40:]), replace=True)
    with pytest.raises(RecipeError, match="replaced since"):
        suspects.suspects(run, "bound")
    with pytest.raises(RecipeError, match="replaced since"):
        asking.of_run(run, catalogue.load(dataset), 100.0)
    for look in (analyses.RELATED, analyses.COUNTS):
        look.start(run.id)
        latest = look.wait(run.id, timeout=60)
        assert latest.state == "failed"
        assert "replaced since" in latest.message
    catalogue.keep("turned", Arrays(images[:40], labels[:40], images[40:], labels[40:]), replace=True)
    np.testing.assert_array_equal(suspects.suspects(run, "bound").given, found.given)


def test_a_revision_made_again_under_its_name_is_another_dataset(home):
    """Of a built-in base, whose own name alone says what is in it."""
    base, name = catalogue.load("digits-8x8"), "digits-8x8@checked"
    y = base.y_train.tolist()
    revisions.add(name, base, [Verdict("train", row, y[row], LABEL, (y[row] + 1) % 10) for row in range(40)])
    recipe = RECIPES["digits-8x8-sv"].replace(dataset=catalogue.pinned(name), n_train=200, n_test=100)
    run = finished(recipe)
    assert runs.with_machine(recipe) == run
    catalogue.forget(name)
    assert not runs.is_current(run), "its data cannot be read any more"
    revisions.add(name, base, [Verdict("train", row, y[row], KEEP, None) for row in range(40)])
    assert catalogue.pinned(name) == recipe.dataset
    assert runs.with_machine(recipe) is None
    assert runs.stored([recipe]) == runs.stored([recipe], finished=True) == [None]


def test_a_published_set_that_no_checksum_verifies_may_be_replaced(home, tmp_path, monkeypatch):
    monkeypatch.setenv("SVMLAB_DATA", str(tmp_path))
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(5300, 2)), np.repeat([-1.0, 1.0], 2650)
    X[y > 0] += 2
    savemat(tmp_path / "banana.mat", {"data": X, "target": y[:, None]})
    recipe = RECIPES["moons"].replace(dataset="banana", n_train=100, n_test=200, split="stratified")
    run = finished(recipe)
    assert runs.is_current(run)
    savemat(tmp_path / "banana.mat", {"data": X[::-1], "target": y[:, None]})
    assert not runs.is_current(run)
    (tmp_path / "banana.mat").unlink()
    assert runs.is_current(run), "a set that is not on this computer was not replaced"


def test_a_script_is_not_written_with_other_data_than_the_run_had(home):
    rng, labels = np.random.default_rng(0), np.arange(60) % 2
    X = rng.normal(size=(60, 2)).astype(np.float32) + 3 * labels[:, None]
    dataset = catalogue.keep("turned", Arrays(X[:40], labels[:40], X[40:], labels[40:])).name
    run = finished(RECIPES["moons"].replace(dataset=dataset, preprocess=(), n_train=None, n_test=None))
    assert run.export_pipeline()
    catalogue.keep("turned", Arrays(X[:40], 1 - labels[:40], X[40:], labels[40:]), replace=True)
    with pytest.raises(DataError, match="replaced since this run"):
        run.export_pipeline()
