"""What came of one problem of the bench of truth."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """gap: by the slow sum; worse: than scikit-learn, None where that did not end well or is not asked; faults: what
    else was said and is not so."""

    converged: bool
    gap: float
    tol: float
    ending: str
    seconds: float
    worse: float | None = None
    faults: tuple[str, ...] = ()

    @property
    def untrue(self) -> bool:
        return bool(self.faults) or (self.converged and not self.gap <= self.tol * (1 + 1e-6))


def told(faults, seconds: float) -> Outcome:
    """Of a problem that is no single fit: what was said and is not so."""
    return Outcome(converged=True, gap=0.0, tol=0.0, ending="", seconds=seconds, faults=tuple(faults))


def limited(seconds: float):
    """The monitor of a fit that may take so long."""
    return lambda progress: progress.seconds < seconds
