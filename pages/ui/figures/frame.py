"""What all figures share: a bare frame, words for those who do not see it, and how one is drawn.

Each figure carries its own words in `layout.meta`: `alt`, read out by a screen reader, and `see`, the line that `show`
prints below it.  Text and grid colours are left to the app's theme, so that a figure fits a light and a dark page.
"""

import plotly.graph_objects as go
import streamlit as st

from pages.ui.kit.present import TYPE, presenting
from pages.ui.kit.words import plain

HEIGHT = 260


def show(figure: go.Figure, key: str, **options):
    """Draw a figure with its alt text and its line of words; returns what `st.plotly_chart` returns."""
    state = chart(figure, key, **options)
    st.caption(plain(figure.layout.meta["see"]))
    return state


def chart(figure: go.Figure, key: str, file: str = "", **options):
    """`show` without the line of words, for one of several alike figures, below which it is said once. file: with it
    the figure has a button that saves it under this name, as SVG."""
    if presenting():
        figure.update_layout(font_size=12 * TYPE, height=TYPE * (figure.layout.height or HEIGHT))
    save = {
        "displayModeBar": True,
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "svg", "filename": file},
    }
    config = {"scrollZoom": False} | (save if file else {"displayModeBar": False})
    return st.plotly_chart(figure, key=key, alt=figure.layout.meta["alt"], config=config, **options)


def bare(x_title: str | None, y_title: str | None, *, height: int = HEIGHT, margin_r: int = 10, **layout) -> go.Figure:
    figure = go.Figure()
    figure.update_layout(
        height=height,
        margin={"l": 10, "r": margin_r, "t": 24, "b": 10},
        showlegend=False,
        dragmode=False,
        hovermode=layout.pop("hovermode", "x"),
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
        **layout,
    )
    figure.update_xaxes(title=x_title, fixedrange=True)
    figure.update_yaxes(title=y_title, fixedrange=True)
    return figure


def worded(figure: go.Figure, alt: str, see: str) -> go.Figure:
    return figure.update_layout(meta={"alt": alt, "see": see})
