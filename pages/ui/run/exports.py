"""What a run can be taken away as: a report, its recipe, its machine, what it said of the test examples, and a script
that repeats it."""

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.ui.run.report import sheet
from svmcore.lab.registry.tasks import task_of


def buttons(run):
    """One download button for each form; those that need a finished run are greyed out before."""
    done = run.state == "done"
    _button(
        run, "report", "Report (HTML)", "description", lambda: sheet.report(run), f"{run.id}.html", "text/html",
        "Recipe, data, result, figures, wrong answers and script in one file, which opens anywhere and prints.",
    )  # fmt: skip
    _button(
        run, "recipe", "Recipe (JSON)", "data_object", json.dumps(run.recipe.to_dict(), indent=2), f"{run.id}.json",
        "application/json", "Everything that was asked; `python -m svmcore run` repeats it by name.",
    )  # fmt: skip
    machine(run)
    for table, (title, help) in task_of(run.recipe).tables.items():
        file, content = f"{run.id}-{table}.csv", partial(run.table, table)
        _button(run, table, f"{title} (CSV)", "table", content, file, "text/csv", help, done)
    _button(
        run, "script", "Script (Python)", "code", run.export_snippet(), f"{run.id}.py",
        "text/x-python", "A few lines that repeat the run without the app, and what they need.",
    )  # fmt: skip


def machine(run):
    """The machine as a file."""
    _button(
        run, "model", "Machine (npz)", "scatter_plot", (run.path / "model.npz").read_bytes, f"{run.id}.npz",
        "application/octet-stream", "Support vectors, coefficients and kernel; `svmcore.load` reads it.",
        run.state == "done",
    )  # fmt: skip


def _button(
    run, what: str, label: str, icon: str, content: str | Callable, file: str, mime: str, help: str, ready: bool = True
) -> None:
    """content: the file's, or what makes it when it is asked for."""
    st.download_button(
        label, content if ready else b"", file, mime, key=f"export_{what}_{run.id}", icon=f":material/{icon}:",
        disabled=not ready, help=help, on_click="ignore", width="stretch",
    )  # fmt: skip
