"""What trains behind the Playground: one quiet line that follows a run of ten machines on real digits.

A file of its own, as it needs the library, which the first picture of the page does not wait for.
"""

import streamlit as st

from pages.ui.kit import words
from pages.ui.run.polling import poll
from svmcore.lab.presets import PRESET
from svmcore.lab.store import runs
from svmcore.lab.tasks import task_of


def line() -> None:
    """Follow the preset's newest run until it has ended; where there is none, nothing."""
    mine = [run for run in runs.everything() if not run.damage and run.recipe.name == PRESET]
    if mine:
        run = max(mine, key=lambda run: run.created)
        poll(run.id, lambda status: _line(run, status))


def newest_done() -> str | None:
    """Id of the newest finished run of classified images, the preset's before others; None where there is none."""
    done = [run for run in runs.everything() if run.state == "done" and task_of(run.recipe).answers]
    best = max(done, key=lambda run: (run.recipe.name == PRESET, run.created), default=None)
    return best and best.id


def _line(run, status) -> None:
    n = run.recipe.n_train
    what = f"Ten machines on {n:,} real digits"
    if status.state == "done":
        result = runs.get(run.id).result or {}
        wrong = f"{result['errors']:,} of {result['n_test']:,} test digits wrong" if "errors" in result else "done"
        st.caption(
            f"{what} were trained in the background: {wrong}. The link *See why real digits fail* shows the errors."
        )
        return
    if status.state in runs.ACTIVE:
        st.caption(f":material/progress_activity: {what}, training in the background: {_share(status)}.")
        return
    st.caption(f"{what}: {status.state}. {words.plain(status.message)}")


def _share(status) -> str:
    """How far it is, in words."""
    seconds, left = (status.progress or {}).get("seconds"), status.eta_seconds
    if status.state != "running":
        return status.state
    if not seconds or left is None:
        message = words.plain(status.message) or "starting"
        return message[0].lower() + message[1:]
    return f"{100 * seconds / (seconds + max(left, 0.0)):.0f} %"
