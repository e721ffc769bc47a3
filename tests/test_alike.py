"""Copies, linked pairs and outliers are those that a double loop over all pairs finds."""

import numpy as np
import pytest

from svmcore import RBF, Linear, Poly
from svmcore.explain import alike
from tests import naive
from tests.cases import all_cases


def made(seed, n=70, d=3, k=3):
    """Whole numbers, so that many rows are equal."""
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n, d)), rng.integers(0, k, n)


@all_cases("seed", range(4))
@all_cases("dtype", [np.uint8, np.float32, np.float64])
def test_copies_are_those_of_a_double_loop(seed, dtype):
    X, y = made(seed)
    X = (X - 1).clip(0).astype(dtype)
    first = naive.copies(X)
    assert alike.copies(X).tolist() == first
    groups = [[j for j in range(len(X)) if first[j] == i] for i in sorted(set(first))]
    unlike = [group for group in groups if len(set(y[group])) > 1]
    assert unlike
    assert [group.tolist() for group in alike.unlike_copies(X, y)] == unlike
    test = X[::-3] + np.array([0, 0, 2]).astype(dtype) * (np.arange(len(X[::-3])) % 2)[:, None].astype(dtype)
    pairs = [(i, next(j for j in range(len(X)) if (X[j] == row).all())) for i, row in enumerate(test)
             if any((X[j] == row).all() for j in range(len(X)))]  # fmt: skip
    assert alike.across(X, test).tolist() == [list(pair) for pair in pairs]


def test_images_are_rows_and_minus_zero_is_zero():
    images = np.zeros((3, 2, 2), np.float32)
    images[1] = -0.0
    images[2, 0, 0] = 1
    assert alike.copies(images).tolist() == [0, 0, 2]
    assert alike.unlike_copies(images, ["a", "a", "b"]) == []
    assert alike.copies(images[:0]).tolist() == []
    assert alike.across(images, images[:0]).shape == (0, 2)


@pytest.mark.parametrize("kernel", [RBF(0.3), Poly(3, 1.0, 1.0), Linear()], ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("values", [1e9, 200.0])
def test_distances_are_those_of_a_double_loop(kernel, seed, values, monkeypatch):
    monkeypatch.setattr(alike, "VALUES", values)
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 4)).astype(np.float32), rng.choice(["a", "b", "c"], 60, p=[0.6, 0.35, 0.05])
    y[0] = "only one"
    D = naive.kernel_distances(kernel, X)
    found = alike.distances(kernel, X, y)
    for i in range(60):
        own = sorted(D[i, j] for j in range(60) if j != i and y[j] == y[i])[: alike.NEAREST]
        other = min((D[i, j], j) for j in range(60) if y[j] != y[i])
        assert found.own[i] == pytest.approx(own[0], abs=2e-3) if own else found.own[i] == np.inf
        assert found.mean[i] == pytest.approx(np.mean(own), abs=2e-3) if own else np.isnan(found.mean[i])
        assert (found.other[i], found.which[i]) == (pytest.approx(other[0], abs=2e-3), other[1])
    np.fill_diagonal(D, np.inf)
    nearest = D.argmin(axis=1)
    links = {(i, int(j)) for i, j in enumerate(nearest) if nearest[j] == i and i < j and y[i] != y[j]}
    pairs = alike.linked(found)
    assert {tuple(pair) for pair in pairs.tolist()} == links
    assert (np.diff(found.other[pairs[:, 0]]) >= 0).all()
    assert (np.diff(found.mean[alike.outlying(found)]) <= 0).all()
    assert 0 not in alike.outlying(found)


def test_an_outlier_and_a_pair_that_were_made_come_first():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(50, 5)), 6 + rng.normal(size=(50, 5))]).astype(np.float32)
    y = np.repeat([0, 1], 50)
    X[7] += 20
    X[60] = X[20] + 1e-3
    found = alike.distances(RBF(0.01), X, y)
    assert alike.outlying(found)[0] == 7
    assert alike.linked(found)[0].tolist() == [20, 60]


def test_one_class_is_refused_and_it_stops_when_asked():
    X = np.zeros((4, 2), np.float32)
    with pytest.raises(ValueError, match="at least two"):
        alike.distances(RBF(1.0), X, np.zeros(4))
    with pytest.raises(ValueError, match="allowed: 4"):
        alike.distances(RBF(1.0), X, np.arange(3))

    def stop():
        raise KeyboardInterrupt

    for call in (lambda: alike.copies(X, stop), lambda: alike.distances(RBF(1.0), X, np.arange(4), stop)):
        with pytest.raises(KeyboardInterrupt):
            call()
