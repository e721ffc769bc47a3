"""What a run can be taken away as: its recipe, its machine, its errors, and a script that repeats it."""

import csv
import io
import json
from dataclasses import fields

import numpy as np
import streamlit as st

from svmcore.lab.recipe import Recipe

SPELLED = ("dataset", "kernel", "C")  # said even where it is the default
SCRIPT = """# {title}
# Run it in the folder that holds svmcore and data.

from svmcore import {kernel}, save
from svmcore.lab import Recipe, execute

recipe = Recipe(
{fields}
)
outcome = execute(recipe)
print(outcome.result["errors"], "of", outcome.result["n_test"], "test examples are wrong")
save(outcome.machine, "machine.npz")
"""


def buttons(run):
    """One download button for each form; those that need a finished run are greyed out before."""
    done = run.state == "done"
    options = {"on_click": "ignore", "width": "stretch"}
    st.download_button(
        "Recipe (JSON)",
        json.dumps(run.recipe.to_dict(), indent=2),
        f"{run.recipe.name}.json",
        "application/json",
        key=f"export_recipe_{run.id}",
        icon=":material/data_object:",
        help="Everything that was asked; `python -m svmcore run` repeats it by name.",
        **options,
    )
    st.download_button(
        "Machine (npz)",
        (run.path / "model.npz").read_bytes if done else b"",
        f"{run.id}.npz",
        "application/octet-stream",
        key=f"export_model_{run.id}",
        icon=":material/scatter_plot:",
        disabled=not done,
        help="Support vectors, coefficients and kernel; `svmcore.load` reads it.",
        **options,
    )
    st.download_button(
        "Errors (CSV)",
        (lambda: errors_csv(run)) if done else "",
        f"{run.id}-errors.csv",
        "text/csv",
        key=f"export_errors_{run.id}",
        icon=":material/table:",
        disabled=not done,
        help="One row for each test example that came out wrong, with its decision values.",
        **options,
    )
    st.download_button(
        "Script (Python)",
        script(run.recipe),
        f"{run.recipe.name.replace('-', '_')}.py",
        "text/x-python",
        key=f"export_script_{run.id}",
        icon=":material/code:",
        help="A few lines that repeat the run without the app.",
        **options,
    )


def script(recipe: Recipe) -> str:
    """A Python script that repeats the run: what differs from a plain recipe, and where the results are."""
    plain = Recipe()
    asked = {f.name: getattr(recipe, f.name) for f in fields(Recipe)}
    told = {name: value for name, value in asked.items() if name in SPELLED or value != getattr(plain, name)}
    lines = [f"    {name}={value!r}," for name, value in told.items()]
    return SCRIPT.format(
        title=recipe.title or recipe.name, kernel=type(recipe.kernel).__name__, fields="\n".join(lines)
    )


def errors_csv(run) -> str:
    """The wrong test examples: position in the data set, labels, decision values f of every machine."""
    test, machine = run.test(), run.machine()
    names = machine.classes if test.decision.shape[1] > 1 else machine.classes[1:]
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(["part", "index", "true", "predicted", *(f"f_{name}" for name in names)])
    for i in np.flatnonzero(test.y_true != test.y_pred):
        values = [f"{f:.6g}" for f in test.decision[i]]
        writer.writerow([test.split, test.index[i], test.y_true[i], test.y_pred[i], *values])
    return text.getvalue()
