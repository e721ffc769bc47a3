"""The named recipes: experiments of the papers and first steps, ready to run from the app or by name.

first: the preset and quick ones; usps, mnist, pairs: the handwritten digits of DeCoste and Schoelkopf, Machine Learning
46 (2002), section 5.1 and Table 10; digestion: its section 4; volcanoes: its section 5.2; best: beyond the paper;
reductions: Burges and Schoelkopf (1997); faces and osuna: Osuna, Freund and Girosi (1997); xtrain: Bakir, Bottou and
Weston (2004).
"""

from svmcore.lab.forecast.estimate import BudgetError, Estimate, estimate
from svmcore.lab.recipe.recipe import SPLITS, Recipe, RecipeError
from svmcore.lab.recipes import best, digestion, faces, first, mnist, osuna, pairs, reductions, usps, volcanoes, xtrain
from svmcore.lab.recipes.first import PRESET

__all__ = ["LISTED", "PRESET", "RECIPES", "SPLITS", "BudgetError", "Estimate", "Recipe", "RecipeError", "estimate"]

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for part in (first, mnist, usps, pairs, reductions, best, volcanoes, faces, osuna, xtrain, digestion)
    for recipe in part.RECIPES
}

# Those that a list offers: of a study its name alone, or none, not each of its points.
_POINTS = {recipe.name for recipe in (*osuna.RECIPES, *digestion.RECIPES)} - {osuna.NAME}
LISTED: dict[str, Recipe] = {name: recipe for name, recipe in RECIPES.items() if name not in _POINTS}
