"""What a run can be taken away as: a report, its recipe, its machine, what it said of the test examples, and a script
that repeats it."""

import json

import streamlit as st

from pages.ui.run.report import sheet
from svmcore.lab.registry.tasks import task_of


def buttons(run):
    """One download button for each form; those that need a finished run are greyed out before."""
    done = run.state == "done"
    options = {"on_click": "ignore", "width": "stretch"}
    st.download_button(
        "Report (HTML)",
        lambda: sheet.report(run),
        f"{run.id}.html",
        "text/html",
        key=f"export_report_{run.id}",
        icon=":material/description:",
        help="Recipe, data, result, figures, wrong answers and script in one file, which opens anywhere and prints.",
        **options,
    )
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
    for name, (title, help) in task_of(run.recipe).tables.items():
        st.download_button(
            f"{title} (CSV)",
            (lambda name=name: run.table(name)) if done else "",
            f"{run.id}-{name}.csv",
            "text/csv",
            key=f"export_{name}_{run.id}",
            icon=":material/table:",
            disabled=not done,
            help=help,
            **options,
        )
    st.download_button(
        "Script (Python)",
        run.export_snippet(),
        f"{run.recipe.name.replace('-', '_')}.py",
        "text/x-python",
        key=f"export_script_{run.id}",
        icon=":material/code:",
        help="A few lines that repeat the run without the app, and what they need.",
        **options,
    )
