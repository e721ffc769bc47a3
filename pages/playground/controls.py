"""The Playground's widgets and what the reader does to its points: how they, the address and the browser's edits become
one Setting, and what can be taken back.

The Setting itself is kept in the session; widgets are filled from it when an address (a link, a lesson) asks for
another, and whatever they show is written back into the address.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import streamlit as st

from data import plane
from pages.ui.kit import parameters, state
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
    own = plane.PROBLEMS[_choice("problem", problems, on_change=_another_problem)]
    law = " The dotted line is the true boundary." if own.law else ""
    st.caption(f"{own.says}{law}{' Synthetic points.' if own.make else ''}")
    kernel = _machine(now)
    virtual = _copies(own, now)
    if rounds := now.along == "rounds":
        _choice("inner", settings.INNER)
    if three := len(replace(now, problem=own.name).colours) == 3:
        _choice("of", settings.OF)
    _choice("layer", settings.LAYERS)
    if own.make:
        _sample(now)
        _drawn(st.button, "new", on_click=_next_sample)
    sometimes = {"by": virtual, "inner": rounds, "of": three, "seed": own.make, "noise": own.make}
    values[DRAWN] = [*WIDGETS, *OF_KERNEL.get(kernel, []), *(name for name, there in sometimes.items() if there)]
    shown = {name: values[_key(name)] for name in values[DRAWN]}
    if "noise" in shown:
        shown["noise"] = shown["noise"] / 100
    changed = replace(now, **({} if three else {"of": "all"}), **shown)
    if _tape_of(changed) != _tape_of(now):
        changed = changed.closed
    FORM.keep(changed)
    return changed


def scrubbed(step: int, along: str, of: str) -> None:
    """Callback: the browser opened a tape, or rests at a frame `of` one; step -1: the tape is to be closed."""
    if along in settings.ALONG and of in ("", _tape_of(FORM.base)):
        FORM.keep(replace(FORM.base, tape=None if step < 0 else min(step, settings.MAX_STEP), along=along))


def _tape_of(now: Setting) -> str:
    """What names the tape of a setting, also to the browser: whatever changes it closes the tape."""
    return f"{hash((now.still, now.inner)):x}"


def hand(now: Setting) -> dict:
    """What of the plane's buttons there is, as plane.js wants it; `sample`, `of`: of which points an edit, and of which
    tape a step, is understood."""
    own = plane.PROBLEMS[now.problem]
    tools = [*own.colours.values(), *TOOLS]
    understood = {"sample": _sample_of(now.problem, now.seed), "of": _tape_of(now)}
    return {"hand": tools, **understood, "noisy": now.noise > 0, "seq": st.session_state.get(SEQ, 0)}


def _sample_of(problem: str, seed: int) -> str:
    return f"{problem} {seed}" if plane.PROBLEMS[problem].make else problem


def _machine(now: Setting) -> str:
    kernel = _choice("kernel", settings.KERNELS)
    if kernel == "poly":
        _drawn(st.slider, "degree", settings.DEGREES[0], settings.DEGREES[-1], now.degree)
    if kernel == "rbf":
        _of_series("gamma", settings.GAMMA_RANGE, now.gamma)
    if kernel == "sigmoid":
        _of_series("gamma", settings.GAMMA_RANGE, now.gamma, "gamma_of_sigmoid")
        _drawn(st.slider, "coef0", *settings.COEF0_RANGE, now.coef0, 0.1)
    _of_series("C", settings.C_RANGE, now.C)
    return kernel


def _copies(own: plane.Plane, now: Setting) -> bool:
    virtual = _drawn(st.toggle, "virtual", now.virtual)
    if virtual:
        known = f"The true invariance of this problem: {settings.JITTERS[own.jitter]}. Any other is a false assumption."
        _choice("by", settings.JITTERS, **({"help": known} if own.question is None else {}))
    return virtual


def _sample(now: Setting) -> None:
    left, right = st.columns(2)
    _drawn(left.slider, "noise", 0, 50, round(100 * now.noise))
    _drawn(right.number_input, "seed", 0, settings.MAX_SEED, now.seed, on_change=forget)


def _drawn(widget: Callable, name: str, *args, words: str = "", **how):
    """A widget of the form, with the words that widgets.toml has of it, or of another name."""
    settled = parameters.settings_of(f"playground.{words or name}") | {"key": _key(name)} | how
    return widget(settled.pop("label"), *args, **settled)


def _choice(name: str, titles: Mapping[str, str], **how) -> str:
    return _drawn(one_of, name, list(titles), format_func=titles.get, **how)


def _of_series(name: str, limits: tuple[float, float], now: float, words: str = "") -> None:
    offered = sorted({v for v in settings.SERIES if limits[0] <= v <= limits[1]} | {now})
    _drawn(st.select_slider, name, offered, now, words=words, format_func=partial(small, digits=6))


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
        state.tell_later(":material/info: Your click changed nothing: new points were drawn before it arrived.")
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
