"""Moved a little: one example under every jitter of a set, and what the machine makes of each form.

    lead(T x) = f_own(T x) - max_{c not own} f_c(T x)       the answer flips where it changes its sign

Forms stand in the order of their lead, so that those which go wrong are on one side. A jittered kernel compares each
support vector with the nearest form alone; the share of all pull that each form has is written below it.
Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.3 and Figure 4.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.example.spoken import brief, spoken
from pages.ui.kit.component import component
from pages.ui.kit.gallery import Tile, gallery, reference, sheet
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import plain, short
from pages.ui.recipe import jitter_set
from pages.ui.why.answer import Answer, Shown, answer, deciding, form_pictures, is_image, machine_of, value
from svmcore.explain import moved
from svmcore.jitter import JitterSet
from svmcore.lab.store.runs import Run
from svmcore.model import Machine, answers

USUAL = "box:1"
MOST = 121  # forms of one example that are drawn: an 11 x 11 square of shifts
STRONGEST = 12  # support vectors of a jittered kernel


class Cell(NamedTuple):
    """What stands around one picture. values: a bar each, from one zero line; answer: what it is called."""

    caption: str
    values: tuple[float, ...]
    answer: str
    label: str  # read out, shown on hover
    right: bool = True
    original: bool = False
    note: str = ""  # a line more, such as a share


def _strip(pictures: np.ndarray, cells: Sequence[Cell], *, key: str, alt: str, size: int = 56) -> None:
    """Draw pictures (n, h, w[, 3]) uint8 in a row that wraps, each with its cell; between two neighbours of which one
    is right and one wrong stands a mark."""
    _component(
        data=sheet(pictures, size)
        | {
            "alt": alt,
            "largest": max((abs(v) for cell in cells for v in cell.values), default=1.0) or 1.0,
            "cells": [cell._asdict() | {"values": list(cell.values)} for cell in cells],
        },
        key=key,
    )


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw the strip with the choice of its set, `orbit` in the address."""
    if not is_image(shown):
        return
    jitters = jitter_set.field(shown.dataset.image_shape, "orbit", run.learned.jitters or USUAL)
    if jitters is None:
        return
    if len(jitters) > MOST:
        st.warning(
            f"The jitter set {plain(jitters)} makes {len(jitters):,} forms of each example, but at most {MOST} can be "
            "drawn. Choose a smaller set.",
            icon=":material/grid_off:",
        )
        return
    now = answer(run, machine, shown)
    forms = jitters.apply(shown.X)
    f = moved.decided(machine, deciding(run), forms)[:, 0]
    leads = moved.leads(f, now.own)
    pulls = moved.pulls(machine, now.own if len(f[0]) > 1 else 0, now.x, STRONGEST)
    order = np.argsort(leads, kind="stable")
    shares = _shares(jitters, pulls)
    _strip(
        form_pictures(shown, forms[order, 0]),
        [_cell(jitters, j, f[j], leads[j], now, shares.get(j)) for j in order],
        key="orbit_strip",
        alt=f"{len(jitters)} forms of the example, those with the lowest f of {short(now.names[now.own])} first",
        size=56 if len(jitters) <= 30 else 28,
    )
    st.caption(_see(now, f, leads))
    if pulls is not None:
        _picked(run, machine, shown, now, pulls)


def _cell(jitters: JitterSet, j: int, f: np.ndarray, lead: float, now: Answer, share: float | None) -> Cell:
    said = now.names[int(answers(f))]
    shown = [now.own, now.rival] if len(f) > 1 else [1]
    values = tuple(float(value(f, c)) for c in shown)
    numbers = ", ".join(f"f of {short(now.names[c], 20)} {with_sign(v, 3)}" for c, v in zip(shown, values))
    pull = (
        ""
        if share is None
        else f"; for {100 * share:.0f} % of the pull of all support vectors, this form is the nearest"
    )
    verdict = "" if now.true is None else ", right" if lead > 0 else ", wrong"
    label = f"{spoken(jitters.jitters[j])}: predicted {short(said, 20)}{verdict}; {numbers}{pull}"
    return Cell(
        brief(jitters.jitters[j]),
        values,
        short(said, 9),
        label,
        right=bool(said == now.names[now.own]),
        original=bool(j == 0),
        note="" if share is None else f"{100 * share:.0f} %",
    )


