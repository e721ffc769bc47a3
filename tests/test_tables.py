"""The paper's tables: published figures kept apart from ours, cells filled by the runs that belong in them."""

import json
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from svmcore import __main__ as cli
from svmcore.jitter import JitterSet
from svmcore.kernels import Poly
from svmcore.lab import RECIPES, Recipe, jobs, papers
from svmcore.lab.analyses import rivals
from svmcore.lab.analyses.scaling import point
from svmcore.lab.forecast import estimate
from svmcore.lab.papers import PUBLISHED, TABLES, Cell, Row, Table, fill, numbers, text
from svmcore.lab.presets import digestion, digits, osuna, xtrain
from svmcore.lab.store import runs
from svmcore.metrics import paired_test
from tests.trained import finished

NAMED = {
    "usps-table1", "usps-vsv-rotation", "usps-vsv-thickness", "usps-local", "sv-transfer", "mnist-table4-6",
    "mnist-table7-9", "mnist-degree5", "mnist-5000-degree5", "table10-3v8", "table10-3v8-5x5-deslant", "jsv-cost",
    "jsv-digits", "jsv-draws", "jsv-products", "mnist-table7-9-pixels", "table10-3v8-5x5-pixels",
}  # fmt: skip
TINY = Recipe(
    dataset="digits-8x8", classes=(1, 7, 8), n_train=60, n_test=100, kernel=Poly(5, 1.0, 1.0), preprocess=("unit-norm",)
)
SMALL = Table(
    "small",
    "A small table",
    ("Errors", "Misses of 7", "Errors, %"),
    (
        Row("SV", (Cell("tiny-sv", "errors", 4), Cell("tiny-sv", "fn:7"), Cell("tiny-sv", "error_pct", 4.0))),
        Row("VSV", (Cell("tiny-vsv", "errors"), None, Cell("tiny-vsv", "error_pct", 3.2))),
        Row("Somebody else", (Cell(None, "errors", 2), None, None)),
        Row("A rival", (Cell(None, "errors", 1, rival="tiny-nearest"), None, None)),
    ),
    tests=(("tiny-sv", "tiny-vsv"),),
    note="Only a test.",
)


@pytest.fixture
def small(home, monkeypatch):
    """SMALL and its two recipes, known by name."""
    monkeypatch.setitem(RECIPES, "tiny-sv", TINY.replace(name="tiny-sv"))
    monkeypatch.setitem(RECIPES, "tiny-vsv", TINY.replace(name="tiny-vsv", method="vsv", jitters="plus:1"))
    monkeypatch.setitem(rivals.RIVALS, "tiny-nearest", rivals.Rival("Neighbours", TINY, KNeighborsClassifier))
    monkeypatch.setitem(TABLES, "small", SMALL)
    return SMALL


def test_every_table_of_the_paper_is_named_and_whole():
    assert TABLES.keys() >= NAMED
    made = (digits, digestion, osuna, xtrain)
    assert TABLES.keys() >= {table.name for part in made for table in part.tables()}
    assert not TABLES.keys() & RECIPES.keys(), "one name would mean two things on the command line"
    for name, table in TABLES.items():
        assert table.name == name
        assert set(table.recipes) <= RECIPES.keys()
        for row in table.rows:
            assert len(row.cells) == len(table.columns)
            for cell in filter(None, row.cells):
                assert cell.figure.partition(":")[0] in papers.NUMBERS
                assert cell.recipe or cell.rival or cell.published is not None
                assert not (cell.recipe and cell.rival)
        assert set(table.rivals) <= rivals.RIVALS.keys()


@pytest.mark.parametrize("k", [3, 50])
def test_the_spread_of_errors_is_their_standard_deviation_with_its_interval(k):
    rng, inside = np.random.default_rng(k), 0
    for _ in range(400):
        errors = rng.normal(40, 6, k)
        spread = numbers.mean("spread", [numbers.Number(value) for value in errors])
        assert spread.value == pytest.approx(np.std(errors, ddof=1))
        inside += spread.low < 6 < spread.high
    assert 360 < inside < 396  # 95 % of 400, give or take four of their deviations


