"""The choice of examples: a dataset, shown by its title, named by its id in the address; how many; which classes; and
with which recipe to begin on them."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from data import DataError, Entry, NotAtHand, catalogue, load, revisions
from pages.ui.kit import parameters, state, view, ways, words
from pages.ui.kit.known import KNOWN_BY
from svmcore.kernels import RBF
from svmcore.lab.analyses import advice
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import FIELDS, Recipe


def at_hand(fits: Callable[[Entry], bool] = lambda entry: True) -> list[str]:
    """Names of the datasets that are on this computer, of those that fit."""
    return [entry.name for entry in catalogue.entries() if entry.at_hand and fits(entry)]


def field(names: Sequence[str], help: str, usual: str = "", width: int = 220) -> str:
    """The choice of a dataset (`?set=`) among `names`: at first the address's, `usual`, or that of the run shown."""
    run = state.current_run()
    usual = usual or (run.recipe.dataset if run and run.recipe.dataset in names else catalogue.DEFAULT)
    titles = {entry.name: entry.title for entry in catalogue.entries()}
    return parameters.choice(
        "recipe.set",
        names,
        usual,
        always=True,
        format_func=lambda name: words.short(titles[name], 40),
        width=width,
        help=help,
    )


def check_class(text: str) -> None:
    """Of an address: ValueError for what no dataset here has as a class."""
    if text not in {"", "rest", *(str(label) for entry in catalogue.entries() for label in entry.classes)}:
        raise ValueError("no dataset here has such a class")


def check_machine(text: str) -> None:
    """Of an address: ValueError for what is not called like a machine."""
    own, against, other = text.partition(" against ")
    if not against:
        raise ValueError("write a machine as 3 against the rest, or 3 against 8")
    for name in (own, *({other} - {"the rest"})):
        check_class(name)


def check_cell(text: str) -> None:
    """Of an address: ValueError for what is no cell of a confusion matrix."""
    true, arrow, predicted = text.partition(" → ")
    if text and not arrow:
        raise ValueError("write the true and the predicted class: 3 → 8")
    for name in (true, predicted):
        check_class(name)


def pair(entry: Entry, name: str) -> list[str]:
    """The choice of two classes (`?pair=`) of this name in widgets.toml; first 3 and 8, which are easily confused."""
    labels = [str(label) for label in entry.classes]
    usual = ["3", "8"] if {"3", "8"} <= set(labels) else labels[:2]
    return parameters.several(name, labels, usual)


def of_form(form: parameters.Form, entries: Mapping[str, Entry], usual: Callable[[str], Recipe], **how):
    """Draw the field of a recipe's form; the entry chosen of `entries`. NotAtHand, and the way to its files on screen,
    where they are not on this computer. usual(name): what the form is filled with when another set is chosen."""
    settings = {"help": "The Datasets page shows each dataset, downloads datasets and accepts your own."} | how
    name = form.draw(
        FIELDS["dataset"],
        widget="selectbox",
        options=list(entries),
        format_func=lambda name: entries[name].title,
        on_change=lambda: form.fill(usual(st.session_state[form.key("dataset")])),
        **settings,
    )
    entry = entries[name]
    if entry.at_hand:
        return entry
    size = f"{entry.size_mb:.2g} MB"
    label = f"Download it on the Datasets page ({size})" if entry.fetchable else "How to get this dataset"
    ways.to("datasets", label, "download", {"set": name})
    raise NotAtHand(f"{entry.title} is not on this computer yet")


def sizes(form: parameters.Form, entry: Entry, train: DeltaGenerator, test: DeltaGenerator, **how) -> dict:
    """Draw the numbers of examples of a recipe's form, in two places; their values by name."""
    tested = "the whole test set" if entry.n_test else "a fifth of all, or for the rest if *Training examples* is set"
    helps = "Leave empty for all that are not test examples.", f"Leave empty for {tested}."
    places = zip(("n_train", "n_test"), (train, test), helps, strict=True)
    most = entry.n_train + entry.n_test
    return {
        name: form.draw(FIELDS[name], where=where, max_value=most, help=help, **how) for name, where, help in places
    }


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


_remembered = st.cache_data(max_entries=64, show_spinner=False, hash_funcs=KNOWN_BY)  # by the content of a dataset
gamma, unlike, unlike_rows = map(_remembered, (advice.usual_gamma, advice.unlike, advice.unlike_rows))
