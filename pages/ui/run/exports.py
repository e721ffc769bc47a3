"""What a run can be exported as: a report, its recipe, its machine, its predictions, and a script that repeats it.

A part of a report that cannot be drawn says why, and the others stand.
"""

import json
from collections.abc import Callable
from functools import partial

import streamlit as st

from data import DataError
from pages.ui.kit import view, ways, words
from pages.ui.kit.text import command
from pages.ui.run.report import marks, sections
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import export, pipeline
from svmcore.lab.store.runs import Damaged, Run
from svmcore.lab.tasks import task_of


def buttons(run):
    """One download button for each form; those that need a finished run are greyed out before."""
    done = run.state == "done"
    _button(
        run, "report", "Report (HTML)", "description", lambda: report(run), f"{run.id}.html",
        "Recipe, data, result, figures, errors and script in one HTML file that opens anywhere and prints.",
    )  # fmt: skip
    _button(
        run, "recipe", "Recipe (JSON)", "data_object", json.dumps(run.recipe.to_dict(), indent=2), f"{run.id}.json",
        f"All settings of the run. If its recipe is listed, `{command('svmcore')} run` repeats it by name.",
    )  # fmt: skip
    machine(run)
    for table, (title, help) in task_of(run.recipe).tables.items():
        file, content = f"{run.id}-{table}.csv", partial(run.table, table)
        _button(run, table, f"{title} (CSV)", "table", content, file, help, done)
    _button(
        run, "script", "Script (Python)", "code", run.export_snippet(), f"{run.id}.py",
        "A short script that repeats the run without the app. Its header lists what it needs.",
    )  # fmt: skip
    _button(
        run, "pipeline", "scikit-learn (zip)", "package_2", run.export_pipeline, f"{run.id}.zip",
        "A script that trains the same machine with scikit-learn alone, and the examples that the script reads.",
        done, pipeline.obstacle(run.recipe),
    )  # fmt: skip


def machine(run, reasons=None):
    """The machine as a file, for this library and for others; why it cannot be had in a form stands below the button,
    or in the container `reasons`, where the buttons stand in a row."""
    _button(
        run, "model", "Machine (npz)", "scatter_plot", (run.path / "model.npz").read_bytes, f"{run.id}.npz",
        "Support vectors, coefficients and kernel; load it with `svmcore.load`.",
        run.state == "done",
    )  # fmt: skip
    _button(
        run, "onnx", "Machine (ONNX)", "deployed_code", run.export_onnx, f"{run.id}.onnx",
        "The machine with its preprocessing, for onnxruntime: it maps X to label and decision value. The file is "
        f"checked against the machine on up to {export.CHECKED:,} test examples before the download.",
        run.state == "done", export.onnx_obstacle(run.recipe), reasons,
    )  # fmt: skip


def _button(
    run, what: str, label: str, icon: str, content: str | Callable, file: str, help: str, ready: bool = True,
    why: str = "", reasons=None,
) -> None:  # fmt: skip
    """content: the file's, or what makes it; why: the reason why there is none, below the button or in `reasons`."""
    ready = ready and not why
    with st.container():
        how = {"help": words.plain(why) or help, "disabled": not ready, "width": "stretch"}
        ways.download(label, icon, f"export_{what}_{run.id}", content if ready else b"", file, **how)
        if why:
            (reasons or st).caption(words.plain(f"{label}: {why}."))


def report(run: Run) -> str:
    """The report as one HTML file. Damaged where even the recipe cannot be read."""
    head = [f"<h1>{marks.text(run.title)}</h1>"]
    asked_at = f"{words.when(run.created)} · run {run.id} · {run.state}"
    head.append(marks.paragraph(asked_at + (f" · {', '.join(run.tags)}" if run.tags else ""), "quiet"))
    if run.result is None:
        head.append(marks.paragraph(run.message or f"The run is {run.state}; there is no result.", "lead"))
    parts = [_safely(run, what, *how) for what, *how in _parts(run)]
    script = (
        marks.paragraph("This script repeats the run; its header lists what it needs."),
        marks.code(run.export_snippet()),
    )
    parts += [marks.section("Repeat this run", *script), _made_with(run)]
    return marks.page(f"{run.title} · Invariant SVM Lab", [*head, *parts])


def _parts(run: Run) -> list[tuple]:
    """(name, what draws it, whether the files of the run must fit each other) of each part."""
    always = [("Recipe", sections.recipe), ("Data", _data), ("Convergence", sections.course)]
    if run.result is None:
        return always
    own = [(name, draw, True) for name, draw in view.together(run.recipe, "report").items()]
    return [("Result", sections.result), *always, *own]


def _safely(run: Run, what: str, draw: Callable[[Run], str], whole: bool = False) -> str:
    try:
        if whole:
            run.check()
        return draw(run)
    except (Damaged, DataError, RecipeError, FileNotFoundError) as error:
        return marks.section(what, marks.paragraph(f"Not shown: {error}"))


def _data(run: Run) -> str:
    name, found = run.recipe.dataset, run.result or {}
    entry = task_of(run.recipe).entry(name)
    known = {"Name": f"{entry.title} ({name})"}
    if found:
        known["Training examples"] = f"{found['n_train']:,}, each of {found['n_features']:,} numbers"
        known["Test examples"] = f"{found['n_test']:,}"
    known |= {"Licence": entry.licence, "Citation": entry.citation, "Source": ", ".join(entry.sources)}
    if found.get("data_hash"):
        known["Content hash"] = found["data_hash"]
    return marks.section("Data", marks.facts({label: value for label, value in known.items() if value}))


def _made_with(run: Run) -> str:
    if made_with := (run.result or {}).get("made_with"):
        return marks.section("Made with", marks.facts(made_with))
    older = "This run is from an older version, which did not store the environment."
    return marks.section("Made with", marks.paragraph(older if run.result else "Not stored: there is no result."))
