"""The Playground's widgets and what the reader does to its points: how they, the address and the browser's edits become
one Setting, and what can be taken back.

The Setting itself is kept in the session; widgets are filled from it when an address (a link, a lesson) asks for
another, and whatever they show is written back into the address.
"""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from data import plane
from pages.ui.kit import state
from pages.ui.kit.parameters import one_of
from pages.ui.kit.text import plain, small
from pages.ui.play import setting as settings
from pages.ui.play.setting import FORM, OF_KERNEL, WIDGETS, Setting

DRAWN = "play_drawn"  # in the session: the widgets of the last run
UNDO, SEQ = "play_history", "play_seq"  # in the session: points before each change; which of the browser's edits
OWN = "play_own"  # in the session: the points that were drawn, while another problem is looked at
HELD = "play_held"  # in the session: whether a point is being dragged
MAX_UNDO = 50
BRUSHES = {"flip": "Flip", "erase": "Erase", "ask": "?"}


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


def draw(now: Setting, hand=None) -> Setting:
    """All widgets, what a click does in the container `hand`; returns the Setting that they show. One that comes back,
    or has lost what it showed, as when a busy machine draws the page twice, shows the Setting's and not the least there
    is: to the browser too, which may have missed what the session put there."""
    values = st.session_state
    for name, shown in FORM.spread(now).items():
        if name not in values[DRAWN] or _key(name) not in values:
            values[_key(name)] = shown
    problems = {name: one.title for name, one in plane.PROBLEMS.items()}
    help = "Small synthetic problems, each with a known invariance."
    own = plane.PROBLEMS[_choice("problem", "Problem", problems, help, on_change=_another_problem)]
    law = " The dotted line is the true boundary." if own.law else ""
    st.caption(f"{own.says}{law}{' Synthetic points.' if own.make else ''}")
    with hand or st.container():
        _hand(now, own)
    kernel = _machine(now)
    virtual = _copies(own, now)
    if rounds := now.along == "rounds":
        help = "Solves the problem of the working set, round by round; any solver leads to the same machine."
        _choice("inner", "Inner solver", settings.INNER, help, widget="selectbox")
    if three := len(replace(now, problem=own.name).colours) == 3:
        help = (
            "One machine for each colour against the rest. All: the largest f decides; thin lines are where each f is "
            "0. One colour: its f alone, with its margin, hulls, forces and tape."
        )
        _choice("of", "Machine of", settings.OF, help)
    help = (
        "Other lines: what perceptrons find that separate the points as well. Hulls: the nearest points of the convex "
        "hulls of both colours, or of reduced hulls. Forces: how each support vector presses on the line."
    )
    _choice("layer", "Also draw", settings.LAYERS, help)
    if own.make:
        _sample(now)
    with st.container(horizontal=True, gap="small"):
        _button("reset", disabled=not (now.points or now.noise))
        if own.make:
            _button("new")
    sometimes = {"by": virtual, "inner": rounds, "of": three, "seed": own.make, "noise": own.make}
    values[DRAWN] = [*WIDGETS, *OF_KERNEL.get(kernel, []), *(name for name, there in sometimes.items() if there)]
    shown = {name: values[_key(name)] for name in values[DRAWN]}
    if "noise" in shown:
        shown["noise"] = shown["noise"] / 100
    changed = replace(now, **({} if three else {"of": "all"}), **shown)
    if changed.still != now.still or changed.inner != now.inner:
        changed = changed.closed
    FORM.keep(changed)
    return changed


def scrubbed(step: int, along: str) -> None:
    """Callback: the browser opened a tape, or rests at one of its frames; step -1: the tape is to be closed."""
    if along in settings.ALONG:
        FORM.keep(replace(FORM.base, tape=None if step < 0 else min(step, settings.MAX_STEP), along=along))


def mode() -> str:
    """What a click in the plane does."""
    return st.session_state[_key("mode")]


def _hand(now: Setting, own: plane.Plane) -> None:
    help = (
        "A colour: a click adds a point, a click on one removes it, dragging moves it. Flip and Erase are "
        "brushes: hold the button and paint over points. ?: a click asks for the class of a place. By keyboard: arrow "
        "keys, Enter, N for the next point. To duplicate a point, drag another one of its colour onto it. A copy "
        "moves the line only if the point has a double ring (alpha = C)."
    )
    colours = {colour: settings.OF[colour] for colour in own.colours.values()}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        _choice("mode", "A click adds", colours | BRUSHES, help, width="content")
        _button("undo", type="tertiary", disabled=not st.session_state[UNDO])


