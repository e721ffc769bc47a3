"""Laws of the steps that make features: each equals its oracle, on any shape; texts, order and refusals."""

import re

import numpy as np
import pytest
from skimage.color import rgb2lab
from skimage.feature import hog, local_binary_pattern
from sklearn.decomposition import PCA

from svmcore import RBF, SVC, JitterSet, Preprocessor, VirtualSVC, load, save
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.preprocess import STEPS, parse_step, sliding, split_steps, written
from tests import naive
from tests.cases import all_cases

FEATURES = [name for name, step in STEPS.items() if step.features]


def blots(n, *shape, seed=0):
    """Random images with ink inside and a background of 0."""
    rng = np.random.default_rng(seed)
    images = rng.random((n, *shape)).astype(np.float32)
    images[rng.random((n, *shape)) < 0.4] = 0
    if min(shape[:2]) > 4:
        images[:, [0, -1]] = images[:, :, [0, -1]] = 0
    return images


FIELDS = [
    {"cells": 3},
    {"cells": 4, "directions": 9, "smoothing": 0, "power": 1, "signed": 0},
    {"cells": 5, "smoothing": 0.8, "power": 1.5, "block": 2, "shared": 0},
    {"cells": 2, "directions": 5, "margin": 3, "sobel": 0},
    {"cells": 4, "smoothing": 0, "block": 4, "margin": 1, "signed": 0, "shared": 0, "sobel": 0},
]


@pytest.mark.parametrize("fields", FIELDS)
@pytest.mark.parametrize(("shape", "seed"), [((8, 8), 0), ((16, 11), 1), ((9, 20), 2)])
def test_gradients_are_those_of_the_obvious_sums(shape, seed, fields):
    images = blots(3, *shape, seed=seed)
    step = "gradients:" + ",".join(f"{name}={value}" for name, value in fields.items())
    expected = [naive.gradient_histograms(image, **fields) for image in images]
    np.testing.assert_allclose(Preprocessor(step).fit_transform(images), expected, rtol=1e-4, atol=1e-5)


GRIDS = [((24, 24), 6, 9, 3), ((30, 20), 5, 8, 1), ((16, 16), 4, 12, 2), ((33, 22), 11, 6, 2)]


@pytest.mark.parametrize(("shape", "cells", "directions", "block"), GRIDS)
@pytest.mark.parametrize("seed", [0, 1])
def test_gradients_are_those_of_scikit_image_where_settings_coincide(shape, cells, directions, block, seed):
    images = np.random.default_rng(seed).random((5, *shape)).astype(np.float32)
    step = f"gradients:{cells},directions={directions},smoothing=0,power=1,block={block},signed=0,sobel=0,shared=0"
    sides = tuple(side // cells for side in shape)
    theirs = [hog(image.astype(float), directions, sides, (block, block), block_norm="L2") for image in images]
    np.testing.assert_allclose(Preprocessor(step).fit_transform(images), theirs, atol=1e-5)


SLIDING = [
    (9, ["gradients:3", "unit-norm"]),
    (12, ["gradients:4,directions=9,smoothing=0,power=1,block=2,signed=0,sobel=0,shared=0"]),
    (10, ["gradients:7,directions=7,smoothing=0.9,power=0.7,signed=0"]),
    (3, ["gradients:2,directions=3,power=1"]),
    (2, ["gradients:2"]),
    (9, ["gradients:3,margin=2", "unit-norm"]),
    (9, ["gradients:3,directions=5+0.5*patterns:2", "unit-norm"]),
    (9, ["patterns:2"]),
    (9, ["smooth:0.6", "gradients:3"]),
    (8, ["gradients:3", "zscore", "pca:5"]),
    (8, ["crop:1", "standardise"]),
    (8, []),
]


@pytest.mark.parametrize(("side", "steps"), SLIDING, ids=str)
def test_windows_of_a_picture_are_those_that_were_cut_out(side, steps):
    level = np.rint(255 * blots(1, 37, 45)[0]).astype(np.uint8)
    level[:12, :20] = 77  # without any edge
    y, x = np.mgrid[: 37 - side + 1 : 3, : 45 - side + 1 : 2].reshape(2, -1)
    y, x = (np.append(one, rng) for one, rng in zip((y, x), np.random.default_rng(1).integers(0, 37 - side, (2, 40))))
    windows = sliding.cut(level, y, x, side)
    step = Preprocessor(*steps, image_shape=(side, side)).fit(windows)
    expected = step.transform(windows)
    made = step.windows(level, side)
    np.testing.assert_allclose(made(y, x), expected, rtol=1e-4, atol=2e-5 * np.abs(expected).max())
    assert made(y[:0], x[:0]).shape == (0, expected.shape[1])
    if "pca" not in str(steps):
        np.testing.assert_allclose(made(y[[-1]], x[[-1]]), expected[[-1]], atol=2e-5 * np.abs(expected).max())


def test_windows_of_a_picture_are_the_obvious_sums():
    level = np.rint(255 * blots(1, 20, 24, seed=3)[0]).astype(np.uint8)
    y, x = np.array([0, 3, 9, 9]), np.array([0, 14, 2, 13])
    made = Preprocessor("gradients:3,power=1").windows(level, 10)(y, x)
    expected = [naive.gradient_histograms(one, cells=3, power=1) for one in sliding.cut(level, y, x, 10)]
    np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-5 * np.max(expected))


