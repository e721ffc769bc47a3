"""Every method of a recipe, from form to stored run: small versions of what the paper does at full size."""

import numpy as np
import pytest

from data import load
from svmcore.jitter import JitterSet
from svmcore.kernels import RBF, Poly
from svmcore.lab import RECIPES, Recipe, RecipeError, costs, execute, forecast, jobs, prepare
from svmcore.lab.costs import Sizes, cost
from svmcore.lab.forecast import plans
from svmcore.lab.methods import METHODS
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of
from svmcore.lab.train import fit
from svmcore.methods.jittering import Jittered
from svmcore.methods.local import LocalPoly
from svmcore.methods.virtual import VirtualSVC
from svmcore.preprocess import Preprocessor
from tests.bench import measured

DIGITS = Recipe(
    dataset="digits-8x8", classes=(3, 8), n_train=60, n_test=100, kernel=Poly(5, 1.0, 1.0), preprocess=("unit-norm",)
)
TEN = DIGITS.replace(classes=(), n_train=200)


@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.uses_jitters])
def test_one_identity_jitter_gives_the_plain_machine(method):
    if method == "tangent":
        options, jitters = {"lam": 1.0}, "box:1"  # tangents need a jitter; lambda = 1 gives them no weight
    else:
        options, jitters = {"candidates": "none"} if method == "vsv-search" else {}, "none"
    plain = execute(DIGITS)
    same = execute(DIGITS.replace(method=method, jitters=jitters, options=options))
    assert same.test.decision == pytest.approx(plain.test.decision, abs=2e-3)  # two solutions within tol
    assert (same.test.y_pred == plain.test.y_pred).all()


@pytest.mark.parametrize("scope", ["machine", "union", "all"])
def test_virtual_support_vectors_know_their_parents(scope):
    recipe = TEN.replace(method="vsv", jitters="plus:1", scope=scope)
    problem, outcome = prepare(recipe), execute(recipe)
    machine, result = outcome.machine, outcome.result
    forms = JitterSet.parse(result["jitters"], problem.images_shape).apply(problem.images)
    children = problem.last.transform(forms[machine.jitter, machine.parent])
    assert children == pytest.approx(machine.support_vectors, abs=1e-6)
    assert len(result["n_virtual"]) == 10
    assert ("base" in result) == (scope != "all")
    if scope == "union":
        assert set(result["n_virtual"]) == {5 * result["base"]["n_union"]}
    if scope == "machine":
        assert result["n_virtual"] == [5 * n for n in result["base"]["n_sv"]]


def test_labels_of_children_are_those_of_their_parents():
    problem = prepare(TEN.replace(method="vsv"))
    machine = execute(TEN.replace(method="vsv")).machine
    for c, label in enumerate(machine.classes):
        mine = np.flatnonzero(machine.coef[c])
        own = problem.y_train[machine.parent[mine]] == label
        assert ((machine.coef[c, mine] > 0) == own).all()


def test_the_second_stage_may_have_a_kernel_and_box_of_its_own():
    options = {"second_kernel": RBF(2.0).to_dict(), "second_C": 7}
    machine = execute(DIGITS.replace(method="vsv", options=options)).machine
    assert (machine.kernel, machine.C) == (RBF(2.0), 7)


def test_rounds_compose_jitters():
    result = execute(DIGITS.replace(method="vsv", jitters="plus:1", rounds=2)).result
    assert len(JitterSet.parse(result["jitters"])) == 13  # two steps along the axes


def test_a_jitter_comes_before_normalisation_and_after_the_other_steps():
    recipe = DIGITS.replace(method="vsv", preprocess=("smooth:0.5", "standardise"))
    problem = prepare(recipe)
    assert problem.last.steps == ("standardise",)
    whole = Preprocessor("smooth:0.5", "standardise", image_shape=(8, 8))
    assert problem.X_train == pytest.approx(problem.last.transform(problem.images), abs=1e-6)
    assert problem.X_train == pytest.approx(whole.transform(load("digits-8x8").X_train[problem.train_index]), abs=1e-6)


def test_query_jitter_is_the_plain_machine_with_another_kernel():
    plain, jittered = execute(DIGITS), execute(DIGITS.replace(method="query-jitter", jitters="box:1"))
    assert (jittered.machine.coef == plain.machine.coef).all()
    assert jittered.machine.kernel == Jittered(DIGITS.kernel, "box:1@zero", (8, 8), prepare=("unit-norm",))


