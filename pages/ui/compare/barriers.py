"""Runs that cannot be compared with the reference: why, one by one, and the way out."""

import streamlit as st

from data import DataError
from pages.ui.compare.laid import RUNS
from pages.ui.kit import view, ways, words
from pages.ui.kit.buttons import button
from pages.ui.recipe import starting
from pages.ui.run import polling, stored
from svmcore.lab.experiment import comparison
from svmcore.lab.experiment.comparison import Reason
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.store.runs import Run

ICONS = {
    comparison.DAMAGED: ":material/broken_image:",
    comparison.UNFINISHED: ":material/progress_activity:",
}
TRAINED_ANEW = (comparison.ENDED, comparison.DATA, comparison.CLASSES, comparison.PART, comparison.EXAMPLES)


def draw(reasons: dict[str, tuple[Run, Reason]], reference: Run | None) -> None:
    """Each run that is left out, with its reason and what can be done about it."""
    for letter, (run, reason) in reasons.items():
        home = view.home_of(run.recipe) if reason.kind == comparison.ANSWERLESS else None
        icon = home.icon if home else ICONS.get(reason.kind, ":material/block:")
        with st.container(border=True, horizontal=True, vertical_alignment="center"):
            title = words.plain(words.short(run.title, 80))
            st.markdown(f"{icon} **{letter} · {title}** is not compared. {words.plain(reason.text)}", width="stretch")
            if home:
                label = f"Compare it on {home.title}"
                st.page_link(**home._replace(label=label).link(run.id), icon=home.icon)
            elif reason.kind == comparison.UNFINISHED:
                polling.poll(run.id, _at_work)
                ways.to("train", "Watch it", "play_circle", {"run": run.id})
            elif reason.kind == comparison.REPLACED:
                st.caption("Train both again on the data set as it is now.")
            elif reason.kind in TRAINED_ANEW and reference is not None:
                _offer(letter, run, reference)


def _at_work(status) -> None:
    """How far a run is that is waited for."""
    if status.progress:
        st.caption(words.held_so_far(status.progress), width="content")


def _offer(letter: str, run: Run, reference: Run) -> None:
    """Train its recipe on the reference's examples, with what that will take."""
    try:
        recipe = comparison.on_same_examples(run, reference)
        need = estimate(recipe)
    except (RecipeError, DataError) as error:
        st.caption(f"Its recipe does not go with the reference's examples: {words.plain(error)}")
        return
    ready = stored.stored([recipe])[0]
    ready = ready if ready is not None and comparison.unfit(ready) is None else None
    label, icon = f"Train {letter} on the same examples", "play_arrow"
    if ready:
        label, icon = f"Compare {letter}'s twin on the same examples", "compare"
    args, off = (run.id, recipe, reference.id, ready and ready.id), not (ready or need.fits)
    help = "Its recipe with data set, split, classes and seed of the reference; the new run takes its place here."
    button(label, icon, f"same_examples_{letter}", _replace, *args, help=help, disabled=off)
    if not ready:
        st.caption(f"about {words.duration(need.seconds)}" if need.fits else words.plain(need.advice), width="content")


def _replace(old: str, recipe: Recipe, parent: str, ready: str | None) -> None:
    """Callback: put the run on the same examples, trained or to be trained, in the place of the other one."""
    with starting.asking():
        new = ready or starting.submit(recipe, parent=parent)
        chosen = (new if run_id == old else run_id for run_id in st.session_state[RUNS])
        st.session_state[RUNS] = list(dict.fromkeys(chosen))
