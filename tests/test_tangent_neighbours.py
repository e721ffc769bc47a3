"""Laws of svmcore.methods.tangent_neighbours: tangent distance against its definition, and what it forgives."""

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.neighbors import KNeighborsClassifier

from svmcore.jitter import JitterSet
from svmcore.methods.tangent_neighbours import TangentNeighbours, _vote

SHAPE = (8, 8)


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return (X / 16).astype(np.float32), y


def test_distances_are_the_least_squares_over_both_tangent_planes(digits):
    X, y = digits
    model = TangentNeighbours("plus:1+rot:-8,8", SHAPE, directions=4, ridge=0.05).fit(X[:30], y[:30])
    T = model._directions_of(X[40:41])[0]
    np.testing.assert_allclose(T @ T.T, np.eye(4), atol=1e-5)
    got = model._squared_distances(X[40], T, np.arange(30))
    for i, (other, S) in enumerate(zip(X[:30], model.tangents_)):
        A = np.concatenate([np.concatenate([-T, S]).T, np.sqrt(0.05) * np.eye(8)])
        b = np.concatenate([X[40] - other, np.zeros(8)])
        _, residual, _, _ = np.linalg.lstsq(A, b, rcond=None)
        assert got[i] == pytest.approx(residual[0], rel=1e-3)


def test_without_room_to_move_it_is_the_euclidean_neighbour(digits):
    X, y = digits
    stiff = TangentNeighbours("plus:1", SHAPE, n_neighbors=3, ridge=1e9).fit(X[:300], y[:300])
    plain = KNeighborsClassifier(3).fit(X[:300], y[:300])
    agree = stiff.predict(X[300:500]) == plain.predict(X[300:500])
    assert agree.mean() > 0.98  # votes of three against three are decided otherwise


def test_small_moves_along_the_tangents_cost_little(digits):
    X, y = digits
    model = TangentNeighbours("plus:1", SHAPE, directions=2, ridge=1e-3).fit(X[:50], y[:50])
    moved = X[:50] + 0.3 * (JitterSet.parse("shift:0,1", SHAPE).apply(X[:50])[1] - X[:50])
    chosen = np.arange(50)
    own = [model._squared_distances(x, T, chosen[i : i + 1])[0] for i, (x, T) in enumerate(zip(X, model.tangents_))]
    np.testing.assert_allclose(own, 0, atol=1e-5)
    tangent = [
        model._squared_distances(m, T, chosen[i : i + 1])[0] for i, (m, T) in enumerate(zip(moved, model.tangents_))
    ]
    assert np.mean(tangent) < 0.2 * np.mean(np.sum((moved - X[:50]) ** 2, axis=1))


def test_ties_go_to_the_nearest():
    assert _vote(np.array([2, 0, 0, 2, 1])) == 2
    assert _vote(np.array([2, 0, 0])) == 0


@pytest.mark.parametrize(
    ("fields", "says"),
    [({"candidates": 0}, "candidates = 0; allowed: a whole number from 1"), ({"ridge": 0}, "ridge = 0; allowed")],
)
def test_what_is_not_allowed_is_named(digits, fields, says):
    with pytest.raises(ValueError, match=says):
        TangentNeighbours(image_shape=SHAPE, **fields).fit(digits[0][:9], digits[1][:9])
