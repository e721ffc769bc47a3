"""The papers item by item: what each section says, what came out here, and where it is alive.

    outlines/NAME.toml    a paper: short, cite, and its sections; of each item kind, title, state and said, and where it
                          is: show (a table or figure of this page), page with its query, recipes

A figure of ours in `said` is a reference to a measured row (quoted.py). Figures of tables and pages come from runs.
"""

import tomllib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import streamlit as st

from pages.paper import quoted
from pages.ui.kit import parameters, view, ways, words
from pages.ui.recipe import config
from svmcore.lab.papers import TABLES, asked
from svmcore.lab.presets import RECIPES, xtrain
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run

KINDS = ("algorithm", "claim", "figure", "table")
STATES = {  # -> colour, icon, what it is called
    "agrees": ("green", ":material/check:", "Reproduced"),
    "differs": ("orange", ":material/difference:", "Differs"),
    "open": ("gray", ":material/remove:", "Not covered"),
}
ALL = "all"


class Item(NamedTuple):
    """A table, figure, algorithm or claim. said: what came out, and why where it differs; show: the table or figure of
    this page, page: the page, where it is alive; recipes: names of what can be run for it, studies whole; origin: when
    the figures in `said` were measured."""

    kind: str
    title: str
    state: str
    said: str
    show: str = ""
    page: str = ""
    query: dict = {}  # noqa: RUF012  (never written to)
    recipes: tuple[str, ...] = ()
    origin: str = ""


class Section(NamedTuple):
    """A section of a paper."""

    number: str
    title: str
    items: tuple[Item, ...]


class Paper(NamedTuple):
    """A paper. name: in the address; short: its authors; cite: in full."""

    name: str
    short: str
    cite: str
    sections: tuple[Section, ...]

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(item for section in self.sections for item in section.items)

    @property
    def shown(self) -> list[str]:
        """Its tables and figures on this page, in the order of the paper."""
        return list(dict.fromkeys(item.show for item in self.items if item.show))

    @property
    def recipes(self) -> list[Recipe]:
        """What its items can be run by, tables apart."""
        names = dict.fromkeys(name for item in self.items for name in item.recipes)
        return [recipe for name in names for recipe in _of(name)]

    @property
    def every(self) -> list[Recipe]:
        """The recipes of its tables and items, each once."""
        tables = [TABLES[name] for name in self.shown if name in TABLES]
        filling = [recipe for table in tables for recipes in asked(table).values() for recipe in recipes]
        return list({recipe.digest(): recipe for recipe in filling + self.recipes}.values())


def _of(name: str) -> tuple[Recipe, ...]:
    """The recipe of that name, or all points of the study."""
    return xtrain.study(name) if name in xtrain.STUDIES else (RECIPES[name],)


def _read(path: Path) -> Paper:
    told = tomllib.loads(path.read_text("utf-8"))
    sections = tuple(
        Section(one["number"], one["title"], tuple(_item_of(**item) for item in one["item"])) for one in told["section"]
    )
    return Paper(path.stem, told["short"], told["cite"], sections)


def _item_of(said: str, **others) -> Item:
    return Item(said=quoted.fill(said), origin=quoted.origin(said), **others)


_FOLDER = Path(__file__).with_name("outlines")
PAPERS = {name: _read(_FOLDER / f"{name}.toml") for name in ("decoste", "burges", "osuna", "bakir", "after")}
SECTIONS = [ALL, *dict.fromkeys(section.number for paper in PAPERS.values() for section in paper.sections)]


def draw(paper: Paper) -> None:
    """The paper's items by section; the address may ask for one section, one state, or both."""
    st.markdown(paper.cite)
    titles = {section.number: f"{section.number}\u2002{section.title}" for section in paper.sections}
    with st.container(horizontal=True):
        asked = parameters.choice(
            "paper.section", [ALL, *titles], key="outline_section", format_func={ALL: "All sections", **titles}.get
        )
        sections = [section for section in paper.sections if asked in (ALL, section.number)]
        every = [item for section in sections for item in section.items]
        counts = Counter(item.state for item in every)
        wanted = parameters.choice(
            "paper.state",
            [ALL, *STATES],
            key="outline_state",
            format_func=lambda name: f"All {len(every)}" if name == ALL else f"{STATES[name][2]} {counts[name]}",
        )
    st.caption(
        "Our results in this text were measured on two processor cores. The question mark of an item says when, and "
        "under which load if it was recorded. The linked tables show stored runs: yours, or samples of the lab."
    )
    found = dict(zip((r.name for r in paper.recipes), runs.stored(paper.recipes), strict=True))
    for section in sections:
        items = [item for item in section.items if wanted in (ALL, item.state)]
        if items:
            st.subheader(titles[section.number], divider="gray")
            for number, item in enumerate(items):
                _item(paper, item, found, f"{paper.name}_{paper.sections.index(section)}_{number}")


def _item(paper: Paper, item: Item, found: dict[str, Run | None], key: str) -> None:
    colour, icon, called = STATES[item.state]
    with st.container(key=f"outline_{key}", gap="xsmall"):
        text = f":{colour}-badge[{icon} {called}] **{words.plain(item.title)}**  \n{item.said}"
        st.markdown(text, help=item.origin or None)
        if item.show or item.page or item.recipes:
            with st.container(horizontal=True):
                _links(paper, item, found)


def _links(paper: Paper, item: Item, found: dict[str, Run | None]) -> None:
    """The ways to where it can be seen, and to what can be run for it."""
    if item.show:
        label = "The table" if item.show in TABLES else "The figure"
        ways.to("paper", label, "table_chart", {"paper": paper.name, "show": item.show})
    if item.page:
        ways.to(item.page, None, "arrow_forward", item.query or None)
    for name in [name for name in item.recipes if name in RECIPES]:
        run, recipe = found[name], RECIPES[name]
        if runs.available(run):
            page, label, icon, query = view.home_of(recipe).page, name, "check", {"run": run.id}
        else:
            page, label, icon, query = view.form_of(recipe).page, f"Run {name}", "play_arrow", config.link(recipe)
        ways.to(page, label, icon, query)


def of(shown: str) -> str:
    """The name of the paper that a table or figure is first shown for; empty where there is none."""
    return next((paper.name for paper in PAPERS.values() if shown == paper.name or shown in paper.shown), "")
