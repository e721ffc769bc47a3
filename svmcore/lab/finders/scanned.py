"""Every window of a picture, at every scale: how faces are found.

    windows to train on -> machine -> its false alarms on pictures without objects -> machine -> ...    (bootstrapping)
    machine -> every window of the test pictures -> of those that overlap the surest -> grown to an object's size

The windows to train on come with the set. Where it brings none, they are cut out of the training pictures: around
objects, and of the background by the seed. Osuna, Freund and Girosi (1997), section 4.

object     the square about its centre whose form, grown by the set's factor, is as large as the object
background squares of the objects' sizes that share at most CLEAR of their joint area with any object
"""

import hashlib
from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np
from skimage.transform import resize

from data import DataError, load
from data.pictures import Part, Picture, PictureSet
from svmcore.detection.discard import Discard, fit_discard
from svmcore.detection.matching import by_overlap
from svmcore.detection.mining import mine
from svmcore.detection.scan import Scan, Scorer, n_windows, scan
from svmcore.detection.suppression import grown, overlaps, supported, suppressed
from svmcore.detection.turns import ALLOWED, QUARTERS, matrices
from svmcore.jitter import JitterSet
from svmcore.lab.costs import Sizes, fewer
from svmcore.lab.fields import FLAG, JITTERS, LINE, Field, Kind, RecipeError, numeric
from svmcore.lab.finder import Finder
from svmcore.lab.finders.findings import Detections, beside_truth
from svmcore.lab.finders.matched import Chips
from svmcore.lab.problem import Problem, assemble, shape_made
from svmcore.lab.split import Split
from svmcore.solvers.progress import under_name

OTHERS = 10, 300  # windows of background for each object, and at least
ALIKE = 0.99  # correlation from which on two windows show the same object
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
        raise RecipeError("dataset", recipe.dataset, "a dataset with objects in its training pictures")
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


# Of a window, on the computer that other rates were read off, by the pictures of faces
LOOKED_SECONDS = 3e-7  # that the quick look settles
DECIDED_SECONDS = 2.5e-6  # that goes on to a machine of degree 2
MANY = 1000  # objects, from which a quick look learns well
PASSES, PASSES_AFTER_FEWER = 0.12, 0.86  # share that goes on after a look that has learned from MANY, and from fewer
MINED_STEP, MINED_SIDE = 1.2, 800  # between two scales, and pixels of a side, of the pictures that are mined


class Ground(NamedTuple):
    """What a part searches, and the windows that it trains on."""

    pictures: PictureSet
    part: Part
    chips: np.ndarray  # (n, side, side) uint8
    y: np.ndarray  # (n,) int64, +1 and -1
    picture: np.ndarray  # (n,) int64, -1 for windows that came with the set and those of its empty pictures
    round: np.ndarray  # (n,) int64, the bootstrapping round that mined it
    discard: Discard | None


class Seen(NamedTuple):
    """What was found in one image; arrays of those k windows of the scan that are kept, the surest first."""

    scan: Scan
    kept: np.ndarray  # (k,) int64, rows of the scan
    boxes: np.ndarray  # (k, 4) float64, grown to an object's size
    f: np.ndarray  # (k,) float64, with the votes
    votes: np.ndarray  # (k,) float64


def _turns(name: str, value: str) -> str | None:
    """A jitter set of turns and mirror images; None for the identity alone."""
    text = JITTERS.check(name, value)
    try:
        return text if text and len(matrices(text)) > 1 else None
    except ValueError:
        raise RecipeError(name, value, ALLOWED) from None


