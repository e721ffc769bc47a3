"""The Compare page and the ways to it, driven in process from app.py; clicks on charts and tables need a browser."""

import csv
import io
import re
import shutil

import numpy as np
import pytest

from data import catalogue
from data.dataset import Arrays
from pages.compare import empty, tables
from pages.ui.compare import laid, pairs
from pages.ui.figures import confusion as confusions
from svmcore.kernels import RBF
from svmcore.lab import jobs
from svmcore.lab.analyses import comparison
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.metrics import confusion
from tests import damage, detections
from tests.driven import captions, open_page, whole_app  # noqa: F401  (a fixture for every test here)
from tests.trained import finished, submitted

ASKED = ("reference", "against", "view", "shown", "change", "sheet", "asks", "roc", "labels")  # of an address
DIGITS = Recipe(dataset="digits-8x8", kernel=RBF(1.0), C=1.0, n_train=80, n_test=200)


def train(recipe, title, parent=None):
    recipe = recipe.replace(title=title)
    return submitted(recipe, parent=parent) if parent else finished(recipe)


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """A home with four runs on the same digits, the second grown out of the first, and some on other examples."""
    folder = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("SVMLAB_HOME", str(folder))
        base = train(DIGITS, "Base")
        child = train(DIGITS.replace(method="vsv", jitters="plus:1"), "Virtual", parent=base.id)
        wide = train(DIGITS.replace(kernel=RBF(30.0)), "Wide")
        small = train(DIGITS.replace(C=0.02), "Small C")
        seeded = train(DIGITS.replace(seed=4), "Seeded")
        two = train(DIGITS.replace(classes=(3, 8), n_train=60, n_test=50), "Three or eight")
        same = train(DIGITS.replace(classes=(3, 8), n_train=60, n_test=50, C=0.01), "Three or eight, small")
        one = train(DIGITS.replace(classes=(8,)), "Eight or not")
        again = train(DIGITS.replace(classes=(8,), C=0.02), "Eight or not, small")
    names = ("base", "child", "wide", "small", "seeded", "two", "same", "one", "again")
    return folder, dict(zip(names, (base, child, wide, small, seeded, two, same, one, again)))


@pytest.fixture
def stored(kept, monkeypatch):
    monkeypatch.setenv("SVMLAB_HOME", str(kept[0]))
    return kept[1]


def compare(*chosen, **query):
    return open_page("compare", compare=[run.id for run in chosen], **query)


def said(elements):
    return " ".join(element.value for element in elements).replace("\\", "")


def address(app, name):
    """The values that the address has for a name."""
    values = app.query_params[name]
    return [values] if isinstance(values, str) else values


def shown_in(app):
    """How many examples the control says there are of each kind."""
    options = app.segmented_control(key="compare_shown").options
    return {name: int(n.replace(",", "")) for name, n in (re.match(r"(.+) \(([\d,]+)\)", o).groups() for o in options)}


def test_two_runs_are_counted_as_one_counts_by_hand(stored):
    a, b = stored["base"], stored["child"]
    app = compare(a, b)
    said_by = [{int(i): p == t for i, p, t in zip(r.test().index, r.test().y_pred, r.test().y_true)} for r in (a, b)]
    both = [(said_by[0][i], said_by[1][i]) for i in said_by[0]]
    counts = shown_in(app)
    assert counts == {
        "fixed": both.count((False, True)),
        "broken": both.count((True, False)),
        "both wrong": both.count((False, False)),
        "both right": both.count((True, True)),
    }
    assert f"B fixes {counts['fixed']} and breaks {counts['broken']}" in said(app.markdown)
    assert "Exact McNemar test: p = " in said(app.markdown)
    assert "All runs are tested on the same 200 examples, held out of the training set of Optical digits" in captions(
        app
    )
    numbers = app.dataframe[0].value
    assert list(app.dataframe[0].proto.column_order)[:3] == ["", "Errors", "95 %"]  # a phone shows no more
    assert numbers["Errors"].tolist() == [a.result["errors"], b.result["errors"]]
    assert numbers["SVs"].tolist() == [a.result["n_union"], b.result["n_union"]]
    differs = app.table[-1].value.set_index("")
    assert list(differs.index) == ["Method", "Jitter set"]  # no option of theirs is another than it usually is
    assert list(differs.loc["Method"]) == ["Support vectors", "Virtual support vectors"]


