"""The plans that a recipe's method makes of its problem, and of those that follow it."""

from __future__ import annotations

from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.costs import Plan, Sizes
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.tasks import task_of


def plans(recipe: Recipe, size: Sizes) -> tuple[Plan, list[Plan]]:
    """For the first training, and for each that follows: folds, parts."""
    method = METHODS[recipe.method]
    return method.plan(recipe, size), [method.plan(recipe, other) for other in task_of(recipe).others(recipe, size)]
