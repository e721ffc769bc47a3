"""One run as a card: what was asked and what came of it, the run that it grew out of, and what can be done with it;
and what can be done with several at a time."""

from contextlib import contextmanager, suppress

import streamlit as st

from pages.ui.figures import curves
from pages.ui.figures.frame import side_by_side
from pages.ui.kit import state, view, ways, words
from pages.ui.kit.ways import button
from pages.ui.recipe import config
from pages.ui.run import exports, picker
from svmcore.lab.analyses import repeats
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import task_of

MOST_COMPARED = 6


def course(run):
    """How the run got there: its gap and its support vectors over time."""
    progress = run.progress()
    own = view.part(run.recipe, "curves")
    if progress and own:
        own(run, progress, f"card_{run.id}")
    elif progress:
        gap, sv = gap_curve(run, progress), curves.sv_curve(progress)
        side_by_side({f"card_gap_{run.id}": gap, f"card_sv_{run.id}": sv}, 2, 320)


def gap_curve(run, progress):
    """Its gap over time, with the names of its machines."""
    classes = view.part(run.recipe, "classes")
    return curves.gap_curve(progress, run.recipe.tol, classes(run) if classes else [])


def headline(run):
    """Title with state, the recipe in a line, the error rate with its interval."""
    picker.heading(run)
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
    if parent is None or (parent.state, run.state) != ("done", "done") or not task_of(run.recipe).answers:
        return
    label = f"Compare with {words.plain(words.short(parent.title, 60))}"
    help = "Shows the errors that this run fixes or adds compared with its parent run."
    ways.to("compare", label, "compare", {"run": run.id, "compare": [parent.id, run.id]}, help=help)


def actions(run: Run, tags: list[str]) -> None:
    """What can be done with one run, in a row that wraps. tags: all that the reader has given to runs."""
    if run.oddity:
        st.caption(f":material/label_off: {words.plain(run.oddity)}. The run is shown without this file.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.session_state.setdefault(f"title_{run.id}", run.title)
        st.text_input(
            "Name", key=f"title_{run.id}", max_chars=120, on_change=_rename, args=(run,), width=360,
            help="Press Enter to rename the run. If empty, the original name is restored.",
        )  # fmt: skip
        st.session_state[f"tags_{run.id}"] = list(run.tags)
        st.multiselect(
            "Tags", [*dict.fromkeys((*run.tags, *tags))], key=f"tags_{run.id}", accept_new_options=True, width=240,
            on_change=_tag, args=(run,), placeholder="none",
            help="Your own keywords for finding the run. Type a new one and press Enter.",
        )  # fmt: skip
        with st.popover("Export", icon=":material/download:", key=f"export_{run.id}"), st.grid(2, min_column_width=240):
            exports.buttons(run)
        if st.button(
            "Train a variation",
            icon=":material/tune:",
            key=f"variation_{run.id}",
            help="Opens the form with this run's recipe.",
        ):
            page = f"pages/{view.form_of(run.recipe).page}.py"
            st.switch_page(page, query_params=config.link(run.recipe) | {"run": run.id})
        help = "Moves the run to the trash; you can undo this. Cancel an active run first."
        button("Delete", "delete", f"delete_{run.id}", picker.delete, run, help=help, disabled=run.state in runs.ACTIVE)


def together(ticked: list[Run]) -> None:
    """What can be done with the runs that are ticked."""
    if not ticked:
        return
    many = words.many(len(ticked), "run")
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{many} ticked**", width="content")
        apart = ticked
        if len(ticked) > MOST_COMPARED:  # of repeats of each other the first one: Compare finds the others by it
            first = {repeats.group(run.recipe).key: run for run in sorted(ticked, key=lambda run: run.id, reverse=True)}
            apart = [run for run in ticked if run in first.values()]
        if 1 < len(apart) <= MOST_COMPARED and st.button(
            f"Compare these {many}" if apart == ticked else f"Compare {len(apart)} runs, including their repeats",
            type="primary",
            icon=":material/compare:",
            key="to_compare",
            help="Shows which errors each run fixes and adds, with the examples.",
        ):  # the oldest first: it is what the others grew out of
            ids = sorted(run.id for run in apart)
            st.switch_page("pages/compare.py", query_params={"run": st.session_state["run"], "compare": ids})
        with st.popover("Tag", icon=":material/label:", key="tag_together"):
            st.text_input("Tag", key="tag_all", max_chars=40, help="A keyword of your own for all ticked runs.")
            off = not st.session_state.get("tag_all", "").strip()
            button("Add", "add", "tag_add", _tag_all, ticked, True, help=f"Adds the tag to {many}.", disabled=off)
            help = "Removes the tag from the ticked runs that have it."
            button("Remove", "remove", "tag_remove", _tag_all, ticked, False, help=help, disabled=off)
        help = "Moves these runs to the trash; you can undo this. Active runs stay."
        button(f"Delete {many}", "delete", "delete_together", picker.delete, *ticked, help=help)


@contextmanager
def _changing():
    """What cannot be changed of a run is said, and holds nothing else up."""
    try:
        yield
    except (ValueError, OSError, runs.UnknownRun) as error:
        why = runs.GONE if isinstance(error, runs.UnknownRun) else error  # another tab deleted it
        state.tell_later(f":material/block: Not changed: {words.plain(why)}")


def _rename(run: Run) -> None:
    with _changing():
        run.rename(st.session_state[f"title_{run.id}"])
    with suppress(runs.UnknownRun):
        st.session_state[f"title_{run.id}"] = run.title


def _tag(run: Run) -> None:
    with _changing():
        run.tag(st.session_state[f"tags_{run.id}"])


def _tag_all(ticked: list[Run], given: bool) -> None:
    tag = " ".join(st.session_state["tag_all"].split())
    for run in ticked:
        with _changing():
            others = [own for own in run.tags if own != tag]
            run.tag([*others, tag] if given else others)
    st.session_state["tag_all"] = ""
