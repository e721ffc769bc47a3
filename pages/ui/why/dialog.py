"""The view of one example: the picture, what the run's machines say of it, and why, one panel at a time.

The address names the example (`?digit=mnist-5k/test/247`) and the panel (`why=bill`); any gallery may ask for it
(`gallery.open_digit`), and `show_requested`, called once at the end of app.py, draws it over the page. The arrow keys
lead through the examples of the page behind it (`kit.walk`).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import Dataset, catalogue, load
from pages.ui.example import evidence
from pages.ui.example.shown import Shown
from pages.ui.figures import decisions
from pages.ui.figures.frame import show
from pages.ui.kit import state, walk
from pages.ui.kit.gallery import DIGIT, magnified, open_digit, thin
from pages.ui.kit.words import plain, short
from pages.ui.why import bill, family
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

SPLITS = ("train", "test")
LARGE = 168  # wished height of the picture, in screen pixels
WHY = "why"  # the URL parameter that holds the name of the panel


class Panel(NamedTuple):
    """One answer to the question why. params: its own parameters of the address, which go when the view is closed."""

    label: str
    draw: Callable[[Run, Machine, Shown], None]
    help: str
    params: tuple[str, ...] = ()


PANELS = {
    "bill": Panel("Bill", bill.panel, "The support vectors that speak for and against, and how they add up."),
    "family": Panel("Family", family.panel, "Support vectors and the virtual ones made from them."),
}


def show_requested() -> None:
    """Draw the view of the example that the address names, if any; an address that names none is said aloud."""
    if DIGIT not in st.query_params:
        return
    try:
        _parse(st.query_params[DIGIT])
    except ValueError as error:
        ref = plain(short(st.query_params[DIGIT], 80))
        st.warning(f"{DIGIT}={ref} in the address names no example. {plain(error)}", icon=":material/link_off:")
        return
    st.dialog("Why this answer?", width="large", on_dismiss=_close)(_view)()


def panels(run: Run, machine: Machine, shown: Shown) -> None:
    """The choice of a panel, and the panel chosen."""
    names = list(PANELS)
    state.param(WHY, names[0], names)
    chosen = st.segmented_control(
        "Why",
        names,
        format_func=lambda name: PANELS[name].label,
        default=_asked_panel(),
        required=True,
        key="why_panel",
        on_change=_note_panel,
        label_visibility="collapsed",
        help="  \n".join(f"**{panel.label}**: {panel.help}" for panel in PANELS.values()),
    )
    PANELS[chosen].draw(run, machine, shown)


def _asked_panel() -> str:
    asked = st.query_params.get(WHY)
    return asked if asked in PANELS else next(iter(PANELS))


def _note_panel() -> None:
    st.query_params[WHY] = st.session_state["why_panel"]


def _parse(ref: str) -> tuple[Dataset, str, int]:
    parts = ref.rsplit("/", 2)
    if len(parts) != 3 or parts[1] not in SPLITS or not parts[2].isdecimal():
        raise ValueError("Write a data set, train or test, and a number: mnist-5k/train/247.")
    name, split, number = parts
    dataset = load(catalogue.entry(name).name)
    n = len(evidence.examples(dataset, split)[0])
    if int(number) >= n:
        raise ValueError(f"{dataset.entry.title} has {n:,} examples in its {split} part, numbered from 0.")
    return dataset, split, int(number)


def _close() -> None:
    for name in (DIGIT, WHY, *(name for panel in PANELS.values() for name in panel.params)):
        st.query_params.pop(name, None)


def _view() -> None:
    """Everything within the view; drawn anew, without the page behind it, for each example that is walked to."""
    ref = st.query_params.get(DIGIT, "")
    try:
        dataset, split, index = _parse(ref)
    except ValueError as error:  # the address was changed meanwhile
        st.warning(plain(error), icon=":material/link_off:")
        return
    X, y = evidence.examples(dataset, split)
    shown = Shown(dataset, X[index][None], y[index], ref)
    run = state.current_run()
    machine = _machine(run, dataset)
    values = None if machine is None else machine.decision_values(evidence.prepared(run, shown.X))[0]
    _heading(run, machine, values, shown, split, index)
    left, right = st.columns([1, 3], gap="medium")
    with left:
        picture = thin(evidence.example_pictures(dataset, split, np.array([index])))[0]
        st.image(magnified(picture, LARGE), output_format="PNG", alt=f"Example {index}, class {y[index]}")
        if dataset.image_shape is None:
            st.dataframe(X[index][None], hide_index=True, alt="The features of this example")
        if machine is not None:
            _sums(run, machine, values, y[index])
    with right:
        if machine is None:
            _without_machine(run, dataset)
        else:
            panels(run, machine, shown)


def _heading(run, machine, values, shown: Shown, split: str, index: int) -> None:
    """What the example is and was called, where it stands in the page's list, and the ways to its neighbours."""
    place = walk.place(shown.ref)
    with st.container(horizontal=True, vertical_alignment="center"):
        if place:
            _step("Previous", "Left", place.before)
        with st.container(width="stretch", gap=None):
            st.markdown(f"#### {_part(run, split, index)} example {index:,}: {_answer(run, machine, values, shown)}")
            where = f" · {place.number:,} of {place.of:,} on this page" if place else ""
            st.caption(f"{plain(shown.dataset.entry.title)}{_role(run, machine, split, index)}{where}")
        if place:
            _step("Next", "Right", place.after)