def test_what_was_asked_differently_is_said_as_the_forms_say_it():
    squared = DIGITS.replace(options={"loss": "squared_hinge"})
    told = {row[""]: (row["A"], row["B"]) for row in tables.differing([squared, DIGITS.replace(folds=5)], ("A", "B"))}
    assert told == {"Loss": ("squared hinge", "hinge"), "Folds": ("no cross-validation", "5")}
    more = DIGITS.replace(n_train=1200, kernel=RBF(2.0), preprocess=("deslant", "unit-norm"))
    told = {row[""]: row["B"] for row in tables.differing([DIGITS, more], ("A", "B"))}
    assert told["Training examples"] == "1,200"
    assert told["Preprocessing"] == "deslant, unit-norm"


def test_the_address_is_the_page(stored):
    a, b, c = stored["base"], stored["child"], stored["wide"]
    app = compare(a, b, c, reference=b.id, against=c.id, shown="broken", asks="B", roc="3")
    assert app.selectbox(key="compare_reference").value == b.id
    assert app.selectbox(key="compare_against").value == c.id
    assert app.segmented_control(key="compare_shown").value == "broken"
    assert app.segmented_control(key="compare_asks").value == "B"
    assert app.selectbox(key="compare_roc").value == "3"
    assert address(app, "compare") == [a.id, b.id, c.id]
    assert [address(app, name) for name in ("reference", "against", "shown")] == [[b.id], [c.id], ["broken"]]
    assert address(app, "roc") == ["3"]
    assert not app.warning
    app.segmented_control(key="compare_shown").set_value("both wrong").run()
    assert address(app, "shown") == ["both wrong"]
    app.segmented_control(key="compare_view").set_value("all").run()
    assert address(app, "view") == ["all"]
    assert sum(shown_in(app).values()) == 200
    assert not app.exception


def test_a_link_stays_as_it_was_written(stored):
    """What is the default is not added to it, or the browser's way back would end there."""
    for ids in ([stored["base"].id, stored["child"].id], [stored[name].id for name in ("base", "child", "small")]):
        app = open_page("compare", compare=ids, run=ids[1])
        assert set(app.query_params) == {"compare", "run"}
        app.segmented_control(key="compare_shown").set_value("both right").run()
        assert set(app.query_params) == {"compare", "run", "shown"}


def test_a_cell_of_the_matrix_filters_the_examples(stored):
    a, b = stored["base"], stored["small"]
    app = compare(a, b)
    cell = app.selectbox(key="compare_change").options[-1]
    true, answer = cell.split(" → ")
    app = compare(a, b, change=cell)
    left, right = a.test(), b.test()
    within = (left.y_true == int(true)) & ((left.y_pred == int(answer)) | (right.y_pred == int(answer)))
    assert sum(shown_in(app).values()) == within.sum()
    assert address(app, "change") == [cell]


def test_every_pair_of_three_is_tested_and_corrected(stored):
    three = [stored[name] for name in ("base", "child", "small")]
    app = compare(*three)
    matrix = next(one.value for one in app.dataframe if "A" in one.value).set_index("")
    assert matrix.loc["of A", "A"] == "–"
    a, b = (run.test().y_pred != run.test().y_true for run in three[:2])
    assert matrix.loc["of A", "B"].startswith(f"+{(a & ~b).sum()} −{(b & ~a).sum()}, p = ")
    assert "corrected for 3 pairs (Holm)" in captions(app)
    assert "corrected for all pairs" in said(app.markdown)


def test_what_cannot_be_compared_says_why_and_the_others_are_shown(stored):
    app = compare(stored["base"], stored["child"], stored["seeded"], stored["two"], stored["one"])
    text = said(app.markdown)
    assert "C · Seeded** is not compared. It was tested on 200 examples (stratified, seed 4)" in text
    assert "seed 4" in text
    assert "D · Three or eight** is not compared. It separates 3, 8; the reference separates all classes" in text
    assert "E · Eight or not** is not compared. It separates 8 and the rest" in text
    assert "B fixes" in text
    assert len(app.dataframe[0].value) == 2
    assert {button.key for button in app.button} >= {"same_examples_C", "same_examples_D", "same_examples_E"}


