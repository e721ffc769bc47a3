"""Laws of svmcore.methods.tangent: whitening against its formula, in input space and in feature space."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

from svmcore.gram.products import Operand
from svmcore.gram.threads import attended
from svmcore.jitter import JitterSet
from svmcore.kernels import RBF, Linear, Poly, kernel_from_dict
from svmcore.methods import tangent
from svmcore.methods.tangent import (
    TangentFeature,
    TangentWhitened,
    principal_tangents,
    regulariser,
    scaled_lambda,
    tangent_covariance,
    tangents,
    whitening,
)
from svmcore.preprocess import Preprocessor
from svmcore.saved import load, save
from svmcore.svc import SVC

SHAPE = (8, 8)
SET = "plus:1"


@pytest.fixture(scope="module")
def digits():
    """300 digits as rows (300, 64) of unit length, with labels."""
    X, y = load_digits(return_X_y=True)
    return Preprocessor("unit-norm").transform(X[:300]), y[:300]


def test_tangents_are_differences_to_the_image(digits):
    X = digits[0]
    T = tangents(X, SET, SHAPE)
    forms = JitterSet.parse(SET, SHAPE).apply(X)
    np.testing.assert_array_equal(T, np.concatenate([forms[j] - X for j in range(1, 5)]))


def test_whitening_is_the_inverse_root_of_the_mixed_covariance(digits):
    C = tangent_covariance(digits[0], SET, SHAPE)
    values, axes = principal_tangents(C)
    assert values[0] == pytest.approx(1)
    assert (np.diff(values) <= 1e-12).all()
    np.testing.assert_allclose(C @ axes[0], values[0] * axes[0], atol=1e-10)
    for lam in (0.05, 0.5):
        B = whitening(C, lam).astype(np.float64)
        np.testing.assert_allclose(B @ ((1 - lam) * C + lam * np.eye(64)) @ B, lam * np.eye(64), atol=1e-5)
    np.testing.assert_allclose(whitening(C, 1), np.eye(64), atol=1e-6)


@pytest.mark.parametrize("brightness", [1, 255])
def test_lambda_of_the_paper_is_that_of_tangents_as_they_are(digits, brightness):
    X = brightness * digits[0]
    T = tangents(X, SET, SHAPE).astype(float)
    C = tangent_covariance(X, SET, SHAPE, scaled=False)
    np.testing.assert_allclose(C, T.T @ T / len(T), rtol=1e-9)
    largest = np.linalg.eigvalsh(C)[-1]
    np.testing.assert_allclose(C / largest, tangent_covariance(X, SET, SHAPE), atol=1e-12)
    for paper in (0.003, 0.4):
        ours = scaled_lambda(paper, largest)
        assert scaled_lambda(ours, 1 / largest) == pytest.approx(paper)
        np.testing.assert_allclose(whitening(C, paper), whitening(C / largest, ours), atol=1e-5)
        for family in (TangentWhitened, TangentFeature):
            theirs = family.fit(Linear(), X[:60], SET, paper, SHAPE, scaled=False).block(X, X)
            own = tangents(X[:60], SET, SHAPE).astype(float)
            m = np.linalg.eigvalsh(own.T @ own / len(own))[-1]
            ours = family.fit(Linear(), X[:60], SET, scaled_lambda(paper, m), SHAPE).block(X, X)
            np.testing.assert_allclose(theirs, ours, atol=2e-3 * brightness**2)


@pytest.mark.parametrize("family", [TangentWhitened, TangentFeature])
@pytest.mark.parametrize("lam", [0.01, 0.3])
def test_the_linear_invariant_kernel_is_linear(digits, family, lam):
    X = digits[0]
    K = family.fit(Linear(), X[:60], SET, lam, SHAPE)
    a, b, c = X[:80], 3 * X[80:160], X[160:]
    np.testing.assert_allclose(K.block(a + b, c), K.block(a, c) + K.block(b, c), atol=1e-4)
    assert abs(K.block(a, c) - Linear().block(a, c)).max() > 0.1


@pytest.mark.parametrize("n", [20, 90])
def test_the_regulariser_is_that_of_a_naive_sum_and_falls_with_lambda(digits, n):
    X, y = digits[0], digits[1] == 3
    found = []
    for lam in (1.0, 0.1, 0.01):
        machine = SVC(TangentWhitened.fit(Linear(), X, SET, lam, SHAPE), C=10).fit(X, y).machine_
        naive = 0.0
        for x in X[:n]:
            for form in JitterSet.parse(SET, SHAPE).apply(x[None])[1:]:
                naive += (machine.decision_values(form) - machine.decision_values(x[None])).item() ** 2 / (4 * n)
        (value,) = regulariser(machine.decision_values, X[:n], SET, SHAPE)
        assert value == pytest.approx(naive, rel=1e-3)
        w = machine.decision_values(np.eye(64, dtype=np.float32)) - machine.decision_values(np.zeros((1, 64)))
        C = tangent_covariance(X[:n], SET, SHAPE, scaled=False)
        assert value == pytest.approx((w.T @ C @ w).item(), rel=1e-3)
        found.append(value)
    assert found[0] > found[1] > found[2]
    assert found[0] > 2 * found[2]


@pytest.mark.parametrize("pieces", [1, 3, 40])
def test_a_covariance_is_found_in_pieces_between_which_it_can_be_stopped(digits, monkeypatch, pieces):
    X, asked = digits[0], []
    whole = tangent_covariance(X, SET, SHAPE)
    step = -(-len(X) // pieces)
    monkeypatch.setattr(tangent, "PIECE", step * len(JitterSet.parse(SET, SHAPE)))
    with attended(lambda: asked.append(1)):
        np.testing.assert_allclose(tangent_covariance(X, SET, SHAPE), whole, rtol=1e-9, atol=1e-12)
    assert len(asked) == -(-len(X) // step)

    def no():
        raise InterruptedError

    with attended(no), pytest.raises(InterruptedError):
        TangentWhitened.fit(Linear(), X, SET, 0.1, SHAPE)


@pytest.mark.parametrize("base", [Linear(), Poly(4, 1, 1), RBF(2.0)])
def test_the_whitened_kernel_is_the_base_of_mapped_vectors(digits, base):
    X = digits[0]
    kernel = TangentWhitened.fit(base, X[:100], SET, 0.1, SHAPE)
    mapped = X @ kernel.B.T
    if base != Linear():
        mapped /= np.linalg.norm(mapped, axis=1, keepdims=True)
    whole = base.block(mapped, mapped)
    np.testing.assert_allclose(kernel.block(X[:20], X[50:90]), whole[:20, 50:90], atol=1e-5)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(whole), atol=1e-5)
    part = Operand(X).take(np.array([3, 200]), kernel, cols=slice(7, 30))
    np.testing.assert_allclose(part, whole[[3, 200], 7:30], atol=1e-5)


def test_in_the_linear_case_feature_space_is_input_space(digits):
    X = digits[0]
    feature = TangentFeature.fit(Linear(), X[:60], SET, 0.1, SHAPE)
    mapped = X @ TangentWhitened.fit(Linear(), X[:60], SET, 0.1, SHAPE).B
    np.testing.assert_allclose(feature.block(X, X), mapped @ mapped.T, atol=2e-3)


@pytest.mark.parametrize("base", [Poly(4, 1, 1), RBF(2.0)])
def test_feature_space_takes_away_from_the_kernel_along_the_tangents(digits, base):
    X = digits[0]
    kernel = TangentFeature.fit(base, X[:60], SET, 0.01, SHAPE)
    K = kernel.block(X[:100], X[:100])
    assert np.linalg.eigvalsh(K.astype(float))[0] > -1e-4
    np.testing.assert_allclose(np.diagonal(K), kernel.diag(X[:100]), atol=1e-5)

    def squared_tangents(k):
        forms = JitterSet.parse(SET, SHAPE).apply(X[:60])
        return np.mean([k.diag(f) - 2 * np.diagonal(k.block(f, forms[0])) + k.diag(forms[0]) for f in forms[1:]])

    assert squared_tangents(kernel) < 0.2 * squared_tangents(base)
    plain = TangentFeature.fit(base, X[:60], SET, 1.0, SHAPE)
    np.testing.assert_allclose(plain.block(X, X), base.block(X, X), atol=1e-6)


def test_whitened_examples_keep_their_lengths(digits):
    X = 3 * digits[0][:50]
    X[7] = 0
    kernel = TangentWhitened.fit(Poly(2, 1, 0), X, SET, 0.02, SHAPE)
    np.testing.assert_allclose(kernel.diag(X), np.where(np.arange(50) == 7, 0, 81), rtol=1e-5)


@pytest.mark.parametrize("cls", [TangentWhitened, TangentFeature])
@pytest.mark.parametrize("base", [Linear(), Poly(3, 1, 1)])
def test_fitted_kernels_are_values_and_are_saved(digits, cls, base, tmp_path):
    X, y = digits
    kernel = cls.fit(base, X[:40], SET, 0.1, SHAPE)
    again = kernel_from_dict(kernel.to_dict())
    other = cls.fit(base, X[:40], SET, 0.2, SHAPE)
    assert kernel == again
    assert hash(kernel) == hash(again)
    assert kernel != other
    machine = SVC(kernel).fit(X, y).machine_
    save(machine, tmp_path / "m.npz")
    np.testing.assert_array_equal(load(tmp_path / "m.npz").decision_values(X), machine.decision_values(X))


def test_what_is_not_allowed_is_named(digits):
    X = digits[0]
    with pytest.raises(ValueError, match="lam = 0; allowed: a number above 0"):
        TangentWhitened.fit(Linear(), X, SET, 0, SHAPE)
    with pytest.raises(ValueError, match="a jitter besides the identity"):
        tangents(X, "none", SHAPE)
    with pytest.raises(ValueError, match="B is missing; allowed: base, B, lengths"):
        kernel_from_dict({"name": "tangent-whitened", "base": {"name": "linear"}})
