"""Task: what is to be learned, from the data to the judgement of a fitted machine.

parts(recipe)                                          how many machines the run trains and judges, one after the other
prepare(recipe, check, part), fold(recipe, k, check)   a problem for the method that trains
train(method, recipe, problem, monitor, check)         the method's estimator, and the problem that it came from
judge(machine, problem, check)                         what the machine says about the examples it is tested on
outcome(judged), loss(judged)                          figures of a result; what cross-validation adds up
examples(recipe)                                       what training and test are made of, for other programs
headline(result), rate(result)                         the outcome in a few words, and as one number
table(name, judged, machines)                          one line for each case
size(recipe), others(recipe, size), beside(recipe)     how large its trainings are, for the forecast; other work
"""

import csv
import io
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np

from data import catalogue
from data.dataset import Arrays, DataError
from svmcore.allowed import Allowed
from svmcore.lab.costs import Sizes
from svmcore.lab.fields import Field

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula
Check = Callable[[str], None]  # is told a stage, between pieces of work, and may raise to stop


class Task(ABC):
    """Base of all tasks. `judge` gives a NamedTuple of arrays and texts, which the run keeps; a fold is a problem that
    nothing of the part held out has entered.

    fields: its own, in `recipe.options`; looks: whether a machine in training can be looked at by its test examples.
    answers: whether a judgement says of each test example what that of classify says (`y_true`, `y_pred`, `decision`,
    where it lies), and a result its `errors`, so that runs can be laid on one another; does: what it does, after "it";
    rated: what `rate` is the share of.
    """

    name = title = rated = ""
    catalogue = catalogue  # what lists its datasets
    revised = "dataset"  # the field that names examples, whose labels may be those of a revision
    does = "has a task of its own"
    fields: tuple[Field, ...] = ()
    looks, answers = True, False
    figures: Mapping[str, Allowed] = {}  # of an outcome, beside n_test: name -> what it may be
    at_times: Mapping[str, Allowed] = {}  # those that not every outcome has, such as those of older runs
    arrays: Mapping[str, tuple[str, int]] = {}  # of a judgement: name -> kinds of number, dimensions
    kept: type = dict  # NamedTuple of a judgement
    tables: Mapping[str, tuple[str, str]] = {}  # what a judgement can be taken away as: name -> title, help

    def entry(self, name: str):
        """What the catalogue says of a dataset. UnknownDataset for one that is not among this task's."""
        return self.catalogue.entry(name)

    def pinned(self, recipe):
        """The recipe on the data that there are now: a revision with the verdicts that it has by now, for good."""
        name = getattr(recipe, self.revised, None) or recipe.options.get(self.revised)
        return recipe.replace(**{self.revised: catalogue.pinned(name)}) if name else recipe

    def at_hand(self, recipe) -> bool:
        """Whether what a recipe learns from is on this computer. DataError or RecipeError where it cannot be told."""
        return self.entry(recipe.dataset).at_hand

    def data(self, name: str):
        """The dataset itself, with its `content_hash`. UnknownDataset or DataError where it cannot be had."""
        return self.catalogue.load(name)

    def content_names(self, recipe) -> tuple[str, ...]:
        """Names of the datasets that a recipe trains on."""
        return (recipe.dataset,)

    def content_entries(self, recipe) -> list:
        """Their entries. UnknownDataset or DataError."""
        return [self.entry(recipe.dataset)]

    def content_hash(self, recipe) -> str:
        """The hash of what is in them. DataError where they cannot be read."""
        return self.data(recipe.dataset).content_hash

    def vectors(self, result: dict) -> int:
        """How many support vectors a machine of the result has; of several parts the one that has the fewest."""
        return result["n_union"]

    def check(self, recipe) -> None:
        """RecipeError for a recipe that this task cannot be, whatever the data."""
        return

    def check_new(self, recipe) -> None:
        """RecipeError for what stored runs may have asked for and no new run may; Recipe.check_new."""
        return

    def parts(self, recipe) -> int:
        """How many machines the run trains and judges; their judgements together are its outcome."""
        return 1

    def judged(self, arrays: dict):
        """A judgement, from the arrays of its file. ValueError for what it cannot be."""
        values = ((name, arrays[name]) for name in self.arrays)
        return self.kept(**{name: value if value.ndim else str(value) for name, value in values})

    def misfit(self, shapes: Mapping[str, tuple[int, ...]]) -> str:
        """Why arrays of these shapes are no judgement; empty where they may be one."""
        return ""

    def folded(self, judged: list[NamedTuple]):
        """What the machines of the folds said of the training examples, as one judgement; None where it cannot be."""
        return

    def doubted(self, recipe, folded) -> np.ndarray:
        """Positions of training examples without which the recipe asks for its folds once more."""
        return np.empty(0, np.int64)

    def fits(self, machine, judged) -> bool:
        """Whether a judgement can be this machine's."""
        return True

    def train(self, method, recipe, problem, monitor: Callable | None, check: Check) -> tuple[object, object]:
        """What the method makes of the problem, and the problem as it was in the end."""
        return method.train(recipe, problem, monitor), problem

    def resumed(self, problem, judged):
        """A problem as it was when training ended, from what its machine said; for a method that begins there."""
        return problem

    def with_aside(self, recipe, problem, check: Check):
        """The problem with the examples of its dataset that neither train nor test, where there are any."""
        return problem

    def examples(self, recipe) -> Arrays:
        """The examples of a recipe as its dataset has them, with the labels that training sees and the true ones of
        the test. DataError where they cannot be had; ValueError where a task makes its examples itself."""
        raise ValueError(f"{self.title}: this task makes its examples itself, so its dataset has none")

    def out_of_reach(self, recipe) -> str:
        """Why `examples` cannot give them here and now; empty where it can."""
        try:
            entry = self.entry(recipe.dataset)
        except DataError as error:
            return str(error)
        return (
            "" if entry.at_hand else f"the dataset {recipe.dataset} is not available; download it on the page Datasets"
        )

    @abstractmethod
    def prepare(self, recipe, check: Check, part: int = 0):
        """The problem of one part of the recipe. RecipeError for what its dataset forbids; what `check` raises."""

    @abstractmethod
    def fold(self, recipe, number: int, check: Check):
        """The problem of one of the recipe's folds, held out from the others."""

    def judged_folds(self, recipe, problem, without: np.ndarray, monitor: Callable | None) -> list[NamedTuple] | None:
        """What the examples of each fold are answered by machines of the others, but for those at the positions
        `without`, all trained together with the kernel values that the problem has; None where each fold is to be made
        by itself."""
        return None

    @abstractmethod
    def judge(self, machine, problem, check: Check) -> NamedTuple:
        """What the machine says about the examples it is tested on, beside the truth."""

    @abstractmethod
    def outcome(self, judged: list[NamedTuple]) -> dict:
        """The figures of one judgement, or of several on different examples together; JSON-able, with `n_test`."""

    @abstractmethod
    def loss(self, judged: NamedTuple) -> float:
        """What is to be small; the loss of several judgements is their sum."""

    def wrong(self, judged: NamedTuple) -> np.ndarray | None:
        """Positions of the examples that were answered wrongly; None where no single examples are judged."""
        return None

    @abstractmethod
    def headline(self, result: dict) -> str:
        """The outcome in a few words."""

    def rate(self, result: dict) -> float | None:
        """The outcome as one share, by which runs that were repeated are told apart; None where there is none."""
        return None

    def table(self, name: str, judged: list[NamedTuple], machines: list) -> str:
        """One of `tables` as CSV, a line for each case."""
        raise ValueError(f"{self.title}: this task has no table")

    @abstractmethod
    def size(self, recipe) -> Sizes:
        """The size of the first training, by the catalogue. RecipeError for a method that the data does not allow."""

    def beside(self, recipe) -> float:
        """Seconds of other work that a training needs: looking for candidates, mining false alarms."""
        return 0.0

    def others(self, recipe, size: Sizes) -> list[Sizes]:
        """The sizes of the trainings that follow one of this size: folds, parts."""
        return []


def csv_text(head: Iterable[str], rows: Iterable[Iterable]) -> str:
    """A table as CSV that spreadsheets may open: no cell is taken for a formula; numbers have six digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_cell, head))
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA) else text
