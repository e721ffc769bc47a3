"""Runs on features of pictures, on every page that shows a machine; fields of steps in the form; the occlusion map."""

import json

import numpy as np
import pytest

from data import catalogue, load, own
from data.album import Album, encoded
from data.dataset import Arrays
from pages.draw.strokes import FOUR, pack
from pages.ui.example import evidence, views
from pages.ui.kit.gallery import one_size, reference
from pages.ui.run.report import sections
from svmcore.kernels import RBF
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.preprocess import Preprocessor
from tests.driven import captions, finished, open_page, whole_app  # noqa: F401  (a fixture for every test here)

STEPS = ("gradients:4,margin=1", "unit-norm")
PLAIN = Recipe(dataset="digits-8x8", n_train=200, n_test=120, preprocess=STEPS, kernel=RBF(2.0), C=10.0)
PAGES = ("errors", "support_vectors", "runs", "compare", "labels", "draw", "train", "datasets")
RUNS = {
    "sv": PLAIN,
    "vsv": PLAIN.replace(method="vsv", jitters="plus:1", n_train=100),
    "query-jitter": PLAIN.replace(method="query-jitter", jitters="plus:1", n_train=100),
    "pca": PLAIN.replace(preprocess=("gradients:4", "pca:20", "unit-norm")),
}


@pytest.fixture(scope="module", params=RUNS)
def run(request):
    return finished(RUNS[request.param])


def error_of(run):
    test = run.test()
    i = int(np.flatnonzero(test.y_true != test.y_pred)[0])
    return reference(run.recipe.dataset, test.split, test.index[i])


@pytest.mark.parametrize("page", PAGES)
def test_pages_show_runs_on_features(run, page):
    app = open_page(page, run=run.id)
    assert not app.exception
    assert not app.error


def test_a_drawing_is_classified_by_its_features(run):
    app = open_page("draw", run=run.id, runs=run.id, strokes=pack(FOUR), dx="1", why="hidden")
    assert not app.exception
    assert app.metric[0].value in map(str, range(10))
    assert app.segmented_control(key="why_panel").value == "hidden"


@pytest.mark.parametrize("panel", ["bill", "orbit", "map", "hidden", "remedy", "without", "family"])
def test_why_answers_about_runs_on_features(run, panel):
    app = open_page("errors", run=run.id, digit=error_of(run), why=panel)
    assert not app.exception
    assert not app.error


def test_support_vectors_are_shown_as_pictures(run):
    machine, dataset = run.machine(), load("digits-8x8")
    chosen = evidence.supports(run, machine, 0)
    drawn = evidence.support_pictures(run, machine, chosen)
    assert drawn.shape[1:] == (8, 8)
    if machine.jitter is None:
        np.testing.assert_array_equal(drawn, evidence.example_pictures(dataset, "train", chosen.row))
    else:
        own = machine.jitter[chosen.position] == 0
        assert 0 < own.sum() < len(own)


def test_a_reduced_set_of_features_is_drawn_beside_the_pictures_nearest_to_it():
    parent = finished(PLAIN)
    options = {"of": "sv", "n_vectors": 30, "reduction": "answers", "epochs": 5, "sizes": 1}
    reduced = finished(PLAIN.replace(method="reduced", options=options))
    machine = reduced.machine()
    drawn = evidence.support_pictures(reduced, machine, evidence.supports(reduced, machine, 0))
    assert drawn.shape[1] > 50, "roses"
    for page in ("reduced", "support_vectors", "errors"):
        app = open_page(page, run=reduced.id)
        assert not app.exception
        assert not app.error
    assert parent.result["errors"] <= reduced.result["errors"]


def test_a_detector_on_features_shows_its_windows():
    recipe = RECIPES["volcano-synthetic"].replace(preprocess=("gradients:5", "unit-norm"), kernel=RBF(2.0), C=10.0)
    run = finished(recipe)
    for window in ({}, {"window": "0.0"}):
        app = open_page("detect", run=run.id, **window)
        assert not app.exception
        assert not app.error