@pytest.mark.parametrize("method", ["jsv", "query-jitter"])
@pytest.mark.parametrize(("jitters", "kept"), [("box:1", "box:1@zero"), ("box:1@edge", "box:1@edge")])
def test_a_black_background_is_named_as_zeros(method, jitters, kept):
    assert execute(DIGITS.replace(method=method, jitters=jitters)).machine.kernel.jitters == kept


@pytest.mark.parametrize("method", ["jsv", "query-jitter"])
def test_white_paper_is_kept_by_methods_that_jitter(method):
    problem = prepare(DIGITS.replace(preprocess=("scale01",)))
    recipe = DIGITS.replace(method=method, preprocess=("scale01",), jitters="plus:1")
    white = problem._replace(X_train=1 - problem.X_train, X_test=1 - problem.X_test, kernel=RBF(0.1))
    if method == "jsv":
        white = white._replace(kernel=METHODS[method].kernel(recipe, white.X_train, (8, 8)))
    machine = METHODS[method].train(recipe, white, None).machine_
    assert machine.kernel.jitters == "plus:1"
    forms = JitterSet.parse("plus:1", (8, 8)).apply(white.X_test[:5])
    assert forms.reshape(-1, 8, 8)[:, 0, 0].min() > 0.9  # white comes in
    own = machine.kernel.block(forms[3], white.X_test[:5]).diagonal()
    zeros = Jittered(machine.kernel.base, "plus:1@zero", (8, 8)).block(forms[3], white.X_test[:5]).diagonal()
    assert (own > zeros + 0.01).any()  # a form of itself is nearer than one with a black rim


def test_a_kernel_that_jitters_in_training_is_examined():
    definite, indefinite = (execute(r.replace(method="jsv")).result["kernel_check"] for r in (DIGITS, TEN))
    assert 0 < definite["smallest"] < definite["largest"]
    assert definite["warning"] == ""
    assert indefinite["smallest"] < -1e-3 * indefinite["largest"]
    assert indefinite["warning"].startswith("not positive definite")
    assert (definite["violations"], indefinite["violations"]) == (0, 0)
    assert "kernel_check" not in execute(DIGITS.replace(method="query-jitter", jitters="box:1")).result


def test_a_jittering_kernel_may_be_replaced_by_its_positive_part():
    recipe = TEN.replace(method="jsv", jitters="box:1", options={"positive": TEN.n_train})
    plain, outcome = execute(recipe.replace(options={})), execute(recipe)
    assert outcome.machine.kernel.base == prepare(recipe.replace(options={})).kernel
    assert plain.result["kernel_check"]["smallest"] < -0.1
    assert outcome.result["kernel_check"]["smallest"] > -0.02
    assert outcome.result["error_rate"] < 0.2


@pytest.mark.parametrize("space", ["input", "feature"])
def test_tangent_kernels_train_and_are_kept(home, space):
    run_id = jobs.submit(DIGITS.replace(method="tangent", options={"lam": 0.3, "space": space}))
    assert jobs.wait(run_id, 300).state == "done"
    run = runs.get(run_id)
    assert run.machine().kernel.base == DIGITS.kernel
    assert run.result["error_rate"] < 0.2
    assert METHODS["tangent"].words(run.result).startswith("along a tangent, f changes by ")
    plain, paper = (
        execute(run.recipe.replace(**to)).result["regulariser"] for to in ({"lam": 1}, {"lam_scale": "paper"})
    )
    assert plain > run.result["regulariser"] != paper


def test_the_local_kernel_is_a_kernel_like_any_other():
    recipe = DIGITS.replace(kernel=LocalPoly((8, 8), width=3), preprocess=())
    assert execute(recipe).machine.kernel == recipe.kernel
    assert Recipe().with_texts(recipe.to_query()) == recipe


