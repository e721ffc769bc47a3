"""Pictures moved: the map's centre and the orbit's identity are f, plateaus are counted, nearest forms are nearest."""

import numpy as np
import pytest

from svmcore import SVC, Jittered, JitterSet, Poly
from svmcore.explain import moved
from svmcore.methods.definite import PositivePart
from svmcore.model import answers
from svmcore.preprocess import Preprocessor

SHAPE = (7, 5)


@pytest.fixture(scope="module")
def digits():
    """Bars of three slants on 7 x 5 pictures, with a grey ground of 10."""
    rng = np.random.default_rng(0)
    X, y = np.full((60, *SHAPE), 10, np.uint8), np.arange(60) % 3
    for picture, label in zip(X, y):
        at = rng.integers(1, 4)
        rows = np.arange(1, 6)
        picture[rows, np.clip(at + (label - 1) * (rows - 3) // 2, 0, 4)] = rng.integers(180, 255, 5)
    return X, y


@pytest.fixture(scope="module", params=["three classes", "two classes"])
def trained(request, digits):
    X, y = digits
    X, y = (X, y) if request.param == "three classes" else (X[y < 2], y[y < 2])
    prepare = Preprocessor("unit-norm", image_shape=SHAPE).transform
    return SVC(Poly(3, 1, 1), C=2.0).fit(prepare(X), y).machine_, prepare, X, y


def test_the_maps_centre_is_f(trained):
    machine, prepare, X, _ = trained
    for i in range(6):
        grid = moved.surface(machine, prepare, X[i : i + 1], SHAPE)
        assert grid.shape == (9, 9, len(machine.bias))
        np.testing.assert_allclose(grid[4, 4], machine.decision_values(prepare(X[i : i + 1]))[0], atol=1e-6)


def test_every_cell_of_the_map_is_f_of_the_picture_shifted_by_hand(trained):
    machine, prepare, X, _ = trained
    grid = moved.surface(machine, prepare, X[7:8], SHAPE)
    for dy, dx in ((-4, 0), (0, 3), (2, -1), (4, 4)):
        shifted = np.full(SHAPE, 10.0)
        for row in range(SHAPE[0]):
            for column in range(SHAPE[1]):
                if 0 <= row + dy < SHAPE[0] and 0 <= column + dx < SHAPE[1]:
                    shifted[row + dy, column + dx] = X[7, row, column]
        expected = machine.decision_values(prepare(shifted[None].astype(np.float32)))[0]
        np.testing.assert_allclose(grid[dy + 4, dx + 4], expected, atol=1e-6)


@pytest.mark.parametrize("text", ["box:1", "rot:-9,9", "thick:0.5", "vsv2+rot:5@edge"])
def test_the_identity_of_an_orbit_is_f(trained, text):
    machine, prepare, X, _ = trained
    f = moved.decided(machine, prepare, JitterSet.parse(text, SHAPE).apply(X[:5]))
    np.testing.assert_allclose(f[0], machine.decision_values(prepare(X[:5])), atol=1e-6)


def test_answers_and_leads_agree_with_the_machine(trained):
    machine, prepare, X, y = trained
    f = machine.decision_values(prepare(X))
    assert (machine.classes[answers(f)] == machine.predict(prepare(X))).all()
    true = np.searchsorted(machine.classes, y)
    expected = []
    for values, t in zip(f, true):
        both = values if len(values) > 1 else np.array([-values[0], values[0]])
        rest = np.delete(both, t)
        expected.append(both[t] - rest.max() if len(values) > 1 else both[t])
    np.testing.assert_allclose(moved.leads(f, true), expected)


def test_the_plateau_is_the_largest_square_around_the_centre():
    holds = np.zeros((9, 9), bool)
    assert moved.plateau(holds) == (-1, 0, 81)
    holds[4, 4] = holds[0, 0] = True
    assert moved.plateau(holds) == (0, 2, 81)
    holds[3:6, 3:6] = True
    assert moved.plateau(holds) == (1, 10, 81)
    holds[2:7, 2:7] = True
    holds[2, 6] = False
    assert moved.plateau(holds).radius == 1
    assert moved.plateau(np.ones((9, 9), bool)) == (4, 81, 81)


@pytest.mark.parametrize("sides", ["one", "both"])
@pytest.mark.parametrize("jitters", ["box:1@zero", "rot:-10,10", "shift:1,0;2,0@zero"])
def test_the_form_that_a_jittered_kernel_picks_is_the_nearest(digits, sides, jitters):
    X, _ = digits
    prepare = Preprocessor("unit-norm", image_shape=SHAPE).transform
    kernel = Jittered(Poly(3, 1, 1), jitters, SHAPE, sides, prepare=("unit-norm",))
    A = prepare(X)
    picked = kernel.nearest(A[3], A[10:20])
    rows = prepare(kernel.forms.apply(A[3:4])[:, 0].reshape(len(kernel.forms), *SHAPE))
    if kernel._shifts is not None:
        rows = kernel.forms.apply(A[3:4])[:, 0]
    for i, q in enumerate(picked):
        u, v = rows.astype(float), A[10 + i].astype(float)
        K = lambda a, b: ((a @ b + 1) / 2) ** 3  # noqa: E731
        distance = np.array([K(form, form) - 2 * K(form, v) for form in u])
        if kernel._shifts is not None:
            distance = np.array([-2 * K(form, v) for form in u])
        assert distance[q] <= distance.min() + 1e-6


def test_pulls_add_up_and_name_what_contributes_most(digits):
    X, y = digits
    prepare = Preprocessor("unit-norm", image_shape=SHAPE).transform
    A = prepare(X)
    for kernel in (Jittered(Poly(3, 1, 1), "box:1@zero", SHAPE), Jittered(Poly(3, 1, 1), "rot:-9,9", SHAPE)):
        machine = SVC(kernel, C=2.0).fit(A, y).machine_
        pulls = moved.pulls(machine, 1, A[5], most=4)
        assert pulls.share.sum() == pytest.approx(1)
        parts = machine.coef[1] * kernel.block(A[5:6], machine.support_vectors)[0]
        assert np.abs(pulls.part).tolist() == pytest.approx(np.sort(np.abs(parts))[::-1][:4].tolist(), abs=1e-6)
        np.testing.assert_allclose(parts[pulls.position], pulls.part, atol=1e-6)
    mended = PositivePart.fit(kernel, A[:20])
    machine = SVC(mended, C=2.0).fit(A, y).machine_
    assert moved.jittered_kernel(machine) is kernel
    assert moved.pulls(SVC(Poly(3, 1, 1)).fit(A, y).machine_, 0, A[5]) is None
