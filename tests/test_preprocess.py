"""Laws of svmcore.preprocess: each step does what its name says, on any shape, and pipelines compose."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from svmcore.preprocess import STEPS, Preprocessor, as_images, background, usage
from tests.cases import all_cases


def strokes(n=6, h=20, w=17, c=None, seed=0):
    """Slanted uint8 bars on an empty ground, (n, h, w[, c])."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:h, :w]
    slope = rng.uniform(-0.6, 0.6, n)[:, None, None]
    images = 200.0 * np.exp(-0.5 * (x - w / 2 - slope * (y - h / 2)) ** 2) * (abs(y - h / 2) < 6)
    return (images if c is None else np.repeat(images[..., None], c, axis=3)).astype(np.uint8)


def slant(image):
    """Covariance of row and column of the ink, over the variance of its rows."""
    y, x = np.mgrid[: image.shape[0], : image.shape[1]]
    m = image / image.sum()
    dy, dx = y - (m * y).sum(), x - (m * x).sum()
    return (m * dy * dx).sum() / (m * dy * dy).sum()


def naive_deslant(image):
    """Row by row with np.interp, for a light image on a ground of 0."""
    image = image.astype(float)
    h, w = image.shape
    centre = (image.sum(axis=1) * np.arange(h)).sum() / image.sum()
    padded = np.arange(-1, w + 1)
    shift = slant(image)
    return np.array(
        [np.interp(np.arange(w) + shift * (r - centre), padded, np.r_[0, row, 0]) for r, row in enumerate(image)]
    )


def test_deslanting_stands_strokes_up():
    images = strokes()
    upright = Preprocessor("deslant").transform(images).reshape(images.shape)
    for before, after in zip(images, upright):
        assert abs(slant(after)) < 0.03 < abs(slant(before))
        np.testing.assert_allclose(after, naive_deslant(before), atol=1e-3)


def test_deslanting_by_whole_pixels_is_a_rotation_row_by_row():
    images = strokes()
    rows = Preprocessor("deslant-pixels").transform(images).reshape(images.shape)
    for before, after in zip(images, rows, strict=True):
        y, x = np.mgrid[: before.shape[0], : before.shape[1]]
        ink = np.average(np.stack([y, x]).reshape(2, -1), axis=1, weights=before.ravel())
        _, axes = np.linalg.eigh(
            np.cov(np.stack([y, x]).reshape(2, -1) - ink[:, None], aweights=before.ravel() + 1e-12)
        )
        _, right = axes[:, 1] * np.sign(axes[0, 1])  # the principal axis, downwards, of length 1
        for row in range(before.shape[0]):
            shift = int(np.floor((row - (before.shape[0] - 1) / 2) * right + 0.5))
            moved = np.roll(before[row], -shift)
            moved[slice(-shift, None) if shift > 0 else slice(0, -shift)] = 0
            np.testing.assert_array_equal(after[row], moved)


def test_deslanting_ignores_how_grey_is_written():
    images = strokes()
    plain = Preprocessor("deslant").transform(images)
    np.testing.assert_allclose(Preprocessor("deslant").transform(255 - images), 255 - plain, atol=1e-3)
    np.testing.assert_allclose(Preprocessor("deslant").transform(images / 100.0 - 1), plain / 100 - 1, atol=1e-5)
    rgb = Preprocessor("deslant").transform(strokes(c=3)).reshape(*images.shape, 3)
    np.testing.assert_allclose(rgb, np.repeat(plain.reshape(images.shape)[..., None], 3, axis=3), atol=1e-3)


def test_empty_and_flat_images_stay_as_they_are():
    images = np.zeros((2, 9, 9), np.float32)
    images[1, 4, 2:7] = 1
    for step in ("deslant", "unit-norm", "standardise", "smooth:0.75", "scale01"):
        assert np.isfinite(Preprocessor(step).fit_transform(images)).all()
    np.testing.assert_array_equal(Preprocessor("deslant").transform(images), images.reshape(2, -1))


def test_background_is_the_extreme_that_the_border_is_near():
    images = as_images(strokes(c=3))
    assert (background(images) == 0).all()
    assert (background(250 - images) == 250).all()


