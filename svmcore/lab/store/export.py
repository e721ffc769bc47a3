"""What a run gives away in words: its errors as a table, and a Python script that repeats it."""

from __future__ import annotations

import csv
import io

import numpy as np

from svmcore.lab.recipe.recipe import DEFAULT, FIELDS, Recipe

SPELLED = ("dataset", "kernel", "C")  # said even where it is the default
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula
SCRIPT = '''"""{title}"""
# Run it in the folder that holds svmcore and data.{found}

from {module} import {kernel}
from svmcore.lab import Recipe, execute
from svmcore.model import save

recipe = Recipe(
{fields}
)
outcome = execute(recipe)
print(outcome.result["errors"], "of", outcome.result["n_test"], "test examples are wrong")
save(outcome.machine, "machine.npz")
'''


def errors_csv(test, classes: np.ndarray) -> str:
    """The wrong examples of a TestSet, one a line: where they lie, labels, the decision value of each machine."""
    names = classes if test.decision.shape[1] > 1 else classes[1:]
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["part", "index", "true", "predicted", *(f"f_{name}" for name in names)])
    for i in np.flatnonzero(test.y_true != test.y_pred):
        values = (f"{value:.6g}" for value in test.decision[i])
        writer.writerow([test.split, test.index[i], _cell(test.y_true[i]), _cell(test.y_pred[i]), *values])
    return out.getvalue()


def script(recipe: Recipe, result: dict | None = None) -> str:
    """A Python script that repeats a run: what differs from a plain recipe, and what came out here."""
    asked = {name: getattr(recipe, name) for name in FIELDS if name not in ("title", "slow_motion")}
    told = {name: value for name, value in asked.items() if name in SPELLED or value != getattr(DEFAULT, name)}
    found = ""
    if result:
        found = (
            f"\n# Here it got {result['errors']} of {result['n_test']} wrong, with support vectors {result['n_sv']}."
        )
    return SCRIPT.format(
        title=(recipe.title or recipe.name).replace("\\", "").replace('"', "'"),
        found=found,
        module=type(recipe.kernel).__module__,
        kernel=type(recipe.kernel).__name__,
        fields="\n".join(f"    {name}={value!r}," for name, value in told.items()),
    )


def _cell(value) -> str:
    text = str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA) else text
