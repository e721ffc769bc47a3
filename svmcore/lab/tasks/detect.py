"""detect: find objects in pictures, judged by how many are found at how many false alarms.

A recipe's dataset is a set of pictures (data.pictures); its experiment says which of them train and which test, part
by part. A part's candidates come from a finder; any method learns to tell those that cover an object from the others.

    pictures -> candidates -> chips -> preprocessing -> machine -> f -> hits and false alarms -> FROC

DeCoste and Schölkopf (2002), section 5.2; Osuna, Freund and Girosi (1997), section 4.

Several machines that vote: a method that trains k machines and answers with the mean of their decision values.

    f(x) = 1/k sum_j f_j(x) = sum_i a_i K(x_i, x) + b        one machine again: a_i, b the means of coefficients, biases

Each learns from all objects and from a half of the background, drawn by the seed and its number: half-samples, as in
Friedman and Hall, instead of draws with replacement. The mean and not a count of those that say yes: a threshold on f
trades false alarms for objects, and the mean is one expansion, so that all that keeps, shows or searches by a machine
does so with it.

References: Osuna, Freund and Girosi, MIT AI memo 1602 (1997), section 5 (multiple classifiers as future work); Breiman,
Machine Learning 24 (1996) (bagging); Friedman and Hall, J. Statistical Planning and Inference 137 (2007).
"""

from dataclasses import replace
from typing import ClassVar

import numpy as np

from data import catalogue, pictures
from svmcore.allowed import amount, an_object, anything, count, several, text
from svmcore.lab.costs import Sizes
from svmcore.lab.fields import LINE, Field, RecipeError, choice, numeric, of_each
from svmcore.lab.finders import FINDERS, findings
from svmcore.lab.finders.findings import Detections
from svmcore.lab.finders.scanned import content_hash
from svmcore.lab.problem import Problem, left_out
from svmcore.lab.task import Check, Task, csv_text
from svmcore.methods.editing import bagged
from svmcore.model import Machine
from svmcore.solvers.progress import under_name


class Voting:
    """A method in the place of another one, of which it trains k machines; a Finder asks it for `train` alone."""

    def __init__(self, method, k: int):
        self.method, self.k = method, k

    def train(self, recipe, problem: Problem, monitor):
        """The estimator with the largest gap, unconverged ones first, the machine that decides and the total cost."""
        fitted, machines = [], []
        for number in range(self.k):
            part = left_out(problem, _others(recipe.seed, number, problem))
            named = monitor and under_name(f"machine {number + 1} of {self.k}", monitor)
            fitted.append(self.method.train(recipe, part, named))
            rows = np.flatnonzero(np.isin(problem.train_index, part.train_index))
            machines.append(_numbered(fitted[-1].machine_, rows))
        found = max(fitted, key=lambda one: (not one.converged_, one.gap_))
        found.kernel_evals_ = sum(int(one.kernel_evals_) for one in fitted)
        found.machine_ = bagged(machines)
        return found


