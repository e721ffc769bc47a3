"""Face windows: the CBCL faces with their mirror images, and windows from photographs without faces.

Half of the windows without faces are random in position and scale. The others are harder: of HARDER times as many
random windows, those most similar to the mean face (correlation, independent of grey level and contrast). This replaces
bootstrapping, in which a trained detector collects its own false alarms, and needs no detector.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from PIL import Image

from data.dataset import Arrays, mixed_order
from data.loaders import bundled, images

SIDE, STEP, HARDER = 19, 1.2, 8  # pixels of a window; ratio of two scales; windows drawn for each hard one kept
COUNT = 52_000  # examples in total
PIECES = 16  # windows are compared in this many pieces, as a comparison takes sixteen times their memory
SEED = 0


def face_windows(paths: list[Path]) -> Arrays:
    """COUNT windows (19, 19) uint8 with labels +1 (face) and -1, with the classes spread evenly.

    paths: the CBCL set, then the photographs.
    """
    cbcl = bundled.faces(paths[:1])
    faces = cbcl.X_train[cbcl.y_train > 0]
    own = np.concatenate([faces, faces[:, :, ::-1], cbcl.X_train[cbcl.y_train < 0]])
    rng, wanted = np.random.default_rng(SEED), COUNT - len(own)
    scenes = [images.decode(path.name, path.read_bytes()).pixels for path in paths[1:]]
    plain = _drawn(scenes, wanted // 2, rng)
    drawn = _drawn(scenes, HARDER * (wanted - len(plain)), rng)
    mean = _normed(faces.mean(0)[None])[0]
    alike = np.concatenate([_normed(some) @ mean for some in np.array_split(drawn, PIECES)])
    hard = drawn[np.sort(np.argsort(-alike, kind="stable")[: wanted - len(plain)])]
    X = np.concatenate([own, plain, hard])
    y = np.where(np.arange(len(X)) < 2 * len(faces), 1, -1).astype(np.int64)
    order = mixed_order(y)
    return Arrays.unsplit(X[order], y[order])


def _drawn(scenes: list[np.ndarray], count: int, rng: np.random.Generator) -> np.ndarray:
    """Windows (count, SIDE, SIDE) uint8 at random from all scales of all scenes, each with a weight by its number of
    positions."""
    scales = [scaled for scene in scenes for scaled in _pyramid(scene)]
    places = np.array([(h - SIDE + 1) * (w - SIDE + 1) for h, w in (scaled.shape for scaled in scales)])
    shares = np.sqrt(places)  # square root, so that coarse scales with few positions are represented
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
