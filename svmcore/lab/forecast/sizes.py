"""How large a recipe's problem is, as the catalogue promises before anything is loaded."""

from __future__ import annotations

from math import prod

from data import catalogue
from svmcore.lab.registry.costs import Sizes
from svmcore.lab.registry.methods import METHODS


def sizes(recipe) -> Sizes:
    """UnknownDataset for a set that the catalogue does not have; RecipeError for a method that needs images."""
    entry = catalogue.entry(recipe.dataset)
    METHODS[recipe.method].require_images(recipe, entry.shape if len(entry.shape) > 1 else None)
    share = len(recipe.classes) / entry.n_classes if len(recipe.classes) > 1 else 1.0
    n_train, n_test = round(entry.n_train * share), round(entry.n_test * share)
    if not entry.n_test:
        n_test = recipe.n_test or max(1, n_train - recipe.n_train if recipe.n_train else n_train // 5)
        n_train -= min(n_test, n_train - 1)
    n_classes = 2 if len(recipe.classes) == 1 else len(recipe.classes) or entry.n_classes
    return Sizes(
        min(recipe.n_train or n_train, n_train),
        min(recipe.n_test or n_test, n_test),
        prod(entry.shape),
        1 if n_classes == 2 else n_classes,
    )
