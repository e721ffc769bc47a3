"""The family tree: a training example, what was made of it by every jitter of the run's set, and which of it was kept.

    x_parent -> T_j x_parent for all j      kept: alpha > 0 in the machine;      pale: made, or to be made, and not kept

Shifts lie around the parent as in Figure 4 of DeCoste and Schölkopf (2002). The address names the parent (`family`, a
row of the training part) and the machine (`of`).
"""

from functools import partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.example import evidence, jittered
from pages.ui.example.spoken import brief, spoken
from pages.ui.kit import numbers, parameters, ways
from pages.ui.kit.gallery import VIRTUAL_RINGS, Tile, gallery, reference
from pages.ui.kit.text import many, with_sign
from pages.ui.kit.words import plain, short, small
from pages.ui.recipe import data_set
from pages.ui.why.answer import Answer, Shown, answer
from svmcore.explain import contributions
from svmcore.explain.contributions import Contributions
from svmcore.jitter import JitterSet
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

PARAMS = {"family": slice(0, None), "of": data_set.check_machine}
OFFERED = 8  # families to choose from, those that pull most
MOST_TOGETHER = 96  # rows of a group that are pictured
PALE = 0.3  # of the ink of a form that was not kept


class Child(NamedTuple):
    """What became of one form of the parent in a machine."""

    position: int  # among the machine's support vectors; -1 for none
    alpha: float
    bound: bool


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw the family of the example, or of the support vectors that pull most on it."""
    own = shown.row if shown.row in evidence.dataset_rows(run, machine) and shown.row >= 0 else None
    if evidence.constructed(machine):
        _no_parents(run, shown)
        return
    if machine.jitter is None:
        if own is not None:
            _leaning(run, machine, own)
        _no_children(run, machine, shown, own)
        return
    said = answer(run, machine, shown)
    rows = evidence.dataset_rows(run, machine)
    c = _machine(run, machine, said, rows, own)
    of = contributions.of_machine(machine, c, said.k)
    families = of.grouped(rows[of.name])
    offered = families.name[families.strongest(OFFERED)]
    row = parameters.read("family", int(offered[0] if own is None else own))
    if not np.any(rows == row):
        st.warning(
            f"family={row} in the address: example {row} is not a parent of this run's support vectors. The family "
            "with the largest contribution to f is shown instead.",
            icon=":material/link_off:",
        )
        row = int(offered[0])
    if own is None:
        _choose(run, shown, families, offered, row)
    _tree(run, machine, shown, c, row, families)
    if own is not None:
        _leaning(run, machine, own)


def _leaning(run: Run, machine: Machine, row: int) -> None:
    """The machines that lean on this example, or on virtual ones made from it: alpha, margin, kind."""
    held = np.flatnonzero(evidence.dataset_rows(run, machine) == row)
    names, jitters = evidence.machine_names(run, machine), evidence.jitter_names(machine)
    margins = machine.decision_values(machine.support_vectors[held]) * np.sign(machine.coef[:, held].T)
    lines = [
        {
            "machine": names[c],
            "alpha": abs(machine.coef[c, i]),
            "margin y f(x)": margins[r, c],
            "kind": "bounded" if machine.bound[c, i] else "free",
        }
        | ({"jitter": jitters[machine.jitter[i]]} if jitters else {})
        for r, i in enumerate(held)
        for c in np.flatnonzero(machine.coef[:, i])
    ]
    leaning = len({line["machine"] for line in lines})
    example = "This example or a virtual copy of it" if jitters else "This example"
    st.markdown(f"{example} is a support vector of **{leaning}** of {len(names)} machines.")
    columns = {name: numbers.number(3) for name in ("alpha", "margin y f(x)")}
    alt = "Alpha and margin of this example in each machine that uses it"
    numbers.table(lines, alt, columns=columns, height="auto")


def _no_parents(run: Run, shown: Shown) -> None:
    """What the vectors of a reduced set are instead, and the way to the machine that has parents."""
    st.info(
        "Vectors of a reduced set are constructed, not training examples, so they have no parents. Each replaces "
        "several support vectors of the original machine.",
        icon=":material/family_restroom:",
    )
    if run.parent:
        query = {"run": run.parent, "digit": shown.ref, "why": "family"}
        ways.to("errors", "Explain this example with the original machine", "arrow_forward", query)


def _together(run: Run, machine: Machine, shown: Shown) -> None:
    """The rows of the example's group, which are virtual examples of each other."""
    dataset, (_, split, row) = shown.dataset, shown.ref.rsplit("/", 2)
    groups = dataset.groups_of(split, np.arange(len(evidence.all_of(dataset, split))))
    rows = np.flatnonzero(groups == groups[int(row)])
    n, rows = len(rows), rows[:MOST_TOGETHER].tolist()
    kept = {*evidence.dataset_rows(run, machine).tolist()} if split == "train" else ()
    marks = ["SV" if one in kept else "" for one in rows]
    labels = [f"{split} example {one}{', a support vector' if mark else ''}" for one, mark in zip(rows, marks)]
    evidence.example_gallery(
        dataset, split, np.array(rows), labels, upper=marks, lower=map(str, rows), key="why_together",
        alt=f"The {many(n, 'row')} of this group", whole_page=False,
    )  # fmt: skip
    st.caption(
        f"The {many(n, 'row')} of this example's group. SV: a support vector of this run. *Virtual support vectors* "
        "trains on the first row of each group, then on all rows of the groups whose first row became a "
        "support vector."
    )


