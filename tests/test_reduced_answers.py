"""Reduced sets by gradient steps on their answers: what a step is, and off the path."""

import numpy as np
import pytest
from scipy.ndimage import map_coordinates
from scipy.optimize import approx_fprime
from sklearn.datasets import load_digits

from svmcore import SVC, ReducedSet
from svmcore.gram.sources import Work
from svmcore.kernels import RBF, Linear, Poly, Sigmoid
from svmcore.methods.reduced import stages
from svmcore.methods.reduced.answers import Answers, Deformations, Examples, Steps, fit_answers, gathered, grown
from svmcore.methods.reduced.expansion import Expansion
from svmcore.methods.tangent import TangentWhitened
from svmcore.solvers.progress import Stopped


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    X = X.astype(np.float32)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


@pytest.fixture(scope="module")
def machine(digits):
    X, y = digits
    return SVC(Poly(5, 1.0, 1.0), C=2.0).fit(X[:1000], y[:1000]).machine_


def begun(machine, m, seed=0):
    """m of its support vectors at random, with the weights of those that are nearest."""
    chosen = np.random.default_rng(seed).permutation(len(machine.support))[:m]
    return gathered(Expansion.of(machine), machine.support_vectors[chosen])


def wrong(found, kernel, X, y):
    f = kernel.block(X, found.Z) @ found.gamma.T + found.bias
    return int(((f[:, 0] > 0).astype(int) != y).sum() if f.shape[1] == 1 else (f.argmax(axis=1) != y).sum())


@pytest.mark.parametrize("kernel", [Linear(), Poly(3, 1.0, 1.0), RBF(2.0), Sigmoid(0.5, 0.1)])
@pytest.mark.parametrize("k", [1, 3])
def test_a_steps_gradient_agrees_with_finite_differences(kernel, k, monkeypatch):
    monkeypatch.setattr("svmcore.methods.reduced.answers.FLAT", -1.0)
    random = np.random.default_rng(1)
    X, label = random.standard_normal((6, 4)).astype(np.float32), random.integers(0, max(2, k), 6)
    start = Expansion(kernel, random.standard_normal((3, 4)).astype(np.float32), 0.3 * random.standard_normal((k, 3)))
    steps = Steps(start, np.zeros(k), Examples(X, label, X, None), Answers(directions=3), 0, Work())
    shapes = [value.shape for value in steps.values]
    sizes = np.cumsum([0, *(value.size for value in steps.values)])

    def judged():
        return steps._judge(X, label, (steps.values[0] ** 2).sum(axis=1))

    def loss(flat):
        steps.values = [
            flat[a:b].astype(np.float32).reshape(s) for a, b, s in zip(sizes, sizes[1:], shapes, strict=False)
        ]
        return judged().loss

    flat = np.concatenate([value.ravel() for value in steps.values]).astype(np.float64)
    numerical = approx_fprime(flat, loss, 1e-2)
    loss(flat)
    found = judged()
    U = steps.values[0]
    exact = *found.gradient(U, slice(None)), found.slope.sum(axis=0)
    for whole, *parts in zip(exact, found.gradient(U, slice(0, 1)), found.gradient(U, slice(1, 3))):
        assert np.concatenate(parts) == pytest.approx(whole, rel=1e-5)
    exact = np.concatenate([part.ravel() for part in exact])
    assert np.abs(exact - numerical).max() < 0.03 * np.abs(exact).max()


def test_few_vectors_learn_to_answer_and_a_seed_repeats(digits, machine):
    X, y = digits
    start, settings = begun(machine, 40), Answers(epochs=20)
    found = [fit_answers(start, machine.bias, X[:1000], y[:1000], settings=settings, image_shape=(8, 8)) for _ in "12"]
    begin = wrong(
        found[0]._replace(Z=start.vectors, gamma=start.coef, bias=machine.bias), machine.kernel, X[1000:], y[1000:]
    )
    assert wrong(found[0], machine.kernel, X[1000:], y[1000:]) < begin / 3
    assert (found[0].Z == found[1].Z).all()
    assert (found[0].gamma == found[1].gamma).all()
    assert (found[0].ending, found[0].epochs, found[0].Z.dtype) == ("", 20, np.float32)


@pytest.mark.parametrize("kernel", [RBF(3.0), Poly(2, 1.0, 0.0)])
def test_two_classes_one_vector_few_examples_and_a_large_c(digits, kernel):
    X, y = digits
    rows = np.flatnonzero(y < 2)[:200]
    machine = SVC(kernel, C=1e4).fit(X[rows], y[rows]).machine_
    settings = Answers(epochs=20, deform=0.0)
    found = fit_answers(begun(machine, 1), machine.bias, X[rows], y[rows], settings=settings)
    assert (found.Z.shape, found.gamma.shape) == ((1, 64), (1, 1))
    assert np.isfinite(found.gamma).all()
    assert wrong(found, kernel, X[rows], y[rows]) < 20


