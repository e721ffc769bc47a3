"""Statistics of free-response curves: one number, its interval over pictures, and the points of the curve.

    alarms(t) = |{false alarms scoring >= t}|        found(t) = |{objects whose best detection scores >= t}|
    rate(a)   = max {found(t) / n : alarms(t) <= a}  over t in (-inf, inf]: a step function of a
    challenge = mean of rate(p c) over c = 1/4, 1/2, 1, 2, 4, 8 false alarms an image, p the number of pictures
    area      = (1 / A) integral of rate(a) over 0 <= a <= A false alarms

Equal scores pass a threshold together, so a tie of an object with a false alarm is counted with both. A curve that ends
before `a` false alarms goes on level. Only the best detections of the objects can raise the rate, so at most n + 1
thresholds (the corners of the curve) decide every statistic here, in every resampling: the bootstrap draws pictures,
with their detections and objects, and is exact, not read from a coarser grid.

Symbols: p pictures, n objects, m detections, g corners, r replicates; F, A (p, g) found objects and false alarms by
picture at each corner; W (r, p) how often a replicate drew a picture. Replicate i then has W[i] F / W[i] n and W[i] A.

Without objects rates and intervals are nan, and a page says so; `metrics.froc` refuses such a curve with ValueError.
References: the scores of CAMELYON16 (Ehteshami Bejnordi et al., JAMA 318, 2017) and LUNA16 (Setio et al., Medical Image
Analysis 42, 2017); Efron and Tibshirani, An Introduction to the Bootstrap (1993), percentile intervals.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

CHALLENGE = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)  # false alarms an image
COUNTS = (10, 25, 50, 100, 200)  # false alarms over all pictures together
CELLS = 2**21  # numbers of one block of replicates


class Trial(NamedTuple):
    """What a search of p pictures brought, as far as its curve depends on it: objects' best scores and false alarms."""

    pictures: np.ndarray  # (p,) int64, rising: also those with no object or no detection
    n_objects: np.ndarray  # (p,) int64, objects that count, per picture
    found_scores: np.ndarray  # (k,) float64, falling: best score of each object that has a detection
    found_place: np.ndarray  # (k,) position of its picture in `pictures`
    alarm_scores: np.ndarray  # (l,) float64, falling
    alarm_place: np.ndarray  # (l,)


class Estimate(NamedTuple):
    """A number and its bootstrap interval; low and high are nan where fewer than two pictures tell of any spread."""

    value: float
    low: float
    high: float


class Band(NamedTuple):
    """Rates at given numbers of false alarms and their interval, each point by itself; arrays (k,)."""

    alarms: np.ndarray  # false alarms over all pictures together
    rate: np.ndarray
    low: np.ndarray
    high: np.ndarray


class OperatingPoint(NamedTuple):
    """One point of the curve: detections scoring at least `threshold` are shown."""

    threshold: float  # inf: nothing is shown
    alarms: int  # false alarms over all pictures together
    found: int
    rate: float  # found / n, nan without objects


class Corners(NamedTuple):
    """Curves by their corners, from the strictest threshold down; the first is (0, 0). Leading axes: replicates."""

    alarms: np.ndarray  # (..., g)
    rate: np.ndarray  # (..., g)
    pictures: int


Statistic = Callable[[Corners], np.ndarray]  # (..., g) -> (...)


def trial(scores, hits, picture, tested, n_objects) -> Trial:
    """The detections of a search, made ready for every statistic of this file.

    scores (m,) float: larger is surer; hits (m,) int: the object that a detection covers, numbered through all
    pictures, or negative: a false alarm; picture (m,) int: where it lies; tested (p,) int: the pictures searched;
    n_objects (p,) int: objects in each of them. Further detections of an object than its best count neither way. The
    order of detections and of pictures and the numbers of the objects do not matter. n_objects may be fewer than the
    objects found where a table says so: then a rate may pass 1.

    Raises ValueError for shapes that differ, scores that are not finite, a picture tested twice, a detection outside
    the pictures tested, an object in two pictures, negative n_objects.
    """
    scores = np.asarray(scores, dtype=np.float64)
    hits, picture, tested, n_objects = (np.asarray(a, dtype=np.int64) for a in (hits, picture, tested, n_objects))
    _validate(scores, hits, picture, tested, n_objects)
    by_number = np.argsort(tested)
    place = np.searchsorted(tested, picture, sorter=by_number)
    order = np.argsort(-scores, kind="stable")
    scores, hits, place = scores[order], hits[order], place[order]
    alarm = hits < 0
    covering = np.flatnonzero(~alarm)
    objects, first, which = np.unique(hits[covering], return_index=True, return_inverse=True)
    best = covering[first]
    strays = which[place[covering] != place[best][which]]
    if len(strays):
        number = int(objects[strays[0]])
        raise ValueError(
            f"hits: object {number} has detections in two pictures; allowed: one number per object over all pictures"
        )
    best.sort()
    return Trial(tested[by_number], n_objects[by_number], scores[best], place[best], scores[alarm], place[alarm])


