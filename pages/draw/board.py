"""The parts of the page on which a digit is drawn: canvas, preparation, pad, the answers side by side, and why.

Canvas and pad, by which a prepared digit is nudged, are inline components. What they send is checked by `strokes.sent`
and `nudges.moved`; the page owns what is drawn, and `edition` counts the times that it was changed by anything but the
canvas, which then takes it over.
"""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from data import catalogue, load
from pages.draw import address, machines, strokes
from pages.draw.nudges import LIMITS, STEP, nudged
from pages.draw.strokes import MOST_NUMBERS, MOST_STROKES, THICKEST, THINNEST
from pages.ui.example import evidence
from pages.ui.figures import decisions
from pages.ui.figures.frame import chart, show
from pages.ui.kit import present
from pages.ui.kit.component import component, heard
from pages.ui.kit.gallery import data_uri, in_theme, magnified
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain, short, test_example
from pages.ui.why import dialog
from pages.ui.why.answer import DRAWN, Shown
from svmcore.lab.store.runs import Run
from svmcore.preprocess import drawn
from svmcore.preprocess.drawn import SIDE

ALT = (
    "Canvas. Draw with mouse, finger or pen; or move the cross with the arrow keys and lift the pen with the space bar."
)


_canvas = component(__file__, "canvas", '<div class="draw"></div>')
_pad = component(__file__, "pad", '<div class="pad"></div>', first=("svg",))


STAGE = 84  # screen pixels of a stage of the preparation
SEE = "Bars: one decision value per class. Blue: for the class; orange: against it. The largest value decides."
LEFT, ANSWER = 290, 220  # of the canvas with its pad, and of one machine's answer


