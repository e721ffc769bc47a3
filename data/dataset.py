"""What a dataset is, and the errors for one that cannot be used.

    D = {(x_i, y_i)},  x_i an image (h, w) or (h, w, c), or a row of d features;  y_i one of 2 to 100 class labels

X    (n, h, w[, c]) uint8 or float32 images, or (n, d) features, float32 unless that rounds them too much, else float64
y    (n,) int64 or str labels

The training set may have m unlabelled examples after the labelled ones: rows n to n + m - 1. They are used neither for
training nor for testing until a verdict gives them a label (data.revisions).
"""

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from data.album import Album

MADE_HERE = "made here"  # the licence of synthetic datasets
SYNTHETIC = {"licence": MADE_HERE, "sources": ("drawn from a fixed seed",)}  # facts of a synthetic dataset
MAX_REASON = 600  # characters of a reason


class DataError(ValueError):
    """Data that cannot be used. reason: why; accepted: what would be accepted instead."""

    def __init__(self, reason: str, accepted: str = ""):
        printable = "".join(c if c.isprintable() else " " for c in reason)
        if len(printable) > MAX_REASON:  # libraries may quote a whole file in an error
            printable = f"{printable[: MAX_REASON - 60]} … {printable[-57:]}"
        self.reason, self.accepted = printable, accepted
        super().__init__(f"{self.reason}. Accepted: {accepted}." if accepted else f"{self.reason}.")

    def name_file(self, file: str) -> None:
        """Begin the reason with the file in which the fault is."""
        DataError.__init__(self, f"{file}: {self.reason}", self.accepted)


def megabytes(size: int) -> str:
    """A number of bytes in words, rounded up, so that what is above a limit never reads as the limit."""
    return f"{-(-size >> 20):,} MB"


@contextmanager
def in_words(reason: str, accepted: str, *kinds: type[Exception]) -> Iterator[None]:
    """Turn errors in the block into a DataError: the reason and, in brackets, the message of the library or system.
    kinds: the errors to turn; all by default, as no list of what libraries raise is complete."""
    kinds = kinds or (Exception,)
    try:
        yield
    except DataError:
        raise
    except kinds as error:
        detail = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise DataError(f"{reason} ({detail})", accepted) from error


class NotAtHand(DataError):
    """A dataset of the catalogue whose files are not on this computer."""


class UnknownDataset(DataError, KeyError):
    """A name that is not in the catalogue."""

    __str__ = DataError.__str__  # KeyError would show the text in quotes

    def __init__(self, name: str, names):
        super().__init__(f"There is no dataset {name!r}", f"one of {listed}" if (listed := ", ".join(names)) else "")


