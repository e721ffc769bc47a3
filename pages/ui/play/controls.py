"""The Playground's widgets, and how they, the address and the browser's edits become one Setting.

The Setting itself is kept in the session; widgets are filled from it when an address (a link, a lesson) asks for
another, and whatever they show is written back into the address.
"""

from dataclasses import replace

import streamlit as st

from data import plane
from pages.ui.kit import state
from pages.ui.kit.parameters import Form, one_of
from pages.ui.kit.text import plain
from pages.ui.play import setting as settings
from pages.ui.play.setting import Setting

UNDO, SEQ = "play_history", "play_seq"  # in the session: points before each change; which of the browser's edits
HELD = "play_held"  # in the session: whether a point is being dragged
DRAWN = "play_drawn"  # in the session: the widgets of the last run
WIDGETS = ("problem", "kernel", "degree", "gamma", "C", "virtual", "by", "seed", "noise")
MODES = {"blue": "Blue", "orange": "Orange", "flip": "Flip", "erase": "Erase"}
MAX_UNDO = 50


def _spread(setting: Setting) -> dict:
    return {name: getattr(setting, name) for name in WIDGETS} | {"noise": round(100 * setting.noise)}


def _read(given: dict[str, list[str]]):
    return settings.read({name: texts[-1] for name, texts in given.items()})


FORM = Form("play", lambda: settings.NAMES, _read, Setting.query, _spread)


def begin() -> None:
    """Take up what the address asks for, or what was there. Once a run of the page, outside its fragment: what the
    browser says its address is lags behind clicks that follow each other quickly, and must not take them back.
    """
    values = st.session_state
    if FORM.asked():
        values[UNDO] = []
    FORM.seed(lambda: FORM.base or settings.of_problem(settings.FIRST_PROBLEM))
    for name, first in {UNDO: [], DRAWN: [], _key("mode"): "blue"}.items():
        values.setdefault(name, first)


def draw(now: Setting) -> Setting:
    """All widgets; returns the Setting that they show. One that has lost what it showed, as when a busy machine draws
    the page twice, shows the Setting's again and not the least there is."""
    for name, shown in _spread(now).items():
        st.session_state.setdefault(_key(name), shown)
    one_of(
        "Problem",
        list(plane.PROBLEMS),
        _key("problem"),
        format_func=lambda name: plane.problem(name).title,
        on_change=_another_problem,
        help="Small synthetic problems, each with an invariance that is known of it.",
    )
    own = plane.problem(st.session_state[_key("problem")])
    law = " The dotted line is this law." if own.law else ""
    st.caption(f"{own.says}{law} Synthetic points.")
    _hand(now)
    _machine(now)
    _copies(own, now)
    _sample(now)
    values, hidden = st.session_state, {"degree", "gamma", "by"}
    hidden -= {
        {"poly": "degree", "rbf": "gamma"}.get(values[_key("kernel")]),
        "by" if values[_key("virtual")] else None,
    }
    values[DRAWN] = [name for name in WIDGETS if name not in hidden]
    shown = {name: values[_key(name)] for name in values[DRAWN]}
    shown["noise"] = shown["noise"] / 100
    changed = replace(now, **shown)
    if changed.still != now.still:
        changed = changed.still
    FORM.keep(changed)
    return changed


def edited(text: str, seq: int, held: bool = False) -> None:
    """Callback: the browser's edits of the points. held: one is being dragged, and Undo takes it back as a whole."""
    values = st.session_state
    try:
        text = settings.checked(text)
    except ValueError as error:
        state.tell_later(f":material/block: {plain(error)}")
        text = FORM.base.points
    values[SEQ] = seq
    _become(replace(FORM.base, points=text), goes_on=values.get(HELD, False))
    values[HELD] = held


def scrubbed(step: int) -> None:
    """Callback: the browser opened the tape, or rests at one of its frames."""
    FORM.keep(replace(FORM.base, tape=min(max(step, 0), settings.MAX_STEP)))


def mode() -> str:
    """What a click in the plane does."""
    return st.session_state[_key("mode")]