class Scanned(Finder):
    """The method's machine looks at all windows; what it wrongly finds where nothing is trains the next one."""

    name = "scan"
    title = "Every window, at every scale"
    fields = (
        Field("stride", numeric(1, 9, whole=True), 2),
        Field("scale_step", numeric(1.05, 2), 1.2, step=0.05),
        Field("enlarge", numeric(0.5, 4), 1.25, step=0.25),
        Field("turns", Kind(_turns, str, str, "text"), None),
        Field("grow", numeric(1, 4), None, step=0.1),
        Field("overlap", numeric(0.1, 0.9), 0.3, step=0.1),
        Field("lost", numeric(0, 0.5), None, step=0.005),
        Field("floor", numeric(-10, 10), -0.5, step=0.1),
        Field("votes", numeric(0, 10), None, step=0.1),
        Field("bootstraps", numeric(0, 9, whole=True), 0),
        Field("mined", numeric(1, 100_000, whole=True), 5000),
        Field("turned", FLAG, False),
        Field("windows", LINE, None, shown=False),
    )

    def prepare(self, recipe, pictures: PictureSet, part: Part, check) -> Problem:
        """The part's problem before bootstrapping."""
        check("searching")
        side = recipe.option("chip")
        if recipe.option("windows"):
            X, y = _marked(recipe.option("windows"), side)
            _require_untested(recipe, X, pictures, part)
            picture = np.full(len(y), -1)
        elif pictures.chips is None:
            X, y, picture = cut(recipe, pictures, part, _grow(recipe, pictures), check)
        else:
            (X, y), picture = pictures.chips, np.full(len(pictures.chips[1]), -1)
            if X.shape[1:] != (side, side):
                raise RecipeError("chip", side, f"{X.shape[1]}, the side of the windows of {recipe.dataset}")
        discard = quick_look(recipe, X, y)
        ground = Ground(pictures, part, X, np.asarray(y, np.int64), picture, np.zeros(len(y), np.int64), discard)
        return _problem(recipe, ground, check)

    def train(self, method, recipe, problem: Problem, monitor, check) -> tuple[object, Problem]:
        """The method's machine after the rounds of bootstrapping, and the problem with what they mined."""
        rounds = recipe.option("bootstraps")
        for number in range(rounds + 1):
            stage = f"round {number + 1} of {rounds + 1}" if rounds else ""
            estimator = method.train(recipe, problem, under_name(stage, monitor) if stage else monitor)
            if number < rounds:
                larger = _mined(recipe, problem, _prepared(estimator.machine_, problem), number + 1, check)
                if len(larger.y) == len(problem.search.y):
                    break
                problem = _problem(recipe, larger, check)
        return estimator, problem

    def resumed(self, problem: Problem, judged: Detections) -> Problem:
        """The problem with all windows that bootstrapping mined, as a run kept them."""
        ground = problem.search._replace(
            chips=judged.train_chips, y=judged.train_y, picture=judged.train_picture, round=judged.train_round
        )
        return _problem(problem.recipe, ground, lambda _: None)

    def judge(self, machine, problem: Problem, check) -> Detections:
        """What the machine finds in the test pictures, down to the floor of the recipe."""
        recipe, ground = problem.recipe, problem.search
        known, side = ground.pictures, recipe.option("chip")
        scorer, found, hits = Scorer(_prepared(machine, problem), side), [], []
        for at in ground.part.test:
            picture = known.pictures[at]
            seen = search(recipe, known, scorer, ground.discard, picture.image, lambda: check("predicting"))
            found.append(seen)
            hits.append(by_overlap(seen.boxes, picture.boxes, recipe.option("overlap")))
        chips = np.concatenate([np.empty((0, side, side), np.uint8), *(seen.scan.chips[seen.kept] for seen in found)])
        return beside_truth(known, ground.part.test, [seen.boxes for seen in found], hits, chips)._replace(
            decision=np.concatenate([np.empty(0), *(seen.f for seen in found)]),
            votes=np.concatenate([np.empty(0), *(seen.votes for seen in found)]),
            turn=np.concatenate([np.empty(0, np.int64), *(seen.scan.turn[seen.kept] for seen in found)]),
            train_chips=ground.chips,
            train_y=ground.y,
            train_picture=ground.picture,
            train_round=ground.round,
        )

    def seconds(self, recipe, pictures: PictureSet, part: Part) -> float:
        """About how long the scans of a part take: of its test pictures, and of those that it mines."""
        some = pictures.empty or [pictures.pictures[at] for at in part.train]
        how = _how(recipe, None)
        del how["discard"]
        mining = {"step": MINED_STEP, "turns": _mined_turns(recipe, pictures)}

        def windows(of, longest: float = np.inf, **other) -> int:
            shapes = (np.array(picture.image.shape) for picture in of)
            return sum(n_windows(tuple((s * min(1, longest / s.max())).astype(int)), **how | other) for s in shapes)

        looked = recipe.option("bootstraps") * windows(some, MINED_SIDE, **mining)
        looked += windows(pictures.pictures[at] for at in part.test)
        passes = PASSES if self._windows(recipe, pictures, part)[1] >= MANY else PASSES_AFTER_FEWER
        return looked * (LOOKED_SECONDS + passes * DECIDED_SECONDS)

    def size(self, recipe, pictures: PictureSet, part: Part) -> Sizes:
        """How many windows a part will train on, about."""
        n, positive = self._windows(recipe, pictures, part)
        side = recipe.option("chip")
        found = fewer(recipe.preprocess)  # of the false alarms that may be mined
        n += round(found * recipe.option("bootstraps") * recipe.option("mined"))
        d = prod(shape_made(recipe, (side, side), n))
        return Sizes(n, 1, d, 1, stored=2 * n * side**2, positive=positive / n)

    def _windows(self, recipe, pictures: PictureSet, part: Part) -> tuple[int, int]:
        """How many windows there are before any is mined, about, and how many of them show an object."""
        if recipe.option("windows"):
            _, y = _marked(recipe.option("windows"), recipe.option("chip"))
        elif pictures.chips:
            _, y = pictures.chips
        else:
            objects = sum(len(pictures.pictures[at].boxes) for at in part.train)
            return objects + max(OTHERS[0] * objects, OTHERS[1]), objects
        return len(y), int(np.count_nonzero(y > 0))


