"""What the lessons read off their machines: digits that a small move turns wrong, and two numbers compared in words."""

from functools import lru_cache

import numpy as np

from data import load
from pages.lessons.parts import Facts
from pages.ui.example import evidence, jittered
from svmcore.jitter import JitterSet
from svmcore.lab.store import runs
from svmcore.metrics import paired_test
from svmcore.model import labels

LEVEL = 0.05  # of the test whether two machines differ
LESS, SAME, MORE = range(3)
FEWER_OR_MORE = ("Fewer", "Exactly as many", "More")


def against(a: float, b: float) -> int:
    """LESS, SAME or MORE: `a` beside `b`, as FEWER_OR_MORE has them."""
    return LESS if a < b else SAME if a == b else MORE


def fragile(facts: Facts, name: str, jitters: str, true=None) -> int:
    """The test digit, as a row of the dataset, that the machine gets right and of whose moved forms it gets the most
    wrong; of the class `true`, if that is given."""
    return _fragile(facts.run(name).id, jitters, None if true is None else str(true))


def forms_right(facts: Facts, name: str, row: int, jitters: str) -> int:
    """How many of the moved forms of one digit, itself among them, the machine gets right."""
    run = facts.run(name)
    dataset = facts.dataset(name)
    return int(np.count_nonzero(_right(run, dataset.X_train[row : row + 1], dataset.y_train[row : row + 1], jitters)))


def taken_for(facts: Facts, name: str, row: int, jitters: str) -> str:
    """What the machine takes the last form of a digit for."""
    run, dataset = facts.run(name), facts.dataset(name)
    moved = forms(dataset, dataset.X_train[row : row + 1], jitters)[-1]
    machine = run.machine()
    return str(labels(machine.classes, machine.decision_values(evidence.prepared(run, moved)))[0])


def only_one_wrong(facts: Facts, a: str, b: str):
    """The paired test of two machines on the same digits: only_a, only_b, p_value."""
    left, right = facts.run(a).test(), facts.run(b).test()
    return paired_test(left.wrong, right.wrong, left.groups)


def doubt(facts: Facts, a: str, b: str) -> str:
    """A sentence, where two machines differ by so few digits that it may be chance; else nothing."""
    return " (A difference this small may be chance.)" if only_one_wrong(facts, a, b).p_value >= LEVEL else ""


@lru_cache(maxsize=32)
def _fragile(run_id: str, jitters: str, true: str | None) -> int:
    run = runs.get(run_id)
    test, dataset = run.test(), load(run.recipe.dataset)
    ok = test.y_true == test.y_pred
    if true is not None:
        ok &= test.y_true.astype(str) == true
    rows = test.index[ok]
    if not len(rows):
        raise LookupError("the machine gets no digit of that class right")
    right = _right(run, dataset.X_train[rows], dataset.y_train[rows], jitters)
    return int(rows[np.argmin(right.sum(axis=0))])


def _right(run, X, y, jitters):
    """(J, n) whether each form of each digit comes out right."""
    machine = run.machine()
    moved = forms(load(run.recipe.dataset), X, jitters)
    return np.stack([labels(machine.classes, machine.decision_values(evidence.prepared(run, F))) == y for F in moved])


def forms(dataset, X, jitters):
    """(J, n, ...) the forms of examples, as the page Jitters makes them."""
    return jittered.applied(JitterSet.parse(jitters, dataset.image_shape), X)
