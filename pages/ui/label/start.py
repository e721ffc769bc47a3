"""A run without folds cannot doubt its own training labels, as its machine was made to agree with them: what is
missing, and the run that has it."""

import streamlit as st

from data import DataError
from pages.ui.kit import state, words
from pages.ui.kit.words import plain
from pages.ui.recipe import config
from pages.ui.run import stored
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.store.runs import Run

FOLDS = 5


def missing(run: Run) -> None:
    """Say it, and offer the same recipe with folds."""
    with st.container(border=True):
        st.markdown(
            f"**This run has no folds.** A machine doubts a training label only where it was trained without it: the "
            f"same recipe in {FOLDS} parts, each held out once, tells which labels the others disagree with. *Test* "
            "above needs none."
        )
        try:
            recipe = run.recipe.replace(folds=FOLDS, name="custom", title=f"{run.title}, {FOLDS} folds"[:120])
            need = estimate(recipe)
        except (DataError, RecipeError) as error:
            st.caption(f"It cannot be run so: {plain(error)}")
            return
        there = stored.stored([recipe])[0]
        there = there if stored.kept(there) else None
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                "Show the run with folds" if there else f"Train it with {FOLDS} folds",
                type="primary", icon=":material/play_arrow:", key="label_folds",
                on_click=_start, args=(recipe, run.id, there and there.id), disabled=not (there or need.fits),
                help="It becomes the run shown; its suspects appear here when it is done.",
            )  # fmt: skip
            said = f"About {words.duration(need.seconds)}." if need.fits else plain(need.advice)
            st.caption("It is there already." if there else said, width="content")


def _start(recipe: Recipe, parent: str, there: str | None) -> None:
    """Callback: the run with folds is the one shown, queued if there is none."""
    with config.asking():
        state.show_run(there or config.submit(recipe, parent=parent))
