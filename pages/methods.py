"""Compare methods: one pair of classes, learned by every method from the same few examples.

The dial of the tangent machines: what is whitened, and the error as lambda goes from plain to invariant.

C_lambda = (1 - lambda) C + lambda I, C the covariance of the tangents; lambda = 1 is the plain machine.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.1; 3.3 for the note on triangles.
"""

from math import prod

import numpy as np
import streamlit as st

from data import catalogue
from pages.ui.compare import pairs
from pages.ui.example import evidence, parents
from pages.ui.figures import comparison, ranking
from pages.ui.figures.frame import show
from pages.ui.kit import numbers, parameters, ways, words
from pages.ui.kit.gallery import Tile, diverging, gallery
from pages.ui.recipe import data_set, jitter_set
from pages.ui.run import snapshots
from pages.ui.studies import study, usual
from pages.ui.studies.study import Plan, Results, Study
from svmcore.kernels import Linear
from svmcore.lab.analyses.comparison import together, why_not
from svmcore.lab.methods import METHODS
from svmcore.lab.papers import TABLES
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import titles
from svmcore.lab.store.runs import Group, Run
from svmcore.lab.train import prepare
from svmcore.methods.definite import distances
from svmcore.methods.jittering import Jittered
from svmcore.methods.tangent import principal_tangents, scaled_lambda, tangent_covariance

MOST_NUMBERS = 2500  # of an image, whose principal tangents are found in about three seconds
PICTURES = 36  # of those that only one of two methods gets wrong


def disagreement(done: dict[str, Run], left: str, right: str) -> None:
    """The test examples that only one of two finished runs, of those called so, gets wrong, with a paired test."""
    a, b = done[left], done[right]
    if reason := why_not(a, b):
        st.caption(f"These two methods cannot be compared. {words.plain(reason.text)}")
        return
    found = together([a, b])
    only_a, only_b = found.wrong[0] & ~found.wrong[1], found.wrong[1] & ~found.wrong[0]
    test = pairs.all_pairs(found)[0, 1]
    st.markdown(
        f"**Where they disagree.** Of {len(found.index):,} test examples, {test.fixed} are wrong only with *{left}*, "
        f"{test.broken} only with *{right}*. {pairs.mcnemar_in_words(f'*{left}*', f'*{right}*', test)}"
    )
    ways.to("compare", "Compare the two example by example", "compare", {"compare": [a.id, b.id]})
    if len(found.classes) == 2 and all(f.shape[1] == 1 for f in found.decision):
        positive = found.y_true == found.classes[1]
        if positive.any() and not positive.all():
            decisions = {left: found.decision[0][:, 0], right: found.decision[1][:, 0]}
            show(ranking.roc_curves(positive, decisions), key="compare_roc")
    for at, (column, name, rows) in enumerate(zip(st.columns(2), (left, right), (only_a, only_b), strict=True)):
        shown, said = np.flatnonzero(rows)[:PICTURES], found.y_pred[at]
        with column:
            if not len(shown):
                st.caption(f"No example is wrong only with *{name}*.")
                continue
            st.caption(f"Wrong only with *{name}*: true → predicted class above each.")
            snapshots.errors(
                a.recipe.dataset, found.split, found.index[shown], found.y_true[shown], said[shown], key=f"only_{at}"
            )


LAMBDAS = (1.0, 0.3, 0.1, 0.03, 0.01, 0.003)
SPACES = "in pixels", "in feature space"
SHOWN = 12  # principal tangents


def tangent_dial(methods: Plan) -> None:
    """The error of both tangent machines at every lambda, and the principal tangents as images; nothing where the study
    has not both of them."""
    if not {f"Tangents, {where}" for where in SPACES} <= set(methods.recipes):
        return
    st.subheader("Strength of the invariance: lambda")
    recipes = {
        (where, value): recipe.replace(lam=value, title=f"{recipe.title}, lambda {value:g}")
        for where, recipe in ((where, methods.recipes[f"Tangents, {where}"]) for where in SPACES)
        for value in LAMBDAS
    }
    title = methods.group.title.replace("Compare methods", "Lambda of the tangents")
    group = Group.of("lambda", title, methods.group.key)
    study.draw(Study("lambda", lambda: Plan(recipes, group), _by_lambda))
    _principal(methods.recipes["Tangents, in pixels"])


