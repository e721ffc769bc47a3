"""Kernels: values against the formulas, descriptions there and back, errors that name the field."""

import numpy as np
import pytest

from svmcore import RBF, Linear, Poly, Sigmoid, kernel_from_dict
from tests import naive

KERNELS = [
    Linear(),
    Poly(9, 1.0, 1.0),
    Poly(4, 0.1, 0.3, normalised=False),
    Poly(0),
    RBF(0.5),
    Sigmoid(0.2, -0.1),
]


@pytest.fixture(scope="module")
def vectors():
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(7, 5)), rng.normal(size=(300, 5))  # 300: past one stretch of the finishing passes
    return (A / np.linalg.norm(A, axis=1, keepdims=True)).astype(np.float32), B.astype(np.float32)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_block_is_the_formula(kernel, vectors):
    A, B = vectors
    expected = naive.gram(kernel, A, B)
    np.testing.assert_allclose(kernel.block(A, B), expected, rtol=2e-5, atol=2e-6)
    np.testing.assert_allclose(kernel.exact(A, B), expected, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_diagonal_is_the_diagonal_of_the_block(kernel, vectors):
    A, _ = vectors
    np.testing.assert_allclose(kernel.diag(A), np.diagonal(kernel.block(A, A)), rtol=1e-6, atol=1e-6)


def test_the_papers_kernel_is_between_0_and_1_for_unit_vectors(vectors):
    A, _ = vectors
    K = Poly(9, 1.0, 1.0).block(A, A)
    np.testing.assert_allclose(K, (A @ A.T + 1) ** 9 / 512, rtol=1e-5)
    assert K.min() >= 0
    assert K.max() <= 1 + 1e-5


def test_exp_is_accurate_over_its_range():
    # to the 5e-6 to which the square itself is rounded
    d = np.linspace(0, 9, 5000, dtype=np.float32)[:, None]
    values = RBF(1.0).block(np.zeros((1, 1), np.float32), d)[0]
    np.testing.assert_allclose(
        values, np.exp(-(d[:, 0].astype(float) ** 2)), rtol=1e-5
    )  # the square itself is rounded to 5e-6


@pytest.mark.parametrize("kernel", KERNELS, ids=repr)
def test_there_and_back_through_a_dictionary(kernel):
    assert kernel_from_dict(kernel.to_dict()) == kernel
    assert hash(kernel_from_dict(kernel.to_dict())) == hash(kernel)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Poly(degree=-1), ["degree", "-1", "allowed"]),
        (lambda: Poly(degree=2.5), ["degree", "2.5"]),
        (lambda: RBF(gamma=0.0), ["gamma", "0.0", "above 0"]),
        (lambda: RBF(gamma=float("nan")), ["gamma", "nan"]),
        (lambda: Poly(3, 1.0, -1.0), ["coef0", "-1.0"]),
        (lambda: kernel_from_dict({"name": "spline"}), ["spline", "linear", "rbf"]),
        (lambda: kernel_from_dict({"name": "rbf", "width": 2}), ["width", "gamma"]),
        (lambda: kernel_from_dict("rbf"), ["rbf"]),
    ],
)
def test_errors_name_field_value_and_what_is_allowed(make, words):
    with pytest.raises(ValueError, match="allowed") as caught:
        make()
    assert all(word in str(caught.value) for word in words)


def test_blocks_of_different_width_are_refused(vectors):
    with pytest.raises(ValueError, match=r"5 features.*4"):
        RBF().block(vectors[0], np.zeros((2, 4), np.float32))
