"""Blocks of kernel values: both layouts against the obvious formula, at any shape and density."""

import os
import subprocess
import sys
import threading

import numpy as np
import pytest

from svmcore import RBF, Linear, Poly, Sigmoid
from svmcore.gram.products import LITTLE, WIDTH, Operand
from svmcore.gram.threads import CORES, side_by_side
from svmcore.gram.tiles import WHOLE_FEATURES, whole_steps
from tests.cases import all_cases

PLAINEST = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}

KERNELS = [Linear(), Poly(9, 1.0, 1.0), Poly(2, 0.5, 0.0, normalised=False), RBF(0.3), Sigmoid(0.1, 0.2)]
SHAPES = [(1, 1, 1.0), (5, 3, 0.5), (300, 1, 0.5), (700, 33, 0.9), (513, 784, 0.05), (256, 10, 0.0), (1000, 40, 0.2)]


def sparse_rows(n, d, density, seed):
    rng = np.random.default_rng(seed)
    X = (rng.random((n, d)) < density) * rng.standard_normal((n, d))
    return (X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)).astype(np.float32)


def whole_rows(n, d, density, seed):
    rng = np.random.default_rng(seed)
    X = ((rng.random((n, d)) < density) * rng.integers(0, 256, (n, d))).astype(np.float32)
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1)


def naive_block(kernel, A, B):
    products = A.astype(np.float64) @ B.T.astype(np.float64)
    distances = ((A[:, None, :].astype(np.float64) - B[None]) ** 2).sum(axis=2)
    return {
        "linear": lambda k: products,
        "poly": lambda k: ((k.gamma * products + k.coef0) / (k.gamma + k.coef0 if k.normalised else 1)) ** k.degree,
        "rbf": lambda k: np.exp(-k.gamma * distances),
        "sigmoid": lambda k: np.tanh(k.gamma * products + k.coef0),
    }[kernel.name](kernel)