def _by_lambda(results: Results) -> dict:
    lines = {where: [] for where in SPACES}
    for (where, value), run in results.done.items():
        lines[where].append((value, run.result))
    drawn = {"Errors": comparison.error_by_lambda(lines, len(results.runs))}
    told = {where: [point for point in points if "regulariser" in point[1]] for where, points in lines.items()}
    return drawn | ({"Change of f": comparison.change_by_lambda(told)} if any(told.values()) else {})


def _principal(recipe: Recipe) -> None:
    if (d := prod(catalogue.entry(recipe.dataset).shape)) > MOST_NUMBERS:
        limit = f"The principal tangents are shown only for images of up to {MOST_NUMBERS:,} values"
        st.caption(f"{limit}; these images have {d:,}.")
        return
    values, images, largest = _tangents(recipe)
    scale = np.abs(images).max(axis=(1, 2), keepdims=True)
    tiles = [Tile("", f"eigenvalue {value:.3f}", lower=f"{value:.2f}") for value in values]
    gallery(diverging(images / scale), tiles, key="principal", alt=f"The {SHOWN} principal tangents", size=56)
    st.caption(
        "Each image is a direction in which the jitters change these examples most. Blue: ink is added. Orange: ink "
        "is removed. Below each image: its eigenvalue. A small lambda makes the machine insensitive to these "
        f"directions. The largest eigenvalue is {largest:.2g} before it is scaled to 1, so lambda = "
        f"{(ours := recipe.option('lam')):g} here is {scaled_lambda(ours, 1 / largest):.2g} on the paper's scale."
    )


