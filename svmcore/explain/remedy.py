"""Which small transformations correct an error, and which missing invariance that indicates.

    ladder      families of changes (shift, turn, line thickness, size, slant) in rising strength, each a jitter set
    one error   the weakest change of each family after which the prediction is correct
    many        how many of E errors each set corrects, and how many correct predictions it breaks

That a change corrects an error is only a hint, as any close call may flip under a change. Therefore the errors are
compared with equally many correct examples that are equally close calls, matched by |lead|. For a set S the most
certain prediction among all forms counts, the class of

    max_{T in S, c} f_c(T x)        (of one machine: the sign where |f| is largest)

as for a machine with jittered test examples (query jitter). A set unrelated to the classes breaks as many close calls
as it corrects errors; net = mended - broken measures what it contributes, with Newcombe's interval of the difference of
two proportions (Statistics in Medicine 17 (1998)). tests/bench/remedies.py compares the net with machines trained with
each set. The harm of a single change is counted on correct examples drawn at random.

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
    """One kind of change: jitter sets of increasing strength, each with the changes of about that strength."""

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
UNIONS = ("box:1+rot:-6,6", "box:1+thick:0.5", "box:1+rot:-6,6+thick:0.5")  # evaluated on the same forms


@dataclass(frozen=True)
class Ladder:
    """All changes of all families as one jitter set, so that every form is evaluated only once."""

    image_shape: tuple[int, ...] | None
    families: tuple[Family, ...] = FAMILIES
    unions: tuple[str, ...] = UNIONS

    @cached_property
    def everything(self) -> JitterSet:
        """Every change once, the identity first."""
        return JitterSet.parse("+".join(text for family in self.families for text in family.texts), self.image_shape)

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The evaluated sets (S,): the jitter sets of all families, then unions of them."""
        return tuple(text for family in self.families for text in family.texts) + self.unions

    @cached_property
    def members(self) -> np.ndarray:
        """(S, J) bool: which changes of `everything` are in each set; the identity is in all."""
        return np.array([contained(self.everything, JitterSet.parse(text)) for text in self.texts])

    def changes(self, family: Family) -> list[int]:
        """Indices in `everything` of the changes of a family, weakest first."""
        order, jitters = [], self.everything.jitters
        for text in family.texts:
            own = np.flatnonzero(self.members[self.texts.index(text)])
            order += [j for j in sorted(own, key=lambda j: strength(jitters[j])) if j and j not in order]
        return order


class Fix(NamedTuple):
    """The weakest successful change of a family; change: its index in the ladder's `everything`."""

    family: Family
    change: int


class Tally(NamedTuple):
    """Counts of each set of a ladder (S,) and of each of its changes alone (J,), int64.

    wrong, close, drawn: numbers of examples: errors, correct close calls, correct examples drawn at random.
    """

    wrong: int
    close: int
    drawn: int
    mended: np.ndarray  # (S,) of wrong, corrected by the most certain form
    broken: np.ndarray  # (S,) of close
    some_right: np.ndarray  # (S,) of wrong, correct in some form
    some_wrong: np.ndarray  # (S,) of drawn, misclassified in some form
    change_mended: np.ndarray  # (J,) of wrong
    change_broken: np.ndarray  # (J,) of drawn


def strength(jitter: Jitter) -> tuple[float, float]:
    """Sort key for the changes of a family: each part's distance from the identity, and the length of the shift."""
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
    """The weakest change with wins (J,) true in each family that has one."""
    fixes = []
    for family in ladder.families:
        change = next((j for j in ladder.changes(family) if wins[j]), None)
        if change is not None:
            fixes.append(Fix(family, int(change)))
    return fixes


def empty(ladder: Ladder) -> Tally:
    """The tally of no examples."""
    S, J = ladder.members.shape
    return Tally(0, 0, 0, *(np.zeros(S, np.int64) for _ in range(4)), *(np.zeros(J, np.int64) for _ in range(2)))


def add(ladder: Ladder, tally: Tally, f: np.ndarray, true: np.ndarray, kind: str) -> Tally:
    """The tally with more examples of one kind, "wrong", "close" or "drawn"."""
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
    """For each lead of `wrong` (e,), all <= 0, the position of a lead of `right` (r,), all > 0, with the nearest
    |lead|; each position once, closest calls first. Fewer if r < e."""
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
    """(S, n) class positions of the most certain prediction in f (J, n, k) among the forms of each set."""
    predicted, sure = answers(f), np.abs(f[..., 0]) if f.shape[-1] == 1 else f.max(axis=-1)  # both (J, n)
    best = np.where(ladder.members[:, :, None], sure, -np.inf).argmax(axis=1)
    return np.take_along_axis(predicted, best, axis=0)


class Net(NamedTuple):
    """Errors corrected minus close calls broken, of equally many: estimate and 95 % interval."""

    value: float
    low: float
    high: float


def net(tally: Tally, s: int) -> Net:
    """The net of set s, as a number of errors among all those evaluated.

    Newcombe (1998), method 10, ignoring the pairing, which would make it narrower.
    """
    if not tally.wrong or not tally.close:
        return Net(0.0, 0.0, 0.0)
    mended, broken = tally.mended[s] / tally.wrong, tally.broken[s] / tally.close
    (a, b), (c, d) = wilson(int(tally.mended[s]), tally.wrong), wilson(int(tally.broken[s]), tally.close)
    low, high = np.hypot(mended - a, d - broken), np.hypot(b - mended, broken - c)
    return Net(
        *(float(tally.wrong * share) for share in (mended - broken, mended - broken - low, mended - broken + high))
    )