def test_all_test_digits_have_a_column_whether_they_are_there_or_not(monkeypatch):
    for there in (False, True):
        monkeypatch.setattr(digits.catalogue, "entry", lambda name, there=there: SimpleNamespace(at_hand=there))
        table = digits._table3()
        cells = {row.label: row.cells[1] for row in table.rows}
        assert cells["SVM"].published == 1.6
        assert cells["virtual SVM"].recipe == ("qmnist-vsv-degree5-9" if there else None)
        assert cells["LeNet5"] is None
        assert ("Download it on *Datasets*" in table.note) != there


def test_published_figures_are_facts_of_the_paper():
    assert "never measured here" in PUBLISHED["note"]
    assert [sum(PUBLISHED["mnist_table4"][m]) for m in ("sv", "vsv")] == [122, 68]
    assert [sum(PUBLISHED["mnist_table7"][m]) for m in ("sv", "vsv", "vsv2")] == [122, 68, 56]
    for table in ("mnist_table6", "mnist_table9"):
        svs = PUBLISHED[table]
        for machine in [key for key in svs if "_" not in key]:
            parts = zip(svs[f"{machine}_free"], svs[f"{machine}_bound"], svs[machine], strict=True)
            assert sum(free + bound != total for free, bound, total in parts) <= 1  # the paper's own slip


def test_jitter_sets_have_the_sizes_that_they_stand_for():
    assert all(
        len(JitterSet.parse(RECIPES[f"3v8-j{J}-{m}"].jitters)) == J for J in (1, 5, 9, 13, 25) for m in ("vsv", "jsv")
    )


def test_an_empty_table_says_what_it_would_take(small):
    filled = fill(small)
    assert filled.missing == ("tiny-sv", "tiny-vsv")
    assert filled.unmeasured == ("tiny-nearest",)
    assert filled.seconds > 0
    assert filled.rows[0][0].ours is None
    assert filled.rows[0][0].seconds > 0
    assert filled.tests[0].outcome is None
    assert "about" in text(filled)


def test_a_table_fills_with_the_runs_that_belong_in_it(small):
    other = jobs.submit(TINY.replace(C=9.0), looks=False)
    mine = jobs.submit(TINY.replace(name="by-hand", title="The same by another name"), looks=False)
    for run_id in (other, mine):
        assert jobs.wait(run_id, 300).state == "done"
    filled = fill(small)
    assert filled.missing == ("tiny-vsv",)
    errors, misses, percent = filled.rows[0]
    assert errors.run_id == mine
    result = runs.get(mine).result
    assert errors.ours.value == result["errors"]
    assert errors.ours.low <= result["errors"] <= errors.ours.high
    assert percent.ours.value == pytest.approx(100 * result["error_rate"])
    test = runs.get(mine).test()
    assert misses.ours.value == ((test.y_true == 7) & (test.decision[:, 1] <= 0)).sum()


