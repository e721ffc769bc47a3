"""Compare methods: one pair of classes, learned by every method from the same few examples.

The dial of the tangent machines: what is whitened, and the error as lambda goes from plain to invariant.

C_lambda = (1 - lambda) C + lambda I, C the covariance of the tangents; lambda = 1 is the plain machine.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.1.
"""

from itertools import compress

import numpy as np
import streamlit as st

from data import DataError
from pages.ui.compare import pairs
from pages.ui.example import evidence, families
from pages.ui.figures import comparison, ranking
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, present, ways, words
from pages.ui.kit.gallery import Tile, diverging, gallery
from pages.ui.run import polling, snapshots, stored
from pages.ui.studies import pair, triangle
from svmcore.lab.experiment.comparison import together, why_not
from svmcore.lab.experiment.train import prepare
from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipe.recipe import Recipe, RecipeError
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.store.runs import ACTIVE, Group, Run
from svmcore.methods.tangent import principal_tangents, scaled_lambda, tangent_covariance

PICTURES = 36  # of those that only one of two methods gets wrong


def disagreement(a: Run, b: Run) -> None:
    """The test examples that only one of two finished runs gets wrong, with a paired test; `a` stands left."""
    if reason := why_not(a, b):
        st.caption(f"They cannot be compared. {words.plain(reason.text)}")
        return
    found = together([a, b])
    left, right = found.wrong
    test = pairs.all_pairs(found.wrong)[0, 1]
    st.markdown(
        f"**Where they disagree.** Of {len(found.index):,} test examples, {test.fixed} go wrong only on the left and "
        f"{test.broken} only on the right. {pairs.said('the left one', 'the right one', test)}"
    )
    ways.to("compare", "Compare them example by example", "compare", {"compare": [a.id, b.id]})
    if len(found.classes) == 2 and all(f.shape[1] == 1 for f in found.decision):
        positive = found.y_true == found.classes[1]
        if positive.any() and not positive.all():
            decisions = {"left": found.decision[0][:, 0], "right": found.decision[1][:, 0]}
            show(ranking.roc_curves(positive, decisions), key="compare_roc")
    for column, side, rows in zip(st.columns(2), ("left", "right"), (left & ~right, right & ~left), strict=True):
        shown, said = np.flatnonzero(rows)[:PICTURES], found.y_pred[0 if side == "left" else 1]
        with column:
            if not len(shown):
                st.caption(f"None goes wrong only on the {side}.")
                continue
            st.caption(f"Wrong only on the {side}: true → predicted class above each.")
            snapshots.errors(
                a.recipe.dataset, found.split, found.index[shown], found.y_true[shown], said[shown], key=f"only_{side}"
            )


LAMBDAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
SPACES = {"in pixels": "input", "in feature space": "feature"}
SHOWN = 12  # principal tangents


def tangent_dial(recipes: dict[str, Recipe]) -> None:
    """Principal tangents as images, and the error of both tangent machines at every lambda."""
    st.subheader("How much invariance: lambda")
    sweep = [_at(recipes[f"Tangents, {where}"], value) for where in SPACES for value in LAMBDAS]
    found = stored.stored(sweep)
    methods = pair.together(recipes)
    group = Group.of("lambda", methods.title.replace("Compare methods", "Lambda of the tangents"), methods.key)
    with st.container(horizontal=True, vertical_alignment="center"):
        own = [not _with_the_methods(recipe, run, recipes) for recipe, run in zip(sweep, found, strict=True)]
        both = list(compress(sweep, own)), list(compress(found, own))
        said = "Run all lambdas", "Runs both machines at each lambda.", "lambdas", "lambdas"
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


FAMILIES = 8  # parents shown with their virtual support vectors


def table(found, statuses):
    """What is known of each method by now."""
    rows = []
    states = {run.id: status.state for run, status in zip(filter(None, found), statuses, strict=True)}
    for title, run in zip(pair.contenders(), found, strict=True):
        result = run.result if run else None
        row = {"Method": title, "State": states[run.id] if run else "not run yet"}
        if result:
            row |= {
                "Errors": result["errors"],
                "Rate (95 %)": words.rate(result),
                "SVs": result["n_union"],
                "of": max(result.get("n_virtual", [result["n_train"]])),
                "Train": words.training_seconds(result),
                "Test": result["predict_seconds"],
            }
        rows.append(row)
    columns = {name: numbers.number(2, label=f"{name}, s") for name in ("Train", "Test")}
    columns |= {name: numbers.count() for name in ("Errors", "SVs")}
    columns["of"] = numbers.count("Number of training examples, virtual ones included.", "of examples")
    numbers.table(rows, "Errors, support vectors and times of each method", "methods_table", columns)


def verdict(found):
    """Error intervals, where two methods disagree, and the virtual support vectors, of what is done."""
    done = {title: run for title, run in zip(pair.contenders(), found, strict=True) if run and run.result}
    if not done:
        return
    results = [run.result for run in done.values()]
    known = pair.published([run.recipe for run in done.values()])
    rates = [n and 100 * n / result["n_test"] for n, result in zip(known, results, strict=True)]
    show(comparison.error_intervals(list(done), results, rates), "intervals")
    st.subheader("Who gets which digit right")
    with st.container(horizontal=True):
        names = list(pair.contenders())
        left = parameters.choice("left", "Left", names, widget="selectbox", width=240, help="One method.")
        right = parameters.choice("right", "Right", names, names[1], widget="selectbox", width=240, help="Another one.")
    if waiting := {left, right} - done.keys():
        st.caption(f"Not finished: {' and '.join(sorted(waiting))}.")
    elif left != right:
        disagreement(done[left], done[right])
    for title, result in zip(done, results, strict=True):
        if said := METHODS[result["method"]].words(result):
            st.caption(f"{title}: {words.plain(said)}")
    triangle.note()
    if virtual := next((run for run in done.values() if "n_virtual" in run.result), None):
        st.subheader("Virtual support vectors and their parents")
        machine = virtual.machine()
        families.draw(virtual, machine, evidence.supports(virtual, machine, 0), FAMILIES, key="families")


st.title("Compare methods")
present.about(
    "The same training examples, learned by every method (Table 10 of the paper). All methods use the same test "
    "examples."
)
form = present.form()
try:
    with form:
        recipes = pair.settings()
except (DataError, RecipeError) as error:
    st.error(words.plain(error), icon=":material/block:")
    st.stop()
if recipes is None:
    st.info("Choose two classes and a jitter set.", icon=":material/arrow_upward:")
    st.stop()
found = stored.stored(recipes.values())
with form, st.container(horizontal=True, vertical_alignment="center"):
    seconds = sum(estimate(r).seconds for r, run in zip(recipes.values(), found, strict=True) if run is None)
    stored.buttons(
        recipes.values(), found, "Run missing methods",
        "Starts one ordinary run per method; each is kept and can be inspected.",
        of="methods", group=pair.together(recipes),
    )  # fmt: skip
    if seconds:
        st.caption(f"About {words.duration(seconds)} for those not run yet.", width="content")
found = stored.or_samples(recipes.values(), found)
above, below = st.container(), st.container()
rates, in_numbers = present.parts(("Rates", "In numbers"), (below, above)) if any(found) else (below, above)
with in_numbers:
    polling.poll_all([run.id for run in found if run], lambda statuses: table(found, statuses))
with rates:
    verdict(found)
tangent_dial(recipes)
