"""The plans that a recipe's method makes of its problem, and of the folds of it."""

from __future__ import annotations

from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.costs import Plan, Sizes
from svmcore.lab.registry.methods import METHODS


def plans(recipe: Recipe, size: Sizes) -> tuple[Plan, list[Plan]]:
    """For the whole training set, and for each fold held out."""
    method, folds = METHODS[recipe.method], recipe.folds or 0
    held = size.n_train // folds if folds else 0
    fold = size._replace(n_train=size.n_train - held, n_test=held)
    return method.plan(recipe, size), folds * [method.plan(recipe, fold)]
