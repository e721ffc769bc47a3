"""The page on which a digit is drawn: strokes between address and session, answers, nudges; driven from app.py."""

import numpy as np
import pytest

from data import load
from pages.draw import address, machines, nudges, strokes
from pages.draw.nudges import Nudge
from pages.draw.strokes import FOUR, LONGEST, pack, sent, unpack
from pages.ui.figures import decisions
from pages.ui.why import dialog
from svmcore.jitter import JitterSet
from svmcore.lab.jobs import welcome
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from svmcore.preprocess import drawn
from tests.cases import all_cases
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

FEW = RECIPES["mnist-5k-sv"].replace(n_train=600, n_test=100, title="Few digits")
BINARY = FEW.replace(classes=(4, 9), title="4 or 9")


@pytest.fixture(scope="module")
def few():
    return finished(FEW)


@pytest.fixture(scope="module")
def binary():
    return finished(BINARY)


def address_of(app):
    """The parameters of the page's address, the last of each."""
    given = {name: app.query_params[name] for name in app.query_params}
    return {name: value if isinstance(value, str) else value[-1] for name, value in given.items()}


def ink_of(text, pen=strokes.PEN):
    return drawn.stages(drawn.rasterise(unpack(text), pen), drawn.MNIST).centred


def test_strokes_survive_their_text():
    rng = np.random.default_rng(0)
    lines = [rng.integers(0, 256, (k, 2)) for k in (1, 2, 255)]
    again = unpack(pack(lines))
    assert [line.tolist() for line in again] == [line.tolist() for line in lines]
    long = rng.integers(0, 256, (600, 2))
    parts = unpack(pack([long]))
    assert [len(part) for part in parts] == [255, 255, 92]
    assert np.concatenate([parts[0], *(part[1:] for part in parts[1:])]).tolist() == long.tolist()
    assert parts[0][-1].tolist() == parts[1][0].tolist()  # no gap where it was cut
    assert unpack("") == ()


@pytest.mark.parametrize("text", ["!!", "AAAA", "A6co", "_", "A" * 5, "Ag==", "ÄÖ", "A6coVJfDlwKfXJn", "BQ" * 400])
def test_texts_that_are_no_strokes_are_refused(text):
    with pytest.raises(ValueError, match=r"^it (has|is)"):
        unpack(text)


@all_cases(
    "value",
    [
        None,
        {},
        "x",
        [[1]],
        [[]],
        [[1, 2, 3]],
        [[0, 256]],
        [[-1, 0]],
        [[1.5, 2]],
        [[True, False]],
        [[float("nan"), 1]],
        [["1", "2"]],
        [[10**30, 1]],
        [[1, 2]] * 201,
        [[1, 2] * 10_001],
        [{"x": 1}],
    ],
)
def test_what_a_browser_sends_is_checked(value):
    with pytest.raises(ValueError, match=r"canvas sent|canvas did not send|more than"):
        sent(value)


def test_a_stroke_keeps_its_corners_alone():
    fine = [n for x in range(10, 200) for n in (x, 40)] + [n for y in range(40, 200) for n in (199, y)]
    (line,) = sent([fine])
    assert line.tolist() == [[10, 40], [199, 40], [199, 199]]
    assert len(pack(sent([fine]))) < 12


@pytest.mark.parametrize(
    "value", [None, [], "x", [[0, 0, 0]], [[10, 0, 0, 0]], [[0, 0, 185, 0]], [[0.5, 0, 0, 0]], [[0] * 4] * 201, [None]]
)
def test_places_of_a_browser_are_checked(value):
    with pytest.raises(ValueError, match=r"the pad (sent|did not send)"):
        nudges.moved(value)


