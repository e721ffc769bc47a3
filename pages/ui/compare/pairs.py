"""Two runs on the same examples: what one fixes and breaks of the other, whether chance could, and every pair of more.

fixed   only the reference is wrong      both wrong, both right
broken  only the other one is wrong      p of the exact McNemar test, of several pairs corrected (Holm)
"""

from functools import partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.compare.laid import Laid, key
from pages.ui.kit import numbers, parameters, words
from svmcore.lab.analyses.comparison import Answers
from svmcore.metrics import holm, paired_test, wilson

LEVEL = 0.05


class Pair(NamedTuple):
    """One run against another: examples that only it gets right, or wrong; p, raw and corrected; groups, 0 for none."""

    fixed: int
    broken: int
    p: float
    corrected: float
    groups: int = 0


def all_pairs(answers: Answers) -> dict[tuple[int, int], Pair]:
    """(reference, other) -> Pair, for every two of the runs in either order."""
    both = list(combinations(range(len(answers.wrong)), 2))
    tests = [paired_test(answers.wrong[i], answers.wrong[j], answers.groups) for i, j in both]
    corrected = holm(np.array([test.p_value for test in tests])).tolist()
    found = {}
    for (i, j), test, p in zip(both, tests, corrected, strict=True):
        found[i, j] = Pair(test.only_a, test.only_b, test.p_value, p, test.n_groups)
        found[j, i] = Pair(test.only_b, test.only_a, test.p_value, p, test.n_groups)
    return found


def against(laid: Laid) -> int:
    """The run that is measured against the reference, by the reader's choice where there are several."""
    ids = {laid.runs[i].id: i for i in laid.others}
    chosen = parameters.choice(
        "compare.against",
        ids,
        key=key("against"),
        alone=False,
        format_func=lambda run_id: f"{laid.letters[ids[run_id]]} · {words.short(laid.runs[ids[run_id]].title, 60)}",
    )
    return ids[chosen]


def verdict(laid: Laid, b: int, pairs: dict[tuple[int, int], Pair]) -> None:
    """What `b` does against the reference in a sentence, then what the test says of it."""
    a, B = laid.reference, laid.letters[b]
    A, pair, wrong = laid.letters[a], pairs[a, b], laid.answers.wrong
    other = int((laid.answers.y_pred[a] != laid.answers.y_pred[b]).sum())
    differ = f"Their predictions differ on {words.many(other, 'example')}."
    with st.container(key="compare_verdict"):
        st.markdown(
            f"**{B} fixes {pair.fixed:,} and breaks {pair.broken:,}** of {A}'s predictions: {wrong[a].sum():,} errors "
            f"become {wrong[b].sum():,} of {wrong.shape[1]:,}."
        )
        st.markdown(mcnemar_in_words(A, B, pair, several=len(laid.runs) > 2))
        st.caption(differ if other else "Their predictions are identical.")


def mcnemar_in_words(A: str, B: str, pair: Pair, several: bool = False) -> str:
    only = pair.fixed + pair.broken
    if not only:
        return f"Nothing to test: {A} and {B} make errors on exactly the same examples."
    low, high = wilson(pair.fixed, only, groups=pair.groups)
    by = f" over {words.many(pair.groups, 'group')}" if pair.groups else ""
    p = pair.corrected if several else pair.p
    after = f", {words.small(pair.corrected)} corrected for all pairs" if several else ""
    if p >= LEVEL:
        means = "**not significant**: chance alone could explain it. This does not prove that both are equally good"
    else:
        means = f"**significant**: {B if pair.fixed > pair.broken else A} is better on examples like these"
    return (
        f"Of {words.many(only, 'example')} on which only one of the two is right, {B} is right on "
        f"{100 * pair.fixed / only:.0f} % ({100 * low:.0f}–{100 * high:.0f}). Exact McNemar test{by}: "
        f"p = {words.small(pair.p)}{after}. The difference is {means}."
    )


def matrix(laid: Laid, pairs: dict[tuple[int, int], Pair]) -> None:
    """Every pair of more than two runs; a click on a cell shows that pair."""
    st.markdown(
        "**Every pair**: errors of the row's run that the column's run fixes (+), and errors that the column's run "
        "adds (−)"
    )
    rows = [
        {"": f"of {A}"} | {B: "–" if i == j else _cell(pairs[i, j]) for j, B in enumerate(laid.letters)}
        for i, A in enumerate(laid.letters)
    ]
    alt = "Every pair of runs: predictions fixed and broken, and the corrected p-value"
    numbers.table(rows, alt, "compare_matrix", on_cell=partial(_chosen, laid))
    n = len(pairs) // 2
    st.caption(
        f"p comes from the exact McNemar test, corrected for {n} pairs (Holm). If only p < {LEVEL:g} counts as a "
        f"difference, the chance of any false positive is at most {100 * LEVEL:.0f} %. Click a cell to show its pair."
    )


def _cell(pair: Pair) -> str:
    return f"+{pair.fixed:,} −{pair.broken:,}, p = {words.small(pair.corrected)}"


def _chosen(laid: Laid, row: int, column: str) -> None:
    """Callback: look at the pair of the cell that was clicked."""
    if column in laid.letters and laid.letters[row] != column:
        st.session_state[key("reference")] = laid.runs[row].id
        st.session_state[key("against")] = laid.runs[laid.letters.index(column)].id
        st.session_state[key("view")] = "pair"