def _no_children(run: Run, machine: Machine, shown: Shown, own: int | None) -> None:
    """Why there is no tree, and how to get one."""
    if own is None:
        st.caption("No machine of this run uses this example as a support vector.")
    if shown.dataset.groups is not None:
        _together(run, machine, shown)
    elif shown.dataset.image_shape is None:
        st.info("No virtual support vectors: columns of a table cannot be shifted or turned.", icon=":material/info:")
    if shown.dataset.image_shape is None:
        return
    st.info(
        "This run has no virtual support vectors. With them, this view shows each support vector with its shifted "
        "copies, and which copies became support vectors.",
        icon=":material/family_restroom:",
    )
    recipe = run.recipe.replace(method="vsv", jitters=run.recipe.jitters or "box:1", name="custom", title="")
    ways.to("train", "Set up this run with virtual support vectors", "play_circle", recipe.to_query())


def _machine(run: Run, machine: Machine, said: Answer, rows: np.ndarray, own: int | None) -> int:
    """The machine whose family it is: for a support vector the one that keeps most of its forms, else the called."""
    names = evidence.machine_names(run, machine)
    if len(names) == 1:
        return 0
    usual = said.called if own is None else int(np.count_nonzero(machine.coef[:, rows == own], axis=1).argmax())
    chosen = parameters.choice(
        "why.of", names, names[usual], key=f"why_of_{usual}", format_func=lambda name: short(name, 60)
    )
    return names.index(chosen)


def _choose(run: Run, shown: Shown, families: Contributions, offered: np.ndarray, row: int) -> None:
    """The families that pull most on the example, to pick one."""
    known, part = evidence.labels(run), dict(zip(families.name.tolist(), families.part.tolist()))
    gallery(
        evidence.form_pictures(run, offered),
        [
            Tile(
                str(one),
                f"The family of training example {one}, class {known.said(one)}, adds {with_sign(part[one])} to f",
                upper=evidence.brief(shown.dataset, known.seen[one]),
                lower=with_sign(part[one]),
                ring="free" if one == row else "",
            )
            for one in offered.tolist()
        ],
        key="why_families",
        alt=f"The {len(offered)} families with the largest contributions to f of this example, strongest first",
        size=48,
        on_pick=partial(parameters.say, "family"),
        whole_page=False,
    )
    st.caption("The families with the largest contributions to f of this example. Click a family to see its tree.")


def _tree(run: Run, machine: Machine, shown: Shown, c: int, row: int, families: Contributions) -> None:
    jitters = evidence.jitters(machine)
    born = children(run, machine, c, row, len(jitters))
    number = np.arange(len(jitters))
    drawn = evidence.form_pictures(run, np.full(len(jitters), row), jitters, number).astype(float)
    pale = np.array([child.position < 0 for child in born])
    drawn[pale] = 255 - PALE * (255 - drawn[pale])
    drawn = drawn.round().astype(np.uint8)
    ref = reference(run.recipe.dataset, "train", row)
    sign = int(np.sign(sum(machine.coef[c, child.position] for child in born if child.position >= 0)))
    tiles = [_tile(jitters, j, child, sign, "" if ref == shown.ref else ref) for j, child in enumerate(born)]
    squares = jittered.squares(jitters)
    for at, square in enumerate(squares):
        cells, of = square.cells.ravel(), f": {square.title}" if square.title else ""
        if square.title:
            st.markdown(f"**{'shifts alone' if square.title == 'identity' else plain(square.title)}**")
        gallery(
            drawn[np.maximum(cells, 0)], [tiles[j] if j >= 0 else Tile("", "") for j in cells], key=f"why_tree_{at}",
            alt=f"Training example {row} under {many(int(np.sum(cells >= 0)), 'jitter')}{of}. The copies in dotted "
            "frames became virtual support vectors.", size=jittered.size(squares), rows=[""] * len(square.cells),
            whole_page=False,
        )  # fmt: skip
    st.caption(_see(run, machine, shown, c, row, born, families))


def children(run: Run, machine: Machine, c: int, row: int, n: int) -> list[Child]:
    """What became of the n forms of a training example in machine c."""
    born = [Child(-1, 0.0, False)] * n
    for i in np.flatnonzero((evidence.dataset_rows(run, machine) == row) & (machine.coef[c] != 0)):
        born[machine.jitter[i]] = Child(int(i), float(abs(machine.coef[c, i])), bool(machine.bound[c, i]))
    return born


def _tile(jitters: JitterSet, j: int, child: Child, sign: int, ref: str) -> Tile:
    jitter = jitters.jitters[j]
    kept = child.position >= 0
    ring = evidence.ring(j > 0, child.bound) if kept else ""
    alpha = f", alpha {small(child.alpha, 3)}" if kept else ""
    return Tile(
        ref,
        f"{spoken(jitter)}: {evidence.ring_word(ring)}{alpha}",
        upper=brief(jitter) if j else "parent",
        lower=f"{child.alpha:.2f}{' C' if child.bound else ''}" if kept else "",
        ring=ring,
        sign=sign if kept else 0,
    )


def _see(run: Run, machine: Machine, shown: Shown, c: int, row: int, born: list[Child], families: Contributions) -> str:
    name, label = evidence.machine_names(run, machine)[c], evidence.labels(run).said(row)
    kept = sum(child.position >= 0 for child in born)
    at = np.flatnonzero(families.name == row)
    adds = f" Together they add {with_sign(families.part[at[0]])} to f of the example shown." if len(at) else ""
    alpha = sum(child.alpha for child in born)
    return (
        f"Training example {row:,}, class {plain(short(label, 80))}: {kept} of its {len(born)} forms (the "
        f"example and its jittered copies) are support vectors of *{plain(short(name, 60))}*; their alphas sum to "
        f"{alpha:.2f}.{adds} Above each picture: the jitter that made it. Below: its alpha (C: bounded). "
        f"{VIRTUAL_RINGS}. Pale: not a support vector of this machine."
    )