def test_nudges_are_the_jitters_of_that_name():
    ink = ink_of(pack(FOUR))
    places = [Nudge(), Nudge(2, -1), Nudge(turn=10), Nudge(thick=2), Nudge(thick=-2), Nudge(1, 0, 5, 1)]
    made = nudges.nudged(ink, places)
    np.testing.assert_array_equal(made[0], ink)
    np.testing.assert_allclose(made[1][:-1, 2:], ink[1:, :-2])
    row = ink.reshape(1, -1)
    for at, text, which in (
        (2, "rot:10", 1),
        (3, "thick:0.5", 1),
        (4, "thick:0.5", 2),
        (5, "rot:5*thick:0.25*shift:0,1", None),
    ):
        forms = JitterSet.parse(f"{text}@zero", (28, 28)).apply(row)[:, 0]
        wanted = made[at].ravel()
        near = [abs(form - wanted).max() for form in forms]
        assert min(near) < 1e-5
        assert which is None or near.index(min(near)) == which
    assert made[3].sum() > ink.sum() > made[4].sum()
    assert Nudge(1, -2, 5, -1).words == "1 px right, 2 px up, turned +5°, thinner by 1/4"


def test_the_page_says_what_the_machine_decides(few):
    text = pack(FOUR)
    app = open_page("draw", run=few.id, runs=few.id, strokes=text, dx="2", thick="1")
    f = machine_says(few, nudges.nudged(ink_of(text), [Nudge(2, 0, 0, 1)]))
    second, best = np.sort(f)[-2:]
    assert app.metric[0].value == str(few.machine().classes[f.argmax()])
    assert app.metric[0].delta.startswith(f"f {best - second:.2f} ahead of ")
    assert "2 px right, thicker by 1/4" in captions(app)
    assert app.session_state["drawn"].trail == (Nudge(), Nudge(2, 0, 0, 1))
    assert address_of(app)["strokes"] == text
    assert address_of(app)["dx"] == "2"


def machine_says(run, ink):
    X = np.rint(255 * ink).astype(np.uint8)
    return run.machine().decision_function(X.reshape(len(X), 28, 28))[0]


def test_a_machine_for_two_classes_says_both_sides(binary):
    app = open_page("draw", run=binary.id, runs=binary.id, strokes=pack(FOUR))
    f = machine_says(binary, ink_of(pack(FOUR))[None])
    assert app.metric[0].value == ("9" if f[0] > 0 else "4")
    assert app.metric[0].delta == f"f {2 * abs(f[0]):.2f} ahead of {'4' if f[0] > 0 else '9'}"


def test_the_example_and_a_test_digit_take_turns(few):
    app = open_page("draw", run=few.id, runs=few.id)
    assert app.metric[0].value == "–"
    app.button(key="draw_example").click().run()
    assert "This example of two lines" in captions(app)
    assert address_of(app)["strokes"] == pack(FOUR)
    app.number_input(key="draw_start").set_value(7).run()
    assert not app.exception
    test, dataset = few.test(), load("mnist-5k")
    assert app.metric[0].value == str(test.y_pred[7])  # the very example, not one prepared anew
    assert "strokes" not in app.query_params
    assert address_of(app)["start"] == "7"
    assert f"class **{test.y_true[7]}**, unchanged" in captions(app)
    X = dataset.X_train[test.index[7]]
    np.testing.assert_array_equal(machines.example(dataset, machines.ink_of(dataset, X[None]))[0], X)


def test_a_link_opens_the_same_drawing(few):
    text = pack(FOUR)
    first = open_page("draw", run=few.id, runs=few.id, strokes=text, pen="30", dy="-3", turn="15")
    again = open_page("draw", **address_of(first))
    assert again.session_state["drawn"][:4] == first.session_state["drawn"][:4]
    assert again.metric[0].value == first.metric[0].value


@pytest.mark.parametrize(
    ("query", "says"),
    [
        ({"strokes": "!!"}, "it has characters other than letters, digits, - and _"),
        ({"strokes": "A6co"}, "it is incomplete"),
        ({"strokes": "A" * (LONGEST + 1)}, "at most 1,500 are allowed"),
        ({"strokes": pack(FOUR), "dx": "10"}, "dx=10 in the address; allowed: -9 to 9"),
        ({"strokes": pack(FOUR), "dy": "nan"}, "dy=nan"),
        ({"strokes": pack(FOUR), "turn": "1e999"}, "turn=1e999"),
        ({"strokes": pack(FOUR), "thick": "x"}, "thick=x"),
        ({"strokes": pack(FOUR), "pen": "0"}, "pen=0 in the address; allowed: 6 to 48"),
        ({"start": "100"}, "start=100 in the address; allowed: 0 to 99"),
        ({"runs": "nobody"}, "The run nobody is unknown"),
    ],
)
def test_a_bad_address_is_said_and_left_out(few, query, says):
    app = open_page("draw", **{"run": few.id, "runs": few.id} | query)
    assert any(says in warning.value.replace("\\", "") for warning in app.warning)
    assert address.KEY not in app.session_state or app.session_state["drawn"].nudge == Nudge()


