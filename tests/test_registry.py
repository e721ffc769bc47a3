"""One kernel, jitter, preprocessing step, method and task more, each made here, are found in the form, on the command
line and in the estimate, and train; nothing else needs to know of them."""

import json
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
import pytest

from svmcore import __main__ as cli
from svmcore.allowed import finite
from svmcore.jitter import FAMILIES, Jitter, JitterSet
from svmcore.jitter.families import Family
from svmcore.kernels import KERNELS, POLY, Kernel, KernelCode, numeral
from svmcore.lab import RECIPES, Recipe, execute, jobs
from svmcore.lab.costs import Stage, cost
from svmcore.lab.fields import Field, numeric
from svmcore.lab.forecast import estimate, plans
from svmcore.lab.method import Method
from svmcore.lab.methods import METHODS
from svmcore.lab.store import runs
from svmcore.lab.task import Task
from svmcore.lab.tasks import TASKS
from svmcore.preprocess import STEPS, Preprocessor, Step
from svmcore.svc import SVC
from tests.driven import captions, open_page, whole_app  # noqa: F401

DIGITS = Recipe(dataset="digits-8x8", n_train=100, n_test=100, classes=(3, 8))
RUN = ["run", "digits-8x8-sv", "--json", "--set", "n_train=100", "--set", "n_test=100", "--set", "classes=3,8"]


@dataclass(frozen=True)
class Cubed(Kernel):
    """K(u, v) = (weight u.v)^3"""

    weight: float = numeral(1.0, "weight", "Factor of the inner product.", 0.1, 10.0, 0.1)
    name: ClassVar[str] = "cubed"
    title: ClassVar[str] = "Cubed"
    work: ClassVar[float] = 50

    @property
    def formula(self):
        return rf"({self.weight:g}\, u \cdot v)^3"

    def code(self):
        return KernelCode(POLY, 3, float(self.weight), 0.0)

    def value(self, dots, su, sv):
        return (self.weight * dots) ** 3


class Subset(Method):
    """A machine on a share of the examples."""

    name = "subset"
    title = short = "A share of the examples"
    help = "One machine on the first examples."
    source = "this test"
    fields = (Field("share", numeric(0, 1), 0.5, "Share", "How many of the examples train.", step=0.05),)

    def train(self, recipe, problem, monitor):
        n = int(recipe.option("share") * len(problem.X_train))
        return SVC(problem.kernel, C=recipe.C).fit(problem.X_train[:n], problem.y_train[:n], monitor=monitor)

    def figures(self, estimator):
        return {"used": int(estimator.support_.max()) + 1}

    def words(self, result):
        return f"the last support vector is example {result['used']}"

    def stages(self, recipe, size):
        return [Stage(int(recipe.option("share") * size.n_train), size.machines)]


class Scores(NamedTuple):
    f: np.ndarray


class Score(Task):
    """How high a machine scores its test examples; no labels, no confusion matrix."""

    name, title = "score", "Scores"
    figures: ClassVar = {"mean_score": finite}
    arrays: ClassVar = {"f": ("f", 1)}
    kept = Scores

    def prepare(self, recipe, check, part=0):
        return TASKS["classify"].prepare(recipe, check)

    def fold(self, recipe, finite, check):
        return TASKS["classify"].fold(recipe, finite, check)

    def judge(self, machine, problem, check):
        check("predicting")
        return Scores(machine.decision_values(problem.X_test)[:, 0])

    def outcome(self, judged):
        f = np.concatenate([each.f for each in judged])
        return {"n_test": len(f), "mean_score": float(np.abs(f).mean())}

    def loss(self, judged):
        return float((np.abs(judged.f) < 1).sum())

    def size(self, recipe):
        return TASKS["classify"].size(recipe)

    def others(self, recipe, size):
        return TASKS["classify"].others(recipe, size)

    def headline(self, result):
        return f"mean score {result['mean_score']:.2f}"


class Scored(Method):
    name, title, short, help, source, tasks = (
        "scored",
        "Scored",
        "Scored",
        "A machine that scores.",
        "this test",
        ("score",),
    )


def invert(images, values, paper, border, margin):
    return images.max() - images


@pytest.fixture
def more(home, monkeypatch):
    """A lab that knows one more of each, with a run, so that no preset starts."""
    assert jobs.wait(jobs.submit(RECIPES["moons"]), 60).state == "done"
    monkeypatch.setitem(KERNELS, "cubed", Cubed)
    family = Family("invert", "Paper for ink.", lambda _: [Jitter((("invert", ()),), labels=("inverted",))])
    monkeypatch.setitem(FAMILIES, "invert", Family(family.usage, family.help, family.make, {"invert": invert}))
    halve = Step("Halve", "Divides by 2.", lambda images: images / np.float32(2))
    monkeypatch.setitem(STEPS, "halve", halve)
    monkeypatch.setitem(METHODS, "subset", Subset())
    monkeypatch.setitem(METHODS, "scored", Scored())
    monkeypatch.setitem(TASKS, "score", Score())


