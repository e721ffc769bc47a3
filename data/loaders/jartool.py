"""Magellan radar images of Venus with labelled volcanoes, in the formats of the JARtool experiment.

    .spr    text header: axes, then size, offset and scale of each, then the type (0 = uint8)
    .sdt    the pixels, row after row: I[y, x]
    .lxyr   one volcano a line: category (1 definitely, 2 probably, 3 possibly, 4 pit), x, y, radius in pixels of 75 m

Reference: Burl et al., "Learning to recognize volcanoes on Venus", Machine Learning 30, 1998.
"""

from pathlib import Path

import numpy as np

from data.dataset import DataError

SIDE, POOL = 15, 2  # a chip is SIDE x SIDE cells, each the mean of POOL x POOL pixels
CLEAR = 30  # pixels between a background chip's centre and the nearest labelled volcano
BACKGROUND = 3  # background chips per volcano
ACCEPTED = "an .sdt file of bytes with its .spr header"


def read_image(sdt: Path, spr: Path) -> np.ndarray:
    """(h, w) uint8. Raises DataError if the header is of another type or does not fit the file's size."""
    try:
        axes, width, _, _, height, _, _, kind = (float(line) for line in spr.read_text().split())
    except ValueError as error:
        raise DataError(f"{spr.name} is not the header of a two-axis image ({error})", ACCEPTED) from error
    pixels = np.fromfile(sdt, np.uint8)
    if (axes, kind) != (2, 0) or len(pixels) != width * height:
        raise DataError(f"{sdt.name} has {len(pixels)} bytes, its header says {spr.read_text().split()}", ACCEPTED)
    return pixels.reshape(int(height), int(width))


def read_truth(lxyr: Path) -> np.ndarray:
    """(m, 4) float64: category, x, y, radius of each labelled volcano; m may be 0."""
    return np.array([line.split() for line in lxyr.read_text().splitlines() if line.strip()], float).reshape(-1, 4)


def chips(sdt: Path, spr: Path, lxyr: Path, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Windows of one image, X (n, SIDE, SIDE) uint8 and y (n,): +1 around every volcano, -1 at seeded clear places."""
    image, truth = read_image(sdt, spr), read_truth(lxyr)
    h, w = (size // POOL for size in image.shape)
    image = image[: h * POOL, : w * POOL].reshape(h, POOL, w, POOL).mean((1, 3))
    half = SIDE // 2
    low, high = half, np.array([h, w]) - half
    centres = np.rint(truth[:, 2:0:-1] / POOL).astype(int)
    centres = centres[((centres >= low) & (centres < high)).all(1)]
    places = np.random.default_rng(seed).integers(low, high, (40 * len(truth), 2))
    distance = np.linalg.norm(places[:, None] * POOL - truth[None, :, 2:0:-1], axis=2).min(1)
    background = places[distance > CLEAR][: BACKGROUND * len(centres)]
    at = np.concatenate([centres, background])
    windows = np.lib.stride_tricks.sliding_window_view(image, (SIDE, SIDE))
    X = np.rint(windows[at[:, 0] - half, at[:, 1] - half]).astype(np.uint8)
    return X, np.repeat([1, -1], [len(centres), len(background)])
