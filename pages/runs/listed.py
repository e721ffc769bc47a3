"""The list of runs: what passes the filters, folded where runs were started together, with ticks for what is done to
several at a time.

Session state: `ticked`, ids of the runs ticked; `opened`, keys of the groups that show their runs. The address has both
(`compare=ID`, `open=KEY`), and the filters under their own names.
"""

import zlib
from collections.abc import Callable, Sequence

import streamlit as st

from pages.ui.kit import parameters, present, state, view, words
from pages.ui.kit.ways import button
from svmcore.lab.methods import METHODS
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Run
from svmcore.lab.store.titles import ListEntry

MAX_ROWS, MAX_HEIGHT = 17, 620  # up to so many the table has them all; pixels of a longer one, which scrolls inside
PRESENTED = 10, 400  # the same while presenting, where rows are larger, so that its end is seen
MANY = 8  # runs from which on there is something to filter
FILTERS = {  # name in the address -> (what a run has of it, what to call one)
    "data": (lambda run: [run.recipe.dataset], titles.data_set),
    "how": (lambda run: [run.recipe.method], lambda name: METHODS[name].title),
    "state": (lambda run: [run.state], str),
    "tag": (lambda run: run.tags, str),
}
FIRST, LAST = (" ", "Run", "State"), ("SVs", "Dataset", "Kernel", "C", "Method", "Fit", "Tags", "Parent", "When")
COLUMNS = {
    "Run": st.column_config.TextColumn(
        width=290, help="Runs that were started together share one line; open it to see them."
    ),
    "SVs": st.column_config.NumberColumn(
        width=72, format="localized", help="Number of distinct support vectors in all machines of the run."
    ),
    "C": st.column_config.NumberColumn(width=68),  # the browser's own would cut 100000
    "Fit": st.column_config.NumberColumn("Fit, s", format="%.1f", help="Training time, without compiling."),
    "Tags": st.column_config.ListColumn(width=110, help="Your own keywords for the run."),
    "Parent": st.column_config.TextColumn("Parent run", help="The run from which this run was derived, if any."),
}


def filtered(found: Sequence[Run]) -> list[Run]:
    """The filters, and the runs that pass all of them; a damaged one has a state, and nothing else."""
    facts = {}
    for run in found:
        known = ("state",) if run.damage else FILTERS
        facts[run.id] = {name: list(of(run)) if name in known else [] for name, (of, _) in FILTERS.items()}
    offered = {name: sorted({value for of in facts.values() for value in of[name]}) for name in FILTERS}
    asked = any(name in st.query_params for name in ("find", *FILTERS))
    if len(found) < MANY and not asked and not any(st.session_state.get(name) for name in ("find", *FILTERS)):
        return list(found)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        sought = parameters.text("runs.find", max_chars=200, icon=":material/search:")
        wanted = {
            name: parameters.several(f"runs.{name}", offered[name], format_func=called)
            for name, (_, called) in FILTERS.items()
        }
    pieces = sought.lower().split()
    return [
        run
        for run in found
        if all(not values or set(values) & set(facts[run.id][name]) for name, values in wanted.items())
        and (not pieces or all(piece in _text(run) for piece in pieces))
    ]


def _text(run: Run) -> str:
    if run.damage:
        return f"{run.title} {run.id} damaged".lower()
    group = run.group.title if run.group else ""
    return " ".join((run.title, group, run.id, run.state, *run.tags, *run.recipe.texts().values())).lower()


def table(entries: Sequence[ListEntry], store: dict[str, Run]) -> None:
    """The list as a table. A row's button shows the run, or opens or folds a group; ticks are stored as `ticked`."""
    opened = st.session_state.setdefault("opened", [])
    rows, ids, doors = [], [], []
    named = titles.of_entries(entries)
    for entry in entries:
        if entry.group is None:
            rows.append(_row(entry.runs[0], named[entry.key], store))
        else:
            rows.append(_group_row(entry, named[entry.key], entry.key in opened))
        ids.append([run.id for run in entry.runs])
        doors.append(entry.key)
        if entry.group is not None and entry.key in opened:
            inside = titles.of_members(entry.runs)
            for run in reversed(entry.runs):
                rows.append(_row(run, f"\u2003{inside[run.id]}", store))
                ids.append([run.id])
                doors.append(run.id)
    ticked = set(st.session_state.get("ticked", ()))
    at_first = [at for at, those in enumerate(ids) if those and ticked.issuperset(those)]
    st.session_state["ticked"] = _ids(ids, at_first)
    key = f"runs_table_{zlib.crc32(repr(doors).encode())}"
    groups = {entry.key for entry in entries if entry.group is not None}
    own = view.columns()
    most, height = PRESENTED if present.presenting() else (MAX_ROWS, MAX_HEIGHT)
    order = [" ", "Run", *own, "SVs", "Fit"] if present.presenting() else [*FIRST, *own, *LAST]  # no scrolling aside
    door = st.column_config.ButtonColumn(
        "", type="tertiary", key="runs_door", on_click=_enter, args=(doors, groups), pinned=True, width=72,
        help="Show this run on every page; expand or collapse runs that were started together.",
    )  # fmt: skip
    st.dataframe(
        rows,
        hide_index=True,
        height="content" if len(rows) <= most else height,
        column_config=COLUMNS | own | {" ": door},
        column_order=order,
        key=key,
        on_select=lambda: _tick(key, ids),
        selection_default={"selection": {"rows": at_first}},
        placeholder="",
        alt="Runs with their dataset, kernel, C, error rate, support vectors and training time",
    )


