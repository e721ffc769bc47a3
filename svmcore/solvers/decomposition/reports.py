"""How the machines of a decomposition stand, as they were last looked at: for reports, and for its trace."""

from __future__ import annotations

import numpy as np

from svmcore.solvers.decomposition.state import Seen, State
from svmcore.solvers.progress import Snapshot, Standing
from svmcore.solvers.smo import dual_objective

OPEN = 1.01  # times tol, the least gap that is reported of a machine which is not known to be done


def see(s: State, m: int, alpha, f, gap: float, b: float) -> None:
    """Machine m has these multipliers; alpha (n,) is kept, and must not change any more."""
    loaded = alpha > 0
    counts = np.count_nonzero(loaded), np.count_nonzero(loaded & (alpha >= s.C[m]))
    gap = gap if s.exact.known[m] else max(gap, OPEN * s.tol)
    s.seen[m] = Seen(alpha, gap, b, dual_objective(s.Y[m], alpha, f), *counts)


def see_present(s: State, m: int) -> None:
    """Machine m as the state has it."""
    see(s, m, s.alpha[m].copy(), s.f[m], s.gaps[m], s.bias[m])


def note(s: State, m: int, members, priced: int, violators: int, gap: float) -> None:
    """A round of machine m on `members` for the trace, as it was seen last."""
    arrays = 5 * s.Y.nbytes + s.gram.nbytes + 4 * len(members) * s.gram.width
    s.trace.note(
        m, members, priced=priced, violators=violators, gap=gap, dual=s.seen[m].dual, n_sv=s.seen[m].n_sv,
        seconds=s.session.seconds, peak_bytes=arrays + s.session.peak_bytes,
    )  # fmt: skip


def standing(s: State) -> Standing:
    """How the machines were when they were last looked at."""
    seen, Y, C = tuple(s.seen), s.Y, s.C

    def snapshot():
        alpha = np.array([machine.alpha for machine in seen])
        support = np.flatnonzero((alpha > 0).any(0))
        alpha = alpha[:, support]
        bound = (alpha > 0) & (alpha >= C[:, support])
        return Snapshot(support, alpha * Y[:, support], np.array([machine.bias for machine in seen]), bound)

    sums = (sum(getattr(machine, name) for machine in seen) for name in ("dual", "n_sv", "n_bound"))
    return Standing(tuple(float(machine.gap) for machine in seen), *sums, snapshot)
