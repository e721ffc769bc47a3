"""Detect: look for objects in pictures; the curve, the picture and every window behind it at one operating point."""

from contextlib import suppress

import streamlit as st

from data import DataError, NotAtHand, pictures
from data.pictures import drawing
from pages.detect import one, operate, others, set_up, windows
from pages.detect.more import LOOKS, more
from pages.detect.view import View, opens_here, view_of
from pages.ui.compare import repeats
from pages.ui.kit import parameters, present, roles, state, ways, words
from pages.ui.kit.ways import button
from pages.ui.recipe import config
from pages.ui.run import picker, polling, stored, watch
from pages.ui.run.trained import another_run
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import task_of

LARGE = 900  # pixels of a picture


def head(run: Run):
    """Title, recipe and progress; the page is redrawn with each further split. Returns the title's row."""
    row = picker.heading(run)
    if roles.teacher() and not present.presenting():
        with row:
            help = "Opens the form; this run stays as it is."
            button("New run", "add", "detect_new", st.session_state.update, {set_up.OPEN: run.id}, help=help)
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
        total = task_of(run.recipe).parts(run.recipe)
        part = f"split {min(done + 1, total)} of {total}"
        text = ", ".join(filter(None, (part, words.left(status)))) if total else "starting"
        st.progress(min(done / total, 1.0) if total else 0.0, text=text)
    elif status.state != "done":
        watch.ended(run, status)


def nothing_yet(run: Run) -> None:
    """In place of the picture before the first part is judged."""
    if run.state in runs.ACTIVE:
        st.skeleton(height=320)
        st.caption(
            "The curve and the pictures appear when the first split has been evaluated. Every further split adds more."
        )
    else:
        st.caption("The run ended before its first split was evaluated, so there are no results.")


def announced(view: View) -> None:
    """Which parts are still to come."""
    total = len(view.experiment.parts)
    if view.parts < total:
        names = [part.name for part in view.experiment.parts[view.parts :]]
        shown = ", ".join(map(words.plain, names[:6])) + ("…" if len(names) > 6 else "")
        kept = "Pending" if view.run.state in runs.ACTIVE else "Not evaluated"
        st.caption(
            f"{view.parts} of {total} splits are evaluated; the results below cover their pictures. {kept}: {shown}."
        )


def first_visit(run) -> None:
    """No detection run is shown: the form, what it is about, and the runs there are."""
    if present.presenting():
        shown, form = st.container(), present.form("Detect objects")  # below the figure
    else:
        grid = st.grid(3, min_column_width=270)
        form, shown = grid.cell().container(border=True), grid.cell(column_span=2)
    with form:
        if roles.teacher():
            set_up.set_up()
        else:
            set_up.FORM.seed(lambda: set_up.FIRST)  # whose sample is shown
            st.caption("In a class the teacher starts detection runs. Choose a run to see its results.")
    with shown:
        if others.detection_runs():
            st.info(
                "A machine learns objects from windows of some pictures and detects them in others."
                + (" Choose pictures in the form and press Start." if roles.teacher() else "")
                + " The curve of detections against false alarms grows split by split. Click a window to see why it "
                "has its score.",
                title="Choose a run, or start one" if roles.teacher() else "Choose a run",
                icon=":material/search:",
            )
        elif set_up.FORM.base.dataset == set_up.FIRST.dataset:
            sample()
        else:
            to_search()
        if run is not None and not opens_here(run):
            does = f"{task_of(run.recipe).does} and does not detect objects"
            st.caption(f"The run shown, *{words.plain(run.title)}*, {does}.")
        if run is not None and opens_here(run):
            help = "Closes the form; nothing is started."
            button("Back to the run", "arrow_back", "detect_back", set_up.close_form, help=help)
        picker.ways_to("detect", others.detection_runs()[:8], "my_location")


def sample() -> None:
    """A finished run that comes with the lab."""
    (run,) = stored.samples([set_up.FIRST])
    if run is not None:
        stored.say_samples(
            [run],
            "A machine learned objects from windows of some pictures and detected them in others. This sample shows "
            "the first split. Click a mark in the picture to see the reasons for its score."
            + " Start replaces the sample with your own run."
            * roles.teacher(),
        )
        view = view_of(run)
        operate.operate(view, [])
        one.show_requested(view)


def to_search() -> None:
    """One of the pictures of the form's recipe, of which there is no run, with what is to be detected in it."""
    entry = pictures.entry(set_up.FORM.base.dataset)
    title = words.plain(entry.title)
    with suppress(NotAtHand):  # the form says so
        found = entry.load()
        picture = max((found.pictures[k] for k in next(iter(found.experiments.values())).tested), key=_n_objects)
        image = drawing.outlined(picture, entry.shape, LARGE)
        objects = words.many(_n_objects(picture), entry.object_name)
        said = "A machine learns the objects from windows of other pictures. Press Start to detect them here."
        st.info(said, title=f"No run on {title} yet", icon=":material/search:")
        st.image(image, width="stretch", output_format="PNG", alt=f"A picture of {entry.title}, its objects outlined")
        st.caption(
            f"{words.plain(picture.name)} is one of the pictures of {title} that are searched. Outlined: {objects}."
        )


def _n_objects(picture: pictures.Picture) -> int:
    return len(picture.boxes)


def show_run(run) -> None:
    set_up.FORM.clear(but={"seed"} if st.session_state.get("lesson_at") else ())  # a lesson's seed stays
    row = head(run)
    try:
        view = view_of(run)
    except DataError as error:
        st.error(words.plain(error), title="The pictures of this run are not available", icon=":material/broken_image:")
        ways.to("datasets", "Open Datasets", "grid_view")
        return
    if view is None:
        nothing_yet(run)
        return
    announced(view)
    shown = st.container()
    with present.below(row):
        compared = others.compared(view)
    with shown:
        operate.operate(view, compared)
    others.differences(view, compared)
    those = [view, *compared]
    repeats.section([others.name(each, those) for each in those], [each.run for each in those])
    more(view, compared)
    one.show_requested(view)


parameters.own(
    "picture", "by",
    **config.fields(), window=one.check, gallery=windows.KINDS, beside=state.check_run, fa=slice(0.0, None),
    axis=operate.AXES, per=operate.UNITS, more=LOOKS, flip=slice(1, None), page=slice(1, None),
)  # fmt: skip
windows.found_in_old_links()
run = state.current_run()
if set_up.is_open(run):
    first_visit(run)
else:
    another_run(run, "detect")
    show_run(run)