class Arrays(NamedTuple):
    """The examples. A dataset without a test set has empty X_test and y_test. Rows of X_train beyond the length of
    y_train have no label. album: their pictures, where these are not the examples themselves. groups: (n,) of all rows
    of X_train and X_test, the same value for rows of one thing, such as several views of a picture; int64 once checked.
    files: (n,) str, the file of each picture, where there are files.
    """

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    album: Album | None = None
    groups: np.ndarray | None = None
    files: np.ndarray | None = None

    @property
    def examples(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """The four arrays."""
        return self[:4]

    def beside(self, rows: np.ndarray) -> tuple[Album | None, np.ndarray | None, np.ndarray | None]:
        """What belongs to these rows of X_train and X_test: their album, groups and files."""
        album = self.album and self.album.take(rows)
        return album, *(None if of is None else of[rows] for of in (self.groups, self.files))

    @classmethod
    def unsplit(cls, X: np.ndarray, y: np.ndarray) -> "Arrays":
        """All of (X, y) as the training set, with an empty test set."""
        return cls(X, y, X[:0], y[:0])


@dataclass(frozen=True, eq=False, kw_only=True)
class SetFacts:
    """What is known about a dataset or a set of pictures without reading it."""

    name: str
    title: str
    kind: str
    licence: str
    citation: str = ""
    sources: tuple[str, ...]
    size_mb: float = 0.0  # to download or on disk
    fetchable: bool = False  # `data.fetch` knows a public source
    note: str = ""
    verified: bool = False  # every file is read only if it has the published content, or comes with a package

    @property
    def fixed(self) -> bool:
        """Whether the name alone says what is in it; another set may take the name of any other."""
        return self.verified or self.synthetic

    @property
    def synthetic(self) -> bool:
        return self.licence == MADE_HERE


@dataclass(frozen=True, eq=False, kw_only=True)
class Facts(SetFacts):
    """What is known about a dataset without reading it. kind: "images", "features" or "toy" (points in the plane)."""

    shape: tuple[int, ...]  # of one example: (h, w), (h, w, 3) or (d,)
    classes: tuple  # labels, sorted
    n_train: int
    n_test: int = 0
    ink: bool = False  # bright strokes on a dark background, which are drawn dark on light
    features: tuple[str, ...] = ()  # names of the columns of a table, if known
    groups: int = 0  # of rows that belong together; 0 where each is by itself
    unlabelled: int = 0  # unlabelled examples, in addition to n_train and n_test
    asked: int = 0  # of a revision: how many of the n_train were labelled for the first time
    out: tuple[int, int] = (0, 0)  # of a revision: how many of the n_train and n_test examples are excluded

    @property
    def n_classes(self) -> int:
        return len(self.classes)


class Part(NamedTuple):
    """The training or test set of a revision after its verdicts (data.revisions)."""

    y: np.ndarray  # (n,) labels
    mended: np.ndarray  # (m,) int64, sorted: rows whose label comes from a verdict
    out: np.ndarray  # (k,) int64, sorted: rows that are excluded
    unlabelled: np.ndarray = np.zeros(0, np.int64)  # sorted: rows without a label; y has an arbitrary class there


@dataclass(frozen=True, eq=False)
class Dataset:
    """A dataset: its facts and its examples. The arrays are shared between callers and read-only.

    rows: all examples of the training set, the unlabelled ones last; X_train itself if all have a label, and in a
    revision. base: of a revision, the dataset that the verdicts refer to; train, test: its sets after the verdicts.
    album: pictures of the examples, where they are shown by these instead of what is trained on. groups: (n,) int64 of
    all examples in the order of the album, where some belong together: a split keeps these on one side. files: (n,) str
    likewise, the file of each picture, where there are files.
    """

    entry: Facts
    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    rows: np.ndarray
    base: "Dataset | None" = None
    train: Part | None = None
    test: Part | None = None
    album: Album | None = None
    groups: np.ndarray | None = None
    files: np.ndarray | None = None

    def __post_init__(self):
        parts = *(self.train or ()), *(self.test or ())
        for array in (*self.arrays.examples, self.rows, *parts, self.groups, self.files):
            if array is not None:
                array.flags.writeable = False

    @classmethod
    def of(cls, entry: Facts, arrays: Arrays) -> "Dataset":
        """A dataset from its facts and arrays."""
        X, y, X_test, y_test = map(np.ascontiguousarray, arrays.examples)
        return cls(entry, X if len(X) == len(y) else X[: len(y)], y, X_test, y_test, X, album=arrays.album,
                   groups=arrays.groups, files=arrays.files)  # fmt: skip

    @property
    def arrays(self) -> Arrays:
        return Arrays(self.X_train, self.y_train, self.X_test, self.y_test, self.album, self.groups, self.files)

    @property
    def image_shape(self) -> tuple[int, ...] | None:
        """(h, w) or (h, w, c), or None when the examples are not images."""
        return self.X_train.shape[1:] if self.X_train.ndim > 2 else None

    @property
    def classes(self) -> np.ndarray:
        """(k,) the labels, sorted."""
        return np.asarray(self.entry.classes)

    @property
    def labelled(self) -> np.ndarray:
        """(n,) rows of X_train that have a label."""
        rows = np.arange(len(self.y_train))
        return rows if self.train is None else np.setdiff1d(rows, self.train.unlabelled)

    def in_album(self, part: str, rows: np.ndarray) -> np.ndarray:
        """The positions in the album of examples of "train" or "test"."""
        return np.asarray(rows) + (len(self.rows) if part == "test" else 0)

    def groups_of(self, part: str, rows: np.ndarray) -> np.ndarray | None:
        """The groups of examples of "train" or "test"; None where each is by itself."""
        return None if self.groups is None else self.groups[self.in_album(part, rows)]

    def file(self, part: str, row: int) -> str:
        """The file of the picture of an example; empty where it came from none."""
        return "" if self.files is None else str(self.files[self.in_album(part, row)])

    def label(self, part: str, row: int) -> int | str | None:
        """The label of an example of "train" or "test"; None if it has none."""
        if part == "test":
            return self.y_test[row].item()
        none = row >= len(self.y_train) or (self.train is not None and row in self.train.unlabelled)
        return None if none else self.y_train[row].item()

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the d columns of a table, x1 to xd by default; () for images."""
        if self.image_shape is not None:
            return ()
        return self.entry.features or tuple(f"x{j + 1}" for j in range(self.X_train.shape[1]))

    @property
    def nbytes(self) -> int:
        return self.rows.nbytes + sum(array.nbytes for array in self.arrays.examples[1:])

    @cached_property
    def content_hash(self) -> str:
        """SHA-256 of the examples and groups (types, shapes, values): the same on every computer and for every name.

        For a revision: SHA-256 of the base's hash and of the labels and rows that the verdicts change; the base's hash
        if they change nothing.
        """
        digest, arrays = hashlib.sha256(), [self.rows, *self.arrays.examples[1:]]
        arrays += [] if self.groups is None else [self.groups]
        if self.base is not None:
            parts = self.train, self.test
            changes = [array for part in parts for array in (part.y[part.mended], part.mended, part.out)]
            if not any(map(len, changes)):
                return self.base.content_hash
            digest.update(self.base.content_hash.encode())
            arrays = changes
        for array in arrays:
            digest.update(f"{array.dtype.str} {array.shape} ".encode())
            digest.update(np.ascontiguousarray(array).data)
        return digest.hexdigest()


def alike(names: Iterable[str]) -> list[list[str]]:
    """Groups of the different names that are one but for capitals, blanks, underscores, or characters that look alike
    or are not seen."""
    groups = defaultdict(list)
    for name in dict.fromkeys(names):
        seen = "".join(letter for letter in name if letter.isprintable() or letter.isspace())
        groups[tuple(unicodedata.normalize("NFKC", seen).casefold().replace("_", " ").split())].append(name)
    return [group for words, group in groups.items() if words and len(group) > 1]


def alike_note(what: str, names: Iterable[str], cure: str) -> list[str]:
    """A note on names that are `alike`, of what is called so, with the cure; none where there are none."""
    if not (groups := alike(names)):
        return []
    both = " and ".join(repr(name[:60]) for name in groups[0][:2])
    more = f" ({len(groups):,} groups of such names)" if len(groups) > 1 else ""
    return [f"{what} {both} differ only in capitals, spaces or similar characters{more}: {cure}"]


def mixed_order(y: np.ndarray) -> np.ndarray:
    """Order (n,) that spreads the classes evenly, so that the first hundred examples include all of them.

    The order within a class is kept; nothing is random.
    """
    _, code, count = np.unique(y, return_inverse=True, return_counts=True)
    by_class = np.argsort(code, kind="stable")
    rank = np.empty(len(y))
    rank[by_class] = (np.arange(len(y)) - np.repeat(np.cumsum(count) - count, count) + 0.5) / np.repeat(count, count)
    return np.lexsort((code, rank))
