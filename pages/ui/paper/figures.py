"""Figures 1 to 5 of the paper, and figures of what it leaves open, drawn from the data and the runs at hand.

Figure 1 is computed: a line learned from a few points, and again with their shifted copies (virtual SVs); the classes
are invariant under shifts along x1, so that the true boundary is a horizontal line.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import load
from pages.ui.example import jittered, views
from pages.ui.figures.comparison import separating_plane
from pages.ui.figures.frame import side_by_side
from pages.ui.kit import ways, words
from pages.ui.paper import digested, geometry, hurt, kept, nearest, triangle
from pages.ui.run import snapshots, stored
from svmcore import SVC
from svmcore.jitter import JitterSet
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipes import RECIPES
from svmcore.lab.tables import PUBLISHED

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
    "digestion": Figure("Section 4.2: what digestion saves, by the size of the cache", digested.draw),
    "figure5": Figure("Figure 5: the errors on deslanted digits", errors),
    "definite": Figure("The jittering kernel as its set grows", triangle.growth),
    "hurt": Figure("When does invariance hurt?", hurt.draw),
    "kept": Figure("Editing beside reducing: errors by vectors kept", kept.draw),
    "geometry": Figure("Sections 2.1 and 2.4: spheres that planes stay out of, and hulls", geometry.draw),
    "nearest": Figure("Note 3: a Gaussian machine without b", nearest.note),
}
