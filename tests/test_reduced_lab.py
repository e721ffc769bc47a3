"""A reduction in the lab: a run that begins with the machine of another, from its recipe to the store."""

import time
from dataclasses import replace

import numpy as np
import pytest
from numba.core import event

from data import catalogue
from svmcore.kernels import RBF, Poly
from svmcore.lab import jobs, meter, reducing, train
from svmcore.lab.analyses.remedies import twin_of
from svmcore.lab.forecast import estimate
from svmcore.lab.method import MADE_BY
from svmcore.lab.methods import METHODS
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.papers import TABLES, of_run
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs
from svmcore.saved import load, save
from tests.trained import finished, submitted

MOONS = Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0), C=1.0, n_train=150, n_test=60)
FEW = {"n_vectors": 8, "sizes": 2, "reduction": "rho"}


@pytest.fixture(scope="module")
def reduced():
    """A small reduction, carried out without a store."""
    return train.execute(reduction_of(MOONS, **FEW))


def test_a_reduction_has_every_field_of_its_machine_but_the_method():
    vsv = RECIPES["mnist-vsv-degree5-9"]
    recipe = reduction_of(vsv, n_vectors=100)
    assert recipe.origin.outcome == vsv.outcome
    assert (recipe.jitters, recipe.kernel, recipe.dataset) == (vsv.jitters, vsv.kernel, vsv.dataset)
    assert Recipe.from_dict(recipe.to_dict()) == recipe
    assert Recipe().with_texts(recipe.to_query()) == recipe
    assert recipe.digest() != vsv.digest()


@pytest.mark.parametrize("name", sorted(MADE_BY))
def test_the_machine_of_every_method_can_be_asked_for(name):
    recipe = Recipe(dataset="mnist-5k", method=name, folds=3) if name != "query-jitter" else Recipe(method=name)
    again = reduction_of(recipe)
    assert again.origin.outcome == recipe.outcome
    assert again.folds is None


def test_what_a_reduction_cannot_be_is_named():
    with pytest.raises(RecipeError, match="folds = 3; allowed: none, because a reduction compares its sizes"):
        Recipe(method="reduced", folds=3)
    with pytest.raises(RecipeError, match="of = 'reduced'; allowed: sv, vsv"):
        reduction_of(reduction_of(MOONS))
    with pytest.raises(RecipeError, match="n_vectors = 0; allowed: a whole number from 1"):
        reduction_of(MOONS, n_vectors=0)
    with pytest.raises(RecipeError, match="method of the original machine"):
        twin_of(reduction_of(RECIPES["mnist-5k-sv"]))
    with pytest.raises(ValueError, match="n_vectors = 5000; allowed: 1 to"):
        train.execute(reduction_of(MOONS, n_vectors=5000))


def test_the_path_is_told_and_the_largest_is_kept(reduced):
    told = reduced.result["reduction"]
    assert [point[0] for point in told["path"]] == [4, 8]
    assert told["n_after"] == reduced.result["n_union"] == len(reduced.machine.support) == 8
    assert told["path"][1][1] < told["path"][0][1] < 1
    assert told["unseen"]  # of the moons 150 train and 60 test
    assert told["multiply_adds"][1] < told["multiply_adds"][0]
    assert len(told["take"]) == 2
    assert min(told["take"]) > 0
    assert set(told["products"]) <= {"double", "dense", "sparse", "whole"}
    assert METHODS["reduced"].words(reduced.result) == f"{told['n_before']:,} vectors reduced to 8."


def test_a_direct_machine_has_a_path_without_distances_and_its_own_thresholds():
    result = train.execute(reduction_of(MOONS, **FEW | {"reduction": "direct", "n_vectors": 6})).result
    path = result["reduction"]["path"]
    assert [point[0] for point in path] == [3, 6]
    assert {point[1] for point in path} == {None}
    assert result["reduction"]["rho"] == [None]
    assert result["reduction"]["shift"] != [0.0]
    assert result["error_rate"] < 0.2


def test_what_decisions_take_is_the_median_of_warm_turns(monkeypatch):
    """37 s were shown of which 36.9 were compiling."""

    class Clock:
        now = 0.0

        def perf_counter(self):
            return self.now

    class Slow:
        def __init__(self, first, *later):
            self.left, self.later = [first], later

        def decision_values(self, X):
            if not self.left:
                self.left = list(self.later)
            clock.now += self.left.pop(0) * len(X)

    clock = Clock()
    monkeypatch.setattr(reducing, "time", clock)
    X = np.zeros((1000, 2))
    heavy, light = reducing.taken([Slow(37, 4e-6, 2e-6, 9e-6), Slow(3, 1e-6)], X)
    assert heavy == pytest.approx(1e4 * 4e-6)
    assert light == pytest.approx(1e4 * 1e-6)


def test_what_testing_took_leaves_compiling_out(monkeypatch):
    task = train.task_of(MOONS)
    judge = task.judge

    def compiling(*arguments):
        with event.trigger_event(meter.KIND):
            time.sleep(0.5)
        return judge(*arguments)

    monkeypatch.setattr(type(task), "judge", lambda self, *arguments: compiling(*arguments))
    assert train.execute(MOONS).result["predict_seconds"] < 0.4


