"""Rows that stay in their file: the machine is that of the array, memory stays within what was said, and a file that
changes or ends early is an error in words."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

from data.loaders.check import _is_rounded
from svmcore import RBF, SVC, BudgetError, Decomposition, FileRows, Poly
from svmcore import rows as module
from svmcore.gram import filed
from svmcore.gram.filed import FiledOperand
from svmcore.gram.products import Operand
from svmcore.gram.sources import Streamed, Work
from svmcore.rows import lost_columns, pieces
from tests import naive

ROOT = Path(__file__).parent.parent


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch):
    """Pieces of some dozens of rows, so that small files have many, and no file so small that it is read at once."""
    monkeypatch.setattr("svmcore.svc.SMALL_SHARE", 0)
    for where in (module, filed):
        monkeypatch.setattr(where, "PIECE", 1 << 12)
    monkeypatch.setattr(module, "NEAR", 64)
    monkeypatch.setattr("svmcore.source.PIECE", 1 << 12)


def table(n, d, seed, scale=1.0, whole=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32) * np.float32(scale)
    if whole:
        X = np.rint(np.abs(X) * 80).clip(0, 255).astype(np.uint8)
    y = (X[:, 0] * 1.0 > np.median(X[:, 1])) ^ (rng.random(n) < 0.1)
    return X, y.astype(int)


def in_file(path, X, **how):
    np.save(path, X)
    return FileRows.open(path, **how)


# Reading


@pytest.mark.parametrize("dtype", ["<f4", ">f4", "<f8", "u1", "<i2"])
def test_any_rows_are_read_as_the_array_has_them(dtype, tmp_path):
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(700, 13)) * 50).clip(0).astype(dtype)
    rows, same = in_file(tmp_path / "x.npy", X, scale=0.5), X.astype(np.float32) * np.float32(0.5)
    assert (len(rows), rows.shape) == (700, (700, 13))
    assert np.array_equal(rows[:], same)
    for _ in range(30):
        idx = rng.integers(0, 700, rng.integers(0, 300))
        assert np.array_equal(rows[idx], same[idx])
        a, b, step = rng.integers(-700, 700, 3)
        assert np.array_equal(rows[a : b : step or 1], same[a : b : step or 1])
    assert np.array_equal(rows[same[:, 0] > 3], same[same[:, 0] > 3])
    assert rows.var() == pytest.approx(same.astype(np.float64).var(), rel=1e-9)
    assert sum(part.stop - part.start for part in pieces(*rows.shape)) == 700


@pytest.mark.parametrize(("offset", "step"), [(16_000_000, 1), (8_000_000, 1), (4e6, 0.5), (0, 1), (-1e7, 3)])
def test_the_variance_of_numbers_far_from_0(offset, step, tmp_path):
    X = (offset + step * np.random.default_rng(0).integers(0, 2, (60_000, 4))).astype(np.float32)
    assert in_file(tmp_path / "x.npy", X).var() == pytest.approx(float(X.astype(np.longdouble).var()), rel=1e-9)


def test_rows_less_a_shift_and_in_double_precision(tmp_path):
    X = 20_000 + np.random.default_rng(0).random((500, 3))
    rows, shift = in_file(tmp_path / "x.npy", X), np.array([20_000.0, 0, 1])
    np.testing.assert_array_equal(rows.rows(slice(3, 90, 7), np.float64), X[3:90:7])
    np.testing.assert_array_equal(rows.rows([5, 2], np.float64), X[[5, 2]])
    np.testing.assert_array_equal(rows.less(shift)[10:40], (X[10:40] - shift).astype(np.float32))
    np.testing.assert_array_equal(rows[::-1], X[::-1].astype(np.float32))


def _ordinary(rng) -> dict[str, np.ndarray]:
    """Columns of which float32 keeps all that matters."""
    n = 3000
    return {
        "normal": rng.normal(size=n),
        "lognormal": np.exp(3 * rng.normal(size=n)),
        "cauchy": rng.standard_cauchy(n),
        "shares": rng.random(n),
        "grey": rng.integers(0, 256, n) / 255,
        "kelvin": 273.15 + 20 * rng.normal(size=n),
        "pressure": 101_325 + 20 * rng.normal(size=n),
        "year": rng.integers(1900, 2030, n).astype(float),
        "whole": rng.integers(0, 1 << 24, n).astype(float),
        "price": rng.choice([0.99, 19.99, 1999.99], n),
        "mostly 0": np.where(rng.random(n) < 0.9, 0, rng.normal(100, 3, n)),
        "constant": np.full(n, 0.1),
        "constant but for rounding": 0.1 * (1 + rng.integers(-2, 3, n) * 2.0**-52),
        "levels but for rounding": rng.integers(1, 9, n) * 0.1 * (1 + rng.integers(-1, 2, n) * 2.0**-52),
        "tiny": 1e-30 * rng.normal(size=n),
    }


def _rounded(rng) -> dict[str, np.ndarray]:
    """Columns that tell less in float32: fewer distinct numbers, or moved ones."""
    n, seconds = 3000, 1.7e9 + np.arange(3000) / 5
    return {
        "seconds": seconds,
        "milliseconds": 1000 * seconds,
        "one unknown": np.where(np.arange(n) == 7, 0, seconds),
        "two groups": np.where(rng.random(n) < 0.5, 1e6, 0) + 0.01 * rng.random(n),
        "ten groups": 1e6 * rng.integers(0, 10, n) + 0.01 * rng.random(n),
        "numbers of orders": 1e9 + np.arange(n, dtype=float),
        "mostly 0": np.where(rng.random(n) < 0.8, 0, seconds),
        "sawtooth": 20_000 + 1e-3 * rng.random(n),
        "day": 1.7e9 + 40_000 * rng.random(n),
    }


@pytest.mark.parametrize("n", [60, 600, 3000])
def test_columns_are_judged_by_neighbouring_numbers(n, tmp_path, monkeypatch):
    monkeypatch.setattr(module, "PIECE", 1 << 23)
    for columns, lost in ((_ordinary(np.random.default_rng(n)), False), (_rounded(np.random.default_rng(n)), True)):
        X = np.column_stack([column[:: 3000 // n] for column in columns.values()])
        for given in (X, csr_matrix(X), in_file(tmp_path / "x.npy", X)):
            assert [*columns] == [[*columns][k] for k in lost_columns(given)] if lost else not len(lost_columns(given))
        assert [_is_rounded(np.sort(column)) for column in X.T] == [lost] * len(columns), "a table's own check"
        assert not len(lost_columns(X.astype(np.float32)))
        if lost:  # by counting: fewer numbers, or differences of neighbours that are off by a per cent
            kept = X.astype(np.float32).astype(np.float64)
            fewer = np.array([len(np.unique(a)) < len(np.unique(b)) for a, b in zip(kept.T, X.T)])
            gaps = [np.diff(np.sort(part, axis=0), axis=0) for part in (kept, X)]
            assert (fewer | (np.abs(gaps[0] - gaps[1]) > 0.01 * gaps[1]).any(axis=0)).all()


def test_an_idx_file_is_rows_of_pixels(tmp_path):
    images = np.random.default_rng(0).integers(0, 256, (90, 5, 4)).astype(np.uint8)
    path = tmp_path / "images-idx3-ubyte"
    path.write_bytes(b"\0\0\x08\x03" + np.array(images.shape, ">u4").tobytes() + images.tobytes())
    rows = FileRows.open(path, scale=1 / 255)
    np.testing.assert_array_equal(rows[:], images.reshape(90, 20).astype(np.float32) * np.float32(1 / 255))


def test_a_mapped_array_and_its_slices_are_found_in_their_file(tmp_path):
    X, _ = table(500, 6, 0)
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    for part in (slice(None), slice(100, 400), slice(7, 8)):
        assert np.array_equal(FileRows.of(mapped[part])[:], X[part])
    raw = np.memmap(tmp_path / "raw", np.float32, "w+", 24 * 777, (40, 6))
    raw[:] = X[:40]
    assert np.array_equal(FileRows.of(raw)[:], X[:40])
    assert FileRows.of(mapped[::2]) is None
    assert FileRows.of(mapped[:, :3]) is None
    assert FileRows.of(np.load(tmp_path / "x.npy", mmap_mode="c")) is None, "it may have changes of its own"
    assert FileRows.of(X) is None
    (tmp_path / "x.npy").unlink()
    assert FileRows.of(mapped) is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "neither an .npy file"), (b"x,y\n1,2\n", "neither an .npy file"),
        (b"\x93NUMPY\x01\0\x10\0{'descr': 'z'", "neither an .npy file"),
        (b"\0\0\x08\x03\0\0\0\x09" + b"\0\0\0\x02" * 2, "its 9 rows need"),
        (b"\0\0\x08\x01\0\0\0\x02ab", "allowed: rows of numbers"),
    ],
)  # fmt: skip
def test_what_is_no_file_of_rows_is_named(content, says, tmp_path):
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(ValueError, match=says):
        FileRows.open(tmp_path / "x")


def test_other_arrays_are_named(tmp_path):
    for array, says in ((np.asfortranarray(np.ones((9, 3))), "stored by columns"), (np.ones(4), "rows of numbers"),
                        (np.array([["a", "b"]]), "rows of numbers")):  # fmt: skip
        np.save(tmp_path / "x.npy", array)
        with pytest.raises(ValueError, match=says):
            FileRows.open(tmp_path / "x.npy")
    np.save(tmp_path / "x.npy", np.array([[{}]]), allow_pickle=True)
    with pytest.raises(ValueError, match="rows of numbers"):
        FileRows.open(tmp_path / "x.npy")


# Kernel values


@pytest.mark.parametrize("keep", [0, 25_000, 10**9])
@pytest.mark.parametrize(("kernel", "scale", "whole"), [(RBF(0.1), 1, False), (Poly(3, 0.01, 1), 1, True),
                                                         (RBF(0.5), 300, False)])  # fmt: skip
def test_a_source_of_rows_in_a_file_gives_the_values_of_the_array(kernel, scale, whole, keep, tmp_path):
    X, _ = table(400, 9, 1, scale, whole)
    rows, X = in_file(tmp_path / "x.npy", X), X.astype(np.float32)
    ours, theirs, work = Streamed(FiledOperand(rows, keep), kernel), Streamed(Operand(X), kernel), Work()
    K, rng = kernel.exact(X, X), np.random.default_rng(0)
    size = np.abs(K).max()
    idx, cols = rng.permutation(400)[:60], np.sort(rng.permutation(400)[:300])
    for _ in range(2):  # the second time from what is kept
        np.testing.assert_allclose(ours.rows(idx, work), K[idx], atol=1e-5 * size)
        np.testing.assert_allclose(ours.square(idx, work), K[np.ix_(idx, idx)], atol=1e-5 * size)
        np.testing.assert_allclose(ours.between(idx, cols, work), K[np.ix_(idx, cols)], atol=1e-5 * size)
        np.testing.assert_array_equal(ours.exact(idx, cols, work), theirs.exact(idx, cols, work))
        coef = rng.normal(size=(3, 60))
        for at in (None, cols, cols[:5]):
            F = np.zeros((3, 400 if at is None else len(at)))
            ours.add_to(F, idx, coef, ours.columns(at), work)
            np.testing.assert_allclose(F, coef @ K[idx][:, slice(None) if at is None else at], atol=2e-4 * size)
    np.testing.assert_array_equal(ours.diag, theirs.diag)
    held = sum(each.X.nbytes + each.nbytes for each in ours.operand.held.values())
    assert held <= keep
    assert (len(ours.operand.held) > 0) == (keep > 0)


# Fits


@pytest.mark.parametrize(
    ("n", "d", "seed", "scale"), [(200, 6, 3, 1.0), (300, 5, 0, 1.0), (1200, 12, 1, 0.1), (3500, 8, 2, 40.0)]
)
@pytest.mark.parametrize("how", [{}, {"cache_mb": 4}, {"solver": "a set of 90"}])
def test_the_machine_of_a_file_is_that_of_the_array(n, d, seed, scale, how, tmp_path):
    X, y = table(n, d, seed, scale)
    kernel, C = RBF(0.5 / d / scale**2), 2.0
    if how.get("solver"):
        how = {"solver": Decomposition(working_set=9 * n // 10)}
    rows = in_file(tmp_path / "x.npy", X)
    array = SVC(kernel, C=C, tol=1e-4).fit(X, y)
    size = np.abs(array.decision_function(X)).max()
    for given in (rows, np.load(tmp_path / "x.npy", mmap_mode="r")):
        found = SVC(kernel, C=C, tol=1e-4, **how)
        assert found._in_file(given) is not None
        found.fit(given, y)
        assert found.converged_
        np.testing.assert_allclose(found.decision_function(rows), array.decision_function(X), atol=1e-3 * size)
        assert np.array_equal(found.support_vectors_, X[found.support_])
        assert found.score(given, y) == pytest.approx(array.score(X, y), abs=0.005)
    assert true_gap(found, kernel, X, y, C) <= 1.001e-4


def true_gap(found, kernel, X, y, C) -> float:
    """Of all rows, in double precision, by a few lines of NumPy."""
    alpha = np.zeros(len(y))
    alpha[found.support_] = np.abs(found.dual_coef_[0])
    Y = np.where(y > 0, 1.0, -1.0)
    assert abs(alpha @ Y) < 1e-9
    assert alpha.max() <= C
    K = np.exp(-kernel.gamma * ((X[:, None].astype(np.float64) - X[found.support_]) ** 2).sum(-1))
    return naive.gap_of(K @ (alpha * Y)[found.support_] - Y, Y, np.full(len(Y), C), alpha)


def test_several_classes_scale_gamma_and_weights(tmp_path):
    X, y = table(900, 6, 3, whole=True)
    y = y + (X[:, 2] > 60)
    rows = in_file(tmp_path / "x.npy", X, scale=1 / 255)
    A, w = X.astype(np.float32) * np.float32(1 / 255), np.random.default_rng(0).random(900)
    file, array = SVC("rbf", cache_mb=4, solver="decomposition"), SVC("rbf", solver="decomposition")
    file.fit(rows, y, w), array.fit(A, y, w)
    assert file.kernel_.gamma == pytest.approx(array.kernel_.gamma, rel=1e-6)
    np.testing.assert_allclose(file.decision_function(rows), array.decision_function(A), atol=5e-3)
    assert file.n_features_in_ == 6


def test_solvers_and_kernels_that_take_all_rows_are_given_them(tmp_path):
    X, y = table(200, 4, 0)
    rows = in_file(tmp_path / "x.npy", X)
    for how in ({"solver": "smo"}, {"solver": "smo-digestion"}, {"solver": "general"}):
        np.testing.assert_array_equal(
            SVC(RBF(0.3), **how).fit(rows, y).decision_function(rows),
            SVC(RBF(0.3), **how).fit(X, y).decision_function(X),
        )


def test_wrong_labels_and_too_little_memory_are_named(tmp_path):
    X, y = table(3000, 20, 0)
    rows = in_file(tmp_path / "x.npy", X)
    with pytest.raises(ValueError, match="X has 3000 rows, but y has 2999"):
        SVC(RBF(0.1), cache_mb=5).fit(rows, y[1:])
    with pytest.raises(BudgetError, match="training on 3000 examples in a file needs"):
        SVC(RBF(0.1), cache_mb=0.5).fit(rows, y)
    with pytest.raises(ValueError, match="greater than one"):
        SVC(RBF(0.1), cache_mb=5).fit(rows, np.zeros(3000))
    X[1234, 5] = np.nan
    with pytest.raises(ValueError, match=r"x\.npy has missing or infinite values"):
        SVC(RBF(0.1), cache_mb=5).fit(in_file(tmp_path / "x.npy", X), y)
    with pytest.raises(ValueError, match=r"allowed: \(n, 20\)"):
        SVC(RBF(0.1)).fit(X[:100], y[:100]).decision_function(in_file(tmp_path / "z.npy", X[:, :7].copy()))


def test_a_stop_and_a_limit_leave_feasible_alpha(tmp_path):
    X, y = table(3000, 20, 0)
    rows = in_file(tmp_path / "x.npy", X)
    with pytest.warns(match="max_iter"):
        limited = SVC(RBF(0.05), cache_mb=8, max_iter=300).fit(rows, y)
    stopped = SVC(RBF(0.05), cache_mb=8).fit(rows, y, monitor=lambda progress: progress.iterations < 200)
    for found in (limited, stopped):
        assert not found.converged_
        assert np.isfinite(true_gap(found, RBF(0.05), X, y, 1.0))
    true = true_gap(limited, RBF(0.05), X, y, 1.0)
    assert 0.9 * limited.gap_ <= true <= limited.gap_ * (1 + 1e-9), "what it says is a bound of the true gap"


# Files that change


@pytest.mark.parametrize("how", ["cut short", "written to", "deleted"])
def test_a_file_that_changes_while_it_is_trained_on(how, tmp_path):
    X, y = table(3000, 20, 0)
    path = tmp_path / "x.npy"
    rows, done = in_file(path, X), []

    def meanwhile(progress):
        if progress.kernel_evals and not done:
            done.append(how)
            if how == "cut short":
                os.truncate(path, 100_000)
            elif how == "written to":
                with path.open("r+b") as file:
                    file.seek(50_000)
                    file.write(b"\0" * 400)
            else:
                path.unlink()
        return True

    machine = SVC(RBF(0.05), cache_mb=8)
    if how == "deleted":  # what is open stays
        assert machine.fit(rows, y, monitor=meanwhile).converged_
    else:
        with pytest.raises(OSError, match=r"x\.npy: the file was changed or truncated"):
            machine.fit(rows, y, monitor=meanwhile)
    assert done


MEMORY = """
import json, sys
import numpy as np
from svmcore import RBF, SVC, FileRows
from svmcore.memory import resident_mb, peak_mb
path, mb = sys.argv[1], float(sys.argv[2])
rows = FileRows.open(path, scale=1 / 255)
y = np.load(sys.argv[3])
SVC(RBF(0.01), cache_mb=60).fit(rows[:3000], y[:3000])
SVC(RBF(0.01), cache_mb=100, max_iter=200).fit(FileRows(path, (5000, 784), "u1", rows.offset, 1 / 255), y[:5000])
open("/proc/self/clear_refs", "w").write("5")
before = resident_mb()
machine = SVC(RBF(0.01), cache_mb=mb, max_iter=1500).fit(rows, y)
with open("/proc/self/status") as lines:
    peak = next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024
print(json.dumps({"grew": peak - before, "n_sv": len(machine.support_)}))
"""


@pytest.mark.ci
@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the system does not tell peaks of memory")
def test_memory_stays_within_what_was_said(tmp_path):
    rng = np.random.default_rng(0)
    n = 60_000
    X = (rng.random((n, 784)) < 0.1) * rng.integers(1, 256, (n, 784), dtype=np.uint8)
    np.save(tmp_path / "x.npy", X.astype(np.uint8))
    np.save(tmp_path / "y.npy", (X[:, :40].sum(1, dtype=int) > 40 * 12).astype(int))
    env = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    said = 120  # MB, where float32 rows would take 188
    command = [sys.executable, "-c", MEMORY, str(tmp_path / "x.npy"), str(said), str(tmp_path / "y.npy")]
    done = subprocess.run(command, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert told["n_sv"] > 500
    assert told["grew"] <= said
