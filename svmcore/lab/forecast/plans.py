"""The plans that a recipe's method makes of its problem, and of those that follow it."""

from __future__ import annotations

from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.costs import Plan, Sizes
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.registry.tasks import task_of


def plans(recipe: Recipe, size: Sizes) -> tuple[Plan, list[Plan]]:
    """For the first training, and for each that follows: folds, parts."""
    method, task = METHODS[recipe.method], task_of(recipe)
    how = {
        "beside": task.beside(recipe),
        "solver": recipe.solver,
        "working_set": recipe.options.get("working_set"),
        "filled": method.filled(recipe),
    }
    whole, *others = (method.plan(recipe, n)._replace(**how) for n in (size, *task.others(recipe, size)))
    return whole, others
