"""Progress: what a solver reports between bursts, and what it leaves; values that are never changed.

monitor(progress) -> whether to go on        called between bursts, in the thread that fits
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from svmcore.kernels import Kernel


class Snapshot(NamedTuple):
    """The machines as they would be if training stopped now.

    Parameters
    ----------
    support : ndarray (m,) int64
        Training rows that are support vectors of some machine.
    coef : ndarray (k, m) float64
        y alpha.
    bias : ndarray (k,) float64
        b.
    bound : ndarray (k, m) bool
        Whether alpha is at its C.
    vectors : ndarray (m, d) float32 or None, default None
        The support vectors, where these are not the training rows themselves: jittered forms of the rows `support`, or
        constructed ones, of which that is -1.
    kernel : Kernel or None, default None
        Of such machines, which may not be the one that the fit began with.
    jitter : ndarray (m,) int32 or None, default None
        Of jittered forms the number in the set of the machines that stand.
    """

    support: np.ndarray
    coef: np.ndarray
    bias: np.ndarray
    bound: np.ndarray
    vectors: np.ndarray | None = None
    kernel: Kernel | None = None
    jitter: np.ndarray | None = None

    @classmethod
    def of(cls, Y, C, alpha, bias) -> "Snapshot":
        """Of machines that were trained on all n examples: Y, C, alpha (k, n), bias (k,)."""
        support = np.flatnonzero((alpha > 0).any(0))
        alpha = alpha[:, support]
        return cls(support, alpha * Y[:, support], bias, (alpha > 0) & (alpha >= C[:, support]))


class Standing(NamedTuple):
    """How the machines of a solver stand, without what they have cost."""

    gaps: tuple[float, ...]
    dual: float  # the sums are over the machines
    n_sv: int
    n_bound: int
    snapshot: Callable[[], Snapshot] | None

    @classmethod
    def of(cls, Y, C, alpha, bias, gaps, dual: float) -> "Standing":
        """Of machines that were trained on all n examples, as of Snapshot; arrays may change later."""
        alpha, bias = alpha.copy(), bias.copy()
        counts = int(np.count_nonzero(alpha > 0)), int(np.count_nonzero((alpha > 0) & (alpha >= C)))
        return cls(tuple(gaps.tolist()), float(dual), *counts, lambda: Snapshot.of(Y, C, alpha, bias))


class Progress(NamedTuple):
    """What a fit has come to: how its machines stand, and all that it has cost since its start.

    Parameters
    ----------
    stage : str
        What is being done.
    iterations : int
        Pairs moved.
    gap : float
        The largest KKT gap.
    gaps : tuple of float
        Of each machine.
    dual : float
        The dual objectives' sum.
    n_sv : int
        Support vectors, summed over the machines.
    n_bound : int
        Those at C.
    kernel_evals : int
        Kernel values computed.
    cache_hits : int
        Rows that were there.
    cache_misses : int
        Rows that were not.
    seconds : float
        Since the fit began.
    snapshot : callable or None
        Makes a Snapshot.
    facts : dict or None, default None
        What a method says beside; JSON-able.
    """

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
    facts: dict | None = None  # what a method of the lab says beside; JSON-able


Monitor = Callable[[Progress], bool]


class Solution(NamedTuple):
    """Multipliers of k machines; feasible also where `converged` is False, and `ending` then says why it is."""

    alpha: np.ndarray  # (k, n) float64
    bias: np.ndarray  # (k,) float64
    gaps: np.ndarray  # (k,) float64
    converged: bool
    iterations: np.ndarray  # (k,) int64, pairs of each machine
    ending: str = ""
    C: np.ndarray | None = None  # (k, n) float64, the box at the end, where the solver may have scaled it (nu-SVC)
    f: np.ndarray | None = None  # (k, n) float64, sum_j alpha_j y_j K_ij - y_i, where the solver keeps it


WHOLE, ROUNDS = "whole matrix", "rounds"


class Strategy(NamedTuple):
    """How a solver came by the Gram matrix of its examples; as text, in words."""

    name: str  # WHOLE or ROUNDS
    examples: int  # all of them, or the sample by which it was chosen
    share: float | None = None  # of that sample, the support vectors; None where there was nothing to choose

    def __str__(self) -> str:
        if self.share is None:
            return f"{self.name} of {self.examples:,} examples"
        return f"{self.name}: {100 * self.share:.0f} % of a sample of {self.examples:,} are support vectors"


class Stopped(Exception):
    """The monitor asked for an end."""


def under_name(stage: str, monitor: Monitor | None, facts: dict | None = None) -> Monitor | None:
    """The monitor, for a fit whose stages are all to be reported under one name, with what a method says beside; None
    for none."""
    if monitor is None:
        return None

    return Passing(monitor, lambda progress: monitor(progress._replace(stage=stage, facts=facts or progress.facts)))


class Passing:
    """A monitor that stands before another one: called as `listen`, asked as often as the other one wants to be at the
    moment."""

    def __init__(self, monitor: Monitor | None, listen: Monitor):
        self.monitor, self.listen = monitor, listen

    def __call__(self, progress: Progress) -> bool:
        return self.listen(progress)

    @property
    def burst(self) -> int | None:
        """Pairs between two reports."""
        return getattr(self.monitor, "burst", None)
