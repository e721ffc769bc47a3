"""Rule: one way of editing a training set, with its settings and all that an estimator, a forecast and a form want to
know of it."""

from dataclasses import dataclass, fields
from typing import ClassVar, NamedTuple

import numpy as np

from svmcore.allowed import check, number, whole
from svmcore.solvers.session import Session
from svmcore.svc import SVC


class Given(NamedTuple):
    """What a rule edits, and with what."""

    X: np.ndarray  # (n, d) float32
    y: np.ndarray  # (n,)
    label: np.ndarray  # (n,) numbers of the classes, from 0
    session: Session
    rng: np.random.RandomState
    svc: SVC  # unfitted, for rules that train machines


@dataclass(frozen=True)
class Rule:
    """Base of all rules. Its settings are its fields; a `numeral` (kernels/base.py) says their range and their words.

    why: why it throws an example away, in one sentence; two_classes: whether it takes two classes and no more.
    """

    name: ClassVar[str] = ""
    title: ClassVar[str] = ""
    why: ClassVar[str] = ""
    source: ClassVar[str] = ""
    two_classes: ClassVar[bool] = False

    def __post_init__(self):
        for own in fields(self):
            if limits := own.metadata:
                kind = whole if isinstance(own.default, int) else number
                check(self, **{own.name: kind(limits["low"], limits["high"])})

    def role(self, given: Given) -> np.ndarray:
        """(n,) int8: what becomes of each example, by the codes of roles.py."""
        raise NotImplementedError

    def machines(self, n: int) -> tuple[tuple[int, int], ...]:
        """What it trains on n examples: (examples, how often) of each stage."""
        return ()
