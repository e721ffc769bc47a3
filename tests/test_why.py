"""Why an answer: the bill and the family tree of one example, driven from app.py, and what they are made of."""

import numpy as np
import pytest

from data import catalogue, load
from pages.ui.example import evidence
from pages.ui.kit.gallery import reference
from pages.ui.why import answer as answers
from pages.ui.why import contributions, family, table, waterfall
from pages.ui.why.answer import DRAWN, Shown, answer
from svmcore.kernels import RBF
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from tests.driven import finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)
from tests.uploads import read_upload

DIGITS = RECIPES["digits-8x8-sv"].replace(n_train=200, n_test=150)
VIRTUAL = DIGITS.replace(method="vsv", jitters="plus:1", n_train=120, preprocess=("smooth:0.5", "unit-norm"))


@pytest.fixture(scope="module")
def plain_run():
    return finished(DIGITS)


@pytest.fixture(scope="module")
def virtual_run():
    return finished(VIRTUAL)


@pytest.fixture(scope="module")
def moons_run():
    return finished(RECIPES["moons"])


@pytest.fixture
def drawn(monkeypatch):
    """What the bill's panel hands to the browser: the arguments of each call."""
    calls = []
    monkeypatch.setattr(waterfall, "draw", lambda *args, **options: calls.append((args, options)))
    return calls


def error_of(run, right=False):
    """(number in the test, reference) of an example that the run gets wrong, or right."""
    test = run.test()
    i = int(np.flatnonzero((test.y_true == test.y_pred) == right)[0])
    return i, reference(run.recipe.dataset, test.split, test.index[i])


def shown_at(run, i):
    test, dataset = run.test(), load(run.recipe.dataset)
    x = evidence.examples(dataset, test.split)[0][test.index[i]]
    return Shown(dataset, x[None], test.y_true[i], reference(run.recipe.dataset, test.split, test.index[i]))


@pytest.mark.parametrize(("name", "by"), [("plain_run", "sv"), ("plain_run", "class"), ("virtual_run", "parent")])
def test_the_bars_of_both_machines_add_up_to_what_the_run_decided(name, by, request, drawn):
    run = request.getfixturevalue(name)
    i, ref = error_of(run)
    open_page("errors", run=run.id, digit=ref, why="bill", bill=by)
    (_, named, sides, f, words), options = drawn[-1]
    test, classes = run.test(), list(run.machine().classes)
    np.testing.assert_allclose(f, test.decision[i], atol=1e-4)
    assert [classes[side.machine] for side in sides] == [test.y_pred[i], test.y_true[i]]
    assert [side.role for side in sides] == ["predicted", "true"]
    known = {line.name: line for line in named}
    for side in sides:
        assert side.bias + side.part_for + side.part_against == pytest.approx(f[side.machine], abs=1e-9)
        pictured = [known[line].parts[side.machine] for line in side.names]
        assert np.all(np.diff(np.abs(pictured)) <= 1e-12)
        assert sum(p for p in pictured if p > 0) <= side.part_for + 1e-9
        assert len(side.names) == len(side.signs) == len(side.rings) == len(side.captions) <= contributions.LINES_ALL
    assert words.classes == [str(c) for c in classes]
    if by == "class":
        assert sum(known[line].parts[sides[0].machine] for line in sides[0].names) + sides[0].bias == pytest.approx(
            f[sides[0].machine], abs=1e-9
        )
    assert options["off"] == []


def test_a_right_answer_has_its_runner_up_beside_it_and_the_reader_may_ask_for_another(plain_run, drawn):
    i, ref = error_of(plain_run, right=True)
    decision = plain_run.test().decision[i]
    app = open_page("errors", run=plain_run.id, digit=ref)
    sides = drawn[-1][0][2]
    assert [side.machine for side in sides] == np.argsort(-decision)[:2].tolist()
    assert [side.role for side in sides] == ["true, predicted", "runner-up"]
    last = int(np.argmin(decision))
    app.selectbox(key="why_beside").select(str(last)).run()
    assert [side.machine for side in drawn[-1][0][2]] == [sides[0].machine, last]
    assert app.query_params["rival"] == str(last)
    assert app.metric[1].label.startswith(f"{last} against")


def test_one_machine_has_one_bill_of_both_signs(moons_run, drawn):
    i, ref = error_of(moons_run)
    open_page("errors", run=moons_run.id, digit=ref)
    (_, _, sides, f, _), _ = drawn[-1]
    (side,) = sides
    assert side.part_for > 0 > side.part_against
    assert side.role == ""
    assert f[0] == pytest.approx(float(moons_run.test().decision[i, 0]), abs=1e-4)
    assert {1, -1} == set(side.signs)


