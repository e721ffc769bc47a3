"""The matched filter against explicit loops: its template, its response, its peaks, its threshold."""

import numpy as np
import pytest

from svmcore.detection import candidates
from svmcore.detection.candidates import APART, MatchedFilter
from tests import naive
from tests.cases import all_cases


def blobs(rng, n, side):
    """Chips with a bright middle, noise, and brightness and contrast of their own."""
    ramp = np.linspace(-1, 1, side)
    bump = np.exp(-3 * (ramp[:, None] ** 2 + ramp**2))
    gain, level = rng.uniform(20, 90, (2, n, 1, 1))
    return np.clip(level + gain * bump + rng.normal(0, 9, (n, side, side)), 0, 255).astype(np.uint8)


def scene(rng, shape, side, n=6):
    image = rng.normal(90, 12, shape)
    for chip in blobs(rng, n, side):
        y, x = rng.integers(0, np.array(shape) - side)
        image[y : y + side, x : x + side] += chip - 60.0
    return np.clip(image, 0, 240).astype(np.uint8)


@pytest.mark.parametrize("side", [5, 6, 9])
def test_the_template_is_the_mean_of_normalised_chips(side):
    chips = blobs(np.random.default_rng(0), 12, side)
    total = np.zeros(side * side)
    for chip in chips:
        v = chip.ravel().astype(float)
        total += (v - v.mean()) / np.sqrt(((v - v.mean()) ** 2).sum())
    template = MatchedFilter.fit(chips).template
    assert template.ravel() == pytest.approx(total / np.sqrt((total**2).sum()))
    assert template.mean() == pytest.approx(0, abs=1e-12)
    assert MatchedFilter.fit(chips).threshold == -1


@pytest.mark.parametrize("side", [5, 6, 9])
def test_the_response_is_the_correlation_of_every_window(side):
    rng = np.random.default_rng(side)
    image = scene(rng, (31, 26), side)
    image[20:, :12] = 130  # missing pixels: windows without contrast
    filter_ = MatchedFilter.fit(blobs(rng, 9, side))
    expected = naive.correlation(image, filter_.template)
    assert np.isnan(expected).any()
    assert filter_.response(image) == pytest.approx(np.nan_to_num(expected), abs=1e-9)


