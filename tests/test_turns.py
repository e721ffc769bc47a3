"""Laws of a search in other turns: what is found in a turned picture is what is found in the picture itself."""

import csv
import io

import numpy as np
import pytest
import streamlit as st
from scipy.ndimage import gaussian_filter

from data import pictures
from pages.detect import more
from pages.detect.view import view_of
from svmcore.detection.discard import fit_discard
from svmcore.detection.scan import n_windows, scan
from svmcore.detection.turns import MOST, QUARTERS, inside, matrices, moved, turned, turned_back, turned_shape
from svmcore.lab import train
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store.reading import Damaged
from svmcore.lab.tasks import TASKS
from tests.driven import finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)
from tests.test_detect import CROSSES, faces_set
from tests.test_scan import OBJECTS, blob, chips, machine, machine_of, noise, picture  # noqa: F401  (fixtures)

HOW = {"stride": 1, "step": 1.1, "enlarge": 1.0}


def naive_turned(image, degrees, shape):
    """Pixel after pixel, anticlockwise, each read at its place in the picture; beyond it the nearest."""
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    out, (h, w) = np.empty(shape), image.shape
    for row in range(shape[0]):
        for column in range(shape[1]):
            down, right = row - (shape[0] - 1) / 2, column - (shape[1] - 1) / 2
            y, x = c * down + s * right + (h - 1) / 2, -s * down + c * right + (w - 1) / 2
            y, x = np.clip(y, 0, h - 1), np.clip(x, 0, w - 1)
            top, left = min(int(y), h - 2), min(int(x), w - 2)
            (a, b), (d, e) = image[top : top + 2, left : left + 2].astype(float)
            out[row, column] = (1 - y + top) * (a + (x - left) * (b - a)) + (y - top) * (d + (x - left) * (e - d))
    return out


@pytest.mark.parametrize("seed", range(3))
def test_a_picture_is_turned_as_pixel_after_pixel_is(seed):
    rng = np.random.default_rng(seed)
    image, degrees = noise(1, rng, 40)[0][:, : rng.integers(20, 40)], float(rng.uniform(-180, 180))
    M = matrices(f"rot:{degrees}")[1]
    found = turned(image, M)
    assert found.shape == turned_shape(image.shape, M)
    assert np.abs(found - naive_turned(image, degrees, found.shape)).max() <= 0.5 + 1e-3


@pytest.mark.parametrize("shape", [(37, 52), (20, 20), (2, 61)])
def test_quarter_turns_and_mirror_images_are_exact(shape):
    image = np.random.default_rng(0).integers(0, 255, shape).astype(np.uint8)
    for k, M in enumerate(matrices(QUARTERS)):
        np.testing.assert_array_equal(turned(image, M), np.rot90(image, k))
    for M, expected in zip(matrices("flip:h,v"), (image, image[:, ::-1], image[::-1]), strict=True):
        np.testing.assert_array_equal(turned(image, M), expected)
    assert turned(image, matrices("none")[0]) is image


@pytest.mark.parametrize("text", ["rot:15", "rot:-137", "flip:h", "flip:v*(rot:40)"])
def test_boxes_go_along_and_come_back(text):
    rng, shape, M = np.random.default_rng(1), (90, 130), matrices(text)[-1]
    corner = rng.uniform(0, 60, (50, 2))
    boxes = np.hstack([corner, corner + rng.uniform(5, 30, (50, 1))])
    there = moved(boxes, M, shape, turned_shape(shape, M))
    np.testing.assert_allclose(there[:, 2:] - there[:, :2], boxes[:, 2:] - boxes[:, :2], atol=1e-6)
    np.testing.assert_allclose(turned_back(there, M, shape), boxes, atol=1e-6)
    dark = np.zeros(shape, np.uint8)
    dark[30:41, 70:81] = 255  # a bright square, in the middle of whose box it stays
    y, x = (np.mean(at) for at in np.nonzero(turned(dark, M) > 200))
    box = moved(np.array([[70.0, 30, 81, 41]]), M, shape, turned_shape(shape, M))[0]
    assert [(box[0] + box[2]) / 2 - 0.5, (box[1] + box[3]) / 2 - 0.5] == pytest.approx([x, y], abs=0.1)
    assert inside(turned_back(there, M, shape), shape).all()
    beyond = boxes + np.array([shape[1], 0, shape[1], 0])
    assert not inside(turned_back(moved(beyond, M, shape, turned_shape(shape, M)), M, shape), shape).any()


