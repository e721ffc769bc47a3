"""The dataset and the two classes that cross-training is tried on: widgets, and a recipe to begin with."""

import streamlit as st

from data import catalogue
from pages.ui.kit import parameters, words
from pages.ui.recipe import data_set
from svmcore.lab.recipe import Recipe

METHOD, PLAIN = "cross-training", "sv"
MAX_FLIPPED = 40  # per cent


def field() -> Recipe | None:
    """Draw the widgets; a recipe of the plain machine, or None, and the way out on screen, where they name no two
    classes. DataError for a set that cannot be read."""
    name = data_set.field(data_set.at_hand(), "Any available dataset; add your own on the Datasets page.")
    entry, chosen = catalogue.entry(name), []
    if entry.n_classes > 2:
        chosen = data_set.pair(entry, "Classes", "Two classes, or one against all the others.", 220)
        if not 1 <= len(chosen) <= 2:
            st.info(
                "Cross-training separates two classes: choose two, or one against all others.",
                icon=":material/arrow_upward:",
            )
            return None
    base = data_set.suggestion(name)
    steps = tuple(step for step in base.preprocess if step != "deslant")
    classes = tuple(label for label in entry.classes if str(label) in chosen)
    return base.replace(
        method=PLAIN, jitters="", classes=classes, preprocess=steps, n_train=None, n_test=None, folds=None, options={},
        name="custom", title="",
    )  # fmt: skip


def flipped(usual: int = 0, width: int = 220) -> float:
    """The share of labels that is flipped, asked for by a slider; usual: in per cent."""
    help = "Share of the training labels to swap, drawn by the seed. Known label noise, to test the method."
    how = {"widget": "slider", "format": "%d %%", "width": width, "help": help}
    return parameters.number("flipped", "Labels flipped", 0, MAX_FLIPPED, usual, 1, **how) / 100


def named(recipe: Recipe) -> Recipe:
    """The recipe with a title that tells what it is when it stands among all runs."""
    return recipe.replace(title="").replace(title=words.title(recipe))


def title(recipe: Recipe) -> str:
    """`USPS zip-code digits · 8 against the rest`: the examples of a recipe."""
    own = [str(label) for label in recipe.classes]
    told = f"{own[0]} against the rest" if len(own) == 1 else " against ".join(own)
    return " · ".join(filter(None, (words.short(words.data_set(recipe.dataset), 40), words.short(told, 60))))
