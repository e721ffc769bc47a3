"""What every upload asks before it is kept, within its form: a name, whether it may take the place of another one. Then
the set is shown. Of one that cannot be used the reason is said; where it is of single files or rows, these can be left
out."""

import hashlib
from collections.abc import Callable, Hashable
from typing import TypeVar

import streamlit as st

from data import DataError, Entry
from data.loaders.sieve import Unusable
from data.pictures import PictureEntry
from data.transfers import Report, Transfer
from pages.ui.kit.ways import button
from pages.ui.kit.words import plain

LONGEST = 60  # letters of a name
KEPT = "set_kept"  # of the session
TO_THE_TOP = "document.querySelector('[data-testid=stMain]').scrollTo(0, 0)"
LISTED, FEW = 200, 8  # complaints shown, and so many unasked
PERIOD, SOON = 0.5, 1.2  # seconds between two looks at a transfer, and those waited for it before it is shown
BYTES = 1e5  # totals above this are bytes
LAST, MOST = "last_read", 2  # of the session: the last transfers of uploads by what is read, and how many of them
READ = TypeVar("READ")


def name(suggested: str, key: str) -> str:
    """What the set is to be called. A suggestion that is too long ends with its last whole word, before it is seen."""
    if len(suggested) > LONGEST:
        suggested = suggested[: LONGEST + 1].rsplit(" ", 1)[0][:LONGEST]
    return st.text_input(
        "Name", value=suggested, max_chars=LONGEST, key=f"{key}_title", required=True,
        help="Name of the dataset on every page. The id of the dataset in addresses is made from this name.",
    )  # fmt: skip


def replace_and_keep(key: str) -> tuple[bool, bool]:
    """Whether one of the same name is replaced, and whether Save was pressed."""
    replace = st.checkbox(
        "Replace my dataset of this name",
        key=f"{key}_replace",
        help="Overwrites your dataset of the same name. Runs on the old dataset lose their pictures.",
    )
    kept = st.form_submit_button(
        "Save",
        type="primary",
        icon=":material/save:",
        help="Copies the dataset into the lab's folder, so that runs can use it.",
    )
    return replace, kept


def show(entry: Entry | PictureEntry) -> None:
    """Say that a set was kept, and show it."""
    st.query_params["set"] = entry.name
    st.toast(f"{plain(entry.title)} is saved as {plain(entry.name)}.", icon=":material/save:")
    st.session_state[KEPT] = True
    st.session_state.pop(LAST, None)  # what was read takes as much memory again
    st.rerun()


def begin_at_the_top() -> None:
    """Once after a set was kept, by a button far down the page: its title and the ways on are seen first."""
    if st.session_state.pop(KEPT, False):
        st.html(f"<script>{TO_THE_TOP}</script>", unsafe_allow_javascript=True)


@st.fragment(run_every=PERIOD)
def follow(transfer: Transfer) -> None:
    """How far a transfer has come, and the button that stops it; the page is drawn anew when it ends."""
    state = transfer.state
    if state.phase != "running":
        st.rerun()
    share = state.done / state.total if state.total else 0.0
    amount = f"{state.done / 1e6:.1f} of {state.total / 1e6:.1f} MB" if state.total > BYTES else ""
    st.progress(min(share, 1.0), text=plain(f"{state.message or 'starting'} {amount}"))
    button("Stop", "stop", "fetch_stop", transfer.stop, help="Stops the transfer. You can start it again later.")


def behind(key: Hashable, work: Callable[[Report], READ]) -> READ | None:
    """What `work(report)` returns, or raises, once it has ended in a background thread; until then None, and its
    progress on screen. key: what tells it from other work; the session holds the results of the last MOST, and stops
    what it does not hold."""
    last = st.session_state.setdefault(LAST, {})
    transfer = last[key] = last.pop(key, None) or Transfer("upload", work)
    while len(last) > MOST:
        last.pop(next(iter(last))).stop()
    phase = transfer.wait(SOON).phase
    if phase == "running":
        follow(transfer)
    elif phase == "stopped":
        st.info("Reading was stopped. Nothing is stored.", icon=":material/stop_circle:")
        button("Read again", "refresh", "read_again", last.pop, key, help="Reads the files again from the first one.")
    elif phase == "failed":
        raise transfer.error
    return transfer.result


def reading(read: Callable[[bool], READ], sources: object) -> READ | None:
    """What `read(skip)` returns, or None with the reason on screen. sources: the upload, for which the reader may
    choose to skip bad parts."""
    key = f"skip_bad_{hashlib.sha256(repr(sources).encode()).hexdigest()[:12]}"
    skip = st.session_state.get(key, False)
    try:
        found = read(skip)
    except Unusable as error:
        n, rest = len(error.bad), error.total - len(error.bad)
        title = f"{n:,} of {error.total:,} {error.words} cannot be used"
        st.error(plain(DataError(error.bad[0], error.accepted)), title=title, icon=":material/block:")
        _offer(key, f"Ignore {'this one' if n == 1 else f'these {n:,}'} and read the other {rest:,}")
        if n > 1:
            with st.expander(f"All {n:,} problems", expanded=n <= FEW):
                more = [f"and {n - LISTED:,} more"] if n > LISTED else []
                st.text("\n".join([*error.bad[:LISTED], *more]))
    except DataError as error:
        st.error(plain(error), title="This upload cannot be used", icon=":material/block:")
    else:
        if skip:
            _offer(key, "Ignore the parts that cannot be used")
        return found
    return None


def _offer(key: str, label: str) -> None:
    st.checkbox(label, key=key, help="Reads the upload without what cannot be used. Your files are not changed.")