def test_strokes_too_long_for_a_link_are_drawn_and_said(few, monkeypatch):
    app = open_page("draw", run=few.id, runs=few.id)
    rng = np.random.default_rng(0)
    text = pack([rng.integers(60, 200, (200, 2)) for _ in range(4)])
    assert len(text) > LONGEST
    app.session_state["drawn"] = address.Drawn(text=text)
    app.run()
    assert not app.exception
    assert "not part of the address" in captions(app)
    assert "strokes" not in app.query_params
    assert app.metric[0].value != "–"


def test_who_can_answer_and_who_cannot(few, binary):
    moons = finished(RECIPES["moons"])
    small = finished(RECIPES["digits-8x8-sv"].replace(n_train=120, n_test=50))
    assert machines.refusal(moons) == "its examples are not images"
    assert machines.refusal(few) == ""
    ids = [run.id for run in machines.able(few)]
    assert ids[0] == few.id
    assert {binary.id} <= set(ids)
    assert small.id not in ids
    assert machines.usual(machines.able(few)) == [few.id]  # one of a method
    app = open_page("draw", run=moons.id)
    assert "cannot classify a drawing: its examples are not images" in captions(app)
    eight = open_page("draw", run=small.id, runs=small.id, strokes=pack(FOUR))
    assert "fitted into 8 × 6 without keeping its aspect ratio" in captions(eight)
    assert eight.metric[0].value in "0123456789"


def test_an_empty_home_says_how_to_get_a_machine(home):
    welcome.WELCOME.homes.add(runs.home())
    app = open_page("draw", strokes=pack(FOUR))
    assert not app.exception
    assert any("No machine can classify drawings yet" in text.value for text in app.markdown)
    assert "centred by its centre of mass in 28 × 28" in captions(app)


def test_the_trail_marks_each_flip():
    values = np.array([[1.0, 0.0, -1], [0.6, 0.2, -1], [0.3, 0.4, -1], [0.1, 0.9, -1]])
    assert decisions.flips(values).tolist() == [2]
    figure = decisions.decision_trail(values, "abc", ["as prepared", "1 right", "2 right", "3 right"])
    assert [line.y.tolist() for line in figure.data] == [values[:, 0].tolist(), values[:, 1].tolist()]
    assert [shape.x0 for shape in figure.layout.shapes] == [1.5]
    assert "a → b at nudge 2" in figure.layout.meta["see"]
    still = decisions.decision_trail(values[:2], "abc", ["as prepared", "1 right"])
    assert "not flipped" in still.layout.meta["see"]
    assert still.data[1].y.tolist() == values[:2, 1].tolist()  # the runner-up


def test_why_a_drawing_is_answered_so_is_asked_of_one_machine(few, binary):
    text = pack(FOUR)
    app = open_page("draw", run=few.id, runs=[few.id, binary.id], strokes=text)
    assert not [choice for choice in app.segmented_control if choice.key == "why_panel"]
    app.toggle(key="draw_why").set_value(True).run()
    assert not app.exception
    assert app.segmented_control(key="why_panel").value == "bill"
    for name, panel in dialog.PANELS.items():
        linked = open_page("draw", run=few.id, runs=few.id, strokes=text, dx="1", why=name)
        assert linked.toggle(key="draw_why").value is True
        offered = panel.label in linked.segmented_control(key="why_panel").options
        assert linked.segmented_control(key="why_panel").value == (name if offered else "bill")
    app.toggle(key="draw_why").set_value(False).run()
    assert "why" not in app.query_params
