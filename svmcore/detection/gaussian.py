"""The baseline of the volcano papers: one Gaussian for each class on the principal axes of the positive examples.

    score(x) = log N(z; m+, S+) - log N(z; m-, S-),    z = the positives' principal components of x

DeCoste and Schölkopf (2002), section 5.2; Burl et al., Machine Learning 30 (1998), section 3.4.
"""

import numpy as np
from scipy.stats import multivariate_normal
from sklearn.decomposition import PCA

from svmcore.gram.threads import one_blas_thread

AXES = 6  # principal axes that the papers keep


class TwoGaussians:
    """Quadratic classifier on `axes` principal axes of the positives; both classes count alike.

    axes: how many, fewer where there are not enough positives.
    """

    def __init__(self, axes: int = AXES):
        self.axes = axes

    def fit(self, X: np.ndarray, y: np.ndarray) -> "TwoGaussians":
        """Learn from examples X (n, d) with labels y (n,) of +1 and -1.

        ValueError with fewer than three of a class, or where a class does not spread along every axis.
        """
        positive = np.asarray(y) > 0
        fewest = min(np.count_nonzero(positive), np.count_nonzero(~positive))
        if fewest < 3:
            raise ValueError(f"y: {fewest} examples of one class; allowed: at least 3 for a Gaussian")
        axes = min(self.axes, X.shape[1], fewest - 1)
        with one_blas_thread:  # small matrices: two threads that others keep from running take a hundred times as long
            self.pca_ = PCA(axes, svd_solver="full").fit(
                X[positive].astype(np.float64)
            )  # it sums in the precision given
            places = self.pca_.transform(X).astype(np.float64)
            try:
                self.densities_ = [  # the Gaussians that make the examples likeliest
                    multivariate_normal(own.mean(axis=0), np.atleast_2d(np.cov(own.T, bias=True)))
                    for own in (places[positive], places[~positive])
                ]
            except ValueError as error:  # a matrix without an inverse is NumPy's LinAlgError, which is one
                raise ValueError(
                    f"X: the examples of one class have no variance along one of {axes} axes; allowed: examples that "
                    "vary in all directions"
                ) from error
        return self

    def decision_function(self, X: np.ndarray) -> np.ndarray:
        """Log-likelihood ratio (m,) float64 of examples X (m, d); positive for the positive class."""
        if not len(X):
            return np.empty(0)
        places = self.pca_.transform(X).astype(np.float64)
        ours, theirs = (density.logpdf(places) for density in self.densities_)
        return np.reshape(ours - theirs, len(X))
