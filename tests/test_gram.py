"""Gram sources: cached row = fresh row, whatever was evicted; squares and updates follow from rows."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numba import config

from svmcore import RBF, Poly
from svmcore.gram.products import Operand
from svmcore.gram.sources import Cached, Dense, Gram, Streamed, Work


class Plain(Gram):
    """Rows by the kernel itself, everything else as the base class derives it."""

    def __init__(self, X, kernel):
        self.X, self.kernel, self.n, self.diag = X, kernel, len(X), kernel.diag(X)

    def rows(self, idx, work):
        return self.kernel.block(self.X[idx], self.X)


@pytest.fixture(scope="module", name="X")
def examples():
    X = np.random.default_rng(1).normal(size=(700, 12)).astype(np.float32)
    X[X < 0] = 0
    return X


def sources(X, kernel):
    n, row = len(X), 4 * len(X)
    yield Plain(X, kernel)
    yield Dense(kernel.block(X, X))
    for layout in ("dense", "sparse"):
        yield Streamed(Operand(X, layout), kernel)
    for capacity in (0, 1, 3 * n // 7, n):
        yield Cached(Operand(X), kernel, capacity * row)


@pytest.mark.parametrize("kernel", [Poly(3), RBF(0.1)], ids=repr)
def test_rows_squares_and_updates_agree(X, kernel):
    X = X[: 35 if config.DISABLE_JIT else 700]  # plain Python is slow
    n, K = len(X), kernel.block(X, X)
    rng = np.random.default_rng(2)
    for gram in sources(X, kernel):
        np.testing.assert_allclose(gram.diag, np.diagonal(K), rtol=1e-5)
        for size in (1, 5, 2 * n // 5, n - n // 14):
            idx = np.sort(rng.choice(n, size, replace=False))
            np.testing.assert_allclose(gram.rows(idx, Work()), K[idx], rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(gram.square(idx, Work()), K[np.ix_(idx, idx)], rtol=1e-5, atol=1e-6)
            F, coef = rng.normal(size=(3, n)), rng.normal(size=(3, size))
            expected = F + coef @ K[idx].astype(float)
            gram.add_to(F, idx, coef, gram.columns(None), Work())
            np.testing.assert_allclose(F, expected, rtol=1e-5, atol=1e-3 * abs(expected).max() / 100)
            for cols in (np.arange(5, n, 3), np.arange(0)):
                part = np.zeros((3, len(cols)))
                gram.add_to(part, idx, coef, gram.columns(cols), Work())
                expected = (coef @ K[idx].astype(float))[:, cols]
                np.testing.assert_allclose(part, expected, rtol=1e-5, atol=1e-5 * abs(coef).sum())


@pytest.mark.parametrize("n", [200, 700])
@pytest.mark.parametrize("kernel", [Poly(3), RBF(0.1)], ids=repr)
def test_exact_sums_are_those_of_the_kernel_in_double_precision(X, kernel, n):
    X, rng = X[:n], np.random.default_rng(3)
    K = kernel.exact(X, X)
    for gram in (*sources(X, kernel), Dense(K)):
        tolerance = (1e-12 if gram.double else 1e-6) * abs(K).max()
        for cols in (np.arange(3, n, 2), rng.integers(0, n, n // 3)):
            idx, coef = rng.choice(n, n - 50, replace=False), 1e4 * rng.normal(size=len(cols))
            sums, expected = gram.exact_sums(idx, cols, coef, Work()), K[np.ix_(idx, cols)] @ coef
            np.testing.assert_allclose(sums, expected, atol=tolerance * abs(coef).sum(), rtol=0)
            if isinstance(gram, Dense) and gram.double:
                np.testing.assert_allclose(sums, expected, rtol=1e-10)


def test_two_fits_may_ask_one_cache_at_the_same_time(X):
    gram, K = Cached(Operand(X), RBF(0.1), 4 * 700 * 40), RBF(0.1).block(X, X)

    def ask(seed):
        rng = np.random.default_rng(seed)
        for _ in range(60):
            idx = rng.choice(700, 30, replace=False)
            np.testing.assert_allclose(gram.rows(idx, Work()), K[idx], atol=1e-6)

    with ThreadPoolExecutor(4) as pool:
        for done in [pool.submit(ask, seed) for seed in range(4)]:
            done.result()


def test_the_cache_counts_what_it_computes(X):
    gram, work = Cached(Operand(X), RBF(0.1), 4 * 700 * 10), Work()
    gram.rows(np.arange(10), work)
    assert (work.evaluations, work.hits, work.misses) == (7000, 0, 10)
    gram.rows(np.arange(10), work)
    assert (work.evaluations, work.hits, work.misses) == (7000, 10, 10)


def test_the_least_recently_used_rows_make_room(X):
    gram = Cached(Operand(X), RBF(0.1), 4 * 700 * 3)
    gram.rows(np.array([1]), Work())
    gram.rows(np.array([2]), Work())
    gram.rows(np.array([3]), Work())
    gram.rows(np.array([1]), Work())
    gram.rows(np.array([4]), Work())  # 2 is the oldest
    assert [int(gram.slot[i] >= 0) for i in (1, 2, 3, 4)] == [1, 0, 1, 1]


def test_the_store_keeps_its_budget(X):
    gram = Cached(Operand(X), RBF(0.1), 100_000)
    np.testing.assert_allclose(gram.rows(np.arange(700), Work()), RBF(0.1).block(X, X), atol=1e-6)
    assert gram.store.nbytes == 100_000 // (4 * 700) * 4 * 700


def test_a_gram_matrix_must_be_square():
    with pytest.raises(ValueError, match="square"):
        Dense(np.zeros((3, 4)))
