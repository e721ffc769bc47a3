"""A study of cross-training: runs of the plain and of the edited machine along one quantity, and what is drawn of them.

    Course      points along x, at each the recipes of every machine (several where it is repeated with other seeds)
    measured    what the stored runs have to say of it so far

Bakir, Bottou and Weston (2004), Figures 1, 3 and 4.
"""

from typing import NamedTuple

import numpy as np

from pages.ui.figures.crossing import Line
from svmcore.lab.experiment.meter import search_apart
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.store.group import Group
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
        """Of its machines."""
        return list(dict.fromkeys(name for point in self.points for name in point.machines))


TIME = "training time, s"
Found = dict[str, Run]  # digest -> run, of those that are done
MEASURES = {
    "support vectors": lambda run: run.result["n_union"],
    "bound": lambda run: int(np.sum(run.result["n_bound"])),
    "free": lambda run: run.result["n_union"] - int(np.sum(run.result["n_bound"])),
    "wrong, %": lambda run: 100 * run.result["error_rate"],
    "wrong by labels as noisy, %": lambda run: 100 * run.result.get("noisy", run.result)["error_rate"],
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
    """Steinwart's 2 B n along x; B the Bayes error where it is known, else the smallest error of all machines by labels
    as noisy as those that trained."""
    xs, ys = [], []
    for point in course.points:
        done = [found[r.digest()] for several in point.machines.values() for r in several if r.digest() in found]
        if done:
            smallest = min(MEASURES["wrong by labels as noisy, %"](run) for run in done) / 100
            xs.append(point.x)
            ys.append(2 * (smallest if point.bayes is None else point.bayes) * done[0].result["n_train"])
    return Line(xs, ys) if xs else None


def rows(course: Course, found: Found) -> list[dict]:
    """Every run that is done, a row each."""
    out = []
    for point in course.points:
        for name, recipes in point.machines.items():
            for recipe in recipes:
                if run := found.get(recipe.digest()):
                    out.append(
                        {
                            course.x_title: point.x,
                            "Machine": name,
                            "Seed": recipe.seed,
                            "n": run.result["n_train"],
                            **{measure: tell(run) for measure, tell in MEASURES.items()},
                            "run": run.id,
                        }
                    )
    return out
