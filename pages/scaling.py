"""Osuna's study: what n, the working set and the lookahead cost the decomposition, drawn from stored runs."""

import numpy as np
import streamlit as st

from data import DataError, load
from pages.ui.example import views
from pages.ui.figures import scaling as figures
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, present, words
from pages.ui.run import stored
from svmcore.lab.experiment.scaling import exponent, point
from svmcore.lab.recipes import osuna
from svmcore.lab.store import runs

OFTEN = 12  # examples that are shown


def charts(growth, sets, dimensions):
    """His figures, as far as there are points."""
    usual = [p for p in growth if p.working_set == growth_size()] or growth
    sides = st.grid(2, min_column_width=380)
    drawn = {}
    if growth:
        lines = figures.by(growth, "working_set", "|B| =")
        drawn["Time against examples"] = figures.time_against_n(lines)
        drawn["Support vectors against examples"] = figures.svs_against_n(usual)
        drawn["Time against support vectors"] = figures.time_against_svs(usual)
        drawn["Global iterations against examples"] = figures.rounds_against_n(usual)
    if sets:
        by_lookahead = figures.by(sets, "lookahead", "lookahead")
        drawn["Time against the working set"] = figures.time_against_set(by_lookahead, sets[0].n)
    if growth:
        drawn["Memory against examples"] = figures.memory_against_n(lines)
    if len(dimensions) > 1:
        drawn["Time against the dimension"] = figures.time_against_d(dimensions)
    for at, (title, figure) in enumerate(drawn.items()):
        with sides.cell():
            st.markdown(f"**{title}**")
            show(figure, f"scaling_{at}")


def growth_size() -> int:
    return study.growth[0].option("working_set")


def trace(points):
    """Who entered and left the working set of one run, and the examples that came most often."""
    st.subheader("Who enters and leaves")
    named = {p.run: p for p in points}
    usual = max(points, key=lambda p: (p.again, p.rounds)).run
    chosen = st.selectbox(
        "Run",
        list(named),
        index=list(named).index(usual),
        format_func=lambda run: _named(named[run]),
        key=f"scaling_trace_{len(named)}",
        width=480,
        help="Initially the run in which most examples entered again.",
    )
    run = runs.get(chosen)
    kept = run.result["trace"]
    sides = st.grid(2, min_column_width=380)
    with sides.cell():
        show(figures.comings_and_goings(kept["columns"]), "scaling_trace")
    with sides.cell():
        n, ever = run.result["n_train"], sum(kept["times"])
        st.markdown(
            f"**{ever:,} of {n:,} examples were ever in the working set** ({100 * ever / n:.0f} %), "
            f"{sum(kept['times'][1:]):,} of them more than once. {kept['priced']:,} times an example was looked at."
        )
        often = kept["often"][:OFTEN]
        dataset = load(run.recipe.dataset)
        if often and dataset.image_shape:
            positions = run.train_index()[[at for at, _ in often]]
            views.labelled(dataset, "train", positions, key="scaling_often")
            st.caption(
                f"Those that entered most often, up to {often[0][1]} times; click one to open it. Near the boundary an "
                "example becomes active and inactive as the boundary moves."
            )
        elif not often:
            st.caption("No example entered twice: B has room to keep those that may come again.")


def _named(p) -> str:
    return (
        f"n = {p.n:,}, |B| = {p.working_set:,}, lookahead {p.lookahead:,} · {p.rounds:,} iterations, {p.again:,} again"
    )