def test_a_pixel_of_a_picture_has_its_gradient_found_once(monkeypatch):
    level, rows = np.zeros((300, 900), np.uint8), []
    monkeypatch.setattr(sliding, "_slopes", lambda *arguments: rows.extend(range(*arguments[5:7])))
    made = Preprocessor("gradients:3").windows(level, 10)
    for y in range(0, 290, 2):
        made(np.full(3, y), np.arange(3))
    assert len(set(rows)) == len(rows)
    assert set(range(300)) <= set(rows)


def test_windows_that_the_cells_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="cells of 1 to 4"):
        Preprocessor("gradients:5").windows(np.zeros((9, 9), np.uint8), 4)
    with pytest.raises(ValueError, match="do not match image_shape"):
        Preprocessor("gradients:3", image_shape=(8, 8)).windows(np.zeros((9, 9), np.uint8), 6)


def test_gradients_of_colours_are_those_of_the_channel_that_changes_most():
    grey = blots(4, 12, 12)
    colours = np.stack([0.5 * grey, grey, np.zeros_like(grey)], axis=3)
    step = Preprocessor("gradients:4")
    np.testing.assert_array_equal(step.transform(colours), step.transform(grey))


def test_opposite_gradients_are_told_apart_or_not():
    images = blots(4, 16, 16)
    for signed in (0, 1):
        step = Preprocessor(f"gradients:4,signed={signed}")
        dark, light = step.transform(images), step.transform(1 - images)
        assert np.allclose(dark, light, atol=1e-4) == (not signed)


def test_a_margin_shows_the_edges_at_the_border():
    bright = np.ones((1, 8, 8), np.float32)
    bright[0, 4, 4] = 0  # what is not flat has a background
    framed = np.pad(1 - bright, ((0, 0), (2, 2), (2, 2)))
    of_margin = Preprocessor("gradients:4,margin=2").transform(1 - bright)
    np.testing.assert_allclose(of_margin, Preprocessor("gradients:4").transform(framed), atol=1e-6)


@pytest.mark.parametrize(("shape", "cells"), [((12, 12), 3), ((17, 9), 2)])
def test_patterns_are_those_of_scikit_image(shape, cells):
    greys = np.random.default_rng(0).integers(0, 256, (4, *shape)).astype(np.uint8)
    made = Preprocessor(f"patterns:{cells},points=8,radius=1").transform(greys).reshape(4, cells, cells, 10)
    for image, features in zip(greys, made):
        span = int(image.max()) - int(image.min())
        codes = local_binary_pattern(
            ((image - image.min()) * (65535 / span)).round().astype(np.uint16), 8, 1, "uniform"
        )
        rows, columns = (np.rint(np.arange(cells + 1) * side / cells).astype(int) for side in shape)
        for a, b in np.ndindex(cells, cells):
            cell = codes[rows[a] : rows[a + 1], columns[b] : columns[b + 1]]
            np.testing.assert_allclose(features[a, b], np.bincount(cell.astype(int).ravel(), minlength=10) / cell.size)


def test_colours_are_counted_in_boxes_of_lab():
    images = np.random.default_rng(0).random((3, 8, 6, 3)).astype(np.float32)
    made = Preprocessor("colours:2,levels=3").transform(images).reshape(3, 2, 2, 27)
    for image, features in zip(images, made):
        cell = rgb2lab(image)[4:, :3].reshape(-1, 3)
        bounds = [[-np.inf, 100 / 3, 200 / 3, np.inf], *2 * [[-np.inf, -100 / 3, 100 / 3, np.inf]]]
        counted, _ = np.histogramdd(cell, bounds)
        np.testing.assert_allclose(features[1, 0], counted.ravel() / len(cell), atol=1e-6)


