"""What a run can be taken away as: a report, its recipe, its machine, what it said of the test examples, and a script
that repeats it."""

import json
import threading
from collections.abc import Callable
from functools import cache, partial

import streamlit as st

from data import DataError
from pages.ui.kit import state, words
from pages.ui.run.report import sheet
from svmcore.lab.registry.tasks import task_of
from svmcore.lab.store import export, pipeline


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
    _button(
        run, "pipeline", "scikit-learn (zip)", "package_2", run.export_pipeline, f"{run.id}.zip", "application/zip",
        "A script by which scikit-learn alone trains the same machine, and the examples that it reads.",
        done, pipeline.obstacle(run.recipe),
    )  # fmt: skip


def machine(run):
    """The machine as a file, for this library and for others."""
    _button(
        run, "model", "Machine (npz)", "scatter_plot", (run.path / "model.npz").read_bytes, f"{run.id}.npz",
        "application/octet-stream", "Support vectors, coefficients and kernel; `svmcore.load` reads it.",
        run.state == "done",
    )  # fmt: skip
    _button(
        run, "onnx", "Machine (ONNX)", "deployed_code", run.export_onnx, f"{run.id}.onnx", "application/octet-stream",
        "The machine with its preparation, for onnxruntime: X in, label and decision out. It is compared with the "
        f"machine on up to {export.CHECKED:,} test examples before you have it.",
        run.state == "done", export.onnx_obstacle(run.recipe),
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
) -> None:
    """content: the file's, or what makes it when it is asked for; why: this run cannot be had in this form."""
    ready, at_click = ready and not why, "ignore"
    if ready and callable(content):
        content = _once(content)
        at_click = partial(_say_why_not, content, label)
    with st.container():
        st.download_button(
            label, content if ready else b"", file, mime, key=f"export_{what}_{run.id}", icon=f":material/{icon}:",
            disabled=not ready, help=words.plain(why) or help, on_click=at_click, width="stretch",
        )  # fmt: skip
        if why:
            st.caption(words.plain(f"{label}: {why}."))


def _once(make: Callable) -> Callable:
    """What makes a file, once for the two that ask: the browser, and the callback that says why it is not there."""
    made, lock = cache(make), threading.Lock()

    def content():
        with lock:
            return made()

    return content


@state.callback
def _say_why_not(content: Callable, label: str) -> None:
    """Callback: the browser says no more than that a file could not be made; why, is said here."""
    try:
        content()
    except (ValueError, ImportError, OSError, DataError) as error:
        state.tell_later(f":material/error: {label} was not made. {words.plain(error)}")
