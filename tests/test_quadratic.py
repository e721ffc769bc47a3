"""Laws of svmcore.detection.quadratic: the form decides as the support vectors do."""

from dataclasses import replace

import numpy as np
import pytest

from svmcore import RBF, SVC, Poly
from svmcore.detection.quadratic import quadratic
from svmcore.model import Machine
from tests.naive import kernel_value


def fitted(kernel, C=10.0, n=120, d=40, classes=2, **scikit):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    y = (np.abs(X[:, 0]) > 0.1).astype(int) if classes == 2 else rng.integers(0, classes, n)
    return SVC(kernel, C=C, **scikit).fit(X, y).machine_, X


@pytest.mark.parametrize(
    "kernel",
    [Poly(2, 1.0, 1.0), Poly(2, 0.3, 2.0), Poly(2, 3.0, 0.0), Poly(2, 1.0, -0.5), Poly(2, 0.7, 0.4, normalised=False)],
    ids=str,
)
def test_the_form_decides_as_the_machine_does(kernel):
    machine, X = fitted(kernel)
    form = quadratic(machine)
    np.testing.assert_allclose(form.values(X), machine.decision_values(X)[:, 0], atol=1e-4)
    np.testing.assert_array_equal(form.A, form.A.T)
    x = X[3]
    slow = sum(c * kernel_value(kernel, s, x) for c, s in zip(machine.coef[0], machine.support_vectors))
    assert form.values(X[3:4])[0] == pytest.approx(slow + machine.bias[0], abs=1e-4)


def test_a_kernel_by_name_has_one_too():
    machine, X = fitted("poly", degree=2, gamma=0.5, coef0=1.5)
    np.testing.assert_allclose(quadratic(machine).values(X), machine.decision_values(X)[:, 0], atol=1e-4)


def test_a_machine_without_support_vectors_is_its_bias():
    machine, X = fitted(Poly(2, 1.0, 1.0))
    nothing = {name: getattr(machine, name)[:0] for name in ("support", "support_vectors")}
    empty = replace(machine, coef=machine.coef[:, :0], bound=machine.bound[:, :0], **nothing)
    np.testing.assert_allclose(quadratic(empty).values(X), machine.bias[0], atol=1e-6)


@pytest.mark.parametrize(
    ("kernel", "classes"), [(RBF(1.0), 2), (Poly(3, 1.0, 1.0), 2), (Poly(1, 1.0, 1.0), 2), (Poly(2, 1.0, 1.0), 3)]
)
def test_other_machines_are_refused(kernel, classes):
    machine, _ = fitted(kernel, classes=classes)
    with pytest.raises(ValueError, match="allowed: Poly of degree 2 and one decision value"):
        quadratic(machine)


def test_other_features_are_refused():
    machine, X = fitted(Poly(2, 1.0, 1.0))
    with pytest.raises(ValueError, match=r"allowed: \(n, 40\)"):
        quadratic(machine).values(X[:, :5])


def test_a_form_of_fewer_support_vectors_than_features_takes_as_few_products():
    rng = np.random.default_rng(5)
    S, c = rng.normal(size=(7, 40)).astype(np.float32), rng.normal(size=(1, 7))
    machine = Machine(
        kernel=Poly(2, 0.3, 1.5), classes=np.array([0, 1]), support=np.arange(7), support_vectors=S, coef=c,
        bias=np.array([0.25]), C=1.0, bound=np.zeros((1, 7), bool),
    )  # fmt: skip
    X = rng.normal(size=(20, 40)).astype(np.float32)
    form = quadratic(machine)
    expected = ((0.3 * X.astype(float) @ S.T + 1.5) / 1.8) ** 2 @ c[0] + 0.25
    assert form.A.shape == (40, 7)
    np.testing.assert_allclose(form.values(X), expected, rtol=1e-4, atol=1e-4)