@pytest.mark.parametrize(("made", "back"), [("rot:90", "rot:-90"), ("rot:180", "rot:180"), ("flip:h", "flip:h")])
@pytest.mark.parametrize("quickly", [True, pytest.param(False, marks=pytest.mark.ci)])
def test_a_picture_on_its_side_is_searched_as_the_picture_itself(chips, machine, picture, made, back, quickly):  # noqa: F811
    picture, discard = picture[:100], fit_discard(*chips, lost=0.02) if quickly else None
    how = {"threshold": -0.5, "discard": discard}
    plain, lying = scan(picture, machine, **how), turned(picture, M := matrices(made)[1])
    alone, both = scan(lying, machine, **how), scan(lying, machine, turns=back, **how)
    n = len(alone.f)
    np.testing.assert_array_equal(both.f, np.concatenate([alone.f, plain.f]))
    np.testing.assert_array_equal(both.boxes[:n], alone.boxes)
    np.testing.assert_allclose(both.boxes[n:], moved(plain.boxes, M, picture.shape, lying.shape), atol=1e-9)
    np.testing.assert_array_equal(both.chips[n:], plain.chips)
    np.testing.assert_array_equal(both.turn, [0] * n + [1] * len(plain.f))
    few = scan(lying, machine, turns=back, most=5, **how)
    np.testing.assert_array_equal(few.turn, both.turn[np.sort(np.argsort(-both.f, kind="stable")[:5])])
    assert both.looked == alone.looked + plain.looked
    assert both.discarded == alone.discarded + plain.discarded


@pytest.mark.parametrize("degrees", [15, -30])
def test_what_leans_is_found_where_it_is_by_the_turn_that_rights_it(chips, degrees):  # noqa: F811
    fitted = machine_of(chips)
    rng, M = np.random.default_rng(3), matrices(f"rot:{degrees}")[1]
    straight = gaussian_filter(noise(1, rng, 130)[0].astype(float), 1.5).astype(np.uint8)
    x, y, right, below = box = OBJECTS[0]
    straight[y:below, x:right] = np.kron(blob(1, rng)[0], np.ones((2, 2)))
    lying = turned(straight, M)
    plain = scan(straight, fitted, **HOW, threshold=0.0)
    found = scan(lying, fitted, **HOW, threshold=0.0, turns=f"rot:{-degrees}")
    box = np.array([box], float)
    where = moved(box, M, straight.shape, lying.shape)[0]
    upright, sure, alone = best(plain, box[0]), best(found, where), best(scan(lying, fitted, **HOW), where)
    assert sure[0] > 0.3
    assert sure[0] == pytest.approx(upright[0], abs=0.35), "interpolated twice"
    assert sure[1] == pytest.approx(upright[1], rel=0.2)
    assert sure[0] > alone[0] + (0.5 if abs(degrees) > 20 else 0)


def best(found, box):
    """The largest f, and the side of its window, whose middle is that of a box within an eighth of the side."""
    middle, side = (box[:2] + box[2:]) / 2, box[2] - box[0]
    near = np.abs((found.boxes[:, :2] + found.boxes[:, 2:]) / 2 - middle).max(axis=1) < side / 8
    if not near.any():
        return -np.inf, np.nan
    at = np.flatnonzero(near)[found.f[near].argmax()]
    return found.f[at], found.boxes[at, 2] - found.boxes[at, 0]


def test_nothing_is_found_beside_a_turned_picture_and_all_windows_are_told(machine, picture):  # noqa: F811
    told, picture = [], picture[:90]
    turns, how = "rot:-30,30+flip:h", {"side": 19, "stride": 2, "step": 1.2, "enlarge": 1.25}
    found = scan(picture, machine, threshold=-np.inf, turns=turns, tell=lambda *now: told.append(now), **how)
    assert (found.boxes >= -1e-6).all()
    assert (found.boxes[:, 2:] <= np.array(picture.shape[::-1]) + 1e-6).all()
    leaning = scan(turned(picture, matrices("rot:30")[1]), machine, threshold=-np.inf, **how)
    assert leaning.boxes[:, 2].max() - picture.shape[1] > 20, "as there would be"
    assert found.looked == n_windows(picture.shape, turns=turns, **how) == told[-1][0] == told[-1][1]
    assert 0 < found.discarded == found.looked - len(found.f)
    plain = n_windows(picture.shape, **how)
    assert found.looked > 4 * plain, "a turned picture is larger"
    assert plain == scan(picture, machine, **how).looked


