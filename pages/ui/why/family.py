"""The family tree of a support vector: a training example, and its forms under every jitter of the run's set.

    x_p  ->  T_j x_p,  j = 0 .. J-1;      alpha_j > 0: the form is a support vector,  alpha_j = 0: it was not needed

Forms are laid out around the parent by their shifts. From any other example the way leads by the families that pull
most on it, the pull of family p on f_c(x) being sum_{i of p} coef[c, i] K(x_i, x).
Reference: DeCoste and Schoelkopf, Machine Learning 46 (2002), section 3.2 and Figure 4.
"""

from typing import NamedTuple

import numpy as np
import streamlit as st

from data import load
from pages.ui.example import evidence, jittered
from pages.ui.example.shown import Shown
from pages.ui.kit import state
from pages.ui.kit.gallery import Tile, gallery, reference
from pages.ui.kit.words import plain, short
from pages.ui.why.answer import Answer, answer
from pages.ui.why.spoken import brief, spoken
from svmcore.jitter import JitterSet
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

PARAMS = FAMILY, TREE = "family", "tree"  # of the address: the parent's row in the train part, the machine's name
PULLING = 12  # families offered


class Tree(NamedTuple):
    """One family in one machine: what became of each form. Arrays (J,) in the order of the set."""

    row: int  # of the parent in X_train
    jitters: JitterSet
    alpha: np.ndarray
    kind: np.ndarray  # "free", "bound" or "virtual": the ring of a support vector; "" for a form that is none
    part: np.ndarray  # what each adds to f of the example looked at


def offered(run: Run, machine: Machine, shown: Shown) -> bool:
    """Whether the machine has families, or the example is itself one of its support vectors."""
    return _jitters(machine) is not None or len(_held(run, machine, shown)) > 0


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """The tree of the example's own family, or those of the families that pull most on it; `family` and `tree`."""
    held = _held(run, machine, shown)
    if _jitters(machine) is not None:
        said = answer(run, machine, shown)
        c = _machine(run, machine, said, held)
        row = int(shown.ref.rpartition("/")[2]) if len(held) else _pulling(run, machine, said, c)
        if row is not None:
            left, right = st.columns([2, 3], gap="medium")
            tree = grown(run, machine, c, row, said.k)
            with left:
                _draw(run, machine, tree, c, own=len(held) > 0)
            with right:
                _tell(run, machine, tree, c, own=len(held) > 0)
                if len(held):
                    _table(run, machine, held)
    elif len(held):
        _table(run, machine, held)


def grown(run: Run, machine: Machine, c: int, row: int, k: np.ndarray) -> Tree:
    """The family of a training example in machine c, for an example with kernel values k (m,)."""
    jitters = _jitters(machine)
    alpha, part = np.zeros(len(jitters)), np.zeros(len(jitters))
    kind = np.full(len(jitters), "", dtype="U7")
    for i in np.flatnonzero((evidence.dataset_rows(run, machine) == row) & (machine.coef[c] != 0)):
        j = machine.jitter[i]
        alpha[j], part[j] = abs(machine.coef[c, i]), machine.coef[c, i] * k[i]
        kind[j] = "virtual" if j else "bound" if machine.bound[c, i] else "free"
    return Tree(row, jitters, alpha, kind, part)