def test_the_way_out_trains_the_recipe_on_the_reference_examples(home):
    base, seeded = train(DIGITS, "Base"), train(DIGITS.replace(seed=4, C=3.0), "Seeded")
    app = compare(base, seeded)
    assert "Train B" in app.button(key="same_examples_B").label
    app.button(key="same_examples_B").click().run()
    assert not app.exception
    (new,) = [run for run in runs.newest_first() if run.id not in (base.id, seeded.id)]
    assert jobs.wait(new.id, 120).state == "done"
    assert (new.parent, new.recipe.C) == (base.id, 3.0)
    assert address(app, "compare") == [base.id, new.id]
    app.run()
    assert "B fixes" in said(app.markdown)
    again = compare(base, seeded)
    assert again.button(key="same_examples_B").label == "Compare B's recipe on the same examples"
    again.button(key="same_examples_B").click().run()
    assert address(again, "compare") == [base.id, new.id]
    assert len(runs.newest_first()) == 3


def test_runs_without_answers_are_named(home):
    base = train(DIGITS, "Base")
    finder = detections.stored(RECIPES["volcano-synthetic"], detections.two_parts())
    ended = runs.create(DIGITS.replace(title="Ended"))
    ended.set_state("cancelled")
    ended.release()
    ruin = home / "runs" / "20250101-000000-000-abcdef"
    shutil.copytree(base.path, ruin)
    (ruin / "result.json").write_text("[1]")
    app = open_page("compare", compare=[base.id, finder.id, ended.id, ruin.name])
    text = said(app.markdown)
    assert "It finds objects in pictures" in text
    assert "It did not finish: it was cancelled" in text
    assert "result.json is damaged" in text
    assert not app.exception


@pytest.mark.parametrize(("file", "way"), [(file, way) for file in ("test.npz",) for way in damage.INSIDE[file]])
def test_damage_that_shows_late_breaks_nothing(home, file, way):
    base, other = damage.finished(DIGITS, "Base"), damage.finished(DIGITS.replace(C=0.1), "Other")
    damage.INSIDE[file][way](other.path / file)
    app = open_page("compare", compare=[base.id, other.id])
    assert not app.exception


def test_a_data_set_that_was_replaced_leaves_the_numbers(home):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 255, (120, 8, 8)).astype(np.uint8), np.arange(120) % 3
    catalogue.keep("Mine", Arrays(X, y, X[:30], y[:30]))
    recipe = Recipe(dataset="own:mine", kernel=RBF(1.0), C=1.0)
    a, b = damage.finished(recipe, "a"), damage.finished(recipe.replace(C=0.01), "b")
    catalogue.keep("Mine", Arrays(X[:40], y[:40], X[:9], y[:9]), replace=True)
    c = damage.finished(recipe, "c")
    app = open_page("compare", compare=[a.id, b.id, c.id])
    assert "The pictures cannot be shown" in captions(app)
    assert "was replaced between this run and the reference" in said(app.markdown)
    assert len(app.dataframe[0].value) == 2


def test_two_classes_have_one_curve_each_and_one_against_the_rest_too(stored):
    for a, b in (("two", "same"), ("one", "again")):
        app = compare(stored[a], stored[b])
        assert f"A {stored[a].result['roc_area']:.4f}, B {stored[b].result['roc_area']:.4f}" in captions(app)
        assert all(box.key != "compare_roc" for box in app.selectbox)


def test_points_of_the_plane_and_rows_of_a_table(home):
    moons = Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0), C=1.0)
    rng = np.random.default_rng(0)
    X, y = rng.random((90, 54), np.float32), np.array(["=1+1", "b" * 300, "c"])[np.arange(90) % 3]
    catalogue.keep("Table", Arrays(X, y, X[:0], y[:0]))
    rows = Recipe(dataset="own:table", preprocess=("zscore",), kernel=RBF(0.02), C=1.0)
    for recipe in (moons, rows):
        app = open_page("compare", compare=[damage.finished(recipe).id, damage.finished(recipe.replace(C=0.01)).id])
        assert "B fixes" in said(app.markdown)


