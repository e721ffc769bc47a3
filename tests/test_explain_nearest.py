"""The nearest examples of a class are those that a loop over all of them finds."""

import numpy as np

from svmcore import RBF, Linear, Poly
from svmcore.explain.nearest import nearest
from tests.cases import all_cases


@all_cases("seed", range(3))
@all_cases("kernel", [RBF(0.3), Poly(3, 1.0, 1.0), Linear()])
@all_cases("piece", [7, 100])
def test_it_is_what_a_loop_finds(seed, kernel, piece):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(60, 5)).astype(np.float32), rng.integers(4, size=60)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    queries, skip = X[:9], np.arange(9)
    wanted = rng.integers(5, size=(9, 2))  # class 4 has no example
    pieces = [X[at : at + piece] for at in range(0, 60, piece)]
    found, squared = nearest(kernel, queries, pieces, y, wanted, 3, skip)
    K = kernel.block(X, X).astype(float)
    away = np.diag(K)[:, None] - 2 * K + np.diag(K)
    for i in range(9):
        for c in range(2):
            rows = sorted((j for j in range(60) if y[j] == wanted[i, c] and j != i), key=lambda j: away[i, j])[:3]
            assert found[i, c].tolist() == rows + [-1] * (3 - len(rows))
            np.testing.assert_allclose(squared[i, c, : len(rows)], away[i, rows], atol=1e-4)
    if isinstance(kernel, RBF):
        others, _ = nearest(Linear(), queries, pieces, y, wanted, 3, skip)
        assert found.tolist() == others.tolist()  # the order of Euclidean distances