def test_the_command_line_runs_what_is_missing_and_prints_both(small, capsys):
    assert cli.main(["run", "small"]) == 0
    out, err = capsys.readouterr()
    assert "2 runs missing" in err
    for words in ("[4.0]", "[2]", "McNemar", "Only a test.", "Somebody else"):
        assert words in out
    before = len(runs.newest_first())
    assert cli.main(["run", "small", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert len(runs.newest_first()) == before
    assert found["missing"] == []
    assert found["rows"][3]["cells"][0]["value"] == rivals.measured("tiny-nearest")["errors"]
    assert found["rows"][1]["cells"][2]["published"] == 3.2
    sv, vsv = (run.test() for run in runs.stored([RECIPES["tiny-sv"], RECIPES["tiny-vsv"]], finished=True))
    outcome = paired_test(sv.wrong, vsv.wrong)
    assert outcome.only_a + outcome.only_b > 0
    assert {name: found["tests"][0][name] for name in outcome._fields} == outcome._asdict()


def test_a_table_takes_no_changes(small, capsys):
    assert cli.main(["run", "small", "--set", "C=1"]) == 2
    assert "--set cannot be used with a table" in capsys.readouterr().err


def test_tables_are_listed(capsys):
    assert cli.main(["tables"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(TABLES)


@pytest.mark.ci
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most"),
    [("table10-3v8", (64, 53, 38, 34)), ("table10-3v8-5x5-deslant", (38, None, 10, 28))],
)
def test_table_10_at_full_size(dataset, home, name, most):
    dataset("mnist")
    assert cli.main(["run", name]) == 0
    for row, limit in zip(fill(TABLES[name]).rows, most, strict=True):
        assert limit is None or row[0].ours.value <= limit


@pytest.mark.full
def test_usps_table_1_at_full_size(dataset, home):
    dataset("usps")
    assert cli.main(["run", "usps-table1"]) == 0
    rows = fill(TABLES["usps-table1"]).rows
    sv, alone, virtual, whole = (row[2].ours.value for row in rows[:4])
    assert sv <= 4.5
    assert abs(alone - sv) <= 0.3
    assert virtual <= min(3.6, sv - 0.6)
    assert whole >= virtual - 0.2


def test_a_reduction_by_answers_has_no_rho_in_a_table():
    decision = np.array([[1.0, -1, -1], [-1, 1, -1], [-1, -1, 1]])
    test = SimpleNamespace(decision=decision, y_true=np.arange(3))
    for rho, told in ((None, 0), (0.5, 3)):
        result = {
            "reduction": {"shift": [0.0] * 3, "rho": [rho] * 3, "rho_start": [rho and 4 * rho] * 3, "bias": [0.1] * 3}
        }
        found = numbers._of_thresholds(None, result, test, np.arange(3))
        assert sum(name.startswith("rho_fold") for name in found) == told
        assert found["kept:0"].value == found["best:0"].value == 0
        assert found["b:0"].value == found["b_kept:0"].value == 0.1
        assert rho is None or found["rho_fold:1"].value == 2  # of the distance, not its square


def test_the_costs_of_digestion_are_told_in_one_unit(home):
    eight = TINY.replace(classes=(8,))
    run, plain = map(finished, (eight.replace(solver="smo-digestion", digestion={"rows": 20}), eight))
    trace, found = run.result["trace"], numbers.of_run(run)
    assert trace["rows"] == 20
    assert trace["sv_most"] >= found["svs"].value
    assert 1e6 * found["work"].value == pytest.approx(trace["values"] + (trace["lookups"] + trace["updates"]) / 64)
    assert 0 < found["filled"].value <= 100
    assert not numbers.of_run(plain).keys() & {"work", "filled", "solve_s"}
    assert point(run) is None  # no point of Osuna's study


def test_the_study_of_digestion_names_each_experiment_once():
    caches = [(r.dataset, r.n_train, r.classes, r.method, str(r.options)) for r in digestion.RECIPES]
    assert max(map(caches.count, caches)) == 1
    assert all(r.option("digestion")["cache_mb"] <= 800 for r in digestion.RECIPES)
    for name, problem in digestion.PROBLEMS.items():
        said = [estimate(RECIPES[f"digest-{name}-digest-{mb}"]) for mb in problem.caches]
        assert all(a.memory_mb >= b.memory_mb for a, b in pairwise(said)), "caches fall"
    both = [estimate(RECIPES[f"digest-1-digest-{mb}"]) for mb in (800, 200)]
    assert both[0].memory_mb - both[1].memory_mb == pytest.approx(600, abs=2)
    assert both[0].seconds > 10 * estimate(RECIPES["digest-1-few-digest-8"]).seconds
