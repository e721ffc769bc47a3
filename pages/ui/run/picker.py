"""The run picker: one choice of run that stays with the reader from page to page, in the URL as `?run=`.

A page that can show nothing of that run opens with the newest of which it can. The choice stands: the next page that
can show it does.
"""

from contextlib import suppress
from difflib import get_close_matches

import streamlit as st

from data import DataError, catalogue
from pages.ui.kit import parameters, roles, state, text, view, ways, words
from pages.ui.kit.ways import button
from svmcore.lab import jobs
from svmcore.lab.store import runs, titles
from svmcore.lab.tasks import task_of

OF_ANSWERS = {"errors", "support_vectors", "labels"}  # pages that show what a machine says of examples
PERIOD = 2.0  # seconds between two looks at the state
ALIKE = 0.85  # of two ids, from which on one may be the other with a slip of the hand
CUT = 26  # characters of a name from which on the sidebar cuts it

# state of a run -> icon, colour
STATES = {
    "queued": (":material/schedule:", "gray"),
    "running": (":material/progress_activity:", "blue"),
    "paused": (":material/pause:", "orange"),
    "done": (":material/check:", "green"),
    "failed": (":material/error:", "red"),
    "cancelled": (":material/stop:", "gray"),
    "interrupted": (":material/power_off:", "orange"),
    "damaged": (":material/broken_image:", "red"),
}


def no_pictures(run: runs.Run) -> str:
    """Why a run's machine has nothing to say of pictures; empty if it has."""
    if run.damage:
        return "it is damaged"
    task = task_of(run.recipe)
    if not task.answers:
        return f"it {task.does}"
    try:
        shape = catalogue.entry(run.recipe.dataset).shape
    except DataError:
        return "its dataset was deleted"
    return "its examples are not images" if len(shape) == 1 else ""


def badge(name: str):
    """The state of a run as a small coloured label."""
    icon, colour = STATES[name]
    st.badge(name, icon=icon, color=colour)


def heading(run):
    """The title of a run with its state beside it; the row that they stand in."""
    row = st.container(horizontal=True, vertical_alignment="center")
    with row:
        st.subheader(words.plain(run.title), width="content")
        badge(jobs.status(run.id).state)
    return row


def ways_to(page: str, those, icon: str, told=lambda run: words.when(run.created)) -> None:
    """Links that open these runs on a page, each named by the run's title and `told(run)`."""
    for run in those:
        label = words.plain(f"{words.short(run.title, 70)} · {told(run)}")
        ways.to(page, label, icon, {"run": run.id}, help="Opens this run.")


def run_picker(place, page: str):
    """Draw the picker into its place; afterwards `st.session_state.run` holds the id, or None in an empty store.

    page: the name of the page's file. Runs that were started together are one entry, which opens into a second choice
    below it.
    """
    found = runs.everything()
    known = {run.id: run for run in found}
    before = current = st.session_state.get("run")
    asked = parameters.asked("run", ["run"])
    if asked:
        current = asked["run"][-1]
    missing = ""
    if current and current not in known:
        if current != before:
            near = [f"{words.plain(known[one].title)} ({one})" for one in get_close_matches(current, known, 2, ALIKE)]
            missing = f"There is no run {words.plain(words.short(current))} here: it was deleted, or made on another "
            missing += f"computer.{' Runs with a similar id: ' * bool(near)}{'; '.join(near)}"
            missing = missing if roles.teacher() else "The teacher does not show this run to the class."
        elif current not in st.session_state.get("deleted", ((),))[0]:
            st.warning("The run shown here was deleted meanwhile.", icon=":material/link_off:")
        asked = {}  # so that the newest for this page is shown
    if not known:
        st.session_state.pop("run", None)
        if missing:
            st.warning(missing, icon=parameters.LINK_OFF)
        place.caption("No runs yet. Train one." if roles.teacher() else "The teacher shows no run yet.")
        return
    current = current if current in known else at_first(found)
    picked = asked or current != st.session_state.get("run_shown")
    chosen = current if picked else st.session_state.get("run_chosen")
    chosen = chosen if chosen in known else current
    if st.session_state.get("run_page") != page and not asked:
        current = chosen if fits(known[chosen], page) else newest_that_fits(found, page) or chosen
    st.session_state.update(run=current, run_shown=current, run_chosen=chosen, run_page=page)
    with place:
        _choose(titles.folded(found), current)
        _at_work(current)
        if chosen != current:
            st.caption("The newest run for this page.", help=f"Other pages show {words.plain(known[chosen].title)}.")
    if missing:
        st.session_state["run_missing"] = missing, current, page
    text, *instead = st.session_state.get("run_missing", [""])
    if text and instead == [current, page]:  # until another run or page is chosen: a page may begin itself anew
        st.warning(text, icon=parameters.LINK_OFF)
    parameters.write("run", ["run"], {"run": current})
    damage(runs.get(current))


