"""Which examples a machine is solved on next, and which are kept up to date meanwhile.

Violations are measured by f (k, n) and the bias: -b - f of an example whose y alpha may grow, f + b of one whose y
alpha may shrink.
"""

import numpy as np

from svmcore.solvers import smo
from svmcore.solvers.decomposition import sample
from svmcore.solvers.decomposition.state import State

GROWTH = 12_000  # violators a round adds to a working set, at most
AS_MANY, AT_LEAST = 0.5, 500  # times the examples whose alpha the last round changed, those that the next one adds
NEAR = 0.02, 0.05  # y (f + b) up to which an example is near a machine's margin, at least and at most; 0 is on it


def samples(s: State) -> list[np.ndarray]:
    """Sets for all machines, each a part of the next: every example if K fits, else random ones that leave no class
    out."""
    size = sample.sample_size(s.n, s.largest)
    if s.gram.whole or size == s.n:
        return [np.arange(s.n)]
    size = min(size, max(4 * s.largest // 5, 1))  # a quarter as many may come in addition
    sizes = [size // sample.PART, size] if s.k == 1 and size // sample.PART >= sample.SMALLEST else [size]
    order, few = s.rng.choice(s.n, sizes[-1], replace=False), [size // (8 * s.k) for size in sizes]
    chosen = [order[:size] for size in sizes]
    for targets, C in zip(s.Y, s.C, strict=True):
        for label in (1.0, -1.0):
            members = np.flatnonzero((targets == label) & (C > 0))
            more = s.rng.choice(members, min(few[-1], len(members)), replace=False)
            chosen = [np.union1d(some, more[:count]) for some, count in zip(chosen, few, strict=True)]
    return chosen


def working_set(s: State, m: int) -> np.ndarray:
    """Free SVs of machine m and the worst violators of all others, at either bound; where free SVs alone are too many,
    the worst violators of both kinds. What rests at C beyond the margin stays there without being looked at, as what
    rests at 0 does.

    Osuna, Freund and Girosi (1997), section 3.2.2: the set to optimise next must hold a violator. To leave out what
    rests at a bound is the shrinking of Joachims (1999), Making large-scale SVM learning practical, section 11.4.
    """
    if s.K is not None:
        return np.arange(s.n)
    (y, C, alpha, f), b = s.of(m, s.columns), s.bias[m]
    up, low = smo.index_sets(y, C, alpha)
    violation = np.maximum(np.where(up, -b - f, -np.inf), np.where(low, f + b, -np.inf))
    free = up & low
    room = s.largest - np.count_nonzero(free)
    if room >= min(s.largest // 8, GROWTH):
        violation[free] = -np.inf
        chosen = _largest(violation, min(room, s.entering[m]))
        chosen = np.concatenate([np.flatnonzero(free), chosen[violation[chosen] > -_near(s.gaps[m])]])
    else:
        chosen = both_ends(f, up, low, s.largest, s.rng)
    chosen = s.columns[np.sort(chosen)]
    return s.square.plan(chosen) if s.square else chosen


def both_ends(f, up, low, size: int, rng) -> np.ndarray:
    """The worst violators of both kinds, and free SVs drawn at random: places in f (n,), `size` at most."""
    quarter = max(size // 4, 1)
    first, last = _largest(np.where(up, -f, -np.inf), quarter), _largest(np.where(low, f, -np.inf), quarter)
    free = np.setdiff1d(np.flatnonzero(up & low), np.concatenate([first, last]))
    more = rng.choice(free, min(len(free), size // 2, size - 2 * quarter), replace=False)
    return np.unique(np.concatenate([first, last, more]))


def plan_growth(s: State, m: int, before) -> None:
    """How many violators the next set of machine m adds, whose alpha (n,) was another one `before`: after a round that
    has changed few of those that it added, fewer."""
    s.entering[m] = min(max(int(AS_MANY * np.count_nonzero(s.alpha[m] != before)), AT_LEAST), GROWTH)


def leave_out_settled(s: State) -> None:
    """`columns` become the examples that some machine may still need."""
    at = s.columns
    slack = s.Y[:, at] * (s.f[:, at] + s.bias[:, None])
    needed = (slack < _near(s.gaps.max())).any(0) | (s.alpha[:, at] > 0).any(0)
    if s.square:
        needed |= np.isin(at, s.square.members)  # whose f rounds keep up to date anyway
    s.columns = at[needed]


def left_out(s: State) -> np.ndarray:
    """Examples that are not in `columns`."""
    every = np.arange(s.n)
    return every[:0] if len(s.columns) == s.n else np.setdiff1d(every, s.columns)


def _near(gap: float) -> float:
    """How near an example is to a machine's margin if it may still become an SV."""
    return min(max(gap / 20, NEAR[0]), NEAR[1])


def _largest(values, count: int) -> np.ndarray:
    """Places of the `count` largest finite values."""
    if count < len(values):
        best = np.argpartition(values, len(values) - count)[len(values) - count :]
    else:
        best = np.arange(len(values))
    return best[np.isfinite(values[best])]
