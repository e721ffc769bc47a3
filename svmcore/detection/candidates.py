"""Focus of attention: a matched filter that looks over a whole picture and names the places worth a closer look.

    r(p) = <w(p), t>,    t = the mean of the positive chips, each with mean 0 and norm 1, scaled to norm 1
                         w(p) = the window around p, with mean 0 and norm 1

Candidates are the local maxima of r above a threshold, set by the share of training objects that may be missed. Windows
that reach a gap of the picture are none: its edge is the strongest contrast there is, and it shows nothing.
DeCoste and Schölkopf (2002), section 5.2; Burl et al., Machine Learning 30 (1998), section 3.2.

Windows of a picture: pooled pixels, and square chips cut out around places.

    pooled[y, x] = mean of the picture's pool x pool pixels that begin at (pool y, pool x)

Volcano images are pooled 2 x 2, as 15 x 15 chips at full resolution miss most of a volcano.
"""

from dataclasses import dataclass

import numpy as np
from scipy.ndimage import maximum_filter, minimum_filter
from scipy.spatial import cKDTree
from skimage.feature import match_template

from svmcore.allowed import require

APART = 3  # pooled pixels: of two maxima that are nearer the lower one is none
GAP = 3  # pooled pixels each way from which blank ones are a gap, and no dark speckle


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


@dataclass(frozen=True, eq=False)
class MatchedFilter:
    """A template (side, side) float64 of mean 0 and norm 1, and the response that a candidate must reach."""

    template: np.ndarray
    threshold: float = -1.0

    @classmethod
    def fit(cls, chips: np.ndarray) -> "MatchedFilter":
        """The filter matched to positive chips (n, side, side), with no threshold. ValueError without contrast.

        DeCoste and Schölkopf (2002), section 5.2: the mean positive example.
        """
        if not len(chips):
            raise ValueError(
                "chips: no positive chips; allowed: at least one, because the matched filter is their mean"
            )
        rows = _normalised(np.asarray(chips, np.float64).reshape(len(chips), -1))
        template = rows.sum(axis=0)
        length = np.linalg.norm(template)
        if not length > 0:
            raise ValueError(
                f"chips: the mean of {len(chips)} positive chips has no contrast; allowed: chips with common contrast"
            )
        return cls((template / length).reshape(chips.shape[1:]))

    def response(self, image: np.ndarray) -> np.ndarray:
        """r (h, w) float64 at every place of a picture; 0 where the window leaves it."""
        image, side = np.asarray(image, np.float64), len(self.template)
        response = np.zeros(image.shape)
        if min(image.shape) >= side:
            inside = match_template(image, self.template)
            at = side // 2
            response[at : at + inside.shape[0], at : at + inside.shape[1]] = inside
        return response

    def peaks(self, image: np.ndarray, blank: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Local maxima of r that reach the threshold, their windows inside: centres (m, 2) int64, row and column, the
        strongest first, and their r (m,).

        blank: the grey of places that were never imaged; windows that reach GAP x GAP of them are outside, too.
        """
        response = self.response(image)
        inside = np.full(response.shape, -np.inf)
        side = len(self.template)
        after = side - 1 - side // 2  # a window reaches side // 2 before its centre
        within = tuple(slice(side // 2, size - after) for size in response.shape)
        inside[within] = response[within]
        if blank is not None:
            gap = minimum_filter(image == blank, GAP)  # its middle, GAP // 2 from its edge
            inside[maximum_filter(gap, side + GAP - 1)] = -np.inf
        highest = maximum_filter(inside, size=2 * APART + 1, mode="constant", cval=-np.inf)
        top = (inside == highest) & (inside >= self.threshold) & (inside != 0)  # 0: a window without contrast
        centres = np.argwhere(top)
        heights = response[top]
        order = np.argsort(-heights, kind="stable")
        chosen = order[_first_of_plateaus(centres[order])]
        return centres[chosen].astype(np.int64), heights[chosen]

    def missing(self, best: np.ndarray, share: float) -> "MatchedFilter":
        """This filter with the highest threshold that misses at most `share` of the training objects.

        best (n,): the strongest candidate's r on each object, -inf for one that no candidate covers. ValueError for a
        share outside [0, 1).
        """
        require(0 <= share < 1, "miss rate", share, "from 0 to below 1")
        ordered = np.sort(np.asarray(best, np.float64))
        lost = np.count_nonzero(np.isneginf(ordered))
        at = max(int(share * len(ordered) + 1e-9), lost)  # 0.29 of 100 is 29
        return MatchedFilter(self.template, float(ordered[at]) if at < len(ordered) else -1.0)


def _first_of_plateaus(centres: np.ndarray) -> np.ndarray:
    """Which centres (m, 2), in their order, stay when maxima as near as APART, which are equal then, become one."""
    stays = np.ones(len(centres), bool)
    if not len(centres):
        return stays
    for first, second in sorted(cKDTree(centres).query_pairs(APART, p=np.inf)):
        stays[second] &= not stays[first]
    return stays


def _normalised(rows: np.ndarray) -> np.ndarray:
    """Each row with mean 0 and norm 1; a constant row becomes 0."""
    centred = rows - rows.mean(axis=1, keepdims=True)
    length = np.linalg.norm(centred, axis=1, keepdims=True)
    return centred / np.where(length > 0, length, 1)
