"""Figures of a trained machine and how it decides, as pure functions from numbers to Plotly figures.

alpha (m,) and C: multipliers of one machine; f: decision values before the sign
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import HEIGHT, bare, worded
from pages.ui.kit.palette import BLUE, GREY, INK, LIGHT_BLUE, LIGHT_ORANGE, ORANGE, PAPER, signed
from pages.ui.kit.words import in_figure, short

BINS = 20  # of the histogram of alpha


def alpha_histogram(
    alpha: np.ndarray, signs: np.ndarray, C: float | None, bound: np.ndarray | None = None
) -> go.Figure:
    """Histogram (log counts) of the positive alpha (m,) of one machine, by class `signs` (m,) +-1, with C marked.

    C: the bound of all alphas; None where classes have bounds of their own.  bound (m,): which alphas are at theirs.

    The paper chose C = 2 for MNIST from such a histogram of a run with a large C: few alphas exceeded 2
    (DeCoste and Schoelkopf 2002, section 5.1.1).
    """
    figure = bare("alpha", "support vectors", yaxis_type="log", barmode="group", bargap=0.08, bargroupgap=0)
    bound = alpha >= C * (1 - 1e-6) if bound is None else bound
    top = max(float(alpha.max(initial=0.0)), C if C is not None and np.isfinite(C) else 0.0, 1e-12)
    edges = np.linspace(0, top * (1 + 1e-9), BINS + 1)
    centres = (edges[1:] + edges[:-1]) / 2
    for sign, name, colour in ((1, "class +1", BLUE), (-1, "class −1", ORANGE)):
        counts, _ = np.histogram(alpha[signs == sign], edges)
        figure.add_bar(
            x=centres,
            y=counts,
            marker={"color": colour, "line_width": 0},
            name=name,
            customdata=np.column_stack([edges[:-1], edges[1:]]),
            hovertemplate="%{y:,} with %{customdata[0]:.3g} ≤ alpha < %{customdata[1]:.3g}" + f"<extra>{name}</extra>",
        )
    if C is not None:
        figure.add_vline(
            x=C, line={"dash": "dot", "color": GREY}, annotation_text=f"C = {C:g}", annotation_position="top left"
        )
    figure.update_layout(showlegend=True, legend={"orientation": "h", "x": 0, "y": 1.12})
    at = "their bounds, which differ by class" if C is None else f"C = {C:g}"
    return worded(
        figure,
        f"Histogram of the alphas of {len(alpha)} support vectors; {np.sum(bound)} of them are at {at}.",
        f"{np.sum(bound):,} of {len(alpha):,} support vectors reach {at}. The paper trained once with C = 10, saw "
        "that only a handful of alphas exceeded 2, and chose C = 2.",
    )


def confusion_figure(matrix: np.ndarray, classes: Sequence, selected: Sequence[int] = ()) -> go.Figure:
    """Confusion matrix (k, k), rows true and columns predicted; a click reports `customdata` = row * k + column.

    Errors are shaded, the diagonal is not; `selected` cells are outlined.
    """
    k = len(classes)
    errors = np.where(np.eye(k, dtype=bool) | (matrix == 0), np.nan, matrix)
    figure = class_cells(
        errors,
        [f"{n:,}" if n else "" for n in matrix.ravel()],
        [f"{n:,}" for n in matrix.ravel()],
        classes,
        selected,
        zmin=0,
        zmax=max(1, np.nanmax(errors, initial=0)),
        colorscale=[[0, PAPER], [1, GREY]],
    )
    wrong = int(np.nansum(errors))
    return worded(
        figure,
        f"Confusion matrix of {int(matrix.sum())} test examples in {k} classes, {wrong} of them wrong.",
        "Rows are true classes, columns predicted ones; darker cells hold more errors. Click a cell to see its digits.",
    )


def confusion_change(before: np.ndarray, after: np.ndarray, classes: Sequence, selected: Sequence[int] = ()):
    """What changed between two confusion matrices (k, k) of the same examples: counts of `after` less those of
    `before`, fewer errors blue, more orange; clicks and `selected` as in `confusion_figure`."""
    k = len(classes)
    change = after - before
    shade = np.where(np.eye(k, dtype=bool) | (change == 0), np.nan, change)
    most = max(1, np.nanmax(np.abs(shade), initial=0))
    figure = class_cells(
        shade,
        [f"{n:+,}".replace("-", "−") if n else "" for n in change.ravel()],
        [f"{a:,} before, {b:,} after" for a, b in zip(before.ravel(), after.ravel())],
        classes,
        selected,
        zmin=-most,
        zmax=most,
        colorscale=[[0, BLUE], [0.49, LIGHT_BLUE], [0.51, LIGHT_ORANGE], [1, ORANGE]],
    )
    fewer, more = (int(np.nansum(np.maximum(s * shade, 0))) for s in (-1, 1))
    return worded(
        figure,
        f"Change of the confusion matrix in {k} classes: {fewer} errors fewer in some cells, {more} more in others.",
        "Rows are true classes, columns answers. Blue: this error became rarer; orange: it became more frequent. Click "
        "a cell to see its examples.",
    )


def class_cells(values, texts, counts, classes: Sequence, selected: Sequence[int], **shades) -> go.Figure:
    """A (k, k) matrix of classes, rows true and columns predicted, NaN unshaded; a click reports row * k + column.

    texts, counts: of each cell, row by row: what stands in it, and what is said of it on hover.
    """
    k = len(classes)
    labels = [in_figure(c, 24) for c in classes]
    figure = bare("predicted", "true", height=HEIGHT + min(24 * k, 420))
    figure.add_heatmap(z=values, showscale=False, hoverinfo="skip", xgap=1, ygap=1, **shades)
    rows, columns = np.divmod(np.arange(k * k), k)
    strong = np.nan_to_num(np.abs(values)).ravel() > 0.6 * shades["zmax"]
    ink = np.where(strong & (shades["zmin"] < 0), "white", INK)
    figure.add_scatter(
        x=columns,
        y=rows,
        mode="markers+text" if k <= 20 else "markers",
        marker={"symbol": "square", "size": max(8, min(110, 300 // k)), "opacity": 0, "color": GREY},
        text=texts,
        textfont={"color": np.where(rows == columns, GREY, ink)},
        customdata=list(range(k * k)),
        hovertext=[f"{n} × true {labels[r]}, predicted {labels[c]}" for n, r, c in zip(counts, rows, columns)],
        hoverinfo="text",
    )
    for row, column in (divmod(cell, k) for cell in selected):
        figure.add_shape(
            type="rect", x0=column - 0.5, x1=column + 0.5, y0=row - 0.5, y1=row + 0.5, line={"color": BLUE, "width": 3}
        )
    ticks = {"tickvals": list(range(k)), "ticktext": labels, "showgrid": False, "zeroline": False}
    figure.update_xaxes(range=[-0.5, k - 0.5], **ticks)
    figure.update_yaxes(range=[k - 0.5, -0.5], **ticks)
    return figure.update_layout(hovermode="closest", clickmode="event+select")


def decision_bars(values: np.ndarray, classes: Sequence, true, predicted) -> go.Figure:
    """Decision values (k,) of one example, one bar for each machine; the largest one wins. true: None where nobody
    knows it, as of a drawing."""
    marks = [(c, [word for word, name in (("true", true), ("predicted", predicted)) if c == name]) for c in classes]
    labels = [f"{in_figure(c, 24)} {', '.join(words)}" for c, words in marks]
    if len(set(labels)) < len(labels):  # cut short they are alike, and would become one bar
        labels = [f"{number}: {label}" for number, label in enumerate(labels, 1)]
    figure = bare("decision value f", None, height=90 + 24 * len(labels), hovermode="closest")
    figure.add_bar(
        x=values,
        y=labels,
        orientation="h",
        marker={"color": [signed(v) for v in values], "line_width": 0},
        hovertemplate="f = %{x:.4f}<extra></extra>",
    )
    figure.add_vline(x=0, line={"color": GREY, "width": 1})
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    return worded(
        figure,
        f"Decision values of the machines; class {short(predicted)} has the largest one"
        + ("." if true is None else f", the true class is {short(true)}."),
        "Each machine says how far the example lies on its side (blue) or off it (orange); the largest value wins.",
    )
