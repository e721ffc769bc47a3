"""What a solver tells while it works and what it leaves: values that are never changed, and who listens to them.

monitor(progress) -> whether to go on        called between bursts, in a thread of the solver
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np


class Snapshot(NamedTuple):
    """The machines as they would be if training stopped now."""

    support: np.ndarray  # (m,) int64, training rows that are SV of some machine
    coef: np.ndarray  # (k, m) float64, y alpha
    bias: np.ndarray  # (k,) float64
    bound: np.ndarray  # (k, m) bool, alpha is at its own C


class Progress(NamedTuple):
    """What a run has come to; immutable. Sums are over the machines."""

    stage: str
    iterations: int
    gap: float
    gaps: tuple[float, ...]
    dual: float
    n_sv: int
    n_bound: int
    kernel_evals: int
    cache_hits: int
    cache_misses: int
    seconds: float
    snapshot: Callable[[], Snapshot] | None


Monitor = Callable[[Progress], bool]


class Solution(NamedTuple):
    """Multipliers of k machines; feasible also where `converged` is False."""

    alpha: np.ndarray  # (k, n) float64
    bias: np.ndarray  # (k,) float64
    gaps: np.ndarray  # (k,) float64
    converged: bool
    iterations: int
    history: list[Progress]


class Stopped(Exception):
    """The monitor asked for an end."""


def retold(monitor: Monitor | None, change: Callable[[Progress], Progress]) -> Monitor | None:
    """The monitor that tells `monitor` of each Progress as `change` makes it; None for none."""
    if monitor is None:
        return None

    def told(progress):
        return monitor(change(progress))

    told.burst = getattr(monitor, "burst", None)
    return told
