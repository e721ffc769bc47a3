"""What a run can be taken away as: its recipe, its machine, its errors, and a script that repeats it."""

import json

import streamlit as st


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
        run.table if done else "",
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
        run.export_snippet(),
        f"{run.recipe.name.replace('-', '_')}.py",
        "text/x-python",
        key=f"export_script_{run.id}",
        icon=":material/code:",
        help="A few lines that repeat the run without the app.",
        **options,
    )
