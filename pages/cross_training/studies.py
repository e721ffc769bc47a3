"""Figures 1, 3 and 4 of the paper as runs, and the same course on any two classes: what grows, what it costs.

A study of cross-training: runs of the plain and of the edited machine along one quantity, and what is drawn of them.

    Course      points along x, at each the recipes of every machine (several where it is repeated with other seeds)
    measured    what the stored runs have to say of it so far

Those of Figures 1, 3 and 4 of Bakir, Bottou and Weston (2004), and of its settings: what varies is read off their
recipes.
"""

import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from data import catalogue, drawn
from pages.cross_training import setting
from pages.ui.figures import crossing
from pages.ui.figures.crossing import Line
from pages.ui.figures.frame import worded
from pages.ui.kit import numbers, parameters, state, words
from pages.ui.studies.study import Plan, Results, Study
from svmcore.lab.analyses.splits import machine_of
from svmcore.lab.meter import search_apart
from svmcore.lab.methods import METHODS
from svmcore.lab.presets import xtrain
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.reading import Group
from svmcore.lab.store.runs import Run


class Point(NamedTuple):
    """One x of a course."""

    x: float
    machines: dict[str, tuple[Recipe, ...]]  # name -> its recipes, one a repetition
    bayes: float | None = None  # the smallest possible error, where it is known


class Course(NamedTuple):
    """What is varied, and the runs that it takes."""

    title: str
    says: str  # what is varied, of which examples
    x_title: str
    points: tuple[Point, ...]
    group: Group
    theirs: str = ""  # what the paper reports
    apart: bool = False  # support vectors at C and below it are counted apart, on a log axis
    x_log: bool = False

    @property
    def recipes(self) -> list[Recipe]:
        """All of them, each once."""
        all_of_them = (r for p in self.points for several in p.machines.values() for r in several)
        return list({recipe.digest(): recipe for recipe in all_of_them}.values())

    @property
    def names(self) -> list[str]:
        return list(dict.fromkeys(name for point in self.points for name in point.machines))


TIME = "training time, s"
Found = dict[str, Run]  # digest -> run, of those that are done
MEASURES = {
    "support vectors": lambda run: run.result["n_union"],
    "bounded": lambda run: int(np.sum(run.result["n_bound"])),
    "free": lambda run: run.result["n_union"] - int(np.sum(run.result["n_bound"])),
    "test error, %": lambda run: 100 * run.result["error_rate"],
    "error on noisy labels, %": lambda run: 100 * run.result.get("noisy", run.result)["error_rate"],
    TIME: lambda run: search_apart(run.result)[0],
}


def line(course: Course, found: Found, name: str, measure: str) -> Line | None:
    """The measure of one machine along x: means, with the smallest and the largest where it is repeated; None before
    any is done. Of times the median alone: the first run of a process also reads the library."""
    xs, values = [], []
    for point in course.points:
        done = [found[r.digest()] for r in point.machines.get(name, ()) if r.digest() in found]
        if done:
            xs.append(point.x)
            values.append([MEASURES[measure](run) for run in done])
    if not xs:
        return None
    repeated = measure != TIME and any(len(several) > 1 for several in values)
    spread = ([min(v) for v in values], [max(v) for v in values]) if repeated else ()
    middle = np.median if measure == TIME else np.mean
    return Line(xs, [float(middle(v)) for v in values], *spread)


def law(course: Course, found: Found) -> Line | None:
    """Steinwart's 2 B n along x; B: the Bayes error, or the smallest error of all machines on equally noisy labels."""
    xs, ys = [], []
    for point in course.points:
        done = [found[r.digest()] for several in point.machines.values() for r in several if r.digest() in found]
        if done:
            smallest = min(MEASURES["error on noisy labels, %"](run) for run in done) / 100
            xs.append(point.x)
            ys.append(2 * (smallest if point.bayes is None else point.bayes) * done[0].result["n_train"])
    return Line(xs, ys) if xs else None


