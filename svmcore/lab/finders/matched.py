"""Candidates of a matched filter: how the volcanoes of Venus are found.

    training pictures -> positive chips -> matched filter, its threshold by a miss rate
    the filter over the training pictures -> candidates: +1 where one covers an object, -1 elsewhere -> the method
    the same filter over the test pictures -> candidates -> what the method is judged on

Nothing of a part's test pictures enters its filter, its threshold, its training or its baselines.
DeCoste and Schölkopf (2002), section 5.2; Burl et al., Machine Learning 30 (1998).
"""

import time
from math import prod
from typing import NamedTuple

import numpy as np

from data.pictures import Part, Picture, PictureSet
from svmcore.detection.candidates import MatchedFilter, chips, fitting, pooled
from svmcore.detection.gaussian import TwoGaussians
from svmcore.detection.matching import by_centre, first_of
from svmcore.gram.threads import one_blas_thread
from svmcore.lab.costs import HARD, Sizes, fewer
from svmcore.lab.fields import FACTORS, FLAG, Field, RecipeError, numeric
from svmcore.lab.finder import Finder
from svmcore.lab.finders.findings import Detections, beside_truth
from svmcore.lab.problem import Problem, assemble, shape_made
from svmcore.lab.split import Split
from svmcore.preprocess import Preprocessor

PIXELS = "standardise", "unit-norm"  # how the paper prepares the pixels of a chip
FEWEST_OF_A_CLASS = 3  # examples of a class that a Gaussian is fitted to
PIXEL_SECONDS = 4e-7  # to look over one pooled pixel, on the machine that other rates were read off
PER_PIXEL = 0.0024  # candidates of a pooled pixel at a miss rate of 5 %, read off experiments A, B and C
BYTES = 100  # of a pixel of a picture in which candidates are looked for: float64, and several of each
STRICTER, STRICTEST = 0.53, 0.005  # candidates grow as miss rate^-STRICTER (A: 2,136 at 5 %, 3,479 at 2 %), as far down


class Look(NamedTuple):
    """What the filter sees in one picture."""

    at: int  # the picture's position in its set
    picture: Picture
    small: np.ndarray  # (h, w) uint8, pooled
    centres: np.ndarray  # (m, 2) int64, row and column in `small`
    response: np.ndarray  # (m,) float64
    box: np.ndarray  # (m, 4) float64, pixels of the picture
    hit: np.ndarray  # (m,) int64, the picture's object that it covers, or -1


class Chips(NamedTuple):
    """What `assemble` takes of a dataset."""

    X_train: np.ndarray  # (n, side, side) uint8
    X_test: np.ndarray  # (m, side, side) uint8
    image_shape: tuple[int, int]
    content_hash: str


