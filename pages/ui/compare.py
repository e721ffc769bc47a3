"""One run as a card, and two runs side by side: what was asked differently, and what came of it."""

import numpy as np
import streamlit as st

from pages.ui import figures, picker, snapshots, words
from svmcore.metrics import paired_test

PICTURES = 36  # digits shown of those that only one of two runs gets wrong
FIGURES = {
    "errors": "errors",
    "error_rate": "error rate",
    "n_train": "training examples",
    "n_union": "support vectors",
    "n_bound": "bound support vectors",
    "fit_seconds": "seconds to fit",
    "predict_seconds": "seconds to predict",
    "kernel_evals": "kernel evaluations",
    "dual": "dual objective",
    "peak_rss_mb": "peak memory, MB",
}


def card(run):
    """Title, state, what was asked, what came of it, and how it got there."""
    headline(run)
    if progress := run.progress():
        with st.grid(2, min_column_width=320):
            for key, figure in (
                ("gap", figures.gap_curve(progress, run.recipe.tol)),
                ("sv", figures.sv_curve(progress)),
            ):
                with st.container():
                    figures.show(figure, key=f"card_{key}_{run.id}")


def headline(run):
    """Title with state, the recipe in a line, the error rate with its interval."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(run.title, width="content")
        picker.badge(run.state)
    st.caption(words.summary(run.recipe))
    if result := run.result:
        st.markdown(f"**{words.error_rate(result)}** on {result['n_test']:,} test examples, trained in "
                    f"{words.duration(result['fit_seconds'])}.")  # fmt: skip
    elif run.message:
        st.markdown(run.message)


def side_by_side(a, b):
    """Two runs: their headlines, the fields that differ, and the test examples on which they disagree."""
    for column, run in zip(st.columns(2, border=True), (a, b), strict=True):
        with column:
            headline(run)
    st.markdown("**What differs**")
    st.dataframe(
        _differences(a, b),
        hide_index=True,
        key="differences",
        alt="Fields of the recipes and figures of the results that differ between the two runs",
    )
    if a.result and b.result:
        _disagreement(a, b)


def _differences(a, b):
    asked = [(name, old, new) for name, old, new in _pairs(a.recipe.to_dict(), b.recipe.to_dict()) if old != new]
    came = _pairs(a.result or {}, b.result or {}, FIGURES)
    return [
        {"": FIGURES.get(name, name), "left": _shown(old), "right": _shown(new)}
        for name, old, new in [*asked, *came]
        if name not in ("name", "title")
    ]


def _pairs(left, right, names=None):
    return [(name, left.get(name), right.get(name)) for name in names or left]


def _shown(value):
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(map(str, value)) if len(value) <= 4 else f"{sum(value):,} in all"
    if isinstance(value, dict):
        return ", ".join(f"{k} {v:g}" if isinstance(v, float) else f"{k} {v}" for k, v in value.items())
    return f"{value:,.4g}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)


def _disagreement(a, b):
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
    for column, one, rows in zip(
        st.columns(2), (left, right), (wrong_left & ~wrong_right, wrong_right & ~wrong_left), strict=True
    ):
        shown = np.flatnonzero(rows)[:PICTURES]
        with column:
            st.caption(
                f"Wrong only on the {'left' if one is left else 'right'}: upper right predicted, lower left true"
            )
            snapshots.errors(
                a.recipe.dataset, one.split, one.index[shown], one.y_true[shown], one.y_pred[shown],
                key=f"only_{'left' if one is left else 'right'}",
            )  # fmt: skip
