"""Where a recipe can start from: named ones, each with what it shows and about how long it takes here, the reader's
own; and how far the form has moved away from the one it was filled with."""

import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path

import streamlit as st

from data import catalogue
from pages.ui.kit import state, view, words
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain
from pages.ui.recipe import config
from pages.ui.recipe.starting import asking
from svmcore.lab.fields import Field
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import LISTED, RECIPES
from svmcore.lab.recipe import FIELDS, Recipe, option_fields
from svmcore.lab.store import presets

SHOWS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))  # name of a recipe -> what it shows
NAMES = ("name", "title")  # what a recipe is called does not change it
OPEN = "presets"  # key of the list
MAX_CHANGES = 4  # changes that are spelled out


def menu(recipe: Recipe | None) -> None:
    """The presets, and the way to keep what the form shows as one, in a list that opens."""
    popover = st.popover(
        "Presets",
        icon=":material/auto_awesome_motion:",
        width="stretch",
        key=OPEN,
        on_change="rerun",
        help="Recipes to start from, with their estimated time, and your own.",
    )
    if popover.open:  # its estimates take a third of the page's time
        with popover:
            _own()
            st.markdown("**Recipes to begin with**")
            for name, shows in SHOWS.items():
                named = RECIPES[name]
                entry, takes = catalogue.entry(named.dataset), words.duration(estimate(named).seconds)
                first = "" if entry.at_hand else f" Download {entry.title} on *Datasets* first."
                _row(name, named, named.title, f"{shows} About {takes}.{first}")
            pick(
                "All named recipes",
                "recipe_pick",
                {name: known for name, known in LISTED.items() if view.form_of(known) == view.TRAIN},
                _fill,
                placeholder="type to find one",
                help="All recipes, including those of the papers' tables. Choosing a recipe fills the form.",
            )
            _to_keep(recipe)


def _row(name: str, recipe: Recipe, title: str, says: str) -> None:
    with st.container(gap=None):
        help = "Fills the form without starting a run."
        button(plain(title), "", f"preset_{name}", _fill, recipe, help=help, type="tertiary")
        st.caption(says)


def _fill(recipe: Recipe) -> None:
    """Callback: into the form with it, and the list is closed."""
    config.FORM.fill(recipe)
    st.session_state[OPEN] = False


def pick(label: str, key: str, known: Mapping[str, Recipe], fill: Callable[[Recipe], None], shown="", **how) -> None:
    """A menu of recipes by their titles, of which one fills a form. shown: the name of the one that the form shows."""

    def filled() -> None:
        if name := st.session_state[key]:
            fill(known[name])

    st.session_state[key] = shown if shown in known else None
    st.selectbox(
        label, list(known), format_func=lambda name: known[name].title or name, key=key, on_change=filled, **how
    )


def _own() -> None:
    found = {name: own for name, own in presets.own_recipes().items() if view.form_of(own) == view.TRAIN}
    if found:
        st.markdown("**Your recipes**")
    for number, (name, own) in enumerate(found.items()):
        with st.container(horizontal=True, vertical_alignment="center"):
            with st.container():
                _row(f"own_{number}", own, name, words.summary(own))
            help = "Removes this recipe from the list. Its runs stay."
            button("Remove", "delete", f"preset_remove_{number}", _remove, name, help=help)


def _to_keep(recipe: Recipe | None) -> None:
    """The way to keep what the form shows."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Save this recipe as", max_chars=presets.MAX_NAME, key="preset_name", placeholder="a name of your own",
            help="Saves the settings of the form on this computer, for every session.",
        )  # fmt: skip
        help = "Replaces a recipe of the same name."
        button("Save", "bookmark_add", "preset_keep", _keep, recipe, help=help, disabled=recipe is None)


def _keep(recipe: Recipe) -> None:
    name = st.session_state["preset_name"]
    with asking("Not saved."):
        presets.keep(name, recipe)
        st.session_state["preset_name"] = ""
        state.tell_later(f":material/bookmark_added: {plain(name)} is saved as a preset.")
    st.rerun()


def _remove(name: str) -> None:
    with asking("Not removed."):
        presets.remove(name)
        return
    st.rerun()


def standing(recipe: Recipe) -> None:
    """What the form shows: a preset as it is, or what differs from where it began, with a way back."""
    base = config.FORM.base
    changed = changes(base, recipe)
    if not changed:
        name = recipe.name if recipe.name in RECIPES else ""
        title = RECIPES[name].title if name else base.title
        if title:
            st.caption(f"**{plain(title)}.** {SHOWS.get(name, '')}")
        return
    with st.container(horizontal=True, vertical_alignment="center"):
        told, more = changed[:MAX_CHANGES], changed[MAX_CHANGES:]
        said = "; ".join(told) + (f"; {len(more)} more" if more else "")
        of = f" from {plain(words.short(base.title, 60))}" if base.title else ""
        st.caption(f":material/edit: Changed{of}: {plain(said)}", width="stretch")
        help = "Restores the recipe that the form was filled with."
        button("Undo", "undo", "recipe_undo", config.FORM.fill, base, help=help, type="tertiary")


def changes(base: Recipe, recipe: Recipe) -> list[str]:
    """`C 2 → 3`: what differs, field by field."""
    before, now, known = base.texts(), recipe.texts(), FIELDS | option_fields()
    names = [name for name in (before | now) if name not in NAMES and before.get(name) != now.get(name)]
    both = [name for name in names if name in before and name in now]
    return [f"{known[n].label} {_shown(known[n], before[n])} → {_shown(known[n], now[n])}" for n in both]


def _shown(field: Field, text: str) -> str:
    return words.short(field.called(text), 40) or "none"