def _see(now: Answer, f: np.ndarray, leads: np.ndarray) -> str:
    own, wrong = plain(short(now.names[now.own])), int(np.sum(leads <= 0))
    whose = "classified correctly" if now.true is not None else f"predicted as {own}"
    if len(f[0]) > 1:
        rival = plain(short(now.names[now.rival]))
        bars = f"Below each form, the filled bar is f of {own} and the hollow bar is f of {rival}"
        bars += ", the strongest other class"
    else:
        bars = f"Below each form, the bar is f of {machine_of(now.names, 1)}"
    where = f"{len(leads) - wrong} of {len(leads)} forms are {whose}"
    best = int(np.argmax(leads)) if leads[0] <= 0 < leads.max() else None
    flip = " The prediction changes at the dashed line." if 0 < wrong < len(leads) else ""
    hope = " At least one of these changes corrects the error." if best is not None else ""
    return f"{where}. The example itself is framed. {bars} (blue above 0, orange below).{flip}{hope}"


def _shares(jitters: JitterSet, pulls: moved.Pulls | None) -> dict[int, float]:
    """Form number -> its share of the pull, for the forms that the kernel has too."""
    if pulls is None:
        return {}
    share = {j.key: float(s) for j, s in zip(pulls.jitters.jitters, pulls.share)}
    numbers = ((n, j.key) for n, j in enumerate(jitters.jitters))
    return {n: share[key] for n, key in numbers if key in share}


def _picked(run: Run, machine: Machine, shown: Shown, now: Answer, pulls: moved.Pulls) -> None:
    """The support vectors that weigh most in a jittered kernel's decision, each with the form it was compared with."""
    most = int(np.argmax(pulls.share))
    st.markdown(
        "**The jittering kernel** compares each support vector only with the nearest form. The pull of a support "
        "vector is the size of its contribution to f. The form with the largest share of all pull: "
        f"{plain(spoken(pulls.jitters.jitters[most]))}, {100 * pulls.share[most]:.0f} %."
    )
    c = now.own if len(machine.bias) > 1 else 0
    chosen = evidence.supports(run, machine, c)
    place = {position: i for i, position in enumerate(chosen.position)}
    chosen = evidence.take(chosen, np.array([place[p] for p in pulls.position], int))
    tiles = [
        Tile(
            reference(run.recipe.dataset, "train", row),
            f"Training example {row}, class {label}; nearest form of the example: "
            f"{spoken(pulls.jitters.jitters[form])}",
            upper=brief(pulls.jitters.jitters[form]) if form else "=",
            lower=with_sign(part),
            ring=str(kind),
            sign=int(side),
        )
        for row, label, kind, side, part, form in zip(
            chosen.row, chosen.label, chosen.kind, chosen.sign, pulls.part, pulls.form
        )
    ]
    gallery(
        evidence.support_pictures(run, machine, chosen), tiles, key="orbit_picked",
        alt=f"The {len(tiles)} largest support vectors, each with the form of the example nearest to it", size=48,
    )  # fmt: skip
    whose = machine_of(now.names, c if len(machine.bias) > 1 else 1)
    st.caption(
        f"The support vectors of {whose} with the largest contributions. "
        "Upper right: the change that brings the example nearest to the support vector (=: no change). Below: its "
        "contribution to f."
    )


_component = component(
    __file__, "strip", '<div class="orbit" role="list">\n</div>', first=("pictures", "roving", "svg")
)
