"""The panels that move an example, and the section that says which invariance would help, driven from app.py."""

import base64
import json

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from data import catalogue, load
from data.dataset import Arrays
from pages.ui.example import evidence
from pages.ui.example.spoken import brief, spoken
from svmcore.explain import moved, remedy
from svmcore.jitter import JitterSet
from svmcore.kernels import Poly
from svmcore.lab import jobs
from svmcore.lab.jobs.analyses import COUNTS
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from tests import damage
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

SMALL = Recipe(dataset="digits-8x8", n_train=300, n_test=150, kernel=Poly(3, 1, 1))
SECONDS = 90


@pytest.fixture(scope="module")
def plain_run():
    return finished(SMALL)


@pytest.fixture(scope="module")
def jittered_run():
    return finished(SMALL.replace(method="jsv", jitters="plus:1", n_train=120))


@pytest.fixture(scope="module", params=["a pair", "one against the rest"])
def binary_run(request):
    return finished(SMALL.replace(classes=("3", "8") if request.param == "a pair" else ("8",)))


def an_error(run, wrong=True):
    test = run.test()
    return int(test.index[np.flatnonzero((test.y_true != test.y_pred) == wrong)[0]]), test.split


def view(run, panel, wrong=True, **query):
    index, split = an_error(run, wrong)
    return open_page("errors", run=run.id, digit=f"{run.recipe.dataset}/{split}/{index}", why=panel, **query), index


def said(app):
    texts = [node.value for kind in ("markdown", "caption", "info", "warning", "error") for node in app.get(kind)]
    return " ".join(map(str, texts)).replace("\\", "")


def strip(app):
    """The cells that the orbit strip was given."""
    found = [json.loads(node.proto.json) for node in app.get("bidi_component") if '"largest"' in node.proto.json]
    return found[-1]["cells"] if found else None


def maps(app):
    figures = [json.loads(node.proto.spec) for node in app.get("plotly_chart")]
    return [figure for figure in figures if "shifts, " in figure["layout"]["meta"]["alt"]]


def z_of(figure):
    """(9, 9) what a heat map was given."""
    z = figure["data"][0]["z"]
    shape = [int(n) for n in z["shape"].split(",")]
    return np.frombuffer(base64.b64decode(z["bdata"]), z["dtype"]).reshape(shape)


def f_of(run, index, text):
    """f (J, k) of a test example's forms, one after the other."""
    data, machine, rows = load(run.recipe.dataset), run.machine(), []
    X, _ = evidence.examples(data, run.test().split)
    for form in JitterSet.parse(text, data.image_shape).apply(X[index : index + 1])[:, 0]:
        rows.append(machine.decision_values(evidence.prepared(run, form[None]))[0])
    return np.array(rows)


def test_the_strip_shows_f_of_every_form_in_the_order_of_its_lead(plain_run):
    app, index = view(plain_run, "orbit", orbit="rot:-9,9")
    f = f_of(plain_run, index, "rot:-9,9")
    cells = strip(app)
    assert {cell["caption"] for cell in cells} == {"as it is", "−9°", "+9°"}
    (original,) = (cell for cell in cells if cell["original"])
    _, y = evidence.examples(load(plain_run.recipe.dataset), plain_run.test().split)
    own = list(plain_run.machine().classes).index(y[index])
    assert original["values"][0] == pytest.approx(f[0, own], abs=1e-6)
    assert original["values"][1] == pytest.approx(np.delete(f[0], own).max(), abs=1e-6)
    assert not original["right"]
    leads = [f[j, own] - np.delete(f[j], own).max() for j in range(3)]
    names = ["as it is", "−9°", "+9°"]
    assert [cell["caption"] for cell in cells] == [names[j] for j in np.argsort(leads)]
    assert [cell["right"] for cell in cells] == sorted(lead > 0 for lead in leads)


@pytest.mark.parametrize(("orbit", "words"), [("bix:1", "bix:1"), ("box:31", "121")])
def test_a_set_that_cannot_be_is_said(plain_run, orbit, words):
    app, _ = view(plain_run, "orbit", orbit=orbit)
    assert strip(app) is None
    assert words in said(app)


