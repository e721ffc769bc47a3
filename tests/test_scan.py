"""Laws of the dense scan: every window is looked at once, prepared as in training, and scored as the machine does."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from scipy.ndimage import gaussian_filter

from svmcore import RBF, SVC, Linear, Poly
from svmcore.detection.discard import averages, fit_discard
from svmcore.detection.pyramid import pyramid, resized, within
from svmcore.detection.scan import Scorer, cut, scan
from svmcore.lab.finders.scanned import quick_look
from svmcore.lab.presets import RECIPES
from svmcore.preprocess import Preprocessor
from svmcore.preprocess.window import oval

OSUNA = ("brightness-plane", "oval-mask", "equalise", "unit-norm")
OBJECTS = ((30, 20, 68, 58), (90, 70, 114, 94))


def blob(n, rng):
    """A bright disc with two dark spots, about in the middle, on noise: (n, 19, 19) uint8."""
    images = np.empty((n, 19, 19))
    for image in images:
        scale, dy, dx = rng.uniform(0.9, 1.1), *rng.uniform(-0.06, 0.06, 2)
        y, x = (np.mgrid[:19, :19] / 18 - 0.5 + np.array([dy, dx])[:, None, None]) * scale
        image[:] = 60 + 130.0 * ((y / 0.5) ** 2 + (x / 0.42) ** 2 < 1)
        for cx in (-0.18, 0.18):
            image -= 110 * (((y + 0.1) / 0.12) ** 2 + ((x - cx) / 0.12) ** 2 < 1)
    return np.clip(images + rng.normal(scale=12, size=images.shape), 0, 255).astype(np.uint8)


def noise(n, rng, side=19):
    """Rough texture, (n, side, side) uint8."""
    rough = rng.uniform(0, 255, (n, side, side))
    return ((rough + np.roll(rough, 1, 1) + np.roll(rough, 1, 2)) / 3).astype(np.uint8)


@pytest.fixture(scope="module")
def chips():
    rng = np.random.default_rng(0)
    return np.concatenate([blob(80, rng), noise(160, rng)]), np.repeat([1, -1], [80, 160])


def machine_of(chips, kernel=Poly(2, 1.0, 1.0), steps=OSUNA):  # noqa: B008  (frozen)
    X, y = chips
    prepare = Preprocessor(*steps)
    return replace(SVC(kernel, C=10.0).fit(prepare.fit_transform(X), y).machine_, prepare=prepare)


@pytest.fixture(scope="module")
def machine(chips):
    return machine_of(chips)


@pytest.fixture(scope="module")
def picture():
    """Noise with two objects."""
    rng = np.random.default_rng(5)
    picture = noise(1, rng, 130)[0]
    for x, y, right, below in OBJECTS:
        side = right - x
        picture[y:below, x:right] = resized(blob(1, rng)[0], (side, side)).image
    return picture


def naive_scan(picture, machine, stride, step, enlarge):
    """Window after window: boxes, f and chips of all of them."""
    found = []
    for level in pyramid(picture, side=19, step=step, enlarge=enlarge):
        h, w = level.image.shape
        dy, dx = picture.shape[0] / h, picture.shape[1] / w
        for y in range(0, h - 18, stride):
            for x in range(0, w - 18, stride):
                chip = level.image[y : y + 19, x : x + 19]
                found.append(((x * dx, y * dy, (x + 19) * dx, (y + 19) * dy), chip))
    boxes, chips = (np.array(part) for part in zip(*found))
    return boxes, machine.decision_function(chips)[:, 0], chips


@pytest.mark.parametrize(
    ("kernel", "steps"),
    [
        (Poly(2, 1.0, 1.0), OSUNA),
        (Poly(2, 1.0, 1.0), OSUNA[:3]),
        (Linear(), ("standardise",)),
        (RBF(0.5), OSUNA),
        (Poly(2, 1.0, 1.0), ("crop:2", "unit-norm")),
        (Poly(2, 1.0, 1.0), ("gradients:5", "unit-norm")),
        (RBF(0.5), ("gradients:4+patterns:3", "pca:20")),
    ],
    ids=str,
)
def test_a_scan_is_every_window_prepared_and_scored(chips, picture, kernel, steps):
    machine = machine_of(chips, kernel, steps)
    picture = picture[:60, :75]
    boxes, f, windows = naive_scan(picture, machine, 3, 1.3, 1.1)
    found = scan(picture, machine, stride=3, step=1.3, enlarge=1.1, threshold=-np.inf)
    assert found.looked == len(f) == len(found.f)
    assert found.discarded == 0
    np.testing.assert_allclose(found.boxes, boxes)
    np.testing.assert_array_equal(found.chips, windows)
    np.testing.assert_allclose(found.f, f, atol=1e-4)
    cutoff = float(np.median(f)) + 1e-3
    some = scan(picture, machine, stride=3, step=1.3, enlarge=1.1, threshold=cutoff)
    np.testing.assert_array_equal(some.f, found.f[found.f >= cutoff])
    np.testing.assert_array_equal(some.boxes, found.boxes[found.f >= cutoff])


def test_the_surest_windows_can_be_asked_for_alone(machine, picture):
    everything = scan(picture, machine, threshold=-np.inf)
    assert everything.looked > 3000
    for most in (1, 100, 3000):
        few = scan(picture, machine, threshold=-np.inf, most=most)
        kept = np.sort(np.argsort(-everything.f, kind="stable")[:most])
        np.testing.assert_array_equal(few.f, everything.f[kept])
        np.testing.assert_array_equal(few.chips, everything.chips[kept])
        assert few.looked == everything.looked


def test_windows_are_prepared_in_place_as_the_steps_prepare_them(chips, machine, picture):
    rng = np.random.default_rng(2)
    ys, xs = rng.integers(0, 130 - 18, (2, 500))
    picture = picture.copy()
    picture[:40, :40] = 77  # flat windows too
    for steps in (OSUNA, OSUNA[:3]):
        made = Scorer(machine_of(chips, steps=steps), 19).windows(picture)(ys, xs)
        expected = Preprocessor(*steps).transform(cut(picture, ys, xs, 19))
        np.testing.assert_allclose(made, expected, atol=1e-6)
    bare = Scorer(machine_of(chips, steps=OSUNA[:3]), 19).windows(picture)(ys, xs)
    np.testing.assert_array_equal(bare, Preprocessor(*OSUNA[:3]).transform(cut(picture, ys, xs, 19)))
    assert bare.shape[1] == oval(19, 19).sum()


@pytest.mark.parametrize("quickly", [False, True])
def test_objects_are_found_where_they_are(chips, machine, picture, quickly):
    found = scan(picture, machine, threshold=0.3, discard=fit_discard(*chips, lost=0.02) if quickly else None)
    for box in OBJECTS:
        centre = np.array([(box[0] + box[2]) / 2, (box[1] + box[3]) / 2])
        near = np.abs((found.boxes[:, :2] + found.boxes[:, 2:]) / 2 - centre).max(axis=1) < 6
        assert near.any()
        best = found.boxes[near][found.f[near].argmax()]
        assert (best[2] - best[0]) / (box[2] - box[0]) == pytest.approx(1, abs=0.25)


def test_a_quick_look_leaves_the_windows_that_pass_as_they_were(chips, machine, picture):
    X, y = chips
    quick = fit_discard(X, y, lost=0.05)
    assert quick.lost <= 0.05
    whole, less = (scan(picture, machine, threshold=-np.inf, discard=d) for d in (None, quick))
    assert less.looked == whole.looked
    assert less.discarded == whole.looked - len(less.f) > 0.5 * whole.looked
    rows = {tuple(box) for box in less.boxes}
    kept = np.array([tuple(box) in rows for box in whole.boxes])
    np.testing.assert_allclose(whole.f[kept], less.f, atol=1e-5)


def test_the_share_lost_is_that_of_objects_not_fitted_to(chips):
    X, y = chips
    strict, lax = fit_discard(X, y, lost=0.0), fit_discard(X, y, lost=0.25)
    assert strict.lost == 0
    assert 0 < lax.lost <= 0.25
    assert strict.threshold < lax.threshold
    tall, corners = X.reshape(-1, 19), 19 * np.arange(len(X))
    passed = strict.passes(averages(tall, 3), corners, np.zeros_like(corners))
    assert passed[1:80:2].all()  # every other object was held out
    lit = np.clip(X.astype(int) // 2 + np.arange(19)[:, None], 0, 255).astype(
        np.uint8
    )  # light and contrast do not count
    again = strict.passes(averages(lit.reshape(-1, 19), 3), corners, np.zeros_like(corners))
    assert (passed == again).mean() > 0.97


def test_forms_of_a_held_out_object_are_held_out():
    """Objects that have nothing in common but their smoothness, and eight shifts of each: with a twin of every one
    among the examples of the fit, the threshold would lose four in ten of new ones."""

    def textures(n, rng):
        rough = gaussian_filter(rng.normal(size=(n, 19, 19)), (0, 1.5, 1.5))
        return np.clip(128 + rough / rough.std() * 40, 0, 255).astype(np.uint8)

    recipe = RECIPES["faces-lfw"].replace(jitters="box:1@edge", lost=0.1)
    lost = []
    for n in (61, 80, 83):
        rng = np.random.default_rng(n)
        X = np.concatenate([textures(n, rng), rng.integers(0, 255, (300, 19, 19), dtype=np.uint8)])
        found = quick_look(recipe, X, np.repeat([1, -1], [n, 300]))
        assert 0.09 < found.lost <= 0.1
        new = textures(400, rng).reshape(-1, 19)
        lost.append(1 - found.passes(averages(new, 3), 19 * np.arange(400), np.zeros(400, int)).mean())
    assert max(lost) < 0.3, lost


def test_block_means_are_means_of_blocks(picture):
    small = picture[:11, :14]
    found = averages(small, 3)
    assert found.shape == (9, 12)
    for y in range(9):
        for x in range(12):
            assert found[y, x] == pytest.approx(small[y : y + 3, x : x + 3].mean(), rel=1e-6)


def test_levels_shrink_by_the_step_and_cover_the_picture(picture):
    levels = list(pyramid(picture, side=19, step=1.2, enlarge=1.25))
    widths = [level.image.shape[1] for level in levels]
    assert widths[0] == round(130 * 1.25)
    np.testing.assert_allclose(np.array(widths[:-1]) / widths[1:], 1.2, rtol=0.05)
    assert 19 <= widths[-1] < 19 * 1.2 + 1
    for level in levels:
        assert level.image.shape[0] * level.dy == pytest.approx(130)
    assert list(pyramid(np.zeros((10, 400), np.uint8), side=19)) == []


@pytest.mark.parametrize("shape", [(163, 150), (80, 131), (20, 33), (1, 1)])
def test_pictures_are_resized_as_pillow_does(picture, shape):
    expected = np.asarray(Image.fromarray(picture).resize(shape[::-1], Image.Resampling.BILINEAR)).astype(int)
    assert np.abs(resized(picture, shape).image - expected).max() <= 1
    assert resized(picture, picture.shape).image.tolist() == picture.tolist()
    assert within(picture, 65).shape == (65, 65)
    assert within(picture, 130) is picture


def test_a_scan_can_be_stopped_and_asks_often(machine, picture):
    class Stop(Exception):
        pass

    asked = []

    def check():
        asked.append(None)
        if len(asked) == 3:
            raise Stop

    large = np.tile(picture, (3, 3))
    with pytest.raises(Stop):
        scan(large, machine, check=check)
    assert len(asked) == 3


def test_a_scan_tells_how_many_windows_are_settled_and_of_how_many(machine, picture):
    told = []
    large = np.tile(picture, (3, 3))
    found = scan(large, machine, stride=1, tell=lambda *now: told.append(now))
    settled = [looked for looked, _ in told]
    assert len(told) > 2
    assert settled == sorted(set(settled))
    assert {of for _, of in told} == {found.looked} == {settled[-1]}


@pytest.mark.parametrize("picture", [np.zeros((5, 300), np.uint8), np.full((60, 60), 9, np.uint8)])
def test_pictures_without_anything_in_them_give_what_there_is(machine, picture):
    found = scan(picture, machine, threshold=np.inf)
    assert found.boxes.shape == (0, 4)
    assert found.chips.shape == (0, 19, 19)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"stride": 0}, "stride = 0; allowed"),
        ({"step": 1.0}, "step = 1.0; allowed"),
        ({"enlarge": 0}, "enlarge = 0; allowed"),
        ({"side": 25}, "side = 25"),
        ({"picture": np.zeros((40, 40))}, "picture: float64"),
    ],
)
def test_settings_that_cannot_be_are_named(machine, picture, change, says):
    with pytest.raises(ValueError, match=says):
        scan(change.pop("picture", picture), machine, **change)
