"""Figures 1, 3 and 4 of Bakir, Bottou and Weston (2004), and its settings, as courses of runs: what varies is read off
their recipes."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

from data import drawn
from pages.ui.edit.course import Course, Point
from svmcore.lab.experiment.splits import machine_of
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import xtrain


class Figure(NamedTuple):
    """A figure: which recipes are its own, and what varies in them."""

    study: str  # the name of its recipes (svmcore.lab.recipes.xtrain)
    says: str
    theirs: str  # what the paper reports
    x_title: str
    x: Callable[[Recipe], float]
    apart: bool = False
    x_log: bool = False


def bayes(recipe: Recipe) -> float | None:
    """The smallest error that is possible by the labels that training sees; None where nobody knows it."""
    if not drawn.is_drawn(recipe.dataset):
        return None
    clean, noise = drawn.bayes_error(recipe.dataset), recipe.option("noise")
    return clean * (1 - noise) + (1 - clean) * noise


FIGURES = {
    "Figure 1": Figure(
        "xtrain-fig1",
        "A line between two squares that overlap more and more.",
        "Theirs: support vectors at C grow with the overlap, those below C stay few.",
        "smallest possible error, %",
        lambda recipe: round(100 * drawn.bayes_error(recipe.dataset), 3),
        apart=True,
    ),
    "Figure 3": Figure(
        "xtrain-fig3",
        "Two Gaussian clouds in ten dimensions, a linear machine, more and more examples; C by cross-validation on ten "
        "splits. The paper's text says standard deviation 4, its error axis fits variance 4: both are here.",
        "Theirs: nearly constant where the plain machine's grow linearly, with no loss of accuracy.",
        "training examples n",
        lambda recipe: float(recipe.n_train),
    ),
    "Figure 4": Figure(
        "xtrain-fig4",
        "MNIST, 3 against 8: more and more labels are swapped, on five seeds. The paper splits the examples into five "
        "subsets of 2,340; five of 6,000, which overlap, are beside them.",
        "Theirs: constant where the plain machine's grow linearly; errors alike, on clean labels slightly more.",
        "labels flipped, %",
        lambda recipe: round(100 * recipe.option("noise"), 3),
    ),
    "Settings": Figure(
        "xtrain-settings",
        "C of the first machines; the final C stays 10. Thresholds: as trained, the best on a validation part (slack "
        "0), or moved no further than to within one standard error of it (slack 1).",
        "Theirs: cross-training seems to be more sensitive than SVMs in terms of parameter tuning.",
        "C (of the first machines)",
        lambda recipe: recipe.C,
        x_log=True,
    ),
}


SETS = {"clouds:2": "variance 4", "clouds:4": "deviation 4"}  # of a figure that has several


def courses() -> dict[str, Course]:
    """Name -> course, one for each figure and data set; figures without recipes are left out."""
    found = {}
    for name, figure in FIGURES.items():
        own = xtrain.study(figure.study)
        of_sets = {} if figure.apart else {recipe.dataset: [] for recipe in own}
        for recipe in own:
            of_sets.setdefault("" if figure.apart else recipe.dataset, []).append(recipe)
        for dataset, several in of_sets.items():
            title = f"{name}, {SETS.get(dataset, dataset)}" if len(of_sets) > 1 else name
            found[title] = _course(title, figure, several)
    return found


def _course(title: str, figure: Figure, recipes: Iterable[Recipe]) -> Course:
    at: dict[float, dict[str, list[Recipe]]] = {}
    for recipe in recipes:
        at.setdefault(figure.x(recipe), {}).setdefault(machine_of(recipe), []).append(recipe)
    points = []
    for x in sorted(at):
        machines = {name: tuple(recipes) for name, recipes in at[x].items()}
        points.append(Point(x, machines, bayes(next(iter(machines.values()))[0])))
    group = xtrain.group(figure.study)
    return Course(title, figure.says, figure.x_title, tuple(points), group, figure.theirs, figure.apart, figure.x_log)
