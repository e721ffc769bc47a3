"""The published datasets: arrays from the verified files of the manifest, in its order."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from data import places
from data.dataset import Arrays, DataError, in_words, mixed_order
from data.loaders import bundle, idx, images, libsvm, npz

# Face windows
SIDE, STEP = 19, 1.2  # pixels; ratio of two scales
HARDER = 8  # windows drawn for each hard one kept
COUNT = 52_000  # examples in total
PIECES = 16  # windows are compared in this many pieces, as a comparison takes sixteen times their memory
SEED = 0


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
    accepted = f'JSON: {{"data": [row, ...]}}, where each row has {side * side} whole numbers from 0 to 255'
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


def face_windows(paths: list[Path]) -> Arrays:
    """COUNT windows (19, 19) uint8 with labels +1 (face) and -1, with the classes spread evenly: the CBCL faces with
    their mirror images, and windows from photographs without faces. paths: the CBCL set, then the photographs.

    Half of the windows without faces are random in position and scale. The others are harder: of HARDER times as many
    random windows, those most similar to the mean face (correlation, independent of grey level and contrast). This
    replaces bootstrapping, in which a trained detector collects its own false alarms, and needs no detector.
    """
    known = faces(paths[:1])
    shown = known.X_train[known.y_train > 0]
    own = np.concatenate([shown, shown[:, :, ::-1], known.X_train[known.y_train < 0]])
    rng, wanted = np.random.default_rng(SEED), COUNT - len(own)
    scenes = [images.decode(path.name, path.read_bytes()).pixels for path in paths[1:]]
    plain = _drawn(scenes, wanted // 2, rng)
    drawn = _drawn(scenes, HARDER * (wanted - len(plain)), rng)
    mean = _normed(shown.mean(0)[None])[0]
    alike = np.concatenate([_normed(some) @ mean for some in np.array_split(drawn, PIECES)])
    hard = drawn[np.sort(np.argsort(-alike, kind="stable")[: wanted - len(plain)])]
    X = np.concatenate([own, plain, hard])
    y = np.where(np.arange(len(X)) < 2 * len(shown), 1, -1).astype(np.int64)
    order = mixed_order(y)
    return Arrays.unsplit(X[order], y[order])


def _drawn(scenes: list[np.ndarray], count: int, rng: np.random.Generator) -> np.ndarray:
    """Windows (count, SIDE, SIDE) uint8 at random from all scenes and scales, by their numbers of positions."""
    scales = [scaled for scene in scenes for scaled in _pyramid(scene)]
    counts = np.array([(h - SIDE + 1) * (w - SIDE + 1) for h, w in (scaled.shape for scaled in scales)])
    shares = np.sqrt(counts)  # square root, so that coarse scales with few positions are represented
    numbers = rng.multinomial(count, shares / shares.sum())
    out = np.empty((count, SIDE, SIDE), np.uint8)
    at = 0
    for scaled, number in zip(scales, numbers, strict=True):
        views = np.lib.stride_tricks.sliding_window_view(scaled, (SIDE, SIDE))
        rows, columns = (rng.integers(0, size, number) for size in views.shape[:2])
        out[at : at + number] = views[rows, columns]
        at += number
    return out


def _pyramid(scene: np.ndarray) -> Iterator[np.ndarray]:
    """The grey picture at every scale that still holds a window."""
    grey = scene if scene.ndim == 2 else scene.mean(2).astype(np.uint8)
    scale = 1.0
    while min(size := [round(side / scale) for side in grey.shape]) >= SIDE:
        yield np.asarray(Image.fromarray(grey).resize(size[::-1], Image.Resampling.BILINEAR))
        scale *= STEP


def _normed(windows: np.ndarray) -> np.ndarray:
    """Windows as rows (n, SIDE * SIDE) float32 with mean 0 and length 1."""
    rows = windows.reshape(len(windows), -1).astype(np.float32)
    rows -= rows.mean(1, keepdims=True)
    return rows / np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), 1e-6)
