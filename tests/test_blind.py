"""The blind protocol: the test set has no say in what is chosen, a log is gone on from, and the answer stands once."""

import json

import pytest

from svmcore.kernels import Poly
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


def test_each_stage_takes_the_fewest_errors_and_a_killed_one_goes_on_from_its_log(logs, monkeypatch):
    whole = blind.Log("whole")
    chosen = blind.choose(PLAN, whole)
    assert len(whole.lines) <= PLAN.budget
    through = [line for line in whole.lines if line["folds"] == blind.FOLDS]
    assert min(line["errors"] for line in through) == next(
        line["errors"] for line in whole.lines if line["digest"] == chosen.digest()
    )
    half = whole.path.read_text().splitlines(keepends=True)[: len(whole.lines) // 2]
    (logs / "blind-half.jsonl").write_text("".join(half))
    fits = []
    monkeypatch.setattr(blind, "fit", lambda *given, fit=blind.fit: fits.append(given) or fit(*given))
    again = blind.Log("half")
    assert blind.choose(PLAN, again) == chosen
    assert [line["digest"] for line in again.lines] == [line["digest"] for line in whole.lines]
    assert len(fits) == sum(line["folds"] for line in whole.lines[len(half) :])


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


@pytest.mark.parametrize("name", [name for name in blind.PLANS if f"{name}-blind" in RECIPES])
def test_the_named_recipe_is_what_was_chosen(name):
    log = blind.Log(name)
    asked = [line for line in log.lines if "test" in line]
    assert asked == log.lines[-1:]
    assert Recipe.from_dict(asked[0]["recipe"]).digest() == RECIPES[f"{name}-blind"].digest()
