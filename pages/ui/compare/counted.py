"""Runs that were judged by different labels, as a base and its revision are: what each way of counting comes to."""

import numpy as np
import streamlit as st

from pages.ui.compare import pairs
from pages.ui.compare.laid import Laid, key
from pages.ui.kit import numbers, parameters, words


def by_labels(laid: Laid) -> Laid:
    """Say that test labels were judged and what comes out by the labels of each run; the runs, counted by those that
    the reader chooses. Runs that were judged by the same labels come back as they are."""
    answers = laid.answers
    if answers.left:
        st.warning(
            f"{words.many(answers.left, 'test example')} that a revision takes out: not all of these runs have such. "
            f"Counted are the {len(answers.index):,} that all have: whoever takes out what is hard makes few errors.",
            icon=":material/content_cut:",
        )
    if not answers.judged.any():
        return laid
    n = int(answers.judged.sum())
    st.warning(
        f"{words.many(n, 'test example')} {'has' if n == 1 else 'have'} other labels for one run than for another: "
        "test labels were judged. A test set that is mended where a machine doubts it flatters that machine, so both "
        "ways of counting stand here, and neither is a blind test any more. The list of runs below has each by its "
        "own labels.",
        icon=":material/gavel:",
    )
    kinds = _kinds(laid)
    rows = [_row(laid, i, letters) for letters, i in kinds.items()]
    numbers.table(rows, "Errors of each run, fixed and broken, by the labels of each run", "compare_by_labels")
    chosen = parameters.choice(
        "labels",
        "Below, count by the labels of",
        kinds,
        key=key("labels"),
        help="The labels that the test examples have for this run: as given, or as its revision says.",
    )
    return laid._replace(answers=answers.by(kinds[chosen]))


def _kinds(laid: Laid) -> dict[str, int]:
    """Letters of the runs that have the same labels -> one of them, the reference's first."""
    kinds: dict[int, str] = {}
    order = [laid.reference, *laid.others]
    for i in order:
        same = next((j for j in kinds if np.array_equal(laid.answers.labels[i], laid.answers.labels[j])), i)
        kinds[same] = ", ".join(filter(None, (kinds.get(same, ""), laid.letters[i])))
    return {letters: i for i, letters in kinds.items()}


def _row(laid: Laid, i: int, letters: str) -> dict[str, str]:
    """What comes out by the labels of run i: errors of each run, and each against the reference."""
    wrong, a = laid.answers.by(i).wrong, laid.reference
    every = pairs.all_pairs(wrong)
    row = {"By the labels of": letters}
    row |= {f"{letter} wrong": f"{int(wrong[j].sum()):,}" for j, letter in enumerate(laid.letters)}
    for j in laid.others:
        found = every[a, j]
        row[f"{laid.letters[j]} against {laid.letters[a]}"] = (
            f"fixes {found.fixed:,}, breaks {found.broken:,}, p = {words.small(found.p)}"
        )
    return row
