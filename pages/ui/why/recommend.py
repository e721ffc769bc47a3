"""Which invariance would help: what the changes mend and break among validation examples, and one button to train it.

The count runs beside the runs (svmcore/lab/jobs/analyses.py); what there is so far is shown.
"""

import streamlit as st

from data import DataError, load
from pages.ui.example.spoken import spoken_set
from pages.ui.kit import numbers, ways, words
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import plain
from pages.ui.recipe import starting
from pages.ui.why.working import Work, watched
from svmcore.explain import remedy
from svmcore.lab.experiment import remedies
from svmcore.lab.experiment.remedies import Recommended, Totals
from svmcore.lab.jobs import analyses
from svmcore.lab.jobs.background import TaskStatus
from svmcore.lab.recipe.recipe import RecipeError
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run

FEW = 10  # errors below which nothing is to be read off
SHORT = "Would the errors go if the machine knew shifts, turns, or thicker and thinner lines? Try them on examples."
WHAT = (
    "A twin of this run is trained on four fifths of its training examples. What it gets wrong of the fifth held out "
    "is tried under every change, beside as many right answers that were as close calls: changes that know nothing of "
    "the classes break as many of these as they mend. The test set has no part in it."
)


def section(run: Run, key: str = "errors") -> None:
    """The count, its table, and the button that trains what it recommends; why there is none, where there is none."""
    st.subheader("Which invariance would help?")
    if not METHODS[run.recipe.method].made:
        _ask_its_machine(run)
        return
    try:
        moves = load(run.recipe.dataset).image_shape is not None
        why = "" if moves else "No recommendation: these examples are no images, and cannot be shifted or turned."
        remedies.twin_of(run.learned)
    except (RecipeError, DataError) as error:
        st.info(why or f"No recommendation: {plain(error)}", icon=":material/table_rows:")
        return
    work = Work(
        analyses.COUNTS, (run.id,), key, _bar, "This could not be counted",
        begin="Count on validation examples", again="Count again", icon=":material/query_stats:",
        help="Trains a twin of this run, in the background, and tries the changes on what it gets wrong.",
    )  # fmt: skip
    if watched(work, lambda now: _found(run, now, key)).state == "none":
        st.caption(WHAT)


def _ask_its_machine(run: Run) -> None:
    """A reduction learns no invariance: the run of its machine is where that is counted."""
    st.info("An invariance is learned where the machine was trained, and not in its reduction.", icon=":material/info:")
    if run.parent in {known.id for known in runs.newest_first()}:
        help = "The run that was reduced, and what would help it."
        ways.to("errors", "Errors of its machine", "arrow_forward", {"run": run.parent}, help=help)


def _found(run: Run, count: TaskStatus, key: str) -> None:
    totals: Totals | None = count.result
    if count.state == "none":
        st.markdown(SHORT)
    elif totals and totals.tally.wrong:
        _words(run, totals, count.state, key)
        _table(run, totals, key)
    elif totals and not totals.n_wrong:
        n = totals.n_right
        st.success(f"The twin gets none of {n:,} validation examples wrong: nothing to mend.", icon=":material/check:")


def _bar(count: TaskStatus) -> tuple[str, float]:
    looked, goal = count.result.looked if count.result else (0, 1)
    doing = "Trying the changes" if count.result else "Training the twin"
    doing = "Waiting" if count.state == "waiting" else doing
    doing += f": {count.message}" if count.message else ""
    return doing + (f" · {looked:,} of {goal:,} examples" if count.result else ""), looked / max(goal, 1)


def _words(run: Run, totals: Totals, now: str, key: str) -> None:
    """What is recommended, in a sentence, with its button."""
    tally = totals.tally
    stopped = " (stopped early)" if now == "stopped" else "" if now == "done" else " so far"
    best = remedies.advice(totals, run.learned)
    seen = f"{tally.wrong:,} wrong validation examples and {tally.close:,} right ones as close{stopped}"
    if best is None:
        st.markdown(f"No set of these mends more than it breaks, of {seen}. The run's errors ask for something else.")
        return
    st.markdown(
        f"**Try first: {plain(spoken_set(best.text))}** (`{best.text}`). Asked under these, the machine mends "
        f"**{tally.mended[best.s]}** and breaks **{tally.broken[best.s]}** of {seen}: "
        f"net {with_sign(best.net.value, 0)} ({with_sign(best.net.low, 0)} to {with_sign(best.net.high, 0)})."
    )
    if best.net.low <= 0 or tally.wrong < FEW:
        st.caption("Its interval holds 0: it may be chance. Trained and compared, one knows.")
    try:
        recipe = remedies.advised(run.learned, best.jitters)
    except RecipeError as error:
        st.info(f"It cannot be trained from here. {plain(error)}", icon=":material/block:")
        return
    _train(run, recipe.replace(title=words.title(recipe)), best, key)


def _train(run: Run, recipe, best: Recommended, key: str) -> None:
    pressed = st.button(
        f"Train with {best.jitters}",
        type="primary",
        icon=":material/play_circle:",
        key=f"{key}_train",
        help=f"Starts {plain(words.summary(recipe))}, otherwise this run's recipe, and opens it on Train.",
    )

    def then(started: str) -> None:
        starting.fold()  # Train shows the run, not its form
        starting.tell_started(started)

    if pressed:
        starting.start_and_open("pages/train.py", lambda: recipe, run.id, then)


def _table(run: Run, totals: Totals, key: str) -> None:
    tally, known = totals.tally, remedies.known(totals, run.learned)
    nets = [remedy.net(tally, s) for s in range(len(known))]
    rows = [
        {
            "Set": text,
            "Mends": int(tally.mended[s]),
            "Breaks": int(tally.broken[s]),
            "Net": round(nets[s].value),
            "95 %": f"{with_sign(nets[s].low, 0)} to {with_sign(nets[s].high, 0)}",
            "Some form right": int(tally.some_right[s]),
            "Some form wrong": 100 * int(tally.some_wrong[s]) / tally.drawn if tally.drawn else None,
            "In this run": bool(known[s]),
        }
        for s, text in enumerate(totals.ladder.texts)
    ]
    rows = [rows[s] for s in sorted(range(len(rows)), key=lambda s: -nets[s].value)]
    turned = f"Of {tally.wrong:,} wrong ones, those that at least one of the set's changes turns right."
    spoiled = f"Of {tally.drawn:,} right ones drawn at random, those that at least one change turns wrong."
    columns = {
        "Mends": st.column_config.NumberColumn(help=f"Of {tally.wrong:,} wrong ones, the surest answer of all forms."),
        "Breaks": st.column_config.NumberColumn(help=f"Of {tally.close:,} right ones that were as close calls."),
        "Net": st.column_config.NumberColumn(help="Mended less broken."),
        "95 %": numbers.text("Interval of the net: Newcombe's, of a difference of two shares."),
        "Some form right": st.column_config.NumberColumn(help=turned),
        "Some form wrong": numbers.number(1, spoiled, "Some form wrong, %"),
        "In this run": st.column_config.CheckboxColumn(help="The run's own jitters hold this set already."),
    }
    alt = "Of each jitter set: errors mended, close calls broken, and their difference with its interval"
    numbers.table(rows, alt, f"{key}_totals", columns, height=215)
    st.caption(
        "Sets by their net. It says which invariance to try first, not how much is gained: that, training shows."
    )