def counted(hits, keep) -> np.ndarray:
    """Which detections count when only some objects do: (m,) bool.

    hits (m,) int rows of `keep`, negative for false alarms; keep (o,) bool, such as the objects of one category. A
    detection of an object left out is neither a hit nor a false alarm: it goes. Raises ValueError for a hit beyond
    `keep`.
    """
    hits, keep = np.asarray(hits, dtype=np.int64), np.asarray(keep, dtype=bool)
    if len(hits) and hits.max() >= len(keep):
        most = len(keep) - 1
        raise ValueError(f"hits: object {hits.max()} of {len(keep)} objects; allowed: 0 to {most}, or -1 (false alarm)")
    return np.where(hits < 0, True, np.append(keep, True)[hits])


def at_threshold(search: Trial, threshold: float) -> OperatingPoint:
    """The operating point of a threshold, -inf and inf included: detections scoring at least so much are shown."""
    if np.isnan(threshold):
        raise ValueError("threshold = nan; allowed: any number, including -inf and inf")
    alarms = int(np.searchsorted(-search.alarm_scores, -threshold, side="right"))
    detected = int(np.searchsorted(-search.found_scores, -threshold, side="right"))
    n = int(search.n_objects.sum())
    return OperatingPoint(float(threshold), alarms, detected, detected / n if n else float("nan"))


def at_alarms(search: Trial, alarms: float) -> OperatingPoint:
    """The lowest threshold with at most so many false alarms over all pictures: the inverse of `at_threshold`.

    The threshold is the score of a detection, or inf where even the surest brings too many. Raises ValueError for a
    negative number.
    """
    _check_counts([alarms])
    scores = np.sort(np.concatenate([search.found_scores, search.alarm_scores]))
    if alarms < len(search.alarm_scores):
        scores = scores[scores > search.alarm_scores[int(alarms)]]
    return at_threshold(search, float(scores[0]) if len(scores) else float("inf"))


def rates_at(search: Trial, alarms=COUNTS) -> np.ndarray:
    """Rate (k,) at each number of false alarms over all pictures: the highest with at most so many."""
    return _rates(_plain(search), _check_counts(alarms))


def band(search: Trial, alarms, *, replicates: int = 1000, level: float = 0.95, seed: int = 0) -> Band:
    """Rates at numbers of false alarms (k,) with pointwise bootstrap intervals over pictures."""
    alarms = _check_counts(alarms)
    return Band(alarms, *_estimated(lambda c: _rates(c, alarms), (search,), replicates, level, seed))


def estimate(
    search: Trial, statistic: Statistic, *, replicates: int = 1000, level: float = 0.95, seed: int = 0
) -> Estimate:
    """A statistic of the curve (`challenge`, `area(200)`, `rate(100)`) with its bootstrap interval over pictures.

    Replicates without objects are left out. Raises ValueError for replicates < 1 or a level outside (0, 1).
    """
    return Estimate(*map(float, _estimated(statistic, (search,), replicates, level, seed)))


def difference(
    a: Trial, b: Trial, statistic: Statistic, *, replicates: int = 1000, level: float = 0.95, seed: int = 0
) -> Estimate:
    """A statistic of b less that of a on the same pictures, with the interval of the difference: pictures in pairs.

    Raises ValueError when the pictures or the numbers of objects differ, and as `estimate` does.
    """
    if not (np.array_equal(a.pictures, b.pictures) and np.array_equal(a.n_objects, b.n_objects)):
        raise ValueError("a and b have different test pictures or objects; allowed: searches of the same pictures")
    return Estimate(*map(float, _estimated(statistic, (a, b), replicates, level, seed)))


def challenge(corners: Corners) -> np.ndarray:
    """Statistic: mean rate at 1/4, 1/2, 1, 2, 4 and 8 false alarms an image (CAMELYON16, LUNA16)."""
    return _rates(corners, np.array(CHALLENGE) * corners.pictures).mean(axis=-1)


def area(up_to: float) -> Statistic:
    """Statistic: area under the curve from 0 to `up_to` false alarms over all pictures together, divided by `up_to`."""
    if not 0 < up_to < np.inf:
        raise ValueError(f"up_to = {up_to}; allowed: a positive number of false alarms")

    def normalised_area(corners: Corners) -> np.ndarray:
        steps, rest = np.diff(corners.rate, axis=-1), np.maximum(up_to - corners.alarms[..., 1:], 0)
        return corners.rate[..., 0] + (steps * rest).sum(axis=-1) / up_to  # the first is 0, or nan without objects

    return normalised_area


def rate(alarms: float) -> Statistic:
    """Statistic: the rate at a number of false alarms over all pictures together."""
    counts = _check_counts(alarms)
    return lambda corners: _rates(corners, counts)[..., 0]


