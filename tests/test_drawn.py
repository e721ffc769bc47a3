"""Drawings made into examples: each stage against its definition, and real digits that survive being drawn again."""

import numpy as np
import pytest
from scipy.ndimage import zoom

from svmcore.lab.presets import RECIPES
from svmcore.lab.train import execute
from svmcore.preprocess import drawn
from svmcore.preprocess.drawn import DIGITS_8X8, MNIST, SIDE, convention, like, rasterise, stages

T = np.linspace(0, 1, 24)


def arc(x, y, rx, ry, start, stop):
    """Points of an ellipse's arc, angles in turns, clockwise from three o'clock."""
    a = 2 * np.pi * (start + (stop - start) * T)
    return np.column_stack([x + rx * np.cos(a), y + ry * np.sin(a)]).round().astype(int)


def line(*points):
    return np.array(points)


def joined(*parts):
    return np.concatenate(parts)


# Ten digits as a pen would draw them; made up for this test, and taken from no dataset.
DIGITS = {
    0: [arc(128, 128, 56, 88, -0.25, 0.75)],
    1: [line((140, 36), (124, 220))],
    2: [joined(arc(126, 84, 52, 46, 0.45, 1.1), line((72, 214), (72, 214)), line((196, 210)))],
    3: [joined(arc(120, 82, 50, 44, 0.55, 1.2), arc(120, 172, 56, 48, 0.78, 1.42))],
    4: [line((108, 44), (72, 136), (188, 132)), line((160, 60), (148, 222))],
    5: [joined(line((182, 48), (98, 52), (90, 116)), arc(122, 164, 56, 52, 0.62, 1.4))],
    6: [joined(line((158, 40), (104, 108)), arc(128, 168, 52, 50, 0.55, 1.55))],
    7: [line((70, 58), (188, 54), (120, 220))],
    8: [joined(arc(128, 84, 40, 42, 0.25, 1.25), arc(128, 174, 50, 48, -0.25, 0.75))],
    9: [joined(arc(130, 92, 46, 46, 0.0, 1.0), line((176, 92), (160, 222)))],
}


def picture(strokes, how=MNIST, pen=20):
    return stages(rasterise(strokes, pen), how).centred


def blown_up(image, high, times=10):
    """An image as if it had been drawn: ten times as large, and black or white like a scan."""
    return (zoom(image / high, times, order=1, grid_mode=True, mode="grid-constant") > 0.5).astype(np.float32)