def test_a_drawn_example_has_the_winner_and_the_runner_up(plain_run):
    machine, shown = plain_run.machine(), shown_at(plain_run, 0)._replace(label=None, ref=DRAWN)
    said = answer(plain_run, machine, shown)
    assert said.true is None
    assert said.sides() == tuple(np.argsort(-said.f)[:2])
    assert [said.role(c) for c in said.sides()] == ["predicted", "runner-up"]


def test_what_the_address_switched_off_stays_off_and_anything_else_is_said_aloud(plain_run, drawn):
    _, ref = error_of(plain_run)
    open_page("errors", run=plain_run.id, digit=ref)
    name = drawn[-1][0][2][0].names[2]
    app = open_page("errors", run=plain_run.id, digit=ref, off=name)
    assert drawn[-1][1]["off"] == [name]
    assert not app.warning
    app = open_page("errors", run=plain_run.id, digit=ref, off=f"{name},nonsense", bill="colour", rival="11")
    assert drawn[-1][1]["off"] == [name]
    said = " ".join(warning.value for warning in app.warning)
    assert all(word in said for word in ("nonsense", "colour", "11"))


def test_kernel_values_are_computed_once_for_an_example(plain_run, monkeypatch):
    machine, shown = plain_run.machine(), shown_at(plain_run, 3)
    calls, compute = [], type(machine).kernel_values
    monkeypatch.setattr(type(machine), "kernel_values", lambda self, X: calls.append(1) or compute(self, X))
    first = answer(plain_run, machine, shown)
    second = answer(plain_run, machine, shown)
    assert len(calls) == 1
    np.testing.assert_array_equal(first.k, second.k)
    np.testing.assert_allclose(first.f, machine.decision_values(first.x[None])[0], atol=1e-9)
    monkeypatch.setattr(answers, "KEPT_BYTES", 1)
    for i in range(3, 6):
        answer(plain_run, machine, shown_at(plain_run, i))
    assert len(answers._rows[machine]._values) == 1


def test_lines_tell_rings_and_captions_as_each_machine_has_them(virtual_run):
    machine = virtual_run.machine()
    said = answer(virtual_run, machine, shown_at(virtual_run, 0))
    view = waterfall.view(virtual_run, machine, shown_at(virtual_run, 0), said, "sv")
    for c in (0, 5):
        names = waterfall.added_up(view, c).name
        side = waterfall.side(view, c, waterfall.added_up(view, c), names)
        for position, ring, sign in zip(names, side.rings, side.signs):
            virtual, bound = machine.jitter[position] > 0, machine.bound[c, position]
            assert ring == ("-".join(["virtual"] * int(virtual) + ["bound"] * int(bound)) or "free")
            assert sign == np.sign(machine.coef[c, position])


# ------------------------------------------------------------------------------------------------------------ family


def test_forms_are_those_that_the_machine_was_trained_on(virtual_run):
    machine = virtual_run.machine()
    rows = evidence.dataset_rows(virtual_run, machine)
    forms = evidence.form_pictures(virtual_run, rows, evidence.jitters(machine), machine.jitter)
    trained_on = evidence.seen_pictures(virtual_run, machine.support_vectors)
    np.testing.assert_allclose(forms.astype(float), trained_on, atol=1)
    others = evidence.form_pictures(virtual_run, np.roll(rows, 1), evidence.jitters(machine), machine.jitter)
    assert np.abs(others.astype(float) - trained_on).max() > 100


def test_the_tree_tells_what_became_of_every_form(virtual_run):
    machine = virtual_run.machine()
    row = int(evidence.dataset_rows(virtual_run, machine)[0])
    held = evidence.dataset_rows(virtual_run, machine) == row
    for c in range(10):
        born = family.children(virtual_run, machine, c, row, 5)
        kept = {machine.jitter[i]: abs(machine.coef[c, i]) for i in np.flatnonzero(held) if machine.coef[c, i]}
        assert {j: child.alpha for j, child in enumerate(born) if child.position >= 0} == pytest.approx(kept)


