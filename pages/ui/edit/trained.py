"""The run shown, where it is one that leaves training examples out; a way to start one, and to those there are."""

import streamlit as st

from data import DataError
from pages.ui.edit import choice, look
from pages.ui.example import evidence
from pages.ui.kit import present, state, ways, words
from pages.ui.recipe import config, starting
from pages.ui.run import picker, stored, watch
from pages.ui.run.trained import to_labels
from svmcore.lab import jobs
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.store import runs
from svmcore.lab.store.reading import Group
from svmcore.lab.store.runs import Run

LISTED = 6  # edited runs to choose from


def view() -> None:
    """A run, or why there is none to see."""
    run = state.current_run()
    edits_now = run is not None and edits(run)
    with present.form("Start one"):
        if edits_now:
            with st.expander("Start another", icon=":material/add:"):
                _box()
        else:
            _box()
    if not edits_now:
        _others(run)
        return
    if run.state != "done":
        watch.watch(run)
        return
    run.check()
    st.subheader(words.plain(run.title))
    st.caption(words.summary(run.recipe))
    to_labels(run, "train")
    try:
        evidence.data_of(run)
    except DataError as error:
        st.error(words.plain(error), title="There are no examples to show", icon=":material/broken_image:")
        return
    look.draw(run)


def edits(run: Run) -> bool:
    """Whether its method leaves training examples out."""
    return not run.damage and "roles" in METHODS[run.recipe.method].result_fields


def _others(run: Run | None) -> None:
    """Where the run shown has nothing to do with editing: those that have."""
    found = [one for one in runs.newest_first() if edits(one)][:LISTED]
    if run is not None:
        st.caption(f"The run shown, *{words.plain(words.short(run.title, 60))}*, throws no example away.")
    if not found:
        st.info(
            "Start both: what was thrown away appears here, with the examples themselves, as soon as they are done.",
            title="No run has thrown examples away yet", icon=":material/content_cut:",
        )  # fmt: skip
        return
    st.markdown("**Runs that did**")
    named = picker.labels(runs.newest_first())
    for one in found:
        with st.container(horizontal=True, vertical_alignment="center"):
            st.button(
                words.plain(named[one.id]), key=f"see_{one.id}", type="tertiary", icon=":material/arrow_forward:",
                on_click=state.show_run, args=(one.id,), help="Makes it the run shown on every page.",
            )  # fmt: skip
            picker.badge(jobs.status(one.id).state)


def _box() -> None:
    """Data set, classes and noise; Start."""
    try:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            base = choice.field()
            noise = choice.flipped()
        if base is None:
            return
        plain = choice.named(base.replace(noise=noise))
        recipe = choice.named(METHODS[choice.METHOD].usual(plain))
        needs = [estimate(one) for one in (plain, recipe)]
    except (DataError, ValueError) as error:
        st.error(words.plain(error), icon=":material/block:")
        return
    unfit = next((need.advice for need in needs if not need.fits), "")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Start both", type="primary", icon=":material/play_arrow:", key="edit_start", on_click=_start,
            args=(plain, recipe), disabled=bool(unfit),
            help="A plain machine and a cross-trained one of the same examples, one after the other.",
        )  # fmt: skip
        seconds = sum(need.seconds for need in needs)
        said = words.plain(unfit) if unfit else f"About {words.duration(seconds)} for both."
        st.caption(said, width="content")
        help = "The same recipe in the form of the Train page: subsets, C, kernel, preprocessing."
        ways.to("train", "All settings", "tune", config.link(recipe), help=help)
        help = "A table or images of two classes or more; then choose it here."
        ways.to("datasets", "Add your own data", "upload", {"set": "new"}, help=help)


def _start(plain: Recipe, recipe: Recipe) -> None:
    """Callback: queue what is missing of both; the edited one is the run shown from now on."""
    group = Group.of("edit", f"Cross-training · {plain.title}", plain.digest())
    with starting.asking():
        ready = stored.stored([plain, recipe])
        if not stored.kept(ready[0]):
            starting.submit(plain, looks=False, group=group)
        run_id = ready[1].id if stored.kept(ready[1]) else starting.submit(recipe, group=group)
        state.show_run(run_id)
        starting.tell_started(run_id, "The edited machine")
