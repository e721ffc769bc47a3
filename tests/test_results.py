"""The figures of RESULTS.md and the README are what a stored run or a bench wrote."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from sklearn.datasets import make_moons

from svmcore import RBF, SVC, Poly
from svmcore.lab import train
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.solvers import smo
from tests.bench import curves, judge, measured, peers, ratio, results, times
from tests.bench.problems import PROBLEMS

TEXT = results.RESULTS.read_text(encoding="utf-8")
FIGURE = re.compile(r"\d+\.\d+|\d+ ?(?:%|s\b|ms\b|MB\b|GB\b|times\b|errors?\b|support vectors?\b)")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A copy of the measured figures that a test may change."""
    for path in (*measured.FOLDER.glob("*.json"), *measured.QUOTED.glob("*.json")):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.setattr(measured, "FOLDER", tmp_path)
    monkeypatch.setattr(measured, "QUOTED", tmp_path)
    return tmp_path


def test_both_pages_are_what_the_command_prints():
    for path in (results.README, results.RESULTS):
        text = path.read_text(encoding="utf-8")
        assert results.rewritten(path) == text, "python -m tests.bench.results --write"
        assert "Not measured yet" not in text


def test_no_figure_stands_outside_the_marks():
    text = TEXT.partition("\n## How to measure again")[0]
    for name in results.parts(results.RESULTS):
        first, last = (mark.format(name) for mark in results.MARKS)
        before, _, rest = text.partition(first)
        text = before + rest.partition(last)[2]
    assert "|" not in text
    assert FIGURE.findall(text.replace("over 5 times", "")) == []  # what the paper claims


def test_measured_runs_are_of_recipes_as_they_are_now():
    """All of them; recipes are read as links of an older form are."""
    found = measured.read("runs")
    asked = {name: measured.question(Recipe().with_texts(run["recipe"])) for name, run in found.items()}
    unknown = found.keys() - RECIPES.keys()
    others = [name for name in found.keys() - unknown if asked[name] != measured.question(RECIPES[name])]
    assert (unknown, others) == (set(), []), "measured as other recipes: run them again"
    assert [name for name, run in found.items() if not run["converged"]] == []


def test_measured_problems_are_those_of_the_bench():
    rows = measured.read("peers")
    assert rows.keys() <= PROBLEMS.keys()
    assert all(row["problem"] == name for name, row in rows.items())


def test_the_picture_of_ratios_is_drawn_from_the_figures():
    shown = [results.RESULTS.parent / path for path in re.findall(r"!\[[^\]]+\]\(([^)]+)\)", TEXT)]
    assert shown == [ratio.PATH, curves.PATH]
    rows = measured.read("peers")
    assert ratio.PATH.read_text(encoding="utf-8") == ratio.picture(rows), "python -m tests.bench.results --write"
    drawn = ElementTree.fromstring(ratio.picture(rows))
    kinds = ["".join(text.itertext()) for text in drawn.iter("{http://www.w3.org/2000/svg}tspan")]
    assert kinds == list(ratio.lines(rows))
    assert len(ratio.COLOURS) >= len({problem.kind for problem in PROBLEMS.values()} - {None})


def test_another_figure_makes_other_pages(folder):
    found = measured.read("runs")
    found["mnist-sv"]["errors"] += 1
    measured.write("runs", found)
    for path in (results.README, results.RESULTS):
        assert results.rewritten(path) != path.read_text(encoding="utf-8")


