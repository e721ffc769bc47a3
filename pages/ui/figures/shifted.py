"""f over shifts of one picture: a square of cells, blue where it speaks for the class, orange where against it."""

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.kit.palette import BLUE, CLEAR_BLUE, CLEAR_ORANGE, GREY, ORANGE
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import in_figure, short

SCALE = [[0, ORANGE], [0.5, CLEAR_ORANGE], [0.5, CLEAR_BLUE], [1, BLUE]]  # the page's own colour at 0


def shift_map(f: np.ndarray, largest: float, holds: np.ndarray, called: list[list[str]], name: str) -> go.Figure:
    """f (n, n) of the class's machine at shifts (rows dy, columns dx), coloured up to +-largest; holds (n, n): whether
    the answer is the one wanted, others get a cross; called: the answers; name: whose machine."""
    n = len(f)
    steps = np.arange(n) - n // 2
    figure = bare("shifted right, pixels", "shifted down, pixels", height=280, hovermode="closest")
    figure.add_heatmap(
        x=steps, y=steps, z=f, zmin=-largest, zmax=largest, colorscale=SCALE, showscale=False, xgap=1, ygap=1,
        customdata=[[[_where(dy, dx), in_figure(called[r][c], 24)] for c, dx in enumerate(steps)]
                    for r, dy in enumerate(steps)],
        hovertemplate="%{customdata[0]}: f = %{z:+.4f}, called %{customdata[1]}<extra></extra>",
    )  # fmt: skip
    rows, columns = np.nonzero(~holds)
    figure.add_scatter(
        x=steps[columns], y=steps[rows], mode="text", text="×", textfont={"size": 14, "weight": 700}, hoverinfo="skip",
    )  # fmt: skip
    figure.add_shape(type="rect", x0=-0.5, x1=0.5, y0=-0.5, y1=0.5, line={"color": GREY, "width": 3})
    ticks = {"tickvals": [-(n // 2), 0, n // 2], "showgrid": False, "zeroline": False}
    figure.update_xaxes(constrain="domain", range=[steps[0] - 0.5, steps[-1] + 0.5], **ticks)
    figure.update_yaxes(range=[steps[-1] + 0.5, steps[0] - 0.5], scaleanchor="x", constrain="domain", **ticks)
    middle = f[n // 2, n // 2]
    return worded(
        figure,
        f"{short(name)}: f at {n} by {n} shifts, {with_sign(middle, 3)} as it is, from {with_sign(f.min(), 3)} to "
        f"{with_sign(f.max(), 3)}; the answer holds at {int(holds.sum())}.",
        f"f from {with_sign(f.min())} to {with_sign(f.max())}, {with_sign(middle)} as it is.",
    )


def _where(dy: int, dx: int) -> str:
    down, right = (f"{abs(by)} {side}" if by else "" for by, side in
                   ((dy, "down" if dy > 0 else "up"), (dx, "right" if dx > 0 else "left")))  # fmt: skip
    return " and ".join(filter(None, (down, right))) or "as it is"
