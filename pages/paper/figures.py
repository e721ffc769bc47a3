"""Figures 1 to 5 of the paper, and figures of what it leaves open, drawn from the data and the runs at hand.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002).

When does invariance hurt? A map of all pairs of digits and jitters: how much the errors change by virtual SVs.

DeCoste and Schölkopf, Machine Learning 46 (2002), section 6: obviously excessive distortions should be seen by
cross-validation; how far others can be applied safely is left open.

Editing beside reducing: errors against the vectors that a machine keeps, without swapped labels and with them.

The discussion of Bakir, Bottou and Weston (2004): cross-training loses accuracy as reduced sets do.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from data import load
from pages.paper import mercer, nearest, plane, since
from pages.ui.example import jittered, views
from pages.ui.figures import comparison, validation
from pages.ui.figures.crossing import Line, growth
from pages.ui.figures.frame import show, worded
from pages.ui.kit import parameters, ways, words
from pages.ui.run import snapshots
from pages.ui.studies import study
from pages.ui.studies.study import Plan, Results, Study
from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel, Linear, Poly
from svmcore.lab.analyses.splits import machine_of
from svmcore.lab.papers import NUMBERS, PUBLISHED, of_run
from svmcore.lab.papers.filling import number
from svmcore.lab.presets import RECIPES, xtrain
from svmcore.lab.presets.digestion import COUNTED, PROBLEMS, UNIT, WAYS
from svmcore.lab.presets.digits import HURT, HURT_GROUP, HURTS
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.reading import Group
from svmcore.lab.store.runs import Run
from svmcore.methods.definite import KernelReport, examine
from svmcore.methods.jittering import Jittered
from svmcore.preprocess import Preprocessor

LEAST = ("work", "computed")
MEASURES = ("work", "computed", "lookups", "updates", "sv_most", "solve_s")
PAPER = "The paper used a cache of 800 MB for 60,000 digits and for their virtual stages."
USUAL = "1-few"  # the problem that a sample is kept of


def digestion_recipes(problem: str) -> dict[tuple[str, int], str]:
    """(way, megabytes) -> the name of the recipe of each point."""
    return {(way, mb): f"digest-{problem}-{way}-{mb}" for mb in PROBLEMS[problem].caches for way in WAYS}


def digestion_plan() -> Plan:
    """The runs of one problem, and what is measured of them."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = parameters.choice("paper.problem", PROBLEMS, USUAL, format_func=lambda one: PROBLEMS[one].title)
        measure = parameters.choice("paper.measure", MEASURES, format_func=NUMBERS.get)
    group = Group(f"digestion-{name}", f"Digestion: {PROBLEMS[name].title}")
    return Plan({recipe: RECIPES[recipe] for recipe in digestion_recipes(name).values()}, group, (name, measure))


def by_cache(results: Results) -> dict:
    """What each use of the cache costs, by its size."""
    problem, measure = results.plan.given
    lines, least = {}, None
    for (way, mb), name in digestion_recipes(problem).items():
        if name in results.done and measure in (figures := of_run(results.done[name])):
            lines.setdefault(WAYS[way][0], []).append((mb, figures[measure].value))
            if measure in LEAST:  # a last pass takes every example with every support vector
                least = figures["size"].value * figures["svs"].value / 1e6
    drawn = {NUMBERS[measure]: comparison.by_cache(lines, NUMBERS[measure], PROBLEMS[problem].title, least)}
    return drawn if lines else {}


def cost_rows(results: Results, states) -> list[dict]:
    rows = []
    for (way, mb), name in digestion_recipes(results.plan.given[0]).items():
        row = {"": WAYS[way][0], "MB": mb, "State": states[name]}
        if name in results.done:
            figures = of_run(results.done[name])
            row |= {
                title: number(figure, figures[figure].value) for figure, title in ({"svs": "SVs"} | COUNTED).items()
            }
        rows.append(row)
    return rows


DIGESTION = Study(
    "digested", digestion_plan, by_cache, cost_rows, alt="Cost of each way to use the cache, by cache size",
    observations=lambda results: st.caption(f"{UNIT} {PAPER}"),
)  # fmt: skip


LEVELS = 0.0, 0.15  # of noise
PLAIN, REDUCED, CROSSED, TRIMMED = "plain", "reduced", "cross-trained", "trimmed"


def by_vectors_kept(results: Results) -> dict:
    """A figure for each share of swapped labels."""
    runs = {level: [run for run in results.done.values() if run.recipe.option("noise") == level] for level in LEVELS}
    return {f"{100 * level:g} % of the labels swapped": _figure(level, of) for level, of in runs.items() if of}


