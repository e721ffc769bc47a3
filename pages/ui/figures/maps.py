"""Figures of a kernel, of a machine in the plane and of f over the shifts of a picture, as pure functions from numbers
to Plotly figures.

K (u, v)   kernel value of two examples of norm `norm`, against their cosine
field      decision values f on a grid of the plane: (xs (p,), ys (q,), f (q, p)), or class numbers (q, p)
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go
from skimage.measure import find_contours

from pages.ui.figures.frame import bare, worded
from pages.ui.figures.traces import dots, line
from pages.ui.kit.palette import BLUE, CLASS_COLOURS, CLASS_SYMBOLS, CLEAR_BLUE, CLEAR_ORANGE, GREY, ORANGE
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import in_figure, many, short

PLANE = ("x₁", "x₂")  # what the axes of a plane are called
PALE = {BLUE: "rgba(0,114,178,0.22)", ORANGE: "rgba(213,94,0,0.22)"}
Field = tuple[np.ndarray, np.ndarray, np.ndarray]  # xs, ys, f
PALE_INK, CLEAR_INK = "rgba(138,143,152,0.75)", "rgba(138,143,152,0)"  # of a picture below a map
SCALE = [[0, ORANGE], [0.5, CLEAR_ORANGE], [0.5, CLEAR_BLUE], [1, BLUE]]  # the page's own colour at 0


def kernel_picture(kernel, norm: float = 1.0) -> go.Figure:
    """K(u, v) of two examples of this norm as the cosine between them goes from -1 (opposite) to 1 (identical)."""
    cosine = np.linspace(-1, 1, 201)
    u = np.array([[norm, 0.0]], np.float32)
    v = norm * np.column_stack([cosine, np.sqrt(1 - cosine**2)]).astype(np.float32)
    values = kernel.exact(u, v)[0]
    figure = bare("cosine of u and v", "K(u, v)", height=200)
    line(figure, cosine, values, BLUE, "K = %{y:.3g} at cosine %{x:.2f}")
    half = cosine[values >= (values[-1] + values.min()) / 2]
    reach = float(half[0]) if len(half) else 1.0
    return worded(
        figure,
        f"Kernel value against the cosine of two examples; it reaches half its height at cosine {reach:.2f}.",
        "The kernel value K(u, v) says how similar two examples are to the machine. The curve reaches half its "
        f"height at cosine {reach:.2f}. A curve that is steeper near cosine 1 makes a more local, more flexible "
        "machine.",
    )


def toy_plane(
    X: np.ndarray,
    y: np.ndarray,
    classes: Sequence,
    *,
    refs: Sequence[str] | None = None,
    field: Field | None = None,
    free: Sequence[int] = (),
    bound: Sequence[int] = (),
    errors: Sequence[int] = (),
    made: Sequence = (),
    axes: tuple[str, str] = PLANE,
) -> go.Figure:
    """Points X (n, 2) of the plane by class, with the decision field and marked examples.

    `field` of a binary machine holds f and is drawn as two half-planes with the lines f = -1, 0, 1; of several classes
    it holds the number of the winner.  `free`, `bound` and `errors` index the rows of X; `refs` are reported on clicks.
    `made` (m, 2) are vectors that a reduction constructed, in the plane as the kernel sees it.
    """
    figure = bare(*map(in_figure, axes), height=460, hovermode="closest", clickmode="event+select")
    if field is not None:
        _add_field(figure, field, len(classes))
    for c, name in enumerate(classes):
        rows, name = np.flatnonzero(y == name), in_figure(name)
        at = c % len(CLASS_COLOURS)
        marker = {"color": CLASS_COLOURS[at], "symbol": CLASS_SYMBOLS[at], "size": 6}
        reported = rows if refs is None else [refs[i] for i in rows]
        dots(figure, *X[rows].T, marker, f"class {name} (%{{x:.2f}}, %{{y:.2f}})", customdata=reported, name=name)
    rings = (
        (free, {"symbol": "circle-open", "size": 11}),
        (bound, {"symbol": "circle-open", "size": 11}),
        (bound, {"symbol": "circle-open", "size": 16}),
        (errors, {"symbol": "x-thin", "size": 10, "line": {"width": 2, "color": GREY}}),
    )
    for rows, marker in rings:
        dots(figure, *X[np.asarray(rows, int)].T, {"color": GREY, **marker})
    if len(made):
        marker = {"symbol": "diamond-open", "size": 10, "color": GREY, "line": {"width": 2}}
        dots(figure, *np.transpose(made), marker, "constructed vector (%{x:.2f}, %{y:.2f})")
    figure.update_layout(showlegend=False)
    marked = " Rings are support vectors, double rings bounded ones (alpha = C)." if len(free) or len(bound) else ""
    marked += f" Diamonds are the {len(made)} vectors of the reduced set." if len(made) else ""
    marked += f" Crosses mark the {many(len(errors), 'error')}." if len(errors) else ""
    told = "; colour and shape show its class"
    if len(classes) == 2:
        told = ": orange squares of class {}, blue dots of class {}".format(*(short(name, 24) for name in classes))
    return worded(
        figure,
        f"{len(X)} points of the plane in {len(classes)} classes.",
        f"Each point is an example{told}.{marked}"
        + (" The lines are f = −1, 0 and 1." if field is not None and len(classes) == 2 else ""),
    )


def grid(X: np.ndarray, side: int = 120, margin: float = 0.15) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A grid over the points X (n, 2): xs (side,), ys (side,) and its nodes (side * side, 2), row by row."""
    low, high = X.min(axis=0), X.max(axis=0)
    low, high = low - margin * (high - low), high + margin * (high - low)
    xs, ys = np.linspace(low[0], high[0], side), np.linspace(low[1], high[1], side)
    return xs, ys, np.column_stack([a.ravel() for a in np.meshgrid(xs, ys)])


