"""What a set of pictures with objects is: the ground truth for training and evaluating a detector.

picture  I (h, w) uint8, I[y, x];  boxes (m, 4) xmin ymin xmax ymax in pixels; they may extend beyond the picture
circle   centre x, y and radius r as the box (x - r, y - r, x + r, y + r)
part     a split of an experiment: pictures for training and pictures for testing
"""

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from data.dataset import SetFacts
from data.entry import MAX_IN_MEMORY, Readable
from data.memo import Memo

ONE_CATEGORY = {1: "labelled"}
_HASHED_TITLES = {  # title -> the one it had when the content hashes of stored runs were taken
    "A: train on windows, test on every picture": "A: windows train, every picture tests",
} | {
    f"A: {n} folds, each tested on a model trained on the others": f"A: {n} parts, each tests what the others train on"
    for n in (2, 3, 4)
}


@dataclass(frozen=True, eq=False)
class Picture:
    """A grey picture and its objects. The arrays are shared and read-only."""

    name: str
    image: np.ndarray  # (h, w) uint8
    boxes: np.ndarray  # (m, 4) float64
    category: np.ndarray  # (m,) int64, 1 is the most certain
    area: float = 1.0  # usable area, in the unit of the set
    opportunities: int = 0  # objects that count

    def __post_init__(self):
        for array in (self.image, self.boxes, self.category):
            array.flags.writeable = False

    @property
    def nbytes(self) -> int:
        return self.image.nbytes + self.boxes.nbytes + self.category.nbytes

    @property
    def circles(self) -> np.ndarray:
        """(m, 3) float64 x, y, radius of the circles inside the boxes (the mean radius if a box is not square)."""
        low, high = self.boxes[:, :2], self.boxes[:, 2:]
        return np.column_stack([(low + high) / 2, (high - low).mean(1) / 2])


@dataclass(frozen=True)
class Part:
    """One split: positions in `pictures` for training and for testing."""

    name: str
    train: tuple[int, ...]
    test: tuple[int, ...]


@dataclass(frozen=True)
class Experiment:
    """Splits that are evaluated together, with the denominators of their FROC curve."""

    name: str
    title: str
    parts: tuple[Part, ...]
    area: float  # of all test pictures, in the unit of the set
    opportunities: int  # objects of all test pictures that count
    missing: tuple[str, ...] = ()  # pictures of the experiment that are not available

    @property
    def tested(self) -> tuple[int, ...]:
        """Positions of all test pictures, in order."""
        return tuple(sorted({position for part in self.parts for position in part.test}))


@dataclass(frozen=True, eq=False, kw_only=True)
class PictureFacts(SetFacts):
    """What is known about a set of pictures without reading it."""

    kind: str = "pictures"
    shape: str  # how objects are given: "circle" or "box"
    object_name: str
    unit: str  # of areas: "km²" or "picture"
    n_pictures: int
    n_objects: int
    categories: dict[int, str]
    blank: int | None = None  # grey value of areas without image data; None for a set without such areas
    window: float = 1.0  # side of a training chip, as a fraction of an object's box around the same centre


@dataclass(frozen=True, eq=False)
class PictureSet:
    """A set of pictures: its facts, pictures and experiments, and chips to train on."""

    entry: PictureFacts
    pictures: tuple[Picture, ...]
    experiments: dict[str, Experiment]  # never empty
    chips: tuple[np.ndarray, np.ndarray] | None = None  # X (n, h, w) uint8, y (n,) int64 +1 / -1
    empty: tuple[Picture, ...] = ()  # pictures without objects

    def __post_init__(self):
        for array in self.chips or ():
            array.flags.writeable = False

    @property
    def nbytes(self) -> int:
        pictures = sum(picture.nbytes for picture in (*self.pictures, *self.empty))
        return pictures + sum(array.nbytes for array in self.chips or ())

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of pictures, objects, experiments and chips, independent of the name of the set."""
        digest = hashlib.sha256()
        for picture in (*self.pictures, *self.empty):
            digest.update(f"{picture.name!r} {picture.image.shape} {picture.area!r} {picture.opportunities} ".encode())
            for array in (picture.image, picture.boxes, picture.category):
                digest.update(np.ascontiguousarray(array).data)
        experiments = [
            (name, replace(experiment, title=_HASHED_TITLES.get(experiment.title, experiment.title)))
            for name, experiment in sorted(self.experiments.items())
        ]
        digest.update(repr((len(self.pictures), experiments)).encode())
        for array in self.chips or ():
            digest.update(f"{array.dtype.str} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def around(x: np.ndarray, y: np.ndarray, radius: np.ndarray) -> np.ndarray:
    """(m, 4) float64: the square boxes around circles."""
    return np.column_stack([x - radius, y - radius, x + radius, y + radius]).astype(np.float64).reshape(-1, 4)


def leave_out(pictures: tuple[Picture, ...], name: str, title: str, n_parts: int) -> Experiment:
    """An experiment that divides the pictures into `n_parts` folds, at most one per picture; each fold is tested once.

    Pictures with objects are distributed first, by position, so that with two of them every split has one to train on.
    """
    n_parts, everything = min(n_parts, len(pictures)), range(len(pictures))
    dealt = sorted(everything, key=lambda position: not len(pictures[position].boxes))
    folds = [sorted(dealt[k::n_parts]) for k in range(n_parts)]
    parts = tuple(
        Part(f"{name}{k}", tuple(p for p in everything if p not in fold), tuple(fold))
        for k, fold in enumerate(folds, 1)
    )
    return counted(name, title, parts, pictures)


def counted(
    name: str, title: str, parts: tuple[Part, ...], pictures: tuple[Picture, ...], missing: tuple[str, ...] = ()
) -> Experiment:
    """An experiment whose denominators are the sums over its test pictures."""
    tests = [pictures[position] for part in parts for position in part.test]
    area, opportunities = sum(p.area for p in tests), sum(p.opportunities for p in tests)
    return Experiment(name, title, parts, float(area), int(opportunities), missing)


@dataclass(frozen=True, eq=False)
class Contents:
    """What is read from the files of a set: a PictureSet without its facts."""

    pictures: tuple[Picture, ...]
    experiments: dict[str, Experiment]
    chips: tuple | None = None
    empty: tuple[Picture, ...] = ()


@dataclass(frozen=True, eq=False)
class PictureEntry(Readable, PictureFacts):
    """A set of pictures of the catalogue: its facts, and where its pictures come from."""

    memo = Memo(MAX_IN_MEMORY)

    def described(self, contents: Contents) -> PictureSet:
        """The set of these contents, with its pictures and objects counted."""
        n_objects = sum(len(picture.boxes) for picture in contents.pictures)
        return PictureSet(replace(self, n_pictures=len(contents.pictures), n_objects=n_objects), **vars(contents))
