"""Present mode, for a class that looks at a screen: `?present=true` shows one figure at a time and no forms.

A page hands its widgets to `form` and its figures to `parts`; outside Present mode both are what the page has anyway.
"""

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

PRESENT = "present"


def presenting() -> bool:
    """Whether the address asks for Present mode."""
    return st.query_params.get(PRESENT) == "true"


def form(label: str = "Settings") -> DeltaGenerator:
    """The place of a page's widgets: a container, or, while presenting, a button that unfolds them."""
    return st.popover(label, icon=":material/tune:") if presenting() else st.container()


def parts(names: Sequence[str], places: Sequence[DeltaGenerator] | None = None) -> Sequence[DeltaGenerator]:
    """Places for the figures called `names`: containers below one another, or `places`; while presenting, tabs."""
    if presenting():
        return st.tabs(names)
    return places if places is not None else [st.container() for _ in names]