@pytest.mark.parametrize(
    ("fields", "field", "allowed"),
    [
        ({"jitters": "ring:2"}, "jitters", "box:R"),
        ({"jitters": "box:-1"}, "jitters", "whole numbers"),
        ({"scope": "some"}, "scope", "union"),
        ({"rounds": 0}, "rounds", "from 1"),
        ({"options": {"second_C": -1}}, "second_C", "above 0"),
        ({"second_C": 0}, "second_C", "none (C of the first stage)"),
        ({"options": {"second_kernel": {"name": "magic"}}}, "second_kernel", "rbf"),
        ({"options": {"colour": 1}}, "options", "second_kernel"),
        ({"method": "tangent", "options": {"space": "outer"}}, "space", "feature"),
        ({"method": "sv", "options": {"colour": 0.5}}, "options", "lam"),
        ({"method": "jsv", "preprocess": ["crop:1"]}, "preprocess", "so not crop:1"),
    ],
)
def test_settings_of_a_method_are_checked(fields, field, allowed):
    with pytest.raises(RecipeError) as caught:
        Recipe.from_dict({"method": "vsv"} | fields)
    assert caught.value.field == field
    assert allowed in str(caught.value)


def test_methods_for_images_refuse_points():
    recipe = RECIPES["moons"].replace(method="vsv")
    with pytest.raises(RecipeError, match="not images"):
        execute(recipe)
    with pytest.raises(RecipeError, match="not images"):
        forecast.estimate(recipe)


def test_every_method_has_its_words_and_a_default_set():
    assert all(m.title and m.short and m.help and m.source for m in METHODS.values())
    assert all(field.label and field.help for m in METHODS.values() for field in m.fields)
    used = {name: "box:1" if method.uses_jitters else "" for name, method in METHODS.items()}
    used["vsv-search"] = "none"  # which it adds to
    two = Recipe(classes=(3, 8))
    assert {name: two.replace(method=name).jitters for name in METHODS} == used


@pytest.mark.parametrize("name", ["jsv", "jsv-positive"])
def test_a_jittering_kernel_and_its_positive_part_are_forecast_to_take_what_was_measured(name, monkeypatch):
    monkeypatch.setattr(costs, "slower", lambda: costs.Slower(1.0, 1.0))  # as the processor on which it was measured
    known = measured.read("runs")[f"mnist-5000-degree9-{name}"]
    recipe = Recipe().with_texts(known["recipe"])
    said = cost(*plans(recipe, Sizes(int(known["recipe"]["n_train"]), known["n_test"], 784, 10))).seconds
    assert said == pytest.approx(known["train_seconds"] + known["test_seconds"], rel=0.5)


def test_predictions_grow_with_jitters_and_rounds():
    def seconds(**fields):
        recipe = Recipe(dataset="mnist-5k", n_train=4000, n_test=1000).replace(**fields)
        return cost(*plans(recipe, task_of(recipe).size(recipe))).seconds

    assert seconds() < seconds(method="vsv", jitters="plus:1") < seconds(method="vsv", jitters="box:1")
    assert seconds(method="vsv") < seconds(method="vsv", rounds=2) < seconds(method="vsv", scope="all", rounds=2)
    assert seconds() < seconds(method="query-jitter") < seconds(method="jsv") < seconds(method="jsv", jitters="box:2")
    parts = [seconds(method="jsv", options={"positive": m}) for m in (500, 1000, 2000, 4000)]
    assert [seconds(method="jsv"), *parts] == sorted([seconds(method="jsv"), *parts])
    assert seconds(method="jsv", options={"positive": 5000}) == parts[-1], "of 4000 examples, no more than these"
    assert Jittered(DIGITS.kernel, "box:1@zero", (8, 8)).work == 9
    assert Jittered(LocalPoly((8, 8), width=3), "box:1@zero", (8, 8)).work == 9 * LocalPoly.work


def test_a_virtual_fit_can_be_stopped_between_its_stages():
    recipe = TEN.replace(method="vsv")
    stages = []

    def monitor(progress):
        stages.append(progress.stage)
        return not progress.stage.startswith("virtual")

    fitted = fit(recipe, prepare(recipe), monitor)
    assert isinstance(fitted.estimator, VirtualSVC)
    assert not fitted.estimator.converged_
    assert stages[0] == "base"
    assert len([stage for stage in stages if stage != "base"]) == 1


def test_all_examples_are_transformed_without_a_first_stage_to_report_from():
    recipe = Recipe(
        dataset="mnist-5k", n_train=100, n_test=50, method="vsv", jitters="plus:1", options={"scope": "all"}
    )
    seen = []
    fitted = fit(recipe, prepare(recipe), lambda progress: seen.append(progress.stage) or True)
    assert set(seen) == {"virtual"}
    assert fitted.estimator.converged_