def _rates(corners: Corners, alarms: np.ndarray) -> np.ndarray:
    """Rate at the last corner with at most so many false alarms: (..., k)."""
    out = np.empty((*corners.alarms.shape[:-1], len(alarms)))
    for j, most in enumerate(alarms):
        last = (corners.alarms <= most).sum(axis=-1, keepdims=True) - 1
        out[..., j] = np.take_along_axis(corners.rate, last, axis=-1)[..., 0]
    return out


def _counts(search: Trial) -> tuple[np.ndarray, np.ndarray]:
    """A, F (p, g): false alarms and found objects of each picture at the corners."""
    thresholds = np.concatenate([[np.inf], np.unique(search.found_scores)[::-1]])
    p, g = len(search.pictures), len(thresholds)

    def count(scores, place):
        first = np.searchsorted(-thresholds, -scores)  # the first threshold that the score reaches; g: none
        cells = np.bincount(place * (g + 1) + first, minlength=p * (g + 1)).reshape(p, g + 1)
        return np.cumsum(cells[:, :g], axis=1).astype(np.float64)

    return count(search.alarm_scores, search.alarm_place), count(search.found_scores, search.found_place)


def _plain(search: Trial) -> Corners:
    return _curves(np.ones(len(search.pictures)), *_counts(search), search.n_objects)


def _curves(weight, alarms, detected, n_objects) -> Corners:
    """Curves of the pictures as often as `weight` (..., p) has them."""
    n = weight @ n_objects
    return Corners(weight @ alarms, (weight @ detected) / np.where(n > 0, n, np.nan)[..., None], weight.shape[-1])


def _bootstrap(searches, statistic, replicates: int, seed: int) -> list[np.ndarray]:
    """The statistic of each search in the same replicates: (r', ...) each, replicates without objects left out."""
    if replicates < 1:
        raise ValueError(f"replicates = {replicates}; allowed: at least 1")
    p = len(searches[0].pictures)
    weight = np.random.default_rng(seed).multinomial(p, np.full(p, 1 / p), size=replicates).astype(np.float64)
    weight = weight[weight @ searches[0].n_objects > 0]
    out = []
    for search in searches:
        counts = _counts(search)
        step = max(1, CELLS // counts[0].shape[1])
        blocks = [weight[i : i + step] for i in range(0, max(len(weight), 1), step)]
        out.append(np.concatenate([statistic(_curves(w, *counts, search.n_objects)) for w in blocks]))
    return out


def _estimated(statistic: Statistic, searches, replicates: int, level: float, seed: int):
    """The statistic (...) of a search, or of a second one less that of the first, and low and high of its replicates;
    these are nan for fewer than two pictures or no replicate."""
    if not 0 < level < 1:
        raise ValueError(f"level = {level}; allowed: a number between 0 and 1, such as 0.95")
    value, drawn = [statistic(_plain(search)) for search in searches], _bootstrap(searches, statistic, replicates, seed)
    value, drawn = (value[0], drawn[0]) if len(searches) == 1 else (value[1] - value[0], drawn[1] - drawn[0])
    if len(searches[0].pictures) < 2 or not len(drawn):
        return value, *np.full((2, *drawn.shape[1:]), np.nan)
    return value, *np.quantile(drawn, [(1 - level) / 2, (1 + level) / 2], axis=0)


def _check_counts(alarms) -> np.ndarray:
    alarms = np.atleast_1d(np.asarray(alarms, dtype=np.float64))
    if (alarms >= 0).all():
        return alarms
    raise ValueError(f"alarms = {alarms.tolist()}; allowed: numbers of false alarms, 0 or more")


def _validate(scores, hits, picture, tested, n_objects) -> None:
    if not scores.shape == hits.shape == picture.shape or scores.ndim != 1:
        raise ValueError(
            f"scores, hits and picture have shapes {scores.shape}, {hits.shape} and {picture.shape}; allowed: the same "
            "(m,) for all three"
        )
    if tested.shape != n_objects.shape or tested.ndim != 1 or not len(tested):
        raise ValueError(
            f"tested has shape {tested.shape} and n_objects {n_objects.shape}; allowed: the same shape (p,) for both, "
            "with p at least 1"
        )
    if not np.isfinite(scores).all():
        raise ValueError(f"scores: {scores[~np.isfinite(scores)][0]}; allowed: finite numbers")
    if len(np.unique(tested)) != len(tested):
        raise ValueError("tested: a picture is listed twice; allowed: each picture once")
    outside = np.setdiff1d(picture, tested)
    if len(outside):
        why = f"picture: detections in {outside.tolist()}, which are not test pictures"
        raise ValueError(f"{why}; allowed: the pictures of `tested`")
    if (n_objects < 0).any():
        raise ValueError(f"n_objects = {n_objects.min()}; allowed: 0 or more")
