"""The path of a search over invariances, as a pure function from the sets tried to a Plotly figure."""

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.kit.palette import BLUE, FAINT, GREY
from pages.ui.kit.text import in_figure, many
from svmcore.methods.virtual.search import Search, Tried
from svmcore.metrics import rate_text, wilson

ROW = 19  # pixels of one set
LONGEST = 28  # characters of a name beside the axis


def path_chart(search: Search, found: str = "") -> go.Figure:
    """Errors of each set, a row each, the first on top; the sets that were taken are joined by a line.

    found: what is said of the end, empty while the search goes on.
    """
    tried, n = search.tried, search.n
    figure = bare("wrong on validation examples", None, height=70 + ROW * len(tried), hovermode="closest")
    rows = list(range(len(tried)))
    for name, colour, symbol, chosen in (
        ("left", FAINT, "circle-open", [r for r in rows if _left(tried, r)]),
        ("tried", GREY, "circle", [r for r in rows if not tried[r].taken and not _left(tried, r)]),
        ("taken", BLUE, "circle", [r for r in rows if tried[r].taken]),
    ):
        figure.add_scatter(
            x=[tried[r].errors for r in chosen],
            y=chosen,
            mode="lines+markers" if name == "taken" else "markers",
            line={"color": BLUE, "width": 2.5},
            marker={"color": colour, "symbol": symbol, "size": 9},
            customdata=[_told(tried[r], n, name) for r in chosen],
            hovertemplate="%{customdata}<extra></extra>",
        )
    names = [in_figure(added(tried, r), LONGEST) for r in rows]
    bold = [f"<b>{name}</b>" if one.taken else name for name, one in zip(names, tried, strict=True)]
    figure.update_yaxes(tickvals=rows, ticktext=bold, range=[len(tried) - 0.4, -0.6], showgrid=False, zeroline=False)
    most = max(one.errors for one in tried) if tried else 1
    figure.update_xaxes(range=[-0.04 * most, 1.1 * most + 1])
    for r in rows[1:]:
        if tried[r].step != tried[r - 1].step:
            figure.add_hline(y=r - 0.5, line={"color": FAINT, "width": 1})
    return worded(figure, *_words(search, found))


def added(tried: Sequence[Tried], row: int) -> str:
    """What a step adds with the set of this row: `+ rot:-9,9`; the set itself of the first."""
    one = tried[row]
    before = [other.jitters for other in tried if other.taken and other.step < one.step]
    if not before or before[-1] == "none":
        return one.jitters
    body, text = before[-1].partition("@")[0], one.jitters.partition("@")[0]
    if text.startswith(f"({body})*"):
        return f"× {text[len(body) + 4 : -1]}"
    return f"+ {text[len(body) + 1 :]}"


def _left(tried: Sequence[Tried], row: int) -> bool:
    """Whether a set was left before all folds."""
    return tried[row].folds < max(one.folds for one in tried)


def _told(one: Tried, n: int, name: str) -> str:
    wrong = f"{one.errors:,} of {n:,} wrong, {rate_text(one.errors / n, wilson(one.errors, n))}"
    if name == "left":
        wrong = f"at least {one.errors:,} wrong, left after {many(one.folds, 'fold')}"
    return f"{in_figure(one.jitters)}<br>{wrong}<br>{many(one.forms, 'form')}"


def _words(search: Search, found: str) -> tuple[str, str]:
    tried, taken = search.tried, search.path
    if not taken:
        return "Sets tried, none to the end yet.", "The first set is being tried."
    first, last = taken[0], taken[-1]
    fell = f"from {first.errors:,} to {last.errors:,} of {search.n:,} wrong in {many(len(taken) - 1, 'step')}"
    alt = f"{many(len(tried), 'jitter set')} tried: {fell}, by {last.jitters}."
    left = [_left(tried, row) for row in range(len(tried))]
    early = " Open circles were left early: they have at least so many." if any(left) else ""
    return alt, f"{fell.capitalize()}.{early} {found}".strip()
