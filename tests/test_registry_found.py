"""One finder and one rule of editing more, each made here, are found in the form, the address, on the command line, in
validation and in the estimate, and train; nothing else needs to know of them."""

import json
from dataclasses import dataclass
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from svmcore import __main__ as cli
from svmcore.kernels import numeral
from svmcore.lab import RECIPES, RecipeError, jobs
from svmcore.lab.costs import Sizes, cost
from svmcore.lab.fields import Field, numeric
from svmcore.lab.finder import Finder
from svmcore.lab.finders import FINDERS
from svmcore.lab.finders.findings import beside_truth
from svmcore.lab.forecast import plans
from svmcore.lab.methods import METHODS
from svmcore.lab.methods.editing import OFFERED
from svmcore.lab.problem import assemble
from svmcore.lab.split import Split
from svmcore.lab.store import runs
from svmcore.lab.tasks import TASKS
from svmcore.methods.editing.roles import EASY, KEPT
from svmcore.methods.editing.rule import Rule
from tests.driven import open_page, whole_app  # noqa: F401

VOLCANOES = RECIPES["volcano-synthetic"]
MOONS = RECIPES["moons"].replace(method="editing")


class Squares(Finder):
    """A picture's middle in squares, each a candidate by what its corner pixels show."""

    name, title = "squares", "Squares of one size"
    fields = (Field("cells", numeric(2, 200, whole=True), 8, "Cells", "Squares along a picture's side."),)

    def prepare(self, recipe, pictures, part, check):
        check("searching")
        train, test = ([self._cut(recipe, pictures.pictures[at]) for at in some] for some in (part.train, part.test))
        X, X_test = (np.concatenate([chips for chips, _, _ in some]) for some in (train, test))
        y, y_test = (np.where(np.concatenate([hit for _, _, hit in some]) >= 0, 1, -1) for some in (train, test))
        data = SimpleNamespace(X_train=X, X_test=X_test, image_shape=X.shape[1:], content_hash="squares")
        problem = assemble(recipe, data, Split(np.arange(len(y)), np.arange(len(y_test)), "test", y, y_test), check)
        found = beside_truth(pictures, part.test, *zip(*((box, hit) for _, box, hit in test), strict=True), X_test)
        of_training = {
            "train_chips": X,
            "train_y": y,
            "train_picture": np.repeat(part.train, recipe.option("cells") ** 2),
        }
        return problem._replace(search=found._replace(**of_training, train_round=np.zeros(len(y), int)), recipe=recipe)

    def judge(self, machine, problem, check):
        return problem.search._replace(decision=machine.decision_values(problem.X_test)[:, 0])

    def size(self, recipe, pictures, part):
        cells, d = recipe.option("cells") ** 2, recipe.option("chip") ** 2
        return Sizes(cells * len(part.train), cells * len(part.test), d, 1)

    def _cut(self, recipe, picture):
        side, n = recipe.option("chip"), recipe.option("cells")
        at = np.linspace(0, min(picture.image.shape) - side, n).astype(int)
        corner = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
        box = np.concatenate([corner, corner + side], axis=1).astype(float)
        chips = np.stack([picture.image[y : y + side, x : x + side] for x, y in corner])
        centre, hit = (picture.boxes[:, :2] + picture.boxes[:, 2:]) / 2, np.full(len(box), -1)
        for number, own in enumerate(centre):
            hit[(np.abs(box[:, :2] + side / 2 - own) <= side / 2).all(axis=1)] = number
        return chips, box, hit


@dataclass(frozen=True)
class Every(Rule):
    """An example in `every` goes, and machines on halves are tried first."""

    name: ClassVar[str] = "every"
    title: ClassVar[str] = "One in so many"
    why: ClassVar[str] = "It is its turn."
    every: int = numeral(3, "Every", "One in how many goes.", 2, 50)

    def role(self, given):
        given.session.check()
        return np.where(np.arange(len(given.X)) % self.every, KEPT, EASY)

    def machines(self, n):
        return ((n // 2, 100),)


@pytest.fixture
def more(home, monkeypatch):
    """A lab that knows one more of each, with a run, so that no preset starts."""
    assert jobs.wait(jobs.submit(RECIPES["moons"]), 300).state == "done"
    monkeypatch.setitem(FINDERS, "squares", Squares())
    monkeypatch.setitem(OFFERED, "every", Every)


def predicted(recipe):
    return cost(*plans(recipe, TASKS[recipe.task].size(recipe))).seconds


def command(capsys, name, *changes):
    assert cli.main(["run", name, "--json", *(word for change in changes for word in ("--set", change))]) == 0
    return json.loads(capsys.readouterr().out.splitlines()[-1])


def test_a_new_finder(more, capsys):
    with pytest.raises(RecipeError, match=r"cells = 1; allowed: a whole number from 2 to 200"):
        VOLCANOES.replace(finder="squares", cells=1)
    result = command(capsys, "volcano-synthetic", "finder=squares", "cells=20")
    run = runs.get(result["run"])
    assert run.recipe.options == {"finder": "squares", "cells": 20}
    assert result["candidates"] == 400 * result["pictures"]
    assert len(run.test().train_y) == result["n_train"]
    run.check()
    assert cli.main(["fields"]) == 0
    assert "Squares along a picture's side." in capsys.readouterr().out
    few, many = (predicted(VOLCANOES.replace(finder="squares", cells=n)) for n in (10, 40))
    assert many > 10 * few
    app = open_page("detect", task="detect", dataset="venus-like", finder="squares", cells="12")
    assert not app.warning
    numbers = {widget.label: widget.value for widget in app.number_input}
    assert numbers["Cells"] == 12
    assert not numbers.keys() & {"Pooling, pixels", "Reach, pixels", "Stride", "Weight of overlaps"}
    (finder,) = (widget for widget in app.selectbox if widget.label == "Candidates from")
    finder.set_value("matched").run()
    assert not app.exception
    numbers = {widget.label for widget in app.number_input}
    assert {"Pooling, pixels", "Reach, pixels"} <= numbers
    assert not numbers & {"Cells", "Stride", "Weight of overlaps"}


def test_a_new_rule(more, capsys):
    with pytest.raises(RecipeError, match="every = 1; allowed: a whole number from 2 to 50"):
        MOONS.replace(rule="every", every=1)
    result = command(capsys, "moons", "method=editing", "rule=every", "every=4")
    run = runs.get(result["run"])
    assert result["roles"][EASY] == -(-result["n_train"] // 4)
    assert (np.flatnonzero(run.edited().role == EASY) % 4 == 0).all()
    assert cli.main(["fields"]) == 0
    assert "One in how many goes." in capsys.readouterr().out
    plain, halves = (predicted(MOONS.replace(rule=rule)) for rule in ("condense", "every"))
    assert halves > 10 * plain
    fields = {field.name: field for field in TASKS["detect"].fields} | {f.name: f for f in METHODS["editing"].fields}
    assert fields["cells"].of == ("finder", ("squares",))
    assert fields["every"].of == ("rule", ("every",))
    assert fields["patience"].of == ("rule", ("multiedit", "multiedit-svm", "multiedit+condense"))
    app = open_page("train", dataset="toy-moons", method="editing", rule="every", every="5")
    assert app.number_input(key="recipe_editing_every").value == 5
