"""Train: set up a run on the left, watch the chosen one on the right; one just started has the page to itself."""

import streamlit as st

from pages.ui.kit import present, state, ways
from pages.ui.kit.buttons import button
from pages.ui.recipe import config, form, presets, starting
from pages.ui.run import watch
from svmcore.lab.forecast.estimate import estimate


@state.fragment
def set_up():
    """The form, what the run will need, and Start."""
    st.subheader("New run")
    menu, head = st.container(), st.container()
    beside = st.container(horizontal=True, vertical_alignment="bottom", horizontal_alignment="distribute")
    recipe = form.recipe_form(beside, head)
    with menu:
        presets.menu(recipe)
    if recipe is None:
        return
    need = estimate(recipe)
    with head:
        start = st.container()
        with beside:
            times = starting.times()
        with start:
            starting.start_button(need, "start", starting.start, (recipe, None, times), times=times)
        if need.fits:
            ways.to("sweep", "Choose C by cross-validation", "tune", config.link(recipe))
        presets.standing(recipe)  # below Start, which keeps its place


st.title("Train")
run = state.current_run()
alone = starting.folded(run) or (run is not None and present.presenting())
# Both layouts are a grid of two cells: what a run's fragment still sends while the page changes has a place to go.
grid = st.grid(3, min_column_width=270)
with grid.cell(column_span=3 if alone else 1):
    if present.presenting() and run:
        pass
    elif alone:
        button("New run", "add", "new_run", starting.unfold, run, help="Opens the form again, as this run was asked.")
    else:
        with st.container(border=True):
            set_up()
with grid.cell(column_span=3 if alone else 2):
    if run:
        watch.watch(run)
    else:
        st.info(
            "Choose data, kernel and C on the left and press Start. The support vectors and the errors appear here "
            "while the machine converges.",
            title="Nothing trained yet",
            icon=":material/play_circle:",
        )
