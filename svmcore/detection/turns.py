"""A picture turned and mirrored about its centre, for a machine that knows objects one way round.

    turned(p) = picture(M' (p - c') + c)        M (2, 2) orthogonal, c and c' the centres; all of the picture is in it

Beyond the picture its edge is repeated; greys are interpolated linearly, and exact for quarter turns and mirror images.
A window comes back as a box about the same place: its sides are those of the window, swapped by a quarter turn, and not
those of the larger upright box about a window that leans. Boxes that lie in the picture are searched, as upright ones.

Symbols: M takes (row, column), as jitters do; boxes (m, 4) float64, xmin ymin xmax ymax; shape (h, w) of the picture.

References: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 5 (rotated faces as future work); Rowley, Baluja
and Kanade, CVPR (1998) (a picture searched in many turns).
"""

from functools import lru_cache

import numpy as np
from scipy.ndimage import affine_transform

from svmcore.jitter import JitterSet

MOST = 36  # forms of a picture that are searched, one for every ten degrees
ALLOWED = f"rot:DEGREES,..., flip:h, flip:v, and their unions and products, without @border; at most {MOST} forms"
QUARTERS = "rot:90,180,-90"


@lru_cache(maxsize=64)
def matrices(text: str) -> tuple[np.ndarray, ...]:
    """M (2, 2) float64 of each turn or mirror image in a jitter set, the identity first. ValueError for other sets."""
    try:
        forms = JitterSet.parse(text).jitters
    except ValueError as error:
        raise ValueError(f"turns: {error}") from None
    linear = [dict(form.parts).get("linear", (1, 0, 0, 1)) for form in forms]
    turns = tuple(np.array(values, float).reshape(2, 2) for values in linear)
    orthogonal = all(np.allclose(M @ M.T, np.eye(2), atol=1e-6) for M in turns)
    plain = all({kind for kind, _ in form.parts} <= {"linear"} and form.offset == (0, 0) for form in forms)
    if not (orthogonal and plain) or "@" in text or len(forms) > MOST:
        raise ValueError(f"turns = {text!r}; allowed: {ALLOWED}")
    return turns


def upright(M: np.ndarray) -> bool:
    """Whether a form is the picture as it is."""
    return bool((np.eye(2) == M).all())


def turned_shape(shape: tuple[int, int], M: np.ndarray) -> tuple[int, int]:
    """Height and width of a turned picture."""
    h, w = np.ceil(np.abs(M) @ shape - 1e-6).astype(int).tolist()
    return h, w


def turned(picture: np.ndarray, M: np.ndarray) -> np.ndarray:
    """A picture (h, w) uint8 turned; itself by the identity."""
    if upright(M):
        return picture
    shape = turned_shape(picture.shape, M)
    offset = _centre(picture.shape) - M.T @ _centre(shape)
    out = affine_transform(picture, M.T, offset, shape, np.float32, order=1, mode="nearest")
    return np.rint(out).astype(np.uint8)


def turned_back(boxes: np.ndarray, M: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Boxes in a turned picture as boxes in the picture of this shape."""
    return boxes if upright(M) else moved(boxes, M.T, turned_shape(shape, M), shape)


def moved(boxes: np.ndarray, M: np.ndarray, shape: tuple[int, int], onto: tuple[int, int]) -> np.ndarray:
    """Boxes in a picture of a shape, where M about its centre puts them in a picture of the shape `onto`."""
    centre, half = (boxes[:, :2] + boxes[:, 2:]) / 2, (boxes[:, 2:] - boxes[:, :2]) / 2
    centre, half = _places(centre, M, shape, onto), (half[:, ::-1] @ M.T**2)[:, ::-1]
    return np.concatenate([centre - half, centre + half], axis=1)


def inside(boxes: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """(m,) bool: which boxes lie in a picture of this shape, to a millionth of a pixel."""
    return ((boxes[:, :2] >= -1e-6) & (boxes[:, 2:] <= np.array(shape[::-1]) + 1e-6)).all(axis=1)


def _places(places: np.ndarray, M: np.ndarray, shape: tuple[int, int], onto: tuple[int, int]) -> np.ndarray:
    """Where places (n, 2), x and y from the corner of a picture, come to."""
    return ((places[:, ::-1] - np.array(shape) / 2) @ M.T + np.array(onto) / 2)[:, ::-1]


def _centre(shape: tuple[int, int]) -> np.ndarray:
    """(row, column) of the middle, in pixels whose own middles are whole numbers."""
    return (np.array(shape) - 1) / 2