@all_cases("layout", ["dense", "sparse", "whole"])
@all_cases(("n", "d", "density"), SHAPES)
@all_cases("kernel", KERNELS, ids=str)
def test_block_and_take_are_the_kernel(layout, n, d, density, kernel):
    rows = whole_rows if layout == "whole" else sparse_rows
    X, A = rows(n, d, density, 0), rows(7, d, density, 1)
    operand = Operand(X, layout)
    np.testing.assert_allclose(operand.block(A, kernel), naive_block(kernel, A, X), rtol=2e-5, atol=2e-6)
    idx, cols = np.random.default_rng(2).integers(0, n, 9), slice(n // 3, n - n // 5)
    expected = naive_block(kernel, X[idx], X[cols])
    np.testing.assert_allclose(operand.take(idx, kernel, cols), expected, rtol=2e-5, atol=2e-6)


def test_features_that_x_never_uses_count_in_the_norm_only():
    X, A = np.eye(3, 5, dtype=np.float32), np.full((2, 5), 0.5, np.float32)
    np.testing.assert_allclose(Operand(X, "sparse").block(A, RBF(1.0)), naive_block(RBF(1.0), A, X), rtol=1e-6)


@pytest.mark.parametrize("layout", ["dense", "sparse"])
def test_no_rows_and_no_columns(layout):
    operand = Operand(np.eye(4, dtype=np.float32), layout)
    assert operand.block(np.empty((0, 4), np.float32), Linear()).shape == (0, 4)
    assert operand.take(np.arange(3), Linear(), slice(2, 2)).shape == (3, 0)


def test_out_is_filled_in_place_even_when_it_is_part_of_a_larger_array():
    X = sparse_rows(600, 20, 0.2, 0)
    for layout in ("dense", "sparse"):
        store = np.full((8, 700), 7, np.float32)
        out = store[2:6, 50:650]
        assert Operand(X, layout).take(np.arange(4), Linear(), out=out) is out
        np.testing.assert_allclose(out, X[:4] @ X.T, atol=1e-6)
        assert (store[:2] == 7).all()
        assert (store[:, :50] == 7).all()
        assert (store[:, 650:] == 7).all()


def test_rows_that_are_not_whole_against_whole_tiles():
    X, A = whole_rows(300, 30, 0.4, 0), sparse_rows(5, 30, 0.4, 1)
    np.testing.assert_allclose(Operand(X, "whole").block(A, Linear()), A @ X.T, atol=1e-6)


def test_whole_numbers_are_found_under_any_scaling_of_the_rows_and_nothing_else_is():
    X = whole_rows(50, 40, 0.5, 0)
    steps = whole_steps(X)
    np.testing.assert_allclose(X / steps[:, None], np.rint(X / steps[:, None]), atol=2e-4)
    assert whole_steps(np.zeros((3, 4), np.float32)) is not None
    assert whole_steps(-X) is None
    assert whole_steps(sparse_rows(50, 40, 0.5, 0)) is None
    assert whole_steps(np.array([[1, 257]], np.float32)) is None


def test_whole_products_are_exact():
    X = np.random.default_rng(0).integers(0, 256, (70, 500)).astype(np.float32)
    np.testing.assert_array_equal(Operand(X).block(X[:9], Linear()), X[:9].astype(np.float64) @ X.T.astype(np.float64))


def test_whole_products_are_exact_up_to_the_largest_sum():
    X = np.full((3, WHOLE_FEATURES), 255, np.float32)
    X[1, ::2], X[2, 5:] = 0, 0
    expected = (X.astype(np.int64) @ X.T.astype(np.int64)).astype(np.float32)
    np.testing.assert_array_equal(Operand(X, "whole").block(X, Linear()), expected)


@pytest.mark.ci
def test_whole_products_are_the_same_on_a_processor_that_has_no_instruction_for_them(tmp_path):
    X = np.random.default_rng(0).integers(0, 256, (70, 500)).astype(np.float32)
    np.save(tmp_path / "X.npy", X)
    script = (
        "import sys, numpy as np; from svmcore import Linear; from svmcore.gram.products import Operand;"
        "X = np.load(sys.argv[1] + '/X.npy'); np.save(sys.argv[1] + '/K.npy', Operand(X).block(X[:9], Linear()))"
    )
    plain = os.environ | PLAINEST | {"SVMLAB_HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=True, env=plain)
    np.testing.assert_array_equal(np.load(tmp_path / "K.npy"), Operand(X).block(X[:9], Linear()))


@all_cases("layout", ["dense", "sparse", "whole"])
@all_cases("kernel", KERNELS, ids=str)
def test_sums_are_of_the_kernel_values(layout, kernel):
    rows = whole_rows if layout == "whole" else sparse_rows
    X, A, coef = rows(700, 40, 0.3, 0), rows(9, 40, 0.3, 1), np.random.default_rng(2).standard_normal((3, 700))
    coef[0, :300], operand = 0, Operand(X, layout)
    expected = operand.block(A, kernel).astype(np.float64) @ coef.T
    np.testing.assert_allclose(operand.sums(A, kernel, coef), expected, rtol=1e-6, atol=1e-6)
    assert operand.sums(A[:0], kernel, coef).shape == (0, 3)


def test_an_operands_own_examples_are_rows_like_any_other():
    X, coef = whole_rows(900, 40, 0.3, 0), np.random.default_rng(1).standard_normal((2, 6)).astype(np.float32)
    operand, idx = Operand(X), np.array([7, 899, 3, 3, 500, 256])
    part = operand.subset(np.arange(1, 900, 2)).subset(np.arange(300))
    np.testing.assert_array_equal(operand.take(idx, RBF(0.5)), operand.block(X[idx], RBF(0.5)))
    np.testing.assert_array_equal(part.take(slice(250, 300), RBF(0.5)), part.block(X[501:600:2], RBF(0.5)))
    for other in (operand, Operand(X)):
        mine, theirs = np.zeros((2, 300)), np.zeros((2, 300))
        part.add_own_to(mine, other, idx, RBF(0.5), coef)
        part.add_to(theirs, X[idx], operand.sq[idx], RBF(0.5), coef)
        np.testing.assert_array_equal(mine, theirs)


def test_the_layout_follows_the_density():
    assert Operand(whole_rows(200, 50, 0.9, 0)).layout == "whole"
    assert Operand(sparse_rows(200, 50, 0.1, 0)).layout == "sparse"
    assert Operand(sparse_rows(200, 50, 0.9, 0)).layout == "dense"
    assert Operand(np.zeros((3, 2), np.float32)).layout == "whole"


def test_bad_input_is_refused_with_what_is_allowed():
    with pytest.raises(ValueError, match=r"layout = 'ragged'; allowed: 'auto', 'dense', 'sparse', 'whole'"):
        Operand(np.eye(2, dtype=np.float32), "ragged")
    with pytest.raises(ValueError, match="not every row of X is whole numbers from 0 to 255 times one step"):
        Operand(-np.eye(2, dtype=np.float32), "whole")
    with pytest.raises(ValueError, match=r"rows of 2 features; got an array of shape \(1, 3\)"):
        Operand(np.eye(2, dtype=np.float32)).block(np.ones((1, 3), np.float32), Linear())
    with pytest.raises(ValueError, match="cols has step 2; allowed: 1"):
        Operand(np.eye(2, dtype=np.float32)).take([0], Linear(), slice(0, 2, 2))


@pytest.mark.parametrize("calls", [CORES, CORES + 1])
def test_of_as_many_calls_as_cores_one_needs_no_other_thread(calls):
    seen = []
    side_by_side(lambda i: seen.append((i, threading.get_ident())), [(i,) for i in range(calls)])
    assert sorted(i for i, _ in seen) == list(range(calls))
    here = [i for i, thread in seen if thread == threading.get_ident()]
    assert here == ([0] if calls == CORES else [])


@pytest.mark.parametrize("n", [1, 500, 501, 2 * WIDTH - 1, 2 * WIDTH, 5 * WIDTH])
def test_columns_are_cut_for_all_cores_where_it_is_worth_it(n):
    operand = Operand(np.zeros((1, 784), np.float32), "dense")
    parts = operand._columns(256, n)
    assert np.array_equal(np.concatenate([np.arange(n)[part] for part in parts]), np.arange(n))
    assert max(part.stop - part.start for part in parts) <= WIDTH
    worth = 2 * 256 * 784 * n > LITTLE
    assert len(parts) == (max(CORES, -(-n // (CORES * WIDTH)) * CORES) if worth else 1)


def test_work_that_a_pool_hands_to_itself_ends():
    """Values of a kernel that fills its own blocks were computed in the pool's threads, which waited for each other."""
    done = []

    def outer(i):
        side_by_side(lambda j: done.append((i, j)), [(j,) for j in range(3)])

    side_by_side(outer, [(i,) for i in range(2 * CORES)])
    assert sorted(done) == [(i, j) for i in range(2 * CORES) for j in range(3)]
