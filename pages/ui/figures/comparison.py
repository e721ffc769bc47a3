"""Figures that compare methods or solvers, as pure functions from numbers to Plotly figures.

results   one dictionary a method, as a run keeps it: errors, n_test, error_rate, interval, fit_seconds, predict_seconds
progress  records of a run, oldest first, as in figures.py
"""

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.curves import thinned
from pages.ui.figures.frame import bare, log_ticks, worded
from pages.ui.figures.traces import beside, dots, intervals, line, note, whiskers
from pages.ui.kit.palette import BLUE, CLASS_COLOURS, GREY, ORANGE

LAMBDAS = [1, 0.3, 0.1, 0.03, 0.01, 0.003]  # ticks


def error_intervals(names: Sequence[str], results: Sequence[dict], published: Sequence[float | None]) -> go.Figure:
    """Error rates with their 95 % intervals, a row a method; published rates (%) as open diamonds."""
    figure = bare("wrong, % of the test examples", None, height=90 + 30 * max(2, len(names)), hovermode="closest")
    rates = [100 * r["error_rate"] for r in results]
    dots(
        figure, rates, list(names), {"color": BLUE, "size": 10}, "%{customdata[0]:,} of %{customdata[1]:,}: %{x:.2f} %",
        error_x=intervals(results, color=BLUE), customdata=[(r["errors"], r["n_test"]) for r in results],
    )  # fmt: skip
    known = [(rate, name) for rate, name in zip(published, names) if rate is not None]
    marker = {"color": GREY, "size": 11, "symbol": "diamond-open", "line": {"width": 2}}
    dots(figure, [rate for rate, _ in known], [name for _, name in known], marker, "published: %{x:.2f} %")
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    figure.update_xaxes(rangemode="tozero")
    best = min(zip(rates, names), default=(0, "none"))
    return worded(
        figure,
        f"Error rates of {len(names)} methods with 95 % intervals; the lowest is {best[0]:.2f} % by {best[1]}.",
        "Points: error rate on the same test examples, with its 95 % interval."
        + (" Diamonds: error rates published in the paper." if known else ""),
    )


def repeated(what: str, names: Sequence[str], rates: Sequence[Mapping[int, float]], bands: Sequence) -> go.Figure:
    """Rates of repeated runs, seed -> rate of each, with mean and interval, a row a run; lines join the points of a
    seed. what: the rates' name."""
    figure = bare(f"{what}, %", None, height=110 + 44 * len(names), hovermode="closest")
    for seed in sorted({seed for of_run in rates for seed in of_run}):
        there = [(100 * of_run[seed], name) for name, of_run in zip(names, rates, strict=True) if seed in of_run]
        look, marker = {"width": 0.7, "points": True}, {"color": BLUE, "size": 6}
        line(figure, *zip(*there, strict=True), GREY, f"seed {seed}: %{{x:.2f}} %", marker=marker, **look)
    means, low, high = (100 * np.array([(band.mean, band.low, band.high) for band in bands])).T
    bars = whiskers(means, low, high, color=ORANGE, thickness=2)
    dots(figure, means, list(names), {"color": ORANGE, "size": 11}, "mean %{x:.2f} %", error_x=bars)
    figure.update_yaxes(autorange="reversed", showgrid=False, type="category")
    told = ", ".join(
        f"{name} {100 * band.mean:.2f} % ({band.k} seeds)" for name, band in zip(names, bands, strict=True)
    )
    return worded(
        figure,
        f"{what} of runs repeated with other seeds; means: {told}.",
        "Each blue point is the result of one seed, and grey lines join the results of the same seed. Orange: the "
        "mean over the seeds, with its 95 % interval.",
    )


