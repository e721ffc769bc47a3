"""What an example is worth: the support vectors whose removal helps, and those whose removal harms, by validation.

Every support vector is left out in turn and its machines are retrained without it, exactly, beside the runs
(svmcore/lab/jobs/analyses.py); the list is here as far as it has come.
"""

import numpy as np
import streamlit as st

from data import load
from pages.ui.example import evidence
from pages.ui.kit import parameters, state
from pages.ui.kit.buttons import button
from pages.ui.kit.gallery import Tile, gallery, reference
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import many
from pages.ui.why import ticks
from pages.ui.why.working import Work, watched
from svmcore.explain.value import Values
from svmcore.lab.experiment.without import FOLDS, Worth
from svmcore.lab.jobs import analyses
from svmcore.lab.jobs.background import TaskStatus
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

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
    work = Work(
        analyses.VALUED, (run.id, whose), "worth", _bar, "This could not be told",
        begin="Find out", again="Begin anew", icon=":material/balance:",
        help="Leaves out every support vector in turn, in the background; what is known is shown as it comes.",
    )  # fmt: skip
    watched(work, lambda now: _lists(run, now.result, now.state) if now.result else None)
    st.caption(WHAT)


def _bar(now: TaskStatus) -> tuple[str, float]:
    found: Worth | None = now.result
    doing = "Waiting" if now.state == "waiting" else "Leaving out one after the other"
    doing += f": {now.message}" if now.message else ""
    return (f"{doing} · {found.asked:,} validation answers so far", found.share) if found else (doing, 0.0)


def _lists(run: Run, found: Worth, now: str) -> None:
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
    seen, dataset = evidence.labels(run).seen[rows].tolist(), load(run.recipe.dataset)
    tiles = []
    for i, row, label in zip(positions.tolist(), rows.tolist(), seen):
        won, lost, margin = int(values.won[i]), int(values.lost[i]), with_sign(1000 * values.mean_margin[i])
        told = f"without it {won} right, {lost} wrong, mean margin {margin} thousandths"
        tiles.append(
            Tile(
                reference(run.recipe.dataset, "train", row),
                f"Training example {row}, class {label}: {told}",
                upper=evidence.brief(dataset, label),
                lower=f"+{won} −{lost}" if won or lost else margin,
            )
        )
    gallery(
        evidence.example_pictures(dataset, "train", rows),
        tiles,
        key=f"worth_{key}",
        alt=f"{title}: {len(rows)} training examples",
    )


def _tick(run: Run, positions: np.ndarray) -> None:
    """The way from the list to what it does together: values do not add up."""
    rows = ticks.rows_of(positions, run).tolist()
    help = "Ticks them above, where the machines are retrained without all of them together."
    button(f"Take out the first {len(rows)}", "check_box", "worth_tick", _ticked, run.id, rows, help=help)


@state.callback
def _ticked(run_id: str, rows: list[int]) -> None:
    """Callback: tick these, and no others."""
    ticks.keep(run_id, ticks.Ticks(tuple(rows)))
    st.rerun()
