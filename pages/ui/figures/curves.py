"""How a run converges, as pure functions from its progress to Plotly figures.

    progress   records of a run, oldest first: dictionaries with the fields of `svmcore.Progress`

A run of several trainings (virtual SVs, folds) begins anew in each: a phase ends where all machines are done and the
next record has a gap again. Machines are solved in turn, so the largest gap stays where it began until the last one
starts; what falls all the while is their mean on the log axis, `mean_gap` of a record. Where virtual examples are
drawn, fewer and fewer of them violate a margin.
"""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from pages.ui.figures.frame import bare, worded
from pages.ui.figures.traces import LEGEND, beside, line, note
from pages.ui.kit.palette import BLUE, FAINT, GREY, ORANGE
from pages.ui.kit.text import rounded
from pages.ui.kit.words import in_figure, machines, small

LONGEST = 400  # points a line is thinned to before it is sent
APART, WIDE = 0.07, 0.25  # of the axis: between two names of machines, a training that is named


def gap_curve(progress: Sequence[dict], tol: float, names: Sequence[str] = ()) -> go.Figure:
    """KKT gap (log axis) against time: each machine thin, named where it is done, their mean bold, `tol` dotted."""
    figure = bare("training time, s", "KKT gap", yaxis_type="log", yaxis_dtick=1)
    figure.update_yaxes(exponentformat="power")  # a gap has no unit: 10^-6, not 1 µ
    phases = trainings(progress)
    for phase in phases:
        seconds, machines = [r["seconds"] for r in phase], _gaps(phase).T
        for gaps in machines if len(machines) > 1 else ():
            line(figure, seconds, gaps, FAINT, width=1)
        told = "gap %{y:.2e} after %{x:.2f} s, %{customdata[0]:,} iterations<br>largest %{customdata[1]:.2e}"
        counted = [[r["iterations"], r["gap"]] for r in phase]
        line(figure, seconds, [mean_gap(r) for r in phase], BLUE, told, customdata=counted)
    figure.add_hline(y=tol, line={"dash": "dot", "color": GREY})
    beside(figure, np.log10(tol), "tol")
    _frame(figure, phases)
    if not phases:
        return worded(
            figure, "Optimality gap over time, not known yet.", f"The optimality gap falls until it is {small(tol, 6)}."
        )
    highest = max(r["gap"] for phase in phases for r in phase)
    figure.update_yaxes(range=[np.log10(tol) - 0.5, np.log10(max(highest, 2 * tol)) + 0.2])
    if len(names) > 1:
        _name_machines(figure, phases[-1], tol, names)
    return worded(figure, *_gap_words(phases[-1][-1], tol))


def dual_curve(progress: Sequence[dict]) -> go.Figure:
    figure = bare("training time, s", "dual objective")
    phases = trainings(progress)
    for phase in phases:
        line(figure, *_over_time(phase, "dual"), BLUE, "%{y:,.4f} after %{x:.2f} s")
    _frame(figure, phases)
    last = rounded(phases[-1][-1]["dual"], 6) if phases else "not known yet"
    return worded(
        figure,
        f"Dual objective over time, now {last}.",
        f"The dual objective rises and levels off as the machines converge; it is {last} now.",
    )


def sv_curve(progress: Sequence[dict]) -> go.Figure:
    """Alphas above 0 and at C, of all machines, against time."""
    figure = bare("training time, s", "alphas")
    phases = trainings(progress)
    for name, field, colour, shift in (("> 0:", "n_sv", BLUE, 7), ("bounded:", "n_bound", GREY, -7)):
        for phase in phases:
            line(figure, *_over_time(phase, field), colour, f"{name} %{{y:,}} after %{{x:.2f}} s")
        if phases:
            count = phases[-1][-1][field]
            beside(figure, count, f"{name} {count:,}", yshift=shift)
    _frame(figure, phases)
    return worded(
        figure,
        "Number of support vectors and of bounded ones over time.",
        "Blue: alphas above 0. Grey: bounded alphas (alpha = C). Both are counted over all machines.",
    )


def _over_time(phase: list[dict], field: str) -> tuple[list[float], list[float]]:
    return [record["seconds"] for record in phase], [record[field] for record in phase]


def mean_gap(record: dict) -> float:
    """The mean gap of a record; the largest one where an older version kept no mean."""
    return record.get("mean_gap", record["gap"])


