"""Contributions to a decision: the support vectors that speak for and against, what they add up to, f without some.

    f_c(x) = b_c + sum_i alpha_i y_i K(x_i, x)      a line for each support vector, for each parent, or for each class

The address says how they are added up (`bill`), which machine stands beside the predicted class's (`rival`) and what is
switched off (`off`).
"""

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.kit import parameters, ways
from pages.ui.kit.gallery import SIDES, VIRTUAL_RINGS
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import plain, short
from pages.ui.recipe import data_set
from pages.ui.why import waterfall
from pages.ui.why.answer import Answer, Shown, answer
from svmcore.explain.contributions import Contributions
from svmcore.lab.analyses.without import why_not
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

LINES_FIRST, LINES_ALL = 8, 24  # lines pictured of each machine, and when the reader asks for more
FEW_LINES = 12  # lines up to which all are pictured at once
BY = {"sv": "support vector", "parent": "parent", "class": "class"}
PARAMS = {"bill": BY, "rival": data_set.check_class, "off": None}
MANY = {"sv": "support vectors", "parent": "parents", "class": "classes"}
ROW = {
    "sv": "a training example",
    "parent": "a training example with its virtual copies",
    "class": "a class of training examples",
}
CONSTRUCTED = "a vector of the reduced set"
AUTO = ""  # beside the called class's machine: the true one's, or the runner-up's
SEE = "From the bias to f, each bar starts where the previous bar ended. A bar with a torn end leaves the picture."


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw those of the predicted class's machine and of another one, with the choice of how to add up."""
    said = answer(run, machine, shown)
    with st.container(horizontal=True, key="why_choices"):
        by = _added_up(machine)
        beside = _beside(run, machine, said)
    view = waterfall.view(run, machine, shown, said, by)
    sides = said.sides(beside)
    sums = [waterfall.added_up(view, c) for c in sides]
    pictured = [one.name[one.strongest(LINES_ALL)] for one in sums]
    off = partial(_off, "/".join([run.id, shown.ref, by, *map(str, sides)]))
    _retrain_without(view, bars(view, sides, sums, pictured, off, partial(parameters.say, "off"), "why_waterfall"))


def bars(
    view: waterfall.View,
    sides: Sequence[int],
    sums: Sequence[Contributions],
    pictured: Sequence[np.ndarray],
    off: Callable[[list[str]], list[str]],
    on_off: Callable[[str], None],
    key: str,
) -> list[str]:
    """Draw the contributions to machines `sides`. off(names): those of them that are switched off, which are returned;
    on_off: called when they change."""
    machines, by = {}, view.by
    for c, names in zip(sides, pictured):
        for name in names.tolist():
            machines.setdefault(name, c)
    pictures, drawn = waterfall.pictured(view, machines)
    constructed = evidence.constructed(view.machine)
    st.markdown(_verdict(view.said, sides, CONSTRUCTED if constructed else ROW[by]))
    switched = off([line.name for line in drawn])
    waterfall.draw(
        pictures, drawn, [waterfall.side(view, c, one, names) for c, one, names in zip(sides, sums, pictured)],
        view.said.f,
        waterfall.Words(f"f as a sum, by {BY[by]}", BY[by], MANY[by], [short(name) for name in view.said.names]),
        subject="/".join([view.run.id, view.shown.ref, by, *map(str, sides)]),
        first=LINES_ALL if max(map(len, pictured)) <= FEW_LINES else LINES_FIRST, off=switched, key=key, on_off=on_off,
    )  # fmt: skip
    st.caption(f"{SEE} {'Vectors may have values below 0' if constructed else VIRTUAL_RINGS}; {SIDES}.")
    return switched


def _verdict(said: Answer, sides: Sequence[int], row: str) -> str:
    """Which f decides, and how the bars are read, in one sentence for who sees it for the first time."""
    name = lambda c: plain(short(said.names[c], 24))  # noqa: E731
    bars = f"Each row is {row}. **Blue** bars pull towards the class of the machine, **orange** bars away from it."
    if len(said.f) == 1:
        return f"f is {'above' if said.called else 'below'} 0, so the prediction is {name(said.called)}. {bars}"
    c, other = sides
    f = [with_sign(said.f[side]) for side in sides]
    role = f" ({said.role(other)})" if said.role(other) else ""
    return f"The largest f decides: **{name(c)}** has {f[0]}, {name(other)}{role} has {f[1]}. {bars}"


def _retrain_without(view: waterfall.View, off: list[str]) -> None:
    """The way from support vectors that are switched off to the machines that are trained without them."""
    if view.by != "sv" or not off or why_not(view.run):
        return
    label = f"Retrain without {'this support vector' if len(off) == 1 else f'these {len(off)} support vectors'}"
    query = {"run": view.run.id, "take_out": ",".join(str(view.row[int(name)]) for name in off)}
    help = "Switching a support vector off removes its term from f. Retraining lets the other ones compensate."
    ways.to("support_vectors", label, "model_training", query, help=help)


# ---------------------------------------------------------------------------------------------- choices, in the address


def _added_up(machine: Machine) -> str:
    names = [name for name in BY if name != "parent" or machine.jitter is not None]
    if evidence.constructed(machine):  # its vectors are of no class, and come from no example
        names = ["sv"]
    return parameters.choice("why.bill", names, key="why_bill", format_func=BY.__getitem__)


def _beside(run: Run, machine: Machine, said: Answer) -> str | None:
    """The class whose machine stands beside the called one's; None for the usual one, or where there is one machine."""
    if len(said.f) == 1:
        return None
    options = [AUTO, *said.names]
    machines = evidence.machine_names(run, machine)
    return parameters.choice(
        "why.rival",
        options,
        AUTO,
        key="why_beside",
        format_func=lambda name: (
            short(machines[said.names.index(name)], 60) if name else "true class, or the runner-up"
        ),
    )


def _off(subject: str, names: list[str]) -> list[str]:
    """What the address has switched off of this subject; it goes with another example, machine or way of adding up."""
    before = st.session_state.get("why_bill_subject", subject)
    st.session_state["why_bill_subject"] = subject
    if "off" not in st.query_params:
        return []
    if before != subject:
        st.query_params.pop("off")
        return []
    asked = st.query_params["off"].split(",")
    if unknown := [name for name in asked if name not in names]:
        st.warning(
            f"off={plain(short(','.join(unknown), 80))} in the address names nothing shown here, and is ignored.",
            icon=":material/link_off:",
        )
    return [name for name in asked if name in names]