def claims(growth, sets, dimensions):
    """What the paper says of its own runs, and what ours say; most of its numbers are lost in the copy at hand."""
    st.subheader("His observations and ours")
    usual = sorted((p for p in growth if p.working_set == growth_size()), key=lambda p: p.n)
    rows = []
    if len(usual) > 2:
        logs = {f: np.log([max(getattr(p, f), 1e-3) for p in usual]) for f in ("n", "n_sv", "seconds", "rounds")}
        r_sv, r_n = (np.corrcoef(logs[f], logs["seconds"])[0, 1] for f in ("n_sv", "n"))
        rows.append(("Support vectors tell the training time better than the number of examples does.",
                     f"Correlation of log time with log SVs {r_sv:.3f}, with log n {r_n:.3f}."))  # fmt: skip
        jump = max(range(1, len(usual)), key=lambda i: usual[i].rounds / usual[i - 1].rounds)
        a, b = usual[jump - 1], usual[jump]
        rows.append(("Global iterations jump between two sizes, and training time with them.",
                     f"The largest step is from {a.rounds:,} to {b.rounds:,}, n = {a.n:,} to {b.n:,}."))  # fmt: skip
    if sets:
        best = min(sets, key=lambda p: p.seconds)
        fastest = f"Fastest with |B| = {best.working_set:,} for {best.n_sv:,} SVs."
        rows.append(("A larger working set is faster, until it is large beside the support vectors.", fastest))
    if usual:
        last = usual[-1]
        again = max((*growth, *sets), key=lambda p: p.again)
        rows.append(("Few examples ever enter the working set.",
                     f"{min(last.entered, last.n):,} of {last.n:,} entered at the largest size."))  # fmt: skip
        rows.append(("Some examples enter and leave again and again.",
                     f"At most {again.again:,} came again: n = {again.n:,}, |B| = {again.working_set:,}."))  # fmt: skip
    if (slope := exponent([p.d for p in dimensions], [p.seconds for p in dimensions])) is not None:
        rows.append(("Training time grows less than linearly with the dimension.", f"Like d to the power {slope:.2f}."))
    st.table(
        [{"Osuna, Freund and Girosi (1997)": said, "Here": found} for said, found in rows],
        alt="His observations beside ours",
    )
    st.caption(
        "His times are of a SPARCstation, he solved each working set by a reduced-gradient method, and his examples "
        "were in part false alarms of earlier detectors. The numbers of his figures are lost in our copy."
    )


def table(points):
    with st.expander("All points"):
        rows = [
            {"n": p.n, "|B|": p.working_set, "Lookahead": p.lookahead, "Time, s": round(p.seconds, 2),
             "SVs": p.n_sv, "Iterations": p.rounds, "Priced": p.priced, "Entered": p.entered, "Again": p.again,
             "Peak, MB": round(p.peak_mb, 1), "Gap": words.small(p.gap), "Dual": f"{p.dual:.4f}"}
            for p in points
        ]  # fmt: skip
        numbers.table(rows, "Every run of the study with its figures", "scaling_table", height="auto")


st.title("Osuna's study")
present.about(
    "His decomposition solves a working set B at a time and looks outside for examples that violate the optimality "
    "conditions. What do the number of examples, the size of B and the lookahead cost?"
)
study = osuna.study()
if study.stand_in and present.presenting():
    st.caption(":material/swap_horiz: A digit stands in for faces: the shapes of the curves alone mean something.")
elif study.stand_in:
    st.info(
        "One digit against the rest stands in for faces, whose windows are not on this machine. The shapes of the "
        "curves can be seen; their numbers say nothing of his problem.",
        title="A stand-in",
        icon=":material/swap_horiz:",
    )
recipes = study.recipes
found = stored.stored(recipes)
try:
    with present.form():
        stored.study(recipes, found, "Start", "scaling", study.group)
except DataError as error:
    st.error(words.plain(error), icon=":material/block:")
    st.stop()
if not any(found):
    study = osuna.STAND_IN
    recipes = study.recipes
    found = stored.or_samples(recipes, stored.stored(recipes))
known = {recipe.digest(): point(run) for recipe, run in zip(recipes, found, strict=True)}
parts = study.growth, study.sets, study.dimensions
growth, sets, dimensions = ([p for r in part if (p := known[r.digest()])] for part in parts)
if growth or sets or dimensions:
    charts(growth, sets, dimensions)
    trace([p for p in known.values() if p])
    claims(growth, sets, dimensions)
    table([p for p in known.values() if p])
elif not any(run and run.state in runs.ACTIVE for run in found):
    st.info(
        f"Start queues {len(recipes)} runs, each an ordinary one that can be cancelled and found again. The figures "
        "fill as the runs finish.",
        title="No runs yet",
        icon=":material/query_stats:",
    )
stored.at_work(found)