def _at_work(run_id: str) -> None:
    """The state of the run shown, and how many others run or wait; polled until nothing is running."""

    def draw():
        badge(jobs.status(run_id).state)
        if others := sum(other != run_id for other in jobs.active()):
            ways.to("runs", f"{others} more in the queue", "low_priority")

    state.watch(None, lambda: None, draw, PERIOD if jobs.active() else None)


def fits(run, page: str) -> bool:
    """Whether a page has something to show of a run, now or when it is done."""
    if run.damage or page not in (OF_ANSWERS | view.homes()):
        return True
    if page not in OF_ANSWERS:
        return view.home_of(run.recipe).page == page
    return task_of(run.recipe).answers and (run.state in ("done", *runs.ACTIVE) or run.result is not None)


def newest_that_fits(found, page: str) -> str | None:
    """Id of the newest run, done or else at work, that a page can show."""
    able = [run for run in found if not run.damage and fits(run, page)]
    return at_first([run for run in able if run.state == "done"] or able) if able else None


def at_first(found) -> str:
    """Id of the run that a visit begins with where nobody has asked for one: the newest that was started for its own
    sake, and not together with others, beside another one or to be compared with it."""
    own = (run for run in found if not (run.damage or run.group or run.parent))
    return (next(own, None) or next((run for run in found if not run.damage), found[0])).id


def _choose(entries, run_id: str):
    """The choice of an entry, and where it is of several runs, of one of these."""
    mine = next(entry for entry in entries if any(run.id == run_id for run in entry.runs))
    named = titles.of_entries(entries)
    brief = text.apart(named.values(), CUT)
    key = _key("run_entry", mine.key)
    ids = {entry.key: entry.runs[-1].id for entry in entries}  # a group opens with its first run
    st.selectbox(
        "Run shown on every page",
        list(named),
        list(named).index(mine.key),
        format_func=lambda of: brief[named[of]],
        key=key,
        on_change=_take,
        args=(key, mine.key, ids),
        help="The address contains the run's id, so a copied link opens the same run. Runs started "
        "together share an entry.",
    )
    if len(named[mine.key]) > CUT:
        st.caption(words.plain(named[mine.key]))
    if mine.group:
        inside = titles.of_members(mine.runs)
        members = list(reversed(inside))
        key = _key("run_member", run_id)
        st.selectbox(
            f"One of these {len(inside)} runs", members, members.index(run_id), format_func=inside.get, key=key,
            on_change=_take, args=(key, run_id, dict(zip(members, members, strict=True))),
            help="These runs were started together. Each label shows how its run differs from the others.",
        )  # fmt: skip


def _key(name: str, shown: str) -> str:
    """The key of a list that shows `shown`: another one where that has changed by no choice in the list. What a browser
    that has not drawn the change yet still sends is of the list of before."""
    number, drawn = st.session_state.get(f"{name}_drawn", (0, shown))
    if st.session_state.get(f"{name}_{number}", drawn) != shown:
        number += 1
    st.session_state[f"{name}_drawn"] = number, shown
    return f"{name}_{number}"


def _take(key: str, shown: str, ids: dict[str, str]):
    """Callback: show the run that was chosen in a list that showed another one."""
    if (chosen := st.session_state[key]) != shown:
        st.session_state["run"] = ids.get(chosen, st.session_state.get("run"))


def damage(run, key: str = "picker"):
    """What is wrong with a damaged run, and the way to be rid of it."""
    if not run.damage:
        return
    st.error(words.plain(run.damage), title="This run is damaged", icon=":material/broken_image:")
    help = "Moves the run to the trash; undo this on the Runs page. A repaired file restores the run."
    button("Delete this run", "delete", f"delete_damaged_{key}", delete, run, help=help)


def delete(*chosen):
    """Callback: move runs to the trash, with an offer to undo; those at work stay and are named."""
    names = {}
    for run in chosen:
        with suppress(runs.UnknownRun):
            names[run.id] = run.title
    gone = runs.delete(chosen)
    refused = {run_id: why for run_id, why in gone.refused.items() if why != runs.GONE}  # second clicks, other tabs
    if refused:
        kept = "; ".join(f"{names[run_id]}: {why}" for run_id, why in list(refused.items())[:3])
        more = f" and {len(refused) - 3} more" if len(refused) > 3 else ""
        state.tell_later(f":material/block: Not deleted: {words.plain(kept)}{more}")
    if gone.ids:
        st.session_state["deleted"] = gone.ids, names[gone.ids[0]], st.session_state.get("run")
