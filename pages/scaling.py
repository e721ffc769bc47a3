"""Osuna's study: what n, the working set and the lookahead cost the decomposition, drawn from stored runs."""

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from data import load
from pages.ui.example import views
from pages.ui.figures import scaling as figures
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, words
from pages.ui.studies import study
from pages.ui.studies.study import Plan, Results, Study
from svmcore.lab.analyses.scaling import ScalingPoint, exponent, point
from svmcore.lab.presets import osuna
from svmcore.lab.store import runs

OFTEN = 12  # examples that are shown


def plan() -> Plan:
    """His study, or its stand-in where the face windows are not on this computer."""
    his = osuna.study()
    recipes, stand_in = ({recipe.digest(): recipe for recipe in one.recipes} for one in (his, osuna.STAND_IN))
    says = (
        ":material/swap_horiz: The windows of faces are not on this computer, so this study uses one digit against the "
        "rest instead. The shapes of the curves are meaningful, but their numbers are not."
    )
    return Plan(recipes, his.group, says=says if his.stand_in else "", stand_in=stand_in)


def study_of(results: Results) -> osuna.Study:
    """His study, or the stand-in whose samples are shown instead."""
    return next(one for one in (osuna.study(), osuna.STAND_IN) if one.recipes[0].digest() in results.runs)


def points_of(results: Results, part: str) -> list[ScalingPoint]:
    """Of the finished runs of a part of the study: growth, sets or dimensions."""
    recipes = [recipe.digest() for recipe in getattr(study_of(results), part)]
    return [point(results.done[digest]) for digest in recipes if digest in results.done]


def usual(results: Results) -> list[ScalingPoint]:
    """Those of growth whose working set is the one of all his figures, by n."""
    growth = points_of(results, "growth")
    size = study_of(results).growth[0].option("working_set")
    return sorted([p for p in growth if p.working_set == size] or growth, key=lambda p: p.n)


def charts(results: Results) -> dict[str, go.Figure]:
    """His figures, as far as there are points."""
    sets, dimensions, of_usual = points_of(results, "sets"), points_of(results, "dimensions"), usual(results)
    drawn = {}
    if of_usual:
        lines = figures.by(points_of(results, "growth"), "working_set", "|B| =")
        drawn["Time against examples"] = figures.time_against_n(lines)
        drawn["Support vectors against examples"] = figures.svs_against_n(of_usual)
        drawn["Time against support vectors"] = figures.time_against_svs(of_usual)
        drawn["Global iterations against examples"] = figures.rounds_against_n(of_usual)
    if sets:
        by_lookahead = figures.by(sets, "lookahead", "lookahead")
        drawn["Time against the working set"] = figures.time_against_set(by_lookahead, sets[0].n)
    if of_usual:
        drawn["Memory against examples"] = figures.memory_against_n(lines)
    if len(dimensions) > 1:
        drawn["Time against the dimension"] = figures.time_against_d(dimensions)
    return drawn


def observations(results: Results) -> None:
    """What came and went in one run, his claims, and every point."""
    points = [point(run) for run in results.done.values()]
    trace(points)
    claims(results)
    table(points)


def trace(points):
    """Who entered and left the working set of one run, and the examples that came most often."""
    st.subheader("Examples that enter and leave the working set")
    named = {p.run: p for p in points}
    usual = max(points, key=lambda p: (p.again, p.rounds)).run
    chosen = st.selectbox(
        "Run", list(named), index=list(named).index(usual), format_func=lambda run: _named(named[run]),
        key=f"scaling_trace_{len(named)}", width=480,
        help="The run to look at. Initially: the run with the most re-entries.",
    )  # fmt: skip
    run = runs.get(chosen)
    kept = run.result["trace"]
    sides = st.grid(2, min_column_width=380)
    with sides.cell():
        show(figures.comings_and_goings(kept["columns"]), "scaling_trace")
    with sides.cell():
        n, ever = run.result["n_train"], sum(kept["times"])
        st.markdown(
            f"**{ever:,} of {n:,} examples were ever in the working set** ({100 * ever / n:.0f} %), "
            f"{sum(kept['times'][1:]):,} of them more than once. Optimality was checked {kept['priced']:,} times."
        )
        often = kept["often"][:OFTEN]
        dataset = load(run.recipe.dataset)
        if often and dataset.image_shape:
            positions = run.train_index()[[at for at, _ in often]]
            views.labelled(dataset, "train", positions, key="scaling_often")
            st.caption(
                f"These examples entered the working set most often, up to {often[0][1]} times. Click one to open it. "
                "The boundary moves during training, so examples near it become active and inactive."
            )
        elif not often:
            st.caption("No example entered twice, because the working set has room for all examples that might return.")