def _row(run: Run, name: str, store: dict[str, Run]) -> dict:
    shown = run.id == st.session_state.get("run")
    row = {" ": "Shown" if shown else "Show", "Run": name, "State": run.state}
    if run.damage:
        return row | {"When": words.when(run.created)}
    recipe, result = run.recipe, run.result or {}
    return row | {
        **view.row(run),
        "SVs": result.get("n_union"),
        "Dataset": titles.data_set(recipe.dataset),
        "Kernel": recipe.kernel.brief,
        "C": recipe.C,
        "Method": METHODS[recipe.method].short,
        "Fit": words.training_seconds(result) if result else None,
        "Tags": list(run.tags),
        "Parent": run.parent and (store[run.parent].title if run.parent in store else "a deleted run"),
        "When": words.when(run.created),
    }


def _group_row(entry: ListEntry, name: str, is_open: bool) -> dict:
    """What the runs of a group share."""
    states = [run.state for run in entry.runs]
    done = states.count("done")
    row = {
        " ": "Fold" if is_open else "Open",
        "Run": name,
        "State": states[0] if len(set(states)) == 1 else f"{done} of {len(states)} done",
        "When": words.when(entry.runs[-1].created),
    }
    intact = [run for run in entry.runs if not run.damage]
    shared = {
        "Dataset": {titles.data_set(run.recipe.dataset) for run in intact},
        "Kernel": {run.recipe.kernel.brief for run in intact},
        "C": {run.recipe.C for run in intact},
        "Method": {METHODS[run.recipe.method].short for run in intact},
    }
    return row | {column: next(iter(values)) for column, values in shared.items() if len(values) == 1}


def _ids(ids: list[list[str]], rows: Sequence[int]) -> list[str]:
    """The runs of these rows, each once."""
    return list(dict.fromkeys(run_id for row in rows if row < len(ids) for run_id in ids[row]))


def _tick(key: str, ids: list[list[str]]) -> None:
    st.session_state["ticked"] = _ids(ids, st.session_state[key].selection.rows)


def _enter(doors: list[str], groups: set[str]) -> None:
    """Callback of a row's button."""
    row = st.session_state["runs_door"].row
    if row >= len(doors):
        return
    if doors[row] in groups:
        opened = st.session_state["opened"]
        others = [key for key in opened if key != doors[row]]
        st.session_state["opened"] = others if doors[row] in opened else [*opened, doors[row]]
    else:
        st.session_state["run"] = doors[row]


def read_address(known: Callable[[str], bool], groups: set[str]) -> None:
    """Ticks and open groups as the address asks for them; runs that are not here are said."""
    asked = parameters.asked("runs", ("compare", "open"))
    if "compare" in asked:
        wanted = list(dict.fromkeys(asked["compare"]))
        if unknown := [run_id for run_id in wanted if not known(run_id)]:
            said = words.plain(words.short(unknown[0]))
            st.warning(f"There is no run {said} here to tick.", icon=":material/link_off:")
        st.session_state["ticked"] = [run_id for run_id in wanted if known(run_id)]
    if "open" in asked:
        if unknown := [key for key in asked["open"] if key not in groups]:
            st.warning(parameters.refusal("open", unknown[0], groups, show=words.plain), icon=parameters.LINK_OFF)
        st.session_state["opened"] = [key for key in dict.fromkeys(asked["open"]) if key in groups]


def write_address() -> None:
    kept = {"compare": st.session_state.get("ticked", []), "open": st.session_state.get("opened", [])}
    parameters.write("runs", ("compare", "open"), {name: list(values)[:50] for name, values in kept.items()})


def tell_deleted() -> None:
    """What was deleted last, and the way to bring it back."""
    if not (gone := st.session_state.get("deleted")):
        return
    ids, title, _ = gone
    what = f"*{words.plain(title)}*" if len(ids) == 1 else f"{len(ids)} runs"
    with st.container(horizontal=True, vertical_alignment="center", border=True):
        st.markdown(f":material/delete: Deleted {what}.", width="content")
        button("Undo", "undo", "undo", _undo, help="Restores them from the trash.")


def _undo() -> None:
    ids, _, shown = st.session_state.pop("deleted", ((), "", None))  # empty for a second click
    back, lost = [], 0
    for run_id in ids:
        try:
            back.append(runs.restore(run_id).id)
        except (runs.UnknownRun, OSError):
            lost += 1
    if lost:
        state.tell_later(f":material/block: {lost} of {len(ids)} runs could not be restored from the trash.")
    if shown in back:
        st.session_state["run"] = shown