def test_a_jittered_kernel_says_which_form_it_picks(jittered_run):
    app, _ = view(jittered_run, "orbit", wrong=False)
    cells = strip(app)
    assert len(cells) == 5  # its own set
    assert all(cell["note"].endswith("%") for cell in cells)
    assert sum(float(cell["note"][:-1]) for cell in cells) == pytest.approx(100, abs=3)
    assert "compares each support vector only with the nearest form" in said(app)


@pytest.mark.parametrize("panel", ["orbit", "map", "remedy"])
def test_a_single_machine_has_them_too(binary_run, panel):
    app, index = view(binary_run, panel, wrong=False)
    assert not app.exception
    if panel == "orbit":
        assert [len(cell["values"]) for cell in strip(app)] == [1] * 9
    if panel == "map":
        f = f_of(binary_run, index, "none")[0, 0]
        z = z_of(maps(app)[0])
        assert z[4, 4] == pytest.approx(f, abs=1e-6)


@pytest.mark.parametrize("panel", ["orbit", "map", "remedy"])
def test_colour_photographs_that_are_not_square_can_be_moved(panel, home):
    rng = np.random.default_rng(0)
    y = np.array(["sea", "grass"])[np.arange(80) % 2]
    X = rng.integers(0, 160, (80, 6, 9, 3)).astype(np.uint8)
    X[y == "sea", :, 2:7, 2] += 90
    entry = catalogue.keep("photographs", Arrays(X[:50], y[:50], X[50:], y[50:]))
    run = damage.finished(Recipe(dataset=entry.name, split="given", kernel=Poly(2, 1, 1), n_train=50), "Photographs")
    app, index = view(run, panel, wrong=False)
    assert not app.exception
    if panel == "orbit":
        assert len(strip(app)) == 9
    if panel == "map":
        assert z_of(maps(app)[0])[4, 4] == pytest.approx(f_of(run, index, "none")[0, 0], abs=1e-6)
    if panel == "remedy":
        assert "The prediction is correct," in said(app)


@pytest.mark.parametrize("panel", ["orbit", "map", "remedy"])
def test_points_of_the_plane_cannot_be_moved(panel):
    run = finished(RECIPES["moons"])
    app, _ = view(run, panel, wrong=False)
    assert "cannot be shifted" in said(app)
    assert "cannot be shifted or turned" in said(app)


def test_the_maps_of_two_runs_share_a_scale_and_have_f_at_their_centres(plain_run, jittered_run):
    app, index = view(plain_run, "map", wrong=False, beside=[plain_run.id, jittered_run.id])
    drawn = maps(app)
    assert len(drawn) == 2
    _, y = evidence.examples(load(plain_run.recipe.dataset), plain_run.test().split)
    for figure, run in zip(drawn, (plain_run, jittered_run)):
        c = list(run.machine().classes).index(y[index])
        z = z_of(figure)
        assert z[4, 4] == pytest.approx(f_of(run, index, "none")[0, c], abs=1e-6)
        assert z[4, 5] == pytest.approx(f_of(run, index, "shift:0,1")[1, c], abs=1e-6)
    scales = {(figure["data"][0]["zmin"], figure["data"][0]["zmax"]) for figure in drawn}
    assert len(scales) == 1
    assert "of 81 shifts" in said(app)


def test_maps_say_what_is_wrong_with_their_address(plain_run):
    app, _ = view(plain_run, "map")
    app.query_params["beside"], app.query_params["map_class"] = "20200101-000000-000-abcdef", "heptagon"
    app.run()
    assert "cannot be shown here" in said(app)
    assert "heptagon" in said(app)
    assert len(maps(app)) >= 1


def test_the_remedy_is_what_the_machine_says_of_each_change(plain_run):
    app, index = view(plain_run, "remedy")
    data = load(plain_run.recipe.dataset)
    X, y = evidence.examples(data, plain_run.test().split)
    ladder, machine = remedy.Ladder(data.image_shape), plain_run.machine()
    own = list(machine.classes).index(y[index])
    forms = ladder.everything.apply(X[index : index + 1])[:, 0]
    wins = machine.decision_values(evidence.prepared(plain_run, forms)).argmax(axis=1) == own
    found = remedy.weakest(ladder, wins)
    text = said(app)
    for fix in found:
        assert spoken(ladder.everything.jitters[fix.change]) in text
    assert ("make it correct" in text) == bool(found)


