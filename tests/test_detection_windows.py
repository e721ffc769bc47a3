"""Pooled pictures and chips against pixel-by-pixel loops."""

import numpy as np
import pytest

from svmcore.detection.candidates import chips, fitting, pooled
from tests import naive


@pytest.mark.parametrize(("shape", "pool"), [((12, 8), 2), ((13, 11), 2), ((9, 10), 3), ((7, 5), 5), ((4, 6), 1)])
def test_pooling_is_the_mean_of_whole_cells(shape, pool):
    image = np.random.default_rng(pool).integers(0, 256, shape).astype(np.uint8)
    image[:2, :2] = 255  # the mean of 255s must not overflow
    small = pooled(image, pool)
    assert small.dtype == np.uint8
    assert np.array_equal(small, naive.pooled(image.tolist(), pool))


def test_pooling_to_nothing_is_named():
    with pytest.raises(ValueError, match="pool = 5; allowed: at most 4"):
        pooled(np.zeros((4, 9), np.uint8), 5)


@pytest.mark.parametrize("side", [1, 4, 5, 9])
def test_a_chip_is_the_picture_around_its_place(side):
    image = np.arange(20 * 17, dtype=np.int64).reshape(20, 17)
    places = np.array([(y, x) for y in range(20) for x in range(17)])
    inside = fitting(image.shape, places, side)
    for (y, x), fits in zip(places, inside, strict=True):
        top, left = y - side // 2, x - side // 2
        assert fits == (top >= 0 and left >= 0 and top + side <= 20 and left + side <= 17)
    cut = chips(image, places[inside], side)
    for (y, x), chip in zip(places[inside], cut, strict=True):
        expected = [[image[y - side // 2 + i, x - side // 2 + j] for j in range(side)] for i in range(side)]
        assert np.array_equal(chip, expected)


def test_a_chip_is_a_copy():
    image = np.zeros((9, 9), np.uint8)
    chip = chips(image, np.array([[4, 4]]), 3)
    image[4, 4] = 7
    assert chip.max() == 0


def test_chips_that_leave_the_picture_are_refused():
    with pytest.raises(ValueError, match="extends beyond the picture"):
        chips(np.zeros((9, 9), np.uint8), np.array([[4, 4], [0, 4]]), 3)


def test_no_places_give_no_chips():
    assert chips(np.zeros((3, 3), np.uint8), np.empty((0, 2)), 5).shape == (0, 5, 5)
    assert fitting((3, 3), np.empty((0, 2), int), 5).shape == (0,)
