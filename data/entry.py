"""A catalogue entry: the facts of a dataset, and how to read it.

entry.load() -> Dataset               cached while its files are unchanged, for recently used datasets
Readable, published, find             shared by the catalogue of datasets and the catalogue of pictures
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import ClassVar, TypeVar

import numpy as np

from data import fetch
from data.dataset import Arrays, DataError, Dataset, Facts, UnknownDataset
from data.manifest import FACTS, SETS
from data.memo import Memo

MAX_IN_MEMORY = 1 << 29  # bytes of examples, and as many of pictures; the most recent set is always kept

PUBLISHED = "the files as published"

E = TypeVar("E")  # Entry, PictureEntry


@dataclass(frozen=True, eq=False)
class Readable:
    """Where a set of the catalogue comes from; mixed into facts with a `name`. parse: reads its files."""

    memo: ClassVar[Memo]

    parse: Callable[[list[Path]], object] = field(repr=False, kw_only=True)
    paths: Callable[[], list[Path]] = field(default=list, repr=False, kw_only=True)  # raises NotAtHand
    present: Callable[[], bool] = field(default=lambda: True, repr=False, kw_only=True)

    @property
    def at_hand(self) -> bool:
        """Whether the set can be loaded without a download."""
        return self.present()

    def load(self):
        """The Dataset or PictureSet (shared, read-only).

        Raises NotAtHand if it must be downloaded first, DataError if its files are damaged or do not match the entry.
        """
        paths = self.paths()
        return self.memo.get(self.name, paths, lambda: self.described(_parsed(self.name, self.parse, paths)))


@dataclass(frozen=True, eq=False)
class Entry(Readable, Facts):
    """A dataset of the catalogue: its facts, and where its examples come from."""

    memo = Memo(MAX_IN_MEMORY)

    def described(self, arrays: Arrays) -> Dataset:
        """The dataset of these examples. DataError if they do not match the facts of this entry."""
        actual = (arrays.X_train.shape[1:], len(arrays.X_train), len(arrays.X_test), tuple(np.unique(arrays.y_train)))
        expected = (self.shape, self.n_train + self.unlabelled, self.n_test, self.classes)
        if actual != expected:
            raise DataError(
                f"{self.name} differs from the published dataset: its shape, sizes and classes are {actual}",
                f"{expected}",
            )
        if not all(np.isfinite(X).all() for X in (arrays.X_train, arrays.X_test)):
            raise DataError(f"{self.name} has missing or infinite values", PUBLISHED)
        return Dataset.of(self, arrays)


def _parsed(name: str, parse: Callable, paths: list[Path]):
    """The result of `parse` on the files of a set. Any error becomes a DataError."""
    try:
        return parse(paths)
    except DataError:
        raise
    except Exception as error:  # every library raises errors of its own, so no list of them is complete
        reason = str(error).partition("\n")[0][:200] or type(error).__name__
        raise DataError(
            f"{name} is damaged: {reason} ({paths[0].name if paths else 'synthetic'})", PUBLISHED
        ) from error


def fields_of(name: str) -> dict:
    """The fields of the entry of a published set."""
    files = SETS[name]
    packages = sorted({f"the Python package {file.package.split('/')[0]}" for file in files.files if file.package})
    sources = [source.called for source in files.sources]
    return FACTS[name] | {
        "name": name,
        "fetchable": bool(files.sources),
        "verified": all(file.sha256 or file.packed or file.package for file in files.files),
        "sources": tuple(packages or sources or ["a folder of SVMLAB_DATA"]),
        "paths": partial(fetch.find, name),
        "present": partial(fetch.at_hand, name),
    }


def find(name: str, built_in: dict[str, E], entries: Callable[[], list[E]]) -> E:
    """The entry of this name; the user's own are listed only if no built-in one has it. Raises UnknownDataset."""
    if name in built_in:
        return built_in[name]
    known = {candidate.name: candidate for candidate in entries()}
    if name not in known:
        raise UnknownDataset(name, known)
    return known[name]