def again(X, how, high):
    """Images (n, h, w) blown up and prepared anew."""
    made = [stages(blown_up(x, high, 320 // len(x)), how).centred for x in X]
    return np.array([like(m, 0, high, X.dtype) for m in made])


def test_the_pen_is_as_wide_as_it_says():
    ink = rasterise([line((40, 128), (215, 128))], 20)
    assert ink.dtype == np.float32
    assert ink[:, 128].sum() == pytest.approx(20, abs=1)
    assert ink[128, 40:216].min() == 1
    assert ink.sum() == pytest.approx(175 * 20 + np.pi * 100, rel=0.02)  # a bar with round ends
    assert rasterise([line((128, 128))], 30).sum() == pytest.approx(np.pi * 15**2, rel=0.02)  # a dot
    assert not rasterise([], 20).any()
    with pytest.raises(ValueError, match="leaves the canvas"):
        rasterise([line((0, 0), (SIDE, 3))], 20)


def test_stages_are_what_they_are_called():
    ink = rasterise(DIGITS[4], 20)
    parts = stages(ink, MNIST)
    rows, columns = np.nonzero(ink > drawn.FAINT)
    h, w = np.ptp(rows) + 1, np.ptp(columns) + 1
    assert parts.cropped.shape == (h, w)
    assert parts.fitted.shape == (20, round(20 * w / h))
    assert parts.fitted.mean() == pytest.approx(parts.cropped.mean(), rel=1e-4)  # each pixel the mean of its area
    assert parts.centred.shape == (28, 28)
    assert parts.centred.sum() == pytest.approx(parts.fitted.sum(), rel=1e-6)  # nothing is cut off
    y, x = np.mgrid[:28, :28]
    for axis in (y, x):
        assert abs((axis * parts.centred).sum() / parts.centred.sum() - 14) <= 0.5 + 1e-6


def test_where_and_how_large_a_digit_is_drawn_does_not_matter():
    small = [(stroke // 2 + 100).astype(int) for stroke in DIGITS[3]]
    moved = [stroke - (20, 15) for stroke in DIGITS[3]]
    np.testing.assert_allclose(picture(moved), picture(DIGITS[3]), atol=1e-6)
    difference = abs(picture(small, pen=10) - picture(DIGITS[3])).mean()
    assert difference < 0.05


def test_other_sets_have_their_own_frames():
    wide = [line((20, 128), (236, 128))]
    assert picture(wide, DIGITS_8X8).shape == (8, 8)
    assert picture(wide, DIGITS_8X8)[:, 1:7].min() > 0.5  # stretched to the frame
    usps = convention((16, 16))
    assert (usps.box, usps.kept, usps.by_mass) == ((16, 16), True, False)
    bar = picture(wide, usps)
    assert np.flatnonzero(bar.any(axis=0)).tolist() == list(range(16))
    assert np.flatnonzero(bar.any(axis=1)).tolist() in ([7], [7, 8])
    assert convention((28, 28)) is MNIST
    for shape in ((28, 28, 3), (20, 24), (4, 4), (54,)):
        assert convention(shape) is None


def test_a_dot_and_nothing():
    assert picture([line((3, 250))]).sum() > 0
    with pytest.raises(ValueError, match="the drawing is empty"):
        stages(np.zeros((SIDE, SIDE), np.float32), MNIST)


def test_a_centre_of_mass_far_from_the_middle_keeps_its_ink_on_the_picture():
    heavy = [line((x, 20), (x, 236)) for x in range(20, 60, 8)] + [line((20, 20), (236, 20))]
    assert picture(heavy).shape == (28, 28)
    assert picture(heavy).sum() > 0.9 * stages(rasterise(heavy, 20), MNIST).fitted.sum()


def test_greys_are_those_of_the_data_set():
    ink = np.array([[0.0, 0.5], [1.0, 0.25]])
    assert like(ink, 0, 255, np.uint8).tolist() == [[0, 128], [255, 64]]
    np.testing.assert_allclose(like(ink, -1, 1, np.float32), [[-1, 0], [1, -0.5]])
    assert like(ink, 0, 16, np.float32).dtype == np.float32


@pytest.fixture(scope="module")
def virtual():
    """The machine of mnist-5k-vsv."""
    return execute(RECIPES["mnist-5k-vsv"]).machine


@pytest.mark.ci
def test_a_machine_reads_digits_of_ten_drawn_classes(virtual):
    X = np.array([like(picture(DIGITS[c]), 0, 255, np.uint8) for c in range(10)])
    right = virtual.predict(X) == np.arange(10)
    assert right.sum() >= 9, virtual.predict(X)


@pytest.mark.ci
def test_real_digits_drawn_again_are_answered_alike(virtual, dataset):
    """The share is 0.99 for these; without size and centre as MNIST has them it is not."""
    X = dataset("mnist-5k").X_train[::20]
    anew = again(X, MNIST, 255)
    agreement = np.mean(virtual.predict(X) == virtual.predict(anew))
    assert agreement >= 0.95
    centred_by_frame = again(X, MNIST._replace(by_mass=False, box=(28, 28)), 255)
    assert np.mean(virtual.predict(X) == virtual.predict(centred_by_frame)) < agreement


def test_so_are_small_ones(dataset):
    machine = execute(RECIPES["digits-8x8-sv"]).machine
    X = dataset("digits-8x8").X_train[::5]
    anew = again(X, DIGITS_8X8, 16)
    assert np.mean(machine.predict(X) == machine.predict(anew)) >= 0.9
