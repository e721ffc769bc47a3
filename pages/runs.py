"""Runs: every run of the store, filtered and folded; show one, and rename, tag, export, compare or delete them.

The cluster where it can be seen: its workers, what each does, and a way to train here instead, and back.

There is nothing to see in an app that was started without one (svmcore/lab/jobs/cluster.py says why).
"""

from contextlib import suppress

import streamlit as st

from pages.runs import listed
from pages.ui.kit import numbers, parameters, present, state, words
from pages.ui.kit.ways import button
from pages.ui.recipe import config
from pages.ui.run import card, polling, queue
from pages.ui.run.queue import PERIOD
from pages.ui.run.trained import nothing
from svmcore.lab import jobs
from svmcore.lab.jobs.cluster import CLUSTER, ON_REQUEST, ClusterError, Worker
from svmcore.lab.methods import METHODS
from svmcore.lab.store import runs, titles
from svmcore.lab.store.reading import STATES


def cluster_panel() -> None:
    """The cluster of this app, if it was started with one."""
    if not CLUSTER.named or present.presenting():
        return
    if not CLUSTER.trouble:  # else whoever has mended it says so
        with suppress(ClusterError):
            CLUSTER.settle()
    workers = CLUSTER.workers()
    named = f"{len(workers)} worker{'' if len(workers) == 1 else 's'}" if CLUSTER.connected else "not connected"
    label = f"Cluster: {named if CLUSTER.address else 'not in use'}"
    with st.expander(label, icon=":material/lan:", key="cluster_panel", expanded=bool(CLUSTER.address)):
        _switch()
        if CLUSTER.connected:
            addresses = lambda: [one.address for one in CLUSTER.workers()]  # noqa: E731
            state.watch([one.address for one in workers], addresses, _workers, PERIOD)
        elif CLUSTER.trouble:
            st.error(words.plain(CLUSTER.trouble), icon=":material/link_off:")


def _switch() -> None:
    with st.container(horizontal=True, vertical_alignment="bottom" if CLUSTER.named == ON_REQUEST else "center"):
        if CLUSTER.named == ON_REQUEST:
            st.text_input(
                "Scheduler", CLUSTER.address, key="cluster_address", placeholder="tcp://host:port",
                help="Address of a dask scheduler. The scheduler and its workers can run any program as you, so use "
                "only your own.",
            )  # fmt: skip
        else:
            st.markdown(words.plain(CLUSTER.named), width="content")
        if CLUSTER.named == ON_REQUEST or not CLUSTER.connected:
            help = "Trains runs on the workers of this scheduler, as many runs at a time as it has workers."
            button("Train on the cluster", "lan", "cluster_use", _use, help=help)
        if CLUSTER.address:
            help = "Trains runs on this computer. Runs that are running on the cluster start again here."
            button("Train on this computer", "computer", "cluster_leave", _leave, help=help)


@state.callback
def _use() -> None:
    asked = st.session_state["cluster_address"].strip() if CLUSTER.named == ON_REQUEST else CLUSTER.named
    try:
        CLUSTER.use(asked)
    except ClusterError as error:
        state.tell_later(f":material/block: {words.plain(error)}")


@state.callback
def _leave() -> None:
    CLUSTER.use("")


def _workers() -> None:
    if CLUSTER.trouble:
        st.warning(words.plain(CLUSTER.trouble), icon=":material/link_off:")
    elif workers := CLUSTER.workers():
        doing = CLUSTER.doing()
        rows = [_row(one, doing.get(one.address, [])) for one in workers]
        alt = "The workers: cores, memory, the runs of each, and differences from this computer"
        numbers.table(rows, alt, "cluster_workers")
    else:
        said = f"No worker yet. Start one on a computer with the lab: `python -m dask worker {CLUSTER.address}`"
        st.info(said, icon=":material/hourglass_empty:")


@runs.one_look()
def _row(one: Worker, ids: list[str]) -> dict[str, str]:
    memory = f"{one.memory_mb:,.0f} MB" + (f" of {one.limit_mb:,.0f}" if one.limit_mb else "")
    others = one.tasks - len(ids)
    does = [_named(run_id) for run_id in ids]
    does += [f"{words.many(others, 'task')} of another app"] if others > 0 and not ids else []
    does = [one.obstacle] if one.obstacle else does
    differs = ", ".join(f"{name} {there} (here {here})" for name, (here, there) in one.differs.items())
    return {
        "Worker": one.name,
        "Cores": one.about.get("Cores", ""),
        "Memory": memory,
        "Running": "; ".join(does) or "nothing",
        "Differs": differs or ("nothing" if one.about else ""),
    }


def _named(run_id: str) -> str:
    title = words.short(runs.get(run_id).title, 40)
    status = jobs.status(run_id)
    return f"{title} ({status.state})" if status.state != "running" else title


def listing(found: list) -> None:
    """The queue, the table of the runs with its filters, and the run that is shown."""
    store = {run.id: run for run in found}
    with st.container():  # there also when nothing is at work: what follows keeps its place in the page
        queue.panel()
    listed.read_address(store.__contains__, {run.group.key for run in found if run.group})
    passing = listed.filtered(found)
    if not passing:
        st.info(
            "Remove a filter to see more runs.", title="No run passes these filters", icon=":material/filter_alt_off:"
        )
    else:
        listed.table(titles.folded(passing), store)
    all_of_them = f"{len(found):,} run{'' if len(found) == 1 else 's'}"
    said = all_of_them if len(passing) == len(found) else f"{len(passing):,} of {all_of_them}"
    st.caption(
        f"{said}. *Show* makes a run the one shown on every page. *Open* unfolds runs that were started together. Tick "
        "rows to compare, tag or delete runs."
    )
    ticked = [store[run_id] for run_id in st.session_state.get("ticked", ()) if run_id in store and passing]
    tags = sorted({tag for run in found for tag in run.tags})
    card.together(ticked)
    polling.poll_all([run.id for run in found if run.state in runs.ACTIVE], lambda statuses: None)  # anew when one ends
    listed.write_address()

    run = store.get(st.session_state.get("run"))
    if run is not None and not run.damage:
        with st.container(border=True):
            card.headline(run)
            card.to_compare(run)
            card.actions(run, tags)
            card.course(run)


parameters.own("find", "tag", "open", data=config.check_dataset, how=METHODS, state=STATES, compare=state.check_run)
cluster_panel()
listed.tell_deleted()
if found := runs.everything():
    listing(found)
else:
    nothing("**No run yet.** Train a machine first; its run appears here.")
