"""k nearest neighbours by two-sided tangent distance, for comparison with the invariant SVMs.

    d(x, y)^2 = min_{a, b} |x + T_x' a - y - T_y' b|^2 + ridge (|a|^2 + |b|^2)

T_x (p, d) holds orthonormal directions in which the jitters of a set move x: the leading p principal directions of
T_j x - x. With r = x - y, u = T_x r, v = T_y r, M = T_x T_y' and s = 1 + ridge the least squares problem has

    d^2 = |r|^2 - (u, v)' [[s I, M], [M', s I]]^-1 (u, v)

Only the `candidates` nearest by Euclidean distance are compared so.

Reference: Simard, LeCun and Denker, NIPS 5 (1993).
"""

from dataclasses import KW_ONLY, dataclass

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from svmcore.allowed import above, check, whole
from svmcore.estimator import as_rows, image_shape_of
from svmcore.jitter import JitterSet
from svmcore.kernels import squared_norms

MOVES = "plus:1+rot:-8,8+scale:0.9,1.1+shear:-0.15,0.15+thick:0.5"  # Simard's transformations, but for one
QUERIES = 256  # images whose directions are found at once


@dataclass(eq=False, repr=False)
class TangentNeighbours(ClassifierMixin, BaseEstimator):
    """k nearest neighbours by two-sided tangent distance.

    jitters: a JitterSet or its text; image_shape: (h, w) or (h, w, c) of the rows, None when X is given as images;
    directions: p; ridge: what a step along a tangent costs. Ties among the labels of the neighbours go to the nearest.
    Source: the "tangent distance" rows of DeCoste and Schölkopf (2002), Tables 2 and 3.
    """

    jitters: str | JitterSet = MOVES
    image_shape: tuple[int, ...] | None = None
    _: KW_ONLY
    n_neighbors: int = 1
    directions: int = 7
    candidates: int = 100
    ridge: float = 0.3

    def fit(self, X, y) -> "TangentNeighbours":
        """Keep images X, (n, d) or (n, h, w[, c]), their labels y (n,) and their tangents.

        ValueError names a parameter that is not allowed.
        """
        check(self, n_neighbors=whole(1), directions=whole(1), candidates=whole(1), ridge=above(0))
        self.jitters_ = JitterSet.parse(self.jitters, image_shape_of(X, self.image_shape))
        self.X_, y = validate_data(self, as_rows(X), y, dtype=np.float32)
        check_classification_targets(y)
        self.classes_, self.label_ = np.unique(y, return_inverse=True)
        self.tangents_ = self._directions_of(self.X_)
        return self

    def predict(self, X) -> np.ndarray:
        """Labels (n,) of images X."""
        check_is_fitted(self, "tangents_")
        X = validate_data(self, as_rows(X), dtype=np.float32, reset=False)
        count = min(self.candidates, len(self.X_))
        labels = np.empty(len(X), np.int64)
        for start in range(0, len(X), QUERIES):
            queries = X[start : start + QUERIES]
            euclidean = squared_norms(self.X_) - 2 * queries @ self.X_.T
            near = np.argpartition(euclidean, count - 1, axis=1)[:, :count]
            tangents = self._directions_of(queries)
            for i, (x, T, chosen) in enumerate(zip(queries, tangents, near)):
                order = np.argsort(self._squared_distances(x, T, chosen), kind="stable")[: self.n_neighbors]
                labels[start + i] = _vote(self.label_[chosen[order]])
        return self.classes_[labels]

    def _directions_of(self, X) -> np.ndarray:
        """T (n, p, d) float32 with orthonormal rows, the leading principal directions of the moves of each image."""
        p = min(self.directions, len(self.jitters_) - 1)
        out = np.empty((len(X), p, X.shape[1]), np.float32)
        if p == 0:
            return out
        for start in range(0, len(X), QUERIES):
            forms = self.jitters_.apply(X[start : start + QUERIES])
            moves = np.moveaxis(forms[1:] - forms[0], 0, 1)  # (n, J - 1, d)
            values, axes = np.linalg.eigh(moves @ moves.transpose(0, 2, 1))
            lengths = np.sqrt(np.maximum(values[:, -p:], 1e-12))
            out[start : start + QUERIES] = (axes[:, :, -p:] / lengths[:, None, :]).transpose(0, 2, 1) @ moves
        return out

    def _squared_distances(self, x, T, chosen) -> np.ndarray:
        """d(x, y)^2 (m,) for the training images `chosen` (m,); T (p, d) the directions of x."""
        S, r = self.tangents_[chosen], x - self.X_[chosen]  # (m, p, d), (m, d)
        p = len(T)
        system = np.empty((len(chosen), 2 * p, 2 * p), np.float32)
        system[:, :p, p:] = T @ S.transpose(0, 2, 1)
        system[:, p:, :p] = system[:, :p, p:].transpose(0, 2, 1)
        system[:, :p, :p] = system[:, p:, p:] = (1 + self.ridge) * np.eye(p)
        moved = np.concatenate([r @ T.T, (S @ r[:, :, None])[:, :, 0]], axis=1)  # (m, 2 p): u, v
        return squared_norms(r) - np.sum(moved * np.linalg.solve(system, moved[:, :, None])[:, :, 0], axis=1)


def _vote(labels) -> int:
    """The label that most neighbours have, nearest first; of several, the one of the nearest."""
    counts = np.bincount(labels)
    return next(label for label in labels if counts[label] == counts.max())