@st.cache_data(max_entries=8, show_spinner="Finding the tangents")
def _tangents(recipe: Recipe) -> tuple[np.ndarray, np.ndarray, float]:
    """The largest eigenvalues of the tangent covariance, relative to the largest, their images, the largest itself."""
    problem = prepare(recipe)
    C = tangent_covariance(problem.X_train, recipe.jitters, problem.image_shape, scaled=False)
    values, axes = principal_tangents(C)
    h, w = problem.image_shape[:2]
    images = axes[:SHOWN].reshape(-1, h, w, len(axes[0]) // (h * w)).mean(axis=3)  # of colours their mean
    return values[:SHOWN] / values[0], images, float(values[0])


FAMILIES = 8  # parents shown with their virtual support vectors
COLUMNS = {name: numbers.number(2, label=f"{name}, s") for name in ("Train", "Test")}
COLUMNS |= {name: numbers.count() for name in ("Errors", "SVs")}
COLUMNS["of"] = numbers.count("Number of training examples, virtual ones included.", "Examples")


def plan() -> Plan | None:
    """A recipe for each method, of the pair and the jitters that the widgets show."""
    images = data_set.at_hand(lambda entry: len(entry.shape) > 1)
    first = "mnist" if "mnist" in images else catalogue.DEFAULT
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = data_set.field(images, "Image datasets that are available.", first)
        classes = data_set.pair(catalogue.entry(name), "methods.pair")
        n_train = parameters.number("methods.n", 10, 4000, 400, 100)
        deslant = parameters.flag("methods.deslant")
    jitters = jitter_set.field(None)
    if jitters is None or len(classes) != 2:
        st.info("Choose two classes and a jitter set.", icon=":material/arrow_upward:")
        return None
    recipes = usual.of_pair(name, classes, n_train, str(jitters), deslant)
    one = next(iter(recipes.values()))
    against = " against ".join(map(str, one.classes))
    title = f"Compare methods · {words.short(titles.data_set(name), 40)} · {against} · {n_train:,} examples"
    group = Group.of("methods", title, one.digest(), *(recipe.jitters for recipe in recipes.values()))
    return Plan(recipes, group)


def rows(results: Results, states) -> list[dict]:
    return [
        {"Method": title, "State": states[title]} | (_figures(run.result) if (run := results.done.get(title)) else {})
        for title in results.runs
    ]


def _figures(result: dict) -> dict:
    return {
        "Errors": result["errors"],
        "Rate (95 %)": words.rate(result),
        "SVs": result["n_union"],
        "of": max(result.get("n_virtual", [result["n_train"]])),
        "Train": words.training_seconds(result),
        "Test": result["predict_seconds"],
    }


def published(recipes: list[Recipe]) -> list[float | None]:
    """How many errors Table 10 reports for each recipe, None for those that it does not have."""
    cells = [row.cells[0] for name in ("table10-3v8", "table10-3v8-5x5-deslant") for row in TABLES[name].rows]
    errors = {RECIPES[cell.recipe].digest(): cell.published for cell in cells}
    return [errors.get(recipe.digest()) for recipe in recipes]


def intervals(results: Results) -> dict:
    """The error of each method with its interval, the published one beside it."""
    done = results.done
    known = published([run.recipe for run in done.values()])
    rates = [n and 100 * n / run.result["n_test"] for n, run in zip(known, done.values(), strict=True)]
    figure = comparison.error_intervals(list(done), [run.result for run in done.values()], rates)
    return {"Error rates": figure}


def observations(results: Results) -> None:
    """Where two methods disagree, what each has to say, and the virtual support vectors."""
    done = results.done
    st.subheader("Errors of two methods compared")
    with st.container(horizontal=True):
        names = list(results.runs)
        left = parameters.choice("methods.left", names)
        right = parameters.choice("methods.right", names, names[1])
    if waiting := {left, right} - done.keys():
        st.caption(f"Not finished: {' and '.join(sorted(waiting))}.")
    elif left != right:
        disagreement(done, left, right)
    for title, run in done.items():
        if said := METHODS[run.recipe.method].words(run.result):
            st.caption(f"{title}: {words.plain(said)}")
    triangle_note()
    if virtual := next((run for run in done.values() if "n_virtual" in run.result), None):
        st.subheader("Virtual support vectors and their parents")
        machine = virtual.machine()
        parents.draw(virtual, machine, evidence.supports(virtual, machine, 0), FAMILIES, key="families")


IMAGES = np.eye(3, dtype=np.float32)  # A, B, C: one row of three pixels, one of them inked
SHIFTS = {"1 pixel": "shift:0,1;0,-1@zero", "1 and 2 pixels": "shift:0,1;0,-1;0,2;0,-2@zero"}


def triangle_note() -> None:
    """Three images of three pixels on which a jittering kernel is no kernel, and the set that repairs it."""
    with st.expander("Worked note: a jittering kernel that violates the triangle inequality", key="triangle"):
        st.markdown(
            "Take three images, each of them one row of three pixels: **A** ■□□, **B** □■□, **C** □□■. With shifts by "
            "one pixel A and B coincide, and so do B and C, but A and C stay apart. The way from A to C over B is then "
            "shorter than the direct way, so no feature space has these distances. If shifts by two pixels are allowed "
            "as well, A and C also coincide."
        )
        rows = []
        for name, text in SHIFTS.items():
            D = distances(Jittered(Linear(), text, (1, 3)).block(IMAGES, IMAGES))
            holds = D[0, 1] + D[1, 2] >= D[0, 2]
            rows.append(
                {"Shifts": name, "A to B": D[0, 1], "B to C": D[1, 2], "A to C": D[0, 2], "Triangle holds": bool(holds)}
            )
        numbers.table(rows, "Distances between the three images under either set of shifts", "triangle_distances")


parameters.own(left=usual.contenders(), right=usual.contenders())
drawn = study.draw(Study(
    "methods", plan, intervals, rows, COLUMNS, alt="Errors, support vectors and times of each method",
    observations=observations,
))  # fmt: skip
if drawn is not None:
    tangent_dial(drawn)
