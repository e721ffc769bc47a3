"""The published datasets: arrays from the verified files of the manifest, in its order."""

import json
from pathlib import Path

import numpy as np

from data import places
from data.dataset import Arrays, DataError, in_words, mixed_order
from data.loaders import bundle, idx, libsvm, npz


def mnist(paths: list[Path]) -> Arrays:
    return Arrays(*(array.astype(np.int64) if array.ndim == 1 else array for array in map(idx.read, paths)))


def qmnist(paths: list[Path]) -> Arrays:
    """Test images and their labels, the first of eight columns, then the training digits of MNIST."""
    X_test, test_records, X, y = map(idx.read, paths)
    return Arrays(X, y.astype(np.int64), X_test, test_records[:, 0].astype(np.int64))


CLOTHES = (
    "T-shirt/top", "Trouser", "Pullover", "Dress", "Coat", "Sandal", "Shirt", "Sneaker", "Bag", "Ankle boot",
)  # fmt: skip


def fashion(paths: list[Path]) -> Arrays:
    """A JSON file for each class of clothes, {"data": rows of 28 * 28 bytes}, with the classes spread evenly. Empty
    rows are dropped: the file of class 0 has two. DataError for other rows."""
    X = [_pictures(path, 28) for path in paths]
    y = np.repeat(CLOTHES, list(map(len, X)))
    order = mixed_order(y)
    return Arrays.unsplit(np.concatenate(X)[order], y[order])


def _pictures(path: Path, side: int) -> np.ndarray:
    """(n, side, side) uint8: the rows of a JSON file that are not empty."""
    accepted = f'JSON: {{"data": [row, ...]}}, a row of {side * side} whole numbers from 0 to 255'
    with in_words(f"{path.name} is damaged", accepted), places.opened(path) as file:
        rows = [bytes(iter(row)) for row in json.load(file)["data"] if row]  # bytes(7) would be seven zeros
    if wrong := next((len(row) for row in rows if len(row) != side * side), None):
        raise DataError(f"{path.name} has a row of {wrong:,} numbers", accepted)
    return np.frombuffer(b"".join(rows), np.uint8).reshape(-1, side, side)


def usps(paths: list[Path]) -> Arrays:
    """Lines of a digit and 256 values in [-1, 1], -1 = background, as published with a textbook: Hastie, Tibshirani and
    Friedman, "The Elements of Statistical Learning", datasets, "ZIP code". Rescaled to [0, 1]: the background is 0."""
    train, test = (np.loadtxt(path, np.float32) for path in paths)
    X, X_test = ((rows[:, 1:].reshape(-1, 16, 16) + 1) / 2 for rows in (train, test))
    return Arrays(X, train[:, 0].astype(np.int64), X_test, test[:, 0].astype(np.int64))


def labelled_rows(paths: list[Path], side: int) -> Arrays:
    """Rows of side * side whole numbers and a label, as square images, with the classes spread evenly."""
    rows = np.loadtxt(paths[0], np.uint8, delimiter=",")
    rows = rows[mixed_order(rows[:, -1])] if (np.diff(rows[:, -1].astype(int)) >= 0).all() else rows
    return Arrays.unsplit(rows[:, :-1].reshape(-1, side, side), rows[:, -1].astype(np.int64))


def cbcl(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Windows X (n, 19, 19) uint8 and y (n,), +1 for a face. DataError for another file."""
    arrays = {member.name: npz.parse(member.name, member.read()) for member in bundle.from_path(path)}
    if not arrays.keys() >= {"X.npy", "y.npy"}:
        raise DataError(f"{path.name} has the arrays {', '.join(arrays)[:80]}", "X and y")
    X, y = arrays["X.npy"], arrays["y.npy"]
    if X.dtype != np.uint8 or X.shape != (len(y), 19, 19) or y.ndim != 1 or set(np.unique(y)) != {-1, 1}:
        raise DataError(
            f"{path.name} has X of {X.dtype} {X.shape} and y {y.shape}", "X of uint8 (n, 19, 19), labels +1 and -1"
        )
    return X.copy(), y.astype(np.int64)


def faces(paths: list[Path]) -> Arrays:
    X, y = cbcl(paths[0])
    order = mixed_order(y)
    return Arrays.unsplit(X[order], y[order])


def matlab(paths: list[Path]) -> Arrays:
    """A benchmark in Matlab's format: `data` (n, d) and `target` (n, 1)."""
    from scipy.io import loadmat  # 0.5 s to import

    content = loadmat(paths[0], variable_names=["data", "target"])
    return Arrays.unsplit(content["data"].astype(np.float32), content["target"].ravel().astype(np.int64))


def a9a(paths: list[Path]) -> Arrays:
    (X, y), (X_test, y_test) = (libsvm.read(path, n_features=123) for path in paths)
    return Arrays(X, y.astype(np.int64), X_test, y_test.astype(np.int64))


def label_last(paths: list[Path], names: int = 0, cells: type | str = np.float32) -> Arrays:
    """Lines of numbers and a label, after `names` header lines or KEEL's header (@); reordered so that the classes mix,
    as the files are sorted. cells: the type to read, text for labels that are words."""
    rows = np.loadtxt(paths[0], cells, delimiter=",", comments="@", skiprows=names)
    y = np.array([label.strip() for label in rows[:, -1]]) if rows.dtype.kind == "U" else rows[:, -1].astype(np.int64)
    order = mixed_order(y)
    return Arrays.unsplit(rows[order, :-1].astype(np.float32, copy=False), y[order])