def tools(tests: int) -> None:
    """The example, and the way to start from a test digit, which needs no drawing."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        help = "Draws a 4 from two lines. This is not real handwriting."
        button("Draw a 4 for me", "gesture", "draw_example", address.example, help=help)
        if tests:
            st.number_input(
                "Test digit", 0, tests - 1, value=None, key=address.START, on_change=address.started,
                width=present.scaled(132), placeholder="number",
                help="Shows the test example with this number instead of a drawing.",
            )  # fmt: skip


def board() -> None:
    """The canvas; it tells its strokes and pen at the end of each stroke, and after undo and clear."""
    now = address.current()
    _canvas(
        data={
            "strokes": [stroke.ravel().tolist() for stroke in now.strokes],
            "pen": now.pen,
            "edition": now.edition,
            "side": SIDE,
            "thinnest": THINNEST,
            "thickest": THICKEST,
            "mostStrokes": MOST_STROKES,
            "mostNumbers": MOST_NUMBERS,
            "alt": ALT,
        },
        key="draw_canvas",
        on_drawn_change=heard("draw_canvas", "drawn", address.drawn),
    )
    if now.text == strokes.pack(strokes.FOUR):
        st.caption("This example of two lines is not real handwriting.")
    if not now.shared:
        st.caption(":material/link_off: The drawing is too long for a link, so it is not part of the address.")


def prepared(how: drawn.Convention, first: Run | None) -> np.ndarray | None:
    """Ink (side, side) of the digit before any nudge: the prepared drawing, or a test digit; None without either."""
    now = address.current()
    if now.text:
        return drawn.stages(drawn.rasterise(now.strokes, now.pen), how).centred
    if now.start is not None and first is not None:
        dataset, test = load(first.recipe.dataset), first.test()
        X, _ = evidence.examples(dataset, test.split)
        return machines.ink_of(dataset, X[test.index[now.start : now.start + 1]])[0]
    return None


def steps(how: drawn.Convention, first: Run | None) -> None:
    now = address.current()
    if now.text:
        parts = drawn.stages(drawn.rasterise(now.strokes, now.pen), how)
        names = ("drawn", "cropped", f"fitted {parts.fitted.shape[0]} × {parts.fitted.shape[1]}", "centred")
        with st.container(horizontal=True, key="draw_steps"):
            for name, ink in zip(names, parts):
                st.image(in_theme(_picture(ink, STAGE)), caption=name, output_format="PNG", alt=f"The digit, {name}")
        st.caption(f"Preprocessed like the machines' training digits: cropped, {how.words}.")
    elif now.start is not None and first is not None:
        test = first.test()
        name, label = plain(first.recipe.dataset), plain(test.y_true[now.start])
        example = plain(test_example(test.split, test.index[now.start]))
        st.caption(f"{example} of {name}, class **{label}**, unchanged.")


def pad(ink: np.ndarray | None) -> None:
    """The digit with its arrows; it tells all places that it was moved to since the last time."""
    now = address.current()
    picture, said = "", "The prepared digit appears here, where you can move it."
    if ink is not None:
        picture = data_uri(np.rint(255 * (1 - nudged(ink, [now.nudge])[0].clip(0, 1))).astype(np.uint8))
        said = f"{now.nudge.words.capitalize()}. Click the digit, then use the arrow keys."
    alt = f"The prepared digit, {now.nudge.words}. Arrow keys shift, A and D turn, + and - thicken and thin it."
    _pad(
        data={"picture": picture, "at": list(now.nudge), "step": list(STEP), "limits": list(LIMITS), "alt": alt},
        key="draw_pad",
        on_moved_change=heard("draw_pad", "moved", address.nudged),
    )
    st.caption(said)


def answers(place: DeltaGenerator, found: list[Run], ink: np.ndarray | None) -> list[str]:
    """What each machine says, side by side in `place`. Before anything is drawn all of them answer once about an empty
    picture, so that the first stroke finds them loaded. The answers alone, in order, are returned."""
    side = catalogue.entry(found[0].recipe.dataset).shape[0]
    places = {run: place.container(width=ANSWER, key=f"draw_answer_{run.id}") for run in found}
    decided = {}
    for run, own in places.items():
        with own:
            st.caption(plain(short(run.title, 80)))
            with st.spinner("Loading the machine", show_time=True):
                ready = machines.ready(run, side)
            if ready and ink is None:
                st.metric("Prediction", "–", "draw a digit", delta_color="off", delta_arrow="off")
            elif ready:
                decided[run] = _answer(run, ink)
    for run, (f, names) in decided.items():  # after all answers: figures take longer
        with places[run]:
            _figures(run, f, names)
    return [short(names[int(np.argmax(f[-1]))], 12) for f, names in decided.values()]


def _answer(run: Run, ink: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """The answer and its margin; f (t, k) along the trail, and the names of the classes."""
    now = address.current()
    f = machines.values(run, now.source, now.trail, lambda places: nudged(ink, places))
    names = evidence.class_names(run, run.machine())
    second, best = np.argsort(f[-1])[-2:]
    lead = f[-1, best] - f[-1, second]
    st.metric(
        "Prediction", plain(short(names[best], 12)), f"f {lead:.2f} ahead of {plain(short(names[second], 12))}",
        delta_color="off", delta_arrow="off",
        help="The class with the largest decision value, and its margin over the second.",
    )  # fmt: skip
    return f, names


def _figures(run: Run, f: np.ndarray, names: list[str]) -> None:
    now = address.current()
    bars = decisions.decision_bars(f[-1], names, None, names[int(np.argmax(f[-1]))])
    chart(bars, f"draw_bars_{run.id}")  # what one sees there is said once, below all of them
    if len(now.trail) > 1:
        show(decisions.decision_trail(f, names, [place.words for place in now.trail]), f"draw_trail_{run.id}")


def _picture(ink: np.ndarray, size: int) -> np.ndarray:
    """Ink (h, w) as a sharp uint8 picture, dark on light, on a square of paper."""
    side = max(ink.shape)
    square = np.zeros((side, side), np.float32)
    top, left = (side - ink.shape[0]) // 2, (side - ink.shape[1]) // 2
    square[top : top + ink.shape[0], left : left + ink.shape[1]] = ink
    step = -(-side // size)
    return magnified(np.rint(255 * (1 - square[::step, ::step].clip(0, 1))).astype(np.uint8), size)


def why(found: list[Run], ink: np.ndarray) -> None:
    """The question, and once it is asked the panels for one machine and the digit as it was nudged."""
    st.session_state.setdefault("draw_why", dialog.WHY in st.query_params)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.toggle(
            "Why this prediction?",
            key="draw_why",
            on_change=_note,
            help="Shows what each support vector of one machine contributes. Follows your drawing, but more slowly.",
        )
        if not st.session_state["draw_why"]:
            return
        run = st.selectbox(
            "Machine", found, format_func=lambda run: short(run.title, 60), key="draw_why_run",
            label_visibility="collapsed", width=340, help="The machine whose support vectors are shown.",
        )  # fmt: skip
    dataset = load(run.recipe.dataset)
    X = machines.example(dataset, nudged(ink, [address.current().nudge]))
    dialog.panels(run, run.machine(), Shown(dataset, X, None, DRAWN))


def _note() -> None:
    if not st.session_state["draw_why"]:
        st.query_params.pop(dialog.WHY, None)