def error_by_lambda(lines: dict[str, Sequence[tuple[float, dict]]], of: int = 0) -> go.Figure:
    """Error rates against lambda (log axis), a line for each space: name -> (lambda, result), lambda falling.

    of: how many points there will be.
    """
    figure = bare(
        "lambda (1: plain machine; towards 0: invariant)", "wrong, %", margin_r=120, xaxis_type="log", yaxis_type="log"
    )
    for (name, points), colour in zip(lines.items(), (ORANGE, BLUE), strict=True):
        values, results = [value for value, _ in points], [result for _, result in points]
        rates = [100 * result["error_rate"] for result in results]
        bars = {"error_y": intervals(results, thickness=1), "customdata": [(r["errors"], r["n_test"]) for r in results]}
        told = "%{customdata[0]} of %{customdata[1]} wrong at lambda %{x:g}"
        line(figure, values, rates, colour, told, points=True, **bars)
        if points:
            note(figure, np.log10(values[-1]), np.log10(max(rates[-1], 0.01)), name, xanchor="left", xshift=8)
    figure.update_xaxes(autorange="reversed", tickvals=LAMBDAS)
    figure.update_yaxes(tickvals=[0.5, 1, 2, 3, 5, 10, 20, 50])
    rows = [(result["errors"], value, name) for name, points in lines.items() for value, result in points]
    best = min(rows)
    so_far = f"{len(rows)} of {of} runs have finished. " if len(rows) < of else ""
    return worded(
        figure,
        f"Error rate against lambda for {len(lines)} spaces; the fewest errors are {best[0]}, with tangents "
        f"{best[2]} and lambda = {best[1]:g}.",
        f"{so_far}Fewest errors: {best[0]}, with tangents {best[2]} and lambda = {best[1]:g}. Bars are 95 % intervals. "
        "These are test errors: choose lambda on other examples before you use it.",
    )


def definiteness(reports: Mapping[int, object]) -> go.Figure:
    """How far kernels are from definite, in per cent, against the number of jitters: J -> KernelReport, J rising."""
    figure = bare("number of jitters", "per cent", height=320, xaxis_type="log")
    lines = {
        "violating triples": [100 * report.violations for report in reports.values()],
        "negative eigenvalues": [100 * report.negative for report in reports.values()],
        "−smallest / largest eigenvalue": [100 * max(-r.smallest, 0) / r.largest for r in reports.values()],
    }
    for (name, y), colour in zip(lines.items(), (ORANGE, BLUE, GREY), strict=True):
        line(figure, list(reports), y, colour, f"%{{y:.2g}} % {name}, %{{x}} jitters", points=True)
        beside(figure, y[-1], name, colour, yshift=-9 if colour == ORANGE else 9)
    figure.update_xaxes(tickvals=list(reports))
    told = "; ".join(f"{name} from {y[0]:.2g} % to {y[-1]:.2g} %, at most {max(y):.2g} %" for name, y in lines.items())
    said = f"From the smallest jitter set to the largest: {told}."
    return worded(figure, f"Definiteness of the jittering kernel by the size of the jitter set. {said}", said)


def change_by_lambda(lines: dict[str, Sequence[tuple[float, dict]]]) -> go.Figure:
    """Equation 2, the regulariser, against lambda (log axes), mean over machines: lines as for `error_by_lambda`."""
    figure = bare("lambda", "mean square change of f along a tangent", xaxis_type="log", yaxis_type="log")
    for (name, points), colour in zip(lines.items(), (ORANGE, BLUE), strict=True):
        y = [float(np.mean(result["regulariser"])) for _, result in points]
        values, told = [value for value, _ in points], "%{y:.2g} at lambda %{x:g}"
        line(figure, values, y, colour, told, points=True, name=name)
    figure.update_xaxes(autorange="reversed", tickvals=LAMBDAS)
    told = "; ".join(f"{name} {y[0]:.2g} to {y[-1]:.2g}" for name, y in ((t.name, t.y) for t in figure.data) if y)
    return worded(
        figure,
        f"The regulariser against lambda, from the largest lambda to the smallest: {told}.",
        "The paper's regulariser (equation 2), computed on training examples: the mean square change of f along a "
        "tangent. Lambda decreases from left to right. For scale: f is 1 on the margin.",
    )


def bulge(progress: dict[str, Sequence[dict]]) -> go.Figure:
    """Working support vectors against kernel values computed, a line for each solver."""
    figure = bare("kernel evaluations", "support vectors", margin_r=40)
    peaks = {}
    for (name, records), colour, aside in zip(progress.items(), (BLUE, ORANGE), (-12, 12), strict=True):
        records = thinned(records)
        values, counts = ([record[field] for record in records] for field in ("kernel_evals", "n_sv"))
        line(figure, values, counts, colour, "%{y:,} SVs after %{x:.3s} kernel evaluations")
        if counts:
            peaks[name] = max(counts)
            note(figure, values[counts.index(peaks[name])], peaks[name], name, yshift=aside)
    words = ", ".join(f"{name} {peak:,}" for name, peak in peaks.items())
    return worded(
        figure,
        "Number of support vectors during training, against kernel evaluations. The highest number of each line: "
        f"{words}.",
        f"Every line ends at the machine's final number of support vectors. The highest number of each line: {words}.",
    )


