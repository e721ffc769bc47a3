"""One run on the Train page: live while it is at work, and what became of it once it has ended.

The job's thread publishes progress and pictures; what is drawn here only reads them.
"""

from datetime import UTC, datetime, timedelta

import numpy as np
import streamlit as st

from data import DataError, load
from pages.ui.example import evidence, plane
from pages.ui.figures import curves
from pages.ui.figures.frame import show
from pages.ui.kit import gallery, parameters, present, state, words
from pages.ui.recipe import config
from pages.ui.run import card, hint, line, picker, polling, reduction, snapshots, trained
from svmcore.lab import jobs
from svmcore.lab.store import runs

TOP = 42  # support vectors, and errors, shown at a time
AT_WORK = "the one at work"
YOUNG = timedelta(seconds=1)  # age of a run that takes no orders yet: a hurried second click on Start is not one
ENDINGS = {  # state -> (how it is said, icon)
    "failed": ("This run failed", ":material/error:"),
    "cancelled": ("This run was cancelled", ":material/stop:"),
    "interrupted": ("This run was interrupted", ":material/power_off:"),
}
ADVICE = {
    "failed": "Everything else is as it was. Change what the message names, or start it again.",
    "cancelled": "Start it again to go the whole way.",
    "interrupted": "The program ended while it was at work. Start it again to go the whole way.",
}


def watch(run):
    """Draw the run in its present state, and keep drawing while it is at work."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.subheader(words.plain(run.title), width="content")
        picker.badge(jobs.status(run.id).state)
    st.caption(words.summary(run.recipe))
    polling.poll(run.id, lambda status: _orders(run, status))
    line.panel(run)  # below, where no Start has been
    polling.poll(run.id, lambda status: _draw(run, status))


def _orders(run, status):
    if status.state in runs.ACTIVE:
        controls(run, status)
    elif status.state != "done":
        ended(run, status)


def _draw(run, status):
    if status.state == "done":
        _done(run)
    progress = run.progress()
    reduces = reduction.reduces(run)
    if status.progress:
        (reduction.numbers if reduces else _numbers)(run, status.progress, status)
    elif status.state == "queued":
        st.info(line.place(status), icon=":material/schedule:")
    elif status.state == "paused":
        st.info("Paused before the first numbers: the examples are being prepared.", icon=":material/pause:")
    elif status.state in runs.ACTIVE:
        st.skeleton(height=240)
    if progress and reduces:
        reduction.curves(run, progress, "watch")
    elif progress:
        _curves(run, progress)
    if not reduces or status.state == "done":
        _pictures(run, status)


def controls(run, status):
    """What the run is doing; pause and cancel, at the right, where no Start has been."""
    paused = status.state == "paused"
    young = datetime.now(UTC) - datetime.fromisoformat(run.created) < YOUNG
    takes_none = young and not paused
    with st.container(horizontal=True, vertical_alignment="center"):
        if status.message and status.state != "queued":
            st.caption(words.plain(status.message), width="content")
        st.space("stretch")
        st.button(
            "Resume" if paused else "Pause",
            icon=":material/play_arrow:" if paused else ":material/pause:",
            key="pause",
            on_click=_order,
            args=(jobs.resume if paused else jobs.pause, run.id),
            disabled=takes_none or status.state == "queued",
            help="The solver stands still between two bursts and keeps what it has.",
        )
        st.button(
            "Cancel",
            icon=":material/stop:",
            key="cancel",
            on_click=_order,
            args=(jobs.cancel, run.id),
            disabled=takes_none,
            help="Stop now. The run stays in the list with what it had.",
        )


@state.callback
def _order(action, run_id):
    action(run_id)


def _done(run):
    with st.container(border=True):
        st.markdown(f"#### {words.error_rate(run.result)}")
        st.caption(words.outcome(run.result))
        if strategy := run.result.get("strategy"):
            st.caption(f"Kernel values: {words.plain(strategy)}.")
        if ending := run.result.get("ending"):
            st.warning(words.plain(ending), title="Not at tol", icon=":material/rule:")
        if check := run.result.get("validation"):
            st.caption(f"On {len(check['folds'])} folds of the training set: {words.error_rate(check)}.")
        with st.container(horizontal=True):
            looks = {"support_vectors": "See its support vectors", "errors": "See its errors"}
            if reduction.reduces(run):
                looks = {"reduced": "See what the reduction changed"} | looks
            if "roles" in run.result:  # of its training examples
                looks["cross_training"] = "See what it threw away"
            for page, label in ({"detect": "See what it finds"} if run.recipe.task == "detect" else looks).items():
                st.page_link(
                    f"pages/{page}.py",
                    label=label,
                    icon=":material/arrow_forward:",
                    icon_position="right",
                    query_params={"run": run.id} | ({"cross_view": "A run"} if page == "cross_training" else {}),
                )
            card.to_compare(run)
    hint.hint(run)


def ended(run, status):
    """Why the run ended early, and a way to start it again."""
    title, icon = ENDINGS[status.state]
    box = st.error if status.state == "failed" else st.warning
    kept = " What it had found until then is drawn below." if status.progress else ""
    box(words.plain(status.message) or ADVICE[status.state] + kept, title=title, icon=icon)
    with st.container(horizontal=True, vertical_alignment="center"):
        st.button(
            "Start it again",
            icon=":material/replay:",
            key="again",
            on_click=config.start,
            args=(run.recipe,),
            help="The same recipe, as a new run.",
        )
        if config.fits(run):
            st.button(
                "Change its recipe",
                icon=":material/edit:",
                key="change",
                on_click=config.unfold,
                args=(run,),
                help="Opens the form as this run was asked.",
            )
        if status.message:
            st.caption(ADVICE[status.state] + kept, width="content")


def _numbers(run, last, status):
    left = "–" if status.eta_seconds is None else words.duration(status.eta_seconds)
    seconds = words.training_seconds(run.result) if status.state == "done" else last["seconds"]
    shown = {
        "Mean gap" if len(last.get("gaps", ())) > 1 else "KKT gap": f"{curves.mean_gap(last):.2g}",
        "Alphas above 0" if len(last.get("gaps", ())) > 1 else "Support vectors": f"{last['n_sv']:,}",
        "At C": f"{last['n_bound']:,}",
        "Kernel values": words.count(last["kernel_evals"]),
        "Time": words.duration(seconds),
    }
    if status.state in runs.ACTIVE:
        shown["Time left"] = left
    with st.grid(len(shown), min_column_width=present.scaled(100)):
        for label, value in shown.items():
            st.metric(label, value)
    told = {"compile_seconds": 0.0} if status.state == "done" else {}  # by the result, of the whole run
    if beside := words.beside(last | told):
        st.caption(f"Not in the time: {beside}.")


def _curves(run, progress):
    drawn = {
        "gap": curves.gap_curve(progress, run.recipe.tol, _classes(run)),
        "dual": curves.dual_curve(progress),
        "sv": curves.sv_curve(progress),
    }
    grid = st.grid(3, min_column_width=200)
    places = present.parts(("Gap", "Dual objective", "Support vectors"), [grid.cell() for _ in drawn])
    for (name, figure), place in zip(drawn.items(), places, strict=True):
        with place:
            show(figure, key=f"watch_{name}")


def _classes(run):
    """Names of the run's classes, as far as its data set is there to tell."""
    if run.recipe.task == "detect":
        return []
    try:
        return snapshots.classes(run)
    except DataError:
        return []


