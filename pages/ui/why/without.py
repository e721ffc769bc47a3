"""Without these: a run's machines retrained without the examples that a reader ticks, or with other labels of them; and
without the one that is looked at.

The work is done in the background (lab/jobs/analyses.py). What a change makes of the test answers is here within a
second, once the run's kernel values are kept; until then, and for what takes longer, it is watched and can be stopped.
"""

import numpy as np
import streamlit as st

from data import load
from pages.ui.example import evidence
from pages.ui.kit import parameters
from pages.ui.kit.ways import button
from pages.ui.kit.words import distinct, many, minus, plain, short, small
from pages.ui.recipe import data_set
from pages.ui.why.answer import Shown
from pages.ui.why.ticks import Ticks, keep, rows_of
from pages.ui.why.working import Work, by_stage, watched
from svmcore.lab.analyses.without import Change, Effect, why_not
from svmcore.lab.jobs import analyses
from svmcore.lab.store.runs import Run
from svmcore.model import Machine

BAR = by_stage(
    ("Loading the data", "Preprocessing", "Solving to a smaller optimality gap", "Kernel values", "Retraining")
)
SHOWN, MOVED = 48, 24  # answers of each kind, and multipliers, that are pictured
HOW = (
    "The result is the same as training again, but the solver continues from the present alphas. Preprocessing and "
    "kernel stay as the run learned them. Do not use the test set to choose examples to exclude; use the leave-one-out "
    "influence for that."
)
PARAMS = {"instead": data_set.check_class}
OUT = ""  # in place of another label


def in_short(run: Run, machine: Machine, ticked: Ticks) -> None:
    """What is ticked, and what that does in a sentence: beside the examples that are clicked."""
    st.markdown("**Without these examples**")
    if not ticked.rows:
        st.caption(
            "Which predictions depend on these examples? Set *On click* to exclude or relabel, and click some "
            "examples. Within a second you see which test predictions change."
        )
        return
    said = [f"{many(len(ticked.out), 'example')} excluded"] * bool(ticked.out)
    said += [f"{many(len(ticked.labels), 'example')} relabelled"] * bool(ticked.labels)
    st.markdown(" and ".join(said))
    effect_of(run, machine, ticked.change(run, machine), "without")
    help = "Restores all examples as the run was trained on them."
    button("Restore", "undo", "ticks_clear", keep, run.id, Ticks(), help=help)


def in_full(run: Run, machine: Machine, c: int, change: Change, key: str, title: str = "") -> None:
    """The predictions that a change alters, and machine c's alphas that moved most, once it is done, below `title`."""
    now = analyses.RETRAINED.status(run.id, change)
    if now.state != "done":
        return
    if title:
        st.subheader(title)
    found: Effect = now.result
    kinds = {"Fixed": found.fixed, "Broken": found.broken, "Wrong before and after": found.otherwise}
    kinds = {title: rows for title, rows in kinds.items() if len(rows)}
    if kinds:
        st.caption("Test predictions that change. Above each: prediction before → after. Below: true class.")
        sides = st.grid(len(kinds), min_column_width=230)
        for title, rows in kinds.items():
            with sides.cell():
                _changed(run, machine, found, rows, title, key)
    _multipliers(run, machine, c, found, change, key)
    st.caption(HOW)


def effect_of(run: Run, machine: Machine, change: Change, key: str) -> None:
    """What a change does to the run's test answers in a sentence; while it is at work, how far it is."""
    work = Work(
        analyses.RETRAINED, (run.id, change), key, BAR, "Retraining failed",
        begin="Retrain", help="Retrains the machines, starting from their present alphas.",
        stop="Stops retraining; only its progress is lost.",
    )  # fmt: skip
    watched(work, lambda now: _sentence(run, machine, now.result) if now.state == "done" else None, at_once=True)


