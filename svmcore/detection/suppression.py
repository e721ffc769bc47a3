"""One detection for each object: of boxes that mean the same thing, the surest stays.

    from the surest down, a box is dropped where a box that was kept overlaps it, |A n B| / |A u B| > iou,
    or holds its centre

    support     f_i + w log n_i,    n_i the boxes, i itself among them, that share more than a given part with i

An object is found at several neighbouring places and scales, a false alarm often at one: `supported` counts that in
before the surest is chosen. What is kept above a threshold does not depend on the boxes below it: raising the threshold
only takes boxes away.

Symbols: boxes (m, 4) float64, xmin ymin xmax ymax, of any unit; f (m,) decision values.

Reference: Rowley, Baluja and Kanade, PAMI 20 (1998) (merging overlapping detections).
"""

from collections.abc import Callable

import numpy as np

from svmcore._jit import inner, native
from svmcore.allowed import require

PAIRS = 4_000_000  # of boxes that one native call compares, in some tens of milliseconds


def unchecked() -> None:
    """The `check` of work that nobody stops."""


def suppressed(
    boxes: np.ndarray,
    f: np.ndarray,
    *,
    iou: float = 0.2,
    centre: bool = True,
    most: int | None = None,
    check: Callable[[], None] = unchecked,
) -> np.ndarray:
    """Rows (k,) int64 of the boxes that stay, surest first; of equals the earlier row; the first `most` of them alone.

    iou: the largest overlap allowed with one that was kept; centre: whether the centre of a box may not lie strictly
    inside one that was kept. `check()` is called between pieces and may raise to stop. ValueError for arrays that do
    not fit each other or a share that is none.
    """
    boxes, f = _paired(boxes, f, iou)
    order = np.argsort(-f, kind="stable")
    at = n_kept = 0
    most = len(order) if most is None else most
    while at < len(order) and n_kept < most:
        check()
        stop = min(len(order), at + max(256, PAIRS // (n_kept + 256)))
        at, n_kept = _suppress(boxes, order, float(iou), bool(centre), at, stop, n_kept, most)
    return order[:n_kept]


def supported(
    boxes: np.ndarray,
    f: np.ndarray,
    *,
    weight: float = 0.3,
    iou: float = 0.5,
    check: Callable[[], None] = unchecked,
) -> np.ndarray:
    """f (m,) float64 plus `weight` log n, for the n boxes, itself among them, that overlap a box by more than `iou`.

    Which boxes there are depends on the threshold of the scan, so that one is to be kept. ValueError as `suppressed`.
    Source: Rowley, Baluja and Kanade (1998), who count detections in a neighbourhood.
    """
    boxes, f = _paired(boxes, f, iou)
    count = np.ones(len(f))
    rows = max(1, PAIRS // max(len(f), 1))
    for start in range(0, len(f), rows):
        check()
        _count(boxes, float(iou), start, min(start + rows, len(f)), count)
    return f + weight * np.log(count)


def overlaps(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Intersection over union (m, n) float64 of boxes a (m, 4) and b (n, 4); 0 where both are empty."""
    a, b = _boxes("a", a), _boxes("b", b)
    out = np.empty((len(a), len(b)))
    _overlaps(a, b, out)
    return out


def grown(boxes: np.ndarray, factor: float) -> np.ndarray:
    """Boxes `factor` times as wide and as high about the same centres. ValueError unless the factor is above 0."""
    require(factor > 0, "factor", factor, "a number above 0")
    boxes = _boxes("boxes", boxes)
    centre, half = (boxes[:, :2] + boxes[:, 2:]) / 2, (boxes[:, 2:] - boxes[:, :2]) / 2
    return np.hstack([centre - factor * half, centre + factor * half])


def _paired(boxes, f, iou) -> tuple[np.ndarray, np.ndarray]:
    boxes, f = _boxes("boxes", boxes), np.asarray(f, np.float64)
    if f.shape != (len(boxes),):
        raise ValueError(f"f has shape {f.shape}; allowed: ({len(boxes)},), one value per box")
    require(0 <= iou <= 1, "iou", iou, "a fraction from 0 to 1")
    return boxes, f


def _boxes(name: str, boxes) -> np.ndarray:
    boxes = np.ascontiguousarray(boxes, np.float64)
    boxes = boxes.reshape(0, 4) if boxes.size == 0 else boxes
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise ValueError(f"{name} has shape {boxes.shape}; allowed: (m, 4), xmin ymin xmax ymax")
    return boxes


@inner()
def _overlap(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0.0
    both = width * height
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


@native()
def _overlaps(a, b, out):
    for i in range(len(a)):
        for j in range(len(b)):
            out[i, j] = _overlap(a[i], b[j])


@native()
def _count(boxes, iou, start, stop, out):  # (m, 4), share, rows, (m,)
    for i in range(start, stop):
        for j in range(i):
            if _overlap(boxes[i], boxes[j]) > iou:
                out[i] += 1
                out[j] += 1


@native()
def _suppress(
    boxes, order, iou, centre, at, stop, n_kept, most
):  # (m, 4), (m,) -> where it is, how many stay: in front
    while at < stop and n_kept < most:
        box = boxes[order[at]]
        x, y = (box[0] + box[2]) / 2, (box[1] + box[3]) / 2
        stays = True
        for k in range(n_kept):
            other = boxes[order[k]]
            inside = centre and other[0] < x < other[2] and other[1] < y < other[3]
            if inside or _overlap(box, other) > iou:
                stays = False
                break
        if stays:
            order[n_kept] = order[at]
            n_kept += 1
        at += 1
    return at, n_kept
