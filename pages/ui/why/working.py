"""Work beside the runs, as a page shows it while it lasts: how far it is, and the way to stop it."""

from collections.abc import Callable

import streamlit as st


def at_work(
    text: str, share: float, stop: Callable[[], None], key: str, help="What was found until now stays."
) -> None:
    """A bar filled to its share, and a button that stops the work."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.progress(min(max(share, 0.0), 1.0), text=text)
        st.button("Stop", icon=":material/stop:", key=f"{key}_stop", on_click=stop, help=help)