def test_the_family_panel_opens_on_an_error_and_on_a_support_vector(virtual_run):
    _, ref = error_of(virtual_run)
    app = open_page("errors", run=virtual_run.id, digit=ref, why="family")
    assert any("families with the largest contributions" in caption.value for caption in app.caption)
    assert any("of its 5 forms (" in caption.value for caption in app.caption)
    row = int(evidence.dataset_rows(virtual_run, virtual_run.machine())[0])
    app = open_page("errors", run=virtual_run.id, digit=f"digits-8x8/train/{row}")
    app.button(key="why_family").click().run()
    assert app.query_params["why"] == "family"
    assert any(f"Training example {row:,}," in caption.value for caption in app.caption)
    assert not any("families with the largest contributions" in caption.value for caption in app.caption)
    app = open_page("errors", run=virtual_run.id, digit=ref, why="family", family="99999", of="nobody")
    said = " ".join(warning.value for warning in app.warning)
    assert "family=99999" in said
    assert "nobody" in said


def test_a_run_without_virtual_support_vectors_says_so_and_leads_to_one(plain_run):
    _, ref = error_of(plain_run)
    app = open_page("errors", run=plain_run.id, digit=ref, why="family")
    assert any("no virtual support vectors" in info.value for info in app.info)


# ------------------------------------------------------------------------------------------------------------- tables


@pytest.fixture(scope="module")
def table_run():
    """A run on a table of a file with named columns."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 3
    X = rng.normal(size=(120, 6)) * [1, 10, 0.1, 1, 1, 0]
    X[:, 1] += 20 * y
    names = ["age", "**x**", "soil type 3", "d", "d", "constant"]
    rows = "\n".join(",".join([f"tree {c}", *(f"{v:.4f}" for v in row)]) for c, row in zip(y, X))
    preview = read_upload("trees.csv", f"class,{','.join(names)}\n{rows}".encode())
    assert preview.features == tuple(names)
    entry = catalogue.keep("Trees", preview.arrays, preview.features, replace=True)
    return finished(Recipe(dataset=entry.name, preprocess=("zscore",), kernel=RBF(0.05), C=1.0, n_train=80, n_test=40))


def test_columns_keep_their_names(table_run):
    dataset = load(table_run.recipe.dataset)
    assert dataset.feature_names == ("age", "**x**", "soil type 3", "d", "d (2)", "constant")
    assert load("waveform" if catalogue.entry("waveform").at_hand else "toy-moons").feature_names[:2] == ("x1", "x2")
    assert load("digits-8x8").feature_names == ()


def test_a_row_is_shown_by_its_columns_and_so_is_what_speaks_for_it(table_run, drawn):
    dataset, (i, ref) = load(table_run.recipe.dataset), error_of(table_run, right=True)
    app = open_page("errors", run=table_run.id, digit=ref)
    frame = next(frame.value for frame in app.dataframe if "column" in frame.value)
    x = shown_at(table_run, i).X[0]
    assert frame["column"].tolist() == list(dataset.feature_names)
    np.testing.assert_allclose(frame["value"], x)
    (pictures, named, sides, *_), _ = drawn[-1]
    assert len(pictures) == 0
    row = int(named[0].ref.rsplit("/", 1)[1])
    caption = sides[0].captions[sides[0].names.index(named[0].name)]
    spread = dataset.X_train.std(axis=0, dtype=float)
    apart = np.abs(dataset.X_train[row] - x) / np.where(spread > 0, spread, 1)
    first = int(np.argmax(apart))
    assert caption.split("\n")[1].startswith(f"{dataset.feature_names[first]} {dataset.X_train[row, first]:.4g}")
    assert named[0].head == f"no. {row:,}"


def test_columns_that_are_alike_are_not_named():
    dataset = load("toy-moons")
    same = Shown(dataset, dataset.X_train[5][None], None, DRAWN)
    assert table.differing(same, 5) == ["equal in all columns"]


def test_a_point_is_shown_in_its_plane(moons_run):
    _, ref = error_of(moons_run)
    app = open_page("errors", run=moons_run.id, digit=ref)
    assert any("star marks this example" in caption.value for caption in app.caption)


def test_what_would_fix_an_error_tells_f_of_the_rival_too(plain_run):
    fallen = 0
    test = plain_run.test()
    for i in np.flatnonzero(test.y_true != test.y_pred)[:6]:
        ref = reference(plain_run.recipe.dataset, test.split, test.index[i])
        app = open_page("errors", run=plain_run.id, digit=ref, why="remedy")
        for said in (one.value for one in app.markdown if "predicted " in one.value and "f of" in one.value):
            assert f"f of {test.y_true[i]} " in said
            assert f"f of {test.y_pred[i]} " in said
            fallen += 1
    assert fallen
