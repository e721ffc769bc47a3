"""The two-Gaussian baseline against the formula of a density, on axes found by an eigenvalue problem."""

import numpy as np
import pytest

from svmcore.detection.gaussian import AXES, TwoGaussians


def examples(seed, positives=40, negatives=150, d=20):
    rng = np.random.default_rng(seed)
    mixing = rng.normal(size=(d, d)) / np.sqrt(d)
    X = np.concatenate([rng.normal(size=(positives, d)) @ mixing + 0.6, rng.normal(size=(negatives, d)) @ mixing.T])
    return X, np.repeat([1, -1], [positives, negatives]), rng.normal(size=(30, d))


@pytest.mark.parametrize("axes", [1, 3, AXES])
def test_the_score_is_the_ratio_of_two_densities(axes):
    X, y, Z = examples(axes)
    values, vectors = np.linalg.eigh(np.cov(X[y > 0].T))
    basis = vectors[:, np.argsort(-values)[:axes]]
    density = []
    for label in (1, -1):
        z = X[y == label] @ basis
        spread = (z - z.mean(axis=0)).T @ (z - z.mean(axis=0)) / len(z)
        away = Z @ basis - z.mean(axis=0)
        density.append(-0.5 * (away * (away @ np.linalg.inv(spread))).sum(axis=1) - 0.5 * np.log(np.linalg.det(spread)))
    assert TwoGaussians(axes).fit(X, y).decision_function(Z) == pytest.approx(density[0] - density[1], rel=1e-6)


def test_six_axes_unless_there_are_fewer_examples():
    X, y, _ = examples(0)
    assert TwoGaussians().fit(X, y).pca_.n_components_ == AXES == 6
    assert TwoGaussians().fit(X[36:], y[36:]).pca_.n_components_ == 3
    assert TwoGaussians().fit(X[:, :2], y).pca_.n_components_ == 2


def test_labels_may_be_given_as_they_are_and_no_rows_give_no_scores():
    X, y, Z = examples(1)
    model = TwoGaussians().fit(X, y)
    assert (model.decision_function(X[y > 0]) > 0).mean() > 0.8
    assert model.decision_function(Z[:0]).shape == (0,)
    assert model.decision_function(Z).dtype == np.float64
    assert model.decision_function(Z[:1].astype(np.float32)) == pytest.approx(model.decision_function(Z)[:1], rel=1e-4)


def test_too_few_or_too_flat_examples_are_named():
    X, y, _ = examples(2)
    with pytest.raises(ValueError, match="2 examples of one class"):
        TwoGaussians().fit(X[38:], y[38:])
    flat = X.copy()
    flat[y < 0] = 1.0
    thin = X.copy()
    thin[y < 0] = np.linspace(0, 1, 150)[:, None]
    with pytest.raises(ValueError, match="no variance"):
        TwoGaussians().fit(flat, y)
    with pytest.raises(ValueError, match="no variance"):
        TwoGaussians().fit(thin, y)
