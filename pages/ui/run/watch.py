"""One run on the Train page: live while it is at work, and what became of it once it has ended.

The job's thread publishes progress and pictures; what is drawn here only reads them.
"""

from datetime import UTC, datetime, timedelta

import streamlit as st

from pages.ui.figures import curves
from pages.ui.figures.frame import side_by_side
from pages.ui.kit import numbers, present, view, ways, words
from pages.ui.kit.ways import button
from pages.ui.recipe import config, starting
from pages.ui.run import card, picker, polling, queue
from svmcore.lab.methods import METHODS
from svmcore.lab.store import runs

YOUNG = timedelta(seconds=1)  # age of a run that takes no orders yet: a hurried second click on Start is not one
ADVICE = {
    "failed": "Other runs are not affected. Change the setting named in the message, or start this run again.",
    "cancelled": "Start this run again to complete it.",
    "interrupted": "The program ended while the run was active. Start this run again to complete it.",
}
GO_ON = "This run ended early. *Go on* resumes from its last round; *Start it again* starts from the beginning."


def watch(run):
    """Draw the run in its present state, and keep drawing while it is at work."""
    picker.heading(run)
    st.caption(words.summary(run.recipe))
    polling.poll(run.id, lambda status: _orders(run, status))
    queue.panel(run)  # below, where no Start has been
    polling.poll(run.id, lambda status: _draw(run, status))


def _orders(run, status):
    if status.state in runs.ACTIVE:
        controls(run, status)
    elif status.state != "done":
        ended(run, status)


def _draw(run, status):
    figure_first = present.presenting()
    if status.state == "done" and not figure_first:
        _done(run)
    progress = run.progress()
    first, second = st.container(), st.container()
    if status.progress:
        with second if figure_first else first:
            (view.part(run.recipe, "numbers") or _numbers)(run, status.progress, status)
    elif status.state == "queued":
        st.info(queue.place(status), icon=":material/schedule:")
    elif status.state == "paused":
        st.info("The run was paused while preparing its examples. There are no numbers yet.", icon=":material/pause:")
    elif status.state in runs.ACTIVE:
        st.skeleton(height=240)
    if progress:
        with first if figure_first else second:
            (view.part(run.recipe, "curves") or curves_over_time)(run, progress, "watch")
    if status.state == "done" and figure_first:
        _done(run)
    pictures = view.part(run.recipe, "pictures")
    if pictures and (METHODS[run.recipe.method].made or status.state == "done"):
        pictures(run, status)


def controls(run, status):
    """What the run is doing; pause and cancel, at the right, where no Start has been."""
    young = datetime.now(UTC) - datetime.fromisoformat(run.created) < YOUNG
    with st.container(horizontal=True, vertical_alignment="center"):
        if status.message and status.state != "queued":
            st.caption(words.plain(status.message), width="content")
        st.space("stretch")
        queue.hold_and_cancel(run.id, status, ("pause", "cancel"), off=young and status.state != "paused")


def _done(run):
    with st.container(border=True):
        st.markdown(f"#### {words.error_rate(run.result)}")
        st.caption(words.outcome(run.result))
        if strategy := run.result.get("strategy"):
            st.caption(f"Kernel values: {words.plain(strategy)}.")
        if ending := run.result.get("ending"):
            st.warning(words.plain(ending), title="The run did not reach tol", icon=":material/rule:")
        if check := run.result.get("validation"):
            folds = f"Cross-validation on {len(check['folds'])} folds of the training set"
            st.caption(f"{folds}: {words.error_rate(check)}.")
        with st.container(horizontal=True):
            for link in view.links(run):
                ways.link(link.link(run.id), icon=":material/arrow_forward:", icon_position="right")
            card.to_compare(run)
    if hint := view.part(run.recipe, "hint"):
        hint(run)


def ended(run, status):
    """Why the run ended early, and a way to start it again."""
    how = {"title": f"This run {'' if status.state == 'failed' else 'was '}{status.state}"}
    box, how["icon"] = st.error if status.state == "failed" else st.warning, picker.STATES[status.state][0]
    kept = " The results until then are shown below." if status.progress else ""
    advice = (GO_ON if run.broken_off else ADVICE[status.state]) + kept
    box(words.plain(status.message) or advice, **how)
    with st.container(horizontal=True, vertical_alignment="center"):
        if run.broken_off:
            help = "Starts a new run from this one's last saved round. The break does not change the final machine."
            button(
                "Go on", "resume", "go_on", starting.start, run.recipe, run.parent, 1, run.id, help=help, type="primary"
            )
        help = "Starts the same recipe as a new run."
        button("Start it again", "replay", "again", starting.start, run.recipe, help=help)
        if config.fits(run):
            help = "Opens the form with the settings of this run."
            button("Change the recipe", "edit", "change", starting.unfold, run, help=help)
        if status.message:
            st.caption(advice, width="content")


def _numbers(run, last, status):
    """What it holds and has computed: of a run that is done as its result says, as the last look may be at a fold."""
    told, seconds, several, gap = last, last["seconds"], words.machines(last) > 1, curves.mean_gap(last)
    if status.state == "done":
        result = run.result
        told = result | {name: sum(result[name]) for name in ("n_sv", "n_bound")}
        seconds, several = words.training_seconds(result), len(result["n_sv"]) > 1
        gap = gap if several else result["gap"]
        last = last | {"compile_seconds": 0.0}  # told by the result, of the whole run
    shown = {
        "Mean gap" if several else "KKT gap": words.small(gap),
        "Alphas > 0" if several else "Support vectors": f"{told['n_sv']:,}",
        "Bounded (α = C)": f"{told['n_bound']:,}",
        "Kernel evals": words.count(told["kernel_evals"]),
        "Time": words.duration(seconds),
    }
    if status.state in runs.ACTIVE:
        shown |= words.left_metric(status) or {"Time left": "–"}
    numbers.metrics(shown)
    if beside := words.beside(last):
        st.caption(f"Not included in the time: {beside}.")


def curves_over_time(run, progress, key):
    drawn = {
        f"{key}_gap": card.gap_curve(run, progress),
        f"{key}_dual": curves.dual_curve(progress),
        f"{key}_sv": curves.sv_curve(progress),
    }
    side_by_side(drawn, 3, 200, ("Gap", "Dual objective", "Support vectors"))