@pytest.mark.parametrize(
    "text", ["box:1", "scale:2", "rot:10+shear:0.1", "rot:10@edge", "rot:x", "rot:" + ",".join(map(str, range(1, 60)))]
)
def test_other_forms_are_refused_by_name(machine, picture, text):  # noqa: F811
    with pytest.raises(ValueError, match="turns"):
        scan(picture, machine, turns=text)
    with pytest.raises(RecipeError, match=r"turns = .*; allowed") as refused:
        RECIPES["faces-cmu"].replace(turns=text)
    assert refused.value.field == "turns"
    assert len(matrices("rot:" + ",".join(map(str, range(10, 180, 5))))) < MOST


def test_no_turns_are_the_recipe_as_it_was():
    for text in (None, "none", "", "rot:0"):
        assert RECIPES["faces-cmu"].replace(turns=text).digest() == RECIPES["faces-cmu"].digest()
    asked = Recipe().with_texts(RECIPES["faces-cmu-turned"].to_query())
    assert asked.option("turns") == "rot:-30,-15,15,30"


@pytest.fixture
def crosses(home, monkeypatch):
    monkeypatch.setitem(pictures._BUILT_IN, "crosses", faces_set())
    return CROSSES


def test_a_run_finds_in_turns_each_object_once_and_trains_as_without(crosses):
    plain, turns = (train.execute(crosses.replace(turns=text)) for text in (None, "flip:h+rot:-20,20"))
    np.testing.assert_array_equal(plain.machine.coef, turns.machine.coef)
    test = turns.test
    assert turns.result["machines"]["machine"]["rates"]["10"] == 1.0
    f = turns.machine.decision_function(test.chips)[:, 0]
    np.testing.assert_allclose(f + test.votes, test.decision, atol=1e-3)
    assert test.votes.max() > plain.test.votes.max(), "turns vote for each other"
    hits = test.hit[(test.hit >= 0) & (test.decision > 0)]
    assert len(hits) == len(set(hits)) == len(test.objects), "turns of one object are suppressed together"


def windows_said(run, at):
    app = open_page("detect", run=run.id, window=f"0.{at}")
    return next(caption.value for caption in app.caption if "turned or mirrored pictures" in caption.value)


def test_a_finding_says_in_which_turn_it_was_found_and_one_of_an_older_run_that_the_window_is_as_it_was_seen(crosses):
    run = finished(crosses.replace(turns="flip:h+rot:-20,20"))
    kept = run.test()
    leaning, upright = (np.flatnonzero(found)[0] for found in (kept.turn == 3, kept.turn == 0))
    assert "turn +20°" in windows_said(run, leaning).replace("\\", "")
    assert "without transforming the picture" in windows_said(run, upright)
    rows = list(csv.DictReader(io.StringIO(more.detections_csv(view_of(run)))))
    assert {row["turn"] for row in rows} == {"", "flip h", "turn -20°", "turn +20°"}
    older = {name: value for name, value in kept._asdict().items() if name != "turn"}
    np.savez(run.path / "test.npz", **older)
    assert (run.test().turn == -1).all()
    st.cache_resource.clear()
    said = windows_said(run, leaning)
    assert "as the search saw it, its surroundings as in the original picture" in said
    assert "°" not in said
    np.savez(run.path / "test.npz", **older, turn=kept.turn[1:])
    with pytest.raises(Damaged, match="turn"):
        run.test()


def test_a_forecast_counts_the_turns(crosses):
    known = pictures.load("crosses")
    counts = {}
    for turns in ("none", "rot:90,180,-90", "rot:45"):
        how = {"side": 11, "stride": 2, "step": 1.2, "enlarge": 1.25, "turns": turns}
        counts[turns] = sum(n_windows(each.image.shape, **how) for each in known.pictures)
    bare = crosses.replace(bootstraps=0)
    seconds = {turns: TASKS["detect"].beside(bare.replace(turns=turns)) for turns in counts}
    for turns, n in counts.items():
        assert seconds[turns] / seconds["none"] == pytest.approx(n / counts["none"])
    assert counts["rot:90,180,-90"] == 4 * counts["none"]
    mined = [TASKS["detect"].beside(crosses.replace(turns=text)) - seconds[text] for text in counts]
    assert mined == pytest.approx([mined[0]] * 3), "false alarms are mined as without"


def test_the_form_asks_for_turns_and_says_what_cannot_be(crosses):
    asked = crosses.to_query() | {"task": "detect"}
    app = open_page("detect", **asked | {"turns": "rot:-20,20"})
    (field,) = (widget for widget in app.text_input if widget.label == "Turns")
    assert field.value == "rot:-20,20"
    assert not app.error
    field.set_value("box:1").run()
    assert "turns = 'box:1'; allowed: rot:DEGREES" in app.error[0].value.replace("\\", "")
    field.set_value("").run()
    assert not app.error
    assert "turns" not in app.query_params
