"""Runs: every run of the store; rename, export, delete with undo, and the way to compare several."""

import streamlit as st

from pages.ui.kit import state, words
from pages.ui.recipe import config
from pages.ui.run import card, exports, picker
from svmcore.lab.recipe.recipe import RecipeError
from svmcore.lab.store import runs

MOST = 6  # runs that are compared at a time
COLUMNS = {
    "Wrong": st.column_config.NumberColumn("Wrong, %", format="%.2f", help="Share of the test examples."),
    "SVs": st.column_config.NumberColumn(format="localized", help="Distinct support vectors of all machines."),
    "Fit": st.column_config.NumberColumn("Fit, s", format="%.1f"),
    "Parent": st.column_config.TextColumn("Grew out of", help="The run that it is a variation of, if of one."),
}


def row(run, store):
    if run.damage:
        return {"Run": run.title, "State": picker.STATES["damaged"][2], "When": words.when(run.created)}
    recipe, result = run.recipe, run.result or {}
    return {
        "Run": run.title,
        "State": picker.STATES[run.state][2],
        "Wrong": 100 * result["error_rate"] if "error_rate" in result else None,
        "SVs": result.get("n_union"),
        "Data set": recipe.dataset,
        "Kernel": recipe.kernel.brief,
        "C": recipe.C,
        "Method": recipe.method,
        "Fit": words.training_seconds(result) if result else None,
        "Parent": parent_name(run, store),
        "When": words.when(run.created),
    }


def parent_name(run, store):
    """What the table says of the run that it grew out of."""
    if run.parent is None:
        return None
    return store[run.parent].title if run.parent in store else "a run that is gone"


def pick_rows(ids):
    """Callback: look at the runs ticked in the table, the oldest first, since that is what the others grew out of."""
    rows = st.session_state["runs_table"].selection.rows
    st.session_state["compare"] = sorted(ids[r] for r in rows)[:MOST]


def undo(run_id):
    del st.session_state["deleted"]
    runs.restore(run_id)
    st.session_state["run"], st.session_state["compare"] = run_id, [run_id]


def rename(run):
    try:
        run.rename(st.session_state[f"title_{run.id}"])
    except RecipeError as error:
        state.tell_later(f":material/block: {words.plain(error)}")


def actions(run):
    """What can be done with one run, in a row that wraps."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input(
            "Name", run.title, key=f"title_{run.id}", max_chars=120, on_change=rename, args=(run,), width=360,
            help="Press Enter to rename the run.",
        )  # fmt: skip
        with st.popover("Export", icon=":material/download:"):
            exports.buttons(run)
        if st.button(
            "Train a variation",
            icon=":material/tune:",
            key=f"variation_{run.id}",
            help="Opens the form with this run's recipe.",
        ):
            page = "pages/train.py" if run.recipe.task not in config.ELSEWHERE else "pages/detect.py"
            st.switch_page(page, query_params=config.link(run.recipe) | {"run": run.id})
        st.button(
            "Delete",
            icon=":material/delete:",
            key=f"delete_{run.id}",
            on_click=picker.delete,
            args=(run,),
            disabled=run.state in runs.ACTIVE,
            help="Into the trash, with undo. A run at work must be cancelled first.",
        )


st.title("Runs")
store = {run.id: run for run in runs.everything()}

if deleted := st.session_state.get("deleted"):
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f":material/delete: Deleted *{words.plain(deleted[1])}*.", width="content")
        st.button(
            "Undo", icon=":material/undo:", key="undo", on_click=undo, args=(deleted[0],), help="Back from the trash."
        )
if not store:
    st.info("Start one on the Train page; it will be kept here.", title="No runs yet", icon=":material/inbox:")
    st.stop()

st.dataframe(
    [row(run, store) for run in store.values()],
    hide_index=True,
    column_config=COLUMNS,
    key="runs_table",
    on_select=lambda: pick_rows(list(store)),
    placeholder="–",
    alt="All runs with their data set, kernel, C, error rate, support vectors and training time",
)
if asked := state.asked("compare", ["compare"]).get("compare"):
    if unknown := [run_id for run_id in asked if run_id not in store]:
        st.warning(f"There is no run {words.plain(unknown[0])} here to look at.", icon=":material/link_off:")
    st.session_state["compare"] = asked[:MOST]
st.session_state.setdefault("compare", [st.session_state["run"]])
st.session_state["compare"] = [run_id for run_id in st.session_state["compare"] if run_id in store]
chosen = st.multiselect(
    "Look at",
    list(store),
    format_func=picker.labels(list(store.values())).get,
    max_selections=MOST,
    placeholder="one run, or several to compare",
    key="compare",
    help="Tick rows in the table, or choose here. The first of several is the one that the others are compared with.",
)
state.write("compare", ["compare"], {"compare": chosen})
if len(chosen) > 1 and st.button(
    f"Compare these {len(chosen)} runs",
    type="primary",
    icon=":material/compare:",
    key="to_compare",
    help="What one fixes and what it breaks of another, with the examples.",
):
    st.switch_page("pages/compare.py", query_params={"run": st.session_state["run"], "compare": chosen})
for run_id in chosen:
    run = store[run_id]
    if run.damage:
        if run_id != st.session_state["run"]:  # of that one the picker has told
            picker.damage(run, run_id)
        continue
    with st.container(border=len(chosen) > 1):
        card.headline(run)
        if len(chosen) == 1:
            card.to_compare(run)
            actions(run)
            card.course(run)