class Matched(Finder):
    """A filter made of the training objects; the method tells its candidates apart."""

    name = "matched"
    title = "A matched filter, at one scale"
    fields = (
        Field("pool", numeric(1, 8, whole=True), 2),
        Field("miss_rate", numeric(0, 0.9), 0.05, step=0.01),
        Field("reach", numeric(0, 500), 13.0),
        Field("category_weight", FACTORS, None, shown=False),
        Field("strongest", FLAG, False, shown=False),
    )

    def prepare(self, recipe, pictures: PictureSet, part: Part, check) -> Problem:
        """The part's problem, with its search. RecipeError where a class is empty; what `check` raises."""
        check("searching")
        started = time.perf_counter()
        side, pool = recipe.option("chip"), recipe.option("pool")
        small = {at: pooled(pictures.pictures[at].image, pool) for at in (*part.train, *part.test)}
        weights = _weights(recipe, pictures)
        positive = [_of_objects(pictures.pictures[at], small[at], side, pool, weights) for at in part.train]
        if not sum(map(len, positive)):
            allowed = f"an experiment whose split {part.name} has objects to train on"
            raise RecipeError("experiment", recipe.option("experiment"), allowed)
        matched = MatchedFilter.fit(np.concatenate(positive))

        def look(at: int, through: MatchedFilter) -> Look:
            check("searching")
            return _look(at, pictures, small[at], through, recipe)

        everything = [look(at, matched) for at in part.train]
        matched = _attentive(matched, everything, recipe.option("miss_rate"))
        train = [_above(seen, matched.threshold) for seen in everything]
        test = [look(at, matched) for at in part.test]
        return _problem(recipe, pictures, train, test, weights, time.perf_counter() - started, check)

    def judge(self, machine, problem: Problem, check) -> Detections:
        """The candidates with the machine's f."""
        check("predicting")
        return problem.search._replace(decision=machine.decision_values(problem.X_test)[:, 0])

    def seconds(self, recipe, pictures: PictureSet, part: Part) -> float:
        """About how long it takes to look over a part's pictures."""
        pixels = sum(pictures.pictures[at].image.size for at in (*part.train, *part.test))
        return PIXEL_SECONDS * pixels / recipe.option("pool") ** 2

    def size(self, recipe, pictures: PictureSet, part: Part) -> Sizes:
        """About how many candidates a part will have."""
        per_pixel = PER_PIXEL * (0.05 / max(recipe.option("miss_rate"), STRICTEST)) ** STRICTER
        sizes = [sum(pictures.pictures[at].image.size for at in some) for some in (part.train, part.test)]
        n_train, n_test = (max(2, round(per_pixel * pixels / recipe.option("pool") ** 2)) for pixels in sizes)
        side = recipe.option("chip")
        d, stored = prod(shape_made(recipe, (side, side), n_train)), 2 * side**2 * (n_train + n_test)
        looking = BYTES * max(pictures.pictures[at].image.size for at in (*part.train, *part.test))
        hard = HARD * fewer(recipe.preprocess) ** 0.5  # most vectors are of classes that overlap, with any steps
        return Sizes(n_train, n_test, d, 1, stored, hard, overlap=True, looking=looking)


def _problem(
    recipe, pictures: PictureSet, train: list[Look], test: list[Look], weights: dict, seconds, check
) -> Problem:
    side = recipe.option("chip")
    X, X_test = (_chips(some, side) for some in (train, test))
    y, y_test = (np.concatenate([np.where(seen.hit >= 0, 1, -1) for seen in some]) for some in (train, test))
    picture = np.concatenate([np.full(len(seen.hit), seen.at) for seen in train])
    covered = np.concatenate([np.append(seen.picture.category, 0)[seen.hit] for seen in train])  # 0: no object
    weight = np.array([weights.get(category, 1.0) for category in covered.tolist()], np.float64)  # factors of C
    kept = weight > 0
    if recipe.option("strongest"):
        kept &= np.concatenate([first_of(seen.hit) for seen in train])
    X, y, picture, weight = X[kept], y[kept], picture[kept], weight[kept]
    if len(np.unique(y)) < 2:
        raise RecipeError(
            "miss_rate", recipe.option("miss_rate"), "a smaller rate, because all candidates are of the same class"
        )
    split = Split(np.arange(len(y)), np.arange(len(y_test)), "test", y, y_test)
    problem = assemble(recipe, Chips(X, X_test, (side, side), pictures.content_hash), split, check)
    matched = np.concatenate([seen.response for seen in test]), seconds
    rivals = {"matched filter": matched} | _gaussian(problem, X, X_test, y)
    looked = ([getattr(seen, name) for seen in test] for name in ("at", "box", "hit"))
    search = beside_truth(pictures, *looked, X_test)._replace(
        rivals=np.stack([scores for scores, _ in rivals.values()], axis=1),
        rival_names=np.array(list(rivals)),
        rival_seconds=np.array([seconds for _, seconds in rivals.values()]),
        train_chips=X,
        train_y=y,
        train_picture=picture,
        train_round=np.zeros(len(y), np.int64),
    )
    plain = np.unique(weight).tolist() == [1.0]
    return problem._replace(weight=None if plain else weight, search=search, recipe=recipe)


