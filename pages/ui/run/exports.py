"""What a run can be taken away as: a report, its recipe, its machine, what it said of the test examples, and a script
that repeats it."""

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from pages.ui.kit import words
from pages.ui.run.report import sheet
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import export, pipeline


def buttons(run):
    """One download button for each form; those that need a finished run are greyed out before."""
    done = run.state == "done"
    _button(
        run, "report", "Report (HTML)", "description", lambda: sheet.report(run), f"{run.id}.html", "text/html",
        "Recipe, data, result, figures, errors and script in one HTML file that opens anywhere and prints.",
    )  # fmt: skip
    _button(
        run, "recipe", "Recipe (JSON)", "data_object", json.dumps(run.recipe.to_dict(), indent=2), f"{run.id}.json",
        "application/json", "All settings of the run; `python -m svmcore run` repeats it by name.",
    )  # fmt: skip
    machine(run)
    for table, (title, help) in task_of(run.recipe).tables.items():
        file, content = f"{run.id}-{table}.csv", partial(run.table, table)
        _button(run, table, f"{title} (CSV)", "table", content, file, "text/csv", help, done)
    _button(
        run, "script", "Script (Python)", "code", run.export_snippet(), f"{run.id}.py",
        "text/x-python", "A short script that repeats the run without the app, with its requirements.",
    )  # fmt: skip
    _button(
        run, "pipeline", "scikit-learn (zip)", "package_2", run.export_pipeline, f"{run.id}.zip", "application/zip",
        "A script that trains the same machine with scikit-learn alone, and the examples it reads.",
        done, pipeline.obstacle(run.recipe),
    )  # fmt: skip


def machine(run, reasons=None):
    """The machine as a file, for this library and for others; why it cannot be had in a form stands below the button,
    or in the container `reasons`, where the buttons stand in a row."""
    _button(
        run, "model", "Machine (npz)", "scatter_plot", (run.path / "model.npz").read_bytes, f"{run.id}.npz",
        "application/octet-stream", "Support vectors, coefficients and kernel; load it with `svmcore.load`.",
        run.state == "done",
    )  # fmt: skip
    _button(
        run, "onnx", "Machine (ONNX)", "deployed_code", run.export_onnx, f"{run.id}.onnx", "application/octet-stream",
        "The machine with its preprocessing, for onnxruntime: X in, label and decision value out. It is checked "
        f"against the machine on up to {export.CHECKED:,} test examples before the download.",
        run.state == "done", export.onnx_obstacle(run.recipe), reasons,
    )  # fmt: skip


def _button(
    run,
    what: str,
    label: str,
    icon: str,
    content: str | Callable,
    file: str,
    mime: str,
    help: str,
    ready: bool = True,
    why: str = "",
    reasons=None,
) -> None:
    """content: the file's, or what makes it when it is asked for; why: this run cannot be had in this form, said below
    the button, or in the container `reasons`."""
    ready = ready and not why
    with st.container():
        st.download_button(
            label, content if ready else b"", file, mime, key=f"export_{what}_{run.id}", icon=f":material/{icon}:",
            disabled=not ready, help=words.plain(why) or help, on_click="ignore", width="stretch",
        )  # fmt: skip
        if why:
            (reasons or st).caption(words.plain(f"{label}: {why}."))