def _sentence(run: Run, machine: Machine, found: Effect) -> None:
    wrong = [int((said != found.true).sum()) for said in (found.before, found.after)]
    same = "" if (found.before != found.after).any() else " No test prediction changes."
    if np.array_equal(found.alpha_before, found.alpha_after):
        same = " Nothing changes: no machine uses these examples."
    st.markdown(
        f"**{len(found.fixed):,} fixed, {len(found.broken):,} broken** of {many(len(found.true), 'test prediction')}: "
        f"{wrong[0]:,} errors become {wrong[1]:,}.{same}"
    )
    st.caption(f"Retrained in {found.seconds:.2f} s.")
    if differ := int((machine.classes[found.before] != run.test().y_pred).sum()):
        st.caption(f"Before that, solving to a smaller optimality gap changed {many(differ, 'prediction')}.")


def _changed(run: Run, machine: Machine, found: Effect, rows: np.ndarray, title: str, key: str) -> None:
    """The test examples of one kind, with their predictions before and after."""
    cut, shown = distinct(evidence.class_names(run, machine), 9), rows[:SHOWN]
    more = f", the first {SHOWN}" if len(rows) > SHOWN else ""
    evidence.answer_gallery(
        run, machine, shown, {"true": found.true, "before": found.before, "after": found.after},
        lower=[f"is {cut[c]}" for c in found.true[shown]], key=f"{key}_{title.split()[0].lower()}",
        alt=f"{title}: {many(len(shown), 'test example')} with their predictions before and after",
        legend=f"**{title}** ({len(rows):,}{more})",
    )  # fmt: skip


def _multipliers(run: Run, machine: Machine, c: int, found: Effect, change: Change, key: str) -> None:
    """The support vectors of machine c that stay, and whose multiplier moves most."""
    before, after = found.alpha_before[c], found.alpha_after[c]
    moves = np.where(np.isin(found.support, change.take_out), 0.0, np.abs(after - before))
    order = np.argsort(-moves, kind="stable")[:MOVED]
    order = order[moves[order] > 0]
    if not len(order):
        return
    rows, names = rows_of(found.support[order], run), evidence.machine_names(run, machine)
    seen, dataset = evidence.labels(run).seen[rows], load(run.recipe.dataset)
    alphas = list(zip(before[order], after[order]))
    labels = [
        f"Training example {row}, class {label}: alpha {small(a, 3)} before, {small(b, 3)} after"
        for row, label, (a, b) in zip(rows, seen, alphas)
    ]
    n = int((moves > 0).sum())
    evidence.example_gallery(
        dataset, "train", rows, labels, key=f"{key}_alphas",
        upper=[evidence.brief(dataset, label) for label in seen.tolist()],
        lower=[minus(f"{a:.2f} → {b:.2f}") for a, b in alphas],
        alt=f"The {len(rows)} training examples whose alpha changes most in {names[c]}",
        legend=f"**Largest changes of alpha** in *{plain(names[c])}*: before → after. Without excluded "
        f"examples, {many(n, 'alpha')} {'changes' if n == 1 else 'change'}.",
    )  # fmt: skip


def offered(run: Run, machine: Machine, shown: Shown) -> bool:
    """Whether the example is one that the run was trained on, and can be retrained without."""
    return shown.row in run.train_index() and not why_not(run)


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    row, names = shown.row, evidence.class_names(run, machine)
    seen = evidence.class_of(run, machine, evidence.labels(run).seen[row])
    instead = parameters.choice(
        "why.instead",
        [OUT, *(name for name in names if name != seen)],
        OUT,
        key=f"why_instead_{row}",
        format_func=lambda name: f"given the label {short(name)}" if name else "excluded",
    )
    ticks = Ticks(labels=((row, instead),)) if instead else Ticks(out=(row,))
    c = 0 if len(machine.bias) == 1 else names.index(seen)
    change = ticks.change(run, machine)
    effect_of(run, machine, change, "why_without")
    in_full(run, machine, c, change, "why_without")
