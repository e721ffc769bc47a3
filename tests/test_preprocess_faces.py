"""Laws of the steps before a face detector: light and contrast go, corners go, and what is said of the ranks holds."""

import numpy as np
import pytest
from scipy.stats import rankdata

from svmcore.preprocess import STEPS, Preprocessor
from svmcore.preprocess.window import bins, oval, oval_mask, unmasked

OSUNA = ("brightness-plane", "oval-mask", "equalise", "unit-norm")


def chips(n=40, h=19, w=19, high=256, seed=0):
    """Rough textures, uint8."""
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, high, (n, h, w)).astype(float)
    return ((coarse + np.roll(coarse, 1, 1) + np.roll(coarse, 1, 2)) / 3).astype(np.uint8)


def applied(step, images):
    """The images after one step, (n, h, w)."""
    images = np.asarray(images)
    shape = Preprocessor(step).output_shape(images.shape[1:])
    return Preprocessor(step).transform(images).reshape(len(images), *shape)


def plane(h, w, a, b, c):
    y, x = np.mgrid[:h, :w]
    return a + b * y + c * x


def test_the_oval_keeps_283_of_361_pixels():
    mask = oval(19, 19)
    assert mask.sum() == 283
    np.testing.assert_array_equal(mask, mask[::-1])
    np.testing.assert_array_equal(mask, mask[:, ::-1])
    assert not mask[0, 0]
    assert mask.any(axis=1).all()
    for row in mask:  # no gaps: the rows are spans
        assert np.abs(np.diff(np.r_[0, row.astype(int), 0])).sum() == 2
    for side in (15, 24, 25):
        assert oval(side, side).mean() == pytest.approx(283 / 361, abs=0.02)


@pytest.mark.parametrize("shape", [(19, 19), (25, 20), (6, 9)])
def test_the_plane_is_the_least_squares_fit_inside_the_oval(shape):
    images = chips(5, *shape)
    mask = oval(*shape)
    columns = np.stack([plane(*shape, 1, 0, 0), plane(*shape, 0, 1, 0), plane(*shape, 0, 0, 1)], axis=-1)
    for image, found in zip(images, applied("brightness-plane", images)):
        fit = np.linalg.lstsq(columns[mask], image[mask].astype(float), rcond=None)[0]
        np.testing.assert_allclose(found, image - columns @ fit, atol=2e-4)


def test_light_from_one_side_makes_no_difference():
    images = chips(high=100).astype(np.float32)
    lit = images + np.float32(plane(19, 19, 20, 3, -2))  # whole greys: nothing is rounded
    np.testing.assert_allclose(applied("brightness-plane", lit), applied("brightness-plane", images), atol=2e-4)
    flat = np.stack([plane(19, 19, 100, 0, 0), plane(19, 19, 7, 2.5, -1.25), np.zeros((19, 19))])
    assert not applied("brightness-plane", flat).any()
    assert not Preprocessor(*OSUNA).transform(flat).any()


def test_taking_the_plane_out_twice_is_taking_it_out_once():
    once = applied("brightness-plane", chips())
    np.testing.assert_allclose(applied("brightness-plane", once), once, atol=2e-4)


def test_equalising_ranks_and_shares_ties():
    images = chips(60, high=40)
    m = 361
    expected = 2 * (rankdata(images.reshape(60, -1), axis=1) - 1) / (m - 1) - 1
    found = applied("equalise", images).reshape(60, -1)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert not applied("equalise", np.full((1, 5, 5), 9)).any()


def test_equalising_ignores_how_grey_is_written():
    images = chips(20, high=200).astype(np.int64)
    rising = np.sort(np.random.default_rng(1).choice(256, 200, replace=False))
    found = applied("equalise", images)
    np.testing.assert_array_equal(applied("equalise", rising[images]), found)
    np.testing.assert_allclose(applied("equalise", images * 0.25 - 3), found, atol=1e-6)
    np.testing.assert_allclose(applied("equalise", 255 - images), -found, atol=1e-6)
    assert (applied("equalise", images // 3) != found).any()  # where greys become one, ranks do change


def test_equalising_twice_is_equalising_once():
    images = np.random.default_rng(3).normal(size=(10, 16, 16))
    once = applied("equalise", images)
    np.testing.assert_allclose(applied("equalise", once), once, atol=1e-6)


def test_ranks_are_off_by_less_than_the_pixels_of_a_bin():
    values = np.random.default_rng(4).exponential(size=(30, 1, 283)).astype(np.float32)
    found = applied("equalise", values).reshape(30, 283)
    exact = rankdata(values.reshape(30, 283), axis=1) - 1
    for row, v, rank in zip(found, values[:, 0], exact):
        own = np.minimum((v - v.min()) * np.float32(bins(283)) / (v.max() - v.min()), bins(283) - 1).astype(int)
        share = np.bincount(own)[own]
        assert (np.abs((row + 1) * 282 / 2 - rank) < np.maximum(share, 1e-3)).all()


def test_the_mask_leaves_283_features_and_stages_show_them_in_place():
    images = chips()
    pipe = Preprocessor(*OSUNA, image_shape=(19, 19))
    X = pipe.transform(images)
    assert X.shape == (40, 283)
    assert pipe.output_shape((19, 19)) == (1, 283)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1, rtol=1e-5)
    shown = dict(pipe.stages(images))
    mask = oval(19, 19)
    for step in OSUNA:
        assert shown[step].shape == (40, 19, 19)
    np.testing.assert_array_equal(shown["unit-norm"][:, mask], X)
    np.testing.assert_array_equal(shown["oval-mask"][:, mask], shown["brightness-plane"][:, mask])
    assert (shown["unit-norm"][:, ~mask] == X.min(axis=1, keepdims=True)).all()
    np.testing.assert_array_equal(pipe.pictures(X, (19, 19)), shown["unit-norm"])
    colour = np.repeat(images[..., None], 3, axis=3).astype(np.float32)
    of_colour = Preprocessor(*OSUNA).pictures(Preprocessor(*OSUNA).transform(colour), (19, 19, 3))
    assert of_colour.shape == (40, 19, 19, 3)
    cropped = Preprocessor("crop:2", *OSUNA)
    assert cropped.pictures(cropped.transform(images), (19, 19)).shape == (40, 15, 15)
    np.testing.assert_array_equal(unmasked(oval_mask(colour), (19, 19, 3))[:, mask], colour[:, mask])


def test_channels_are_treated_one_by_one():
    grey = [chips(6, seed=s) for s in range(3)]
    colour = np.stack(grey, axis=-1)
    for step in OSUNA[:3]:
        together = Preprocessor(step).transform(colour).reshape(6, -1, 3)
        for c in range(3):
            np.testing.assert_array_equal(together[..., c], Preprocessor(step).transform(grey[c]))


def test_jitters_come_before_these_steps():
    before, after = Preprocessor("smooth:0.75", *OSUNA, image_shape=(19, 19)).split()
    assert (before.steps, after.steps) == (("smooth:0.75",), OSUNA)
    assert all(STEPS[step].last for step in OSUNA)
    with pytest.raises(ValueError, match="needs images"):
        Preprocessor("oval-mask").transform(np.zeros((3, 16)))
