"""Somebody's verdicts beside one's own: the new ones, and those that disagree, settled one by one or all together.

Theirs is taken over as a verdict like any other, which undo takes back. Mine stands as it is; that it was settled so is
known as long as the file lies there.
"""

import numpy as np
import streamlit as st

from data import DataError, revisions, verdicts
from data.loaders.images import stacked
from data.verdicts import SET_NAMES, Key, Verdict, describe
from pages.labels import target
from pages.labels.target import Target
from pages.ui.example import evidence
from pages.ui.kit import words
from pages.ui.kit.gallery import DIGIT, Tile, gallery, reference
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain, short
from pages.ui.why import table
from pages.ui.why.answer import Shown

SETTLED = "label_settled"  # session state: a file of verdicts, and the examples of it where mine stands
STRIP = 14  # disagreements in sight


def beside_ones_own(to: Target, blob: bytes, file: str) -> None:
    """What somebody's CSV says beside the revision, and the ways to take it over. file: what tells it from others."""
    try:
        found = revisions.compared(to.name, to.base, blob)
    except DataError as error:
        st.error(plain(error), title="These labels cannot be read", icon=":material/block:")
        return
    settled = _settled(to, file)
    left = [(mine, theirs) for mine, theirs in found.unlike if mine.key not in settled]
    mine_stands = f" and kept your own decision on {n:,} of them" if (n := len(found.unlike) - len(left)) else ""
    st.markdown(
        f"The file has **{words.many(len(found.new), 'decision')}** on examples that you have not reviewed. "
        f"{len(found.alike):,} {'agrees' if len(found.alike) == 1 else 'agree'} with yours. You disagree on "
        f"**{words.many(len(found.unlike), 'example')}**{mine_stands}."
    )
    if left:
        _one(to, settled, *left[0])
        _strip(to, left)
    found = found._replace(unlike=left)
    with st.container(horizontal=True):
        if found.new or left:
            label = "Import new decisions, keep mine" if left else "Import"
            help = "Imports decisions on examples that you have not reviewed. Your own decisions are kept."
            how = {"help": help, "disabled": not found.new}
            button(label, "merge", "label_merge_mine", target.merge, to, found, False, **how)
        if left:
            help = "Imports all decisions. If you disagree, their decision replaces yours; you can undo this."
            button("Import all, replace mine", "merge", "label_merge_theirs", target.merge, to, found, True, help=help)


def _settled(to: Target, file: str) -> set[Key]:
    """The examples on which mine was said to stand, with this file."""
    known, settled = st.session_state.get(SETTLED, (None, set()))
    if known != (to.name, file):
        settled = set()
        st.session_state[SETTLED] = (to.name, file), settled
    return settled


def _one(to: Target, settled: set[Key], mine: Verdict, theirs: Verdict) -> None:
    """The first disagreement that is left, with a key for either side."""
    dataset, (part, row) = to.base, mine.key
    example, keys = f"{part}_{row}", DIGIT not in st.query_params
    left, right = st.columns([1, 3] if dataset.image_shape else [2, 3], gap="medium")
    with left:
        X = evidence.rows_of(dataset, part, np.array([row]))
        table.top(None, None, Shown(dataset, X, mine.given, reference(dataset.entry.name, part, row)))
    with right:
        st.markdown(f"**Example {row:,} of the {SET_NAMES[part]}, given {plain(short(mine.given))}**")
        st.markdown(f"Yours: **{plain(describe(mine))}**. Theirs: **{plain(describe(theirs))}**.")
        with st.container(horizontal=True):
            how = {"help": "Keeps your own decision.", "shortcut": "m" if keys else None}
            button("Mine", "person", f"label_mine_{example}", settled.add, mine.key, **how)
            how = {"help": "Replaces your decision; you can undo this.", "shortcut": "o" if keys else None}
            button("Theirs", "group", f"label_theirs_{example}", target.give, to, [theirs], **how)


def _strip(to: Target, left: list[tuple[Verdict, Verdict]]) -> None:
    """The disagreements that are left, each with both verdicts."""
    shown = left[:STRIP]
    drawn = [evidence.example_pictures(to.base, one.part, np.array([one.row]))[0] for one, _ in shown]
    tiles = [
        Tile(
            reference(to.base.entry.name, mine.part, mine.row),
            f"Example {mine.row} of the {SET_NAMES[mine.part]}: yours {describe(mine)}, theirs {describe(theirs)}",
            upper=brief(mine),
            lower=brief(theirs),
            ring="" if at else "free",
        )
        for at, (mine, theirs) in enumerate(shown)
    ]
    more = f" (the first {STRIP} are shown)" if len(left) > STRIP else ""
    gallery(
        stacked(drawn), tiles, key="label_unlike", alt="Examples on which your decisions and theirs disagree", size=42,
        legend=f"{words.many(len(left), 'disagreement')} left{more}. Above each example: your decision. Below: "
        "theirs. The ring marks the current example.",
    )  # fmt: skip


def brief(verdict: Verdict | None) -> str:
    if verdict is None:
        return ""
    marks = {verdicts.KEEP: "kept", verdicts.OUT: "out", verdicts.UNSURE: "?"}
    return marks.get(verdict.verdict) or f"= {short(verdict.label, 6)}"
