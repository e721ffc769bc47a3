"""Where to begin on a dataset: with which recipe, which width of a Gaussian, and whether its columns are alike."""

from collections.abc import Callable
from contextlib import suppress

import streamlit as st

from data import DataError, catalogue, load, revisions
from pages.ui.kit import view
from pages.ui.kit.known import KNOWN_BY
from svmcore.kernels import RBF
from svmcore.lab.experiment import advice
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import RECIPES


def suggestion(name: str) -> Recipe:
    """Where to start on a dataset: its first named recipe, or a Gaussian machine on scaled values; on the reader's
    own one as wide as its examples lie apart. On a revision as on its base."""
    if (base := revisions.base_of(name)) != name:
        return suggestion(base).replace(name="custom", title="", dataset=name)
    if named := next((r for r in RECIPES.values() if r.dataset == name and view.form_of(r) == view.TRAIN), None):
        return named
    if name.startswith(catalogue.OWN_PREFIX):
        with suppress(DataError):  # the page says what is wrong with it
            steps = advice.usual_steps(dataset := load(name))
            return Recipe(dataset=name, preprocess=steps, kernel=RBF(gamma(dataset, steps)))
    shape = catalogue.entry(name).shape
    steps = ("unit-norm",) if len(shape) > 1 else ("zscore",)
    width = 2.0 if len(shape) > 1 else round(1 / max(shape[0], 1), 4)
    return Recipe(dataset=name, preprocess=steps, kernel=RBF(width))


def _kept(ask: Callable) -> Callable:
    """`ask(dataset, ...)`, remembered by the content of the dataset."""
    return st.cache_data(max_entries=64, show_spinner=False, hash_funcs=KNOWN_BY)(ask)


gamma, unlike = _kept(advice.usual_gamma), _kept(advice.unlike)
