"""Hidden parts: how f changes when a square of the picture is hidden, for several runs side by side.

Blue parts speak for the class, orange ones against it. A cross marks a square without which the prediction is another.
"""

import streamlit as st

from pages.ui.figures.frame import show
from pages.ui.figures.maps import hidden_map
from pages.ui.kit import parameters
from pages.ui.kit.words import plain, short
from pages.ui.why import holds
from pages.ui.why.answer import Answer, Shown, answer, deciding, form_pictures, is_image, machine_of, value
from svmcore.explain.hidden import FILLS, Hidden, least_side, occlusion
from svmcore.lab.methods import METHODS
from svmcore.lab.store.runs import Run
from svmcore.model import Machine, answers

SIDE, FILL = "hide", "hide_by"  # in the address: pixels of a square's side, what it becomes
PARAMS = (*holds.PARAMS, SIDE, FILL)
SHARE = 6  # the shorter side of the picture is about six squares long


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw the maps with the choice of runs, class, size of the square, and of what hides it."""
    if not is_image(shown):
        return
    now, (height, width) = answer(run, machine, shown), shown.dataset.image_shape[:2]
    least, most = least_side(height, width), min(height, width)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        chosen = holds.runs_beside(run, now.names)
        c = holds.mapped_class(now) if len(machine.bias) > 1 else 1
        side = parameters.number(
            SIDE, "Square, pixels", least, most, max(least, round(most / SHARE)), 1, key="why_hide", width=130,
            help="The side of the part that is hidden.",
        )  # fmt: skip
        fill = parameters.choice(
            FILL, "Becomes", FILLS, widget="selectbox", key="why_hide_by", format_func=FILLS.get, width=190,
            help="What hidden pixels become: the background, as a jitter brings it in, or the mean of the picture.",
        )  # fmt: skip
    machines = [(other, made) for other in chosen if (made := holds.machine_for(other, now.names)) is not None]
    shape = shown.dataset.image_shape
    maps = [(other, occlusion(made, deciding(other), shown.X, shape, side, fill)) for other, made in machines]
    if not maps:
        return
    largest = max(float(abs(value(made.change, c)).max()) for _, made in maps) or 1.0
    with st.grid(len(maps), min_column_width=190):
        for number, (other, made) in enumerate(maps):
            with st.container():
                _map(other, shown, made, now, c, largest, number)
    st.caption(
        f"What hiding a square takes from f of {machine_of(now.names, c)}, in the mean over the squares that cover a "
        f"pixel: blue parts speak for it, orange ones against it, with one scale for all maps, up to ±{largest:.2f}. "
        f"Cross: a square without which the prediction changes."
    )


def _map(run: Run, shown: Shown, made: Hidden, now: Answer, c: int, largest: float, number: int) -> None:
    method = METHODS[run.recipe.method]
    steps = ", ".join(run.recipe.preprocess) or "raw values"
    st.markdown(f"**{plain(short(run.title, 60))}**  \n{plain(method.summary(run.recipe) or method.short)} · {steps}")
    picture = form_pictures(shown, shown.X.reshape(1, -1))[0]
    picture = picture if picture.ndim == 2 else picture.mean(axis=2).astype(picture.dtype)
    flips = made.middle[answers(made.each) != answers(made.f)]
    show(hidden_map(value(made.change, c), largest, picture, flips, run.title), f"hidden_{number}")
