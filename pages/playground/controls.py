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
SEQ = "play_seq"  # in the session: which of the browser's edits
OWN = "play_own"  # in the session: the points that were drawn, while another problem is looked at
HELD = "play_held"  # in the session: whether a point is being dragged
TOOLS = ("flip", "erase", "ask")  # that the plane has beside a colour for each class


def begin() -> None:
    """Take up what the address asks for, or what was there. Once a run of the page, outside its fragment: what the
    browser says its address is lags behind clicks that follow each other quickly, and must not take them back.
    """
    FORM.seed(lambda: FORM.base or settings.of_problem(settings.FIRST_PROBLEM))
    st.session_state.setdefault(DRAWN, [])


def draw(now: Setting) -> Setting:
    """All widgets; returns the Setting that they show. One that comes back, or has lost what it showed, as when a busy
    machine draws the page twice, shows the Setting's and not the least there is: to the browser too, which may have
    missed what the session put there."""
    values = st.session_state
    for name, shown in FORM.spread(now).items():
        if name not in values[DRAWN] or _key(name) not in values:
            values[_key(name)] = shown
    problems = {name: one.title for name, one in plane.PROBLEMS.items()}
    help = "Small synthetic problems, each with a known invariance."
    own = plane.PROBLEMS[_choice("problem", "Problem", problems, help, on_change=_another_problem)]
    law = " The dotted line is the true boundary." if own.law else ""
    st.caption(f"{own.says}{law}{' Synthetic points.' if own.make else ''}")
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
    if own.make:
        help = "Draws other points of the same problem, by the next seed."
        st.button("New sample", icon=":material/casino:", key=_key("new"), on_click=_next_sample, help=help)
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


def hand(now: Setting) -> dict:
    """What of the plane's buttons there is, as plane.js wants it; `sample`: of which points an edit is understood."""
    own = plane.PROBLEMS[now.problem]
    tools = [*own.colours.values(), *TOOLS]
    sample = _sample_of(now.problem, now.seed)
    return {"hand": tools, "sample": sample, "noisy": now.noise > 0, "seq": st.session_state.get(SEQ, 0)}


def _sample_of(problem: str, seed: int) -> str:
    return f"{problem} {seed}" if plane.PROBLEMS[problem].make else problem


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


def edited(text: str, seq: int, held: bool, sample: str, clean: bool) -> None:
    """Callback: the points as the browser has them. held: one is being dragged; clean: no label is flipped any more.
    Of another sample, which a click on a widget has replaced meanwhile, there is nothing to take."""
    values, now = st.session_state, FORM.base
    values.update({SEQ: seq, HELD: held})
    problem = values.get(_key("problem")) or now.problem  # of the widgets, which may have changed in the same moment
    if sample != _sample_of(problem, values.get(_key("seed"), now.seed)):
        state.tell_later(":material/info: Other points were drawn before your click arrived; it changed nothing.")
        return
    try:
        text = settings.checked(text)
    except ValueError as error:
        state.tell_later(f":material/block: {plain(error)}")
        text = now.points
    if text != now.points:
        now = replace(now.closed, points=text)
    if clean:
        now = replace(now, noise=0.0)
        values[_key("noise")] = 0
    FORM.keep(now)


def forget(points: str = "") -> None:
    """Callback: the sample as it is drawn, of another seed say."""
    FORM.keep(replace(FORM.base.closed, points=points))


def _next_sample() -> None:
    seed = FORM.key("seed")
    st.session_state[seed] = (st.session_state[seed] + 1) % (settings.MAX_SEED + 1)
    forget()
