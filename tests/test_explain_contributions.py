"""The bill of a decision: its lines add up to f for every kernel and method, and switching one off moves f by it."""

from dataclasses import replace

import numpy as np
import pytest

from svmcore import RBF, SVC, Jittered, Linear, LocalPoly, Poly, Sigmoid, TangentFeature, TangentWhitened, VirtualSVC
from svmcore import model as machines
from svmcore.explain import contributions

SHAPE = (6, 6)
IMAGE = {"jitters": "plus:1", "image_shape": SHAPE}


def examples(classes, seed=0, n=90):
    """Bars at places that depend on the class, with noise: (n, 36) float32 of unit length, and their classes."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % classes
    X = rng.random((n, *SHAPE)) * 0.6
    X[np.arange(n), 1 + y % 4] += 1.0
    X = X.reshape(n, -1)
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(np.float32), y


def kernels(X):
    return {
        "linear": Linear(),
        "poly": Poly(9, 1, 1),
        "rbf": RBF(2.0),
        "sigmoid": Sigmoid(0.5, -0.2),
        "local": LocalPoly(SHAPE, 2, 2, 3),
        "jittered": Jittered(Poly(3, 1, 1), **IMAGE),
        "jittered, both sides": Jittered(Poly(3, 1, 1), sides="both", **IMAGE),
        "tangent": TangentWhitened.fit(Poly(3, 1, 1), X, lam=0.3, **IMAGE),
        "tangent, feature space": TangentFeature.fit(Poly(2, 1, 1), X[:20], lam=0.3, **IMAGE),
    }


KINDS = ("linear", "poly", "rbf", "sigmoid", "local", "jittered", "jittered, both sides", "tangent")
KINDS += ("tangent, feature space",)


def fitted(kind, classes):
    X, y = examples(classes)
    if kind == "virtual":
        return VirtualSVC(SVC(Poly(3, 1, 1), C=5.0), **IMAGE).fit(X, y).machine_
    return SVC(kernels(X)[kind], C=5.0).fit(X, y).machine_


@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("kind", [*KINDS, "virtual"])
@pytest.mark.parametrize("exact", [True, False])
def test_the_lines_of_a_bill_add_up_to_f(kind, classes, exact, monkeypatch):
    """Whichever way the machine computes kernel values, its bill has the same ones."""
    machine = fitted(kind, classes)
    if not exact:
        monkeypatch.setattr(machines, "EXACT_UP_TO", 0)
    X, _ = examples(classes, seed=1, n=5)
    for x in X:
        f = machine.decision_values(x[None])[0]
        k = machine.kernel_values(x[None])[0]
        for c in range(len(machine.bias)):
            of = contributions.of_machine(machine, c, k)
            assert of.f == pytest.approx(f[c], abs=1e-9)
            assert of.grouped(machine.support[of.name]).f == pytest.approx(f[c], abs=1e-9)
            assert len(of.part) == machine.n_sv[c]


def test_a_line_is_alpha_y_k_by_the_formula():
    machine = fitted("poly", 4)
    x = examples(4, seed=1, n=1)[0][0]
    of = contributions.of_machine(machine, 2, machine.kernel_values(x[None])[0])
    for position, part in zip(of.name, of.part):
        u = machine.support_vectors[position].astype(float)
        assert part == pytest.approx(machine.coef[2, position] * ((u @ x.astype(float) + 1) / 2) ** 9, abs=1e-12)


@pytest.mark.parametrize("kind", ["rbf", "virtual"])
@pytest.mark.parametrize("classes", [2, 4])
def test_switching_off_is_the_machine_without_these_support_vectors(kind, classes):
    machine = fitted(kind, classes)
    x = examples(classes, seed=2, n=1)[0]
    k = machine.kernel_values(x)[0]
    off = np.arange(0, len(machine.support), 3)
    coef = machine.coef.copy()
    coef[:, off] = 0
    expected = replace(machine, coef=coef).decision_values(x)[0]
    assert not contributions.parts(machine, k, off[:0]).any()
    np.testing.assert_allclose(
        machine.decision_values(x)[0] - contributions.parts(machine, k, off), expected, atol=1e-9
    )


def test_what_is_not_pictured_is_told_by_sign_and_makes_up_f():
    of = contributions.Contributions(np.arange(6), np.array([3.0, -1.0, 0.5, -0.25, 0.0, 2.0]), np.ones(6, int), -1.0)
    pictured = of.strongest(2)
    assert pictured.tolist() == [0, 5]
    rest = contributions.rest(of, pictured)
    assert rest[:4] == (1, 0.5, 2, -1.25)
    assert rest.share == pytest.approx(5 / 6.75)
    assert of.bias + of.part[pictured].sum() + rest.part_for + rest.part_against == pytest.approx(of.f)


def test_lines_of_equal_weight_keep_their_order_and_a_bill_may_be_short_or_empty():
    of = contributions.Contributions(np.arange(5), np.array([1.0, -2.0, 2.0, 1.0, -1.0]), np.ones(5, int), 0.0)
    assert of.strongest(3).tolist() == [1, 2, 0]
    assert of.strongest(9).tolist() == [1, 2, 0, 3, 4]
    empty = contributions.Contributions(np.arange(0), np.zeros(0), np.zeros(0, int), 0.5)
    assert empty.f == 0.5
    assert contributions.rest(empty, empty.strongest(8)) == (0, 0.0, 0, 0.0, 1.0)
    assert empty.grouped(np.zeros(0, int)).f == 0.5


def test_groups_add_up_their_lines_and_count_them():
    of = contributions.Contributions(np.array([4, 7, 9]), np.array([1.0, -0.25, 0.5]), np.ones(3, int), 0.0)
    by = of.grouped(np.array(["b", "a", "b"]))
    assert by.name.tolist() == ["a", "b"]
    assert by.part.tolist() == [-0.25, 1.5]
    assert by.count.tolist() == [1, 2]
