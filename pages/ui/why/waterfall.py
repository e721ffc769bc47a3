"""The contributions to one decision drawn: from the bias through the strongest parts to f, each a bar that begins where
the last one ended.

    total_0 = b,   total_l = total_{l-1} + part_l,   then the rest for and the rest against, and f

A line is a support vector, all that was made from one parent, or a whole class, in words and a picture. A View is an
example, a machine and a way of adding up; a line's name is its key in `View.key`. The browser keeps which lines are
switched off, draws them hollow, and says what f of every machine and the prediction are without them: the parts of all
machines are in its hands. A bar that leaves the frame is torn there.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.example.spoken import brief, spoken
from pages.ui.kit.component import component, heard
from pages.ui.kit.gallery import DIGIT, open_digit, reference, sheet
from pages.ui.kit.words import many, short, small
from pages.ui.why import table
from pages.ui.why.answer import Answer, Shown
from svmcore.explain import contributions
from svmcore.jitter.families import Jitter
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

NO_PICTURES = np.zeros((0, 1, 1), np.uint8)


class Line(NamedTuple):
    """What is pictured and can be switched off, in every side that it stands in."""

    name: str  # known by, in the address too
    parts: list[float]  # (k,) what it adds to f of each machine
    label: str  # read out, shown on hover
    head: str = ""  # in the place of a picture
    picture: int = -1
    ref: str = ""  # what the way to its own view opens
    count: int = 1  # support vectors in it


class Side(NamedTuple):
    """One machine's f. The lists are of its pictured lines, strongest first; sums are of all its lines."""

    machine: int
    title: str
    role: str
    names: list[str]
    signs: list[int]  # which class a line is of: +1 the machine's own (blue), -1 (orange)
    rings: list[str]  # "free", "bound", "virtual", or "" for no support vector of this machine
    captions: list[str]  # beside their bars
    bias: float
    f: float
    n_for: int
    part_for: float
    n_against: int
    part_against: float


class Words(NamedTuple):
    """How the browser names things."""

    alt: str
    one: str  # "support vector"
    many: str
    classes: list[str]


class View(NamedTuple):
    """by: "sv", "parent" or "class"; key (m,) int: of each support vector its position, its parent's row of X_train or
    its class's place in the dataset; row (m,): rows of X_train; jitters: of a machine with virtual ones, else ()."""

    run: Run
    machine: Machine
    shown: Shown
    said: Answer
    by: str
    key: np.ndarray
    row: np.ndarray
    jitters: tuple[Jitter, ...]


def view(run: Run, machine: Machine, shown: Shown, said: Answer, by: str) -> View:
    """What lines are of, added up `by`."""
    row, jitters = evidence.dataset_rows(run, machine), ()
    if machine.jitter is not None:
        jitters = evidence.jitters(machine).jitters
    key = np.arange(len(row)) if by == "sv" else row
    if by == "class":
        _, key = np.unique(evidence.labels(run).seen[row], return_inverse=True)
    return View(run, machine, shown, said, by, key, row, jitters)


def added_up(view: View, c: int) -> contributions.Contributions:
    """The contributions to f of machine c, a line for each key."""
    one = contributions.of_machine(view.machine, c, view.said.k)
    return one if view.by == "sv" else one.grouped(view.key[one.name])


def members(view: View, name: int) -> np.ndarray:
    """Positions of the support vectors in a line, those of other machines too."""
    return np.array([name]) if view.by == "sv" else np.flatnonzero(view.key == name)


def side(view: View, c: int, one: contributions.Contributions, names: np.ndarray) -> Side:
    """Those of machine c with the pictured lines, for the browser."""
    of = [members(view, name) for name in names]
    all_of_it = contributions.rest(one, np.zeros(0, int))
    return Side(
        machine=c,
        title=short(evidence.machine_names(view.run, view.machine)[c], 60),
        role=view.said.role(c),
        names=[str(name) for name in names.tolist()],
        signs=[int(np.sign(view.machine.coef[c, positions].sum())) for positions in of],
        rings=[_ring(view, c, positions) for positions in of],
        captions=[_caption(view, c, positions) for positions in of],
        bias=one.bias,
        f=float(view.said.f[c]),
        n_for=all_of_it.n_for,
        part_for=all_of_it.part_for,
        n_against=all_of_it.n_against,
        part_against=all_of_it.part_against,
    )


def pictured(view: View, machines: Mapping[int, int]) -> tuple[np.ndarray, list[Line]]:
    """Pictures and lines of the names, the keys of `machines`; each is told as the machine has it that pictures it."""
    of = [members(view, name) for name in machines]
    dataset = view.shown.dataset
    drawn = view.by != "class" and (dataset.album is not None or not table.is_table(dataset)) and len(of) > 0
    lines = [
        Line(
            name=str(name),
            parts=contributions.parts(view.machine, view.said.k, positions).tolist(),
            label=_label(view, c, positions),
            head="" if drawn else _head(view, positions),
            picture=at if drawn else -1,
            ref=_ref(view, positions),
            count=len(positions),
        )
        for at, ((name, c), positions) in enumerate(zip(machines.items(), of))
    ]
    return (_pictures(view, of) if drawn else NO_PICTURES), lines


