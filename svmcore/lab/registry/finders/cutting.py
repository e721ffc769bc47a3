"""Windows to train on where a set brings none: cut out of the training pictures, around objects and elsewhere.

object     the square about its centre whose form, grown by the set's factor, is as large as the object
background squares of the objects' sizes that share at most CLEAR of their joint area with any object
"""

import numpy as np
from skimage.transform import resize

from data.pictures import Part, Picture, PictureSet
from svmcore.detection.suppression import overlaps
from svmcore.lab.registry.fields import RecipeError

OTHERS = 10, 300  # windows of background for each object, and at least
CLEAR = 0.1  # overlap with an object up to which a window shows background


def clear(boxes: np.ndarray, picture: Picture) -> np.ndarray:
    """Which boxes (m, 4) show no object of the picture, (m,) bool."""
    return ~(overlaps(boxes, picture.boxes) > CLEAR).any(axis=1)


def cut(recipe, pictures: PictureSet, part: Part, grow: float, check) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Windows (n, side, side) uint8 of the training pictures, +1 around every object and -1 of background by the seed;
    y and the picture of each. grow: how much larger an object is than its window. RecipeError where none is shown."""
    side, rng = recipe.option("chip"), np.random.default_rng(recipe.seed)
    X, y, picture = [], [], []
    n_objects = sum(len(pictures.pictures[at].boxes) for at in part.train)
    each = -(-max(OTHERS[0] * n_objects, OTHERS[1]) // max(len(part.train), 1))
    for at in part.train:
        check("searching")
        shown = pictures.pictures[at]
        squares = _squares(shown.boxes, grow)
        others = _background(shown, squares if len(squares) else None, side, each, rng)
        for square in (*squares, *others):
            X.append(_window(shown.image, square, side))
        y += [1] * len(squares) + [-1] * len(others)
        picture += [at] * (len(squares) + len(others))
    if not n_objects:
        raise RecipeError("dataset", recipe.dataset, "a set with objects in the pictures that train")
    return np.array(X, np.uint8), np.array(y), np.array(picture)


def _squares(boxes: np.ndarray, grow: float) -> np.ndarray:
    """The windows (m, 4) whose grown form is as large as the objects."""
    centre, half = (boxes[:, :2] + boxes[:, 2:]) / 2, (boxes[:, 2:] - boxes[:, :2]).max(axis=1, initial=0)[:, None] / 2
    return np.concatenate([centre - half / grow, centre + half / grow], axis=1)


def _background(picture: Picture, squares, side: int, n: int, rng) -> np.ndarray:
    """Up to n windows (k, 4) inside the picture that no object overlaps, of the objects' sizes."""
    h, w = picture.image.shape
    sizes = [float(side)] if squares is None else (squares[:, 2] - squares[:, 0]).tolist()
    length = np.minimum(rng.choice(sizes, 4 * n) * rng.uniform(0.7, 1.4, 4 * n), min(h, w) - 1)
    corner = rng.uniform(size=(4 * n, 2)) * (np.array([w, h]) - length[:, None])
    boxes = np.concatenate([corner, corner + length[:, None]], axis=1)
    return boxes[clear(boxes, picture)][:n]


def _window(image: np.ndarray, square: np.ndarray, side: int) -> np.ndarray:
    """A square of a picture at the size of a window; beyond the picture its edge is repeated."""
    x0, y0, x1, y1 = np.rint(square).astype(int)
    rows = np.clip(np.arange(y0, max(y1, y0 + 2)), 0, image.shape[0] - 1)
    columns = np.clip(np.arange(x0, max(x1, x0 + 2)), 0, image.shape[1] - 1)
    seen = image[np.ix_(rows, columns)].astype(np.float64)
    return np.rint(resize(seen, (side, side), anti_aliasing=True)).astype(np.uint8)