def _others(seed: int, number: int, problem: Problem) -> np.ndarray:
    """Positions of the background that machine `number` does not learn from."""
    background = problem.train_index[problem.y_train < 0]
    return np.random.default_rng([seed, number]).permutation(background)[: len(background) // 2]


def _numbered(machine: Machine, rows: np.ndarray) -> Machine:
    """The machine with its vectors counted among all examples; rows: those that it was trained on."""
    parent = None if machine.parent is None else rows[machine.parent]
    return replace(machine, support=rows[machine.support], parent=parent)


OF_ALL = (
    Field("experiment", LINE, None, shown=False),
    Field("finder", choice(FINDERS, lambda finder: finder.title), "matched"),
    Field("chip", numeric(5, 63, whole=True), 15),
    Field("machines", numeric(1, 25, whole=True), 1),
)


class Detect(Task):
    """Find objects in pictures."""

    name = "detect"
    title = "Find objects in pictures"
    does = "finds objects in pictures"
    rated = "Mean rate"
    catalogue = pictures
    revised = "windows"
    looks = False
    figures: ClassVar = {
        "opportunities": count, "pictures": count, "area": amount, "unit": text, "candidates": count,
        "reachable": count, "offset": an_object({"found": count, "alarms": count}),
        "machines": an_object({"machine": an_object({"rates": anything})}),
        "rival_seconds": several(amount, 0),
    }  # fmt: skip
    arrays: ClassVar = findings.ARRAYS
    kept = Detections
    tables: ClassVar = {
        "candidates": (
            "All candidates",
            "One row for each candidate: picture, box, score, and the object that the box covers.",
        )
    }

    @property
    def fields(self) -> tuple[Field, ...]:
        return OF_ALL + of_each("finder", FINDERS)

    def at_hand(self, recipe) -> bool:
        return super().at_hand(recipe) and bool(experiment(recipe)[1].parts)

    def content_names(self, recipe) -> tuple[str, ...]:
        return (recipe.dataset, *filter(None, [recipe.option("windows")]))

    def content_entries(self, recipe) -> list:
        return [self.entry(recipe.dataset), *map(catalogue.entry, self.content_names(recipe)[1:])]

    def content_hash(self, recipe) -> str:
        return content_hash(recipe, self.data(recipe.dataset))

    def vectors(self, result: dict) -> int:
        return min(result["n_sv"])

    def check(self, recipe) -> None:
        if recipe.folds is not None:
            raise RecipeError("folds", recipe.folds, "none, because the splits of the experiment serve as folds")

    def check_new(self, recipe) -> None:
        if (windows := recipe.option("windows")) and self.parts(recipe) > 1:
            allowed = "none if an experiment has several splits, because a split would train on windows that it tests"
            raise RecipeError("windows", windows, f"{allowed}; an experiment with one split can use windows")

    def parts(self, recipe) -> int:
        return len(experiment(recipe)[1].parts)

    def judged(self, arrays: dict) -> Detections:
        turn = arrays.get("turn", np.full(len(arrays["hit"]), -1))
        if turn.dtype.kind not in "iu" or turn.shape != arrays["hit"].shape:
            raise ValueError(f"turn has the shape {turn.shape} and the type {turn.dtype}")
        found = super().judged(arrays)._replace(turn=turn)
        if wrong := findings.disorder(found):
            raise ValueError(wrong)
        return found

    def misfit(self, shapes) -> str:
        return findings.misfit(shapes)

    def fits(self, machine: Machine, judged: Detections) -> bool:
        return len(machine.bias) == 1 and machine.origin.max(initial=-1) < len(judged.train_y)

    def prepare(self, recipe, check: Check, part: int = 0) -> Problem:
        check("loading")
        known, asked = experiment(recipe)
        return FINDERS[recipe.option("finder")].prepare(recipe, known, asked.parts[part], check)

    def fold(self, recipe, number: int, check: Check) -> Problem:
        raise RecipeError("folds", recipe.folds, "none, because the splits of the experiment serve as folds")

    def train(self, method, recipe, problem: Problem, monitor, check: Check) -> tuple[object, Problem]:
        machines = recipe.option("machines")
        method = Voting(method, machines) if machines > 1 else method
        return FINDERS[recipe.option("finder")].train(method, recipe, problem, monitor, check)

    def resumed(self, problem: Problem, judged: Detections) -> Problem:
        return FINDERS[problem.recipe.option("finder")].resumed(problem, judged)

    def judge(self, machine: Machine, problem: Problem, check: Check) -> Detections:
        return FINDERS[problem.recipe.option("finder")].judge(machine, problem, check)

    def outcome(self, judged: list[Detections]) -> dict:
        return findings.figures(findings.joined(judged))

    def loss(self, judged: Detections) -> int:
        """Objects missed and false alarms at offset 0."""
        shown = judged.decision > 0
        found = np.unique(judged.hit[shown & (judged.hit >= 0)])
        return len(judged.objects) - len(found) + int(np.count_nonzero(shown & (judged.hit < 0)))

    def headline(self, result: dict) -> str:
        """`79 % of 163 found at offset 0 with 63 false alarms in 4 pictures; mean detection rate 0.52 (0.44–0.60)`."""
        offset, n, machine = result["offset"], result["n_test"], result["machines"]["machine"]
        share = f"{100 * offset['found'] / n:.0f} % of {n:,} found" if n else "nothing to find"
        alarms, pictures = offset["alarms"], result["pictures"]
        where = f"{alarms:,} false alarm{'s' * (alarms != 1)} in {pictures:,} picture{'s' * (pictures != 1)}"
        low, high = machine["interval"]
        interval = "" if low is None else f" ({low:.2f}–{high:.2f})"
        score = "" if machine["score"] is None else f"; mean detection rate {machine['score']:.2f}{interval}"
        return f"{share} at offset 0 with {where}{score}"

    def rate(self, result: dict) -> float | None:
        return result["machines"]["machine"]["score"]

    def table(self, name: str, judged: list[Detections], machines: list) -> str:
        """Every candidate: its picture, box, score, and the object that it covers."""
        found = findings.joined(judged)
        columns = found.picture, *found.box.T.tolist(), found.hit, found.decision.tolist(), *found.rivals.T.tolist()
        head = ["picture", "xmin", "ymin", "xmax", "ymax", "object", "f", *found.rival_names]
        return csv_text(head, zip(*columns, strict=True))

    def size(self, recipe) -> Sizes:
        known, asked = experiment(recipe)
        return FINDERS[recipe.option("finder")].size(recipe, known, asked.parts[0])

    def beside(self, recipe) -> float:
        """Of each training, since machines that vote share a search."""
        known, asked = experiment(recipe)
        return FINDERS[recipe.option("finder")].seconds(recipe, known, asked.parts[0]) / recipe.option("machines")

    def others(self, recipe, size: Sizes) -> list[Sizes]:
        """The trainings after the first, about alike: of machines that vote, and of parts."""
        return (self.parts(recipe) * recipe.option("machines") - 1) * [size]


def experiment(recipe) -> tuple[pictures.PictureSet, pictures.Experiment]:
    """The recipe's pictures, and which of them train and test. UnknownDataset, NotAtHand or DataError; RecipeError for
    an experiment that there is not, or of which nothing is at hand."""
    known = pictures.load(recipe.dataset)
    name = (recipe.option("experiment") or next(iter(known.experiments))).lower()
    named = {key.lower(): value for key, value in known.experiments.items()}
    if name not in named:
        raise RecipeError("experiment", name, ", ".join(named))
    if not named[name].parts:
        usable = ", ".join(key for key, value in named.items() if value.parts)
        lacking = ", ".join(named[name].missing[:9])
        raise RecipeError("experiment", name, f"{usable}; the pictures {lacking} are not available")
    return known, named[name]
