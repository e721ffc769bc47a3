"""The data set and the two classes that cross-training is tried on: widgets, and a recipe to begin with."""

import streamlit as st

from data import catalogue
from pages.ui.kit import parameters, state, words
from pages.ui.recipe import config, data_set
from svmcore.lab.recipe.recipe import Recipe

METHOD, PLAIN = "cross-training", "sv"
MAX_FLIPPED = 40  # per cent


def field() -> Recipe | None:
    """Draw the widgets; a recipe of the plain machine, or None, and the way out on screen, where they name no two
    classes. DataError for a set that cannot be read."""
    names = [e.name for e in catalogue.entries() if e.at_hand]
    name = data_set.field(names, _usual(names), "Any set at hand; your own are added on the Datasets page.")
    entry = catalogue.entry(name)
    labels, chosen = [str(label) for label in entry.classes], []
    if len(labels) > 2:
        chosen = _classes(labels)
        if not 1 <= len(chosen) <= 2:
            st.info(
                "Cross-training tells two classes apart: choose two, or one to set it against all others.",
                icon=":material/arrow_upward:",
            )
            return None
    base = config.suggestion(name)
    steps = tuple(step for step in base.preprocess if step != "deslant")
    classes = tuple(label for label in entry.classes if str(label) in chosen)
    return base.replace(
        method=PLAIN, jitters="", classes=classes, preprocess=steps, n_train=None, n_test=None, folds=None, options={},
        name="custom", title="",
    )  # fmt: skip


def flipped() -> float:
    """The share of labels that is flipped, asked for by a slider."""
    per_cent = parameters.number(
        "flipped", "Labels flipped", 0, MAX_FLIPPED, 0, widget="slider", format="%d %%", width=220,
        help="Of this share of the training examples the label is swapped, by the seed: noise that is known.",
    )  # fmt: skip
    return per_cent / 100


def named(recipe: Recipe) -> Recipe:
    """The recipe with a title that tells what it is when it stands among all runs."""
    return recipe.replace(title="").replace(title=words.title(recipe))


def title(recipe: Recipe) -> str:
    """`USPS zip-code digits · 8 against the rest`: the examples of a recipe."""
    own = [str(label) for label in recipe.classes]
    told = f"{own[0]} against the rest" if len(own) == 1 else " against ".join(own)
    return " · ".join(filter(None, (words.short(words.data_set(recipe.dataset), 40), words.short(told, 60))))


def _classes(labels: list[str]) -> list[str]:
    usual = ["3", "8"] if {"3", "8"} <= set(labels) else labels[:2]
    return parameters.several(
        "pair", "Classes", labels, usual, max_selections=2, width=220,
        help="Two to tell apart, or one against all the others.",
    )  # fmt: skip


def _usual(names: list[str]) -> str:
    run = state.current_run()
    if run is not None and run.recipe.dataset in names:
        return run.recipe.dataset
    return catalogue.DEFAULT