def _named(p) -> str:
    return (
        f"n = {p.n:,}, |B| = {p.working_set:,}, lookahead {p.lookahead:,} · {p.rounds:,} iterations, "
        f"{p.again:,} re-entries"
    )


def claims(results: Results):
    """What the paper says of its own runs, and what ours say; most of its numbers are lost in the copy at hand."""
    st.subheader("Osuna's observations and ours")
    grown, sets, dimensions = usual(results), points_of(results, "sets"), points_of(results, "dimensions")
    rows = []
    if len(grown) > 2:
        logs = {f: np.log([max(getattr(p, f), 1e-3) for p in grown]) for f in ("n", "n_sv", "seconds", "rounds")}
        r_sv, r_n = (np.corrcoef(logs[f], logs["seconds"])[0, 1] for f in ("n_sv", "n"))
        rows.append(("The number of support vectors predicts training time better than the number of examples.",
                     f"Correlation of log time: {r_sv:.3f} with log SVs, {r_n:.3f} with log n."))  # fmt: skip
        jump = max(range(1, len(grown)), key=lambda i: grown[i].rounds / grown[i - 1].rounds)
        a, b = grown[jump - 1], grown[jump]
        rows.append(("Global iterations jump between two sizes, and so does training time.",
                     f"Largest jump: {a.rounds:,} to {b.rounds:,} iterations, n = {a.n:,} to {b.n:,}."))  # fmt: skip
    if sets:
        best = min(sets, key=lambda p: p.seconds)
        fastest = f"|B| = {best.working_set:,} is fastest, with {best.n_sv:,} SVs."
        rows.append(
            ("A larger working set is faster until it is much larger than the number of support vectors.", fastest)
        )
    if grown:
        last = grown[-1]
        again = max((*points_of(results, "growth"), *sets), key=lambda p: p.again)
        rows.append(("Few examples ever enter the working set.",
                     f"{last.entered - last.again:,} of {last.n:,} examples entered at the largest n."))  # fmt: skip
        rows.append(("Some examples enter and leave again and again.",
                     f"Most re-entries: {again.again:,} (n = {again.n:,}, |B| = {again.working_set:,})."))  # fmt: skip
    if (slope := exponent([p.d for p in dimensions], [p.seconds for p in dimensions])) is not None:
        ours = f"Training time grows like d to the power {slope:.2f}."
        rows.append(("Training time grows less than linearly with the dimension.", ours))
    st.table(
        [{"Osuna, Freund and Girosi (1997)": said, "Here": found} for said, found in rows],
        alt="Osuna's observations and ours",
    )
    st.caption(
        "Osuna's times are from a SPARCstation. He solved each working set by a reduced-gradient method, and some of "
        "his examples were false alarms of earlier detectors. The numbers of his figures are missing in our copy."
    )


def table(points):
    with st.expander("All points"):
        rows = [
            {"n": p.n, "|B|": p.working_set, "Lookahead": p.lookahead, "Time, s": round(p.seconds, 2),
             "SVs": p.n_sv, "Iterations": p.rounds, "Checks": p.priced, "Entered": p.entered, "Re-entries": p.again,
             "Peak, MB": round(p.peak_mb, 1), "Gap": words.small(p.gap), "Dual": f"{p.dual:.4f}"}
            for p in points
        ]  # fmt: skip
        numbers.table(rows, "Every run of the study with its figures", "scaling_table", height="auto")


study.draw(Study(
    "scaling", plan, charts, observations=observations,
))  # fmt: skip
