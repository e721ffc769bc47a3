"""The queue where it can be seen: what is at work, what waits and in which order, with a way to change it.

Runs are trained one at a time, on a cluster one on each worker; those that wait have their turn in the order in which
they came, runs of seconds first, until it is changed.
"""

import streamlit as st

from pages.ui.kit import present, state, ways, words
from pages.ui.kit.ways import button
from pages.ui.run import picker
from svmcore.lab import jobs
from svmcore.lab.jobs.cluster import CLUSTER
from svmcore.lab.store import runs, titles

PERIOD = 1.0  # seconds between two looks
MOVES = {  # what `jobs.move` is told -> (icon, help)
    "first": ("vertical_align_top", "Moves this run to the front of the queue."),
    "sooner": ("arrow_upward", "Moves this run up by one place."),
    "later": ("arrow_downward", "Moves this run down by one place."),
}
ORDINALS = ("Next", "Second", "Third")


def place(status) -> str:
    """Where a queued run stands: its place, what is ahead and about how long that takes."""
    named = _names()
    nth = sum(jobs.status(run_id).state == "queued" for run_id in status.ahead)
    where = ORDINALS[nth] if nth < len(ORDINALS) else f"Number {nth + 1}"
    if CLUSTER.places() == 0:
        return f"{where} in the queue. {words.plain(status.message)}."
    if not status.ahead:
        return f"{where} in the queue; it starts as soon as the cores are free."
    more = [f"{len(status.ahead) - 2} more"] if len(status.ahead) > 2 else []
    listed = ", then ".join([*(words.plain(named.get(run_id, run_id)) for run_id in status.ahead[:2]), *more])
    return f"**{where} in the queue.** Ahead: {listed}. It starts in about {words.duration(status.wait_seconds)}."


def panel(run=None) -> None:
    """The queue, once something waits, open if this run does; without a run, open once one is at work."""
    waiting, active = jobs.waiting(), jobs.active()
    if present.presenting() or not (waiting if run else active):
        return
    states = [jobs.status(run_id).state for run_id in active if run_id not in waiting]
    named = {"running": states.count("running"), "paused": states.count("paused"), "waiting": len(waiting)}
    counts = [f"{n} {word}" for word, n in named.items() if n]
    with st.expander(
        f"Queue: {', '.join(counts)}", expanded=run is None or run.id in waiting, icon=":material/low_priority:",
        key="queue_panel",
    ):  # fmt: skip
        state.watch((active, waiting), lambda: (jobs.active(), jobs.waiting()), lambda: _rows(active, waiting), PERIOD)


def _rows(active, waiting) -> None:
    named = _names()
    for run_id in [run_id for run_id in active if run_id not in waiting]:
        _at_work(run_id, named)
    fresh = [run_id for run_id in waiting if not jobs.status(run_id).progress]
    for number, run_id in enumerate(waiting, 1):
        _waits(number, run_id, fresh, named)


def _at_work(run_id: str, named: dict[str, str]) -> None:
    """One that is at work, or paused: how long it takes yet, and what can be done about it."""
    status = jobs.status(run_id)
    with st.container(horizontal=True, vertical_alignment="center"):
        picker.badge(status.state)
        _link(run_id, named)
        st.caption(words.left(status, "about {} left"), width="content")
        st.space("stretch")
        with st.container(horizontal=True, gap="small", width="content"):
            hold_and_cancel(run_id, status, (f"queue_hold_{run_id}", f"queue_cancel_{run_id}"), type="tertiary")


def hold_and_cancel(run_id: str, status, keys: tuple[str, str], off: bool = False, **how) -> None:
    """Buttons that pause or resume a run, and that cancel it. off: it takes no orders yet."""
    paused = status.state == "paused"
    hold, label, icon = (jobs.resume, "Resume", "play_arrow") if paused else (jobs.pause, "Pause", "pause")
    stops, goes_on = "Stops the solver between two steps and keeps its state.", "Continues where the solver was paused."
    help, not_yet = goes_on if paused else stops, off or status.state == "queued"
    button(label, icon, keys[0], state.callback(hold), run_id, help=help, disabled=not_yet, **how)
    help = "Stops the run now. It stays in the list, with the results that it has."
    button("Cancel", "stop", keys[1], state.callback(jobs.cancel), run_id, help=help, disabled=off, **how)


def _waits(number: int, run_id: str, fresh: list[str], named: dict[str, str]) -> None:
    """One that waits: its place and the time until its turn, and what can be done about it."""
    status, at = jobs.status(run_id), fresh.index(run_id) if run_id in fresh else None
    off = {"first": not at, "sooner": not at, "later": at is None or at == len(fresh) - 1}
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"**{number}**", width="content")
        _link(run_id, named)
        if status.wait_seconds:
            st.caption(f"in about {words.duration(status.wait_seconds)}", width="content")
        st.space("stretch")
        with st.container(horizontal=True, gap="small", width="content"):  # together, where there is no room beside
            for to, (icon, help) in MOVES.items():
                key, move, how = f"queue_{to}_{run_id}", state.callback(jobs.move), {"disabled": off[to]}
                button(to.capitalize(), icon, key, move, run_id, to, help=help, type="tertiary", **how)
            help = "Removes the run from the queue. It stays in the list of runs as cancelled and can be started again."
            key, cancel = f"queue_out_{run_id}", state.callback(jobs.cancel)
            button("Remove", "close", key, cancel, run_id, help=help, type="tertiary")


def _link(run_id: str, named: dict[str, str]) -> None:
    label = words.plain(words.short(named.get(run_id, run_id), 60))
    ways.link({"page": "pages/train.py", "label": label, "query_params": {"run": run_id}}, help="Opens this run.")


@runs.one_look()
def _names() -> dict[str, str]:
    """Run id -> what the picker calls it, so that two of one recipe are told apart."""
    return titles.of_runs(runs.everything())
