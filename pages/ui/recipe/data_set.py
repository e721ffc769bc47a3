"""The choice of a data set: shown by its title, named by its id in the address."""

from collections.abc import Callable, Mapping, Sequence

import streamlit as st

from data import NotAtHand, catalogue
from pages.ui.kit import parameters, words
from svmcore.lab.recipe.recipe import FIELDS


def field(names: Sequence[str], usual: str, help: str, width: int = 220) -> str:
    """Draw the field `?set=` of a page; the chosen one of the data sets `names`, at first the address's, or `usual`."""
    titles = {entry.name: entry.title for entry in catalogue.entries()}
    return parameters.choice(
        "set",
        "Data set",
        names,
        usual,
        widget="selectbox",
        always=True,
        format_func=lambda name: words.short(titles[name], 40),
        width=width,
        help=help,
    )


def of_form(form: parameters.Form, entries: Mapping, on_change: Callable[[], None], **how):
    """Draw the field of a recipe's form; the entry chosen of `entries`. NotAtHand, and the way to its files on screen,
    where they are not on this machine. on_change: another set brings the recipe that is usual for it."""
    name = form.draw(
        FIELDS["dataset"],
        widget="selectbox",
        options=list(entries),
        format_func=lambda name: entries[name].title,
        on_change=on_change,
        help="The Datasets page shows what is in each, fetches sets and takes your own.",
        **how,
    )
    entry = entries[name]
    if entry.at_hand:
        return entry
    label = f"Fetch it on the Datasets page ({entry.size_mb:.2g} MB)" if entry.fetchable else "How to get it"
    st.page_link("pages/datasets.py", label=label, icon=":material/download:", query_params={"set": name})
    raise NotAtHand(f"{entry.title} is not on this machine yet")
