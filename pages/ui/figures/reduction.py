"""Figures of a reduction, as pure functions from its figures to Plotly figures.

path    points of its curve, fewest vectors first: m, (rho / |Psi|)^2, errors aside,
            answers changed, quadratic mean of the change of f, seconds
aside   how many examples the errors are counted on
"""

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, log_ticks, worded
from pages.ui.figures.traces import hover, line, note, whiskers
from pages.ui.kit.palette import BLUE, FAINT, GREY, ORANGE
from pages.ui.kit.words import in_figure, many, percent, small
from svmcore import metrics

UNSEEN = "examples in neither the training nor the test set"
ANSWERS = "answers"  # the stage of gradient steps on what the machines say
POINTS = 2000  # examples of a scatter, at most


def size_curve(
    path: Sequence[Sequence[float]],
    aside: int,
    machine_errors: int,
    before: int,
    where: str = UNSEEN,
    kept: int | None = None,
    test: tuple[float, tuple[float, float]] | None = None,
    at_work: int | None = None,
) -> go.Figure:
    """Errors on the examples aside against the number of vectors (log axis), the machine's own as a line.

    before: vectors of the machine; where: what the examples aside are; kept: vectors of the machine
    that was chosen, test: its error rate on test examples with its interval; at_work: the size that is being tried.
    """
    figure = bare("vectors m", "wrong, %", height=320, margin_r=30, xaxis_type="log", hovermode="closest")
    sizes = [point[0] for point in path]
    if path:
        _errors(figure, path, aside, before)
    figure.add_hline(y=100 * machine_errors / aside, line={"dash": "dot", "color": GREY})
    place = {"xref": "paper", "xanchor": "right", "yshift": 8}
    note(figure, 1, 100 * machine_errors / aside, f"all {before:,} vectors", GREY, **place)
    if at_work:
        figure.add_vline(x=at_work, line={"dash": "dash", "color": FAINT})
    if kept and test:
        _tested(figure, kept, test)
    low, high = min([*sizes, at_work or before, before / 10]), before * 1.25
    figure.update_xaxes(range=[np.log10(0.8 * low), np.log10(high)], **log_ticks(0.8 * low, high))
    figure.update_yaxes(rangemode="tozero")
    return worded(figure, *_words(path, aside, machine_errors, before, where, test is not None))


def _errors(figure: go.Figure, path, aside: int, before: int) -> None:
    rates = [100 * point[2] / aside for point in path]
    low, high = 100 * np.array([metrics.wilson(int(point[2]), aside) for point in path]).T
    line(
        figure, [point[0] for point in path], rates, BLUE,
        "%{x:,} vectors, %{customdata[2]:.1f} times fewer<br>%{customdata[0]:,} of %{customdata[1]:,} wrong, "
        "%{y:.2f} %<br>%{customdata[3]:,} predictions changed",
        points=True, error_y=whiskers(rates, low, high, thickness=1),
        customdata=[(point[2], aside, before / point[0], point[3]) for point in path],
    )  # fmt: skip


def _tested(figure: go.Figure, kept: int, test: tuple[float, tuple[float, float]]) -> None:
    rate, (low, high) = test
    figure.add_scatter(
        x=[kept], y=[100 * rate], mode="markers+text", marker={"symbol": "diamond", "size": 11, "color": ORANGE},
        error_y=whiskers([100 * rate], [100 * low], [100 * high], thickness=1),
        text=["test set"], textposition="top right", textfont={"color": ORANGE},
        **hover("%{x:,} vectors, test examples: %{y:.2f} %"),
    )  # fmt: skip


def _words(path, aside, machine_errors, before, where, tested) -> tuple[str, str]:
    seen = (
        ""
        if where == UNSEEN
        else " The machine was trained on these examples. Errors on them compare sizes, but do not estimate the error "
        "rate."
    )
    if not path:
        own = f"The original machine makes {many(machine_errors, 'error')} on {aside:,} {where}"
        return "Errors by number of vectors, not known yet.", f"The first point will appear soon. {own}.{seen}"
    m, _, errors, changed, *_ = path[-1]
    wrong = many(round(errors), "error")
    once = " The diamond is the error of the saved machine on the test set, which was used only once." if tested else ""
    return (
        f"Errors on {aside} {where} at {len(path)} sizes; {wrong} with {m:,.0f} vectors.",
        f"With {m:,.0f} vectors ({before / m:.1f} times fewer), the reduced machine makes {wrong} on {aside:,} "
        f"{where}. The original machine makes {many(machine_errors, 'error')}. {many(round(changed), 'prediction')} "
        f"{'differs' if changed == 1 else 'differ'} between the two machines. Bars are 95 % intervals.{seen}{once}",
    )


