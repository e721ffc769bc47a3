"""The examples of a run whose labels its machines doubt, worst first, and each score told in a sentence.

    folds     every training example by the machine of the folds without it: odds that the label is wrong
    crossed   by the margins that cross-training kept of its first machines, -(m + v)
    bound     those whose alpha is at C, by the lead of another class over the label's own; any run has them
    test      the test examples by the run's machine, as of folds; apart, since the test set makes no choice

The numbers: explain/suspects.py and explain/alike.py.
"""

from contextlib import suppress
from typing import NamedTuple

import numpy as np

from data import Dataset, load
from svmcore.explain import alike
from svmcore.explain import suspects as numbers
from svmcore.lab import split
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store.runs import Run, require_content
from svmcore.lab.task import Check, csv_text
from svmcore.lab.tasks import task_of
from svmcore.lab.tasks.classify import labelled
from svmcore.lab.train import prepare, unchecked
from svmcore.metrics import class_positions
from svmcore.model import labels

FOLDS = 10  # machines that see nine tenths of the examples find more than those of five folds, in about twice the time
WAYS = {"folds": "Out of folds", "crossed": "By cross-training", "bound": "Bounded alpha", "test": "Test examples"}


class Suspects(NamedTuple):
    """Examples whose labels are doubted, worst first; arrays (m,)."""

    way: str  # one of WAYS
    part: str  # "train" | "test": the part of the dataset that `index` points into
    index: np.ndarray  # int64
    given: np.ndarray  # the label that it has, as training saw it
    said: np.ndarray  # the label that the machines say
    score: np.ndarray  # float64, larger = more doubtful; of folds and of the test the log odds that the label is wrong
    own: np.ndarray  # float64, f of the machine of the given label; of cross-training the mean margin
    other: np.ndarray  # float64, the largest f of another class; of cross-training the variance of the margin
    rival: np.ndarray  # the label of that class
    rate: float | None = None  # share of all labels that are wrong, as the odds have it
    likely: int = 0  # how many of them are more likely wrong than right; they come first

    def first(self, most: int) -> "Suspects":
        """The worst alone."""
        arrays = {name: value[:most] for name, value in self._asdict().items() if isinstance(value, np.ndarray)}
        return self._replace(**arrays)

    def sentence(self, i: int) -> str:
        """The score of suspect i in words."""
        own, other = _number(self.own[i]), _number(self.other[i])
        given, rival = _called(self.given[i]), _called(self.rival[i])
        if self.way == "crossed":
            return f"Its margins under the first machines of cross-training have mean {own} and variance {other}."
        says = f"f of {rival} is {other}, f of its own label {given} is {own}"
        if self.way == "bound":
            return f"Its alpha is bounded (alpha = C), so training left it inside the margin or misclassified: {says}."
        chance = 1 / (1 + np.exp(-self.score[i]))
        return f"Out of sample, {says}: the label is wrong with a probability of {_percent(chance)}."


class Related(NamedTuple):
    """Lists of their own; all positions are of the dataset's training part, but for `across`."""

    unlike_copies: list[np.ndarray]  # groups of training examples that are equal, with unlike labels
    across: np.ndarray  # (p, 2) int64, test examples (positions in `split`) and the training example they equal
    split: str
    linked: np.ndarray  # (p, 2) int64, training examples of unlike labels, each nearest to the other, nearest first
    apart: np.ndarray  # (p,) float64, their distances
    outliers: np.ndarray  # (n,) int64, those first that are farthest from their own class
    outlying: np.ndarray  # (n,) float64, their mean distance to the nearest of it


def searched(recipe: Recipe) -> Recipe:
    """The recipe with folds, trained twice, as `suspects` needs. RecipeError for a task without labels, or a class of
    one example."""
    if not task_of(recipe).answers:
        raise RecipeError("task", recipe.task, "classify, because only this task has labels to review")
    folds = split.possible_folds(recipe, labelled(recipe.replace(folds=None)), FOLDS)
    return recipe.replace(folds=recipe.folds or folds, refold=True)


def ways(run: Run) -> tuple[str, ...]:
    """The ways that a run that is done has, the best first."""
    if not task_of(run.recipe).answers:
        return ()
    found = ["folds"] if run.folded() is not None else []
    with suppress(FileNotFoundError):
        found += ["crossed"] if len(run.edited().mean) else []
    machine = run.machine()
    found += ["bound"] if machine.parent is not None or not machine.constructed.any() else []
    return (*found, "test")