def _gaussian(problem: Problem, X: np.ndarray, X_test: np.ndarray, y: np.ndarray) -> dict:
    """{"Gaussian": scores (m,) of two Gaussians on the test candidates, seconds of their fit}, where there are enough
    examples of both classes for them. They see the pixels of chips X, X_test (n, side, side): as the recipe prepares
    them, or as the paper does where the recipe makes features of them."""
    if min(np.count_nonzero(y > 0), np.count_nonzero(y < 0)) < FEWEST_OF_A_CLASS:
        return {}
    rows = problem.X_train, problem.X_test
    if problem.prepare.makes_features:
        rows = tuple(map(Preprocessor(*PIXELS).transform, (X, X_test)))
    started = time.perf_counter()
    with one_blas_thread:
        model = TwoGaussians().fit(rows[0], y)
    seconds = time.perf_counter() - started
    return {"Gaussian": (model.decision_function(rows[1]), seconds)}


def _look(at: int, pictures: PictureSet, small: np.ndarray, through: MatchedFilter, recipe) -> Look:
    """The filter's candidates, and which object each covers."""
    side, pool, picture = recipe.option("chip"), recipe.option("pool"), pictures.pictures[at]
    centres, response = through.peaks(small, pictures.entry.blank)
    middle = (centres[:, ::-1] + 0.5) * pool  # x, y of the picture's pixels
    half = side * pool / 2
    box = np.concatenate([middle - half, middle + half], axis=1)
    return Look(at, picture, small, centres, response, box, by_centre(box, picture.boxes, recipe.option("reach")))


def _attentive(matched: MatchedFilter, train: list[Look], miss_rate: float) -> MatchedFilter:
    """The filter with the threshold of this miss rate; a lower one where it would let fewer false alarms pass than
    there are candidates on objects, as both classes are needed."""
    matched = matched.missing(np.concatenate([_best(seen) for seen in train]), miss_rate)
    response, hit = (np.concatenate([getattr(seen, name) for seen in train]) for name in ("response", "hit"))
    alarms = np.sort(response[hit < 0])[::-1]
    enough = np.count_nonzero(hit[response >= matched.threshold] >= 0)
    if np.count_nonzero(alarms >= matched.threshold) < enough and len(alarms):
        matched = MatchedFilter(matched.template, float(alarms[min(enough, len(alarms)) - 1]))
    return matched


def _above(seen: Look, threshold: float) -> Look:
    """The candidates that reach a threshold."""
    kept = seen.response >= threshold
    names = ("centres", "response", "box", "hit")
    return seen._replace(**{name: getattr(seen, name)[kept] for name in names})


def _best(seen: Look) -> np.ndarray:
    """The strongest response on each object of the picture, -inf where none covers it."""
    best = np.full(len(seen.picture.boxes), -np.inf)
    hits = seen.hit >= 0
    np.maximum.at(best, seen.hit[hits], seen.response[hits])
    return best


def _of_objects(picture: Picture, small: np.ndarray, side: int, pool: int, weights: dict) -> np.ndarray:
    """Chips (n, side, side) around the picture's objects that lie inside and count for training."""
    middle = (picture.boxes[:, :2] + picture.boxes[:, 2:]) / 2 / pool
    centres = np.floor(middle[:, ::-1]).astype(np.int64)
    counting = np.array([weights.get(category, 1.0) > 0 for category in picture.category.tolist()], bool)
    return chips(small, centres[fitting(small.shape, centres, side) & counting], side)


def _weights(recipe, pictures: PictureSet) -> dict[int, float]:
    """Category -> factor of C of its training examples. RecipeError for one that the set does not have."""
    given = recipe.option("category_weight") or {}
    known = {str(category): category for category in pictures.entry.categories}
    if unknown := given.keys() - known.keys():
        told = ", ".join(f"{number} {name}" for number, name in pictures.entry.categories.items())
        raise RecipeError("category_weight", min(unknown), f"the categories of {recipe.dataset}: {told}")
    return {known[name]: float(weight) for name, weight in given.items()}


def _chips(some: list[Look], side: int) -> np.ndarray:
    """The candidates' windows (n, side, side) uint8 of some pictures."""
    nothing = np.empty((0, side, side), np.uint8)
    return np.concatenate([nothing, *(chips(seen.small, seen.centres, side) for seen in some)])
