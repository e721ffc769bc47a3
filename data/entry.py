"""A catalogue entry: all that can be said of a data set without reading it, and the way to read it.

entry.load() -> Dataset        memoised while its files are unchanged, for the few sets in use
"""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from data import thumbnails
from data.dataset import Arrays, DataError, Dataset

MAX_IN_MEMORY = 1 << 29  # bytes of examples; the set asked for last is always kept

_memo: OrderedDict[tuple, Dataset] = OrderedDict()
_memo_lock = threading.Lock()


@dataclass(frozen=True, eq=False)
class Entry:
    """One data set of the catalogue."""

    name: str
    title: str
    kind: str  # "images", "features" or "toy" (synthetic points in the plane)
    shape: tuple[int, ...]  # of one example: (h, w), (h, w, 3) or (d,)
    classes: tuple  # labels, sorted
    n_train: int
    n_test: int
    licence: str
    citation: str
    sources: tuple[str, ...]
    size_mb: float  # to download or on disk
    fetchable: bool = False  # `data.fetch` knows a public source
    note: str = ""
    ink: bool = False  # bright strokes on a dark ground: to be drawn dark on light
    parse: Callable[[list[Path]], Arrays] = field(repr=False, kw_only=True)
    paths: Callable[[], list[Path]] = field(default=list, repr=False, kw_only=True)  # raises NotAtHand
    present: Callable[[], bool] = field(default=lambda: True, repr=False, kw_only=True)

    @property
    def n_classes(self) -> int:
        return len(self.classes)

    @property
    def at_hand(self) -> bool:
        """Whether the examples can be had without a download."""
        return self.present()

    @property
    def synthetic(self) -> bool:
        return self.kind == "toy"

    def load(self) -> Dataset:
        """The data set with its examples (shared, read-only).

        Raises NotAtHand before it is fetched, DataError when its files are damaged or not what the entry says.
        """
        paths = self.paths()
        key = (self.name, *((path, path.stat().st_mtime_ns) for path in paths))
        with _memo_lock:  # one reader at a time: two sessions asking for MNIST read it once
            if key not in _memo:
                _memo[key] = self._read(paths)
            _memo.move_to_end(key)
            while len(_memo) > 1 and sum(dataset.nbytes for dataset in _memo.values()) > MAX_IN_MEMORY:
                _memo.popitem(last=False)
            return _memo[key]

    def thumbnail(self) -> np.ndarray:
        """A small picture (height, width[, 3]) uint8 of some examples; empty frames before the set is at hand."""
        return thumbnails.draw(self.load()) if self.at_hand else thumbnails.frames()

    def _read(self, paths: list[Path]) -> Dataset:
        arrays = self.parse(paths)
        found = (arrays.X_train.shape[1:], len(arrays.X_train), len(arrays.X_test), tuple(np.unique(arrays.y_train)))
        expected = (self.shape, self.n_train, self.n_test, self.classes)
        if found != expected:
            raise DataError(f"{self.name} is not as published: shape, sizes and classes {found}", f"{expected}")
        return Dataset(self, *map(np.ascontiguousarray, arrays))
