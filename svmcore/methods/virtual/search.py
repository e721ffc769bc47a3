"""Search over invariances: a jitter set that grows step by step, by the errors of virtual SV machines on folds.

    S_{t+1} = argmin_c errors(S_t + c)        c one of the candidates; "+" their union, "*" their product
    the end   no candidate lowers the errors, or as many sets as were allowed have been tried

errors(S) are counted on the parts of the training set that are held out in turn; of equal ones the smaller set is
taken. A set is left as soon as its errors on some folds are more than the best one's on all of them: the others could
only add to them. The first stage of a fold knows no jitters, so it is trained once for all sets.

The errors by which a set was chosen are lower than those it will make: of many it is the one that was lucky too.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 6, asks which invariances to take, and how far.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from sklearn.base import clone

from svmcore.allowed import require
from svmcore.jitter import JitterSet
from svmcore.methods.virtual.estimator import VirtualSVC
from svmcore.metrics import stratified_folds
from svmcore.solvers.progress import Monitor, Passing
from svmcore.svc import SVC

JOINS = ("+", "*", "+*")  # union, product, both
MAX_FORMS = 200  # of a product


class Tried(NamedTuple):
    """One set, on as many of the folds as it took."""

    step: int  # 0 for the set that the search began with
    jitters: str
    forms: int
    errors: int
    folds: int  # fewer than there are: it was left there, and has at least so many errors
    taken: bool = False


class Search(NamedTuple):
    """How far a search is."""

    tried: tuple[Tried, ...]  # in the order in which they were tried; the one that a step took is marked
    n: int  # examples that each set is judged on, over all folds
    ending: str = ""  # why it ended; empty while it has not

    @classmethod
    def of(cls, facts: dict) -> "Search":
        """From what `facts` gave, perhaps with its ending beside."""
        return cls(tuple(Tried(*one) for one in facts.get("tried", ())), facts.get("n", 0), facts.get("ending", ""))

    def facts(self) -> dict:
        """How far it is in numbers and texts, as a Progress and a file have them."""
        return {"tried": [[*one[:-1], int(one.taken)] for one in self.tried], "n": self.n}

    @property
    def path(self) -> list[Tried]:
        """What each step took, the beginning first."""
        return [one for one in self.tried if one.taken]


def search_jitters(
    estimator: VirtualSVC,
    X: np.ndarray,
    y: np.ndarray,
    candidates: Sequence[str],
    *,
    joins: str = "+",
    budget: int = 24,
    folds: int = 5,
    groups: np.ndarray | None = None,
    random_state: int = 0,
    monitor: Monitor | None = None,
) -> Search:
    """Grow the jitter set of a virtual SV machine by its errors on held-out parts of X.

    estimator: what is trained with each set, unfitted, its own `jitters` what the search begins with; X, y: images and
    labels as for `VirtualSVC.fit`; candidates: jitter sets that a step may add; joins: how, as a union ("+"), a product
    ("*"), or whichever is better ("+*"); budget: sets that are tried at most, the first one included; folds: parts of
    the training set, each held out once; groups: as for `VirtualSVC.fit`, each within one part; random_state: draws the
    parts; monitor: as for SVC, during each of the fits, with `Search.facts` so far; one that ends a fit ends the
    search.

    The Search's `path[-1].jitters` is the set that was found; no path where it was stopped before the first one was
    through. ValueError for a class with fewer examples than folds, no candidates, and what the estimator does not
    allow.
    """
    require(joins in JOINS, "joins", joins, ", ".join(JOINS))
    require(candidates, "candidates", candidates, "one jitter set or more")
    smallest = int(np.unique(y, return_counts=True)[1].min())
    require(smallest >= folds, "folds", folds, f"at most {smallest}, the number of examples of the smallest class")
    trials = _Trials(estimator, X, y, folds, groups, random_state, monitor)
    search, known, best, step = trials.search, set(), None, 0
    texts = [str(JitterSet.parse(estimator.jitters))]
    while not search.ending:
        before = best
        for text in texts:
            if (does := key(text)) in known:
                continue
            known.add(does)
            if len(search.tried) == budget:
                search = search._replace(ending="budget")
                break
            one = trials.tried(step, text, best)
            if one is None:
                search = search._replace(ending="stopped")
                break
            best = one if _better(one, best) else best
            trials.search = search = search._replace(tried=(*search.tried, one))
        if best is before:
            return search._replace(ending=search.ending or "best")
        marked = tuple(one._replace(taken=one.taken or one is best) for one in search.tried)
        trials.search = search = search._replace(tried=marked)
        best, step = search.path[-1], step + 1
        texts = joined(best.jitters, candidates, joins)
    return search


def _better(one: Tried, best: Tried | None) -> bool:
    """Fewer errors; within a step also as many errors by fewer forms."""
    if best is None or one.errors != best.errors:
        return best is None or one.errors < best.errors
    return one.step == best.step and one.forms < best.forms


def joined(own: str, candidates: Sequence[str], joins: str) -> list[str]:
    """`own` with each candidate, in each of the ways; the border stays its own."""
    body, at, border = own.partition("@")
    texts = [candidate.partition("@")[0] for candidate in candidates]
    if body == "none":
        return [text + at + border for text in texts]
    unions = [f"{body}+{text}{at}{border}" for text in texts]
    products = [f"({body})*({text}){at}{border}" for text in texts if _size(body) * _size(text) <= MAX_FORMS]
    return unions * ("+" in joins) + products * ("*" in joins)


def _size(text: str) -> int:
    return len(JitterSet.parse(text))


def key(text: str) -> tuple:
    """What a set does, however it is written."""
    jitters = JitterSet.parse(text)
    return frozenset(jitter.key for jitter in jitters.jitters), jitters.border


class _Trials:
    """The folds of one search, the first stage of each, and how far the search is, which the monitor hears."""

    def __init__(self, estimator: VirtualSVC, X, y, folds: int, groups, seed: int, monitor: Monitor | None):
        self.estimator, self.X, self.y, self.groups, self.stopped = estimator, X, y, groups, False
        self.search = Search((), len(y))
        self.parts = list(stratified_folds(y, folds, seed, groups))
        self.bases: dict[int, SVC | None] = {}
        self.monitor = self._listening(monitor) if monitor is not None else None

    def _listening(self, monitor: Monitor) -> Monitor:
        def listen(progress) -> bool:
            go_on = monitor(progress._replace(stage="searching", snapshot=None, facts=self.search.facts()))
            self.stopped |= not go_on
            return go_on

        return Passing(monitor, listen)

    def tried(self, step: int, text: str, best: Tried | None) -> Tried | None:
        """The errors of a set, until they are more than the best one's; None where the monitor ended it."""
        errors = 0
        for number, (training, held_out) in enumerate(self.parts):
            machine = clone(self.estimator).set_params(jitters=text)
            groups = None if self.groups is None else self.groups[training]
            known = {"base": self.bases.get(number), "groups": groups}
            machine.fit(self.X[training], self.y[training], monitor=self.monitor, **known)
            if self.stopped:
                return None
            self.bases[number] = machine.base_
            errors += int(np.count_nonzero(machine.predict(self.X[held_out]) != self.y[held_out]))
            if best is not None and errors > best.errors:
                break
        return Tried(step, text, _size(text), errors, number + 1)
