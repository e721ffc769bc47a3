"""The list of data sets: a card each, with a small picture that is drawn last."""

import numpy as np
import streamlit as st

from data import DataError, Entry, catalogue, pictures, thumbnails, transfers
from data.pictures import PictureEntry, drawing
from data.revisions import Revision
from pages.ui.data import picture_sets
from pages.ui.example import views
from pages.ui.kit.buttons import button
from pages.ui.kit.gallery import in_theme
from pages.ui.kit.words import plain, short

WIDTH = 96  # of a thumbnail, pixels
FEW = 4  # cards that are shown unasked: a row


def listed(entries, chosen: str, choose) -> dict:
    """The cards of a list, the reader's own sets first: those that pass what is looked for, or a row of them with the
    chosen one until all are asked for. Returns the places of their pictures."""
    entries = sorted(entries, key=lambda entry: not _changes(entry))
    looked_for = str(st.session_state.get("find_set") or "").strip().lower()
    found = [entry for entry in entries if looked_for in f"{entry.title} {entry.name}".lower()]
    shown = found if looked_for or st.session_state.get("all_sets") else _few(found, chosen)
    if not shown:
        st.caption(f"No set is called {plain(short(looked_for))}.")
    with st.grid("auto", min_column_width=200):
        places = {entry: card(entry, entry.name == chosen, choose) for entry in shown}
    if len(entries) > FEW and not looked_for:
        st.toggle(f"All {len(entries)} sets", key="all_sets", help="Or the first few, and the one that is shown.")
    return places


def _changes(entry: Entry | PictureEntry) -> bool:
    """Whether a set is the reader's, whose examples or labels may change under its name."""
    return entry.name.startswith(catalogue.OWN_PREFIX) or isinstance(entry, Revision)


def _few(entries: list, chosen: str) -> list:
    """The first ones, the chosen one as the last of them where it comes later."""
    late = [entry for entry in entries[FEW:] if entry.name == chosen]
    return [*entries[: FEW - 1], *late] if late else entries[:FEW]


def card(entry: Entry | PictureEntry, chosen: bool, choose):
    """One data set of the list: name, size, licence, whether it is at hand; returns the place for its picture."""
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            place = st.container(width=WIDTH)
            how = {"help": "Look at its examples below.", "type": "primary" if chosen else "secondary"}
            button("Shown" if chosen else "Show", "", f"show_{entry.name}", choose, entry.name, **how)
        badge = (
            ":green-badge[:material/check: at hand]" if entry.at_hand else ":gray-badge[:material/download: to fetch]"
        )
        st.markdown(f"**{plain(short(entry.title))}** {badge}  \n:small[{facts(entry)}  \n{plain(entry.licence)}]")
    return place


def facts(entry: Entry | PictureEntry) -> str:
    """How many examples or pictures of what, in a line."""
    return picture_sets.facts(entry) if isinstance(entry, PictureEntry) else views.facts(entry)


def draw(places: dict) -> None:
    """Put the thumbnails into their places; the first drawing reads every set that is at hand."""
    for entry, place in places.items():
        written = tuple(path.stat().st_mtime_ns for path in entry.paths()) if _changes(entry) else ()
        image = _thumbnail(entry.name, isinstance(entry, PictureEntry), (entry.at_hand, written))
        place.image(in_theme(np.asarray(image)), width=WIDTH, output_format="PNG", alt=f"Examples of {entry.title}")


@st.cache_data(max_entries=128, show_spinner=False)
def _thumbnail(name: str, of_pictures: bool, state: tuple):
    """A small picture of the set, drawn once for each state it is in; empty frames for files that cannot be read."""
    entry = (pictures if of_pictures else catalogue).entry(name)
    try:
        if not entry.at_hand:
            return thumbnails.frames()
        return drawing.thumbnail(entry.load()) if of_pictures else thumbnails.draw(entry.load())
    except DataError:
        return thumbnails.frames()


PERIOD = 0.5  # seconds between two looks at a transfer


def fetch_panel(entry: Entry) -> None:
    """Offer to fetch the set, follow a fetch under way, and run the page again when it has ended."""
    transfer = transfers.current(entry.name)
    running = transfer is not None and transfer.state.phase == "running"
    with st.container(border=True):
        st.markdown(f"**Not at hand yet.** {entry.size_mb:g} MB from {', '.join(entry.sources)}.")
        if not entry.fetchable:
            st.markdown("It has no public download: put its files into a folder that `SVMLAB_DATA` names.")
            return
        if running:
            _follow(transfer)
            return
        if transfer is not None and transfer.state.phase == "failed":
            st.error(plain(transfer.state.message), title="The fetch failed", icon=":material/cloud_off:")
        label = "Try again" if transfer else "Fetch"
        help = "Runs in the background; each file is verified, and a broken transfer can be tried again."
        button(label, "download", "fetch", transfers.start, entry.name, help=help, type="primary")


@st.fragment(run_every=PERIOD)
def _follow(transfer: transfers.Transfer) -> None:
    state = transfer.state
    if state.phase != "running":
        st.rerun()
    share = state.done / state.total if state.total else 0.0
    amount = f"{state.done / 1e6:.1f} of {state.total / 1e6:.1f} MB" if state.total > 1e5 else ""
    st.progress(min(share, 1.0), text=plain(f"{state.message or 'starting'} {amount}"))
    button("Stop", "stop", "fetch_stop", transfer.stop, help="Ends the transfer; it can be tried again.")