@pytest.mark.parametrize("method", ["sv", "vsv"])
def test_colour_pictures_are_shown_and_explained(home, method):
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    X = rng.integers(0, 120, (60, 20, 16, 3)).astype(np.uint8)
    X[y == 1, 5:12, 5:10, 0] += 100
    entry = own.keep("Blots", Arrays(X[:40], y[:40], X[40:], y[40:]))
    steps = ("scale01", "gradients:4+colours:4", "unit-norm")
    run = finished(PLAIN.replace(dataset=entry.name, split="given", preprocess=steps, method=method, n_train=None,
                                 n_test=None))  # fmt: skip
    assert run.result["errors"] == 0
    for why in ("hidden", "bill", "family"):
        app = open_page("errors", run=run.id, digit=f"{entry.name}/test/0", why=why)
        assert not app.exception
        assert not app.error
    machine = run.machine()
    assert evidence.support_pictures(run, machine, evidence.supports(run, machine, 0)).shape[1:] == (20, 16, 3)
    app = open_page("datasets", set=entry.name, view="Preprocessing")
    for chosen in (["scale01", "colours:4"], ["scale01", "gradients:4+colours:4"], ["patterns:2"]):
        app.multiselect(key="steps_image").set_value(chosen).run()
        assert not app.exception
        assert not app.error
    app.multiselect(key="steps_image").set_value(["colours:4"]).run()
    assert "with scale01 before it" in app.error[0].value


def test_rows_of_a_group_are_shown_as_the_virtual_examples_that_they_are(home):
    rng = np.random.default_rng(2)
    groups = rng.permutation(np.repeat(np.arange(30), 3))
    X = (rng.normal(size=(90, 4)) + 2 * (groups % 2)[:, None]).astype(np.float32)
    shades = Album.bound([encoded(np.full((9, 9), k, np.uint8), 9) for k in range(90)])
    entry = own.keep("Views", Arrays(X, groups % 2, X[:0], groups[:0], shades, groups))
    recipe = PLAIN.replace(dataset=entry.name, preprocess=(), n_train=60, n_test=30, kernel=RBF(0.3))
    run = finished(recipe.replace(method="vsv", jitters="none"))
    machine = run.machine()
    row = int(evidence.dataset_rows(run, machine)[0])
    app = open_page("errors", run=run.id, digit=f"{entry.name}/train/{row}", why="family")
    assert not any("No virtual support vectors" in info.value for info in app.info)
    assert "The 3 rows of this example's group" in captions(app)
    kept = set(run.train_index()[machine.support].tolist())
    sheet = next(json.loads(e.proto.json) for e in app.get("bidi_component") if "why-together" in e.proto.json)
    drawn = {tile["lower"]: tile["upper"] for tile in sheet["tiles"]}
    assert drawn == {str(k): "SV" if k in kept else "" for k in np.flatnonzero(groups == groups[row]).tolist()}
    assert "Virtual SVs are the other rows of each group" in captions(open_page("datasets", set=entry.name))


def test_pictures_of_two_sizes_are_laid_in_one():
    small, large = np.zeros((2, 8, 6), np.uint8), np.full((3, 29, 29, 3), 7, np.uint8)
    first, second = one_size(small, large)
    assert first.shape[1:] == second.shape[1:] == (29, 29, 3)
    assert (second == 7).all()
    assert set(np.unique(first)) == {0, 255}
    assert (first == 0).sum() == 2 * 3 * 24 * 18
    halved, kept = one_size(np.full((1, 100, 90), 9, np.uint8), small)
    assert halved.shape[1:] == kept.shape[1:] == (50, 50)
    assert (halved == 9).sum() == 50 * 45
    assert one_size(small, small)[0] is small


def test_fields_of_a_step_are_written_into_its_text():
    app = open_page("train", dataset="digits-8x8", preprocess="gradients:4,unit-norm")
    assert app.number_input(key="recipe_preprocess_0_cells").value == 4
    app.number_input(key="recipe_preprocess_0_cells").set_value(5).run()
    assert app.multiselect(key="recipe_preprocess").value == ["gradients:5", "unit-norm"]
    app.checkbox(key="recipe_preprocess_0_signed").set_value(False).run()
    assert app.multiselect(key="recipe_preprocess").value == ["gradients:5,signed=0", "unit-norm"]
    assert app.query_params["preprocess"] == "gradients:5,signed=0,unit-norm"
    app.number_input(key="recipe_preprocess_0_power").set_value(1.0).run()
    assert app.query_params["preprocess"] == "gradients:5,power=1,signed=0,unit-norm"
    assert not app.exception


