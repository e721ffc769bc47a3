"""One pair of classes with a few training examples, as widgets, and a recipe for each method that learns it.

With 3 against 8 of MNIST and 400 examples these are the recipes of Table 10 of DeCoste and Schölkopf (2002).
"""

import streamlit as st

from data import catalogue
from pages.ui.kit import parameters, words
from pages.ui.recipe import beginning, data_set, jitter_set
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import RECIPES
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.store.runs import Group
from svmcore.lab.tables import TABLES


def contenders() -> dict[str, dict]:
    """What to call each machine that is compared -> what its recipe asks for beside the examples."""
    return {
        caption: {"method": name, **options}
        for name, method in METHODS.items()
        if "classify" in method.tasks
        for caption, options in method.variants.items()
    }


def settings() -> dict[str, Recipe] | None:
    """The widgets; a recipe for each method, or None when they name no pair."""
    images = data_set.at_hand(lambda entry: len(entry.shape) > 1)
    usual = "mnist" if "mnist" in images else catalogue.DEFAULT
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = data_set.field(images, "Image datasets that are available.", usual)
        help = "Any two classes; DeCoste and Schölkopf 2002, section 5.1.2, used 3 and 8, which are easily confused."
        pair = data_set.pair(catalogue.entry(name), "Pair of classes", help, 180)
        n_train = parameters.number(
            "n", "Training examples", 10, 4000, 400, 100, width=160,
            help="Half of each class. Table 10 of the paper: 400.",
        )  # fmt: skip
        deslant = parameters.flag(
            "deslant",
            "Deslant",
            help="Straightens every digit first (DeCoste and Schölkopf 2002, section 5.1.1).",
        )
    jitters = jitter_set.field(None)
    if jitters is None or len(pair) != 2:
        return None
    return recipes(name, pair, n_train, str(jitters), deslant)


def recipes(dataset: str, pair, n_train: int = 400, jitters: str = "box:1", deslant: bool = False) -> dict[str, Recipe]:
    """A recipe for each method. pair: the texts of two classes."""
    entry = catalogue.entry(dataset)
    classes = tuple(label for label in entry.classes if str(label) in pair)
    steps = ("deslant", "unit-norm") if deslant else ("unit-norm",)
    split = "first-of-each" if entry.n_test else "stratified"
    base = beginning.suggestion(dataset).replace(
        n_train=n_train, n_test=None, split=split, classes=classes, preprocess=steps, name="custom"
    )
    against = " against ".join(map(str, classes))
    return {
        title: base.replace(
            **asked,
            jitters=jitters,
            options={},
            title=f"{against}, {n_train} examples: {title}",
        )
        for title, asked in contenders().items()
    }


def together(recipes: dict[str, Recipe]) -> Group:
    """What their runs are started for."""
    one = next(iter(recipes.values()))
    pair = " against ".join(map(str, one.classes))
    title = f"Compare methods · {words.short(words.data_set(one.dataset), 40)} · {pair} · {one.n_train:,} examples"
    return Group.of("methods", title, one.digest(), *(recipe.jitters for recipe in recipes.values()))


def published(recipes: list[Recipe]) -> list[float | None]:
    """How many errors Table 10 reports for each recipe, None for those that it does not have."""
    cells = [row.cells[0] for name in ("table10-3v8", "table10-3v8-5x5-deslant") for row in TABLES[name].rows]
    errors = {RECIPES[cell.recipe].digest(): cell.published for cell in cells}
    return [errors.get(recipe.digest()) for recipe in recipes]