def search(recipe, pictures: PictureSet, machine, discard: Discard | None, image: np.ndarray, check, **told) -> Seen:
    """What a machine detects in an image (h, w) uint8; `pictures`: those it trained on; `told`: the scan's `tell`."""
    seen = scan(image, machine, threshold=recipe.option("floor"), check=check, **_how(recipe, discard), **told)
    f = supported(seen.boxes, seen.f, weight=recipe.option("votes") or 0.0)
    kept = suppressed(seen.boxes, f)
    return Seen(seen, kept, grown(seen.boxes[kept], _grow(recipe, pictures)), f[kept], f[kept] - seen.f[kept])


def _problem(recipe, ground: Ground, check) -> Problem:
    if len(np.unique(ground.y)) < 2:
        raise RecipeError("dataset", recipe.dataset, "a dataset with objects in its training pictures")
    shape = ground.chips.shape[1:]
    data = Chips(ground.chips, ground.chips[:0], shape, content_hash(recipe, ground.pictures))
    split = Split(np.arange(len(ground.y)), np.arange(0), "train", ground.y, ground.y[:0])
    return assemble(recipe, data, split, check)._replace(search=ground, recipe=recipe)


def quick_look(recipe, chips: np.ndarray, y: np.ndarray) -> Discard | None:
    """The quick look, fitted to objects in every form of the recipe's jitter set; None where none is asked for."""
    lost = recipe.option("lost")
    if not lost:
        return None
    objects = np.flatnonzero(y > 0)
    forms = JitterSet.parse(recipe.drawn_jitters or "none", chips.shape[1:]).apply(chips[objects])[
        1:
    ]  # (j, m, side, side)
    everything = np.concatenate([chips, np.rint(forms).astype(np.uint8).reshape(-1, *chips.shape[1:])])
    parent = np.concatenate([np.arange(len(y)), np.tile(objects, len(forms))])
    return fit_discard(everything, y[parent], parent=parent, lost=lost)


