"""How the machines of a decomposition stand, as they were last looked at: for reports, and for its trace."""

import numpy as np

from svmcore.memory import MB
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
    memory = round((arrays + s.session.peak_bytes) / MB, 3)
    figures = float(gap), float(s.seen[m].dual), int(s.seen[m].n_sv), round(s.session.seconds, 4), memory
    s.trace.note(m, members, int(priced), int(violators), *figures)


def standing(s: State) -> Standing:
    """How the machines were when they were last looked at."""
    seen, Y, C = tuple(s.seen), s.Y, s.C

    def snapshot():
        alpha, bias = (np.array([getattr(machine, name) for machine in seen]) for name in ("alpha", "bias"))
        return Snapshot.of(Y, C, alpha, bias)

    sums = (sum(getattr(machine, name) for machine in seen) for name in ("dual", "n_sv", "n_bound"))
    return Standing(tuple(float(machine.gap) for machine in seen), *sums, snapshot)
