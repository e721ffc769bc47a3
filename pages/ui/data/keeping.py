"""What every upload asks before it is kept, within its form: a name, whether it may take the place of another one.
Then the set is shown."""

import streamlit as st

from data import Entry
from data.pictures import PictureEntry
from pages.ui.kit.words import plain

LONGEST = 60  # letters of a name
KEPT = "set_kept"  # of the session
TO_THE_TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"


def name(suggested: str, key: str) -> str:
    """What the set is to be called. A suggestion that is too long ends with its last whole word, before it is seen."""
    if len(suggested) > LONGEST:
        suggested = suggested[: LONGEST + 1].rsplit(" ", 1)[0][:LONGEST]
    return st.text_input(
        "Name", value=suggested, max_chars=LONGEST, key=f"{key}_title", required=True,
        help="What the set is called on every page; its id in addresses is made of it.",
    )  # fmt: skip


def replace_and_keep(key: str) -> tuple[bool, bool]:
    """Whether one of the same name is replaced, and whether Keep was pressed."""
    replace = st.checkbox(
        "Replace one of this name",
        key=f"{key}_replace",
        help="Overwrites your set of the same name; runs on the old one lose their pictures.",
    )
    kept = st.form_submit_button(
        "Keep",
        type="primary",
        icon=":material/save:",
        help="Copies it into the lab's own folder, so that runs find it again.",
    )
    return replace, kept


def show(entry: Entry | PictureEntry) -> None:
    """Say that a set was kept, and show it."""
    st.query_params["set"] = entry.name
    st.toast(f"{plain(entry.title)} is kept as {plain(entry.name)}.", icon=":material/save:")
    st.session_state[KEPT] = True
    st.rerun()


def begin_at_the_top() -> None:
    """Once after a set was kept, by a button far down the page: its title and the ways on are seen first."""
    if st.session_state.pop(KEPT, False):
        st.html(f"<script>{TO_THE_TOP}</script>", unsafe_allow_javascript=True)
