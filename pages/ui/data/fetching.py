"""A data set that is not at hand: the button that fetches it, and how far the fetch is."""

import streamlit as st

from data import Entry, transfers
from pages.ui.kit.buttons import button
from pages.ui.kit.words import plain

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