def recipes_of_level(noise: float) -> list[Recipe]:
    """The recipes of one figure."""
    points = [r for r in xtrain.study("xtrain-fig4") if r.seed == 0 and machine_of(r) != "bagged"]
    return [recipe for recipe in (*points, *xtrain.REDUCTIONS) if recipe.option("noise") == noise]


def lines_by_vectors(results: dict[str, list[tuple[int, float]]]) -> dict[str, Line]:
    """(vectors, wrong, %) of each kind of machine as lines; the reduced machines' ends at the plain one."""
    known = {name: sorted(points) for name, points in results.items()}
    if REDUCED in known:
        known[REDUCED] = sorted({*known[REDUCED], *known.get(PLAIN, ())})
    return {name: Line(*zip(*points, strict=True)) for name, points in known.items() if points}


def _figure(noise: float, runs: list) -> go.Figure:
    results: dict[str, list[tuple[int, float]]] = {}
    for run in runs:
        kind, _, _ = machine_of(run.recipe).partition(",")
        results.setdefault(kind, []).append((run.result["n_union"], 100 * run.result["error_rate"]))
    drawn = lines_by_vectors(results)
    ends = [x for line in drawn.values() for x in line.xs]
    figure = growth(drawn, "number of vectors", "wrong, %", per_cent=True, span=(min(ends), max(ends)), log_x=True)
    told = "; ".join(
        f"{name}: " + ", ".join(f"{y:.2f} % with {x:,} vectors" for x, y in zip(line.xs, line.ys, strict=True))
        for name, line in drawn.items()
    )
    said = f"Errors with {100 * noise:g} % of the labels swapped. {told[:1].upper()}{told[1:]}."
    return worded(figure, f"Errors against the number of vectors. {words.plain(said)}", said)


KEPT = Study(
    "kept",
    lambda: Plan({recipe.digest(): recipe for level in LEVELS for recipe in recipes_of_level(level)}),
    by_vectors_kept,
)


JUDGES = {"test": "800 test digits", "validation": "Five training folds"}


def hurt_plan() -> Plan:
    """A run for each pair of digits and jitter set, and which examples judge them."""
    by = parameters.choice("paper.judged", JUDGES, key="hurt_judged", format_func=JUDGES.get)
    recipes = {f"{pair} {text}": recipe for pair, sets in HURT.items() for text, recipe in sets.items()}
    return Plan(recipes, HURT_GROUP, by)


def changes(found: list, by: str) -> np.ndarray:
    """Error rates less those without jitters, in per cent points: (45, J - 1), NaN where a run is missing."""
    rates = [run.result if run is not None else None for run in found]
    rates = [(one if by == "test" else one["validation"])["error_rate"] if one else np.nan for one in rates]
    rates = 100 * np.reshape(rates, (len(HURT), len(HURTS)))
    return rates[:, 1:] - rates[:, :1]


def where_invariance_hurts(results: Results) -> dict:
    """The map of all pairs and jitters, as far as there are runs."""
    found = [results.done.get(name) for name in results.runs]
    test, seen = (changes(found, judge) for judge in JUDGES)
    if not np.isfinite(test).any():
        return {}
    names, by = [f"{a} {b}" for a, b in HURT], seen if results.plan.given == "validation" else test
    return {"Change of the error": validation.invariance_map(names, HURTS[1:], by, test, seen)}


HURTING = Study("hurt", hurt_plan, where_invariance_hurts)

HUNDRED = 100
SETS = {"shift:-2,0;2,0;0,-2;0,2": "Shifts", "rot:-20,-10,10,20": "Rotations", "thick:0.5,1": "Line thickness"}
ERRORS_OF = "mnist-deslant-vsv2"


class Figure(NamedTuple):
    """A figure: its title, and what draws it."""

    title: str
    draw: Callable[[], None]


def first_hundred(name: str) -> None:
    """Figures 2 and 3: the first hundred training images with their labels."""
    views.labelled(load(name), "train", np.arange(HUNDRED), key="figure_hundred")
    st.caption("The first 100 training images, with their class above and their number below. Click one to open it.")


