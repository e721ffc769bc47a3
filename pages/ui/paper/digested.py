"""Section 4.2 as a figure: what each use of the cache costs by its size, from the runs of the study of digestion."""

import streamlit as st

from pages.ui.figures import comparison
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, words
from pages.ui.run import polling, stored
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipes import RECIPES
from svmcore.lab.recipes.digestion import PROBLEMS, WAYS
from svmcore.lab.store import runs
from svmcore.lab.store.reading import Group
from svmcore.lab.tables import NUMBERS, of_run
from svmcore.lab.tables.digestion import COUNTED, UNIT
from svmcore.lab.tables.printing import number

LEAST = ("work", "computed")
MEASURES = ("work", "computed", "lookups", "updates", "sv_most", "solve_s")
PAPER = "The paper's cache was of 800 MB, for 60,000 digits and their virtual stages."
USUAL = "1-few"  # the problem that a sample is kept of


def recipes(problem: str) -> dict[tuple[str, int], str]:
    """(way, megabytes) -> the name of the recipe of each point."""
    return {(way, mb): f"digest-{problem}-{way}-{mb}" for mb in PROBLEMS[problem].caches for way in WAYS}


def draw() -> None:
    """The figure of one problem, and the buttons for the runs that it lacks."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = parameters.choice(
            "problem", "Problem", PROBLEMS, USUAL, widget="selectbox", width=300,
            format_func=lambda one: PROBLEMS[one].title,
            help="The virtual stage is trained on the support vectors of the first, shifted by a pixel each way.",
        )  # fmt: skip
        measure = parameters.choice(
            "measure", "Measure", MEASURES, widget="selectbox", format_func=NUMBERS.get, width=300,
            help="All in one unit: a look-up or an update is one of the d multiply-adds of a kernel value.",
        )  # fmt: skip
    problem, points = PROBLEMS[name], {key: RECIPES[recipe] for key, recipe in recipes(name).items()}
    own = stored.stored(points.values())
    with st.container(horizontal=True, vertical_alignment="center"):
        stored.buttons(points.values(), own, "Run all", "Queue every run of this problem that is missing.", "digested",
                       group=Group(f"digestion-{name}", f"Digestion: {problem.title}"))  # fmt: skip
        if needs := [estimate(recipe) for recipe, run in zip(points.values(), own, strict=True) if run is None]:
            seconds, memory = sum(need.seconds for need in needs), max(need.memory_mb for need in needs)
            said = f"{len(needs)} runs are missing: about {words.duration(seconds)}, {words.megabytes(memory)} at most."
            st.caption(said, width="content")
    lines, rows, least = {}, [], None
    for (way, mb), run in zip(points, stored.or_samples(points.values(), own), strict=True):
        if run is not None and run.result and measure in (figures := of_run(run)):
            lines.setdefault(way, []).append((mb, figures[measure].value))
            counts = {title: number(figure, figures[figure].value) for figure, title in COUNTED.items()}
            rows.append({"": WAYS[way][0], "MB": mb, "SVs": number("svs", figures["svs"].value)} | counts)
            if measure in LEAST:  # a last pass takes every example with every support vector
                least = figures["size"].value * figures["svs"].value / 1e6
    if lines:
        shown = {WAYS[way][0]: points for way, points in lines.items()}
        show(comparison.by_cache(shown, NUMBERS[measure], problem.title, least), "digested")
        alt = "What each way to use each cache took"
        numbers.table(rows, alt, "digested_table")
        st.caption(f"{UNIT} {PAPER}")
    working = [run.id for run in own if run and run.state in runs.ACTIVE]
    polling.poll_all(working, lambda statuses: [st.caption(words.plain(s.message)) for s in statuses[:1]])
