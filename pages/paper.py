"""Paper: the tables and figures of DeCoste and Schoelkopf (2002), theirs beside ours, filled from stored runs."""

import streamlit as st

from data import DataError
from pages.ui.kit import parameters, words
from pages.ui.paper import cards, figures, table
from pages.ui.run import polling, stored
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.store import runs
from svmcore.lab.tables import TABLES, asked

STUDIES = "studies"
PARTS = [STUDIES, *TABLES, *figures.FIGURES]


def title(part: str) -> str:
    if part == STUDIES:
        return "All studies, as cards"
    return TABLES[part].title if part in TABLES else figures.FIGURES[part].title


def first_table(recipe):
    """What a run is started for: the first table that it fills."""
    return next(table.group for table in TABLES.values() if recipe.name in table.recipes)


def all_runs():
    """How much of the paper is there, and the button that queues the rest."""
    every = (recipe for table in TABLES.values() for recipes in asked(table).values() for recipe in recipes)
    recipes = list({recipe.digest(): recipe for recipe in every}.values())
    found = stored.stored(recipes)
    done = sum(run is not None and run.state == "done" for run in found)
    working = [run for run in found if run is not None and run.state in runs.ACTIVE]
    left = sum(estimate(r).seconds for r, run in zip(recipes, found, strict=True) if run is None)
    with st.container(horizontal=True, vertical_alignment="center"):
        stored.buttons(recipes, found, "Run all", "Queue every run of every table that is missing.", key="paper",
                       group=first_table)  # fmt: skip
        st.caption(
            f"{done} of {len(recipes)} runs are stored"
            + (f", {len(working)} are at work or wait" if working else "")
            + (f"; those not asked for yet take about {words.duration(left)}." if left else "."),
            width="content",
        )
    polling.poll_all([run.id for run in working], lambda statuses: None)  # runs of other tables change the count too


st.title("Paper")
st.caption("DeCoste and Schölkopf, Training invariant support vector machines, Machine Learning 46 (2002).")
all_runs()
part = parameters.choice(
    "show",
    "Table or figure",
    PARTS,
    widget="selectbox",
    format_func=title,
    always=True,
    width=480,
    help="Each is filled from the runs that are stored; others can be started here.",
    persist_state="session",
)
try:
    if part == STUDIES:
        cards.draw()
    elif part in TABLES:
        table.draw(TABLES[part])
    else:
        figures.FIGURES[part].draw()
except DataError as error:
    st.error(words.plain(error), title="The data set for it is not at hand", icon=":material/cloud_off:")
    st.page_link("pages/datasets.py", label="Fetch it", icon=":material/download:")
