"""The named recipes: experiments of the papers and first steps, ready to run from the app or by name. The tables of the
papers stand beside the recipes that fill them (lab/papers fills them).

first: the preset and quick ones; usps, mnist, pairs: the handwritten digits of DeCoste and Schölkopf, Machine Learning
46 (2002), section 5.1 and Table 10; digestion: its section 4; volcanoes: its section 5.2; best: beyond the paper;
reductions: Burges and Schölkopf (1997); faces and osuna: Osuna, Freund and Girosi (1997); xtrain: Bakir, Bottou and
Weston (2004).
"""

from svmcore.lab.presets import best, digestion, faces, first, mnist, osuna, pairs, reductions, usps, volcanoes, xtrain
from svmcore.lab.presets.first import PRESET
from svmcore.lab.recipe import Recipe

__all__ = ["LISTED", "PRESET", "RECIPES", "named"]

RECIPES: dict[str, Recipe] = {
    recipe.name: recipe
    for part in (first, mnist, usps, pairs, reductions, best, volcanoes, faces, osuna, xtrain, digestion)
    for recipe in part.RECIPES
}

# Those that a list offers: of a study its name alone, or none, not each of its points.
_POINTS = {recipe.name for recipe in (*osuna.RECIPES, *digestion.RECIPES)} - {osuna.NAME}
LISTED: dict[str, Recipe] = {name: recipe for name, recipe in RECIPES.items() if name not in _POINTS}


def named(recipe: Recipe, title: str) -> Recipe:
    """The recipe under the name of the one in the list that asks for the same, or else under this title."""
    same = next((known for known in RECIPES.values() if known.digest() == recipe.digest()), None)
    name, title = (same.name, same.title) if same else ("custom", title[:120])
    return recipe.replace(name=name, title=title)
