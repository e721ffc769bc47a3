"""Numbers on a page: tables, and single ones in a row."""

from collections.abc import Callable, Mapping

import streamlit as st

from pages.ui.kit import present

WHOLE = 20  # rows up to which height="auto" shows a table whole; Streamlit alone shows 400 pixels and scrolls


def table(
    rows, alt: str, key: str | None = None, columns: Mapping | None = None, *, on_row: Callable | None = None,
    on_cell: Callable | None = None, **how,
) -> None:  # fmt: skip
    """A table of rows (dicts, or {name: column}), a dash where nothing is known. columns: name -> how it is drawn;
    on_row, on_cell: called with the number of a row that is selected, or with that and the column of a cell; how: what
    else it is told, as height="auto" for one that scrolls where it is long."""

    def selected() -> None:
        selection = st.session_state[key].selection
        for at in selection.cells if on_cell else [[row] for row in selection.rows]:
            (on_cell or on_row)(*at)

    how = {"height": "content", "placeholder": "–"} | how
    n = len(next(iter(rows.values()), ())) if isinstance(rows, Mapping) else len(rows)
    if how["height"] == "auto" and n <= WHOLE:
        how["height"] = "content"
    if on_row or on_cell:
        how |= {"on_select": selected, "selection_mode": "single-cell" if on_cell else "single-row"}
    st.dataframe(rows, hide_index=True, column_config=columns, key=key, alt=alt, **how)


def metrics(shown: Mapping[str, str]) -> None:
    """Numbers under their names, side by side as far as there is room."""
    with st.grid(len(shown), min_column_width=present.scaled(100)):
        for label, value in shown.items():
            st.metric(label, value)


def count(help: str | None = None, label: str | None = None):
    return st.column_config.NumberColumn(label, format="localized", help=help)


def number(digits: int, help: str | None = None, label: str | None = None):
    """A column of numbers with so many digits after the point."""
    return st.column_config.NumberColumn(label, format=f"%.{digits}f", help=help)


def text(help: str, label: str | None = None):
    return st.column_config.TextColumn(label, help=help)