def _machine(now: Setting) -> str:
    help = (
        "Shape of the boundary: straight, polynomial of a degree, or any smooth curve. Sigmoid is not positive "
        "definite: see what goes wrong."
    )
    kernel = _choice("kernel", "Kernel", settings.KERNELS, help)
    if kernel == "poly":
        help = "Higher degrees bend more: ((u·v + 1) / 2) to this power."
        st.slider("Degree", settings.DEGREES[0], settings.DEGREES[-1], now.degree, key=_key("degree"), help=help)
    if kernel == "rbf":
        help = "exp(−gamma |u − v|²): a larger gamma is more local, and the boundary winds around single points."
        _of_series("gamma", settings.GAMMA_RANGE, now.gamma, help)
    if kernel == "sigmoid":
        help = "tanh(gamma u·v + coef0): the factor of the inner product."
        _of_series("gamma", settings.GAMMA_RANGE, now.gamma, help)
        help = "tanh(gamma u·v + coef0). Below 0, more eigenvalues of K are negative."
        st.slider("coef0", *settings.COEF0_RANGE, now.coef0, 0.1, key=_key("coef0"), help=help)
    help = (
        "Cost of points inside the margin, the same for all classes. Small: a wide margin with points inside. Large: a "
        "narrow margin; with no double ring left it is the hard margin."
    )
    _of_series("C", settings.C_RANGE, now.C, help)
    return kernel


def _copies(own: plane.Plane, now: Setting) -> bool:
    help = (
        "Copies each support vector by a transformation that does not change its class, and trains again with the "
        "copies."
    )
    virtual = st.toggle("Virtual copies", now.virtual, key=_key("virtual"), help=help)
    if virtual:
        known = f"The true invariance of this problem: {settings.JITTERS[own.jitter]}. Any other is a false assumption."
        help = known if own.question is None else "Two assumed invariances of the same points, and their predictions."
        _choice("by", "Copies by", settings.JITTERS, help)
    return virtual


def _sample(now: Setting) -> None:
    left, right = st.columns(2)
    help = "Share of the sample that gets another colour."
    left.slider("Labels flipped", 0, 50, round(100 * now.noise), key=_key("noise"), format="%d %%", help=help)
    help = "The same seed draws the same points, for everyone in a class."
    right.number_input("Seed", 0, settings.MAX_SEED, now.seed, key=_key("seed"), on_change=forget, help=help)


def _choice(name: str, label: str, titles: Mapping[str, str], help: str, **how) -> str:
    return one_of(label, list(titles), _key(name), format_func=titles.get, help=help, **how)


def _of_series(name: str, limits: tuple[float, float], now: float, help: str) -> None:
    offered = sorted({v for v in settings.SERIES if limits[0] <= v <= limits[1]} | {now})
    st.select_slider(name, offered, now, format_func=partial(small, digits=6), key=_key(name), help=help)


def _key(name: str) -> str:
    return FORM.key(name)


def _another_problem() -> None:
    """A problem begins with what separates it; C, the seed and the switch stay. Points that are drawn are not forgotten
    while another problem is looked at."""
    values, before = st.session_state, FORM.base
    if values[_key("problem")] is None:
        return
    if plane.PROBLEMS[before.problem].make is None:
        values[OWN] = before.points
    start = settings.of_problem(values[_key("problem")])
    own = {name: getattr(start, name) for name in ("kernel", "gamma", "by")}
    values.update({_key(name): value for name, value in own.items()})
    FORM.keep(replace(before, **own))
    forget(values.get(OWN, "") if plane.PROBLEMS[start.problem].make is None else "")


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


def _button(name: str, **how) -> None:
    label, icon, does, help = BUTTONS[name]
    st.button(label, icon=icon, key=FORM.key(name), on_click=does, help=help, **how)


def forget(points: str = "") -> None:
    """Callback: the sample as it is drawn, of another seed say; no way back to what was done to the one before."""
    FORM.keep(replace(FORM.base.closed, points=points))
    st.session_state[UNDO] = []


def _become(setting: Setting, goes_on: bool = False) -> None:
    """Other points, which Undo takes back. goes_on: with the change before."""
    values, now = st.session_state, FORM.base
    if setting.points != now.points:
        if not goes_on:
            values[UNDO] = [*values[UNDO], now.points][-MAX_UNDO:]
        FORM.keep(setting.closed)


def _undo() -> None:
    if st.session_state[UNDO]:
        FORM.keep(replace(FORM.base.closed, points=st.session_state[UNDO].pop()))


def _reset() -> None:
    _become(replace(FORM.base, points=""))
    FORM.keep(replace(FORM.base, noise=0.0))
    st.session_state[FORM.key("noise")] = 0


def _next_sample() -> None:
    seed = FORM.key("seed")
    st.session_state[seed] = (st.session_state[seed] + 1) % (settings.MAX_SEED + 1)
    forget()


BUTTONS = {  # key -> label, icon, what it does, help
    "undo": ("Undo", ":material/undo:", _undo, "Undoes the last change of the points."),
    "reset": (
        "Reset",
        ":material/restart_alt:",
        _reset,
        "The sample as it was drawn: no added, removed or flipped points.",
    ),
    "new": (
        "New sample",
        ":material/casino:",
        _next_sample,
        "Draws other points of the same problem, by the next seed.",
    ),
}
