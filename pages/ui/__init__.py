"""Parts that the pages share.

Until `st.navigation` has run once in a process, Streamlit takes a folder named `pages` for its older page discovery: a
link to a page, opened first after a start, would run that page without app.py. Every page imports this package before
it draws, which switches the discovery off and begins anew.
"""

import streamlit as st
from streamlit.runtime.pages_manager import PagesManager

if PagesManager.uses_pages_directory:
    PagesManager.uses_pages_directory = False
    st.rerun()