def test_the_background_of_colours_is_dark_or_light_in_all_channels():
    """Of a picture whose border is light in red and dark in blue, it is no orange that the picture does not have."""
    images = np.random.default_rng(0).random((40, 9, 7, 3)).astype(np.float32)
    images[:, 0] += [0.8, 0.3, -0.9]
    low, high = images.min(axis=(1, 2)), images.max(axis=(1, 2))
    found = background(images)
    dark, light = (found == low).all(axis=1), (found == high).all(axis=1)
    assert (dark ^ light).all()
    assert dark.any()
    assert light.any()
    grey = images.mean(axis=3, keepdims=True)
    np.testing.assert_array_equal(background(grey.repeat(3, axis=3)), background(grey).repeat(3, axis=1))
    np.testing.assert_array_equal(background(images[..., [2, 0, 1]]), found[:, [2, 0, 1]])


def test_unit_norm_and_standardise_per_example():
    images = strokes(c=3)
    unit = Preprocessor("unit-norm").transform(images)
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-6)
    standard = Preprocessor("standardise").transform(images)
    np.testing.assert_allclose(standard.mean(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(standard.std(axis=1), 1, rtol=1e-6)


def test_steps_that_learn_use_the_training_set_only():
    train, test = np.array([[0.0, -1.0], [4.0, -1.0]]), np.array([[8.0, 0.0]])
    np.testing.assert_allclose(Preprocessor("zscore").fit(train).transform(test), [[3, 1]])
    np.testing.assert_allclose(Preprocessor("scale01").fit(train).transform(test), [[1.8, 0.2]])
    assert Preprocessor("scale01").fit_transform(strokes()).max() == 1
    with pytest.raises(NotFittedError):
        Preprocessor("scale01").transform(test)


def test_features_are_standardised_however_large_or_small_they_are():
    features = np.random.default_rng(0).normal(size=(50, 3)).astype(np.float32)
    there = features * np.float32([1e30, 1, 1e-25])
    np.testing.assert_allclose(Preprocessor("zscore").fit_transform(there), plain := _standard(features), atol=1e-4)
    np.testing.assert_allclose(Preprocessor("zscore").fit_transform(features), plain, atol=1e-4)
    assert not Preprocessor("zscore").fit_transform(np.ones((4, 2), np.float32)).any()


@pytest.mark.parametrize(
    ("n", "offset", "spread"),
    [(16_000, 2_460_400, 60), (60, 2_460_400, 60), (20_001, 2_460_400, 4), (100_000, 101_325, 40), (999, 101_325, 0.1),
     (3_000, 1_000, 0.5), (40, -2e5, 3), (500, 1.7e9, 600)],
)  # fmt: skip
def test_a_feature_far_from_the_origin_is_standardised_as_scikit_learn_does_in_double_precision(n, offset, spread):
    """A Julian day, a pressure, Unix seconds: of so many, sums in single precision are wrong in their first digits, and
    a mean in single precision moves all of them by a part of their deviation."""
    rng = np.random.default_rng(n)
    features = np.column_stack([offset + spread * rng.random(n), rng.normal(size=n)]).astype(np.float32)
    expected = StandardScaler().fit_transform(features.astype(np.float64))
    prepare = Preprocessor("zscore").fit(features)
    for fitted in (prepare, Preprocessor.from_dict(prepare.to_dict())):
        np.testing.assert_allclose(fitted.transform(features), expected, atol=2e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n", [2, 7, 400, 20_000])
def test_a_feature_that_is_constant_but_for_rounding_stays_near_0(n, dtype):
    """Sums of 0.1 are no multiples of it; a deviation that is rounding would turn it into +-1, and a new value into
    millions."""
    rng = np.random.default_rng(n)
    constants = [0.1, 0.3, 1 / 3, 101325.1, 2460400.7, -1.7e9, 1e-30, 0]
    features = np.column_stack([*np.tile(constants, (n, 1)).T, 1.7e9 + 600 * rng.random(n)]).astype(dtype)
    features[::2, 1] = np.nextafter(features[0, 1], dtype(1), dtype=dtype) if dtype == np.float64 else features[0, 1]
    new = features.copy()
    new[0, :8] *= dtype(1 + 1e-6)
    theirs = StandardScaler().fit(features.astype(np.float64))
    prepare = Preprocessor("zscore").fit(features)
    for fitted in (prepare, Preprocessor.from_dict(prepare.to_dict())):
        for X in (features, new):
            np.testing.assert_allclose(
                fitted.transform(X), theirs.transform(X.astype(np.float64)), atol=1e-5, rtol=1e-5
            )
    assert np.abs(prepare.transform(features)[:, :8]).max() < 1e-5
    centred = Preprocessor("centre").fit(features).transform(new)
    np.testing.assert_allclose(centred, new - features.mean(axis=0, dtype=np.longdouble), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("step", ["zscore", "centre"])
def test_a_feature_that_loses_differences_in_spite_of_its_mean_is_named(step):
    rng = np.random.default_rng(0)
    features = np.column_stack([rng.random(400), np.where(rng.random(400) < 0.5, 1e6, 0) + 0.01 * rng.random(400)])
    assert len(np.unique(features[:, 1])) == 400
    with pytest.warns(
        UserWarning, match="differences in column 1, even after the mean is subtracted, .* Replace the column by two"
    ):
        prepared = Preprocessor(step).fit_transform(features)
    assert len(np.unique(prepared[:, 1])) < 100
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kept in (features[:, :1], features.astype(np.float32), 1.7e9 + 600 * features[:, :1]):
            Preprocessor(step).fit_transform(kept)


@pytest.mark.parametrize("shape", [(5, 5), (28, 28), (101, 37, 3)])
def test_a_constant_example_is_standardised_to_0_whatever_its_grey(shape):
    images = np.full((4, *shape), np.float32(0.1)) * np.float32([1, 3, 1e5, 1e-9]).reshape(4, *[1] * len(shape))
    assert not Preprocessor("standardise").transform(images).any()
    rows = images.reshape(4, -1).astype(np.float64)
    assert not Preprocessor("standardise").transform(rows * 0.7).any()


def test_machines_stored_with_means_in_single_precision_prepare_as_they_did():
    features = np.random.default_rng(0).normal(1e4, 3, size=(200, 5)).astype(np.float32)
    description = Preprocessor("zscore").fit(features).to_dict()
    mean, deviation = (part.astype(np.float32) for part in description["learned"]["0"].values())
    description["learned"]["0"] = {"0": mean, "1": deviation}
    before = (features - mean.ravel()) / deviation.ravel()
    np.testing.assert_array_equal(Preprocessor.from_dict(description).transform(features), before)


def _standard(features):
    return (features - features.mean(axis=0)) / features.std(axis=0)


def test_smoothing_keeps_the_ink_and_flattens_the_peak():
    images = strokes(w=21)
    smooth = Preprocessor("smooth:0.75").transform(images)
    assert smooth.sum() == pytest.approx(images.sum(), rel=1e-3)
    assert smooth.max() < images.max()


def test_rows_and_images_are_treated_alike():
    images = strokes(c=3)
    steps = ("smooth:1", "deslant", "crop:2", "standardise")
    whole = Preprocessor(*steps).transform(images)
    flat = Preprocessor(*steps, image_shape=images.shape[1:])
    np.testing.assert_array_equal(flat.transform(images.reshape(len(images), -1)), whole)
    assert flat.output_shape(images.shape[1:]) == (16, 13, 3)
    assert whole.shape == (6, 16 * 13 * 3)
    assert whole.dtype == np.float32


def test_stages_and_splitting_compose_to_the_whole():
    images = strokes()
    pipe = Preprocessor("scale01", "deslant", "unit-norm", image_shape=images.shape[1:]).fit(images)
    stages = pipe.stages(images)
    assert [name for name, _ in stages] == ["scale01", "deslant", "unit-norm"]
    assert stages[0][1].shape == images.shape
    np.testing.assert_array_equal(stages[-1][1].reshape(len(images), -1), pipe.transform(images))
    before, after = pipe.split()
    assert (before.steps, after.steps) == (("scale01", "deslant"), ("unit-norm",))
    np.testing.assert_array_equal(after.transform(before.fit_transform(images)), pipe.transform(images))


def test_the_parts_of_a_fitted_preprocessor_are_fitted_as_it_was():
    images = strokes()
    for steps in (("zscore", "deslant", "unit-norm"), ("deslant", "unit-norm", "scale01")):
        pipe = Preprocessor(*steps, image_shape=images.shape[1:]).fit(images)
        before, after = pipe.split()
        few = images[:3]  # on which the steps would learn something else
        np.testing.assert_array_equal(after.transform(before.transform(few)), pipe.transform(few))


def test_is_a_scikit_learn_transformer():
    pipe = Preprocessor("smooth:0.75", "unit-norm", image_shape=(20, 17))
    assert clone(pipe).get_params() == pipe.get_params()
    assert repr(clone(pipe)) == "Preprocessor('smooth:0.75', 'unit-norm', image_shape=(20, 17))"
    X = strokes(n=20).reshape(20, -1)
    assert make_pipeline(pipe, SVC()).fit(X, np.arange(20) % 2).predict(X).shape == (20,)
    assert pipe.set_params(steps=("unit-norm",)).steps == ("unit-norm",)


@pytest.mark.parametrize(
    ("steps", "says"),
    [
        (("sharpen",), "'sharpen' is unknown; allowed: scale01, smooth:0.75"),
        (("smooth:wide",), "'smooth:wide': the width of the Gaussian in pixels must be a number from 0.1 to 10"),
        (("smooth:99",), "from 0.1 to 10"),
        (("unit-norm:2",), "takes no parameter"),
    ],
)
def test_bad_steps_are_named_with_what_is_allowed(steps, says):
    with pytest.raises(ValueError, match=says):
        Preprocessor(*steps)


def test_shapes_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="needs images"):
        Preprocessor("deslant").transform(np.zeros((3, 16)))
    with pytest.raises(ValueError, match="do not match"):
        Preprocessor("deslant", image_shape=(5, 5)).transform(np.zeros((3, 16)))
    with pytest.raises(ValueError, match="removes everything"):
        Preprocessor("crop:2").transform(np.zeros((3, 4, 9)))


COLOURED = {"colours": 3}  # channels that a step needs
SMALL = {name: [usage(name)] for name in STEPS} | {"colours": ["scale01", "colours"], "pca": ["pca:3"]}


@all_cases("name", STEPS)
def test_every_step_keeps_an_empty_batch_empty(name):
    images = strokes(h=8, w=8, c=COLOURED.get(name))
    fitted = Preprocessor(*SMALL[name]).fit(images)
    width = fitted.transform(images).shape[1]
    assert fitted.transform(images[:0]).shape == (0, width)


@all_cases("name", STEPS)
def test_what_a_step_makes_of_an_example_depends_on_no_other_one(name):
    """To the last bit: else a machine's decision would change with the order in which examples are asked."""
    shape = (67, 9, 8, 3) if name in COLOURED else (67, 9, 8)
    images = np.random.default_rng(3).integers(0, 256, shape).astype(np.uint8)
    fitted = Preprocessor(*SMALL[name]).fit(images)
    together = fitted.transform(images)
    np.testing.assert_array_equal(fitted.transform(images[::-1]), together[::-1])
    np.testing.assert_array_equal(np.concatenate([fitted.transform(images[i : i + 1]) for i in range(67)]), together)


PIXELS = [np.nan, np.inf, -np.inf, 1e39, 3e38, -1e300, 1j]


@all_cases("pixel", PIXELS)
@all_cases("steps", [*SMALL.values(), ["standardise", "equalise"], ["deslant", "equalise"]])
def test_images_with_a_pixel_that_steps_cannot_count_on_are_refused(steps, pixel):
    images = strokes(h=8, w=8, c=COLOURED.get(steps[-1])).astype(type(pixel))
    fitted = Preprocessor(*steps).fit(images.real)
    rows, of_rows = images.reshape(len(images), -1), Preprocessor(*steps, image_shape=images.shape[1:])
    of_rows.fit(rows.real)
    images[2, 3, 3] = pixel
    stored = Preprocessor.from_dict(of_rows.to_dict())
    asked = [(of_rows, rows), (stored, rows), (fitted, images), (Preprocessor.from_dict(fitted.to_dict()), images)]
    for prepare, X in asked:
        for use in (prepare.transform, prepare.stages):
            with pytest.raises(ValueError, match=r"pixels|NaN|infinity|Complex"):
                use(X)
    for prepare, X in ((clone(fitted), images), (clone(of_rows), rows)):
        with pytest.raises(ValueError, match=r"pixels|NaN|infinity|Complex"):
            prepare.fit(X)


@all_cases("name", STEPS)
def test_the_largest_pixels_allowed_come_out_as_numbers(name):
    images = strokes(h=8, w=8, c=COLOURED.get(name)) * 1e15 / 200
    assert np.isfinite(Preprocessor(*SMALL[name]).fit_transform(images)).all()