def rows(course: Course, found: Found) -> list[dict]:
    """Every run that is done, a row each."""
    there = (
        (point.x, name, found[recipe.digest()])
        for point in course.points
        for name, recipes in point.machines.items()
        for recipe in recipes
        if recipe.digest() in found
    )
    return [
        {course.x_title: x, "Machine": name, "Seed": run.recipe.seed, "n": run.result["n_train"]}
        | {measure: tell(run) for measure, tell in MEASURES.items()}
        | {"run": run.id}
        for x, name, run in there
    ]


class Figure(NamedTuple):
    """A figure of the paper: the study in svmcore.lab.presets.xtrain, what it varies, and the rest of its Course."""

    study: str
    x: Callable[[Recipe], float]
    x_title: str
    says: str
    theirs: str
    more: dict = {}  # noqa: RUF012  (never written to)


def bayes(recipe: Recipe) -> float | None:
    """The smallest error that is possible by the labels that training sees; None where nobody knows it."""
    if not drawn.is_drawn(recipe.dataset):
        return None
    clean, noise = drawn.bayes_error(recipe.dataset), recipe.option("noise")
    return clean * (1 - noise) + (1 - clean) * noise


_X = {  # figure -> what is varied, of a recipe
    "Figure 1": lambda recipe: round(100 * drawn.bayes_error(recipe.dataset), 3),
    "Figure 3": lambda recipe: float(recipe.n_train),
    "Figure 4": lambda recipe: round(100 * recipe.option("noise"), 3),
    "Settings": lambda recipe: recipe.C,
}
_DATA = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
FIGURES = {name: Figure(x=_X[name], **fields) for name, fields in _DATA.items()}


SETS = {"clouds:2": "variance 4", "clouds:4": "deviation 4"}  # of a figure that has several


def courses() -> dict[str, Course]:
    """Name -> course, one for each figure and dataset; figures without recipes are left out."""
    found = {}
    for name, figure in FIGURES.items():
        own = xtrain.study(figure.study)
        apart, of_sets = "apart" in figure.more, {}
        for recipe in own:
            of_sets.setdefault("" if apart else recipe.dataset, []).append(recipe)
        for dataset, several in of_sets.items():
            title = f"{name}, {SETS.get(dataset, dataset)}" if len(of_sets) > 1 else name
            found[title] = _course_of(title, figure, several)
    return found


def _course_of(title: str, figure: Figure, recipes: Iterable[Recipe]) -> Course:
    at: dict[float, dict[str, list[Recipe]]] = {}
    for recipe in recipes:
        at.setdefault(figure.x(recipe), {}).setdefault(machine_of(recipe), []).append(recipe)
    points = []
    for x in sorted(at):
        machines = {name: tuple(recipes) for name, recipes in at[x].items()}
        points.append(Point(x, machines, bayes(next(iter(machines.values()))[0])))
    group = xtrain.group(figure.study)
    nus = ", ".join(format(nu, "g") for nu in xtrain.NUS.values())
    says = figure.says.format(nus=nus, final=xtrain.FINAL_NU)
    return Course(title, says, figure.x_title, tuple(points), group, figure.theirs, **figure.more)


OWN = {"Your own data, by noise": "noise", "Your own data, by n": "n"}
LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2)
PARTS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)  # of the training examples
PLAIN, EDITED = "plain", "cross-trained"
REPEATED = {PLAIN: setting.PLAIN, EDITED: setting.METHOD}


def plan() -> Plan | None:
    theirs = courses()
    name = parameters.choice("cross_training.course", [*theirs, *OWN])
    course = theirs[name] if name in theirs else _own(OWN[name])
    if course is None:
        return None
    recipes = {recipe.digest(): recipe for recipe in course.recipes}
    says = " ".join(filter(None, (course.says, course.theirs)))
    return Plan(recipes, course.group, course, course.title, says)