def _hand(now: Setting) -> None:
    one_of(
        "A click adds",
        list(MODES),
        _key("mode"),
        format_func=MODES.get,
        help="Blue or orange: a click adds a point, a click on one takes it away, dragging moves it. Flip and Erase "
        "are brushes: hold the button and paint over points. By keyboard: arrow keys, Enter, N for the next point.",
    )
    with st.container(horizontal=True, gap="small"):
        st.button(
            "Undo",
            icon=":material/undo:",
            key=_key("undo"),
            on_click=_undo,
            disabled=not st.session_state[UNDO],
            help="Takes back the last change of the points.",
        )
        st.button(
            "Reset",
            icon=":material/restart_alt:",
            key=_key("reset"),
            on_click=_reset,
            disabled=not (now.points or now.noise),
            help="The sample as it was drawn: no added, removed or flipped points.",
        )
        st.button(
            "New sample",
            icon=":material/casino:",
            key=_key("new"),
            on_click=_next_sample,
            help="Draws other points of the same problem, by the next seed.",
        )


def _machine(now: Setting) -> None:
    one_of(
        "Kernel",
        list(settings.KERNELS),
        _key("kernel"),
        format_func=settings.KERNELS.get,
        help="Which lines are possible: straight ones, curves of a degree, or any smooth line.",
    )
    kernel = st.session_state[_key("kernel")]
    if kernel == "poly":
        st.slider(
            "Degree",
            1,
            9,
            key=_comes_and_goes("degree", now),
            help="Higher degrees bend more: ((u·v + 1) / 2) to this power.",
        )
    if kernel == "rbf":
        st.select_slider(
            "gamma",
            _options(settings.GAMMA_RANGE, now.gamma),
            format_func="{:g}".format,
            key=_comes_and_goes("gamma", now),
            help="exp(−gamma |u − v|²): larger means more local, and a line that winds around single points.",
        )
    st.select_slider(
        "C",
        _options(settings.C_RANGE, now.C),
        format_func="{:g}".format,
        key=_key("C"),
        help="What a point inside the margin costs. Small: a wide margin that lets points in. Large: a narrow one.",
    )


def _copies(own: plane.Plane, now: Setting) -> None:
    st.toggle(
        "Virtual copies",
        key=_key("virtual"),
        help="Copies each support vector by a move that should change nothing, and trains again on the copies.",
    )
    if st.session_state[_key("virtual")]:
        one_of(
            "Copies by",
            list(settings.JITTERS),
            _comes_and_goes("by", now),
            format_func=settings.JITTERS.get,
            help=f"What is known of this problem: {settings.JITTERS[own.jitter]}. Another move is a false belief."
            if own.question is None
            else "Two beliefs about the same points, and two answers.",
        )


def _sample(now: Setting) -> None:
    left, right = st.columns(2)
    left.slider(
        "Labels flipped",
        0,
        50,
        key=_key("noise"),
        format="%d %%",
        help="This share of the sample gets the other colour.",
    )
    right.number_input(
        "Seed",
        0,
        settings.MAX_SEED,
        key=_key("seed"),
        on_change=_forget_edits,
        help="The same seed draws the same points, for everyone in a class.",
    )


def _options(limits: tuple[float, float], value: float) -> list[float]:
    return sorted({v for v in settings.SERIES if limits[0] <= v <= limits[1]} | {value})


def _key(name: str) -> str:
    return FORM.key(name)


def _comes_and_goes(name: str, now: Setting) -> str:
    """Key of a widget that is not always drawn: where it was not there last time it begins with the Setting's value."""
    if name not in st.session_state[DRAWN]:
        st.session_state[_key(name)] = getattr(now, name)
    return _key(name)


def _become(setting: Setting, goes_on: bool = False) -> None:
    """Other points, which Undo takes back. goes_on: with the change before."""
    values, now = st.session_state, FORM.base
    if setting.points != now.points:
        if not goes_on:
            values[UNDO] = [*values[UNDO], now.points][-MAX_UNDO:]
        FORM.keep(setting.still)


def _undo() -> None:
    if st.session_state[UNDO]:
        FORM.keep(replace(FORM.base.still, points=st.session_state[UNDO].pop()))


def _reset() -> None:
    _become(replace(FORM.base, points=""))
    st.session_state[_key("noise")] = 0


def _next_sample() -> None:
    st.session_state[_key("seed")] = (st.session_state[_key("seed")] + 1) % (settings.MAX_SEED + 1)
    _forget_edits()


def _forget_edits() -> None:
    FORM.keep(replace(FORM.base.still, points=""))
    st.session_state[UNDO] = []


def _another_problem() -> None:
    """A problem begins with what separates it; C, the seed and the switch stay."""
    values = st.session_state
    if values[_key("problem")] is None:
        return
    start = settings.of_problem(values[_key("problem")])
    own = {name: getattr(start, name) for name in ("kernel", "gamma", "by")}
    values.update({_key(name): value for name, value in own.items()})
    FORM.keep(replace(FORM.base, **own))
    _forget_edits()
