"""What editing makes of each training example: one code a training index, int8."""

from typing import NamedTuple

import numpy as np

KEPT, WRONG_SIDE, EASY, REINSERTED, VALIDATION = range(5)
TITLES = ("kept", "wrong side", "easy", "reinserted", "validation")  # by code
REASONS = (
    "the final machine trains on it",
    "the first machines agree that it is misclassified: it would become a bounded support vector",
    "the first machines agree that it is beyond the margin: it would not become a support vector",
    "easy, but reinserted to balance the classes: the final machine trains on it",
    "it is used to choose C and the thresholds, not for training",
)


class Edited(NamedTuple):
    """What an editing rule leaves."""

    kept: np.ndarray  # (m,) int64, ascending training indices: KEPT and REINSERTED
    role: np.ndarray  # (n,) int8

    @classmethod
    def of(cls, role: np.ndarray) -> "Edited":
        """From the codes (n,) alone."""
        return cls(np.flatnonzero((role == KEPT) | (role == REINSERTED)), role.astype(np.int8))


def counts(role: np.ndarray) -> dict[str, int]:
    """How many examples have each role, by its title."""
    return dict(zip(TITLES, np.bincount(role, minlength=len(TITLES)).tolist(), strict=True))