def test_a_right_example_shows_what_turns_it_wrong(plain_run):
    app, _ = view(plain_run, "remedy", wrong=False)
    assert "The prediction is correct," in said(app)


def drawn_digit(run_id):
    import numpy as np

    from data import load
    from pages.ui.why import holds, orbit, remedy
    from pages.ui.why.answer import DRAWN, Shown
    from svmcore.lab.store import runs

    run = runs.get(run_id)
    data = load(run.recipe.dataset)
    picture = np.zeros((1, *data.image_shape), np.float32)
    picture[0, 1:7, 4] = 16
    for panel in (orbit.panel, holds.panel, remedy.panel):
        panel(run, run.machine(), Shown(data, picture, None, DRAWN))


def test_a_drawn_digit_has_orbit_and_map_of_what_it_is_called_and_no_remedy(plain_run):
    app = AppTest.from_function(drawn_digit, default_timeout=60, args=(plain_run.id,)).run()
    assert not app.exception
    assert len(strip(app)) == 9
    assert maps(app)
    assert "no error to correct" in said(app)
    assert "predicted" in captions(app)


def test_from_counting_to_a_run_that_learns_what_is_recommended():
    run = finished(SMALL.replace(tol=9e-4))  # for which nobody has counted
    app = open_page("errors", run=run.id)
    assert "The test set is not used" in captions(app)
    app.button(key="errors_begin").click().run()
    assert COUNTS.wait(run.id, timeout=SECONDS).state == "done"
    app = open_page("errors", run=run.id)  # another session
    totals = COUNTS.status(run.id).result
    table = app.dataframe[0].value
    assert sorted(table["Fixed"]) == sorted(totals.tally.mended)
    assert "95 %" in table.columns
    app.button(key="errors_train").click().run()
    assert not app.exception
    started = runs.newest_first()[0]
    assert started.parent == run.id
    assert started.recipe.method == "vsv"
    assert (started.recipe.C, started.recipe.kernel, started.recipe.n_train) == (SMALL.C, SMALL.kernel, SMALL.n_train)
    assert app.session_state["run"] == started.id
    jobs.wait(started.id, SECONDS)


def test_what_a_change_breaks_stands_beside_it_once_it_is_counted(plain_run):
    COUNTS.start(plain_run.id)
    assert COUNTS.wait(plain_run.id, timeout=SECONDS).state == "done"
    app, _ = view(plain_run, "remedy", wrong=False)
    assert "On validation examples, this change fixes" in said(app)


def test_jitters_are_said_in_words():
    jitters = JitterSet.parse("shift:-1,0;2,-1+rot:-6+thick:0.5+scale:1.1+shear:0.2").jitters
    assert [spoken(j) for j in jitters] == [
        "as it is", "1 pixel up", "2 pixels down and 1 left", "turned by −6°", "lines thicker by 0.5",
        "lines thinner by 0.5", "resized to 1.1 times", "slanted by +0.2",
    ]  # fmt: skip
    assert [brief(j) for j in jitters[:4]] == ["as it is", "↑1", "↓2←1", "−6°"]
    both = JitterSet.parse("rot:6*shift:0,1").jitters
    assert "1 pixel right, turned by +6°" in [spoken(j) for j in both]


def test_the_plateau_in_words_is_that_of_the_map(plain_run):
    app, index = view(plain_run, "map", wrong=False, beside=plain_run.id)
    data = load(plain_run.recipe.dataset)
    X, y = evidence.examples(data, plain_run.test().split)
    machine = plain_run.machine()
    grid = moved.surface(machine, lambda A: evidence.prepared(plain_run, A), X[index : index + 1], data.image_shape)
    own = list(machine.classes).index(y[index])
    assert f"at {int((grid.argmax(axis=2) == own).sum())} of 81 shifts" in said(app)
