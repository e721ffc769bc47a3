"""Task: what is to be learned, from the data to the judgement of a fitted machine.

prepare(recipe, check), fold(recipe, number, check)    a problem for the method that trains
judge(machine, problem, check)                         what the machine says about the examples it is tested on
outcome(judged), loss(judged)                          figures of a result; what cross-validation adds up
headline(result)                                       the outcome in a few words
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

Check = Callable[[str], None]  # is told a stage, between pieces of work, and may raise to stop


class Task:
    """Base of all tasks. `judge` gives a NamedTuple of arrays and texts, which the run keeps; a fold is a problem that
    nothing of the part held out has entered."""

    name = title = ""

    def prepare(self, recipe, check: Check):
        """The recipe's problem. RecipeError for what its data set does not allow; what `check` raises."""
        raise NotImplementedError

    def fold(self, recipe, number: int, check: Check):
        """The problem of one of the recipe's folds, held out from the others."""
        raise NotImplementedError

    def judge(self, machine, problem, check: Check) -> NamedTuple:
        """What the machine says about the examples it is tested on, beside the truth."""
        raise NotImplementedError

    def outcome(self, judged: list[NamedTuple]) -> dict:
        """The figures of one judgement, or of several on different examples together; JSON-able, with `n_test`."""
        raise NotImplementedError

    def loss(self, judged: NamedTuple) -> float:
        """What is to be small; the loss of several judgements is their sum."""
        raise NotImplementedError

    def headline(self, result: dict) -> str:
        """The outcome in a few words."""
        raise NotImplementedError