def gain_by_rows(points: Sequence[tuple[int, int, int]], rows: int, final: int, most: int) -> go.Figure:
    """Kernel values without digestion over those with it, by the cache's rows: points (rows, with, without).

    rows: those of the tape; final, most: support vectors at the end, and at most at once without digestion.
    """
    figure = bare("rows in the cache", "kernel evaluations, without / with digestion", xaxis_type="log")
    points = sorted(points)
    gains = {size: off / on for size, on, off in points}
    marker = {"size": [14 if size == rows else 7 for size in gains], "opacity": 1}
    pairs = [(on, off) for _, on, off in points]
    told = "%{x:,} rows: ratio %{y:.2f}<br>%{customdata[1]:.3s} evaluations without, %{customdata[0]:.3s} with"
    line(figure, list(gains), list(gains.values()), BLUE, told, points=True, marker=marker, customdata=pairs)
    figure.add_hline(
        y=1, line={"color": GREY, "width": 1}, annotation_text="no gain", annotation_position="bottom left"
    )
    ends = (final, f"{final:,} SVs at the end", "right"), (most, f"{most:,} SVs at most<br>without digestion", "left")
    for at, text, side in ends:
        figure.add_vline(x=at, line={"color": GREY, "dash": "dot", "width": 1})
        note(figure, np.log10(at), 0, text, yref="paper", xanchor=side, yanchor="bottom")
    low, high = min(0.9, *gains.values()), max(1.5, *gains.values())
    figure.update_yaxes(range=[low - 0.05, high + 0.1])
    figure.update_xaxes(range=[np.log10(0.8 * min(10, *gains)), np.log10(1.25 * max(2000, *gains))], dtick=1)
    best = max(gains, key=gains.get)
    told = f"At {rows:,} rows, training without digestion takes {gains[rows]:.2f} times as many kernel evaluations."
    if len(gains) > 1:
        told += f" The ratio is highest, {gains[best]:.2f}, at {best:,} rows; the lowest is {min(gains.values()):.2f}."
    return worded(figure, f"Gain of digestion by the size of the cache. {told}", told)


def by_cache(
    lines: dict[str, Sequence[tuple[float, float]]], measure: str, problem: str, least: float | None = None
) -> go.Figure:
    """Cost of each use of the cache: name -> points (MB, cost), log axes. least: the cost below which no solver goes
    that compares every example with every support vector."""
    figure = bare("cache, MB", measure.lower(), xaxis_type="log", yaxis_type="log", hovermode="closest", height=320)
    for (name, points), colour in zip(lines.items(), (GREY, *CLASS_COLOURS), strict=False):
        sizes, costs = zip(*sorted(points), strict=True)
        told = f"{name}, %{{x:,}} MB: %{{y:,.4g}}"
        line(figure, sizes, costs, colour, told, points=True, marker_size=8, name=name)
    at = {mb: {name: dict(points)[mb] for name, points in lines.items() if mb in dict(points)} for mb in
          sorted({mb for points in lines.values() for mb, _ in points})}  # fmt: skip
    costs = [cost for those in at.values() for cost in those.values()]
    if least:
        figure.add_hline(y=least, line={"color": GREY, "dash": "dot", "width": 1})
        where = {"xref": "paper", "xanchor": "left", "yanchor": "bottom"}
        note(figure, 0, np.log10(least), "lower bound: each example once with each SV", **where)
        costs.append(least)
    figure.update_xaxes(tickvals=list(at), ticktext=[f"{mb:,}" for mb in at])
    figure.update_yaxes(**log_ticks(min(costs), max(costs)))
    figure.update_layout(showlegend=True, legend={"orientation": "h", "y": 1, "yanchor": "bottom"})
    mb = max(at, key=lambda mb: max(at[mb].values()) / min(at[mb].values()))
    best, worst = min(at[mb], key=at[mb].get), max(at[mb], key=at[mb].get)
    told = f"{at[mb][worst]:,.3g} for “{worst}” and {at[mb][best]:,.3g} for “{best}”"
    see = (
        f"{problem}: {measure.lower()}. The largest difference is at a cache of {mb:,} MB: {told}, a factor of "
        f"{at[mb][worst] / at[mb][best]:.1f}."
    )
    return worded(figure, f"{measure} by the size of the cache. {see}", see)
