"""One example that is looked at: of a dataset, or drawn by the reader."""

from typing import NamedTuple

import numpy as np

from data import Dataset

DRAWN = "drawn"


class Shown(NamedTuple):
    """X (1, ...) as the dataset has its examples, before preprocessing; label None for one that the reader drew."""

    dataset: Dataset
    X: np.ndarray
    label: object | None
    ref: str  # `gallery.reference`, or DRAWN

    @property
    def row(self) -> int:
        """The row of X_train that it is; -1 where it is none."""
        _, split, index = [*self.ref.rsplit("/", 2), "", ""][:3]
        return int(index) if split == "train" else -1