def test_the_eight_figures_of_the_readme_are_those_measured():
    """Looked up here once more, in another way than they are printed."""
    text = results.README.read_text(encoding="utf-8")
    first, last = (mark.format("figures") for mark in results.MARKS)
    lines = text.partition(first)[2].partition(last)[0].strip().splitlines()[2:]
    shown = [re.split(r" *\| *", line.strip("| "))[1:] for line in lines]
    runs = measured.read("runs")
    ours = [str(runs[name]["errors"]) for name in ("mnist-sv", "mnist-vsv", "mnist-deslant-vsv2", "3v8-jsv")]
    (digits,) = (
        row
        for row in measured.read("reductions")["burges-degree5"]["rows"]
        if row[3] and row[3]["figure"] == "error_pct"
    )
    (adult,) = (row["cells"] for row in measured.read("crossing")["table1"] if row["row"].startswith("Adult, 32"))
    fits = {who: fit["seconds"] for who, fit in measured.read("peers")["digits-60000"]["candidates"].items()}
    rates = {who: found["rates"]["100"] for who, found in runs["volcano-A"]["machines"].items()}
    ours += [
        f"{digits[3]['value']:.2f} %",
        f"{adult[5]['value']:,.0f}",
        f"{rates['machine']:.2f}",
        f"{fits['ours']:.1f} s",
    ]
    assert [mine for mine, _ in shown] == ours
    assert [theirs.split()[0] for _, theirs in shown[:6]] == ["122", "68", "56", "30", "1.1", "1,194"]
    assert shown[5][1].endswith(f"plain SVM {adult[1]['value']:,.0f}")
    assert shown[6][1] == f"matched filter {rates['matched filter']:.2f}"
    assert shown[7][1] == f"scikit-learn-intelex {fits['sklearnex']:.1f} s"


def test_figures_are_taken_from_the_latest_stored_run(folder, home):
    with pytest.raises(ValueError, match="'mnist-6k' is not a recipe"):
        measured.take_runs(["mnist-6k"])
    shown = list(measured.read("runs"))
    assert measured.take_runs() == shown
    assert measured.take_runs(["moons"]) == ["moons"]
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
    assert "| Two moons | `moons` | 8 |" in results.errors(measured.read("runs"))


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
    text = times.part(rows, results.table, results.lines, results.measured_on)
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


def test_the_judge_finds_that_the_primal_meets_the_dual_at_the_optimum_alone():
    X, y = make_moons(60, noise=0.2, random_state=0)
    X, signs, C = X.astype(np.float32), np.where(y > 0, 1.0, -1.0), np.full(60, 2.0)
    machine = SVC("linear", C=2.0, tol=1e-6).fit(X, y)
    dual, _ = judge.judged({"name": "linear"}, X, signs, C, machine.support_, machine.dual_coef_[0])
    w, b = machine.coef_[0], machine.intercept_[0]
    assert judge.primal(X, signs, C, w, b) == pytest.approx(dual, rel=1e-6)
    assert judge.primal(X, signs, C, 0.9 * w, b) > dual * 1.001


def test_linear_machines_of_other_libraries_are_told_beside_our_objective():
    row = of_two("linear-8", 10000, 1.0, 4.0)
    assert times.planes({"linear-8": row}) == []
    plane = {"seconds": 0.5, "primal": 2.02}
    row["candidates"] |= {"ours": row["candidates"]["ours"] | {"primal": 2.0}, "liblinear": plane}
    assert "linear kernel: LIBLINEAR 0.5 s (1 %), ours 1.00 s (0 %)." in times.planes({"linear-8": row})[0]


def test_curves_fall_towards_the_best_objective_that_either_reached():
    rows = {"ours": [(0.1, 0.0), (1.0, 100.0)], "sklearnex": [(0.2, 50.0), (4.0, 99.0)], "machine": "quick"}
    far = curves.below({who: rows[who] for who in curves.WHO})
    assert far["ours"] == [(0.1, 1.0), (1.0, curves.NEAREST)]
    assert far["sklearnex"] == [(0.2, 0.5), (4.0, pytest.approx(0.01))]
    drawn = ElementTree.fromstring(curves.picture({"overlap-C1e4": rows}))
    assert len(drawn.findall("{*}polyline")) == 2
    assert curves.part({}, results.measured_on) == "Not measured yet."
    assert "Measured on quick." in curves.part({"overlap-C1e4": rows}, results.measured_on)


def test_the_curves_are_drawn_from_the_figures():
    found = measured.read("curves")
    assert list(found) == list(curves.HARD)
    assert curves.PATH.read_text(encoding="utf-8") == curves.picture(found), "python -m tests.bench.results --write"


def test_published_errors_are_those_of_the_tables():
    assert results.published("mnist-sv") == "122"
    assert results.published("3v8-5x5-vsv") == "8"
    assert results.published("usps-vsv-local") == "3.0 %"
    assert results.published("mnist-best") == ""
