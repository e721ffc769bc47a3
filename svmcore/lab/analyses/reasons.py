"""Why a run answers as it does on a test example: the training examples that contribute most to f.

f_c(x) = b_c + sum_i coef[c, i] K(x_i, x)        of the predicted class c, and of the true one where it is another
"""

from typing import NamedTuple

import numpy as np

from data import Dataset, load
from svmcore.explain import contributions
from svmcore.lab.method import steps_before_machine
from svmcore.lab.store.runs import Run, require_content
from svmcore.lab.task import csv_text
from svmcore.lab.tasks.classify import TestSet
from svmcore.metrics import class_positions
from svmcore.preprocess import Preprocessor


class Line(NamedTuple):
    """A part of f_c. example: "bias", "others", the position of a training example in the dataset, or "" for a vector
    that is none; label: its class in the dataset; file: of its picture, where there are files."""

    machine: int | str
    example: str
    label: int | str
    part: float
    file: str = ""


class Reasons(NamedTuple):
    """Of one test example: its split, position and file, both classes, and the lines of each machine, which sum to its
    f."""

    split: str
    index: int
    file: str
    true: str
    predicted: str
    lines: list[Line]

    def table(self) -> str:
        """The lines as CSV; the last column names the file of each picture, where there are files."""
        head, named = ["machine", "example", "class", "contribution"], bool(self.file)
        rows = [(*line[:3], round(line.part, 6), *([line.file] if named else [])) for line in self.lines]
        return csv_text([*head, "file"] if named else head, rows)


def steps(run: Run, dataset: Dataset) -> Preprocessor:
    """The preprocessing of the examples that the machine takes, with what its steps learned from its training set."""
    made = Preprocessor(*steps_before_machine(run.recipe), image_shape=dataset.image_shape)
    return made if made.__sklearn_is_fitted__() else made.fit(dataset.X_train[run.train_index()])


def reasons(run: Run, index: int | None = None, most: int = 8) -> Reasons:
    """Why a test example is answered as it is, by its position in its part of the dataset; without one the first error.
    ValueError for a run without classes or errors, or an example that it does not test; RecipeError where its dataset
    was replaced."""
    test = run.test() if run.state == "done" else None
    if not isinstance(test, TestSet):
        raise ValueError(
            f"run {run.id}, task {run.recipe.task}, is {run.state}; allowed: a finished run of the task classify"
        )
    require_content(run)
    at = np.flatnonzero(test.wrong if index is None else test.index == index)
    if not len(at):
        wanted = "has no errors" if index is None else f"does not test example {index}"
        raise ValueError(f"run {run.id} {wanted}; allowed: one of its {len(test.index):,} test examples")
    at, machine, dataset = int(at[0]), run.machine(), load(run.recipe.dataset)
    part = dataset.X_test if test.split == "test" else dataset.X_train
    k = machine.kernel_values(steps(run, dataset).transform(part[test.index[at : at + 1]]))[0]
    true, predicted = (str(labels[at]) for labels in (test.y_true, test.y_pred))
    asked = class_positions(np.array([test.y_pred[at], test.y_true[at]]), machine.classes)
    lines = []
    for c in dict.fromkeys(asked.tolist() if len(machine.bias) > 1 else [0]):
        name = machine.classes[c if len(machine.bias) > 1 else 1].item()
        whole = contributions.of_machine(machine, c, k)
        strongest = whole.strongest(most)
        lines.append(Line(name, "bias", "", whole.bias))
        for vector, value in zip(whole.name[strongest], whole.part[strongest].tolist()):
            origin = machine.origin[vector]
            row = -1 if origin < 0 else int(run.train_index()[origin])
            if row < 0:
                lines.append(Line(name, "", "", value))
            else:
                lines.append(Line(name, str(row), dataset.y_train[row].item(), value, dataset.file("train", row)))
        others = contributions.rest(whole, strongest)
        lines.append(Line(name, "others", "", others.part_for + others.part_against))
    index = int(test.index[at])
    return Reasons(test.split, index, dataset.file(test.split, index), true, predicted, lines)
