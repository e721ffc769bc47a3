"""The run that the inspection pages show, or a plain word on why there is nothing to inspect yet."""

from collections.abc import Callable

import streamlit as st

from data import DataError
from pages.ui.example import evidence
from pages.ui.figures.curves import mean_gap
from pages.ui.kit import present, roles, state, view, ways, words
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain
from pages.ui.run import polling
from svmcore.lab.store import runs
from svmcore.lab.store.runs import ACTIVE, Run
from svmcore.lab.tasks import task_of

WAITING = {
    "queued": "It is waiting in the queue.",
    "running": "This page shows its results when it has finished.",
    "paused": "Resume it on the Train page.",
}
ENDED = {
    "failed": "The run failed before its end.",
    "cancelled": "The run was cancelled before its end.",
    "interrupted": "The run was interrupted: the server was closed or the computer was switched off before its end.",
}


def trained_run() -> Run | None:
    """The current run when its machine and its test are there; otherwise None, and the reason on screen."""
    run = state.current_run()
    if st.session_state.get("run") and run is None:  # it is damaged, as the picker says
        return None
    if run is None:
        nothing("**No run yet.** Train a machine first; this page shows its results.")
        return None
    st.caption(words.summary(run.recipe))
    if not (task := task_of(run.recipe)).answers:
        with st.container(border=True):
            told = ENDED.get(run.state) or view.part(run.recipe, "told") or "Its results are on the page *Train*."
            st.markdown(f"**This run {task.does}.** {told}")
            to_home(run)
        return None
    if not finished(run, lambda: _to_train("Train again")):
        _to_finished()
        return None
    run.check()
    try:
        evidence.data_of(run)
    except DataError as error:
        st.error(plain(error), title="No examples to show", icon=":material/broken_image:")
        return None
    return run


def _to_finished() -> None:
    """The way to the newest run that has something to inspect, if there is one."""
    done = (one for one in runs.newest_first() if one.state == "done" and task_of(one.recipe).answers)
    if newest := next(done, None):
        help = "The newest finished run. Other runs are in the list above the menu."
        button(f"Show {plain(newest.title)}", "history", "show_finished", state.show_run, newest.id, help=help)


def nothing(why: str, **query) -> None:
    """Why there is nothing to see yet, and the way to Train, with this address. In a class students do not train: they
    wait for the teacher."""
    with st.container(border=True):
        st.markdown(why if roles.teacher() else "The teacher shows no run yet.")
        ways.to("train", "Train a machine", "play_circle", query)


def finished(run: Run, otherwise: Callable[[], None], what: str = "There is nothing to inspect.") -> bool:
    """Whether a run has a result; until then what it waits for, or why it has none, with the way on."""
    if run.state in ACTIVE:
        polling.poll(run.id, waiting)
    elif run.result is None:
        show = st.error if run.state == "failed" else st.warning
        show(plain(run.message) or what, title=ENDED[run.state])
        otherwise()
    return run.state not in ACTIVE and run.result is not None


def another_run(run: Run, page: str, **first) -> bool:
    """Filters belong to the run they were set for: whether another one is shown since, which sets them to `first`."""
    before = st.session_state.get(f"{page}_run", run.id)
    st.session_state[f"{page}_run"] = run.id
    if before != run.id:
        st.session_state.update(first)
    return before != run.id


def to_home(run: Run) -> None:
    """The way to the page that a run opens on."""
    home = view.home_of(run.recipe)
    ways.link(home.link(run.id), icon=home.icon)


def to_labels(run: Run, doubted: str) -> None:
    """The way to the page that judges the labels of a run's data: of its "train" or "test" examples."""
    if not present.presenting():
        help = "Review likely label errors and train on your corrections."
        ways.to("labels", "Review likely label errors", "gavel", {"run": run.id, "doubted": doubted}, help=help)


def waiting(status) -> None:
    """What a run at work waits for, as far as it is, and the way to watch it."""
    with st.container(border=True):
        st.markdown(f"**The run is {status.state}.** {WAITING.get(status.state, '')}")
        if status.progress:
            if left := words.left(status, "About {} left"):
                st.markdown(f"{left}.")
            st.caption(
                f"Optimality gap {words.small(mean_gap(status.progress))}, {words.held_so_far(status.progress)}."
            )
        _to_train("Watch it on the Train page")


def _to_train(label: str) -> None:
    run_id = st.session_state.get("run")  # of the address nothing else: Train would not know it
    ways.to("train", label, "play_circle", {"run": run_id} if run_id else {})
