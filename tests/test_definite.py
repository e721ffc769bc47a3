"""Laws of svmcore.methods.definite: what is not positive definite is seen, and its positive part is."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from svmcore.gram.products import Operand
from svmcore.kernels import RBF, Linear, Poly, Sigmoid, kernel_from_dict
from svmcore.methods.definite import PositivePart, distances, examine
from svmcore.methods.jittering import Jittered
from svmcore.preprocess import Preprocessor
from svmcore.saved import load, save
from svmcore.svc import SVC

SHAPE = (8, 8)
JITTERED = Jittered(Poly(9, 1, 1), "plus:1@zero", SHAPE, prepare=("unit-norm",))


@pytest.fixture(scope="module")
def rows():
    """400 digits as rows (400, 64) of unit length, with labels."""
    X, y = load_digits(return_X_y=True)
    return Preprocessor("unit-norm").transform(X[:400]), y[:400]


def test_three_pixel_images_break_the_triangle_until_the_set_is_complete():
    A, B, C = np.eye(3, dtype=np.float32)
    X = np.stack([A, B, C])

    def apart(text):
        return distances(Jittered(Linear(), text, (1, 3)).block(X, X))

    one_pixel = apart("shift:0,1;0,-1")
    assert one_pixel[0, 1] == one_pixel[1, 2] == 0
    assert one_pixel[0, 2] == pytest.approx(np.sqrt(2))
    assert (apart("shift:0,1;0,-1;0,2;0,-2") == 0).all()
    broken = examine(Jittered(Linear(), "shift:0,1;0,-1", (1, 3)), X)
    assert broken.violations == pytest.approx(2 / 6)
    assert broken.smallest < 0
    assert broken.negative == pytest.approx(1 / 3)
    assert "not positive definite" in broken.warning
    assert examine(Jittered(Linear(), "shift:0,1;0,-1;0,2;0,-2", (1, 3)), X)[2:] == (0, 0)


def test_a_plain_kernel_gives_no_warning(rows):
    report = examine(RBF(1.0), rows[0])
    assert report.warning == ""
    assert report.violations == report.negative == 0


@pytest.mark.parametrize("base", [JITTERED, Sigmoid(2.0, -1.0)])
def test_the_positive_part_has_the_negative_eigenvalues_at_zero(rows, base):
    X = rows[0]
    K = base.block(X, X).astype(float)
    values, vectors = np.linalg.eigh((K + K.T) / 2)
    assert values[0] < -1e-3 * values[-1]
    clipped = (vectors * np.maximum(values, 0)) @ vectors.T
    kernel = PositivePart.fit(base, X)
    np.testing.assert_allclose(kernel.block(X, X), clipped, atol=2e-4 * values[-1])
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel.block(X, X)), atol=1e-4)
    part = Operand(X).take(np.array([3, 1, 40]), kernel, cols=slice(10, 33))
    np.testing.assert_allclose(part, kernel.block(X, X)[[3, 1, 40], 10:33], atol=1e-5)


def test_found_on_a_sample_it_is_nearer_to_positive_definite_elsewhere(rows):
    X = rows[0]
    kernel = PositivePart.fit(JITTERED, X[::2])
    before = examine(JITTERED, X[1::2])
    values = np.linalg.eigvalsh(JITTERED.block(X[1::2], X[1::2]).astype(float))
    assert before.negative == pytest.approx(np.mean(values < -1e-5 * values[-1]), abs=2 / len(values))
    assert before.smallest < -1e-4 * before.largest
    assert examine(kernel, X[1::2]).smallest > 0.5 * before.smallest


def test_a_definite_kernel_is_its_own_positive_part(rows, tmp_path):
    X, y = rows
    kernel = PositivePart.fit(RBF(1.0), X[:50])
    np.testing.assert_allclose(kernel.block(X, X), RBF(1.0).block(X, X), atol=1e-6)
    machine = SVC(kernel).fit(X, y).machine_
    save(machine, tmp_path / "m.npz")
    assert load(tmp_path / "m.npz").kernel == kernel


def test_machines_and_descriptions_bring_the_positive_part_back(rows, tmp_path):
    X, y = rows
    kernel = PositivePart.fit(JITTERED, X[:60])
    assert kernel_from_dict(kernel.to_dict()) == kernel
    assert hash(kernel_from_dict(kernel.to_dict())) == hash(kernel)
    machine = SVC(kernel).fit(X, y).machine_
    save(machine, tmp_path / "m.npz")
    np.testing.assert_array_equal(load(tmp_path / "m.npz").decision_values(X), machine.decision_values(X))
