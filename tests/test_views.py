"""A task and a method more, each with a view of its own, made here: the pages show them and never ask which they are.

The task puts examples in order: no labels, no errors, no page of its own. The method trains on a share of the examples
for as long as the test likes.
"""

import itertools
import json
import re
import threading
from pathlib import Path
from typing import ClassVar, NamedTuple

import numpy as np
import pytest
import streamlit as st

import pages.ui.views  # noqa: F401  (makes them known)
from data import load
from pages.ui.kit import view
from pages.ui.kit.view import PageLink, View
from pages.ui.run import exports
from pages.ui.run.report import marks
from svmcore import __main__ as cli
from svmcore.allowed import fraction
from svmcore.lab import Recipe, jobs, split
from svmcore.lab.costs import Sizes, Stage
from svmcore.lab.fields import Field, numeric
from svmcore.lab.forecast import estimate
from svmcore.lab.method import Method
from svmcore.lab.methods import METHODS
from svmcore.lab.problem import assemble
from svmcore.lab.store import runs
from svmcore.lab.task import Task
from svmcore.lab.tasks import TASKS
from svmcore.solvers.progress import Progress
from svmcore.svc import SVC
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401
from tests.gate import until

PAGES = Path(__file__).parent.parent / "pages"
MOONS = Recipe(dataset="toy-moons", preprocess=(), n_train=80, n_test=40, title="Moons")
ORDERED = {"task": "order", "method": "part"}


class Ranked(NamedTuple):
    f: np.ndarray  # (n,)
    y: np.ndarray  # (n,)


class Order(Task):
    """Which examples are of the larger class most surely."""

    name, title, does = "order", "Put examples in order", "puts examples in order"
    looks = False
    fields = (Field("top", numeric(1, 1000, whole=True), 10, "Top", "How many of the first are looked at."),)
    figures: ClassVar = {"top_share": fraction}
    arrays: ClassVar = {"f": ("f", 1), "y": ("biuf", 1)}
    kept = Ranked

    def prepare(self, recipe, check, part=0):
        data = load(recipe.dataset)
        parts = split.whole(recipe, data)
        self.top = recipe.option("top")
        return assemble(recipe, data, parts, check)

    def fold(self, recipe, number, check):
        data = load(recipe.dataset)
        return assemble(recipe, data, split.fold(recipe, split.whole(recipe, data), number), check)

    def judge(self, machine, problem, check):
        return Ranked(machine.decision_values(problem.X_test)[:, 0], np.asarray(problem.y_test))

    def outcome(self, judged):
        f, y = (np.concatenate([getattr(one, name) for one in judged]) for name in ("f", "y"))
        first = y[np.argsort(-f)][: self.top]
        return {"n_test": len(f), "top_share": float((first == y.max()).mean())}

    def loss(self, judged):
        return float((judged.y[np.argsort(-judged.f)][: self.top] != judged.y.max()).sum())

    def headline(self, result):
        return f"{result['top_share']:.0%} of the top ones right"

    def size(self, recipe):
        return Sizes(recipe.n_train or 100, recipe.n_test or 100, 2, 1)


class Part(Method):
    """A machine on a share of the examples."""

    name, title, short, source = "part", "Part of the examples", "Part", "this test"
    help = "A machine on the first examples alone."
    tasks = ("classify", "order")
    looks = False
    fields = (Field("share", numeric(0, 1), 0.5, "Share", "How many of the examples train.", step=0.05),)
    open = threading.Event()

    def train(self, recipe, problem, monitor):
        for burst in itertools.count(1):
            if not monitor(Progress("part", burst, 1 / burst, (1 / burst,), 0.0, 5, 0, 0, 0, 0, 0.0, None)):
                break
            if self.open.wait(0.005):
                break
        n = int(recipe.option("share") * len(problem.X_train))
        return SVC(problem.kernel, C=recipe.C).fit(problem.X_train[:n], problem.y_train[:n])

    def stages(self, recipe, size):
        return [Stage(int(recipe.option("share") * size.n_train), size.machines)]


OF_TASK = View(
    told="Its order is where it was trained.",
    pictures=lambda run, status: st.caption(f"The order of a run that is {status.state}"),
    hint=lambda run: st.caption("A hint about the order"),
    links=lambda run, others: [PageLink("datasets", "See its examples")],
    columns={"Top": (st.column_config.NumberColumn(format="%.1f %%"), lambda result: 100 * result["top_share"])},
    report={"The order": lambda run: marks.section("The order", marks.paragraph(f"{len(run.test().f)} in order"))},
)
OF_METHOD = View(
    numbers=lambda run, last, status: st.metric("Bursts", str(last["iterations"])),
    curves=lambda run, progress, key: st.caption(f"{key}: {run.title} by its own curve"),
    links=lambda run, others: [*others, PageLink("jitters", "See the part")],
    course=lambda run: marks.section("The part", marks.paragraph("as it grew")),
)


@pytest.fixture
def more(home, monkeypatch):
    """A lab and pages that know one more of each: one file's worth and a line a piece."""
    (home / "preset.lock").touch()
    monkeypatch.setattr(jobs, "ensure_preset", lambda: None)
    monkeypatch.setitem(TASKS, "order", Order())
    monkeypatch.setitem(METHODS, "part", Part())
    monkeypatch.setitem(view.TASKS, "order", OF_TASK)
    monkeypatch.setitem(view.METHODS, "part", OF_METHOD)
    Part.open.set()
    yield
    Part.open.set()
    for run_id in jobs.active():
        jobs.wait(run_id, 30)


def links(app):
    return [node.proto.label for node in app.get("page_link")]


def metrics(app):
    return [metric.label for metric in app.metric]


