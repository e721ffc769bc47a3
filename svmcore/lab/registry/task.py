"""Task: what is to be learned, from the data to the judgement of a fitted machine.

prepare(recipe, check), fold(recipe, number, check)    a problem for the method that trains
judge(machine, problem, check)                         what the machine says about the examples it is tested on
outcome(judged), loss(judged)                          figures of a result; what cross-validation adds up
headline(result)                                       the outcome in a few words
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import NamedTuple

Check = Callable[[str], None]  # is told a stage, between pieces of work, and may raise to stop


class Task(ABC):
    """Base of all tasks. `judge` gives a NamedTuple of arrays and texts, which the run keeps; a fold is a problem that
    nothing of the part held out has entered."""

    name = title = ""
    figures: Mapping[str, Callable] = {}  # of an outcome, beside n_test: name -> check (checks.py)
    at_times: Mapping[str, Callable] = {}  # those that not every outcome has, such as those of older runs
    arrays: Mapping[str, tuple[str, int]] = {}  # of a judgement: name -> kinds of number, dimensions
    kept: type = dict  # NamedTuple of a judgement

    def judged(self, arrays: dict):
        """A judgement, from the arrays of its file. ValueError for what it cannot be."""
        values = ((name, arrays[name]) for name in self.arrays)
        return self.kept(**{name: value if value.ndim else str(value) for name, value in values})

    def misfit(self, shapes: Mapping[str, tuple[int, ...]]) -> str:
        """Why arrays of these shapes are no judgement; empty where they may be one."""
        return ""

    def fits(self, machine, judged) -> bool:
        """Whether a judgement can be this machine's."""
        return True

    @abstractmethod
    def prepare(self, recipe, check: Check):
        """The recipe's problem. RecipeError for what its data set does not allow; what `check` raises."""

    @abstractmethod
    def fold(self, recipe, number: int, check: Check):
        """The problem of one of the recipe's folds, held out from the others."""

    @abstractmethod
    def judge(self, machine, problem, check: Check) -> NamedTuple:
        """What the machine says about the examples it is tested on, beside the truth."""

    @abstractmethod
    def outcome(self, judged: list[NamedTuple]) -> dict:
        """The figures of one judgement, or of several on different examples together; JSON-able, with `n_test`."""

    @abstractmethod
    def loss(self, judged: NamedTuple) -> float:
        """What is to be small; the loss of several judgements is their sum."""

    @abstractmethod
    def headline(self, result: dict) -> str:
        """The outcome in a few words."""
