"""Two runs in brief, for a page that is about something else: where they disagree, and the way to the whole of it."""

import numpy as np
import streamlit as st

from pages.ui.compare import pairs
from pages.ui.figures import ranking
from pages.ui.figures.frame import show
from pages.ui.kit import ways, words
from pages.ui.run import snapshots
from svmcore.lab.experiment import comparison
from svmcore.lab.store.runs import Run

PICTURES = 36  # of those that only one of the two gets wrong


def disagreement(a: Run, b: Run) -> None:
    """The test examples that only one of two finished runs gets wrong, with a paired test; `a` stands left."""
    if reason := comparison.why_not(a, b):
        st.caption(f"They cannot be compared. {words.plain(reason.text)}")
        return
    found = comparison.together([a, b])
    left, right = found.wrong
    test = pairs.all_pairs(found.wrong)[0, 1]
    st.markdown(
        f"**Where they disagree.** Of {len(found.index):,} test examples, {test.fixed} go wrong only on the left and "
        f"{test.broken} only on the right. {pairs.said('the left one', 'the right one', test)}"
    )
    ways.to("compare", "Compare them example by example", "compare", {"compare": [a.id, b.id]})
    if len(found.classes) == 2 and all(f.shape[1] == 1 for f in found.decision):
        positive = found.y_true == found.classes[1]
        if positive.any() and not positive.all():
            decisions = {"left": found.decision[0][:, 0], "right": found.decision[1][:, 0]}
            show(ranking.roc_curves(positive, decisions), key="compare_roc")
    for column, side, rows in zip(st.columns(2), ("left", "right"), (left & ~right, right & ~left), strict=True):
        shown, said = np.flatnonzero(rows)[:PICTURES], found.y_pred[0 if side == "left" else 1]
        with column:
            if not len(shown):
                st.caption(f"None goes wrong only on the {side}.")
                continue
            st.caption(f"Wrong only on the {side}: true → predicted class above each.")
            snapshots.errors(
                a.recipe.dataset, found.split, found.index[shown], found.y_true[shown], said[shown], key=f"only_{side}"
            )
