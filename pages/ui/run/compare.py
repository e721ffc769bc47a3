"""One run as a card, and two runs side by side: what was asked differently, and what came of it."""

import numpy as np
import streamlit as st

from pages.ui.figures import curves, ranking
from pages.ui.figures.frame import show
from pages.ui.kit import words
from pages.ui.recipe import config
from pages.ui.run import picker, snapshots
from svmcore.lab.recipe.recipe import FIELDS
from svmcore.lab.registry.options import option_fields
from svmcore.metrics import paired_test

PICTURES = 36  # digits shown of those that only one of two runs gets wrong
FIGURES = {
    "errors": "errors",
    "error_rate": "error rate",
    "roc_area": "area under the ROC curve",
    "n_train": "training examples",
    "n_test": "test examples",
    "n_union": "support vectors",
    "n_bound": "bound, over all machines",
    "fit_seconds": "seconds to train",
    "predict_seconds": "seconds to test",
    "kernel_evals": "kernel values",
    "dual": "dual objective",
    "peak_rss_mb": "peak memory, MB",
}


def course(run):
    """How the run got there: its gap and its support vectors over time."""
    if progress := run.progress():
        with st.grid(2, min_column_width=320):
            for key, figure in (
                ("gap", curves.gap_curve(progress, run.recipe.tol)),
                ("sv", curves.sv_curve(progress)),
            ):
                with st.container():
                    show(figure, key=f"card_{key}_{run.id}")


def headline(run):
    """Title with state, the recipe in a line, the error rate with its interval."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(words.plain(run.title), width="content")
        picker.badge(run.state)
    st.caption(words.summary(run.recipe))
    if result := run.result:
        st.markdown(f"**{words.error_rate(result)}**, trained in {words.duration(result['fit_seconds'])}")
    elif run.message:
        st.markdown(words.plain(run.message))


def side_by_side(a, b):
    """Two runs: their headlines, the fields that differ, and the test examples on which they disagree."""
    for column, run in zip(st.columns(2, border=True), (a, b), strict=True):
        with column:
            headline(run)
    st.markdown("**What differs**")
    rows = _differences(a, b)
    st.dataframe(
        rows,
        hide_index=True,
        height="content",
        key="differences",
        alt="Fields of the recipes and figures of the results that differ between the two runs",
    )
    if a.result and b.result:
        if {a.recipe.task, b.recipe.task} & set(config.ELSEWHERE):
            st.caption("What runs find in pictures is laid side by side on the page *Detect*.")
            return
        disagreement(a, b)


def _differences(a, b):
    """Rows of a table: what was asked differently, then what came of it."""
    asked, fields = (_asked(a.recipe), _asked(b.recipe)), FIELDS | option_fields()
    names = asked[0] | asked[1]
    rows = [(fields[name].label, asked[0].get(name, "–"), asked[1].get(name, "–")) for name in names]
    rows = [row for row in rows if row[1] != row[2]]
    if a.result and b.result:
        both = [field for field in FIGURES if field in a.result and field in b.result]
        rows += [(FIGURES[field], _shown(a.result[field]), _shown(b.result[field])) for field in both]
    return [{"": name, "left": left, "right": right} for name, left, right in rows]


def _asked(recipe):
    """The fields and options of a recipe as texts, without its names and the sizes that its result tells better."""
    return {k: v or "–" for k, v in recipe.texts().items() if k not in ("name", "title", "n_train", "n_test")}


def _shown(value):
    if value is None or value in ("", []):
        return "–"
    if isinstance(value, list):
        numbers = all(isinstance(v, int) for v in value)
        return f"{sum(value):,}" if numbers and len(value) > 1 else ", ".join(map(str, value))
    if isinstance(value, bool | str | dict):
        return str(value)
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}"


def disagreement(a, b):
    """The test examples that only one of two runs gets wrong, with a paired test."""
    left, right = a.test(), b.test()
    same = a.recipe.dataset == b.recipe.dataset and left.split == right.split
    if not same or not np.array_equal(left.index, right.index):
        st.caption("The two runs were tested on different examples, so their errors cannot be paired.")
        return
    wrong_left, wrong_right = left.y_true != left.y_pred, right.y_true != right.y_pred
    test = paired_test(wrong_left, wrong_right)
    st.markdown(
        f"**Where they disagree.** Of {len(left.index):,} test examples, {test.only_a} go wrong only on the left and "
        f"{test.only_b} only on the right (exact McNemar test, p = {test.p_value:.2g})."
    )
    if all("roc_area" in run.result for run in (a, b)) and left.decision.shape[1] == 1:
        positive = left.y_true == a.machine().classes[1]
        decisions = {"left": left.decision[:, 0], "right": right.decision[:, 0]}
        show(ranking.roc_curves(positive, decisions), key="compare_roc")
    for column, one, rows in zip(
        st.columns(2), (left, right), (wrong_left & ~wrong_right, wrong_right & ~wrong_left), strict=True
    ):
        shown, side = np.flatnonzero(rows)[:PICTURES], "left" if one is left else "right"
        with column:
            if not len(shown):
                st.caption(f"None goes wrong only on the {side}.")
                continue
            st.caption(f"Wrong only on the {side}: predicted and true class above each.")
            snapshots.errors(
                a.recipe.dataset, one.split, one.index[shown], one.y_true[shown], one.y_pred[shown], key=f"only_{side}"
            )
