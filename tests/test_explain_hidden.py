"""Hidden parts: f of each picture with a square hidden, one by one; means over the squares that cover a pixel."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from svmcore import RBF, SVC, Poly, Preprocessor
from svmcore.explain.hidden import least_side, occlusion, stride_of

STEPS = {"pixels": (("unit-norm",), Poly(3, 1, 1)), "features": (("gradients:3", "unit-norm"), RBF(2.0))}


@pytest.fixture(scope="module", params=STEPS)
def trained(request):
    steps, kernel = STEPS[request.param]
    digits = load_digits()
    images, y = digits.images[:300], digits.target[:300]
    prepare = Preprocessor(*steps, image_shape=(8, 8)).transform
    return SVC(kernel, C=5.0).fit(prepare(images.reshape(300, -1)), y).machine_, prepare, images[:3]


@pytest.mark.parametrize("side", [1, 3, 8])
@pytest.mark.parametrize("fill", ["background", "mean"])
def test_the_map_is_the_mean_over_squares_hidden_one_by_one(trained, side, fill):
    machine, prepare, images = trained
    image = images[1]
    found = occlusion(machine, prepare, image[None], (8, 8), side, fill)
    f = machine.decision_values(prepare(image.reshape(1, -1)))[0]
    total, times = np.zeros((8, 8, 10)), np.zeros((8, 8, 1))
    for y in range(1 - side, 8):
        for x in range(1 - side, 8):
            mask = np.zeros((8, 8), bool)
            mask[max(y, 0) : y + side, max(x, 0) : x + side] = True
            without = np.where(mask, image.mean() if fill == "mean" else 0, image)
            total[mask] += f - machine.decision_values(prepare(without.reshape(1, -1)))[0]
            times[mask] += 1
    np.testing.assert_allclose(found.f, f, atol=1e-6)
    np.testing.assert_allclose(found.change, total / times, atol=1e-4)
    assert (times == side * side).all()


def test_rows_and_pictures_are_asked_alike(trained):
    machine, prepare, images = trained
    one, other = (occlusion(machine, prepare, X, (8, 8), 2) for X in (images[:1], images[:1].reshape(1, -1)))
    np.testing.assert_array_equal(one.change, other.change)


def test_hiding_what_is_background_already_changes_nothing(trained):
    machine, prepare, images = trained
    image = images[0].copy()
    image[:, :3] = 0
    found = occlusion(machine, prepare, image[None], (8, 8), 1)
    np.testing.assert_allclose(found.change[:, :3], 0, atol=1e-5)
    assert np.abs(found.change[:, 3:]).max() > 0.01


@pytest.mark.parametrize(("h", "w"), [(28, 28), (300, 200), (900, 1000), (1, 1), (2, 500)])
def test_squares_cover_every_pixel_and_are_not_too_many(h, w):
    for side in {least_side(h, w), min(h, w)}:
        assert stride_of(h, w, side) <= side
        assert (h + side - 1) * (w + side - 1) / stride_of(h, w, side) ** 2 <= 1300


def test_colours_are_hidden_in_all_channels():
    rng = np.random.default_rng(0)
    X, y = rng.random((40, 6, 6, 3)).astype(np.float32), np.arange(40) % 2
    X[y == 1, 2:4, 2:4, 1] += 1
    prepare = Preprocessor(image_shape=(6, 6, 3)).transform
    machine = SVC(RBF(0.2), C=10).fit(prepare(X.reshape(40, -1)), y).machine_
    found = occlusion(machine, prepare, X[1:2], (6, 6, 3), 2, "mean")
    inside = found.change[2:4, 2:4, 0].mean()
    assert inside > 3 * np.abs(found.change[:, 0, 0]).mean()


REFUSED = [
    (9, "mean", "side = 9; allowed: 1 to 8"),
    (0, "mean", "side = 0"),
    (3, "grey", "fill = 'grey'; allowed: background, mean"),
]


@pytest.mark.parametrize(("side", "fill", "says"), REFUSED)
def test_what_cannot_be_hidden_is_said(trained, side, fill, says):
    machine, prepare, images = trained
    with pytest.raises(ValueError, match=says):
        occlusion(machine, prepare, images[:1], (8, 8), side, fill)
