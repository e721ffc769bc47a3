"""What an example is worth: the support vectors whose removal helps, and those whose removal harms, by validation.

Every support vector is left out in turn and its machines are retrained without it, exactly, beside the runs
(svmcore/lab/jobs/without.py); the list is here as far as it has come.
"""

from functools import partial

import numpy as np
import streamlit as st

from data import load
from pages.ui.example import evidence
from pages.ui.kit import parameters, state
from pages.ui.kit.gallery import Tile, gallery, reference
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import many, plain, short
from pages.ui.why import ticks
from pages.ui.why.working import at_work
from svmcore.explain.value import Values
from svmcore.lab.experiment.without import FOLDS, Worth
from svmcore.lab.jobs import without as jobs
from svmcore.lab.jobs.beside import Busy, Latest
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

PERIOD = 1.0  # seconds between two looks
SHOWN = 24  # of each list
TICKED = 10  # that a button ticks
WHOSE = {"one": "this machine's", "all": "all machines'"}
WHAT = (
    "Each support vector is left out in turn and the machines that lean on it are retrained, exactly: how many "
    "validation answers become right, how many wrong, and how the mean margin moves, by which ties are broken. The "
    f"validation answers are those on training examples that the run left over, or on {FOLDS} folds of its own; the "
    "test set has no part in it. Values of single examples do not add up, as each is told with all others still there, "
    "and one or two answers more may be chance."
)


def section(run: Run, machine: Machine, c: int) -> None:
    """The list, how far it is, or the button that begins it."""
    st.subheader("What an example is worth")
    of = "all"
    if len(machine.bias) > 1:
        of = parameters.choice(
            "worth",
            "Answers looked at",
            WHOSE,
            format_func=WHOSE.__getitem__,
            help="This machine's: its class against the rest, in seconds. All machines': the class that is answered.",
        )
    whose = None if of == "all" else c
    begun = jobs.values_status(run.id, whose).at_work

    @state.fragment(run_every=PERIOD if begun else None)
    def look() -> None:
        now = jobs.values_status(run.id, whose)
        if begun and not now.at_work:
            st.rerun()
        _draw(run, machine, whose, now)

    look()
    st.caption(WHAT)


def _draw(run: Run, machine: Machine, whose: int | None, now: Latest) -> None:
    found: Worth | None = now.result
    if now.at_work:
        done = f" · {found.asked:,} validation answers so far" if found else ""
        doing = "Waiting" if now.state == "waiting" else "Leaving out one after the other"
        text = f"{doing}: {plain(now.message)}{done}" if now.message else f"{doing}{done}"
        at_work(text, found.share if found else 0.0, partial(jobs.VALUED.stop, (run.id, whose)), "worth")
    if now.state == "failed":
        st.error(plain(now.message), title="This could not be told", icon=":material/error:")
    if found:
        _lists(run, machine, found, now.state)
    if now.state in ("none", "stopped", "failed"):
        label = "Find out" if now.state == "none" else "Begin anew"
        help = "Leaves out every support vector in turn, in the background; what is known is shown as it comes."
        st.button(label, icon=":material/balance:", key="worth_start", help=help, on_click=_start, args=(run.id, whose))


@state.callback
def _start(run_id: str, whose: int | None) -> None:
    """Callback: begin, and draw the whole page anew so that it is looked at from then on."""
    try:
        jobs.start_values(run_id, whose)
    except Busy as error:
        state.tell_later(f":material/block: {plain(error)}")
    st.rerun()


def _lists(run: Run, machine: Machine, found: Worth, now: str) -> None:
    """Both lists, side by side."""
    values, how = found.values, "left over" if found.parts == 1 else f"in {found.parts} folds"
    asked = f"{many(found.asked, 'validation example')} {how}"
    if now != "done":
        asked += ", so far" if now != "stopped" else "; stopped early"
    st.caption(
        "Above each example its class; below the validation answers that become right and wrong without it, or, where "
        "none does, a thousand times the change of the mean margin."
    )
    sides = st.grid(2, min_column_width=340)
    for title, rows, key in (("Removal helps", values.helps(), "helps"), ("Removal harms", values.harms(), "harms")):
        with sides.cell():
            st.markdown(f"**{title}**: {many(len(rows), 'example')}, of {asked}")
            if len(rows):
                _list(run, values, rows[:SHOWN], title, key)
                if key == "helps":
                    _tick(run, rows[:TICKED])


def _list(run: Run, values: Values, positions: np.ndarray, title: str, key: str) -> None:
    rows = ticks.rows_of(positions, run)
    seen = evidence.labels(run).seen[rows].tolist()
    tiles = []
    for i, row, label in zip(positions.tolist(), rows.tolist(), seen):
        won, lost, margin = int(values.won[i]), int(values.lost[i]), with_sign(1000 * values.mean_margin[i])
        told = f"without it {won} right, {lost} wrong, mean margin {margin} thousandths"
        tiles.append(
            Tile(
                reference(run.recipe.dataset, "train", row),
                f"Training example {row}, class {label}: {told}",
                upper=short(label, 9),
                lower=f"+{won} −{lost}" if won or lost else margin,
            )
        )
    gallery(
        evidence.example_pictures(load(run.recipe.dataset), "train", rows),
        tiles,
        key=f"worth_{key}",
        alt=f"{title}: {len(rows)} training examples",
    )


def _tick(run: Run, positions: np.ndarray) -> None:
    """The way from the list to what it does together: values do not add up."""
    st.button(
        f"Take out the first {len(positions)}",
        icon=":material/check_box:",
        key="worth_tick",
        on_click=_ticked,
        args=(run.id, ticks.rows_of(positions, run).tolist()),
        help="Ticks them above, where the machines are retrained without all of them together.",
    )


@state.callback
def _ticked(run_id: str, rows: list[int]) -> None:
    """Callback: tick these, and no others."""
    ticks.keep(run_id, ticks.Ticks(tuple(rows)))
    st.rerun()
