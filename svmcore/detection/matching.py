"""Which object of the truth each detection covers, by the distance of centres or by the overlap of boxes.

Symbols: boxes (m, 4) float64 xmin, ymin, xmax, ymax in pixels; the answer (m,) int64, a row of the truth or -1. Several
detections may cover one object: it counts once, and those beyond the first are neither hits nor false alarms.
"""

import numpy as np

from svmcore.detection.suppression import overlaps


def by_centre(boxes: np.ndarray, truth: np.ndarray, least: float) -> np.ndarray:
    """The nearest object whose centre lies within its radius (half its larger side), or within `least` pixels if more.

    Burl et al., Machine Learning 30 (1998), section 2.3: a detection near enough to a labelled volcano counts.
    """
    boxes, truth = _boxes(boxes), _boxes(truth)
    if not len(truth):
        return np.full(len(boxes), -1)
    distance = np.linalg.norm(_centres(boxes)[:, None] - _centres(truth)[None], axis=2)  # (m, o)
    reach = np.maximum((truth[:, 2:] - truth[:, :2]).max(axis=1) / 2, least)
    return _nearest(np.where(distance <= reach, distance, np.inf))


def by_overlap(boxes: np.ndarray, truth: np.ndarray, least: float) -> np.ndarray:
    """The object of largest intersection over union, where that is at least `least` and above 0."""
    boxes, truth = _boxes(boxes), _boxes(truth)
    if not len(truth):
        return np.full(len(boxes), -1)
    shared = overlaps(boxes, truth)
    return _nearest(np.where((shared >= least) & (shared > 0), -shared, np.inf))


def first_of(hit: np.ndarray) -> np.ndarray:
    """Which detections, the strongest first, cover no object or one that no stronger one covers: (m,) bool.

    hit (m,): the object that each covers, or -1.
    """
    first = hit < 0
    objects, at = np.unique(hit, return_index=True)
    first[at[objects >= 0]] = True
    return first


def _nearest(cost: np.ndarray) -> np.ndarray:
    """Column of the smallest finite cost in each row, -1 where there is none."""
    best = cost.argmin(axis=1)
    return np.where(np.isfinite(cost[np.arange(len(cost)), best]), best, -1)


def _boxes(boxes: np.ndarray) -> np.ndarray:
    return np.asarray(boxes, np.float64).reshape(-1, 4)


def _centres(boxes: np.ndarray) -> np.ndarray:
    return (boxes[:, :2] + boxes[:, 2:]) / 2
