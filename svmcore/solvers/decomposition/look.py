"""How the machines of a decomposition stand: f (k, n) brought up to date after a change of alpha, gaps in single and in
double precision, and the machines as they were last looked at, for reports and for the trace."""

import numpy as np

from svmcore.memory import MB
from svmcore.solvers import smo
from svmcore.solvers.decomposition.state import Seen, State
from svmcore.solvers.progress import Snapshot, Standing

FEWER = 0.8  # share of the columns below which those outside the working sets are prepared by themselves
OPEN = 1.01  # times tol, the least gap that is reported of a machine which is not known to be done


def take_in(s: State, more) -> None:
    """f of examples that were left out so far, from the SVs; they are columns from now on."""
    support, s.narrowed = np.flatnonzero((s.alpha > 0).any(0)), (None, None)
    f = -s.Y.take(more, axis=1)
    if len(support):
        s.gram.add_to(f, support, (s.alpha * s.Y)[:, support], s.gram.columns(more), s.session)
    s.f[:, more] = f
    for m in range(s.k):
        s.summed(m, more)
    s.columns = np.union1d(s.columns, more) if len(s.columns) else more


def refresh(s: State, before, sets: dict[int, np.ndarray]) -> None:
    """f of the examples outside each machine's working set, by the rows of every example whose alpha (k, n) was another
    one `before`."""
    change = (s.alpha - before) * s.Y
    idx = np.flatnonzero(change.any(0))
    solved = {m: (s.f[m, chosen], s.lost[m, chosen]) for m, chosen in sets.items()}
    at, columns = _outside(s, sets)
    f = s.f.take(at, axis=1)
    s.gram.add_to(f, idx, change[:, idx], columns, s.session)
    s.f[:, at] = f
    for m, chosen in sets.items():
        s.changed(m, at, change[m])
        s.f[m, chosen], s.lost[m, chosen] = solved[m]


def _outside(s: State, sets) -> tuple[np.ndarray, object]:
    """The columns that some machine's set leaves out, or all of them where the sets have little in common; and these
    as the source prepared them, one kind at a time."""
    times = np.bincount(np.concatenate(list(sets.values())), minlength=s.n)
    outside = s.columns[times[s.columns] < len(sets)]
    at = outside if len(outside) < FEWER * len(s.columns) else s.columns
    if s.narrowed[0] is not at:
        s.narrowed = None, None  # before the next ones are made
        s.narrowed = at, s.gram.columns(None if len(at) == s.n else at)
    return s.narrowed


def check_gaps(s: State) -> None:
    """Gap and bias over the columns, of each machine that is not done."""
    at = s.columns if len(s.columns) < s.n else slice(None)
    for m in np.flatnonzero(~s.exact.known):
        s.gaps[m], s.bias[m] = smo.kkt_gap(*s.of(m, at))
        see_present(s, m)
    s.session.check_when_due()


def look_exactly(s: State, m: int) -> None:
    """In double precision: whether machine m is done; else its target is smaller now."""
    s.gaps[m], s.bias[m] = s.exact.gap(m, s.alpha[m], s.f[m], s.lost[m])
    see_present(s, m)


def compute_afresh(s: State, m: int) -> None:
    """All of f of machine m from its SVs: what was added up over many rounds may have lost its digits."""
    s.stale[m] = 0
    s.gaps[m], s.bias[m] = s.exact.afresh(m, s.alpha[m], s.f[m], s.lost[m])


def see(s: State, m: int, alpha, f, gap: float, b: float) -> None:
    """Machine m has these multipliers; alpha (n,) is kept, and must not change any more."""
    loaded = alpha > 0
    counts = np.count_nonzero(loaded), np.count_nonzero(loaded & (alpha >= s.C[m]))
    gap = gap if s.exact.known[m] else max(gap, OPEN * s.tol)
    s.seen[m] = Seen(alpha, gap, b, smo.dual_objective(s.Y[m], alpha, f), *counts)


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