def _mined(recipe, problem: Problem, machine, number: int, check) -> Ground:
    """The ground with the false alarms that a machine gives on pictures without objects, or beside the objects."""
    ground = problem.search
    empty = ground.pictures.empty
    some = empty or [ground.pictures.pictures[at] for at in ground.part.train]
    mined = mine(
        [picture.image for picture in some],
        machine,
        limit=recipe.option("mined"),
        threshold=recipe.option("floor"),
        longest=MINED_SIDE,
        check=lambda: check("mining"),
        **_how(recipe, ground.discard) | {"step": MINED_STEP, "turns": _mined_turns(recipe, ground.pictures)},
    )
    boxes = grown(mined.boxes, _grow(recipe, ground.pictures))
    background = np.array([clear(box[None], some[at])[0] for box, at in zip(boxes, mined.picture, strict=True)], bool)
    where = np.full(background.sum(), -1) if empty else np.array(ground.part.train)[mined.picture[background]]
    return ground._replace(
        chips=np.concatenate([ground.chips, mined.chips[background]]),
        y=np.concatenate([ground.y, np.full(background.sum(), -1)]),
        picture=np.concatenate([ground.picture, where]),
        round=np.concatenate([ground.round, np.full(background.sum(), number)]),
    )


def _grow(recipe, pictures: PictureSet) -> float:
    """How much larger an object is than the window inside it."""
    return recipe.option("grow") or 1 / pictures.entry.window


def _how(recipe, discard: Discard | None) -> dict:
    """The settings of a scan."""
    names = {"side": "chip", "stride": "stride", "step": "scale_step", "enlarge": "enlarge"}
    how = {name: recipe.option(option) for name, option in names.items()}
    return how | {"turns": recipe.option("turns") or "none", "discard": discard}


def _mined_turns(recipe, pictures: PictureSet) -> str:
    """In which pictures are searched for false alarms: where they show no object, none is on its side."""
    return QUARTERS if recipe.option("turned") and pictures.empty else "none"


def _prepared(machine, problem: Problem):
    return replace(machine, prepare=problem.prepare)


def content_hash(recipe, pictures: PictureSet) -> str:
    """The hash of all that a recipe trains on and is tested by: the pictures, and a dataset of windows."""
    if not (name := recipe.option("windows")):
        return pictures.content_hash
    return hashlib.sha256(f"{pictures.content_hash} {load(name).content_hash}".encode()).hexdigest()


def _require_untested(recipe, X: np.ndarray, pictures: PictureSet, part: Part) -> None:
    """RecipeError where windows X (n, side, side) show objects of the test pictures, brighter or darker or not: where
    they are like one of these, and more than like any of the training pictures."""
    grow, most = _grow(recipe, pictures), {}
    for name in ("train", "test"):
        shown = [pictures.pictures[at] for at in getattr(part, name)]
        objects = [_window(one.image, square, X.shape[1]) for one in shown for square in _squares(one.boxes, grow)]
        most[name] = (_unit(X) @ _unit(np.array(objects)).T).max(axis=1) if objects else np.zeros(len(X))
    alike = int(np.count_nonzero((most["test"] > ALIKE) & (most["test"] > most["train"])))
    if alike:
        allowed = f"windows that are not from test pictures; {alike} of {len(X)} show an object of a test picture"
        raise RecipeError("windows", recipe.option("windows"), allowed)


def _unit(X: np.ndarray) -> np.ndarray:
    """(n, d) float64: images less their mean, of length 1, or 0 where they are constant."""
    flat = X.reshape(len(X), -1).astype(np.float64)
    flat -= flat.mean(axis=1, keepdims=True)
    return flat / np.maximum(np.linalg.norm(flat, axis=1, keepdims=True), 1e-9)


def _marked(name: str, side: int) -> tuple[np.ndarray, np.ndarray]:
    """The windows that a reader marked, kept as a set of their own; of a revision those that are not out."""
    try:
        known = load(name)
    except DataError as error:
        raise RecipeError("windows", name, "an existing dataset of windows") from error
    X, y = known.X_train, known.y_train
    if known.base is not None:
        X, y = (np.delete(of, known.train.out, axis=0) for of in (X, y))
    if X.shape[1:] != (side, side) or X.dtype != np.uint8 or set(np.unique(y).tolist()) != {-1, 1}:
        raise RecipeError("windows", name, f"grey pictures of {side} x {side} pixels with the classes -1 and 1")
    return X, np.asarray(y, np.int64)
