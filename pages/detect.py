"""Detect: look for objects in pictures; the curve, the picture and every window behind it at one operating point."""

import streamlit as st

from data import DataError
from pages.ui.compare import repeats
from pages.ui.detect import one, operate, others, progress, set_up, windows
from pages.ui.detect.more import more
from pages.ui.detect.view import opens_here, view_of
from pages.ui.kit import parameters, present, state, ways, words
from pages.ui.kit.buttons import button
from pages.ui.run import stored
from pages.ui.run.trained import another_run
from svmcore.lab.registry.tasks import task_of


def first_visit(run) -> None:
    """No detection run is shown: the form, what it is about, and the runs there are."""
    if present.presenting():
        shown, form = st.container(), present.form("Look for objects")  # below the figure
    else:
        grid = st.grid(3, min_column_width=270)
        form, shown = grid.cell().container(border=True), grid.cell(column_span=2)
    with form:
        set_up.set_up()
    with shown:
        if others.detection_runs():
            st.info(
                "A machine learns objects from windows of some pictures and looks for them in others. Choose pictures "
                "in the form and press Start; the curve grows part by part, and each window can be asked why it was "
                "taken.",
                title="Pick a run, or start one",
                icon=":material/search:",
            )
        else:
            sample()
        if run is not None and not opens_here(run):
            does = f"{task_of(run.recipe).does} and finds nothing in pictures"
            st.caption(f"The run shown, *{words.plain(run.title)}*, {does}.")
        if run is not None and opens_here(run):
            help = "Closes the form; nothing is started."
            button("Back to the run", "arrow_back", "detect_back", set_up.close_form, help=help)
        for known in others.detection_runs()[:8]:
            label = f"{words.plain(known.title)} · {words.when(known.created)}"
            ways.to("detect", label, "my_location", {"run": known.id})


def sample() -> None:
    """A finished run that comes with the lab."""
    (run,) = stored.samples([set_up.FIRST])
    if run is not None:
        stored.say_samples(
            [run],
            "A machine learned objects from windows of some pictures and looked for them in others: here the first "
            "part of them. Click a mark to ask why. Start puts your own run in its place.",
        )
        view = view_of(run)
        operate.operate(view, [])
        one.show_requested(view)


def look(run) -> None:
    """A detection run, whatever its state."""
    set_up.FORM.clear()
    row = progress.head(run)
    try:
        view = view_of(run)
    except DataError as error:
        st.error(words.plain(error), title="Its pictures are not to be had", icon=":material/broken_image:")
        ways.to("datasets", "To the data sets", "grid_view")
        return
    if view is None:
        progress.nothing_yet(run)
        return
    progress.announced(view)
    with row:
        compared = others.compared(view)
    operate.operate(view, compared)
    others.differences(view, compared)
    those = [view, *compared]
    repeats.section([others.name(each, those) for each in those], [each.run for each in those])
    more(view, compared)
    one.show_requested(view)


st.title("Detect")
parameters.read("at", "", ())  # a threshold on the tab beside; here it follows from the false alarms
windows.found_in_old_links()
run = state.current_run()
if set_up.is_open(run):
    first_visit(run)
else:
    another_run(run, "detect")
    look(run)