def test_hostile_addresses_are_said_and_survived(stored):
    ids = [stored["base"].id, stored["child"].id, stored["wide"].id]
    bad = ("![x](http://evil.example/1.png)", "<img src=x>", "nan", "-1", "99999999999999999999", "", "**x**" * 60)
    for text in bad:
        query = dict.fromkeys(ASKED, text) | {"digit": text}
        app = open_page("compare", compare=[*ids, text], **query)
        told = " ".join(w.value for w in app.warning)
        assert "](" not in told
        assert "<img" not in told.replace("\\<", "")
        assert not app.exception
        assert "B fixes" in said(app.markdown)
        page = open_page("compare", compare=ids, sheet=text, shown="both right", view="pair")
        assert "B fixes" in said(page.markdown)
    many = open_page("compare", compare=[*ids, *ids, *(run.id for run in stored.values())])
    assert len(many.multiselect(key="compared").value) == 6
    assert "the first 6 are shown" in " ".join(w.value for w in many.warning)


def test_an_empty_page_offers_pairs_that_can_be_compared(stored):
    app = open_page("compare")
    offered = [button for button in app.button if button.key.startswith("compare_pair_")]
    assert "Base — Virtual" in offered[0].label.replace("\\", "")
    offered[0].click().run()
    assert not app.exception
    assert "B fixes" in said(app.markdown)
    assert address(app, "compare") == [stored["base"].id, stored["child"].id]
    found = empty.worth([stored["two"]])
    assert {found[0][0].id, found[0][1].id} == {stored["two"].id, stored["same"].id}
    assert all(comparison.why_not(a, b) is None for a, b, _ in found)


def test_a_single_run_is_offered_a_twin(home):
    base = train(DIGITS, "Base")
    app = open_page("compare")
    app.button(key="compare_twin").click().run()
    assert not app.exception
    assert "B fixes" in said(app.markdown) or "is not compared. It is " in said(app.markdown)
    new = runs.newest_first()[0]
    assert (new.parent, new.recipe.method) == (base.id, "vsv")
    assert jobs.wait(new.id, 120).state == "done"
    app.run()
    assert "B fixes" in said(app.markdown)


def test_points_of_the_plane_have_no_twin(home):
    damage.finished(Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0), C=1.0))
    assert not [button for button in open_page("compare").button if button.key == "compare_twin"]


def test_an_empty_store_opens_with_a_sample_that_cannot_be_asked_why(home, monkeypatch):
    monkeypatch.setattr(jobs, "ensure_preset", lambda: None)
    app = open_page("compare")
    assert "**A sample**" in app.info[0].value
    assert "store no machine" in captions(app)


def test_the_ways_to_the_page(stored):
    a, b = stored["base"], stored["child"]
    for page in ("train", "runs"):
        app = open_page(page, run=b.id)
        link = next(node for node in app.main if node.type == "page_link" and "Compare with" in node.proto.label)
        assert f"compare={a.id}&compare={b.id}" in link.proto.query_string
    assert not [n for n in open_page("train", run=a.id).main if n.type == "page_link" and "Compare" in n.proto.label]
    app = open_page("runs", run=b.id, compare=[a.id, b.id])
    table = app.dataframe[0].value.set_index("Run")
    assert table.loc["Virtual", "Parent"] == "Base"
    app.button(key="to_compare").click().run()
    assert not app.exception
    assert "B fixes" in said(app.markdown)


def test_a_parent_that_is_gone_is_no_way(home):
    base = train(DIGITS, "Base")
    child = train(DIGITS.replace(C=0.1), "Child", parent=base.id)
    base.delete()
    app = open_page("runs", run=child.id)
    assert app.dataframe[0].value["Parent"].tolist() == ["a deleted run"]
    assert not [n for n in app.main if n.type == "page_link" and "Compare" in n.proto.label]


def laid_out(*chosen):
    return laid.Laid(tuple(laid.LETTERS[: len(chosen)]), chosen, comparison.together(list(chosen)), 0)