def suspects(run: Run, way: str = "folds", check: Check = unchecked) -> Suspects:
    """The examples of a run that is done, by how far their labels are doubted. ValueError for a way that the run does
    not have, RecipeError for one that asks its dataset where that was replaced; what `check(stage)` raises stops it.
    """
    if way not in (known := ways(run)):
        raise ValueError(f"way = {way!r}; allowed for this run: {', '.join(known) or 'none'}")
    if way == "bound":
        return _bound(run)
    if way == "crossed":
        return _crossed(run)
    judged = run.folded() if way == "folds" else run.test()
    classes = run.machine().classes
    given = class_positions(judged.y_true, classes)
    found = numbers.doubts(judged.decision, given, len(classes), lambda: check("suspecting"))
    made = _ranked(way, judged.split, judged.index, classes, given, judged.decision, found.score)
    return made._replace(rate=found.rate, likely=int(found.likely.sum()))


def _bound(run: Run) -> Suspects:
    machine, training = run.machine(), _trained_on(run)
    at, decision = numbers.at_bound(machine)
    given = class_positions(training.y_train[at], machine.classes)
    own, other, _ = numbers.leads(decision, given, len(machine.classes))
    return _ranked("bound", "train", training.train[at], machine.classes, given, decision, other - own)


def _crossed(run: Run) -> Suspects:
    """Two classes: the machines say the other one where the margin is below 0."""
    edited, classes, training = run.edited(), run.machine().classes, _trained_on(run)
    given = class_positions(training.y_train, classes)
    score = numbers.of_margins(edited.mean, edited.variance)
    order = np.argsort(-score, kind="stable")
    given, mean = given[order], edited.mean[order]
    said = np.where(mean < 0, 1 - given, given)
    arrays = classes[given], classes[said], score[order], mean, edited.variance[order], classes[1 - given]
    return Suspects("crossed", "train", edited.index[order], *arrays, likely=int((score > 0).sum()))


def _trained_on(run: Run) -> split.Split:
    """A run's examples with their labels. RecipeError where its dataset was replaced since."""
    require_content(run)
    return labelled(run.recipe)


def _ranked(way: str, part: str, index, classes, given, decision, score) -> Suspects:
    order = np.argsort(-score, kind="stable")
    given, decision = given[order], decision[order]
    own, other, rival = numbers.leads(decision, given, len(classes))
    said = labels(classes, decision)
    return Suspects(way, part, index[order], classes[given], said, score[order], own, other, classes[rival])


def table(found: Suspects, dataset: Dataset) -> str:
    """Suspects as CSV, a line for each; the last column names the file of each picture, where there are files."""
    columns = found.index, found.given, found.said, found.score.round(4), map(found.sentence, range(len(found.index)))
    head, rows = ["part", "index", "given", "said", "score", "why"], [[found.part, *row] for row in zip(*columns)]
    if dataset.files is not None:
        head, rows = [*head, "file"], [[*row, dataset.file(found.part, row[1])] for row in rows]
    return csv_text(head, rows)


def related(recipe: Recipe, check: Check = unchecked) -> Related:
    """Copies, by what the dataset holds; linked pairs and outliers, by the kernel's distance of prepared examples.
    ValueError for what cannot be prepared; what `check(stage)` raises stops it."""

    def going() -> None:
        check("comparing")

    problem, data = prepare(recipe, check), load(recipe.dataset)
    train, test = problem.train_index, problem.test_index
    rows, held = data.X_train[train], (data.X_test if problem.test_split == "test" else data.X_train)[test]
    groups = [train[group] for group in alike.unlike_copies(rows, problem.y_train, going)]
    across = alike.across(rows, held, going)
    _, label = np.unique(problem.y_train, return_inverse=True)
    found = alike.distances(problem.kernel, problem.X_train, label, going)
    pairs, far = alike.linked(found), alike.outlying(found)
    both = np.stack((test[across[:, 0]], train[across[:, 1]]), axis=1)
    return Related(
        groups, both, problem.test_split, train[pairs], found.other[pairs[:, 0]], train[far], found.mean[far]
    )


def _called(label) -> str:
    """A class, with a true minus where it is a number."""
    return str(label) if isinstance(label, str) else str(label).replace("-", "\u2212")


def _number(value: float) -> str:
    return f"{value:.2f}".replace("-", "\u2212")


def _percent(chance: float) -> str:
    told = "more than 99" if chance > 0.99 else "less than 1" if chance < 0.01 else f"{100 * chance:.0f}"
    return f"{told}\u00a0%"
