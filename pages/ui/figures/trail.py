"""How the decision on one digit changed while it was nudged, as a pure function from numbers to a Plotly figure."""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.figures.traces import line, note
from pages.ui.kit.palette import BLUE, GREY, ORANGE
from pages.ui.kit.words import in_figure, short

HEIGHT = 210
MARKED = 3  # flips up to which each is written on its mark


def flips(values: np.ndarray) -> np.ndarray:
    """Steps (m,) at which the class with the largest of the values (t, k) is another than at the step before."""
    won = values.argmax(axis=1)
    return np.flatnonzero(won[1:] != won[:-1]) + 1


def decision_trail(values: np.ndarray, classes: Sequence, places: Sequence[str]) -> go.Figure:
    """f of two classes along t nudges, values (t, k): the class that won at first, and the one that won or came next
    in the end. Each change of the winner is marked. places (t,): where the digit was."""
    won, changed = values.argmax(axis=1), flips(values)
    first, last = int(won[0]), int(won[-1])
    other = last if last != first else int(np.argsort(values[-1])[-2])
    figure = bare("nudge", "f", height=HEIGHT, margin_r=40)
    how = {"marker": {"size": 5}, "customdata": [in_figure(place, 60) for place in places]}
    for c, colour in ((first, BLUE), (other, ORANGE)):
        name, told = in_figure(classes[c], 12), "f = %{y:.3f}, %{customdata}"
        line(figure, np.arange(len(values)), values[:, c], colour, told, of=name, width=2, points=True, how=how)
        above = values[-1, c] == values[-1, [first, other]].max()
        where = {"xanchor": "left", "xshift": 6, "yshift": 6 if above else -6}
        note(figure, len(values) - 1, values[-1, c], name, colour, **where)
    for step in changed if len(changed) <= MARKED else ():
        text = f"{in_figure(classes[won[step - 1]], 9)} → {in_figure(classes[won[step]], 9)}"
        note(figure, step - 0.5, 1, text, yref="paper", yanchor="bottom")
    marks = {"type": "line", "yref": "paper", "y0": 0, "y1": 1, "line": {"dash": "dot", "color": GREY}}
    figure.update_layout(shapes=[marks | {"x0": step - 0.5, "x1": step - 0.5} for step in changed])
    figure.update_xaxes(dtick=max(1, len(values) // 6), rangemode="tozero")
    said = "; ".join(
        f"{short(classes[won[s - 1]], 9)} → {short(classes[won[s]], 9)} at nudge {s}" for s in changed[-3:]
    )
    return worded(
        figure,
        f"Decision values of classes {short(classes[first])} and {short(classes[other])} along {len(values) - 1} "
        f"nudges; the answer flipped {len(changed)} times.",
        f"The answer flipped: {said}." if said else "The answer has not flipped so far.",
    )