def _add_field(figure: go.Figure, field: Field, n_classes: int) -> None:
    if n_classes > 2:
        xs, ys, f = field
        colours = [CLASS_COLOURS[c % len(CLASS_COLOURS)] for c in range(n_classes)]
        steps = [[(c + e) / n_classes, colours[c]] for c in range(n_classes) for e in (0, 1)]
        figure.add_heatmap(
            x=xs, y=ys, z=f, zmin=-0.5, zmax=n_classes - 0.5, colorscale=steps, opacity=0.22, showscale=False,
            hoverinfo="skip",
        )  # fmt: skip
        return
    sides(figure, field)
    for at, dash, width in ((-1, "dot", 1), (0, "solid", 2), (1, "dot", 1)):
        level(figure, field, at, dash=dash, width=width)
    for axis, nodes in ((figure.update_xaxes, field[0]), (figure.update_yaxes, field[1])):  # lines would have room
        half = (nodes[1] - nodes[0]) / 2
        axis(range=[nodes[0] - half, nodes[-1] + half])


def sides(figure: go.Figure, field: Field, opacity: float = 1) -> None:
    """Blue where f is above 0, orange where it is below."""
    xs, ys, f = field
    colours = [[0, PALE[ORANGE]], [0.5, PALE[ORANGE]], [0.5, PALE[BLUE]], [1, PALE[BLUE]]]
    figure.add_heatmap(
        x=xs, y=ys, z=np.sign(f).astype(np.int8), zmin=-1, zmax=1, colorscale=colours, showscale=False,
        hoverinfo="skip", opacity=opacity,
    )  # fmt: skip


def level(figure: go.Figure, field: Field, at: float, **look) -> None:
    """Where f is `at`: found here, as a few points travel lighter than a grid for each line."""
    xs, ys, f = field
    x, y = [], []
    for path in find_contours(f, at):
        x += [*np.interp(path[:, 1], np.arange(len(xs)), xs).round(4).tolist(), None]
        y += [*np.interp(path[:, 0], np.arange(len(ys)), ys).round(4).tolist(), None]
    line(figure, x, y, GREY, **look)


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
        hovertemplate="%{customdata[0]}: f = %{z:+.4f}, predicted %{customdata[1]}<extra></extra>",
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
        f"{short(name)}: f at {n} by {n} shifts. Without a shift, f is {with_sign(middle, 3)}; over all shifts, f "
        f"ranges from {with_sign(f.min(), 3)} to {with_sign(f.max(), 3)}. The prediction is the example's own class "
        f"at {int(holds.sum())} of these shifts.",
        f"Over all shifts, f ranges from {with_sign(f.min())} to {with_sign(f.max())}. Without a shift, f is "
        f"{with_sign(middle)}.",
    )


def hidden_map(change: np.ndarray, largest: float, picture: np.ndarray, flips: np.ndarray, name: str) -> go.Figure:
    """change (h, w) of f of the class's machine where pixels are hidden, coloured up to +-largest over the pale picture
    (h, w) uint8; flips (m, 2): middles (y, x) of the squares that change the prediction, with a cross; name: whose
    machine."""
    h, w = change.shape
    figure = bare(None, None, height=280, hovermode="closest")
    pale = [[0, PALE_INK], [1, CLEAR_INK]]
    figure.add_heatmap(z=picture, zmin=0, zmax=255, colorscale=pale, showscale=False, hoverinfo="skip")
    figure.add_heatmap(
        z=change, zmin=-largest, zmax=largest, colorscale=SCALE, showscale=False, opacity=0.85,
        hovertemplate="hidden around row %{y}, column %{x}: f changes by %{customdata}<extra></extra>",
        customdata=[[with_sign(-value, 3) for value in row] for row in change.tolist()],
    )  # fmt: skip
    figure.add_scatter(
        x=flips[:, 1], y=flips[:, 0], mode="text", text="×", textfont={"size": 12, "weight": 700}, hoverinfo="skip",
    )  # fmt: skip
    look = {"showgrid": False, "zeroline": False, "showticklabels": False, "ticks": ""}
    figure.update_xaxes(constrain="domain", range=[-0.5, w - 0.5], **look)
    figure.update_yaxes(range=[h - 0.5, -0.5], scaleanchor="x", constrain="domain", **look)
    y, x = np.unravel_index(np.argmax(np.abs(change)), change.shape)
    strongest = with_sign(-change[y, x], 2)
    return worded(
        figure,
        f"{short(name)}: f changes most, by {strongest} on average, when a square that covers row {y}, column {x} of "
        f"{h} by {w} pixels is hidden. The prediction changes for {many(len(flips), 'square')}, each hidden alone.",
        f"f changes most, by {strongest} on average, when a square around row {y}, column {x} is hidden.",
    )


def _where(dy: int, dx: int) -> str:
    down, right = (f"{abs(by)} {side}" if by else "" for by, side in
                   ((dy, "down" if dy > 0 else "up"), (dx, "right" if dx > 0 else "left")))  # fmt: skip
    return " and ".join(filter(None, (down, right))) or "no shift"