def test_the_fewest_vectors_that_are_allowed_are_kept():
    told = train.execute(reduction_of(MOONS, **FEW | {"allowed": 100.0})).result["reduction"]
    assert told["n_after"] == 4
    assert len(told["path"]) == 2


def test_without_others_training_examples_stand_aside():
    whole = MOONS.replace(n_train=None, n_test=60)
    told = train.execute(reduction_of(whole, **FEW)).result["reduction"]
    assert not told["unseen"]
    assert 0 < told["aside"] < 100


def test_a_few_others_are_not_said_to_be_counted_when_training_examples_are():
    data = catalogue.load(MOONS.dataset)
    few = MOONS.replace(n_train=len(data.X_train) + len(data.X_test) - 60 - 30, n_test=60)
    told = train.execute(reduction_of(few, **FEW)).result["reduction"]
    assert told["aside"] != 30
    assert not told["unseen"]


def test_a_reduced_machine_is_one(reduced, tmp_path):
    save(reduced.machine, tmp_path / "z.npz")
    again = load(tmp_path / "z.npz")
    X = np.random.default_rng(0).normal(size=(20, 2)).astype(np.float32)
    assert (again.decision_function(X) == reduced.machine.decision_function(X)).all()
    assert again.constructed.all()
    assert not again.bound.any()


def test_its_machine_is_queued_first_and_found_again(home):
    run = finished(reduction_of(MOONS, **FEW))
    of = runs.get(run.parent)
    assert of.state == "done"
    assert of.recipe.outcome == MOONS.outcome
    run.check()
    assert [len(line["path"]) for line in run.progress()][-1] == 2
    other = finished(reduction_of(MOONS, **FEW | {"n_vectors": 5}))
    assert other.parent == of.id
    assert len(runs.everything()) == 3
    figures = of_run(other)
    assert figures["fold"].value == pytest.approx(of.result["n_union"] / 5)
    assert other.export_snippet().count("method='reduced'") == 1


def test_a_machine_that_is_gone_is_trained_again(home):
    of = finished(MOONS)
    job = reduction_of(MOONS, **FEW)
    of.delete()
    run = submitted(job, parent=of.id)
    assert run.parent == of.id
    assert run.result["n_union"] == 8


def test_a_machine_of_another_recipe_is_not_taken(home):
    of = finished(MOONS.replace(C=0.1))
    run = submitted(reduction_of(MOONS, **FEW), parent=of.id)
    assert run.result["reduction"]["n_before"] != of.result["n_union"]


def test_more_vectors_than_there_are_fail_with_the_field(home):
    run_id = jobs.submit(reduction_of(MOONS, n_vectors=5000))
    assert jobs.wait(run_id, 120).state == "failed"
    assert runs.get(run_id).message.startswith("n_vectors = 5000; allowed: 1 to ")


def test_a_damaged_report_is_a_damaged_run(home):
    run = finished(reduction_of(MOONS, **FEW))
    told = run.result
    told["reduction"]["path"][0] = [1, 2]
    run.complete(told)
    assert "reduction" in runs.get(run.id).damage


def test_detection_begins_where_its_machine_ended():
    recipe = RECIPES["volcano-synthetic"].replace(n_train=None)
    problem = train.prepare(recipe)
    first = train.fit(recipe, problem)
    outcome = train.judge(recipe, first)
    again = reduction_of(recipe, n_vectors=120, sizes=1, reduction="rho")
    fitted = train.fit(again, train.prepare(again), trained=(outcome.machine, outcome.test))
    judged = train.judge(again, fitted)
    assert len(judged.machine.support) == 120
    assert (judged.test.hit == outcome.test.hit).all()
    share = lambda of: of.result["machines"]["machine"]["score"]  # noqa: E731
    assert share(judged) == pytest.approx(share(outcome), abs=0.1)


def test_a_quadratic_machine_keeps_its_decisions_with_as_many_vectors_as_dimensions():
    recipe = MOONS.replace(kernel=Poly(2, 1.0, 0.0))
    fitted = train.execute(recipe)
    few = train.execute(reduction_of(recipe, n_vectors=2, sizes=1, thresholds="kept"))
    X = np.random.default_rng(1).normal(size=(40, 2)).astype(np.float32)
    plain = replace(fitted.machine, prepare=None).decision_function(X)
    assert replace(few.machine, prepare=None).decision_function(X) == pytest.approx(plain, abs=1e-4)


def test_a_forecast_is_of_the_reduction_alone():
    slow, quick = (estimate(reduction_of(RECIPES["mnist-5k-vsv"], n_vectors=m, reduction="rho")) for m in (3000, 30))
    assert slow.seconds > 3 * quick.seconds
    assert slow.fits


def test_every_cell_of_the_tables_has_a_figure():
    table = TABLES["burges-degree5"]
    assert len(table.rows) == 13
    assert {cell.recipe for row in table.rows for cell in row.cells if cell} <= RECIPES.keys()
    assert [cell.published for cell in table.rows[10].cells if cell] == [1.4, 1.0, 1.1]


def test_a_machine_whose_run_has_folds_and_bounds_can_be_reduced():
    recipe = reduction_of(Recipe(n_train=200, folds=5, bounds=True), n_vectors=6)
    assert (recipe.method, recipe.folds, recipe.bounds, recipe.option("n_vectors")) == ("reduced", None, False, 6)
