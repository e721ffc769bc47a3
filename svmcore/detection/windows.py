"""Windows of a picture: pooled pixels, and square chips cut out around places.

    pooled[y, x] = mean of the picture's pool x pool pixels that begin at (pool y, pool x)

Volcano images are pooled 2 x 2, as 15 x 15 chips at full resolution miss most of a volcano.
Reference: Burl et al., Machine Learning 30 (1998), section 3.
"""

import numpy as np


def pooled(image: np.ndarray, pool: int) -> np.ndarray:
    """The picture (h, w) averaged over pool x pool pixels, (h // pool, w // pool) uint8; what is left over at the right
    and lower border is cut off. ValueError when nothing would be left."""
    h, w = (size // pool for size in image.shape)
    if not h or not w:
        raise ValueError(f"pool = {pool}; allowed: at most {min(image.shape)}, the smaller side of the picture")
    if pool == 1:
        return np.asarray(image, np.uint8)
    cells = image[: h * pool, : w * pool].reshape(h, pool, w, pool)
    return np.rint(cells.mean(axis=(1, 3))).astype(np.uint8)


def fitting(shape: tuple[int, int], centres: np.ndarray, side: int) -> np.ndarray:
    """Which of the chips around centres (m, 2), row and column, lie inside a picture of this shape: (m,) bool."""
    low = np.asarray(centres) - side // 2
    return ((low >= 0) & (low + side <= shape)).all(axis=1)


def chips(image: np.ndarray, centres: np.ndarray, side: int) -> np.ndarray:
    """Square windows (m, side, side) of a picture (h, w) around centres (m, 2), row and column, whole numbers.

    ValueError for one that leaves the picture (see `fitting`).
    """
    centres = np.asarray(centres, np.int64).reshape(-1, 2)
    if not fitting(image.shape, centres, side).all():
        raise ValueError(
            f"a window of {side} x {side} extends beyond the picture of shape {image.shape}; allowed: windows within it"
        )
    if not len(centres):
        return np.empty((0, side, side), image.dtype)
    windows = np.lib.stride_tricks.sliding_window_view(image, (side, side))
    top, left = (centres - side // 2).T
    return windows[top, left]