def test_a_stop_returns_what_there_is(digits, machine):
    class Impatient(Work):
        asked = 0

        def check(self):
            self.asked += 1
            if self.asked > 5:
                raise Stopped

    X, y = digits
    found = fit_answers(begun(machine, 20), machine.bias, X, y, settings=Answers(batch=64), work=Impatient())
    assert (found.ending, found.epochs) == ("stopped", 0)
    assert np.isfinite(found.Z).all()


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("shape", [(8, 8), (5, 9), (1, 7), (6, 1), (4, 5, 3)])
def test_a_deformed_image_is_read_between_the_pixels_of_the_first(shape, unit):
    rng = np.random.default_rng(3)
    X = rng.random((6, np.prod(shape))).astype(np.float32)
    X /= np.linalg.norm(X, axis=1, keepdims=True) if unit else 1
    deformations = Deformations(X, shape, 1.5, rng)
    drawn = deformations.draw(len(X))
    h, w = shape[:2]
    y, x = np.mgrid[:h, :w] - np.array([(h - 1) / 2, (w - 1) / 2])[:, None, None]
    for image, field, (a, b, c, d, down, right, amount), found in zip(
        X.reshape(6, h, w, -1), deformations.fields[drawn.field], drawn.moved, deformations.rows(np.arange(6), drawn)
    ):
        places = a * y + b * x + down + amount * field[0] - y[0, 0], c * y + d * x + right + amount * field[1] - x[0, 0]
        read = [map_coordinates(image[..., k], places, order=1, mode="nearest") for k in range(image.shape[2])]
        expected = np.stack(read, axis=-1).ravel()
        expected /= np.linalg.norm(expected) if unit else 1
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_deformed_rows_keep_their_length_and_no_strength_leaves_them(digits):
    X, _ = digits
    idx = np.arange(20)
    deform = Deformations(X, (8, 8), 1.0, np.random.default_rng(0))
    moved = deform.rows(idx, deform.draw(20))
    assert np.allclose(np.linalg.norm(moved, axis=1), 1, atol=1e-5)
    assert np.abs(moved - X[idx]).max(axis=1).min() > 0.005
    still = Deformations(X, (8, 8), 0.0, np.random.default_rng(0))
    assert np.allclose(still.rows(idx, still.draw(20)), X[idx], atol=1e-6)


def test_what_cannot_be_is_said(digits, machine):
    X, y = digits
    with pytest.raises(ValueError, match="image_shape = \\(7, 8\\)"):
        fit_answers(begun(machine, 5), machine.bias, X, y, image_shape=(7, 8))
    blunt = Expansion(TangentWhitened(RBF(1.0), np.zeros((64, 1), np.float32)), X[:3], np.ones((10, 3)))
    with pytest.raises(ValueError, match="gradient"):
        fit_answers(blunt, machine.bias, X, y)


def test_more_vectors_say_the_same_until_steps_are_taken(digits, machine):
    X, _ = digits
    few = begun(machine, 10)
    more = grown(few, machine.support_vectors[:5])
    assert more.vectors.shape == (15, 64)
    assert np.allclose(more.along(X[:20]), few.along(X[:20]))
    everything = gathered(Expansion.of(machine), machine.support_vectors)
    assert np.allclose(everything.along(X[:20]), Expansion.of(machine).along(X[:20]))


def test_a_path_keeps_the_vectors_that_it_found(digits, machine, monkeypatch):
    monkeypatch.setattr(stages, "KEPT", 1)
    X, y = digits
    few = Answers(epochs=10)
    reduced = ReducedSet(20, method="answers", steps=3, answers=few, image_shape=(8, 8))
    reduced.fit(machine, X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
    assert [m for m, _, _ in reduced.path_] == [5, 10, 20]
    assert reduced.path_[2][2] < reduced.path_[0][2]
    with pytest.raises(ValueError, match="answers: batch = 0; allowed: a whole number from 1"):
        ReducedSet(20, method="answers", answers=Answers(batch=0)).fit(machine, X[:1000], y[:1000])
    with pytest.raises(ValueError, match="answers: rate = -1; allowed: a number above 0"):
        ReducedSet(20, method="answers", answers=Answers(rate=-1)).fit(machine, X[:1000], y[:1000])
    assert few.further(1) == Answers(epochs=1, batch=256, rate=4e-4, weight_rate=4e-3)