def _step(label: str, key: str, ref: str) -> None:
    icon = ":material/chevron_left:" if key == "Left" else ":material/chevron_right:"
    st.button(
        label,
        icon=icon,
        icon_position="left" if key == "Left" else "right",
        key=f"why_{label.lower()}",
        shortcut=key,
        disabled=not ref,
        on_click=open_digit,
        args=(ref,),
        help="The next or the previous example of the page, in its order.",
    )


def _part(run: Run | None, split: str, index: int) -> str:
    """Test or training: what the example was to the run, or else its part of the data set."""
    test = run.test() if run is not None and run.result else None
    tested = test is not None and split == test.split and index in test.index
    return "Test" if tested or split == "test" else "Training"


def _role(run: Run | None, machine: Machine | None, split: str, index: int) -> str:
    """What the run has seen of the example."""
    if machine is None:
        return ""
    if split == "train" and index in run.train_index():
        return " · trained on"
    test = run.test()
    tested = split == test.split and index in test.index
    return (" · held out from training" if split == "train" else "") if tested else " · not seen by this run"


def _answer(run, machine, values, shown: Shown) -> str:
    """`true 5 → predicted 1`."""
    if machine is None:
        return f"class {plain(short(shown.label))}"
    names, true = evidence.class_names(run, machine), evidence.class_of(run, machine, shown.label)
    called = plain(short(names[winner(values)]))
    if true is None:
        return f"class {plain(short(shown.label))}, which this run does not know → predicted {called}"
    mark = ":material/check:" if true == names[winner(values)] else ":material/close:"
    return f"true {plain(short(true))} → predicted {called} {mark}"


def winner(values: np.ndarray) -> int:
    """The position of the class that decision values (k,) choose: 0 or 1 for a single machine."""
    return int(values[0] > 0) if len(values) == 1 else int(np.argmax(values))


def _machine(run: Run | None, dataset: Dataset) -> Machine | None:
    if run is None or run.recipe.dataset != dataset.entry.name:
        return None
    try:
        return run.machine()
    except FileNotFoundError:
        return None


def _without_machine(run: Run | None, dataset: Dataset) -> None:
    why = "The run shown has no machine yet" if run and run.recipe.dataset == dataset.entry.name else "No run is shown"
    st.info(f"{why} that could say something about this example.", icon=":material/model_training:")
    st.page_link(
        "pages/train.py",
        label=f"Train on {plain(dataset.entry.title)}",
        icon=":material/play_circle:",
        query_params={"dataset": dataset.entry.name},
    )


def _sums(run: Run, machine: Machine, values: np.ndarray, label) -> None:
    """The decision values of all machines."""
    names = evidence.class_names(run, machine)
    if len(values) == 1:
        values = np.array([-values[0], values[0]])
    figure = decisions.decision_bars(
        values, names, evidence.class_of(run, machine, label), names[int(np.argmax(values))]
    )
    show(figure, "digit_decision")
