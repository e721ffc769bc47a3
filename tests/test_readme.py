"""The README's figures are what a stored run or a bench wrote, and the names in its commands exist."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from sklearn.datasets import make_moons

from svmcore import RBF, SVC, Poly
from svmcore.lab.experiment import train
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import RECIPES
from svmcore.lab.store import runs
from svmcore.lab.tables import TABLES
from svmcore.solvers import smo
from tests.bench import judge, measured, peers, picture, ratio, readme, times
from tests.bench.problems import PROBLEMS
from tests.cases import all_cases

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
    shown, _ = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
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


@all_cases("name", measured.read("runs"))
def test_measured_runs_are_of_recipes_as_they_are_now(name):
    run = measured.read("runs")[name]
    assert name in RECIPES
    asked = measured.question(Recipe().with_texts(run["recipe"]))  # read, as links of an older form are
    assert asked == measured.question(RECIPES[name]), f"{name} was measured as another recipe: run it again"
    assert run["converged"]


def test_measured_problems_are_those_of_the_bench():
    rows = measured.read("peers")
    assert rows.keys() <= PROBLEMS.keys()
    assert all(row["problem"] == name for name, row in rows.items())


def test_the_picture_of_ratios_is_drawn_from_the_figures():
    _, shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)
    assert (readme.README.parent / shown) == ratio.PATH
    rows = measured.read("peers")
    assert ratio.PATH.read_text(encoding="utf-8") == ratio.picture(rows), "python -m tests.bench.readme --write"
    drawn = ElementTree.fromstring(ratio.picture(rows))
    kinds = ["".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}tspan")]
    assert kinds == list(ratio.lines(rows))
    assert len(ratio.COLOURS) >= len({problem.kind for problem in PROBLEMS.values()} - {None})


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
        run.save_part(outcome.machine, outcome.test)
        run.complete(outcome.result | {"errors": errors})
        run.release()
    assert "moons" not in measured.take_runs(["moons"])
    taken = measured.read("runs")["moons"]
    assert (taken["errors"], taken["n_sv"]) == (8, outcome.result["n_sv"])
    assert taken["train_seconds"] <= outcome.result["fit_seconds"] + 0.01
    assert "| Two moons | `moons` | 8 |" in readme.errors(measured.read("runs"))


def of_two(name, n, ours, theirs, **failed):
    """A row of peers.json."""
    took = {"turns": 5, "cpu_seconds": 1.0, "predict_seconds": 0.01, "growth_mb": 5.0, "n_sv": [3], "gap": 5e-4}
    seconds = {"ours": ours, "sklearnex": theirs}
    candidates = {who: took | {"seconds": each, "dual": 2.0} for who, each in seconds.items()}
    return {"problem": name, "n": n, "d": 7, "machine": "quick", "candidates": candidates, "failed": failed}


def test_a_row_of_peers_takes_the_place_of_its_problem_alone():
    small, large = of_two("table-2000", 2000, 1.0, 4.0), of_two("table-10000", 10000, 5.0, 4.0)
    rows = peers.merged(peers.merged({}, large), small)
    assert list(rows) == ["table-2000", "table-10000"]
    again = of_two("table-10000", 10000, 2.0, 4.0, sklearn="longer than 60 s")
    rows = peers.merged(rows, again)
    assert ratio.lines(rows) == {"table": [(2000, 0.25), (10000, 0.5)]}
    text = times.part(rows, readme.table, readme.lines, readme.measured_on)
    assert "| table, 54 features | 10000 | longer than 60 s | 4.00 | 2.00 | 0.50 | 0.01 | 0.01 | 5 | 5 |" in text
    assert "| 2000 |" not in text
    assert "takes 0.25 to 0.50 times the seconds of scikit-learn-intelex, more than 1 in 0." in text.replace("\n", " ")


def test_the_judge_finds_the_dual_and_the_gap_that_the_machine_claims():
    X, y = make_moons(60, noise=0.2, random_state=0)
    X = X.astype(np.float32)
    signs = np.where(y > 0, 1.0, -1.0)
    for kernel in (RBF(1.0), Poly(3, 1.0, 1.0)):
        machine = SVC(kernel, C=2.0).fit(X, y)
        coef = np.zeros(60)
        coef[machine.support_] = machine.dual_coef_[0]
        K = kernel.exact(X, X)
        dual, gap = judge.judged(kernel.to_dict(), X, signs, np.full(60, 2.0), machine.support_, machine.dual_coef_[0])
        assert dual == pytest.approx(np.abs(coef).sum() - 0.5 * coef @ K @ coef)
        assert gap == pytest.approx(smo.kkt_gap(signs, np.full(60, 2.0), np.abs(coef), K @ coef - signs)[0])
        assert gap <= 1e-3


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
