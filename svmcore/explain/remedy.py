"""Which small change turns an error right, and which invariance such changes speak for.

    ladder      families of changes (shift, turn, line thickness, size, slant) in rising strength, each a jitter set
    one error   the weakest change of each family after which the answer is right
    many        how many of E wrong examples each set mends, and what it breaks

An error that a change mends says only where to look: pushed about, any close call falls to the other side now and
then. So errors are set beside as many right examples that are as close calls, each error's neighbour by |lead|. Of a
set S the surest answer among all forms counts, the class of

    max_{T in S, c} f_c(T x)        (of one machine: the sign where |f| is largest)

as a machine answers whose test examples are jittered (query jitter). A set whose changes know nothing of the classes
breaks as many close calls as it mends errors; net = mended - broken is what it knows, with Newcombe's interval of the
difference of two shares (Statistics in Medicine 17 (1998)). tests/bench/remedies.py holds the net beside machines
trained with each set. How much harm a single change does is counted on right examples drawn at random.

Symbols: f (J, n, k) under J changes, true (n,) positions of classes, wins (J, n) bool; S sets.
"""

from bisect import bisect
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from svmcore.jitter import JitterSet
from svmcore.jitter.families import Jitter
from svmcore.metrics import wilson
from svmcore.model import answers


class Family(NamedTuple):
    """One kind of change: jitter sets in rising strength, each of which holds the changes of about that strength."""

    name: str
    title: str
    texts: tuple[str, ...]


FAMILIES = (
    Family("shift", "Shift", ("plus:1", "box:1", "plus:2", "box:2")),
    Family("rot", "Turn", tuple(f"rot:-{d},{d}" for d in (3, 6, 9, 12, 15))),
    Family("thick", "Line thickness", ("thick:0.25", "thick:0.5", "thick:1")),
    Family("scale", "Size", ("scale:0.95,1.05", "scale:0.9,1.1")),
    Family("shear", "Slant", ("shear:-0.1,0.1", "shear:-0.2,0.2")),
)
UNIONS = ("box:1+rot:-6,6", "box:1+thick:0.5", "box:1+rot:-6,6+thick:0.5")  # asked of the same forms, for the totals


@dataclass(frozen=True)
class Ladder:
    """All changes of all families as one jitter set, so that one decision serves them all."""

    image_shape: tuple[int, ...] | None
    families: tuple[Family, ...] = FAMILIES
    unions: tuple[str, ...] = UNIONS

    @cached_property
    def everything(self) -> JitterSet:
        """Every change once, the identity first."""
        return JitterSet.parse("+".join(text for family in self.families for text in family.texts), self.image_shape)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The sets (S,) that are judged: rungs of all families, then unions of them."""
        return tuple(text for family in self.families for text in family.texts) + self.unions

    @cached_property
    def members(self) -> np.ndarray:
        """(S, J) bool: which of `everything` each set holds, the identity always."""
        return np.array([contained(self.everything, JitterSet.parse(text)) for text in self.texts])

    def changes(self, family: Family) -> list[int]:
        """Numbers in `everything` of a family's changes, weakest first."""
        order, jitters = [], self.everything.jitters
        for text in family.texts:
            own = np.flatnonzero(self.members[self.texts.index(text)])
            order += [j for j in sorted(own, key=lambda j: strength(jitters[j])) if j and j not in order]
        return order


class Fix(NamedTuple):
    """The weakest change of a family that does what was asked; change: its number in the ladder's `everything`."""

    family: Family
    change: int


class Tally(NamedTuple):
    """Counts of each set of a ladder (S,) and of each of its changes alone (J,), int64.

    wrong, close, drawn: examples looked at: errors, right ones that are as close calls, right ones drawn at random.
    """

    wrong: int
    close: int
    drawn: int
    mended: np.ndarray  # (S,) of wrong, by the surest of all forms
    broken: np.ndarray  # (S,) of close
    some_right: np.ndarray  # (S,) of wrong, in some form
    some_wrong: np.ndarray  # (S,) of drawn, in some form
    change_mended: np.ndarray  # (J,) of wrong
    change_broken: np.ndarray  # (J,) of drawn


def strength(jitter: Jitter) -> tuple[float, float]:
    """What orders the changes of one family: how far a shift goes, how far a part is from doing nothing."""
    far = float(np.hypot(*jitter.offset))
    part = 0.0
    for kind, values in jitter.parts:
        part += float(np.linalg.norm(np.array(values) - (1, 0, 0, 1))) if kind == "linear" else abs(float(values[0]))
    return part, far