def command(capsys, *changes):
    """What a run from the command line says, with some fields changed."""
    assert cli.main([*RUN, *(word for change in changes for word in ("--set", change))]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def predicted(recipe):
    """Seconds by rule of thumb, whatever stored runs say of this machine."""
    return cost(*plans(recipe, TASKS[recipe.task].size(recipe))).seconds


def train_page(**query):
    return open_page("train", dataset="digits-8x8", n_train="100", n_test="100", classes="3,8", **query)


def test_a_new_kernel(more, capsys):
    app = train_page(kernel="cubed:weight=2")
    assert "Cubed" in app.segmented_control(key="recipe_kernel").options
    widget = app.number_input(key="recipe_cubed_weight")
    assert (widget.value, widget.label, widget.min, widget.max) == (2, "weight", 0.1, 10)
    widget.set_value(3.0).run()
    assert app.query_params["kernel"] == "cubed:weight=3"
    assert not app.exception
    plain, cubed = (predicted(DIGITS.replace(n_train=None, kernel=k)) for k in (DIGITS.kernel, Cubed()))
    assert cubed > 3 * plain
    result = command(capsys, "kernel=cubed", "kernel.weight=1.5")
    assert runs.get(result["run"]).machine().kernel == Cubed(1.5)


def test_a_new_jitter_with_pixels_of_its_own(more, capsys):
    pixels = np.array([[0, 1, 2, 0.5]], np.float32)
    np.testing.assert_allclose(JitterSet("invert", (2, 2)).apply(pixels)[1], 2 - pixels)
    app = open_page("jitters", set="digits-8x8")
    assert any("`invert` Paper for ink." in text.value for text in app.markdown)
    app.text_input(key="jitter_set").set_value("invert").run()
    assert app.metric[0].value == "2"
    assert not app.error
    result = command(capsys, "method=vsv", "jitters=invert+plus:1")
    assert set(runs.get(result["run"]).machine().jitter) == set(range(6))
    vsv = DIGITS.replace(method="vsv", jitters="plus:1")
    five, ten = (predicted(vsv.replace(jitters=text)) for text in ("plus:1", "plus:1*invert"))
    assert ten > 2 * five


def test_a_new_preprocessing_step(more, capsys):
    app = train_page(preprocess="halve")
    assert app.multiselect(key="recipe_preprocess").value == ["halve"]
    assert "halve" in app.multiselect(key="recipe_preprocess").options
    result = command(capsys, "preprocess=unit-norm,halve", "kernel=linear")
    vectors = runs.get(result["run"]).machine().support_vectors
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 0.5, rtol=1e-5)
    assert estimate(DIGITS.replace(preprocess=("halve",))).fits


def test_a_new_method(more, capsys):
    app = train_page(method="subset", share="0.25")
    widget = app.number_input(key="recipe_subset_share")
    assert (widget.value, widget.label, widget.help) == (0.25, "Share", "How many of the examples train.")
    assert "One machine on the first examples." in captions(app)
    widget.set_value(0.4).run()
    assert (app.query_params["method"], app.query_params["share"]) == ("subset", "0.4")
    app.button(key="start").click().run()
    assert not app.exception
    run_id = app.session_state["run"]
    assert jobs.wait(run_id, 60).state == "done"
    run = runs.get(run_id)
    assert run.recipe.options == {"share": 0.4}
    assert run.result["used"] <= 40
    assert not app.run().exception
    assert "A share of the examples" in captions(app)
    app = open_page("methods", run=run_id, set="digits-8x8", n="60")
    assert "A share of the examples" in list(app.dataframe[0].value["Method"])
    result = command(capsys, "share=0.2", "method=subset")  # whatever their order
    assert result["used"] <= 20
    assert cli.main(["run", "digits-8x8-sv", "--set", "method=subset", "--set", "n_train=100"]) == 0
    assert "the last support vector is example" in capsys.readouterr().out
    assert cli.main(["run", "digits-8x8-sv", "--set", "method=subset", "--set", "share=2"]) == 2
    assert "share = 2; allowed: a number above 0, up to 1" in capsys.readouterr().err
    assert cli.main(["fields"]) == 0
    assert "How many of the examples train." in capsys.readouterr().out
    whole, part = (predicted(DIGITS.replace(n_train=None, method="subset", share=s)) for s in (1, 0.1))
    assert part < 0.2 * whole


def test_a_new_task(more, capsys):
    app = train_page(method="scored")
    assert app.selectbox(key="recipe_method").value == "scored"
    assert not app.error
    result = command(capsys, "method=scored", "folds=3", "n_test=50")
    assert result["n_test"] == 50
    assert "errors" not in result
    assert len(result["validation"]["folds"]) == 3
    assert result["validation"]["n_test"] == 100
    with np.load(runs.get(result["run"]).path / "test.npz") as kept:
        assert kept["f"].shape == (50,)
    assert cli.main([*(word for word in RUN if word != "--json"), "--set", "method=scored"]) == 0
    assert f"mean score {execute(DIGITS.replace(method='scored')).result['mean_score']:.1f}" in capsys.readouterr().out
    assert estimate(DIGITS.replace(method="scored")).fits


def test_steps_of_a_recipe_are_those_of_a_preprocessor(more):
    assert Preprocessor("halve").fit_transform(np.full((2, 3), 4.0)).tolist() == [[2.0] * 3] * 2
