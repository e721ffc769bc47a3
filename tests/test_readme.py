"""The README's figures are what a stored run or a bench wrote, and the names in its commands exist."""

import json
import re

import pytest
from PIL import Image

from svmcore.lab.experiment import train
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import RECIPES
from svmcore.lab.store import runs
from svmcore.lab.tables import TABLES
from tests.bench import measured, picture, readme
from tests.bench.problems import PROBLEMS

TEXT = readme.README.read_text(encoding="utf-8")
FIGURE = re.compile(r"\d+\.\d+|\d+ ?(?:%|s\b|ms\b|MB\b|GB\b|times\b|errors?\b|support vectors?\b)")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the measured figures that a test may change."""
    for path in measured.FOLDER.glob("*.json"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(measured, "FOLDER", tmp_path)
    return tmp_path


def test_the_picture_at_its_head_is_there_and_small():
    (shown,) = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert (readme.README.parent / shown) == picture.PATH
    assert 10_000 < picture.PATH.stat().st_size < picture.MOST_BYTES
    assert Image.open(picture.PATH).format == "PNG"


def test_the_readme_is_what_the_command_prints():
    assert readme.rewritten(TEXT) == TEXT, "python -m tests.bench.readme --write"
    assert "Not measured yet" not in TEXT


def test_results_outside_the_marks_hold_no_figure():
    results = TEXT.partition("\n## Results")[2].partition("\n## ")[0]
    for name in readme.parts():
        first, last = (mark.format(name) for mark in readme.MARKS)
        before, _, rest = results.partition(first)
        results = before + rest.partition(last)[2]
    assert "|" not in results
    assert FIGURE.findall(results.replace("over 5 times", "")) == []  # what the paper claims


@pytest.mark.parametrize("name", measured.read("runs"))
def test_measured_runs_are_of_recipes_as_they_are_now(name):
    run = measured.read("runs")[name]
    assert name in RECIPES
    asked = measured.question(Recipe.from_query(run["recipe"]))  # read, as links of an older form are
    assert asked == measured.question(RECIPES[name]), f"{name} was measured as another recipe: run it again"
    assert run["converged"]


def test_measured_problems_are_those_of_the_bench():
    for row in measured.read("peers")["problems"]:
        assert row["problem"] in PROBLEMS
        assert readme.problem_title(row["problem"])
    assert all(readme.problem_title(name) for name in PROBLEMS)


def test_another_figure_makes_another_readme(folder):
    found = measured.read("runs")
    name = next(iter(found))
    found[name]["errors"] += 1
    measured.write("runs", found)
    assert readme.rewritten(TEXT) != TEXT


def test_figures_are_taken_from_the_latest_stored_run(folder, home):
    with pytest.raises(ValueError, match="'mnist-6k' is not a recipe"):
        measured.take_runs(["mnist-6k"])
    shown = list(measured.read("runs"))
    assert measured.take_runs(["moons"]) == [name for name in RECIPES if name in (*shown, "moons")]
    assert list(measured.read("runs")) == shown  # nothing is stored: figures stay, and none is made up
    outcome = train.execute(RECIPES["moons"])
    for errors in (7, 8):
        run = runs.create(RECIPES["moons"])
        run.finish(outcome.machine, outcome.test, outcome.result | {"errors": errors})
        run.release()
    assert "moons" not in measured.take_runs(["moons"])
    taken = measured.read("runs")["moons"]
    assert (taken["errors"], taken["n_sv"]) == (8, outcome.result["n_sv"])
    assert taken["train_seconds"] <= outcome.result["fit_seconds"] + 0.01
    assert "| Two moons | `moons` | 8 |" in readme.errors(measured.read("runs"))


def test_what_peers_wrote_takes_the_place_of_its_problems_alone(folder, tmp_path):
    def row(name, n, seconds):
        return {"problem": name, "n": n, "candidates": {"ours": {"seconds": seconds, "growth_mb": 5.0, "dual": 2.0}}}

    old = [row("digit-8-2000", 2000, 1.0), row("digit-8-5000", 5000, 5.0)]
    measured.write("peers", {"problems": [r | {"machine": "slow"} for r in old], "growth": {}})
    new = tmp_path / "new.json"
    new.write_text(json.dumps({"machine": "quick", "problems": [row("digit-8-5000", 5000, 2.5)], "growth": {}}))
    measured.take_peers(new)
    found = measured.read("peers")
    assert [(r["problem"], r["machine"]) for r in found["problems"]] == [
        ("digit-8-2000", "slow"),
        ("digit-8-5000", "quick"),
    ]
    assert found["growth"]["ours"] == pytest.approx(1.0)  # 2.5 times the examples in 2.5 times the time
    text = readme.peers(found)
    assert "to the power" not in text
    assert "| MNIST digit 8 against the rest | 5000 | | | 2.50 | | | 5 |" in text
    assert "Measured on quick; slow." in text


def test_published_errors_are_those_of_the_tables():
    assert readme.published("mnist-sv") == "122"
    assert readme.published("3v8-5x5-vsv") == "8"
    assert readme.published("usps-vsv-local") == "3.0 %"
    assert readme.published("mnist-best") == ""


def test_names_in_the_commands_exist():
    commands = re.findall(r"python -m svmcore (?:run|sweep) (\S+)", TEXT)
    assert len(commands) >= 3
    assert set(commands) <= RECIPES.keys() | TABLES.keys()
    for name in re.findall(r"`((?:mnist|usps|3v8)-[a-z0-9-]+)`", TEXT):
        assert name in RECIPES