@pytest.mark.parametrize("whiten", [0, 1])
def test_components_are_those_of_scikit_learn_on_the_training_examples(whiten):
    rng = np.random.default_rng(0)
    X, other = (rng.random((n, 12)).astype(np.float32) @ rng.random((12, 12)).astype(np.float32) for n in (60, 9))
    step = Preprocessor(f"pca:5,whiten={whiten}").fit(X)
    expected = PCA(5, whiten=bool(whiten), random_state=0).fit(X).transform(other)
    np.testing.assert_allclose(step.transform(other), expected, atol=1e-4)
    copy = Preprocessor.from_dict(step.to_dict())
    np.testing.assert_array_equal(copy.transform(other), step.transform(other))


def test_all_components_describe_the_examples():
    X = blots(50, 4, 5)
    step = Preprocessor("pca:20").fit(X)
    np.testing.assert_allclose(step.pictures(step.transform(X), (4, 5)), X, atol=1e-5)


def test_a_constant_direction_is_not_whitened_to_noise():
    X = np.random.default_rng(0).random((30, 3)).astype(np.float32)
    X = np.column_stack([X, X[:, 0]])  # the fourth component has no deviation
    assert np.abs(Preprocessor("pca:4,whiten=1").fit_transform(X)[:, 3]).max() < 1e-3


def test_features_side_by_side_have_their_weights():
    images = blots(6, 16, 16)
    first, second = (Preprocessor(name, "unit-norm").transform(images) for name in ("gradients:4", "patterns:2"))
    both = Preprocessor("gradients:4+0.5*patterns:2").transform(images)
    np.testing.assert_allclose(both, np.concatenate([first, 0.5 * second], axis=1), atol=1e-6)
    np.testing.assert_allclose(both @ both.T, first @ first.T + 0.25 * second @ second.T, atol=1e-5)


TEXTS = [
    ["gradients:3,power=1,block=2", "unit-norm"],
    ["smooth:0.6", "gradients", "pca:40"],
    ["gradients:7,block=2+0.5*patterns:4,points=12", "pca:9,whiten=1"],
    ["unit-norm"],
]


@pytest.mark.parametrize("steps", TEXTS)
def test_texts_of_steps_come_back_from_an_address(steps):
    assert split_steps(",".join(steps)) == steps
    recipe = Recipe(preprocess=tuple(steps))
    assert Recipe().with_text("preprocess", recipe.texts()["preprocess"]) == recipe


@all_cases("name", [name for name, step in STEPS.items() if step.parameters])
def test_a_step_is_written_as_it_is_read(name):
    usual = [wanted.default for wanted in STEPS[name].parameters]
    assert parse_step(written(name, usual)).values == tuple(usual)
    other = [wanted.low for wanted in STEPS[name].parameters]
    assert parse_step(written(name, other)).values == tuple(other)


REFUSED = [
    (
        ["gradients:17"],
        "cells = 17 per side, but the shorter side of images of 16 x 16 has 16 pixels; allowed: cells of 1",
    ),
    (["gradients:4,block=5"], "block = 5 cells per side, but the grid has 4; allowed: 0 (no blocks) to 4"),
    (["gradients:4.5"], "cells, the number of cells per side, must be a whole number from 1 to 64"),
    (["gradients:4,colour=1"], "has no parameter 'colour'; allowed: cells=7, directions=8"),
    (["gradients:4,power"], "has no parameter 'power'"),
    (["smooth:=3"], "has no parameter '=3'; allowed: smooth:0.75"),
    (
        ["gradients:4", "deslant"],
        "'deslant' needs images, but it gets the features of 'gradients:4'; allowed: 'deslant'",
    ),
    (
        ["gradients:4", "colours:2"],
        "'colours:2' needs images, but it gets the features of 'gradients:4'; allowed: 'gradients:4+colours:2'",
    ),
    (
        ["colours"],
        "images of shape 16 x 16 x 1 do not have three channels; allowed: colour pictures (height, width, 3)",
    ),
    (["patterns:20"], "'patterns': cells = 20 per side"),
    (["pca:30"], "components = 30, but there are 20 training examples of 256 features; allowed: at most 20"),
    (
        ["gradients:4+pca:3"],
        "'pca:3' does not make features of a single picture; allowed with +: gradients, patterns, co",
    ),
    (
        ["gradients:16,directions=36,block=8"],
        "makes 186,624 features of an image of 16 x 16; allowed: up to 65,536, with",
    ),
    (["0*gradients:4+patterns"], "a weight must be a number above 0, up to 100"),
]