def test_brightness_and_contrast_do_not_matter():
    rng = np.random.default_rng(3)
    image, filter_ = scene(rng, (40, 40), 7) // 2, MatchedFilter.fit(blobs(rng, 9, 7))
    assert filter_.response(image * 2 + 10) == pytest.approx(filter_.response(image), abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_candidates_are_the_local_maxima(seed):
    rng = np.random.default_rng(seed)
    side = (5, 6, 7)[seed % 3]
    image = scene(rng, (34, 29), side)
    threshold = (-1.0, 0.0, 0.3, 0.6)[seed % 4]
    filter_ = MatchedFilter(MatchedFilter.fit(blobs(rng, 9, side)).template, threshold)
    centres, strength = filter_.peaks(image)
    expected = naive.maxima(naive.correlation(image, filter_.template), APART, threshold)
    assert [tuple(c) for c in centres] == expected
    assert strength == pytest.approx(filter_.response(image)[tuple(np.array(expected).reshape(-1, 2).T)])
    assert (np.diff(strength) <= 0).all()


@pytest.mark.parametrize("side", [5, 6, 9])
def test_no_window_of_a_candidate_reaches_a_gap(side):
    """A place that was never imaged has the sharpest edge of the picture; a dark speckle of 2 x 3 is no such place."""
    rng = np.random.default_rng(side)
    image = np.maximum(scene(rng, (60, 50), side), 1)
    image[:, 30:] += 60
    image[12:40, 22:28] = image[50:, :7] = image[3:5, 8:11] = 0
    filter_ = MatchedFilter.fit(blobs(rng, 9, side))
    clear = naive.correlation(image, filter_.template)
    low, gaps = side // 2, [(y, x) for y in range(58) for x in range(48) if not image[y : y + 3, x : x + 3].any()]
    for y, x in gaps:  # its window begins at y - low, so it holds one of rows y to y + 2 from y - side + low + 1 on
        clear[max(y + low - side + 1, 0) : y + low + 3, max(x + low - side + 1, 0) : x + low + 3] = np.nan
    everywhere, seen = filter_.peaks(image)[0], filter_.peaks(image, blank=0)[0]
    assert [tuple(c) for c in seen] == naive.maxima(clear, APART, filter_.threshold)
    assert 0 < len(seen) < len(everywhere)
    np.testing.assert_array_equal(filter_.peaks(image, blank=255)[0], everywhere)


def test_equal_maxima_next_to_each_other_are_one():
    """A scene repeated with a shift that the maxima's distance covers has plateaus of two equal peaks."""
    template = np.zeros((3, 3))
    template[1, 1] = 8
    template = (template - template.mean()) / np.linalg.norm(template - template.mean())
    image = np.full((20, 20), 50, np.uint8)
    image[5, 5] = image[5, 8] = image[14, 4] = image[14, 8] = 200
    centres, strength = MatchedFilter(template, 0.5).peaks(image)
    assert strength == pytest.approx([1.0] * len(strength))
    assert sorted(map(tuple, centres)) == [(5, 5), (14, 4), (14, 8)]


def test_a_picture_without_contrast_or_too_small_has_no_candidates():
    filter_ = MatchedFilter.fit(blobs(np.random.default_rng(0), 9, 7))
    for image in (np.full((30, 30), 99, np.uint8), np.zeros((5, 30), np.uint8)):
        centres, strength = filter_.peaks(image)
        assert centres.shape == (0, 2)
        assert strength.shape == (0,)


def test_the_candidate_that_set_the_threshold_stays():
    rng = np.random.default_rng(5)
    image, filter_ = scene(rng, (60, 60), 7), MatchedFilter.fit(blobs(rng, 9, 7))
    _, strength = filter_.peaks(image)
    for share in (0.0, 0.1, 0.29, 0.5):
        kept = filter_.missing(strength, share).peaks(image)[1]
        assert len(kept) == len(strength) - int(round(share * len(strength), 6) // 1)


@all_cases("seed", range(20))
def test_no_higher_threshold_misses_so_few(seed):
    rng = np.random.default_rng(seed)
    n = rng.integers(1, 40)
    best = np.round(rng.uniform(-1, 1, n), rng.integers(1, 4))
    best[rng.random(n) < 0.1] = -np.inf
    share = rng.choice([0.0, 0.05, 0.1, 0.29, 0.5, 0.9])
    filter_ = MatchedFilter(np.zeros((3, 3))).missing(best, share)
    uncovered = np.isneginf(best).sum()
    allowed = max(round(share * n * 1e6) // 10**6, uncovered)
    assert (best < filter_.threshold).sum() <= allowed
    higher = best[best > filter_.threshold]
    assert all((best < t).sum() > allowed for t in higher)


def test_a_hundred_objects_of_which_twenty_nine_may_be_missed():
    assert MatchedFilter(np.zeros((3, 3))).missing(np.arange(100) / 100, 0.29).threshold == 0.29


def test_what_makes_no_filter_is_named():
    with pytest.raises(ValueError, match="no contrast"):
        MatchedFilter.fit(np.full((4, 5, 5), 7, np.uint8))
    with pytest.raises(ValueError, match="no positive chips"):
        MatchedFilter.fit(np.empty((0, 5, 5), np.uint8))
    for share in (-0.1, 1.0):
        with pytest.raises(ValueError, match="miss rate"):
            MatchedFilter(np.zeros((3, 3))).missing(np.ones(3), share)


def test_of_equal_maxima_side_by_side_the_first_stays():
    """Pairs of near maxima in any order and number: no two that are kept are near, and none goes without a reason."""
    rng = np.random.default_rng(0)
    centres = rng.integers(0, 40, (120, 2))
    stays = candidates._first_of_plateaus(centres)
    near = np.abs(centres[:, None] - centres[None]).max(axis=2) <= candidates.APART
    for i in range(len(centres)):
        earlier = near[i, :i] & stays[:i]
        assert stays[i] == (not earlier.any())
    assert 0 < stays.sum() < len(centres)
    assert candidates._first_of_plateaus(centres[:0]).tolist() == []