def test_files_hold_what_the_page_shows(stored):
    those = laid_out(stored["base"], stored["child"])
    rows = list(csv.DictReader(io.StringIO(tables.table_csv(those))))
    assert [row["Id"] for row in rows] == [run.id for run in those.runs]
    assert [int(row["Errors"]) for row in rows] == [run.result["errors"] for run in those.runs]
    lines = list(csv.DictReader(io.StringIO(tables.examples_csv(those))))
    test = {int(i): row for i, row in zip(stored["child"].test().index, range(200))}
    for line in lines[::17]:
        row = test[int(line["index"])]
        assert line["B_answer"] == str(stored["child"].test().y_pred[row])
        assert float(line["B_f_7"]) == pytest.approx(stored["child"].test().decision[row, 7], rel=1e-4)
    assert len(lines) == 200


def test_no_cell_of_a_file_is_a_formula(home):
    rng = np.random.default_rng(0)
    X, y = rng.random((60, 5), np.float32), np.array(["=1+1", "@b", "-c"])[np.arange(60) % 3]
    catalogue.keep("Table", Arrays(X, y, X[:0], y[:0]))
    run = damage.finished(Recipe(dataset="own:table", preprocess=("zscore",), kernel=RBF(0.1), C=1.0), "=cmd|x")
    those = laid_out(run, run)
    for text in (tables.table_csv(those), tables.examples_csv(those)):
        for row in csv.reader(io.StringIO(text)):
            assert not any(cell[:1] in "=@+" or (cell[:1] == "-" and cell[1:2].isalpha()) for cell in row if cell)


def test_the_words_of_the_test():
    assert pairs.mcnemar_in_words("the left one", "B", pairs.Pair(0, 0, 1.0, 1.0)).startswith(
        "Nothing to test: the left one and B"
    )
    assert "chance alone could explain it" in pairs.mcnemar_in_words("A", "B", pairs.Pair(5, 2, 0.45, 0.45))
    assert "B is better" in pairs.mcnemar_in_words("A", "B", pairs.Pair(25, 7, 0.002, 0.002))
    assert "A is better" in pairs.mcnemar_in_words("A", "B", pairs.Pair(7, 25, 0.002, 0.002))
    assert "chance alone" in pairs.mcnemar_in_words("A", "B", pairs.Pair(15, 5, 0.04, 0.12), several=True)
    assert "McNemar test over 9 groups: p" in pairs.mcnemar_in_words("A", "B", pairs.Pair(15, 5, 0.04, 0.04, 9))


def test_the_change_of_the_matrix():
    rng = np.random.default_rng(0)
    y, a, b = rng.integers(0, 4, (3, 300))
    before, after = (confusion(y, said, np.arange(4)) for said in (a, b))
    cells = {cell.at: cell for cell in confusions.change(before, after).cells}
    shift = after - before
    most = np.abs(shift[~np.eye(4, dtype=bool)]).max()
    for i in range(4):
        for j in range(4):
            cell, change = cells[4 * i + j], np.sum((y == i) & (b == j)) - np.sum((y == i) & (a == j))
            assert cell.text == (f"{change:+}".replace("-", "−") if change else "")
            assert cell.sign * cell.shade == pytest.approx(0 if i == j else -change / most)
    assert not any(cell.shade or cell.text for cell in confusions.change(before, before).cells)


def test_present_mode_keeps_the_address(stored):
    """The switch of Present mode binds its parameter; what the page writes beside it must not break over that."""
    a, b = stored["base"], stored["child"]
    app = compare(a, b, present="true", shown="broken")
    assert not app.exception
    assert address(app, "shown") == ["broken"]
    assert len(app.tabs) == 4
    app.segmented_control(key="compare_shown").set_value("both wrong").run()
    assert (address(app, "shown"), address(app, "present")) == (["both wrong"], ["true"])
    runs_page = open_page("runs", run=b.id, compare=[a.id], present="true")
    assert address(runs_page, "compare") == [a.id]
    runs_page.session_state["ticked"] = []
    runs_page.run()
    assert not runs_page.exception
    assert "compare" not in runs_page.query_params
