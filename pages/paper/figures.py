"""Figures 1 to 5 of the paper, and figures of what it leaves open, drawn from the data and the runs at hand.

Figure 1 is computed: a line learned from a few points, and again with their shifted copies (virtual SVs); the classes
are invariant under shifts along x1, so that the true boundary is a horizontal line.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002).

When does invariance hurt? A map of all pairs of digits and jitters: how much the errors change by virtual SVs.

DeCoste and Schölkopf, Machine Learning 46 (2002), section 6: obviously excessive distortions should be seen by
cross-validation; how far others can be applied safely is left open.

Editing beside reducing: errors against the vectors that a machine keeps, without swapped labels and with them.

The discussion of Bakir, Bottou and Weston (2004): cross-training loses accuracy as reduced sets do.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import load
from pages.paper import geometry, nearest
from pages.ui.example import jittered, views
from pages.ui.figures import comparison, validation
from pages.ui.figures.comparison import separating_plane
from pages.ui.figures.crossing import Line, growth
from pages.ui.figures.frame import show, side_by_side, worded
from pages.ui.kit import numbers, parameters, ways, words
from pages.ui.run import polling, snapshots, stored
from pages.ui.studies import triangle
from svmcore import SVC
from svmcore.jitter import JitterSet
from svmcore.lab.experiment.splits import machine_of
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import RECIPES, xtrain
from svmcore.lab.recipes.digestion import PROBLEMS, WAYS
from svmcore.lab.recipes.pairs import HURT, HURT_GROUP, HURTS
from svmcore.lab.store import runs
from svmcore.lab.store.reading import Group
from svmcore.lab.tables import NUMBERS, PUBLISHED, of_run
from svmcore.lab.tables.digestion import COUNTED, UNIT
from svmcore.lab.tables.printing import number

LEAST = ("work", "computed")
MEASURES = ("work", "computed", "lookups", "updates", "sv_most", "solve_s")
PAPER = "The paper's cache was of 800 MB, for 60,000 digits and their virtual stages."
USUAL = "1-few"  # the problem that a sample is kept of


def digestion_recipes(problem: str) -> dict[tuple[str, int], str]:
    """(way, megabytes) -> the name of the recipe of each point."""
    return {(way, mb): f"digest-{problem}-{way}-{mb}" for mb in PROBLEMS[problem].caches for way in WAYS}


def digestion() -> None:
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
    problem, points = PROBLEMS[name], {key: RECIPES[recipe] for key, recipe in digestion_recipes(name).items()}
    own = stored.stored(points.values())
    with st.container(horizontal=True, vertical_alignment="center"):
        stored.buttons(points.values(), own, "Run all", "Queues every missing run of this problem.", "digested",
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
        alt = "Cost of each use of each cache"
        numbers.table(rows, alt, "digested_table")
        st.caption(f"{UNIT} {PAPER}")
    working = [run.id for run in own if run and run.state in runs.ACTIVE]
    polling.poll_all(working, lambda statuses: [st.caption(words.plain(s.message)) for s in statuses[:1]])


LEVELS = 0.0, 0.15  # of noise
PLAIN, REDUCED, CROSSED, TRIMMED = "plain", "reduced", "cross-trained", "trimmed"


def by_vectors_kept() -> None:
    """A figure for each share of swapped labels, of the runs at hand; a button for those that are missing."""
    recipes = [recipe for level in LEVELS for recipe in recipes_of_level(level)]
    found = stored.stored(recipes)
    with st.container(horizontal=True):
        stored.buttons(recipes, found, "Run all of it", "Queues every missing run of this figure.", "kept")
    done = [run for run in found if run is not None and run.state == "done"]
    if not done:
        st.info("Its runs are the plain, edited and reduced machines of 3 against 8.", title="No runs yet")
        return
    grid = st.grid(len(LEVELS), min_column_width=380)
    for level in LEVELS:
        if runs := [run for run in done if run.recipe.option("noise") == level]:
            with grid.cell():
                _figure(level, runs)


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


def _figure(noise: float, runs: list) -> None:
    results: dict[str, list[tuple[int, float]]] = {}
    for run in runs:
        kind, _, _ = machine_of(run.recipe).partition(",")
        results.setdefault(kind, []).append((run.result["n_union"], 100 * run.result["error_rate"]))
    drawn = lines_by_vectors(results)
    ends = [x for line in drawn.values() for x in line.xs]
    figure = growth(drawn, "vectors kept", "wrong, %", per_cent=True, span=(min(ends), max(ends)), log_x=True)
    told = "; ".join(
        f"{name} " + ", ".join(f"{y:.2f} % by {x:,}" for x, y in zip(line.xs, line.ys, strict=True))
        for name, line in drawn.items()
    )
    said = f"{100 * noise:g} % of the labels swapped: {told}."
    show(worded(figure, f"Errors against vectors kept, {words.plain(said)}", said), f"kept_{noise}")


JUDGES = {"test": "800 test digits", "validation": "Five folds of the 200"}


def where_invariance_hurts() -> None:
    """How many of its runs there are, the buttons, and the map of those."""
    recipes = [recipe for of_pair in HURT.values() for recipe in of_pair.values()]
    found = stored.stored(recipes)
    working = [run.id for run in found if run is not None and run.state in stored.runs.ACTIVE]
    with st.container(horizontal=True, vertical_alignment="center"):
        stored.buttons(recipes, found, "Run all pairs", "One short run for each pair of digits and jitter set.",
                       key="hurt", group=HURT_GROUP)  # fmt: skip
        if left := sum(run is None for run in found):
            st.caption(
                f"{len(found) - left} of {len(found)} runs are stored or running; the others take about "
                f"{words.duration(left * estimate(recipes[-1]).seconds)}.",
                width="content",
            )
    by = parameters.choice(
        "judged", "Evaluated on", JUDGES, key="hurt_judged", format_func=JUDGES.get,
        help="Errors estimated by cross-validation, or on the test digits.",
    )  # fmt: skip
    polling.poll_all(working, lambda statuses: _map(found, by))


def changes(found: list, by: str) -> np.ndarray:
    """Error rates less those without jitters, in per cent points: (45, J - 1), NaN where a run is missing."""
    rates = [run.result if run is not None else None for run in found]
    rates = [(one if by == "test" else one["validation"])["error_rate"] if one else np.nan for one in rates]
    rates = 100 * np.reshape(rates, (len(HURT), len(HURTS)))
    return rates[:, 1:] - rates[:, :1]


def _map(found: list, by: str) -> None:
    test, seen = (changes(found, judge) for judge in JUDGES)
    if np.isfinite(test).any():
        names = [f"{a} {b}" for a, b in HURT]
        show(validation.invariance_map(names, HURTS[1:], seen if by == "validation" else test, test, seen), "hurt_map")


POINTS = np.array([[-2.4, 0.6], [-1.2, 2.4], [-2.8, 2.0], [2.4, -0.6], [1.2, -2.4], [2.8, -2.0]], np.float32)
LABELS = np.array([1, 1, 1, -1, -1, -1])
SHIFTS = (-4, -3, -2, -1, 1, 2, 3, 4)  # along x1
ASKED_AT = 2.0  # x1 of the question mark
HUNDRED = 100
SETS = {"shift:-2,0;2,0;0,-2;0,2": "Shifts", "rot:-20,-10,10,20": "Rotations", "thick:0.5,1": "Line thickness"}
ERRORS_OF = "mnist-deslant-vsv2"


class Figure(NamedTuple):
    """A figure: its title, and what draws it."""

    title: str
    draw: Callable[[], None]


def invariance() -> None:
    """Figure 1, its four panels: the truth, lines that separate, the largest margin from the points alone, and with
    virtual SVs."""
    plain, virtual, copies = _lines()
    w1, w2, b = plain
    asked = ASKED_AT, -(b + w1 * ASKED_AT) / w2 / 2  # halfway between the truth and the line
    leans = [abs(float(np.degrees(np.arctan(-w1 / w2)))) for w1, w2, _ in (plain, virtual)]
    panels = {
        "figure1_truth": separating_plane(
            POINTS, LABELS, alt="Two classes of three points in the plane, above and below a level true boundary.",
            see="The true boundary is level: x₁ makes no difference. A machine sees the six points alone.",
        ),
        "figure1_many": separating_plane(
            POINTS, LABELS, _separating(), alt="The same points with five lines that separate them, at various slopes.",
            see="Many lines separate them.",
        ),
        "figure1_margin": separating_plane(
            POINTS, LABELS, [plain], margins=True, asked=asked,
            alt=f"The line of largest margin leans by {leans[0]:.0f} degrees; a question mark is beside the truth.",
            see=f"The line of largest margin is one alone. It leans by {leans[0]:.0f} degrees, and is wrong at the "
            "question mark.",
        ),
        "figure1_virtual": separating_plane(
            POINTS, LABELS, [virtual], margins=True, extra=copies, asked=asked,
            alt=f"With {len(copies)} shifted copies of its support vectors the line leans by {leans[1]:.0f} degrees.",
            see=f"Trained again with {len(copies)} shifted copies of its support vectors it leans by {leans[1]:.0f} "
            "degrees, and is right there.",
        ),
    }  # fmt: skip
    side_by_side(panels, 2, 320)


def _separating(many: int = 5) -> list[tuple[float, float, float]]:
    """(w1, w2, b) of lines of different slopes, each midway between the classes."""
    found = []
    for angle in np.radians(np.arange(1, 180)):
        f = POINTS @ (w := np.array([np.cos(angle), np.sin(angle)]))
        low, high = f[LABELS > 0].min(), f[LABELS < 0].max()
        if low > high:
            found.append((*w, -(low + high) / 2))
    return [found[len(found) * (2 * k + 1) // (2 * many)] for k in range(many)]


@st.cache_data(show_spinner="Finding the two lines")
def _lines():
    """(w1, w2, b) from the points, the same from the support vectors with their shifts, and these shifts (m, 2)."""
    first = SVC("linear", C=1e3).fit(POINTS, LABELS)
    copies = np.concatenate([POINTS[first.support_] + np.array([dx, 0], np.float32) for dx in SHIFTS])
    X = np.concatenate([POINTS[first.support_], copies])
    second = SVC("linear", C=1e3).fit(X, np.tile(LABELS[first.support_], 1 + len(SHIFTS)))
    plain, virtual = ((*machine.coef_[0], machine.intercept_[0]) for machine in (first, second))
    return plain, virtual, copies


def first_hundred(name: str) -> None:
    """Figures 2 and 3: the first hundred training images with their labels."""
    views.labelled(load(name), "train", np.arange(HUNDRED), key="figure_hundred")
    st.caption("The first 100 training images, class above and number below each. Click one to open it.")


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
    st.caption("The original in the middle of each group, around it the virtual examples (dotted) made from it.")
    ways.to("jitters", "Other digits and sets", "auto_awesome_motion")


def errors() -> None:
    """Figure 5: the errors of the best machine on deslanted digits."""
    recipe = RECIPES[ERRORS_OF]
    (run,) = stored.stored([recipe])
    if run is None or run.result is None:
        said = "not run yet" if run is None else run.state
        st.info(f"Its run, `{ERRORS_OF}`, is {said}. It takes about {words.duration(estimate(recipe).seconds)}.")
        stored.buttons([recipe], [run], "Run it", recipe.title, key="figure5")
        return
    test = run.test()
    wrong = np.flatnonzero(test.y_true != test.y_pred)
    st.markdown(
        f"**{words.error_rate(run.result)}**; the paper's machine got {PUBLISHED['mnist_figure5_errors']} wrong."
    )
    arrays = (test.index[wrong], test.y_true[wrong], test.y_pred[wrong])
    snapshots.errors(recipe.dataset, test.split, *arrays, key="figure5")
    st.caption("Number of the test digit at the lower left (from 0); predicted, then true class at the upper right.")


FIGURES: dict[str, Figure] = {
    "figure1": Figure("Figure 1: why virtual examples help", invariance),
    "figure2": Figure("Figure 2: the first 100 USPS training images", lambda: first_hundred("usps")),
    "figure3": Figure("Figure 3: the first 100 MNIST training images", lambda: first_hundred("mnist")),
    "figure4": Figure("Figure 4: invariance transformations", invariances),
    "digestion": Figure("Section 4.2: what digestion saves, by the size of the cache", digestion),
    "figure5": Figure("Figure 5: the errors on deslanted digits", errors),
    "definite": Figure("The jittering kernel as its set grows", triangle.growth),
    "hurt": Figure("When does invariance hurt?", where_invariance_hurts),
    "kept": Figure("Editing beside reducing: errors by vectors kept", by_vectors_kept),
    "geometry": Figure("Sections 2.1 and 2.4: spheres that planes stay out of, and hulls", geometry.draw),
    "nearest": Figure("Note 3: a Gaussian machine without b", nearest.note),
}
