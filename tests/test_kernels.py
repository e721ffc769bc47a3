"""Kernels: values against the formulas, descriptions there and back, errors that name the field."""

from dataclasses import dataclass

import numpy as np
import pytest

from svmcore import RBF, SVC, Linear, Poly, Sigmoid, kernel_from_dict, load, save
from svmcore.gram.products import Operand
from svmcore.gram.sources import Streamed
from svmcore.kernels import KERNELS as REGISTERED
from svmcore.kernels import Kernel, KernelCode, numeral, register
from svmcore.solvers.session import Session
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


@pytest.mark.parametrize("degree", [1, 2, 7, 15, 16, 17, 31, 48, 64])
def test_double_precision_has_all_degrees(degree, vectors):
    A, B = vectors
    kernel = Poly(degree, 0.3, 1.0)
    expected = naive.gram(kernel, A, B)
    np.testing.assert_allclose(kernel.exact(A, B), expected, rtol=1e-12)
    np.testing.assert_array_equal(kernel.exact(A, kernel.columns(B)), kernel.exact(A, B))


def test_double_precision_has_all_sizes_of_exponents():
    """From where exp is 1 to where it is 0."""
    distances = np.concatenate([[0.0], np.logspace(-18, 4, 5000)])
    values = RBF(1.0).exact(np.zeros((1, 1)), np.sqrt(distances)[:, None])[0]
    expected = np.exp(-(np.sqrt(distances) ** 2))
    np.testing.assert_allclose(values, np.where(expected < 1e-307, 0.0, expected), rtol=1e-12, atol=1e-307)
    angles = np.concatenate([[0.0], np.logspace(-12, 3, 500)])
    slopes = np.concatenate([-angles, angles])[:, None]
    np.testing.assert_allclose(Sigmoid(1.0, 0.0).exact(np.ones((1, 1)), slopes)[0], np.tanh(slopes[:, 0]), atol=1e-15)


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


@pytest.fixture
def cauchy():
    """A kernel that the compiled pass has never heard of, as who adds one writes it."""

    @register("cauchy")
    @dataclass(frozen=True)
    class Cauchy(Kernel):
        gamma: float = numeral(1.0, "gamma", "Factor of the squared distance.", 1e-6)

        def value(self, dots, su, sv):
            return 1 / (1 + self.gamma * (su + sv - 2 * dots))

    yield Cauchy(0.7)
    del REGISTERED["cauchy"]


def distances(A, B):
    return ((A[:, None].astype(np.float64) - B[None]) ** 2).sum(axis=2)


@pytest.mark.parametrize("layout", ["dense", "sparse", "whole"])
def test_a_kernel_of_ones_own_is_in_all_products_of_every_layout(cauchy, layout):
    rng = np.random.default_rng(3)
    A, X = ((rng.random((m, 9)) < 0.4) * rng.integers(0, 9, (m, 9)).astype(np.float32) / 8 for m in (20, 700))
    operand, K = Operand(X, layout), 1 / (1 + 0.7 * distances(A, X))
    np.testing.assert_allclose(operand.block(A, cauchy), K, rtol=1e-5)
    np.testing.assert_allclose(cauchy.block(A, X), K, rtol=1e-5)
    np.testing.assert_allclose(cauchy.exact(A, X), K, rtol=1e-12)
    idx, coef = np.arange(5, 300, 7), rng.standard_normal((3, 43)).astype(np.float32)
    own = 1 / (1 + 0.7 * distances(X[idx], X))
    np.testing.assert_allclose(operand.take(idx, cauchy, slice(90, 500)), own[:, 90:500], rtol=1e-5)
    np.testing.assert_allclose(operand.subset(idx).take(slice(0, 43), cauchy), own[:, idx], rtol=1e-5)
    np.testing.assert_allclose(operand.sums(A, cauchy, coef.repeat(17, 1)[:, :700]),
                               K @ coef.repeat(17, 1)[:, :700].T, rtol=1e-4, atol=1e-4)  # fmt: skip
    part = np.arange(100, 600)
    F, gram = np.zeros((3, 500)), Streamed(operand, cauchy)
    gram.add_to(F, idx, coef, gram.columns(part), Session())
    np.testing.assert_allclose(F, coef @ own[:, part], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("solver", ["smo", "decomposition"])
def test_a_kernel_of_ones_own_trains_by_name_and_is_saved(cauchy, solver, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3)).astype(np.float32)
    y = np.hypot(*X.T[:2]) > 1
    machine = SVC("cauchy", gamma=0.7, C=5, solver=solver).fit(X, y)
    given = SVC("precomputed", C=5).fit(cauchy.exact(X, X), y)
    assert machine.kernel_ == cauchy == kernel_from_dict(cauchy.to_dict())
    assert machine.converged_
    assert machine.history_[-1].dual == pytest.approx(given.history_[-1].dual, rel=1e-5)
    save(machine, tmp_path / "machine.npz")
    kept = load(tmp_path / "machine.npz")
    assert kept.kernel == cauchy
    np.testing.assert_array_equal(kept.decision_values(X)[:, 0], machine.decision_function(X))
    with pytest.raises(TypeError, match=r"kernel cauchy .*another solver"):
        SVC(cauchy, solver="smo-digestion").fit(X, y)


def test_a_compiled_kind_without_a_function_of_its_own_is_exact_by_its_formula(vectors):
    class Halved(Linear):
        def code(self):
            return KernelCode(99, 1, 1.0, 0.0)

        def value(self, dots, su, sv):
            return dots / 2

    A, B = (each.astype(np.float64) for each in vectors)
    np.testing.assert_allclose(Halved().exact(A, B), A @ B.T / 2, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(Linear().exact(A, B), A @ B.T, rtol=1e-12, atol=1e-12)


def test_a_kind_that_the_compiled_pass_does_not_know_is_an_error():
    class Strange(Linear):
        def code(self):
            return KernelCode(99, 1, 1.0, 0.0)

    with pytest.raises(ValueError, match="the compiled pass does not know"):
        Strange().block(np.ones((2, 3)), np.ones((4, 3)))