def pulls(run: Run, machine: Machine, c: int, k: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Parents (g,), rows of X_train, and what their families add to f_c (g,), the strongest first."""
    mine = np.flatnonzero(machine.coef[c])
    rows, family = np.unique(evidence.dataset_rows(run, machine)[mine], return_inverse=True)
    part = np.bincount(family, machine.coef[c, mine] * k[mine], len(rows))
    order = np.argsort(-np.abs(part), kind="stable")
    return rows[order], part[order]


def _jitters(machine: Machine) -> JitterSet | None:
    shape = machine.meta.get("image_shape")
    if machine.jitter is None or shape is None:
        return None
    return JitterSet.parse(machine.meta["jitters"], tuple(shape))


def _held(run: Run, machine: Machine, shown: Shown) -> np.ndarray:
    """Places of the support vectors that are the example or were made from it."""
    name, _, number = shown.ref.rpartition("/")
    if not name.endswith("/train"):
        return np.empty(0, np.intp)
    return np.flatnonzero(evidence.dataset_rows(run, machine) == int(number))


def _machine(run: Run, machine: Machine, said: Answer, held: np.ndarray) -> int:
    """The machine whose tree is drawn: the address's, else the one that holds most of the family, else the predicted
    class's; a choice of all that there are."""
    names = evidence.machine_names(run, machine)
    if len(names) == 1:
        return 0
    able = np.flatnonzero(np.any(machine.coef[:, held] != 0, axis=1)) if len(held) else np.arange(len(names))
    first = able[np.argmax(np.count_nonzero(machine.coef[np.ix_(able, held)], axis=1))] if len(held) else said.sides[0]
    classes = [said.names[c] for c in able]
    asked = st.query_params.get(TREE)
    if asked not in said.names:
        state.param(TREE, said.names[first], classes)
    st.session_state["why_tree"] = asked if asked in classes else said.names[first]
    chosen = st.selectbox(
        "Family tree in the machine",
        classes,
        format_func=lambda name: short(names[said.names.index(name)]),
        key="why_tree",
        width=260,
        on_change=lambda: st.query_params.update({TREE: st.session_state["why_tree"]}),
        help="Each machine keeps forms of its own, with alphas of its own.",
    )
    return said.names.index(chosen)


def _pulling(run: Run, machine: Machine, said: Answer, c: int) -> int | None:
    """The family looked at, of those that pull most on the example; a choice of them by picture."""
    rows, part = pulls(run, machine, c, said.k)
    if not len(rows):
        return None
    rows, part = rows[:PULLING], part[:PULLING]
    asked = st.query_params.get(FAMILY)
    if asked is not None and asked not in map(str, rows):
        part_of = "the families that pull most on this example"
        st.caption(f"{FAMILY}={plain(short(asked))} in the address is none of {part_of}; the strongest is shown.")
    chosen = int(asked) if asked in map(str, rows) else int(rows[0])
    dataset = load(run.recipe.dataset)
    tiles = [
        Tile(
            str(row),
            f"Family of training example {row}, class {dataset.y_train[row]}: adds {p:+.3f} to f",
            upper=short(dataset.y_train[row], 9),
            lower=f"{p:+.2f}",
            ring="bound" if row == chosen else "free",
            sign=1 if p > 0 else -1,
        )
        for row, p in zip(rows, part)
    ]
    gallery(
        evidence.example_pictures(dataset, "train", rows),
        tiles,
        key="why_families",
        alt=f"The {len(rows)} families that pull most on this example, strongest first",
        size=48,
        on_pick=lambda ref: st.query_params.update({FAMILY: ref}),
        whole_page=False,
    )
    st.caption(
        f"Families that pull most on f of *{plain(short(evidence.machine_names(run, machine)[c]))}*: below each what "
        "all its members add together, blue for the machine's class, orange against. Double frame: the one drawn "
        "here. Click another."
    )
    return chosen


def _draw(run: Run, machine: Machine, tree: Tree, c: int, own: bool) -> None:
    """The forms around their parent: those that are support vectors with ring and alpha, the others pale."""
    dataset = load(run.recipe.dataset)
    forms = tree.jitters.apply(dataset.X_train[tree.row : tree.row + 1])[:, 0]
    pictures = evidence.seen_pictures(run, evidence.prepared(run, forms))
    side = int(np.sign(machine.coef[c, evidence.dataset_rows(run, machine) == tree.row].sum()))
    ref = "" if own else reference(run.recipe.dataset, "train", tree.row)
    layout = jittered.squares(tree.jitters)
    for number, square in enumerate(layout):
        cells = square.cells.ravel()
        if square.title:
            st.markdown(f"**{plain(square.title)}**")
        gallery(
            pictures[np.maximum(cells, 0)],
            [_form(tree, j, ref, side) if j >= 0 else Tile("", "") for j in cells],
            key=f"why_tree_{number}",
            alt=f"{np.sum(cells >= 0)} forms of training example {tree.row}, the parent at the centre",
            size=min(56, jittered.size(layout)),
            rows=[""] * len(square.cells),
            whole_page=False,
        )


def _tell(run: Run, machine: Machine, tree: Tree, c: int, own: bool) -> None:
    """The tree in words."""
    label = load(run.recipe.dataset).y_train[tree.row]
    kept, names = tree.kind != "", evidence.machine_names(run, machine)
    itself = "" if kept[0] else " The example itself is none: only its forms hold the machine up."
    st.markdown(
        f"Training example {tree.row:,}, class {plain(short(label))}: **{kept.sum()} of {len(kept)} forms** are support "
        f"vectors of *{plain(short(names[c]))}*, alpha {tree.alpha.sum():.3g} together. They add "
        f"**{tree.part.sum():+.3f}** to f of the example looked at.{itself}"
    )
    st.caption(
        "Above each form its shift, below its alpha. Dotted ring: virtual support vector; pale: not needed "
        f"(alpha = 0), or never tried.{'' if own else ' Click one for the view of the parent.'}"
    )


def _form(tree: Tree, j: int, ref: str, side: int) -> Tile:
    jitter, kept = tree.jitters.jitters[j], tree.kind[j] != ""
    what = f"{tree.kind[j]} support vector, alpha {tree.alpha[j]:.3g}" if kept else "no support vector"
    pull = f", adds {tree.part[j]:+.3f} to f" if kept else ""
    return Tile(
        ref,
        f"{'Parent, ' if j == 0 else ''}{spoken(jitter)}: {what}{pull}",
        upper="parent" if j == 0 else brief(jitter),
        lower=f"{tree.alpha[j]:.2g}" if kept else "",
        ring=str(tree.kind[j]),
        sign=side,
        pale=not kept,
    )


def _table(run: Run, machine: Machine, held: np.ndarray) -> None:
    """Alpha, margin and kind of the example, or of those made from it, in each machine that leans on them."""
    names, jitters = evidence.machine_names(run, machine), evidence.jitter_names(machine)
    margins = machine.decision_values(machine.support_vectors[held]) * np.sign(machine.coef[:, held].T)
    rows = [
        {
            "machine": names[c],
            "alpha": abs(machine.coef[c, i]),
            "margin y f(x)": margins[r, c],
            "kind": "bound" if machine.bound[c, i] else "free",
        }
        | ({"jitter": jitters[machine.jitter[i]]} if jitters else {})
        for r, i in enumerate(held)
        for c in np.flatnonzero(machine.coef[:, i])
    ]
    leaning = len({row["machine"] for row in rows})
    st.markdown(f"Support vector of **{leaning}** of {len(names)} machines")
    st.dataframe(
        rows,
        hide_index=True,
        column_config={name: st.column_config.NumberColumn(format="%.3f") for name in ("alpha", "margin y f(x)")},
        alt="Alpha and margin in each machine that this example supports",
    )
