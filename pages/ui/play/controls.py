"""The Playground's widgets, and how they, the address and the browser's edits become one Setting.

The Setting itself is kept in the session; widgets are filled from it when an address (a link, a lesson) asks for
another, and whatever they show is written back into the address.
"""

from dataclasses import replace

import streamlit as st

from data import plane
from pages.ui.kit import parameters, state
from pages.ui.kit.text import plain, short
from pages.ui.play import setting as settings
from pages.ui.play.setting import Setting

KEPT, WRONG, UNDO, SEQ = "play_setting", "play_wrong", "play_history", "play_seq"  # in the session, beside the widgets
DRAWN = "play_drawn"  # in the session: the widgets of the last run
WIDGETS = ("problem", "kernel", "degree", "gamma", "C", "virtual", "by", "seed", "noise")
MODES = {"blue": "Blue", "orange": "Orange", "flip": "Flip", "erase": "Erase"}
MOST_UNDO = 50
CHOICES = ("problem", "kernel", "by")  # of one thing always


def begin() -> None:
    """Take up what the address asks for, or what was there. Once a run of the page, outside its fragment: what the
    browser says its address is lags behind clicks that follow each other quickly, and must not take them back.
    """
    values = st.session_state
    asked = {name: texts[-1] for name, texts in parameters.asked("play", settings.NAMES).items()}
    if asked or KEPT not in values:
        values[KEPT], values[WRONG] = settings.read(asked)
        values[UNDO] = []
        _fill(values[KEPT])
    elif _key("problem") not in values:  # back from another page
        _fill(values[KEPT])
    values.setdefault(_key("mode"), "blue")
    values.setdefault(DRAWN, [])


def kept() -> Setting:
    """The Setting before its widgets are drawn."""
    return st.session_state[KEPT]


def draw(now: Setting) -> Setting:
    """All widgets; returns the Setting that they show."""
    _chosen(now)
    st.segmented_control(
        "Problem",
        list(plane.PROBLEMS),
        format_func=lambda name: plane.problem(name).title,
        key=_key("problem"),
        required=True,
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
        st.session_state[WRONG] = []
    st.session_state[KEPT] = changed
    return changed


def add_wrong(name: str, text: str, allowed: str) -> None:
    """Something that the address has wrong, and only the machine can tell."""
    st.session_state[WRONG] = [*st.session_state[WRONG], (name, text, allowed)]


def warn() -> None:
    """What the address had wrong, until something is changed."""
    for name, text, allowed in st.session_state[WRONG]:
        said = f"{plain(name)}={plain(short(text, 80))} in the address; allowed: {plain(allowed)}."
        st.warning(said, icon=":material/link_off:")


def write(shown: Setting) -> None:
    """Make the address say what is shown."""
    parameters.write("play", settings.NAMES, shown.query())


def edited(text: str, seq: int) -> None:
    """Callback: the browser's edits of the points."""
    values = st.session_state
    try:
        text = settings.checked(text)
    except ValueError as error:
        state.tell_later(f":material/block: {plain(error)}")
        text = values[KEPT].points
    values[SEQ] = seq
    _become(replace(values[KEPT], points=text))


def scrubbed(step: int) -> None:
    """Callback: the browser opened the tape, or rests at one of its frames."""
    st.session_state[KEPT] = replace(st.session_state[KEPT], tape=min(max(step, 0), settings.MAX_STEP))


def mode() -> str:
    """What a click in the plane does."""
    return st.session_state[_key("mode")]


def _hand(now: Setting) -> None:
    st.segmented_control(
        "A click adds",
        list(MODES),
        format_func=MODES.get,
        key=_key("mode"),
        required=True,
        help="Blue or orange: a click adds a point, a click on a point takes it away. Flip and Erase are brushes: hold "
        "the button and paint over points. By keyboard: arrow keys, Enter, N for the next point.",
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
    st.segmented_control(
        "Kernel",
        list(settings.KERNELS),
        format_func=settings.KERNELS.get,
        key=_key("kernel"),
        required=True,
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
        st.segmented_control(
            "Copies by",
            list(settings.JITTERS),
            format_func=settings.JITTERS.get,
            key=_comes_and_goes("by", now),
            required=True,
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


def _chosen(now: Setting) -> None:
    """A browser that is clicked while it draws the page anew can report a choice as empty: it stays what it was."""
    values = st.session_state
    for name in CHOICES:
        if values.get(_key(name), "") is None:
            values[_key(name)] = getattr(now, name)
    if values.get(_key("mode")) is None:
        values[_key("mode")] = "blue"


def _options(limits: tuple[float, float], value: float) -> list[float]:
    return sorted({v for v in settings.SERIES if limits[0] <= v <= limits[1]} | {value})


def _key(name: str) -> str:
    return f"play_{name}"


def _fill(setting: Setting) -> None:
    for name in WIDGETS:
        st.session_state[_key(name)] = getattr(setting, name)
    st.session_state[_key("noise")] = round(100 * setting.noise)


def _comes_and_goes(name: str, now: Setting) -> str:
    """Key of a widget that is not always drawn: where it was not there last time it begins with the Setting's value."""
    if name not in st.session_state[DRAWN]:
        st.session_state[_key(name)] = getattr(now, name)
    return _key(name)


def _become(setting: Setting) -> None:
    """Other points, which Undo takes back."""
    values = st.session_state
    if setting.points != values[KEPT].points:
        values[UNDO] = [*values[UNDO], values[KEPT].points][-MOST_UNDO:]
        values[KEPT] = setting.still


def _undo() -> None:
    values = st.session_state
    if values[UNDO]:
        values[KEPT] = replace(values[KEPT].still, points=values[UNDO].pop())


def _reset() -> None:
    _become(replace(st.session_state[KEPT], points=""))
    st.session_state[_key("noise")] = 0


def _next_sample() -> None:
    st.session_state[_key("seed")] = (st.session_state[_key("seed")] + 1) % (settings.MAX_SEED + 1)
    _forget_edits()


def _forget_edits() -> None:
    st.session_state[KEPT] = replace(st.session_state[KEPT].still, points="")
    st.session_state[UNDO] = []


def _another_problem() -> None:
    """A problem begins with what separates it; C, the seed and the switch stay."""
    values = st.session_state
    if values[_key("problem")] is None:
        _chosen(values[KEPT])
        return
    start = settings.of_problem(values[_key("problem")])
    own = {name: getattr(start, name) for name in ("kernel", "gamma", "by")}
    values.update({_key(name): value for name, value in own.items()})
    values[KEPT] = replace(values[KEPT], **own)
    _forget_edits()