def test_an_address_with_fields_fills_the_form():
    app = open_page("train", dataset="digits-8x8", preprocess="gradients:3,directions=9,block=2,unit-norm")
    assert app.number_input(key="recipe_preprocess_0_directions").value == 9
    assert app.number_input(key="recipe_preprocess_0_block").value == 2


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        ("gradients:9", "cells of 1 to 8"),
        ("pca:100", "1 to 64"),
        ("scale01,colours", "colour pictures"),
        ("colours", "'scale01' before it"),
        ("deslant,gradients:2+0.5*colours:2,unit-norm", "'scale01' before it"),
        ("gradients:4,deslant", "'deslant' before 'gradients:4'"),
    ],
)
def test_steps_that_do_not_fit_are_said_in_the_form(steps, says):
    app = open_page("train", dataset="digits-8x8", preprocess=steps)
    assert not app.exception
    said = " ".join(box.value for box in (*app.error, *app.warning))
    assert says.replace(":", "\\:") in said


def test_datasets_draws_what_steps_make():
    app = open_page("datasets", set="digits-8x8", view="Preprocessing")
    for steps in (["gradients:4"], ["gradients:4+0.5*patterns:2"], ["pca:9"], ["gradients:4,block=2", "pca:9"]):
        app.multiselect(key="steps_image").set_value(steps).run()
        assert not app.exception
        assert not app.error
    app.multiselect(key="steps_image").set_value(["gradients:12"]).run()
    assert "cells = 12 per side" in app.error[0].value


def test_the_occlusion_map_compares_runs_and_takes_its_settings_from_the_address():
    features, pixels = finished(PLAIN), finished(PLAIN.replace(preprocess=("unit-norm",)))
    app = open_page(
        "errors", run=features.id, digit=error_of(features), why="hidden", beside=[features.id, pixels.id], hide="3",
        hide_by="mean",
    )  # fmt: skip
    assert not app.exception
    assert app.number_input(key="why_hide").value == 3
    assert app.selectbox(key="why_hide_by").value == "mean"
    charts = [chart for chart in app.get("plotly_chart") if "hidden" in chart.proto.id]
    assert len(charts) == 2


def test_grey_pictures_and_coloured_ones_are_shown_beside_each_other(home):
    """Those of class 0 are grey; the labels of some say otherwise."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 25)
    X = (rng.normal(size=(75, 4)) + 4 * np.eye(3, 4)[y]).astype(np.float32)
    shown = [rng.integers(0, 256, (20, 30, 3)[: 2 + (c > 0)], dtype=np.uint8) for c in y]
    y[[3, 30, 60]] = 1, 2, 0
    arrays = Arrays.unsplit(X, y)._replace(album=Album.bound([encoded(picture, 60) for picture in shown]))
    catalogue.keep("mixed", arrays)
    run = finished(Recipe(dataset="own:mixed", preprocess=("zscore",), kernel=RBF(0.3), folds=3, n_test=15))
    for page in ("labels", "errors", "support_vectors", "datasets"):
        assert not open_page(page, run=run.id, set="own:mixed").exception, page
    assert "data:image" in sections.supports(run)


def test_a_panel_that_an_example_has_not_is_explained_once():
    digits = finished(PLAIN)
    app = open_page("errors", run=digits.id, digit=error_of(digits), why="without")
    assert any("*Exclude or relabel* is for training examples" in caption.value for caption in app.caption)
    assert not app.warning


def test_few_large_pictures_pass_through_the_preprocessing(home, monkeypatch):
    fitted = []
    fit = Preprocessor.fit
    monkeypatch.setattr(Preprocessor, "fit", lambda self, X, *rest: fitted.append(len(X)) or fit(self, X, *rest))
    rng = np.random.default_rng(0)
    for side in (8, 240):
        images = rng.integers(0, 256, (120, side, side), dtype=np.uint8)
        catalogue.keep(f"side {side}", Arrays.unsplit(images, np.arange(120) % 2), replace=True)
        assert not open_page("datasets", set=f"own:side-{side}", view="Preprocessing").exception
    assert fitted == [views.HUNDRED, views.STAGED // 240**2]
