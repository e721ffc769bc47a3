"""A detection run at work or ended: part by part, pause, cancel, and what became of it."""

import streamlit as st

from pages.ui.detect import set_up
from pages.ui.detect.view import View
from pages.ui.kit import present, words
from pages.ui.kit.buttons import button
from pages.ui.run import picker, polling, watch
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run


def head(run: Run):
    """Title, state, the recipe in a line, and how far it is; the page is drawn anew when a part more is done. Returns
    the row of the title, for what else is to stand there."""
    row = picker.heading(run)
    if not present.presenting():
        with row:
            help = "Opens the form; this run stays as it is."
            button("New run", "add", "detect_new", set_up.open_form, run, help=help)
    present.about(words.summary(run.recipe))
    drawn = run.parts()

    def render(status):
        if run.parts() != drawn:
            st.rerun()
        _course(run, status, drawn)

    polling.poll(run.id, render)
    return row


def _course(run: Run, status, done: int) -> None:
    if status.state in runs.ACTIVE:
        watch.controls(run, status)
        total = _parts_of(run)
        part = f"part {min(done + 1, total)} of {total}"
        text = ", ".join(filter(None, (part, words.left(status)))) if total else "starting"
        st.progress(min(done / total, 1.0) if total else 0.0, text=text)
    elif status.state != "done":
        watch.ended(run, status)


def _parts_of(run: Run) -> int:
    return task_of(run.recipe).parts(run.recipe)


def nothing_yet(run: Run) -> None:
    """In place of the picture before the first part is judged."""
    if run.state in runs.ACTIVE:
        st.skeleton(height=320)
        st.caption("The curve and the pictures appear once the first part is judged, and grow with each further one.")
    else:
        st.caption("It ended before its first part was judged, so there is nothing to look at.")


def announced(view: View) -> None:
    """Which parts are still to come."""
    total = len(view.experiment.parts)
    if view.parts < total:
        names = [part.name for part in view.experiment.parts[view.parts :]]
        shown = ", ".join(map(words.plain, names[:6])) + ("…" if len(names) > 6 else "")
        kept = "Still to come" if view.run.state in runs.ACTIVE else "Never judged"
        st.caption(
            f"{view.parts} of {total} parts are judged; what stands below is of their pictures. {kept}: {shown}."
        )