def _own(over: str) -> Course | None:
    """A course of the reader's own: noise at the full size, or sizes at one noise."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        base = setting.recipe_form()
        noise = setting.flipped_share() if over == "n" else 0.0
    if base is None:
        return None
    title = setting.title_of(base)
    if over == "noise":
        points = [_point(100 * level, base.replace(noise=level)) for level in LEVELS]
        group = Group.of("edit-noise", f"Label noise · {title}", base.digest())
        return Course(title, "A growing share of the labels is flipped.", "labels flipped, %", tuple(points), group)
    base = base.replace(noise=noise)
    n = _most(base)
    points = [_point(size, base.replace(n_train=size)) for size in sorted({max(20, round(part * n)) for part in PARTS})]
    group = Group.of("edit-n", f"More examples · {title}", base.digest())
    says = f"The number of examples grows; {100 * noise:g} % of the labels are flipped."
    return Course(title, says, "training examples n", tuple(points), group)


def _point(x: float, recipe: Recipe) -> Point:
    machines = {name: (setting.titled(METHODS[method].usual(recipe)),) for name, method in REPEATED.items()}
    return Point(x, machines, bayes(recipe))


def _most(base: Recipe) -> int:
    """Training examples that there are."""
    entry = catalogue.entry(base.dataset)
    share = len(base.classes) / entry.n_classes if len(base.classes) > 1 else 1.0
    n = round(entry.n_train * share)
    return min(base.n_train or n, n if entry.n_test else n * 4 // 5)


def _figures(results: Results) -> dict[str, go.Figure]:
    course, found = results.plan.given, results.done
    drawn = {"Support vectors": _held(course, found), "Errors": _of(course, found, "test error, %")}
    if any(recipe.option("noise") for recipe in course.recipes):
        drawn["Errors on noisy labels"] = _of(course, found, "error on noisy labels, %")
    return drawn | {"Time": _of(course, found, TIME)}


def _lines(course: Course, found: Found, measure: str) -> dict:
    lines = {name: line(course, found, name, measure) for name in course.names}
    return {name: one for name, one in lines.items() if one}


def _held(course: Course, found: Found) -> go.Figure:
    if course.apart:
        lines = {
            f"{name}, {measure}": one
            for measure in ("bounded", "free")
            for name, one in _lines(course, found, measure).items()
        }
    else:
        lines = _lines(course, found, "support vectors")
    known = all(point.bayes is not None for point in course.points)
    told = "the smallest possible error" if known else "the smallest test error here, on labels with the same noise"
    kinds = " Bounded: alpha = C; free: alpha below C." if course.apart else ""
    how = {"log": course.apart, "span": _span(course), "log_x": course.x_log}
    return crossing.growth_of_svs(lines, law(course, found), course.x_title, told, kinds, **how)


def _of(course: Course, found: Found, measure: str) -> go.Figure:
    lines = _lines(course, found, measure)
    span, per_cent = _span(course), measure.endswith("%")
    figure = crossing.growth(lines, course.x_title, measure, per_cent=per_cent, span=span, log_x=course.x_log)
    said = crossing.ends(lines)
    told = f"{measure[0].upper()}{measure[1:]}: {said}."
    return worded(figure, f"{measure} against {course.x_title}: {said}.", told)


def _span(course: Course) -> tuple[float, float]:
    xs = [point.x for point in course.points]
    return min(xs), max(xs)


def _table(results: Results) -> None:
    told = rows(results.plan.given, results.done)
    with st.expander("All runs"):
        order, ids = [name for name in told[0] if name != "run"], [row["run"] for row in told]
        alt, how = "Every run of the study with its results", {"column_order": order, "height": "auto"}
        numbers.table(told, alt, "course_table", on_row=lambda at: _see(ids[at]), **how)
        st.caption("Select a row to show its run. For a run that discarded examples, the page then shows which ones.")


@state.callback
def _see(run_id: str) -> None:
    """Callback of the table: the run of the row that was selected."""
    run = runs.get(run_id)
    state.show_run(run.id)
    if "roles" in run.result:
        st.session_state["cross_view"] = "A run"
    else:
        state.tell_later(f":material/check: The run shown is now {words.plain(words.short(run.title, 60))}.")


STUDY = Study("course", plan, _figures, observations=_table)
