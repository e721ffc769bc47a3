"""Virtual examples that were drawn: how many of a thousand still violated a margin, and what was held for them."""

from collections.abc import Sequence

import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.figures.traces import LEGEND, line
from pages.ui.kit.palette import BLUE, GREY, ORANGE


def by_draws(rounds: Sequence[Sequence[int]]) -> go.Figure:
    """rounds: (drawn so far, in this round, violators, examples held, support vectors) of each."""
    drawn, looked, violators, held, n_sv = zip(*rounds, strict=True)
    share = [1000 * v / max(n, 1) for v, n in zip(violators, looked, strict=True)]
    figure = bare("copies drawn", "of 1,000 drawn violate", margin_r=130, yaxis_rangemode="tozero")
    lines = (
        ("violate", share, BLUE, "y", "%{y:.0f} of 1,000 violate"),
        ("held", held, GREY, "y2", "%{y:,} held"),
        ("support vectors", n_sv, ORANGE, "y2", "%{y:,} support vectors"),
    )
    for name, values, colour, axis, told in lines:
        how = {"yaxis": axis, "name": name}
        line(figure, drawn, values, colour, f"{told} after %{{x:,}} drawn", points=True, how=how)
    figure.update_layout(
        yaxis2={"overlaying": "y", "side": "right", "rangemode": "tozero", "showgrid": False, "title": "examples",
                "tickmode": "auto", "tickformat": "~s"},
        showlegend=True, legend=LEGEND,
    )  # fmt: skip
    ends = f"from {share[0]:.0f} to {share[-1]:.0f} of 1,000"
    return worded(
        figure,
        f"Copies that violate a margin by the number drawn, {ends}; {held[-1]:,} examples held, {n_sv[-1]:,} of them "
        f"support vectors after {drawn[-1]:,} draws.",
        f"The share that tells something went {ends}; of {drawn[-1]:,} drawn, {held[-1]:,} are held.",
    )
