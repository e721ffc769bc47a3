"""The lines of a bill in words and pictures: a support vector, all that was made from one parent, or a whole class.

A View is a bill's example, machine and way of adding up; a line's name is its key in `View.key`.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from pages.ui.example import evidence
from pages.ui.example.spoken import brief, spoken
from pages.ui.kit.gallery import reference
from pages.ui.kit.words import many, short, small
from pages.ui.why import table
from pages.ui.why.answer import Answer, Shown
from pages.ui.why.waterfall import Line, Side
from svmcore.explain import bill
from svmcore.jitter.families import Jitter
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

NO_PICTURES = np.zeros((0, 1, 1), np.uint8)


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


def added_up(view: View, c: int) -> bill.Bill:
    """The bill of machine c, a line for each key."""
    one = bill.of_machine(view.machine, c, view.said.k)
    return one if view.by == "sv" else one.grouped(view.key[one.name])


def members(view: View, name: int) -> np.ndarray:
    """Positions of the support vectors in a line, those of other machines too."""
    return np.array([name]) if view.by == "sv" else np.flatnonzero(view.key == name)


def side(view: View, c: int, one: bill.Bill, names: np.ndarray) -> Side:
    """The bill of machine c with its pictured lines, for the browser."""
    of = [members(view, name) for name in names]
    all_of_it = bill.rest(one, np.zeros(0, int))
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
            parts=bill.parts(view.machine, view.said.k, positions).tolist(),
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
        return evidence.support_pictures(view.run, view.machine, evidence.at(view.run, view.machine, 0, first))
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
    """What made a virtual support vector."""
    if view.by != "sv" or view.machine.jitter is None or not view.machine.jitter[positions[0]]:
        return None
    return view.jitters[view.machine.jitter[positions[0]]]


def _held(view: View, c: int, positions: np.ndarray) -> np.ndarray:
    """Those of a line that are support vectors of machine c."""
    return positions[view.machine.coef[c, positions] != 0]


def _caption(view: View, c: int, positions: np.ndarray) -> str:
    """What stands beside a line's bar."""
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
    """What is read out of a line."""
    held, label = _held(view, c, positions), short(_class(view, positions))
    if view.row[positions[0]] < 0:
        return f"Reduced set vector {positions[0]}, weight {small(view.machine.coef[c, positions[0]], 3)}"
    if view.by == "class":
        return f"Class {label}, {many(len(held), 'support vector')}"
    example = f"Training example {view.row[positions[0]]}, class {label}"
    if view.by == "parent":
        return f"{example}, with {np.sum(view.machine.jitter[held] > 0)} virtual support vectors made from it"
    jitter, alpha = _jitter(view, positions), abs(view.machine.coef[c, positions[0]])
    moved = f", {spoken(jitter)}" if jitter else ""
    return f"{example}{moved}: {evidence.ring_word(_ring(view, c, positions))}, alpha {small(alpha, 3)}"


def _head(view: View, positions: np.ndarray) -> str:
    """What stands in the place of a picture."""
    if view.by == "class":
        return short(_class(view, positions), 12)
    return f"no. {view.row[positions[0]]:,}" if view.row[positions[0]] >= 0 else f"z {positions[0]:,}"
