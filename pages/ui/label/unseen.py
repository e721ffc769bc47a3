"""Why the machines doubt a label: the bill of the answer of the machine that was trained without the example's fold."""

from functools import partial

import numpy as np
import streamlit as st

from pages.ui.example import evidence
from pages.ui.example.shown import Shown
from pages.ui.kit import parameters
from pages.ui.kit.gallery import DIGIT
from pages.ui.label import listed
from pages.ui.label.listed import Doubt
from pages.ui.why import bill, lines
from pages.ui.why.answer import Answer
from pages.ui.why.working import Work, by_stage, watched
from svmcore.lab.experiment.unseen import Unseen
from svmcore.lab.jobs import analyses
from svmcore.lab.jobs.background import TaskStatus
from svmcore.lab.store.runs import Run
from svmcore.model import answers

ASKED = "unseen"  # in the address: whether the bill is shown
CLOSE = 0.005  # answers that differ by less are the same on screen
BAR = by_stage(list(analyses.UNSEEN.stages.values()))


def section(run: Run, doubt: Doubt) -> None:
    """A button, and behind it the bill, for the examples that the folds of a run held out."""
    folded = run.folded()
    if folded is None or doubt.part != "train" or doubt.row not in folded.index:
        return
    asked = parameters.read(ASKED, False)
    st.button(  # no switch, which would have the focus, and the keys with it
        "Do not say why" if asked else "Why is it doubted?", key="label_unseen", icon=":material/balance:",
        shortcut=None if DIGIT in st.query_params else "w", on_click=parameters.say,
        args=(ASKED, None if asked else "true"),
        help="Which support vectors made the machine that did not see it answer so. Machines of folds are not kept: "
        "this one is trained again, the same as it was.",
    )  # fmt: skip
    if not asked:
        return
    work = Work(
        analyses.UNSEEN, (run.id, doubt.row), "unseen", BAR,
        "The machine could not be trained again", begin="Train it again", stop="Ends it.",
        help="The machine of the folds without this example.",
    )  # fmt: skip
    watched(work, partial(_bill, run, doubt), at_once=True)


def _bill(run: Run, doubt: Doubt, now: TaskStatus) -> None:
    if now.state != "done":
        return
    found: Unseen = now.result
    dataset, names = evidence.data_of(run), evidence.class_names(run, found.machine)
    X = evidence.rows_of(dataset, doubt.part, np.array([doubt.row]))
    shown = Shown(dataset, X, doubt.given, listed.ref(run, doubt))
    said = Answer(X[0], found.k, found.f, names, int(answers(found.f)), names.index(doubt.given), "given")
    sides = said.sides()
    bills, pictured = ([of[c] for c in sides] for of in (found.bills, found.strongest))
    view = lines.view(run, found.machine, shown, said, "sv")
    bill.bars(view, sides, bills, pictured, lambda _: [], lambda _: None, "unseen_bill")
    if not np.allclose(found.f, _kept(run, doubt.row), atol=CLOSE):
        st.caption("The run kept another answer: its version did not keep which labels its folds left out in the end.")
    st.caption(
        f"By the machine without fold {found.number + 1} of {run.recipe.folds}, in which this example is. *Why* "
        "above asks the run's own machine, which was trained with this label."
    )


def _kept(run: Run, row: int) -> np.ndarray:
    """(k,) what the run kept of its folds' answer."""
    folded = run.folded()
    return folded.decision[np.searchsorted(folded.index, row)]
