"""Finder: one way to find candidates in pictures, with all that detection, a forecast and a form want to know of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from data.pictures import Part, PictureSet
from svmcore.lab.costs import Sizes
from svmcore.lab.fields import Field
from svmcore.lab.problem import Problem
from svmcore.lab.task import Check


class Finder(ABC):
    """Base of all finders. fields: its own, in the recipe's options."""

    name = title = ""
    fields: tuple[Field, ...] = ()

    @abstractmethod
    def prepare(self, recipe, pictures: PictureSet, part: Part, check: Check) -> Problem:
        """The problem before any training. RecipeError where there is nothing to train on; what `check` raises."""

    def train(self, method, recipe, problem: Problem, monitor: Callable | None, check: Check) -> tuple[object, Problem]:
        """What the method makes of the problem, and the problem as it was in the end."""
        return method.train(recipe, problem, monitor), problem

    def resumed(self, problem: Problem, judged) -> Problem:
        """The problem as it was when training ended, from the detections of its machine."""
        return problem

    @abstractmethod
    def judge(self, machine, problem: Problem, check: Check):
        """The Detections (finders/findings.py) of a machine."""

    @abstractmethod
    def size(self, recipe, pictures: PictureSet, part: Part) -> Sizes:
        """About how many windows a part trains on and is judged by."""

    def seconds(self, recipe, pictures: PictureSet, part: Part) -> float:
        """About how long it takes to look over a part's pictures."""
        return 0.0
