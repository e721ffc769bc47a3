"""How the machines of a decomposition stand, as they were last looked at: for reports, and for its trace."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from svmcore.solvers import smo
from svmcore.solvers.progress import Snapshot, Standing

OPEN = 1.01  # times tol, the least gap that is reported of a machine which is not known to be done


class Seen(NamedTuple):
    """A machine when it was last looked at; never changed."""

    alpha: np.ndarray  # (n,) float64
    gap: float
    bias: float
    dual: float
    n_sv: int
    n_bound: int


class Reported:
    """Base of the rounds, whose labels Y (k, n), box C (k, n), tol, exact values, source, session and trace it reads;
    seen: each machine."""

    seen: list[Seen]

    def _see(self, m, alpha, f, gap, b) -> None:
        loaded = alpha > 0
        counts = np.count_nonzero(loaded), np.count_nonzero(loaded & (alpha >= self.C[m]))
        gap = gap if self.exact.known[m] else max(gap, OPEN * self.tol)
        self.seen[m] = Seen(alpha, gap, b, smo.dual_objective(self.Y[m], alpha, f), *counts)

    def _note(self, m, members, priced, violators, gap) -> None:
        """A round for the trace, as it was seen last."""
        arrays = 5 * self.Y.nbytes + self.gram.nbytes + 4 * len(members) * self.gram.width
        seen = self.seen[m]
        self.trace.note(
            m, members, priced=priced, violators=violators, gap=gap, dual=seen.dual, n_sv=seen.n_sv,
            seconds=self.session.seconds, peak_bytes=arrays + self.session.peak_bytes,
        )  # fmt: skip

    def standing(self) -> Standing:
        """How the machines were when they were last looked at."""
        seen, Y, C = tuple(self.seen), self.Y, self.C

        def snapshot():
            alpha = np.array([machine.alpha for machine in seen])
            support = np.flatnonzero((alpha > 0).any(0))
            alpha = alpha[:, support]
            bound = (alpha > 0) & (alpha >= C[:, support])
            return Snapshot(support, alpha * Y[:, support], np.array([machine.bias for machine in seen]), bound)

        sums = (sum(getattr(machine, name) for machine in seen) for name in ("dual", "n_sv", "n_bound"))
        return Standing(tuple(float(machine.gap) for machine in seen), *sums, snapshot)
