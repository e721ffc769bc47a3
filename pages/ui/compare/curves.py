"""How well the runs rank the examples of one class before all others: their ROC curves."""

import numpy as np
import streamlit as st

from pages.ui.compare.laid import Laid, key
from pages.ui.figures import ranking
from pages.ui.figures.frame import show
from pages.ui.kit import parameters, words
from svmcore.metrics import class_positions


def roc(laid: Laid) -> None:
    """The curves of two classes, or of one class against the others by its own machine."""
    st.subheader("ROC curves")
    answers, names = laid.answers, laid.names
    wide = {f.shape[1] for f in answers.decision}
    if wide - {1, len(names)} or len(wide) > 1:
        st.caption("The runs have machines for different classes, so their decision values cannot be ranked together.")
        return
    if len(names) == 2:
        c = 1
        decisions = [f[:, -1] for f in answers.decision]
    else:
        hardest = np.bincount(class_positions(answers.y_true, answers.classes), weights=answers.wrong.sum(axis=0))
        picked = parameters.choice(
            "roc",
            "Class against the others",
            names,
            names[int(hardest.argmax())],
            widget="selectbox",
            format_func=lambda name: words.short(name, 60),
            key=key("roc"),
            width=240,
            help="Ranked by the decision values of this class's own machine, each run's taken alone.",
        )
        c = names.index(picked)
        decisions = [f[:, c] for f in answers.decision]
    positive = answers.y_true == answers.classes[c]
    if not positive.any() or positive.all():
        own = np.count_nonzero(positive)
        st.caption(f"Of the {len(positive):,} examples tested {own:,} are of this class: there is no curve.")
        return
    show(ranking.roc_curves(positive, dict(zip(laid.letters, decisions))), key="compare_roc_figure", file="roc")
    if len(names) > 2:
        st.caption("One machine alone; a classifier of several classes decides by the largest of their values.")
