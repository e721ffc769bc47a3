"""The dial of the tangent machines: what is whitened, and the error as lambda goes from plain to invariant.

C_lambda = (1 - lambda) C + lambda I, C the covariance of the tangents; lambda = 1 is the plain machine.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.1.
"""

from itertools import compress

import numpy as np
import streamlit as st

from pages.ui.figures import comparison
from pages.ui.figures.frame import show
from pages.ui.kit.gallery import Tile, diverging, gallery
from pages.ui.paper import pair
from pages.ui.run import polling, stored
from svmcore.lab.experiment.train import prepare
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store.runs import ACTIVE, Group, Run
from svmcore.methods.tangent import principal_tangents, scaled_lambda, tangent_covariance

LAMBDAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
SPACES = {"in pixels": "input", "in feature space": "feature"}
SHOWN = 12  # principal tangents


def panel(recipes: dict[str, Recipe]) -> None:
    """Principal tangents as images, and the error of both tangent machines at every lambda."""
    st.subheader("How much invariance: lambda")
    sweep = [_at(recipes[f"Tangents, {where}"], value) for where in SPACES for value in LAMBDAS]
    found = stored.stored(sweep)
    methods = pair.together(recipes)
    group = Group.of("lambda", methods.title.replace("Compare methods", "Lambda of the tangents"), methods.key)
    with st.container(horizontal=True, vertical_alignment="center"):
        own = [not _with_the_methods(recipe, run, recipes) for recipe, run in zip(sweep, found, strict=True)]
        both = list(compress(sweep, own)), list(compress(found, own))
        said = "Turn the dial", "A run of both machines at each lambda.", "lambdas", "lambdas"
        stored.buttons(*both, *said, group=group)
    polling.poll_all([run.id for run in found if run], lambda statuses: _curve(found))
    _principal(recipes["Tangents, in pixels"])


def _with_the_methods(recipe: Recipe, run: Run | None, recipes: dict[str, Recipe]) -> bool:
    """Whether a run at work is one of the methods above, and so cancelled with them."""
    return run is not None and run.state in ACTIVE and recipe.digest() in {own.digest() for own in recipes.values()}


def _at(recipe: Recipe, value: float) -> Recipe:
    return recipe.replace(lam=value, title=f"{recipe.title}, lambda {value:g}")


def _curve(found) -> None:
    lines = {}
    for number, where in enumerate(SPACES):
        runs = zip(LAMBDAS, found[number * len(LAMBDAS) :], strict=False)
        lines[where] = [(value, run.result) for value, run in runs if run and run.result]
    if any(lines.values()):
        show(comparison.error_by_lambda(lines, len(found)), "lambda_curve")
    told = {where: [point for point in points if "regulariser" in point[1]] for where, points in lines.items()}
    if any(told.values()):
        show(comparison.change_by_lambda(told), "lambda_change")


def _principal(recipe: Recipe) -> None:
    values, images, largest = _tangents(recipe)
    scale = np.abs(images).max(axis=(1, 2), keepdims=True)
    tiles = [Tile("", f"eigenvalue {value:.3f}", lower=f"{value:.2f}") for value in values]
    gallery(diverging(images / scale), tiles, key="principal", alt=f"The {SHOWN} principal tangents", size=56)
    st.caption(
        "The directions in which the jitters move these examples most, as images: blue where ink comes, orange where "
        "it goes; below, the eigenvalue. A small lambda makes the machine blind to them. The largest is "
        f"{largest:.2g} before it is scaled to 1: lambda = {(ours := recipe.option('lam')):g} here is "
        f"{scaled_lambda(ours, 1 / largest):.2g} on the paper's scale."
    )


@st.cache_data(max_entries=8, show_spinner="Finding the tangents")
def _tangents(recipe: Recipe) -> tuple[np.ndarray, np.ndarray, float]:
    """The largest eigenvalues of the tangent covariance, of 1 at most, their eigenvectors as images, and the very
    largest as it comes."""
    problem = prepare(recipe)
    C = tangent_covariance(problem.X_train, recipe.jitters, problem.image_shape, scaled=False)
    values, axes = principal_tangents(C)
    h, w = problem.image_shape[:2]
    images = axes[:SHOWN].reshape(-1, h, w, len(axes[0]) // (h * w)).mean(axis=3)  # of colours their mean
    return values[:SHOWN] / values[0], images, float(values[0])
