"""The volcano experiments as the bench takes them apart: candidates, examples, machines, pooled detections.

A search is leave-out-fold: the matched filter, its threshold and the machine come from the training pictures of a part
alone, the test pictures of all parts are pooled. Candidates of the training pictures are the examples: +1 where one
covers a labelled volcano, -1 elsewhere. Reference: DeCoste and Schölkopf (2002), section 5.2.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cache
from typing import NamedTuple

import numpy as np

from svmcore import RBF, SVC, JitterSet, LocalPoly, Poly, Preprocessor, VirtualSVC
from svmcore.detection import curve
from svmcore.detection.candidates import MatchedFilter, chips, fitting, pooled
from svmcore.detection.gaussian import TwoGaussians
from svmcore.detection.matching import by_centre, first_of
from svmcore.preprocess import split_steps

SIDE = 15  # pooled pixels: the window of the matched filter and of the Gaussians
MISS = 0.05  # share of the training volcanoes that the matched filter may miss
NEAR = 13  # pixels: a candidate this near to a volcano's centre covers it, however small the volcano
RAW = Preprocessor("standardise", "unit-norm")


@dataclass(frozen=True)
class Setting:
    """A machine: what it sees of a place, and how it is trained.

    The raw chip is `seen` + 2 `margin` pixels wide; jitters move the raw chip, then the margin is cut off.
    """

    seen: int = 15
    margin: int = 0
    jitters: str = "none"
    scope: str = "machine"  # whose examples are jittered: "machine" all SVs, "positives" SVs of the volcanoes, "all"
    kernel: str = "poly:9"
    C: float = 1.0
    weight: float = 3.0  # C_pos / C_neg
    each: str = "all"  # of the candidates that cover one volcano "all" train, or the "strongest" alone
    sure: int = 4  # categories 1 to this train, the others' candidates are left out of training
    smooth: float = 0.0  # pooled pixels
    steps: str = "standardise,unit-norm"  # what makes a vector of the chip
    query: str = "none"  # forms of a test chip over which f is averaged
    pool: int = 2
    miss: float = MISS

    def __str__(self) -> str:
        given = Setting()
        names = [name for name in self.__dataclass_fields__ if getattr(self, name) != getattr(given, name)]
        return " ".join(f"{name}={getattr(self, name)}" for name in names) or "as the paper"

    def preparation(self) -> Preprocessor:
        steps = [f"smooth:{self.smooth}"] * (self.smooth > 0) + [f"crop:{self.margin}"] * (self.margin > 0)
        return Preprocessor(*steps, *split_steps(self.steps))

    def svc(self) -> SVC:
        name, _, value = self.kernel.partition(":")
        shape = (self.seen, self.seen)
        kernel = {
            "poly": lambda: Poly(int(value), 1, 1),
            "rbf": lambda: RBF(float(value)),
            "local": lambda: LocalPoly(image_shape=shape, inner=2, outer=2, width=int(value)),
        }[name]()
        return SVC(kernel, C=self.C, class_weight={-1: 1.0, 1: self.weight}, cache_mb=800)


class Candidates(NamedTuple):
    """Places of one picture that a filter named; m rows."""

    centres: np.ndarray  # (m, 2) pooled pixels
    response: np.ndarray  # (m,)
    hit: np.ndarray  # (m,) row of the picture's boxes, or -1


@dataclass
class Detections:
    """Pooled candidates of the test pictures, with the scores of each machine."""

    tested: tuple[int, ...]
    picture: list = field(default_factory=list)
    hit: list = field(default_factory=list)
    scores: dict = field(default_factory=dict)
    seconds: dict = field(default_factory=dict)
    training: list = field(default_factory=list)  # positives and negatives of each part

    def add(self, name: str, values: np.ndarray, seconds: float = 0.0) -> None:
        self.scores.setdefault(name, []).append(values)
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds


class Venus:
    """Pictures of one set, and what has been found in them so far."""

    def __init__(self, known, gaps: bool = False):
        """gaps: whether candidates may reach what was never imaged."""
        self.pictures, self.blank = known.pictures, None if gaps else known.entry.blank
        self.first = np.cumsum([0, *(len(p.boxes) for p in self.pictures)])  # number of a picture's first volcano

    @cache  # noqa: B019
    def small(self, picture: int, pool: int) -> np.ndarray:
        return pooled(self.pictures[picture].image, pool)

    @cache  # noqa: B019
    def filter(self, train: tuple[int, ...], pool: int, miss: float) -> MatchedFilter:
        """Matched to the training volcanoes, and the threshold that misses so many of them."""
        cut = []
        for k in train:
            image, boxes = self.small(k, pool), self.pictures[k].boxes
            centres = np.floor((boxes[:, :2] + boxes[:, 2:])[:, ::-1] / 2 / pool).astype(int)
            cut.append(chips(image, centres[fitting(image.shape, centres, SIDE)], SIDE))
        plain = MatchedFilter.fit(np.concatenate(cut))
        best = np.concatenate([self._best(plain, k, pool) for k in train])
        return plain.missing(best, miss)

    def _best(self, plain: MatchedFilter, picture: int, pool: int) -> np.ndarray:
        found = self._look(plain, picture, pool)
        best = np.full(len(self.pictures[picture].boxes), -np.inf)
        covering = found.hit >= 0
        np.maximum.at(best, found.hit[covering], found.response[covering])
        return best

    def _look(self, matched: MatchedFilter, picture: int, pool: int) -> Candidates:
        centres, response = matched.peaks(self.small(picture, pool), self.blank)
        low = (centres[:, ::-1] - SIDE // 2) * pool
        hit = by_centre(np.hstack([low, low + SIDE * pool]), self.pictures[picture].boxes, NEAR)
        return Candidates(centres, response, hit)

    @cache  # noqa: B019
    def candidates(self, train: tuple[int, ...], picture: int, pool: int, miss: float) -> Candidates:
        return self._look(self.filter(train, pool, miss), picture, pool)

    def raw(self, train: tuple[int, ...], picture: int, setting: Setting, side: int | None = None) -> np.ndarray:
        """Raw chips (m, s, s) uint8 of the candidates; beyond the picture's border its last pixels go on."""
        side = side or setting.seen + 2 * setting.margin
        found = self.candidates(train, picture, setting.pool, setting.miss)
        reach = max(0, side // 2 - SIDE // 2)
        return chips(np.pad(self.small(picture, setting.pool), reach, mode="edge"), found.centres + reach, side)

    def examples(self, train: tuple[int, ...], setting: Setting, side: int | None = None):
        """X (n, s, s) and y (n,) of the training pictures' candidates."""
        X, y = [], []
        for k in train:
            hit = self.candidates(train, k, setting.pool, setting.miss).hit
            category = np.append(self.pictures[k].category, 0)[hit]  # 0 where a candidate covers nothing
            keep = category <= setting.sure
            if setting.each == "strongest":
                keep &= first_of(hit)
            X.append(self.raw(train, k, setting, side)[keep])
            y.append(np.where(hit[keep] >= 0, 1, -1))
        return np.concatenate(X), np.concatenate(y)

    @cache  # noqa: B019
    def machine(self, train: tuple[int, ...], setting: Setting):
        return fit(setting, *self.examples(train, setting))

    def decisions(self, train: tuple[int, ...], picture: int, setting: Setting) -> np.ndarray:
        """f of the candidates of a picture, by the machine of the training pictures, which is kept."""
        return self.machine(train, setting)(self.raw(train, picture, setting))

    def search(self, parts, settings: dict[str, Setting], baselines: bool = False, repeats: int = 1) -> Detections:
        """Train on each part's training pictures, score the candidates of its test pictures, pool the parts.

        All settings must look at the same candidates (pool and miss rate). parts: (train, test) positions; seconds are
        the least of so many repeats, as other work on the machine disturbs them.
        """
        (look,) = {(s.pool, s.miss) for s in settings.values()}
        found = Detections(tuple(k for _, test in parts for k in test))
        for train, test in parts:
            spots = {k: self.candidates(train, k, *look) for k in test}
            for k, at in spots.items():
                found.picture.append(np.full(len(at.hit), k))
                found.hit.append(np.where(at.hit >= 0, at.hit + self.first[k], -1))
            if baselines:
                self._baselines(found, train, spots, next(iter(settings.values())), repeats)
            machines = {}
            for name, setting in settings.items():
                X, y = self.examples(train, setting)
                machines[name], spent = timed(lambda: fit(setting, X, y), repeats)  # noqa: B023
                found.add(name, np.concatenate([machines[name](self.raw(train, k, setting)) for k in test]), spent)
            found.training.append((int((y > 0).sum()), int((y < 0).sum())))
        return found

    def _baselines(self, found: Detections, train, spots, setting: Setting, repeats: int) -> None:
        found.add("matched filter", np.concatenate([at.response for at in spots.values()]))
        X, y = self.examples(train, setting, SIDE)
        gaussian, spent = timed(lambda: TwoGaussians().fit(RAW.transform(X).reshape(len(X), -1), y), repeats)
        Z = [RAW.transform(self.raw(train, k, setting, SIDE)) for k in spots]
        found.add("Gaussian", np.concatenate([gaussian.decision_function(z.reshape(len(z), -1)) for z in Z]), spent)

    def trial(self, found: Detections, name: str, opportunities: bool = False) -> curve.Trial:
        """The pooled detections of one machine, counted against all labels, or against the tables' opportunities."""
        n = [p.opportunities if opportunities else len(p.boxes) for p in (self.pictures[k] for k in found.tested)]
        parts = found.scores[name], found.hit, found.picture
        return curve.trial(*map(np.concatenate, parts), found.tested, n)


def timed(work, repeats: int):
    """What `work` gives, and the least seconds that it took."""
    least = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        made = work()
        least = min(least, time.perf_counter() - start)
    return made, least


def fit(setting: Setting, X: np.ndarray, y: np.ndarray):
    """Train on raw chips X (n, s, s) with labels y: decision values of raw chips."""
    X, prepare = X.astype(np.float32), setting.preparation()
    if setting.jitters != "none" and setting.scope != "positives":
        virtual = VirtualSVC(setting.svc(), jitters=setting.jitters, scope=setting.scope, prepare=prepare)
        decide = virtual.fit(X, y).decision_function
    else:

        def prepared(Z):
            return prepare.transform(Z).reshape(len(Z), -1)

        machine = setting.svc().fit(prepared(X), y)
        if setting.jitters != "none":
            X, y = _positives_moved(setting, X[machine.support_], y[machine.support_])
            machine = setting.svc().fit(prepared(X), y)

        def decide(Z):
            return machine.decision_function(prepared(Z))

    def averaged(Z):
        forms = JitterSet.parse(setting.query, Z.shape[1:]).apply(Z.astype(np.float32))
        return np.mean([decide(form.reshape(Z.shape)) for form in forms], axis=0)

    return averaged


def _positives_moved(setting: Setting, X: np.ndarray, y: np.ndarray):
    """Support vectors, and the jittered forms of those that are volcanoes."""
    own = X[y > 0]
    moved = JitterSet.parse(setting.jitters, own.shape[1:]).apply(own)[1:].reshape(-1, *own.shape[1:])
    return np.concatenate([X, moved]), np.concatenate([y, np.ones(len(moved), y.dtype)])
