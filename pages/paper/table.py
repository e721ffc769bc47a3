"""One table of the paper: in every cell ours with its interval beside the published figure, or what it would take.

A click on an empty cell queues its run; a click on a filled one makes its run the one that every page shows.
"""

from functools import partial

import streamlit as st

from pages.ui.kit import numbers, state, ways, words
from pages.ui.kit.ways import button
from pages.ui.run import polling, stored
from svmcore.lab.analyses.rivals import RIVALS
from svmcore.lab.forecast import seconds_of
from svmcore.lab.jobs.analyses import MEASURED
from svmcore.lab.jobs.background import Busy
from svmcore.lab.papers import Filled, Table, Value, asked, fill, with_interval
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs

RIVAL_STATES = {  # of a measurement -> what its cell says
    "none": "click to measure", "waiting": "waiting", "working": "measuring", "done": "click to measure",
    "stopped": "click to measure", "failed": "failed",
}  # fmt: skip


def draw(table: Table) -> None:
    """The table, a button for each run that is missing, and what to know about it."""
    wanted = [(name, recipe) for name, recipes in asked(table).items() for recipe in recipes]
    found = zip(wanted, runs.stored([recipe for _, recipe in wanted]), strict=True)
    working = {name: run.id for (name, _), run in found if run and run.state in runs.ACTIVE}
    filled = fill(table, samples=True)
    absent = stored.lacking(recipe for recipes in filled.lacking.values() for recipe in recipes)
    needs = {name: recipes[0].dataset for name, recipes in filled.lacking.items() if recipes[0] in absent}
    shown = (value.run_id for row in filled.rows for value in row if value and value.run_id)
    if those := [run for run in map(runs.get, dict.fromkeys(shown)) if run.sample]:
        stored.say_samples(those, "Click a figure, or a button below, to start your own run.")

    def cells(statuses):
        states = {name: f"needs {dataset}" for name, dataset in needs.items()}
        states |= {name: status.state for name, status in zip(working, statuses, strict=True)}
        states |= {name: RIVAL_STATES[state] for name, state in _rivals(table).items()}
        rows = [
            {"": row.label} | dict(zip(table.columns, (_text(value, states) for value in values), strict=True))
            for row, values in zip(table.rows, filled.rows, strict=True)
        ]
        alt = (
            f"{table.title}: our results, with intervals where they have one, and the published ones in square brackets"
        )
        numbers.table(rows, alt, f"table_{table.name}", on_cell=partial(_clicked, filled))

    polling.poll_all(list(working.values()), cells, lambda: _rivals(table))
    st.caption(
        "A cell shows our result, its 95 % interval in parentheses if it has one, and a published result in square "
        "brackets. *About* and a time: the run is not finished yet; click the cell to start it. *Needs* and a dataset: "
        "download this dataset first. Click the result of a run of your own to show this run on every page. "
        f"{table.note}"
    )
    for name in dict.fromkeys(table.rivals):
        if (status := MEASURED.status(name)).state == "failed":
            title = f"{RIVALS[name].title}: not measured"
            st.error(words.plain(status.message), title=title, icon=":material/error:")
    _tests(filled)
    for name in sorted(set(needs.values())):
        ways.to("datasets", f"{name} is not on this computer: download it", "download", {"set": name})
    if missing := [name for name in filled.missing if name not in working and name not in needs]:
        with st.container(horizontal=True):
            for name in missing:
                recipes, help = filled.lacking[name], RECIPES[name].title
                label = f"{name} · {words.duration(seconds_of(recipes))}"
                button(label, "play_arrow", f"run_{name}", stored.queue, recipes, table.group, help=help)


def _rivals(table: Table) -> dict[str, str]:
    """The state of each rival's measurement, by its name."""
    return {name: MEASURED.status(name).state for name in dict.fromkeys(table.rivals)}


def _text(value: Value | None, states: dict[str, str]) -> str:
    """`61 (47–78) [61]`, `about 12 s [61]`, `running [61]`, `needs mnist [61]`, `click to measure [2.4]`."""
    if value is None:
        return ""
    cell, ours = value.cell, value.ours
    parts = []
    if ours is not None:
        parts.append(with_interval(cell.figure, ours))
    elif cell.recipe is not None:
        parts.append(states.get(cell.recipe) or f"about {words.duration(value.seconds)}")
    elif cell.rival is not None:
        parts.append(states[cell.rival])
    if cell.published is not None:
        parts.append(f"[{cell.published:g}]")
    return " ".join(parts)


@state.callback
def _clicked(filled: Filled, row: int, column: str):
    """Callback: queue the run of an empty cell, or show the one behind a figure."""
    columns = filled.table.columns
    value = filled.rows[row][columns.index(column)] if column in columns else None
    if value is not None and value.cell.rival and value.ours is None:
        try:
            MEASURED.start(value.cell.rival)
        except Busy as error:
            state.tell_later(f":material/block: {words.plain(error)}")
        st.rerun()
    if value is None or value.cell.recipe is None:
        return
    if value.run_id and not runs.get(value.run_id).sample:
        st.session_state["run"] = value.run_id
        state.tell_later(f":material/check: Every page now shows *{words.plain(runs.get(value.run_id).title)}*.")
    else:
        stored.queue(filled.lacking[value.cell.recipe], filled.table.group)
    st.rerun()  # the whole page: the table stands in a fragment


def _tests(filled: Filled):
    """Which of the table's differences chance could have made."""
    for tested in filled.tests:
        if tested.outcome:
            only_a, only_b, p, _ = tested.outcome
            st.markdown(
                f"`{tested.a}` alone is wrong on {only_a} test examples, `{tested.b}` alone on {only_b}: "
                f"p = {words.small(p)} (exact McNemar test)."
            )
