"""All examples after a change of alpha: f (k, n) brought up to date, and the gaps in single and in double precision."""

import numpy as np

from svmcore.solvers import smo
from svmcore.solvers.decomposition.reports import see_present
from svmcore.solvers.decomposition.state import State

FEWER = 0.8  # share of the columns below which those outside the working sets are prepared by themselves


def take_in(s: State, more) -> None:
    """f of examples that were left out so far, from the SVs; they are columns from now on."""
    support, s.narrowed = np.flatnonzero((s.alpha > 0).any(0)), (None, None)
    f = -s.Y.take(more, axis=1)
    if len(support):
        s.gram.add_to(f, support, (s.alpha * s.Y)[:, support], s.gram.columns(more), s.session)
    s.f[:, more] = f
    for m in range(s.k):
        s.summed(m, more)
    s.columns = np.union1d(s.columns, more)


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
    """Gap and bias of each machine over the columns."""
    at = s.columns if len(s.columns) < s.n else slice(None)
    for m in range(s.k):
        s.gaps[m], s.bias[m] = smo.kkt_gap(*s.of(m, at))
        see_present(s, m)
    s.session.check()


def look_exactly(s: State, m: int) -> None:
    """In double precision: whether machine m is done; else its target is smaller now."""
    s.gaps[m], s.bias[m] = s.exact.gap(m, s.alpha[m], s.f[m], s.lost[m])
    see_present(s, m)


def compute_afresh(s: State, m: int) -> None:
    """All of f of machine m from its SVs: what was added up over many rounds may have lost its digits."""
    s.stale[m] = 0
    s.gaps[m], s.bias[m] = s.exact.afresh(m, s.alpha[m], s.f[m], s.lost[m])
