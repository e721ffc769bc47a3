"""Thumbnails of datasets: images in frames, feature rows as stripes, points in the plane as a scatter plot.

Thumbnails are uint8 on a light background; points have the two class colours of the app.
"""

import numpy as np

from data.dataset import Dataset

ROWS, COLUMNS = 2, 5
CELL, PICTURE = 36, 32  # sides in pixels of a frame and of the largest picture in it
GROUND = 255
PLUS, MINUS = (0, 114, 178), (213, 94, 0)  # Okabe-Ito blue and vermilion


def draw(dataset: Dataset) -> np.ndarray:
    """The thumbnail, (height, width) or (height, width, 3) uint8."""
    if dataset.image_shape or dataset.album is not None:
        return _montage(dataset)
    if dataset.X_train.shape[1] == 2:
        return _plane(dataset)
    return _stripes(dataset.X_train)


def frames() -> np.ndarray:
    """Empty frames, for a dataset that is not available."""
    cell = np.full((CELL, CELL), GROUND, np.uint8)
    cell[1:-1, 1:-1] = GROUND - 20
    return np.tile(cell, (ROWS, COLUMNS))


def _montage(dataset: Dataset) -> np.ndarray:
    """One example of each of the first classes, then others, each in a frame."""
    _, firsts = np.unique(dataset.y_train, return_index=True)
    chosen = list(dict.fromkeys([*firsts, *range(ROWS * COLUMNS)]))[: ROWS * COLUMNS]
    chosen = [k for k in chosen if k < len(dataset.X_train)]
    if dataset.album is not None:
        images = dataset.album.squares(chosen, PICTURE)
    else:
        images = dataset.X_train[chosen]
        low, high = float(images.min()), float(images.max())
        images = _in_cells(((images - low) / max(high - low, 1e-9) * 255).astype(np.uint8))
        images = 255 - images if dataset.entry.ink else images
    sheet = np.full((ROWS * CELL, COLUMNS * CELL, *images.shape[3:]), GROUND, np.uint8)
    for k, image in enumerate(images):
        y, x = (k // COLUMNS) * CELL + (CELL - image.shape[0]) // 2, (k % COLUMNS) * CELL + (CELL - image.shape[1]) // 2
        sheet[y : y + image.shape[0], x : x + image.shape[1]] = image
    return sheet


def _in_cells(images: np.ndarray) -> np.ndarray:
    """Images enlarged by whole factors to fit into PICTURE x PICTURE, or subsampled at a fixed step."""
    longest = max(images.shape[1:3])
    grown = images.repeat(max(PICTURE // longest, 1), axis=1).repeat(max(PICTURE // longest, 1), axis=2)
    step = -(-longest // PICTURE)
    return grown[:, ::step, ::step]


def _plane(dataset: Dataset) -> np.ndarray:
    X, sheet = dataset.X_train[:400], np.full((ROWS * CELL, COLUMNS * CELL, 3), GROUND, np.uint8)
    low, high = X.min(0), X.max(0)
    scale = (np.array(sheet.shape[1::-1]) - 4) / np.maximum(high - low, 1e-9)
    column, row = np.moveaxis(((X - low) * scale).astype(int), 1, 0)
    colour = np.where((dataset.y_train[:400] == dataset.classes[-1])[:, None], PLUS, MINUS)
    for dy in range(2):
        for dx in range(2):
            sheet[sheet.shape[0] - 3 - row + dy, column + 1 + dx] = colour
    return sheet


def _stripes(X: np.ndarray) -> np.ndarray:
    """The first rows, each feature from its lowest (light) to its highest value (dark)."""
    X = X[: ROWS * CELL, : COLUMNS * CELL]
    low, high = X.min(0), X.max(0)
    grey = GROUND - (X - low) / np.maximum(high - low, 1e-9) * 180
    return np.repeat(grey.astype(np.uint8), max(COLUMNS * CELL // X.shape[1], 1), axis=1)
