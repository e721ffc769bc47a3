"""Compare: two or more runs on the same test examples: what one fixes and what it breaks, and whether by chance."""

import streamlit as st

from pages.compare import empty, galleries, tables
from pages.ui.compare import laid, pairs, repeats
from pages.ui.kit import parameters, present, state
from pages.ui.recipe import data_set

VIEWS = {"pair": "Two runs", "all": "All runs"}


def examples(those):
    """The examples on which runs differ, two by two or all together."""
    view, every = "pair", pairs.all_pairs(those.answers)
    if len(those.runs) > 2:
        pairs.matrix(those, every)
        view = parameters.choice("compare.view", VIEWS, format_func=VIEWS.get, key=laid.key("view"))
    if view == "all":
        galleries.sets(those)
        return
    other = pairs.against(those)
    above = st.container()
    galleries.pair(those, other)
    with present.below(above):
        pairs.verdict(those, other, every)


parameters.own(
    view=VIEWS, shown=galleries.SHOWN, reference=state.check_run, against=state.check_run, labels=tables.check_letters,
    asks=list(laid.LETTERS), change=data_set.check_cell, roc=data_set.check_class, sheet=slice(1, None),
)  # fmt: skip
above = st.container()
with present.form("Runs"), st.container(horizontal=True, vertical_alignment="top"):
    chosen = laid.pick()
    if not chosen:
        with above:
            chosen = empty.sample()
    those, reasons = laid.lay(chosen)
reference = those and those.runs[those.reference]
empty.barriers(reasons, reference)
if those is None or len(those.runs) < 2:
    empty.suggest(chosen)
else:
    those = tables.by_labels(those)
    places = present.parts(["In numbers", "Fixed and broken", "ROC", "Settings that differ"])
    with places[0]:
        with st.container(key="compare_runs_told"):
            tables.numbers(those)
        repeats.section(those.letters, those.runs, those.reference)
    with places[1]:
        examples(those)
    with places[2]:
        tables.roc(those)
    with places[3]:
        tables.differences(those)
        tables.exports(those)