def _ref(view: View, positions: np.ndarray) -> str:
    """What a line's own view is of; empty where there is none."""
    row = view.row[positions[0]]
    return "" if view.by == "class" or row < 0 else reference(view.run.recipe.dataset, "train", row)


def _pictures(view: View, of: list[np.ndarray]) -> np.ndarray:
    """A picture for each line: the support vector, or the parent, as the machine sees it."""
    first = np.array([positions[0] for positions in of])
    if view.by == "sv":
        return evidence.support_pictures(view.run, view.machine, evidence.supports_at(view.run, view.machine, 0, first))
    return evidence.form_pictures(view.run, view.row[first])


def _ring(view: View, c: int, positions: np.ndarray) -> str:
    """The ring of a line in machine c; of a parent its own, not that of what was made from it."""
    machine = view.machine
    if view.by == "class":
        return ""
    if view.by == "parent":
        positions = positions[machine.jitter[positions] == 0]
    if not len(positions) or not machine.coef[c, positions[0]] or machine.constructed[positions[0]]:
        return ""
    made = machine.jitter is not None and machine.jitter[positions[0]] > 0
    return evidence.ring(made, machine.bound[c, positions[0]])


def _class(view: View, positions: np.ndarray) -> str:
    """The class of a line; "reduced" for a vector that was constructed, which has none."""
    row = view.row[positions[0]]
    return "reduced" if row < 0 else str(evidence.labels(view.run).seen[row])


def _jitter(view: View, positions: np.ndarray) -> Jitter | None:
    if view.by != "sv" or view.machine.jitter is None or not view.machine.jitter[positions[0]]:
        return None
    return view.jitters[view.machine.jitter[positions[0]]]


def _held(view: View, c: int, positions: np.ndarray) -> np.ndarray:
    """Those of a line that are support vectors of machine c."""
    return positions[view.machine.coef[c, positions] != 0]


def _caption(view: View, c: int, positions: np.ndarray) -> str:
    held = _held(view, c, positions)
    if view.by == "class":
        return many(len(held), "support vector")
    said = short(_class(view, positions), 14)
    if view.row[positions[0]] < 0:
        return f"no. {positions[0]:,}"
    if view.by == "parent":
        said += f", {np.sum(view.machine.jitter[held] > 0)} virtual"
    elif jitter := _jitter(view, positions):
        said += f", {brief(jitter)}"
    if table.is_table(view.shown.dataset) and view.shown.dataset.album is None:
        said = "\n".join([f"class {said}", *table.differing(view.shown, int(view.row[positions[0]]))])
    return said


def _label(view: View, c: int, positions: np.ndarray) -> str:
    held, label = _held(view, c, positions), short(_class(view, positions))
    if view.row[positions[0]] < 0:
        return f"Reduced set vector {positions[0]}, weight {small(view.machine.coef[c, positions[0]], 3)}"
    if view.by == "class":
        return f"Class {label}, {many(len(held), 'support vector')}"
    example = f"Training example {view.row[positions[0]]}, class {label}"
    if view.by == "parent":
        copies = many(int(np.sum(view.machine.jitter[held] > 0)), "virtual support vector")
        return f"{example}, with {copies} made from it"
    jitter, alpha = _jitter(view, positions), abs(view.machine.coef[c, positions[0]])
    moved = f", {spoken(jitter)}" if jitter else ""
    return f"{example}{moved}: {evidence.ring_word(_ring(view, c, positions))}, alpha {small(alpha, 3)}"


def _head(view: View, positions: np.ndarray) -> str:
    if view.by == "class":
        return short(_class(view, positions), 12)
    return f"no. {view.row[positions[0]]:,}" if view.row[positions[0]] >= 0 else f"z {positions[0]:,}"


def draw(
    pictures: np.ndarray,
    lines: Sequence[Line],
    sides: Sequence[Side],
    f: np.ndarray,
    words: Words,
    *,
    subject: str,
    first: int,
    off: Sequence[str],
    key: str,
    on_off: Callable[[str], None],
    size: int = 48,
) -> None:
    """Draw one or two machines side by side, `first` lines of each until the reader asks for all.

    pictures (n, h, w[, 3]) uint8; f (k,) decision values of all machines; subject: what is switched off lasts as long
    as it stays the same; on_off is told the names of the lines that are, joined by commas.
    """
    _component(
        data=sheet(pictures, size)
        | {
            "lines": {line.name: line._asdict() for line in lines},
            "sides": [side._asdict() for side in sides],
            "f": [float(value) for value in f],
            "words": words._asdict(),
            "subject": subject,
            "first": first,
            "off": list(off),
        },
        key=key,
        on_picked_change=heard(key, "picked", _picked),
        on_off_change=heard(key, "off", lambda names: on_off("" if names == "none" else names)),
    )


def _picked(ref: str) -> None:
    within = DIGIT in st.query_params  # the view of an example, which draws itself anew
    open_digit(ref)
    if not within:
        st.rerun()


_component = component(__file__, "waterfall", '<div class="bill" role="group">\n</div>', first=("pictures", "roving"))
