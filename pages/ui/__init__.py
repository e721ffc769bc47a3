"""Parts that the pages share. Every page imports this package before it draws."""

import streamlit as st


def switch_off_page_discovery() -> bool:
    """Whether Streamlit's older page discovery was on; it is off afterwards.

    Until `st.navigation` has run once in a process, Streamlit takes a folder named `pages` for that discovery: a link
    to a page, opened first after a start, would run that page without app.py. There is no public switch. A Streamlit
    without the private one has no such discovery.
    """
    try:
        from streamlit.runtime.pages_manager import PagesManager
    except ImportError:
        return False
    was_on = getattr(PagesManager, "uses_pages_directory", None)
    if was_on:
        PagesManager.uses_pages_directory = False
    return bool(was_on)


if switch_off_page_discovery():
    st.rerun()  # from app.py on
