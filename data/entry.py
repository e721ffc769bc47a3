"""A catalogue entry: the facts of a data set, and the way to read it.

entry.load() -> Dataset        memoised while its files are unchanged, for the few sets in use
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from data.dataset import Arrays, DataError, Dataset, Facts
from data.memo import Memo

MAX_IN_MEMORY = 1 << 29  # bytes of examples; the set asked for last is always kept

_memo = Memo(MAX_IN_MEMORY)


@dataclass(frozen=True, eq=False)
class Entry(Facts):
    """One data set of the catalogue: its facts, and where its examples come from."""

    parse: Callable[[list[Path]], Arrays] = field(repr=False, kw_only=True)
    paths: Callable[[], list[Path]] = field(default=list, repr=False, kw_only=True)  # raises NotAtHand
    present: Callable[[], bool] = field(default=lambda: True, repr=False, kw_only=True)

    @property
    def at_hand(self) -> bool:
        """Whether the examples can be had without a download."""
        return self.present()

    def load(self) -> Dataset:
        """The data set with its examples (shared, read-only).

        Raises NotAtHand before it is fetched, DataError when its files are damaged or not what the entry says.
        """
        paths = self.paths()
        return _memo.get(self.name, paths, lambda: self._read(paths))

    def _read(self, paths: list[Path]) -> Dataset:
        arrays = self.parse(paths)
        found = (arrays.X_train.shape[1:], len(arrays.X_train), len(arrays.X_test), tuple(np.unique(arrays.y_train)))
        expected = (self.shape, self.n_train, self.n_test, self.classes)
        if found != expected:
            raise DataError(f"{self.name} is not as published: shape, sizes and classes {found}", f"{expected}")
        return Dataset(self, *map(np.ascontiguousarray, arrays))
