"""One run as a card: what was asked and what came of it, and the run that it grew out of."""

import streamlit as st

from pages.ui.figures import curves
from pages.ui.figures.frame import show
from pages.ui.kit import words
from pages.ui.run import picker
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run


def course(run):
    """How the run got there: its gap and its support vectors over time."""
    if progress := run.progress():
        with st.grid(2, min_column_width=320):
            for key, figure in (
                ("gap", curves.gap_curve(progress, run.recipe.tol)),
                ("sv", curves.sv_curve(progress)),
            ):
                with st.container():
                    show(figure, key=f"card_{key}_{run.id}")


def headline(run):
    """Title with state, the recipe in a line, the error rate with its interval."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(words.plain(run.title), width="content")
        picker.badge(run.state)
    st.caption(words.summary(run.recipe))
    if result := run.result:
        st.markdown(f"**{words.error_rate(result)}**, trained in {words.duration(words.training_seconds(result))}")
    elif run.message:
        st.markdown(words.plain(run.message))


def parent_of(run: Run) -> Run | None:
    """The run that it grew out of, if it is still there and intact."""
    try:
        parent = runs.get(run.parent) if run.parent else None
    except runs.UnknownRun:
        return None
    return None if parent is None or parent.damage else parent


def to_compare(run: Run) -> None:
    """The way to the page that lays a finished run beside the one that it grew out of, when that is there and done."""
    parent = parent_of(run)
    if parent is None or (parent.state, run.state) != ("done", "done") or run.recipe.task != "classify":
        return
    st.page_link(
        "pages/compare.py",
        label=f"Compare with {words.plain(words.short(parent.title, 60))}",
        icon=":material/compare:",
        query_params={"run": run.id, "compare": [parent.id, run.id]},
        help="What this run mends and what it breaks of the run that it grew out of.",
    )
