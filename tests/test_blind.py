"""The blind protocol: the test set has no say in what is chosen, a log is gone on from, and the answer stands once."""

import json

import numpy as np
import pytest

from data import load
from svmcore.kernels import Poly
from svmcore.lab import split
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.tasks import task_of
from svmcore.lab.train import unchecked
from tests.bench import blind

BASE = Recipe(name="blind", dataset="digits-8x8", n_train=150, n_test=100, kernel=Poly(3, 1.0, 1.0), C=1.0,
              method="vsv", jitters="none", options={"scope": "union"}, folds=3)  # fmt: skip
PLAN = blind.Plan(
    BASE,
    (blind.Stage("jitters", grow=("plus:1", "rot:-8,8")), blind.Stage("C", ({"C": "0.01"}, {"C": "5"}))),
    budget=8,
    whole={"n_train": 400},
    larger=400 / 150,
)


@pytest.fixture
def logs(tmp_path, monkeypatch):
    monkeypatch.setattr(blind, "MEASURED", tmp_path)
    return tmp_path


def test_a_stage_takes_what_is_better_by_more_than_a_standard_error_and_a_killed_one_goes_on_from_its_log(
    logs, monkeypatch
):
    whole = blind.Log("whole")
    chosen = blind.choose(PLAN, whole)
    asked = [line for line in whole.lines if line["stage"] != "again"]
    assert len(asked) <= PLAN.budget
    through = {line["digest"]: set().union(*line["wrong"]) for line in asked if len(line["wrong"]) == blind.FOLDS}
    base, best = through[BASE.digest()], min(through.values(), key=len)
    assert chosen.digest() in through
    assert len(through[chosen.digest()]) <= len(best) + len(through[chosen.digest()] ^ best) ** 0.5
    assert (chosen == BASE) == (len(base) <= len(best) + len(base ^ best) ** 0.5)
    half = whole.path.read_text().splitlines(keepends=True)[: len(whole.lines) // 2]
    (logs / "blind-half.jsonl").write_text("".join(half))
    fits = []
    monkeypatch.setattr(blind, "fit", lambda *given, fit=blind.fit: fits.append(given) or fit(*given))
    again = blind.Log("half")
    assert blind.choose(PLAN, again) == chosen
    assert [line["digest"] for line in again.lines] == [line["digest"] for line in whole.lines]
    assert len(fits) == sum(len(line["wrong"]) for line in whole.lines[len(half) :])


def test_of_equals_the_first_is_taken_and_luck_is_no_reason_to_change():
    lines = [{"wrong": [list(range(20))]}, {"wrong": [list(range(3, 21))]}, {"wrong": [list(range(5))]}]
    for line in lines:
        line["errors"] = len(line["wrong"][0])
    assert blind.compared(lines[0], lines[1]) == (2, 2.0)  # three that one gets wrong, one that the other does
    assert blind.first_as_good(lines[:2]) == 0
    assert blind.first_as_good(lines) == 2


def test_what_is_aside_is_neither_chosen_by_nor_tested():
    task = task_of(BASE)
    seen = [task.fold(BASE, number, unchecked).test_index for number in range(BASE.folds)]
    aside = split.left_over(BASE, load(BASE.dataset), 10_000)
    rows = np.concatenate([*seen, task.prepare(BASE, unchecked).test_index, aside])
    assert sorted(rows) == list(range(1797))  # each example is one of them


def test_what_is_tested_is_none_of_what_is_chosen_by(logs):
    task = task_of(BASE)
    tested = task.prepare(BASE, unchecked).test_index
    folds = [task.fold(BASE, number, unchecked) for number in range(blind.FOLDS)]
    assert not set(tested) & {row for fold in folds for row in (*fold.train_index, *fold.test_index)}


def test_the_test_set_is_asked_once(logs, home):
    log = blind.Log("asked")
    blind.test(PLAN, log)
    answer = json.loads(log.path.read_text().splitlines()[-1])
    assert 0 <= answer["test"]["errors"] <= answer["test"]["n_test"]
    with pytest.raises(SystemExit, match="once"):
        blind.test(PLAN, blind.Log("asked"))


def test_as_many_draws_for_each_example_as_on_the_folds():
    drawn = BASE.replace(jitters="random:1000", options={"scope": "union", "draws": 1000})
    whole = blind.final(PLAN, drawn)
    assert whole.option("draws") == 4000
    assert (whole.n_train, whole.folds) == (400, None)


@pytest.mark.parametrize("name", [path.stem.removeprefix("blind-") for path in blind.MEASURED.glob("blind-*.jsonl")])
def test_the_named_recipe_is_what_was_chosen(name):
    log = blind.Log(name)
    if asked := [line for line in log.lines if "test" in line]:
        assert asked == log.lines[-1:]
        recipe = Recipe.from_dict(asked[0]["recipe"])
        assert recipe.digest() == RECIPES[recipe.name].digest()