def invariances() -> None:
    """Figure 4: one digit under shifts, rotations and line thickness."""
    dataset = load("mnist")
    index = int(np.flatnonzero(dataset.y_train == 5)[0])
    with st.grid(len(SETS), min_column_width=240):
        for text, title in SETS.items():
            jitters = JitterSet.parse(text, dataset.image_shape)
            shown = jittered.forms(dataset, "train", index, jitters)
            with st.container():
                st.markdown(f"**{title}** `{text}`")
                for square in jittered.squares(jitters):
                    jittered.draw(dataset, shown, jitters, square, f"figure4_{title}", 56)
    st.caption("The original is in the middle of each group. The virtual examples made from it surround it (dotted).")
    ways.to("jitters", "Other digits and sets", "auto_awesome_motion")


def errors(run: Run) -> None:
    """Figure 5: the errors of the best machine on deslanted digits."""
    test = run.test()
    wrong = np.flatnonzero(test.wrong)
    st.markdown(
        f"**{words.error_rate(run.result)}**; the paper's machine made {PUBLISHED['mnist_figure5_errors']} errors."
    )
    arrays = (test.index[wrong], test.y_true[wrong], test.y_pred[wrong])
    snapshots.errors(run.recipe.dataset, test.split, *arrays, key="figure5_errors")
    st.caption("Lower left: number of the test digit, counted from 0. Upper right: predicted class, then true class.")


FIGURE_5 = Study(
    "figure5",
    lambda: Plan({ERRORS_OF: RECIPES[ERRORS_OF]}),
    lambda results: {"Errors": partial(errors, results.done[ERRORS_OF])},
)

GROWING = ("none", "plus:1", "box:1", "vsv2", "box:2", "box:3", "box:4")
EXAMINED = {"Degree 9": Poly(9, 1.0, 1.0), "Linear": Linear()}
EXAMINED_DIGITS = (500, 1000, 2000)
PARAMS = {  # of the address
    "problem": PROBLEMS, "measure": MEASURES, "judged": JUDGES, "digits": list(map(str, EXAMINED_DIGITS)),
}  # fmt: skip


def definiteness() -> None:
    """Triangles and eigenvalues of the jittering kernel on digits, as the set of shifts grows; of two kernels."""
    n = parameters.choice("paper.digits", EXAMINED_DIGITS, 1000, key="definite_digits", format_func="{:,}".format)
    sides = st.grid(2, min_column_width=420)
    for name, kernel in EXAMINED.items():
        reports = {len(JitterSet.parse(text)): examined(kernel, n, text) for text in GROWING}
        with sides.cell():
            st.markdown(f"**{name}**, {n:,} digits")
            show(comparison.definiteness(reports), f"definite_{kernel.name}")
    st.caption(
        "The digits come from all ten classes and have unit norm. The largest jitter set shifts them by up to four "
        "pixels in each direction. The paper conjectures that the triangle inequality is violated less often as the "
        "jitter set grows."
    )


@st.cache_data(hash_funcs={Poly: repr, Linear: repr}, show_spinner="Computing the kernel of a larger set")
def examined(kernel: Kernel, n: int, text: str) -> KernelReport:
    X = Preprocessor("unit-norm").transform(load("mnist-5k").X_train[:n].reshape(n, -1))
    return examine(Jittered(kernel, f"{text}@zero", (28, 28), prepare=("unit-norm",)), X)


FIGURES: dict[str, Figure] = {
    "figure1": Figure("Figure 1: why virtual examples help", plane.invariance),
    "figure2": Figure("Figure 2: the first 100 USPS training images", lambda: first_hundred("usps")),
    "figure3": Figure("Figure 3: the first 100 MNIST training images", lambda: first_hundred("mnist")),
    "figure4": Figure("Figure 4: invariance transformations", invariances),
    "digestion": Figure("Section 4.2: cost with and without digestion, by cache size", partial(study.draw, DIGESTION)),
    "figure5": Figure("Figure 5: the errors on deslanted digits", partial(study.draw, FIGURE_5)),
    "definite": Figure("The jittering kernel with growing jitter sets", definiteness),
    "hurt": Figure("When does invariance hurt?", partial(study.draw, HURTING)),
    "kept": Figure("Editing and reducing: errors against the number of vectors", partial(study.draw, KEPT)),
    "forces": Figure("Section 2: forces and torques on the decision plane", plane.forces),
    "geometry": Figure("Sections 2.1 and 2.4: spheres around points, and convex hulls of the classes", plane.geometry),
    "mercer": Figure("Section 2.4: kernels from features, and Mercer's condition", mercer.draw),
    "nearest": Figure("Note 3: a Gaussian machine without b", nearest.note),
    "approximated": Figure("Test error against training time: exact machine, approximations", since.approximated),
    "seen": Figure("Errors on MNIST's test set since 1998", since.test_set),
}
