"""First vectors of a reduced set, Z (m, d), from a machine's expansion: what the joint optimisation starts from.

weight    the support vectors with the largest sum of |coef| over the machines
random    some of the support vectors
k-means   centres of clusters of the support vectors, of each sign apart where there is one machine, at the support
          vectors' length where they have one
greedy    one by one, the support vector that lowers rho most with all weights at their best
"""

import numpy as np

from svmcore.allowed import require
from svmcore.gram.sources import Work
from svmcore.kernels import squared_norms
from svmcore.methods.reduced.answers import directions
from svmcore.methods.reduced.exact import by_gain, pivots
from svmcore.methods.reduced.expansion import Expansion, pieces

STARTS = ("k-means", "greedy", "weight", "random")
EXAMPLES = "examples"  # of answers alone: some of the training examples, the machine's own vectors left out
PASSES = 3  # of k-means over the support vectors
DIRECTIONS = 120  # principal ones that clusters are found along
ONE_LENGTH = 1e-3  # relative spread of the squared lengths below which they count as one


def first_vectors(target: Expansion, m: int, how: str, seed: int = 0, work: Work | None = None) -> np.ndarray:
    """Z (m, d) float32 for 1 <= m <= n. ValueError for a way that is none of STARTS."""
    random, work = np.random.default_rng(seed), work or Work()
    X, weight = target.vectors, np.abs(target.coef).sum(axis=0)
    if how == "weight":
        return X[np.argsort(-weight, kind="stable")[:m]]
    if how == "random":
        return X[np.sort(random.choice(len(X), m, replace=False))]
    if how == "greedy":
        chosen = pivots(target, by_gain, m, work=work).chosen
        rest = np.setdiff1d(np.arange(len(X)), chosen)  # where fewer do as well
        return X[np.concatenate([chosen, rest[: m - len(chosen)]])]
    require(how == "k-means", "start", how, ", ".join(STARTS))
    groups = [np.arange(len(X))]
    if len(target.coef) == 1:
        groups = [np.flatnonzero(target.coef[0] > 0), np.flatnonzero(target.coef[0] <= 0)]
    counts = _shares(m, np.array([len(group) for group in groups]))
    centres = [_centres(X[g], count, random, work) for g, count in zip(groups, counts, strict=True) if count]
    return _at_one_length(np.concatenate(centres), X)


def _shares(m: int, sizes: np.ndarray) -> np.ndarray:
    """m divided in proportion to sizes, none above its size."""
    shares = np.minimum(np.round(m * sizes / sizes.sum()).astype(int), sizes)
    while (off := m - shares.sum()) != 0:
        room = sizes - shares if off > 0 else shares
        shares[np.argmax(room)] += np.sign(off)
    return shares


def _centres(X, m: int, random, work: Work) -> np.ndarray:
    """Means (m, d) of clusters of X (n, d), found by k-means on small batches along the principal directions: a sixth
    of the work for digits. A cluster that nothing is nearest to is the example that it began with.

    Sculley, Web-scale k-means clustering (2010).
    """
    if m == len(X):
        return X
    first = np.sort(random.choice(len(X), m, replace=False))
    Q = directions(X, DIRECTIONS, work)
    P = X if Q is None else np.concatenate([X[rows] @ Q for rows in pieces(len(X), *Q.shape)])
    centres, weight = P[first].copy(), np.ones(m, np.float32)
    stretches = pieces(len(X), m, P.shape[1])

    def nearest(rows):
        work.check()
        return (P[rows] @ centres.T - squared_norms(centres) / 2).argmax(axis=1)

    for _ in range(PASSES):
        order = random.permutation(len(X))
        for stretch in stretches:
            rows = order[stretch]
            hit, to, count = np.unique(nearest(rows), return_inverse=True, return_counts=True)
            weight[hit] += count
            total = np.zeros((len(hit), P.shape[1]), np.float32)
            np.add.at(total, to, P[rows])
            centres[hit] += (total - count[:, None].astype(np.float32) * centres[hit]) / weight[hit, None]
    total, count = np.zeros((m, X.shape[1])), np.zeros(m)
    for stretch in stretches:
        label = nearest(stretch)
        np.add.at(total, label, X[stretch])
        count += np.bincount(label, minlength=m)
    return np.where(count[:, None] > 0, total / np.maximum(count, 1)[:, None], X[first]).astype(np.float32)


def _at_one_length(Z, X) -> np.ndarray:
    """Z scaled to the length of the rows of X, where all of those have one length."""
    squares = squared_norms(X.astype(np.float64))
    if np.ptp(squares) > ONE_LENGTH * squares.mean() or not squares.mean():
        return Z
    own = np.sqrt(squared_norms(Z.astype(np.float64)))
    scale = np.sqrt(squares.mean()) / np.where(own > 0, own, 1)
    return (Z * scale[:, None]).astype(np.float32)
