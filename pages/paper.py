"""Paper: what the four papers say, item by item, beside what comes out here; their tables and figures from runs."""

from collections import Counter

import streamlit as st

from data import DataError
from pages.paper import cards, figures, outline, table
from pages.paper.outline import PAPERS
from pages.ui.kit import parameters, ways, words
from pages.ui.run import polling, stored
from pages.ui.studies import study
from svmcore.lab.forecast import seconds_of
from svmcore.lab.papers import TABLES
from svmcore.lab.presets import xtrain
from svmcore.lab.store import runs

STUDIES = "studies"
SHOWN = [STUDIES] + [part for paper in PAPERS.values() for part in (paper.name, *paper.shown)]


def title(part: str) -> str:
    if part in PAPERS:
        return "Section by section"
    return TABLES[part].title if part in TABLES else figures.FIGURES[part].title


def first_table(recipe):
    """What a run is started for: the first table that it fills, or its study; None for one of neither."""
    studies = (xtrain.group(name) for name in xtrain.STUDIES if recipe.name.startswith(name))
    return next((table.group for table in TABLES.values() if recipe.name in table.recipes), next(studies, None))


def all_runs(paper):
    """How much of the paper is there, and the button that queues the rest."""
    found = runs.stored(recipes := paper.every)
    done = sum(run is not None and run.state == "done" for run in found)
    working = [run for run in found if run is not None and run.state in runs.ACTIVE]
    missing = [recipe for recipe, run in zip(recipes, found, strict=True) if not runs.available(run)]
    absent = stored.lacking(missing)
    lacking = Counter(recipe.dataset for recipe in absent)
    possible = [recipe for recipe in missing if recipe not in absent]
    left = seconds_of(possible, study.needs(possible))
    wanted = ", ".join(f"{name} (for {words.many(count, 'run')})" for name, count in sorted(lacking.items()))
    with st.container(horizontal=True, vertical_alignment="center"):
        stored.buttons(recipes, found, "Run all", "Queues all missing runs of this paper.", key="paper",
                       group=first_table)  # fmt: skip
        st.caption(
            f"{done} of {len(recipes)} runs are stored"
            + (f", {len(working)} are running or queued" if working else "")
            + (f"; the runs not queued yet take about {words.duration(left)}" if left else "")
            + (f"; to be downloaded on *Datasets*: {wanted}." if wanted else "."),
            width="content",
        )
    polling.poll_all([run.id for run in working], lambda statuses: None)  # runs of other tables change the count too


def draw(paper):
    """The part of a paper that is chosen, its items at first."""
    above = st.container()
    part = parameters.choice(
        "paper.show", [paper.name, *paper.shown], format_func=title, always=True, known=st.query_params.get_all("show")
    )
    try:
        if part == paper.name:
            outline.draw(paper)
        elif part in TABLES:
            table.draw(TABLES[part])
        else:
            figures.FIGURES[part].draw()
    except DataError as error:
        st.error(words.plain(error), title="The dataset is not available", icon=":material/cloud_off:")
        ways.to("datasets", "Download the dataset", "download")
    with above:
        all_runs(paper)  # last: forecasts of a hundred runs take seconds


parameters.own(state=[outline.ALL, *outline.STATES], section=outline.SECTIONS, **figures.PARAMS)
name = parameters.choice(
    "paper.paper",
    [STUDIES, *PAPERS],
    outline.of(parameters.read("show", "", SHOWN)) or STUDIES,
    key="paper_name",
    format_func=lambda name: "All studies, as cards" if name == STUDIES else PAPERS[name].short,
)
if name == STUDIES:
    cards.draw()
else:
    draw(PAPERS[name])