def test_the_form_offers_it_and_the_run_is_watched(more):
    app = open_page("train", dataset="toy-moons", n_train="80", n_test="40", preprocess="", top="7", **ORDERED)
    assert [text.value for text in app.warning] == []
    assert app.selectbox(key="recipe_task").value == "order"
    assert app.selectbox(key="recipe_task").options == ["Classify examples", "Put examples in order"]
    assert app.selectbox(key="recipe_method").options == ["Part of the examples"]
    assert app.number_input(key="recipe_order_top").value == 7
    assert not [box for box in app.number_input if box.key == "recipe_classify_noise"]
    app.number_input(key="recipe_order_top").set_value(8).run()
    assert {name: app.query_params[name] for name in ("task", "top")} == {"task": "order", "top": "8"}
    Part.open.clear()
    app.button(key="start").click().run()
    run_id = app.session_state["run"]
    until(lambda: jobs.status(run_id).progress)
    app.run()
    assert "The order of a run that is running" in captions(app)
    assert "by its own curve" in captions(app)
    assert "Bursts" in metrics(app)
    assert "KKT gap" not in metrics(app)
    Part.open.set()
    assert jobs.wait(run_id, 60).state == "done"
    app.run()
    assert not app.exception
    assert "The order of a run that is done" in captions(app)
    assert "A hint about the order" in captions(app)
    assert any("of the top ones right" in text.value for text in app.markdown)
    assert [label for label in links(app) if label.startswith("See ")] == ["See its examples", "See the part"]
    assert runs.get(run_id).recipe.option("top") == 8


def test_from_the_form_of_one_task_to_that_of_another(more):
    app = open_page("train", dataset="toy-moons", preprocess="")
    assert app.selectbox(key="recipe_task").value == "classify"
    app.selectbox(key="recipe_task").set_value("order").run()
    assert (app.query_params["task"], app.query_params["method"]) == ("order", "part")
    assert app.number_input(key="recipe_order_top").value == 10
    app.selectbox(key="recipe_task").set_value("classify").run()
    assert "Support vectors" in app.selectbox(key="recipe_method").options
    assert not app.exception


def test_usually_no_task_is_asked_for(home, monkeypatch):
    monkeypatch.setattr(jobs, "ensure_preset", lambda: None)
    assert not [box for box in open_page("train").selectbox if box.key == "recipe_task"]


def test_command_line_and_forecast(more, capsys):
    words = ["run", "moons", "--json", *(w for name, value in ORDERED.items() for w in ("--set", f"{name}={value}"))]
    assert cli.main([*words, "--set", "top=5", "--set", "folds=2"]) == 0
    result = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert 0 <= result["top_share"] <= 1
    assert "errors" not in result
    assert len(result["validation"]["folds"]) == 2
    assert cli.main(["fields"]) == 0
    assert "How many of the first are looked at." in capsys.readouterr().out
    need = [estimate(MOONS.replace(n_train=50_000, share=s, **ORDERED)).seconds for s in (0.1, 1.0)]
    assert need[0] < need[1]


def test_list_report_and_comparison(more):
    ordered, part = finished(MOONS.replace(**ORDERED, title="In order")), finished(MOONS.replace(method="part"))
    plain = finished(MOONS.replace(title="Plain"))
    app = open_page("runs", run=ordered.id)
    table = app.dataframe[0].value.set_index("Run")
    assert table.loc["In order", "Top"] == 100 * ordered.result["top_share"]
    assert np.isnan(table.loc["In order", "Error rate"])
    assert table.loc["Plain", "Error rate"] == 100 * plain.result["error_rate"]
    assert "by its own curve" in captions(app)
    texts = {run.title: exports.report(run) for run in (ordered, part, plain)}
    assert ["40 in order" in text for text in texts.values()] == [True, False, False]
    assert ["as it grew" in text for text in texts.values()] == [True, True, False]
    assert ["Classes</h2>" in text for text in texts.values()] == [False, True, True]
    assert not [text for text in texts.values() if "Not shown" in text]
    app = open_page("compare", run=plain.id, compare=[plain.id, part.id, ordered.id])
    assert app.dataframe[0].value["Run"].tolist() == ["Plain", "Moons"]
    assert any("It puts examples in order, so it has no prediction" in text.value for text in app.markdown)
    assert "Compare this run on Train" in links(app)


SHOWING = ("support_vectors", "errors", "draw", "scramble", "jitters", "sweep", "reduced", "cross_training", "detect",
           "photograph", "datasets", "methods", "playground")  # fmt: skip


def test_every_page_has_a_word_for_it(more):
    run = finished(MOONS.replace(**ORDERED, title="In order"))
    told = {page: open_page(page, run=run.id, digit="toy-moons/test/1") for page in SHOWING}
    for page in ("support_vectors", "errors"):
        assert "**This run puts examples in order.** Its order is where it was trained." in [
            text.value for text in told[page].markdown
        ]
        assert "Watch it" in links(told[page])
    assert "puts examples in order and does not detect objects" in captions(told["detect"])


def test_no_page_asks_which_task_or_method_it_is():
    """Of all that is drawn, the views alone know names of tasks and methods to tell them apart."""
    asks = re.compile(r"\b(task|method)\b *(==|!=|not in|in) *[\"'(A-Z]|(==|!=) *[\w.]*\.(task|method)\b|in ELSEWHERE")
    files = [path for path in PAGES.rglob("*.py") if "views" not in path.parts]
    lines = [f"{path.name}: {line.strip()}" for path in files for line in path.read_text("utf-8").splitlines()]
    assert not [line for line in lines if asks.search(line) and " for " not in line]
