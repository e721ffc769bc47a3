"""The named recipes: experiments of the papers and first steps, ready to run from the app or by name.

recipes.toml has those that are one machine. Studies of many runs are made here: osuna (Osuna, Freund and Girosi, 1997),
xtrain (Bakir, Bottou and Weston, 2004), digestion (DeCoste and Schölkopf, 2002, section 4). The tables of the papers
are in tables.toml; those that are more than rows of recipes are made here, too. lab/papers fills them.
"""

import tomllib
from functools import cache
from pathlib import Path

from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.presets import digestion, osuna, xtrain
from svmcore.lab.recipe import DEFAULT, Recipe

__all__ = ["LISTED", "PRESET", "RECIPES", "named"]

PRESET = "mnist-5k-sv"


def _read(path: Path) -> dict[str, Recipe]:
    """Name -> recipe, in the order of the file."""
    rows = tomllib.loads(path.read_text(encoding="utf-8"))

    def text_of(value) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    @cache
    def made(name: str) -> Recipe:
        texts = {"name": name} | {field: text_of(value) for field, value in rows[name].items()}
        base = made(texts.pop("from")) if "from" in texts else DEFAULT
        if "reduces" in texts:
            base = reduction_of(made(texts.pop("reduces")))
        return base.with_texts(texts)

    return {name: made(name) for name in rows}


RECIPES: dict[str, Recipe] = _read(Path(__file__).with_name("recipes.toml")) | {
    recipe.name: recipe for study in (osuna, xtrain, digestion) for recipe in study.RECIPES
}

# Those that a list offers: of a study its name alone, or none, not each of its points.
_POINTS = {recipe.name for recipe in (*osuna.RECIPES, *digestion.RECIPES)} - {osuna.NAME}
LISTED: dict[str, Recipe] = {name: recipe for name, recipe in RECIPES.items() if name not in _POINTS}


def named(recipe: Recipe, title: str) -> Recipe:
    """The recipe under the name of the one in the list that asks for the same, or else under this title."""
    same = next((known for known in RECIPES.values() if known.digest() == recipe.digest()), None)
    name, title = (same.name, same.title) if same else ("custom", title[:120])
    return recipe.replace(name=name, title=title)