@pytest.mark.parametrize(("steps", "says"), REFUSED)
def test_what_cannot_be_is_refused_in_one_sentence(steps, says):
    with pytest.raises(ValueError, match=re.escape(says)) as raised:
        Preprocessor(*steps).fit(blots(20, 16, 16))
    assert "\n" not in str(raised.value)


def test_whole_greys_are_sent_to_scale01_before_colours():
    greys = np.full((4, 8, 8, 3), 200.0)
    with pytest.raises(ValueError, match="values up to 200; allowed: 0 to 1, with scale01 before it"):
        Preprocessor("colours").transform(greys)
    assert Preprocessor("scale01", "colours").fit_transform(greys).max() == 1


def test_a_table_has_no_gradients():
    with pytest.raises(ValueError, match="'gradients' needs images, but X has shape"):
        Preprocessor("gradients:2").transform(np.zeros((3, 16)))


@pytest.mark.parametrize("grey", [0.0, 0.3, -7.0, 1e15])
@pytest.mark.parametrize(
    "step", ["gradients:3", "gradients:3,block=2,margin=2", "patterns:3", "gradients:3+patterns:3"]
)
def test_a_constant_picture_has_finite_features_and_a_drawing(step, grey):
    images = np.full((3, 9, 9), grey, np.float32)
    pipe = Preprocessor(step, "unit-norm")
    assert np.isfinite(pipe.transform(images)).all()
    assert all(np.isfinite(drawn).all() for _, drawn in pipe.stages(images))
    if step.startswith("gradients") and "+" not in step:
        assert not pipe.transform(images).any()


def test_a_picture_of_one_pixel_has_one_cell():
    one = np.ones((2, 1, 1), np.float32)
    assert Preprocessor("gradients:1").transform(one).shape == (2, 8)
    assert Preprocessor("patterns:1").transform(one).shape == (2, 10)
    with pytest.raises(ValueError, match="images of 1 x 1 has 1 pixel; allowed: cells of 1 to 1"):
        Preprocessor("gradients").transform(one)


@pytest.mark.parametrize("image", ["down", "right"])
def test_a_rose_points_to_where_it_becomes_lighter(image):
    ramp = np.tile(np.arange(12, dtype=np.float32), (12, 1))
    ramp = ramp.T if image == "down" else ramp
    ((_, drawn),) = Preprocessor("gradients:3").stages(ramp[None])
    cell = drawn[0].reshape(3, 39, 3, 39)[1, :, 1]
    half = cell[20:].sum() - cell[:19].sum(), cell[:, 20:].sum() - cell[:, :19].sum()
    assert half[0 if image == "down" else 1] > 5
    assert abs(half[1 if image == "down" else 0]) < 1


def test_virtual_examples_are_features_of_jittered_pictures(tmp_path):
    """784 features of 784 pixels, so that nothing but their values tells that no shift moves them."""
    images = blots(60, 28, 28)
    y = np.arange(60) % 2
    prepare = Preprocessor("gradients:7,directions=16", "unit-norm")
    machine = VirtualSVC(SVC(RBF(2.0), C=10), jitters="box:1", prepare=prepare).fit(images, y).machine_
    assert machine.support_vectors.shape[1] == 784
    at = int(np.flatnonzero(machine.jitter)[0])
    forms = JitterSet.parse(machine.meta["jitters"], (28, 28)).apply(images.reshape(60, -1))
    expected = machine.prepare.transform(forms[machine.jitter[at], machine.parent[at]][None])
    np.testing.assert_allclose(machine.support_vectors[at], expected[0], atol=1e-6)
    save(machine, tmp_path / "machine.npz")
    np.testing.assert_array_equal(load(tmp_path / "machine.npz").predict(images), machine.predict(images))


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"method": "jsv"}, "jsv can repeat after a jitter, so not gradients:7; method vsv jitters before such steps"),
        ({"method": "tangent"}, "method tangent can repeat after a jitter, so not gradients:7"),
        (
            {"kernel": {"name": "local-poly", "image_shape": [28, 28]}},
            "kernel = 'local-poly'; allowed: one without image neighbourhoods",
        ),
    ],
)
def test_what_needs_pixels_refuses_features_by_name(changes, says):
    with pytest.raises(RecipeError, match=re.escape(says)):
        Recipe(preprocess=("gradients:7", "unit-norm")).replace(**changes)
