"""Laws of svmcore.methods.local: the local kernel against its definition, and its limits."""

import numpy as np
import pytest
from scipy.ndimage import correlate
from sklearn.datasets import load_digits

from svmcore.gram.products import Operand
from svmcore.kernels import kernel_from_dict
from svmcore.methods.local import LocalPoly
from svmcore.svc import SVC
from tests.cases import all_cases


def naive(u, v, width, inner, outer):
    """Images u, v (h, w, c): product image, seen through the fields, powers and means as they are written."""
    reach = width // 2
    tent = 1 - abs(np.arange(-reach, reach + 1)) / (reach + 1)
    field = np.outer(tent, tent) / tent.sum() ** 2
    seen = correlate((u.astype(float) * v).sum(axis=2), field, mode="constant")
    return np.mean(seen**inner) ** outer


@all_cases("shape", [(7, 10), (5, 5, 3), (40, 3, 1)])
@all_cases(("width", "inner", "outer"), [(1, 1, 1), (3, 2, 3), (9, 3, 1), (5, 1, 4)])
def test_blocks_agree_with_the_definition(shape, width, inner, outer):
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(5, *shape, 1))[..., :3], rng.normal(size=(70, *shape, 1))
    A, B = (Z.reshape(len(Z), *(*shape, 1)[:3]).astype(np.float32) for Z in (A, B))
    kernel = LocalPoly(shape, inner, outer, width, cosine=False)
    rows, others = A.reshape(5, -1), B.reshape(70, -1)
    expected = [[naive(u, v, width, inner, outer) for v in B] for u in A]
    np.testing.assert_allclose(kernel.block(rows, others), expected, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(kernel.diag(rows), [naive(u, u, width, inner, outer) for u in A], rtol=1e-4)
    part = Operand(others).take(np.array([2, 69]), kernel, cols=slice(33, 69))
    np.testing.assert_allclose(part, kernel.block(others[[2, 69]], others)[:, 33:69], rtol=1e-5)


def test_cosine_puts_one_on_the_diagonal_and_zero_for_empty_images():
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(40, 30)).astype(np.float32)
    X[7] = 0
    kernel, raw = LocalPoly((5, 6), 2, 2, 3), LocalPoly((5, 6), 2, 2, 3, cosine=False)
    K, R = kernel.block(X, X), raw.block(X, X)
    norms = np.sqrt(np.outer(np.diagonal(R), np.diagonal(R)))
    np.testing.assert_allclose(K, np.divide(R, norms, out=np.zeros_like(R), where=norms > 0), rtol=1e-5)
    np.testing.assert_allclose(np.diagonal(K), np.arange(40) != 7, rtol=1e-5)
    np.testing.assert_array_equal(kernel.diag(X), np.arange(40) != 7)
    assert np.linalg.eigvalsh(K.astype(float))[0] > -1e-5


def test_a_field_of_one_pixel_and_inner_degree_one_is_the_polynomial_kernel():
    X = np.random.default_rng(2).normal(size=(9, 12)).astype(np.float32)
    np.testing.assert_allclose(LocalPoly((3, 4), 1, 3, 1, cosine=False).block(X, X), (X @ X.T / 12) ** 3, rtol=1e-4)


def test_trains_and_comes_back_from_its_description():
    X, y = load_digits(return_X_y=True)
    kernel = LocalPoly((8, 8), 2, 2, 3)
    machine = SVC(kernel, C=10).fit(X[:300], y[:300])
    assert np.mean(machine.predict(X[300:600]) == y[300:600]) > 0.8
    assert kernel_from_dict(kernel.to_dict()) == kernel


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"image_shape": None}, "image_shape = None"),
        ({"width": 4}, "an odd number of pixels"),
        ({"inner": 0}, "inner = 0; allowed: a whole number from 1 to 16"),
        ({"outer": 2.5}, "outer = 2.5"),
    ],
)
def test_what_is_not_allowed_is_named(fields, says):
    with pytest.raises(ValueError, match=says):
        LocalPoly(**{"image_shape": (8, 8)} | fields)
    with pytest.raises(ValueError, match="do not fit image_shape"):
        LocalPoly((8, 8)).block(np.zeros((2, 63)), np.zeros((2, 63)))