def _pictures(run, status):
    """Points of the plane with the machine's regions; or the largest alphas of one machine, and the errors."""
    live, done = status.live, status.state == "done"
    if run.recipe.task == "detect":
        if not done:
            trained.to_detect(run)
        return
    try:
        evidence.data_of(run)
    except DataError as error:
        st.caption(f":material/hide_image: No pictures. {words.plain(error)}")
        return
    if plane.is_plane(run):
        machine = run.machine() if done else plane.machine_of(run, live.whole) if live else None
        if machine is not None or run.progress():
            plane.plane(run, machine, key="plane")
    elif done or (live and len(live.top[0][0])):
        if not reduction.reduces(run):  # whose vectors are no examples: the page Reduced sets shows them
            _largest(run, live, done)
        _wrong(run, live, done)


def _largest(run, live, done):
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown("**Support vectors with the largest alpha**", width="content")
        machine = run.machine() if done else None
        names = evidence.machine_names(run, machine) if done else _machine_names(run, live)
        c = _chosen_machine(names, None if done else live.machine)
    shown = evidence.supports(run, machine, c) if done else snapshots.at_work(run, live, c)
    forms = None if done else live.top[c].forms[:TOP]
    snapshots.support_vectors(run.recipe.dataset, evidence.take(shown, slice(TOP)), key="live_sv", forms=forms)
    summed = forms is not None and (forms > 1).any()
    rings = gallery.VIRTUAL_RINGS if shown.virtual.any() else gallery.RINGS
    st.caption(
        f"Class above, alpha below. {rings}; {gallery.SIDES}."
        + (f" {evidence.SWAPPED}." if any(shown.given) else "")
        + (
            " Σ: summed over the forms of one example that are support vectors, each with an alpha of at most "
            f"C = {run.recipe.C:g}."
            if summed
            else ""
        )
    )


def _chosen_machine(names, at_work):
    """Number of the machine that the reader chose; until then the one at work, or the first of a run that is done."""
    if len(names) == 1:
        return 0
    choices = names if at_work is None else [AT_WORK, *names]
    name = parameters.choice(
        "machine",
        "Machine",
        choices,
        widget="selectbox",
        label_visibility="collapsed",
        width=present.scaled(190),
        help="One machine for each class: that class (blue) against all the others (orange).",
    )
    if name != AT_WORK:
        return names.index(name)
    st.markdown(f"now {words.plain(names[at_work])}", width="content")
    return at_work


def _machine_names(run, live):
    names = snapshots.classes(run)
    return [f"{name} against the rest" for name in names] if len(live.top) > 1 else names[-1:]


def _wrong(run, live, done):
    if done:
        test = run.test()
        wrong = np.flatnonzero(test.y_true != test.y_pred)
        found = test.split, test.index[wrong], test.y_true[wrong], test.y_pred[wrong]
        st.markdown(f"**Wrong** ({len(wrong):,})")
    else:
        split = "test" if len(load(run.recipe.dataset).y_test) else "train"
        found = split, live.test_index, live.y_true, live.y_pred
        st.markdown(f"**Wrong now:** {live.n_errors:,} of a sample of {live.n_sample:,} test examples")
    split, *arrays = found
    if len(arrays[0]):
        snapshots.errors(run.recipe.dataset, split, *(a[:TOP] for a in arrays), key="live_errors")
        st.caption("Upper right: true → predicted class; lower left: the number in the data set. Click one to see why.")