def nearness(path: Sequence[Sequence[float]]) -> go.Figure:
    """rho / |Psi| and the quadratic mean of the change of f, against the number of vectors, on log axes."""
    figure = bare("vectors m", "distance", height=320, margin_r=70, xaxis_type="log", yaxis_type="log", yaxis_dtick=1)
    lines = {
        "rho / |Ψ|": (BLUE, [(p[0], (p[1] or 0) ** 0.5) for p in path]),
        "f": (ORANGE, [(p[0], p[4]) for p in path]),
    }
    values = []
    for name, (colour, points) in lines.items():
        known = [(m, value) for m, value in points if value > 0]
        values += [value for _, value in known]
        if not known:
            continue
        x, y = zip(*known, strict=True)
        line(figure, x, y, colour, f"%{{x:,}} vectors, {name}: %{{y:.3g}}", points=True)
        note(figure, np.log10(x[-1]), np.log10(y[-1]), name, colour, xanchor="left", xshift=8)
    if not values:
        same = "The original and the reduced machine do not differ."
        return worded(figure, same, same)
    sizes = [p[0] for p in path]
    figure.update_xaxes(
        range=[np.log10(0.9 * min(sizes)), np.log10(1.1 * max(sizes))], **log_ticks(min(sizes), max(sizes))
    )
    _log_axis(figure, values)
    m, rho2, *_, apart, _ = path[-1]
    return worded(
        figure,
        "Distance between the original and the reduced machine, by number of vectors: with "
        f"{many(m, 'vector')}, f differs by {small(apart)}.",
        f"With {m:,.0f} vectors, f of the two machines differs by {small(apart)} (root mean square)"
        + (
            ". The reduced machine was fitted to the training examples, not to f."
            if rho2 is None
            else f". The distance in feature space, rho, is {percent(rho2**0.5, 1)} of |Ψ|, the length of the weight "
            "vectors of all machines together."
        ),
    )


def trace(progress: Sequence[dict]) -> go.Figure:
    """The mean rho of the machines over time, or the loss of answers, a line for each size tried."""
    told = [(record, _left(record)) for record in progress]
    by_loss = any(record["stage"] == ANSWERS for record in progress)
    what = "loss" if by_loss else "rho / |Ψ|"
    figure = bare("time, s", what, margin_r=60, yaxis_type="log", yaxis_dtick=1)
    lines: dict[int, list[tuple[float, float]]] = {}
    for record, left in told:
        if left:
            lines.setdefault(record.get("n_vectors", record["n_sv"]), []).append((record["seconds"], left))
    for m, points in lines.items():
        x, y = zip(*points, strict=True)
        line(figure, x, y, BLUE, f"{m:,} vectors, {what} %{{y:.3g}} after %{{x:.1f}} s", width=2)
        note(figure, x[-1], np.log10(y[-1]), f"{m:,}", GREY, xanchor="left", xshift=4)
    if not lines:
        return worded(figure, f"{what} over time, not known yet.", "The curve will fall during the reduction.")
    _log_axis(figure, [left for points in lines.values() for _, left in points])
    last = list(lines.values())[-1][-1][1]
    now = small(last, 3)
    if by_loss:
        see = (
            f"The mean loss of the predictions on training examples is {now} now. If images are deformed, each "
            "step deforms them anew, at random."
        )
    else:
        see = f"The mean rho of the machines is now {percent(last, 1)} of their length |Ψ|. Each line is one size."
    return worded(figure, f"{what} over time, {now} now.", see)


def _log_axis(figure: go.Figure, values: Sequence[float]) -> None:
    """A logarithmic y axis around the values, with ticks also where they lie within a power of ten."""
    low, high = 0.7 * min(values), 1.4 * max(values)
    figure.update_yaxes(dtick=None, range=[np.log10(low), np.log10(high)], **log_ticks(low, high))


def falls(progress: Sequence[dict]) -> bool:
    """Whether there is anything for `trace` to draw."""
    return any(map(_left, progress))


def _left(record: dict) -> float:
    """What a line of progress says of how much is left: of rho, in the mean of the machines begun, or of the loss."""
    if record["stage"] == ANSWERS:
        return record["dual"]
    gaps = [gap**0.5 for gap in record.get("gaps", ()) if gap]
    return float(np.mean(gaps)) if gaps else 0.0


def before_after(before: np.ndarray, after: np.ndarray, changed: np.ndarray, name: str) -> go.Figure:
    """f of one machine (n,) before and after, a point for each test example; those whose answer changed stand out."""
    figure = bare("f before", "f after", height=320, hovermode="closest")
    rng = np.random.default_rng(0)
    calm = rng.permutation(np.flatnonzero(~changed))[:POINTS]
    for rows, colour, size, label in (
        (calm, FAINT, 4, "same prediction"),
        (np.flatnonzero(changed), ORANGE, 7, "changed"),
    ):
        figure.add_scattergl(
            x=before[rows], y=after[rows], mode="markers", marker={"color": colour, "size": size},
            **hover("%{x:.2f} before, %{y:.2f} after", label),
        )  # fmt: skip
    ends = [float(min(before.min(), after.min())), float(max(before.max(), after.max()))]
    line(figure, ends, ends, GREY, dash="dot", width=2)
    apart = np.sqrt(np.mean((after - before) ** 2))
    others = f" Of the other examples, {POINTS:,} are drawn." if np.sum(~changed) > POINTS else ""
    return worded(
        figure,
        f"f of {in_figure(name)} before and after the reduction, for {len(before)} test examples; "
        f"{many(int(np.sum(changed)), 'prediction')} changed.",
        f"f of {name} on the test examples, before and after the reduction. On the dotted line, f has not changed. The "
        f"root mean square change of f is {small(apart)}. Orange: {many(int(np.sum(changed)), 'example')} whose "
        f"prediction changed.{others}",
    )