def contained(whole: JitterSet, part: JitterSet) -> np.ndarray:
    """(J,) bool: which jitters of `whole` are in `part`. ValueError when `part` has others."""
    own = {j.key for j in part.jitters}
    members = np.array([j.key in own for j in whole.jitters])
    if members.sum() != len(own):
        raise ValueError(f"jitters: '{part}' has jitters that are missing in '{whole}'")
    return members


def within(part: JitterSet, whole: JitterSet) -> bool:
    """Whether every jitter of `part` is one of `whole`."""
    return {j.key for j in part.jitters} <= {j.key for j in whole.jitters}


def weakest(ladder: Ladder, wins: np.ndarray) -> list[Fix]:
    """Of each family that has one, the weakest change with wins (J,) true."""
    fixes = []
    for family in ladder.families:
        change = next((j for j in ladder.changes(family) if wins[j]), None)
        if change is not None:
            fixes.append(Fix(family, int(change)))
    return fixes


def empty(ladder: Ladder) -> Tally:
    """No example looked at yet."""
    S, J = ladder.members.shape
    return Tally(0, 0, 0, *(np.zeros(S, np.int64) for _ in range(4)), *(np.zeros(J, np.int64) for _ in range(2)))


def add(ladder: Ladder, tally: Tally, f: np.ndarray, true: np.ndarray, kind: str) -> Tally:
    """The tally with examples of one kind, "wrong", "close" or "drawn"."""
    wins, n = answers(f) == true, f.shape[1]
    if kind == "close":
        broken = (surest(ladder, f) != true).sum(axis=1)
        return tally._replace(close=tally.close + n, broken=tally.broken + broken)
    members = ladder.members.astype(np.int64)
    if kind == "drawn":
        return tally._replace(
            drawn=tally.drawn + n,
            some_wrong=tally.some_wrong + (members @ ~wins > 0).sum(axis=1),
            change_broken=tally.change_broken + (~wins).sum(axis=1),
        )
    return tally._replace(
        wrong=tally.wrong + n,
        mended=tally.mended + (surest(ladder, f) == true).sum(axis=1),
        some_right=tally.some_right + (members @ wins > 0).sum(axis=1),
        change_mended=tally.change_mended + wins.sum(axis=1),
    )


def as_close(wrong: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Positions in `right` (r,) of leads, all > 0, of one for each of `wrong` (e,), all <= 0: those with the nearest
    |lead|, each once, closest calls first; fewer where there are fewer."""
    order = np.argsort(right, kind="stable")
    free, leads = list(order), right[order].tolist()
    chosen = []
    for lead in np.sort(-wrong)[: len(right)]:
        at = bisect(leads, lead)
        at -= at == len(leads) or (at > 0 and lead - leads[at - 1] <= leads[at] - lead)
        chosen.append(free.pop(at))
        leads.pop(at)
    return np.array(chosen, np.int64)


def surest(ladder: Ladder, f: np.ndarray) -> np.ndarray:
    """(S, n) positions of the classes that f (J, n, k) speaks for most surely among the forms of each set."""
    predicted, sure = answers(f), np.abs(f[..., 0]) if f.shape[-1] == 1 else f.max(axis=-1)  # both (J, n)
    best = np.where(ladder.members[:, :, None], sure, -np.inf).argmax(axis=1)
    return np.take_along_axis(predicted, best, axis=0)


class Net(NamedTuple):
    """Errors mended less close calls broken, of as many: estimate and 95 % interval."""

    value: float
    low: float
    high: float


def net(tally: Tally, s: int) -> Net:
    """The net of set s, in errors of all that were looked at.

    Newcombe (1998), method 10, without the pairing, which would narrow it.
    """
    if not tally.wrong or not tally.close:
        return Net(0.0, 0.0, 0.0)
    mended, broken = tally.mended[s] / tally.wrong, tally.broken[s] / tally.close
    (a, b), (c, d) = wilson(int(tally.mended[s]), tally.wrong), wilson(int(tally.broken[s]), tally.close)
    low, high = np.hypot(mended - a, d - broken), np.hypot(b - mended, broken - c)
    return Net(
        *(float(tally.wrong * share) for share in (mended - broken, mended - broken - low, mended - broken + high))
    )