def thinned(progress: Sequence[dict]) -> list[dict]:
    """At most about LONGEST records, the last among them."""
    step, last = max(1, len(progress) // LONGEST), len(progress) - 1
    return [r for i, r in enumerate(progress) if i % step == 0 or i == last]


def trainings(progress: Sequence[dict]) -> list[list[dict]]:
    """The records of each training, thinned."""

    def another(before: dict, after: dict) -> bool:  # of another kind, or with machines that are small again
        small = after["gap"] > before["gap"] and 2 * after["n_sv"] < before["n_sv"]
        return _kind(before) != _kind(after) or small

    begins = [0] + [i + 1 for i, (a, b) in enumerate(pairwise(progress)) if another(a, b)] + [len(progress)]
    return [thinned(progress[start:end]) for start, end in pairwise(begins) if end > start]


def _kind(record: dict) -> str:
    return record["stage"].partition(" ")[0].rstrip(",")


def _gaps(phase: list[dict]) -> np.ndarray:
    """(records, machines); no machines where the records do not have each."""
    gaps = [r.get("gaps", ()) for r in phase]
    return np.array(gaps, float) if len(set(map(len, gaps))) == 1 else np.empty((len(phase), 0))


def _gap_words(last: dict, tol: float) -> tuple[str, str]:
    """Alt text and line of words for the latest record."""
    now, least, gaps = small(mean_gap(last)), small(tol, 6), np.array(last.get("gaps", ()))
    if len(gaps) < 2:
        whose = f"The mean gap of {n} machines" if (n := machines(last)) > 1 else "The optimality gap"
        return (
            f"Violation of the optimality conditions over time, now {now}; the run stops at {least}.",
            f"{whose} falls until every condition holds to within tol = {least}; it is {now} now.",
        )
    done = f"{np.sum(gaps <= tol)} of {len(gaps)} machines have reached tol = {least}"
    return (
        f"Violation of the optimality conditions by each machine over time; {done}. The mean is {now} now.",
        f"The thin lines are single machines, named where they finish. The bold line is their mean on this logarithmic "
        f"axis, now {now}. {done}.",
    )


def _name_machines(figure: go.Figure, phase: list[dict], tol: float, names: Sequence[str]) -> None:
    """The name of each machine below the point where it came to tol, where there is room."""
    there = [
        (phase[int(np.argmax(gaps <= tol))]["seconds"], name)
        for gaps, name in zip(_gaps(phase).T, names, strict=False)
        if gaps[-1] <= tol
    ]
    taken, room = -np.inf, APART * phase[-1]["seconds"]
    for seconds, name in sorted(there):
        if seconds - taken >= room:
            note(figure, seconds, np.log10(tol), in_figure(name, 12), yshift=-9)
            taken = seconds


def _frame(figure: go.Figure, phases: list[list[dict]]) -> None:
    """The time axis from the start of the run to its last record, and where each of several trainings began."""
    figure.update_xaxes(autotickangles=[0])  # a narrow one would stand its numbers on end
    if phases and phases[-1][-1]["seconds"] > 0:
        figure.update_xaxes(range=[0, phases[-1][-1]["seconds"]])
    starts = [phase[0]["seconds"] for phase in phases]
    for start, end, phase in zip(starts, [*starts[1:], phases[-1][-1]["seconds"] if phases else 0], phases):
        if start > 0:
            figure.add_vline(x=start, line={"color": FAINT, "width": 1})
        if len(phases) > 1 and end - start > WIDE * phases[-1][-1]["seconds"]:
            note(figure, start, 1, in_figure(_kind(phase[0])), yref="paper", yanchor="bottom", xanchor="left")


def by_draws(rounds: Sequence[Sequence[int]]) -> go.Figure:
    """rounds: (drawn so far, in this round, violators, examples held, support vectors) of each."""
    drawn, looked, violators, held, n_sv = zip(*rounds, strict=True)
    share = [1000 * v / max(n, 1) for v, n in zip(violators, looked, strict=True)]
    figure = bare("copies drawn", "margin violations per 1,000 copies", margin_r=130, yaxis_rangemode="tozero")
    lines = (
        ("violations", share, BLUE, "y", "%{y:.0f} of 1,000 violate the margin"),
        ("training set", held, GREY, "y2", "%{y:,} in the training set"),
        ("support vectors", n_sv, ORANGE, "y2", "%{y:,} support vectors"),
    )
    for name, values, colour, axis, told in lines:
        told = f"{told} after %{{x:,}} copies"
        line(figure, drawn, values, colour, told, points=True, yaxis=axis, name=name)
    figure.update_layout(
        yaxis2={"overlaying": "y", "side": "right", "rangemode": "tozero", "showgrid": False, "title": "examples",
                "tickmode": "auto", "tickformat": "~s"},
        showlegend=True, legend=LEGEND,
    )  # fmt: skip
    ends = f"from {share[0]:.0f} to {share[-1]:.0f} of 1,000"
    return worded(
        figure,
        f"Copies that violate a margin by the number drawn, {ends}; {held[-1]:,} examples in the training set, "
        f"{n_sv[-1]:,} of them support vectors, after {drawn[-1]:,} draws.",
        f"The share of copies that violate the margin went {ends}. After {drawn[-1]:,} copies were drawn, the training "
        f"set has {held[-1]:,} examples.",
    )
