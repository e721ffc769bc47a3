"""What all figures share: a bare frame, words for those who do not see it, and how one is drawn.

Each figure carries its own words in `layout.meta`: `alt`, read out by a screen reader, and `see`, the line that `show`
prints below it.  Text and grid colours are left to the app's theme, so that a figure fits a light and a dark page.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from pages.ui.kit.palette import FAINT, GREY
from pages.ui.kit.present import TYPE, parts, presenting
from pages.ui.kit.words import plain

HEIGHT = 260
TALLEST = 376  # pixels in Present mode, whose titles and choices stand above it on a screen of 720
PAGE = {"light": "#fdfcfa", "dark": "#1a1a18"}  # grounds of the themes (.streamlit/config.toml)


def show(figure: go.Figure, key: str, **options):
    """Draw a figure with its alt text and its line of words; returns what `st.plotly_chart` returns."""
    state = chart(figure, key, **options)
    st.caption(plain(figure.layout.meta["see"]))
    return state


def side_by_side(figures: Mapping[str, go.Figure], columns: int, width: int, names: Sequence[str] = ()) -> None:
    """Draw figures side by side, each at least `width` pixels. names: of tabs while presenting; none: all are drawn."""
    grid = st.grid(columns, min_column_width=width)
    places = [grid.cell() for _ in figures]
    for (key, figure), place in zip(figures.items(), parts(names, places) if names else places, strict=True):
        with place:
            show(figure, key)


def _clicked(key: str, on_click: Callable) -> None:
    for point in st.session_state[key].selection.points:
        data = point.get("customdata")
        if data is not None:
            on_click(data[0] if isinstance(data, list) else data)


def chart(figure: go.Figure, key: str, file: str = "", on_click: Callable | None = None, **options):
    """`show` without the line of words, for one of several alike figures, below which it is said once. A button above
    the figure saves it as SVG, under the name `file` or one made of the key and the axes. on_click: called with the
    customdata, or the first of several, of a point that is clicked."""
    if on_click:
        options |= {"on_select": lambda: _clicked(key, on_click), "selection_mode": "points"}
    if presenting():
        height, right = figure.layout.height or HEIGHT, figure.layout.margin.r or 0  # where lines have their names
        figure.update_layout(font_size=12 * TYPE, height=min(TYPE * height, TALLEST), margin_r=TYPE * right)
    if page := PAGE.get(st.context.theme.type):  # else light text would be saved on nothing
        figure.update_layout(paper_bgcolor=page)
    figure.update_layout(modebar={"bgcolor": "rgba(0,0,0,0)", "color": FAINT, "activecolor": GREY})
    config = {
        "scrollZoom": False,
        "displayModeBar": True,
        "displaylogo": False,
        "modeBarButtons": [["toImage"]],
        "toImageButtonOptions": {"format": "svg", "filename": file or file_name(figure, key)},
    }
    return st.plotly_chart(figure, key=key, alt=figure.layout.meta["alt"], config=config, **options)


def file_name(figure: go.Figure, key: str) -> str:
    """`watch-gap-kkt-gap-against-time-s`: what a saved figure is called."""
    x, y = figure.layout.xaxis.title.text, figure.layout.yaxis.title.text
    told = " ".join([key, *([y, "against", x] if x and y else [])]).lower()
    return re.sub("[^a-z0-9]+", "-", told).strip("-")[:80]


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


def log_ticks(low: float, high: float) -> dict:
    """Ticks of a log axis from `low` to `high`: the powers of ten, with 2 and 5 of each where they are few."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1,) if high > 30 * low else (1, 2, 5)
    return {"tickvals": [step * 10.0**power for power in powers for step in steps]}


def worded(figure: go.Figure, alt: str, see: str) -> go.Figure:
    return figure.update_layout(meta={"alt": alt, "see": see})
