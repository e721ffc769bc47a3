"""Editing beside reducing: errors against the vectors that a machine keeps, without swapped labels and with them.

The discussion of Bakir, Bottou and Weston (2004): cross-training loses accuracy as reduced sets do.
"""

import streamlit as st

from pages.ui.figures.crossing import Line, growth
from pages.ui.figures.frame import show, worded
from pages.ui.kit import words
from pages.ui.run import stored
from svmcore.lab.experiment.splits import machine_of
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import xtrain

LEVELS = 0.0, 0.15  # of noise
PLAIN, REDUCED, CROSSED, TRIMMED = "plain", "reduced", "cross-trained", "trimmed"


def draw() -> None:
    """A figure for each share of swapped labels, of the runs at hand; a button for those that are missing."""
    recipes = [recipe for level in LEVELS for recipe in of_level(level)]
    found = stored.stored(recipes)
    with st.container(horizontal=True):
        stored.buttons(recipes, found, "Run all of it", "Queue every run of this figure that is missing.", "kept")
    done = [run for run in found if run is not None and run.state == "done"]
    if not done:
        st.info("Its runs are the plain, edited and reduced machines of 3 against 8.", title="Nothing run yet")
        return
    grid = st.grid(len(LEVELS), min_column_width=380)
    for level in LEVELS:
        if runs := [run for run in done if run.recipe.option("noise") == level]:
            with grid.cell():
                _figure(level, runs)


def of_level(noise: float) -> list[Recipe]:
    """The recipes of one figure."""
    points = [r for r in xtrain.study("xtrain-fig4") if r.seed == 0 and machine_of(r) != "bagged"]
    return [recipe for recipe in (*points, *xtrain.REDUCTIONS) if recipe.option("noise") == noise]


def lines(results: dict[str, list[tuple[int, float]]]) -> dict[str, Line]:
    """(vectors, wrong, %) of each kind of machine as lines; the reduced machines' ends at the plain one."""
    known = {name: sorted(points) for name, points in results.items()}
    if REDUCED in known:
        known[REDUCED] = sorted({*known[REDUCED], *known.get(PLAIN, ())})
    return {name: Line(*zip(*points, strict=True)) for name, points in known.items() if points}


def _figure(noise: float, runs: list) -> None:
    results: dict[str, list[tuple[int, float]]] = {}
    for run in runs:
        kind, _, _ = machine_of(run.recipe).partition(",")
        results.setdefault(kind, []).append((run.result["n_union"], 100 * run.result["error_rate"]))
    drawn = lines(results)
    ends = [x for line in drawn.values() for x in line.xs]
    figure = growth(drawn, "vectors kept", "wrong, %", per_cent=True, span=(min(ends), max(ends)), log_x=True)
    told = "; ".join(
        f"{name} " + ", ".join(f"{y:.2f} % by {x:,}" for x, y in zip(line.xs, line.ys, strict=True))
        for name, line in drawn.items()
    )
    said = f"{100 * noise:g} % of the labels swapped: {told}."
    show(worded(figure, f"Errors against vectors kept, {words.plain(said)}", said), f"kept_{noise}")
