"""What would have fixed an error, and which invariance would help the machine.

Of one example: of each family of changes the weakest that turns an error right, and what it would break. A right
example shows the weakest change that turns it wrong instead: how little it takes. All changes are tried at once.

Of a run: what the changes mend and break among validation examples, never the test set, and one button to train with
them. The count runs beside the runs (svmcore/lab/jobs/analyses.py); what there is so far is shown.
"""

import numpy as np
import streamlit as st

from data import DataError, load
from pages.ui.example.spoken import spoken, spoken_set
from pages.ui.kit import numbers, ways, words
from pages.ui.kit.gallery import large
from pages.ui.kit.text import with_sign
from pages.ui.kit.words import plain, short
from pages.ui.recipe import starting
from pages.ui.why.answer import Shown, answer, deciding, form_pictures, is_image, value
from pages.ui.why.working import Work, watched
from svmcore.explain import moved, remedy
from svmcore.explain.remedy import Ladder
from svmcore.lab.analyses import remedies
from svmcore.lab.analyses.remedies import Totals
from svmcore.lab.jobs import analyses
from svmcore.lab.jobs.background import TaskStatus
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import RecipeError
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Run
from svmcore.metrics import wilson
from svmcore.model import Machine, answers

HEIGHT = 84  # of a picture, in screen pixels
FEW = 10  # errors below which nothing is to be read off
SHORT = "Which invariance would reduce the errors: shifts, turns, or line thickness? Try them on validation examples."
WHAT = (
    "Trains a copy of this run on four fifths of its training examples. Every change is tried on the copy's errors "
    "among the remaining fifth, and on as many correct predictions that were equally close to the decision boundary. "
    "Changes unrelated to the classes add as many errors as they fix. The test set is not used."
)


def panel(run: Run, machine: Machine, shown: Shown) -> None:
    """Draw the weakest changes of one example, and what is known of the run's errors together."""
    if not is_image(shown):
        return
    now = answer(run, machine, shown)
    if shown.label is None or now.true is None:
        why = "has no class" if shown.label is None else "is of a class that this run does not have"
        st.info(f"This example {why}, so there is no error to correct.", icon=":material/draw:")
        return
    ladder = _ladder(tuple(shown.dataset.image_shape))
    forms = ladder.everything.apply(shown.X)
    f = moved.decided(machine, deciding(run), forms)[:, 0]
    wins = answers(f) == now.true
    found = remedy.weakest(ladder, ~wins if now.right else wins)
    st.markdown(_sentence(ladder, found, now.right))
    if found:
        totals = analyses.COUNTS.status(run.id).result
        drawn = form_pictures(shown, forms[[fix.change for fix in found], 0])
        with st.grid("auto", min_column_width=170):
            for picture, fix in zip(drawn, found):
                with st.container():
                    _change(ladder, fix, picture, f[fix.change], now, totals)
    st.caption(
        "A change that corrects one error hints at an invariance that the machine lacks, but does not prove it. "
        "The section below counts all validation errors together."
    )
    section(run, "remedy")


@st.cache_resource(max_entries=16, show_spinner=False)
def _ladder(image_shape: tuple[int, ...]) -> Ladder:
    return Ladder(image_shape)


def _sentence(ladder: Ladder, found: list[remedy.Fix], right: bool) -> str:
    """`Right after: 1 pixel left, or turned by +6°.`"""
    if not found:
        if right:
            return "**The prediction is correct, and stays correct** under every change that was tried."
        return (
            "**No single change** that was tried corrects the error, for example no shift by up to 2 pixels and no "
            "rotation by up to 15 degrees."
        )
    said = [spoken(ladder.everything.jitters[fix.change]) for fix in found]
    changes = ", or ".join(plain(one) for one in said)
    return (
        f"**The prediction is correct, but these changes make it wrong:** {changes}."
        if right
        else f"**These changes make it correct:** {changes}."
    )


def _change(ladder: Ladder, fix: remedy.Fix, picture: np.ndarray, f: np.ndarray, now, totals) -> None:
    called = int(answers(f))
    said = spoken(ladder.everything.jitters[fix.change])
    large(picture, HEIGHT, f"The example {said}")
    names = [plain(short(name, 24)) for name in now.names]
    f_of = [  # an error is mended by the rise of its own class or by the fall of its rival
        f"f of {names[c]} {with_sign(value(now.f, c))} → {with_sign(value(f, c))}"
        for c in ((now.own,) if len(now.f) == 1 else (now.own, now.rival if called in (now.own, now.rival) else called))
    ]
    st.markdown(f"**{fix.family.title}**: {plain(said)}  \npredicted {names[called]}  \n" + "  \n".join(f_of))
    if totals and totals.tally.drawn and str(totals.ladder.everything) == str(ladder.everything):
        broken, of = int(totals.tally.change_broken[fix.change]), totals.tally.drawn
        low, high = (100 * share for share in wilson(broken, of))
        mended = int(totals.tally.change_mended[fix.change])
        st.caption(
            f"On validation examples, this change fixes {mended} of {totals.tally.wrong:,} errors and makes "
            f"{broken} of {of:,} correct predictions wrong ({low:.1f}–{high:.1f} %)."
        )


def section(run: Run, key: str = "errors") -> None:
    """The count, its table, and the button that trains what it recommends; why there is none, where there is none."""
    st.subheader("Which invariance would help?")
    if not METHODS[run.recipe.method].made:
        st.info("A reduction does not learn invariances; train the original machine with them.", icon=":material/info:")
        if run.parent in {known.id for known in runs.newest_first()}:
            help = "Opens the errors of the original run, with the invariance that would reduce them."
            ways.to("errors", "Errors of the original run", "arrow_forward", {"run": run.parent}, help=help)
        return
    try:
        moves = load(run.recipe.dataset).image_shape is not None
        why = "" if moves else "No recommendation: these examples are not images, and cannot be shifted or turned."
        remedies.twin_of(run.learned)
    except (RecipeError, DataError) as error:
        st.info(why or f"No recommendation: {plain(error)}", icon=":material/table_rows:")
        return
    work = Work(
        analyses.COUNTS, (run.id,), key, _bar, "The changes could not be tried",
        begin="Try on validation examples", again="Try all changes again", icon="query_stats",
        help="Trains a copy of this run in the background and tries the changes on its errors.",
    )  # fmt: skip
    if watched(work, lambda now: _counted(run, now, key)).state == "none":
        st.caption(WHAT)


def _counted(run: Run, count: TaskStatus, key: str) -> None:
    totals: Totals | None = count.result
    if count.state == "none":
        st.markdown(SHORT)
    elif totals and totals.tally.wrong:
        _words(run, totals, count.state, key)
        _table(run, totals, key)
    elif totals and not totals.n_wrong:
        n = totals.n_right
        st.success(
            f"The copy of this run makes no error on {n:,} validation examples, so there is nothing to fix.",
            icon=":material/check:",
        )


def _bar(count: TaskStatus) -> tuple[str, float]:
    looked, goal = count.result.looked if count.result else (0, 1)
    doing = "Trying the changes" if count.result else "Training the copy"
    doing = "Waiting" if count.state == "waiting" else doing
    doing += f": {count.message}" if count.message else ""
    return doing + (f" · {looked:,} of {goal:,} examples" if count.result else ""), looked / max(goal, 1)


def _words(run: Run, totals: Totals, now: str, key: str) -> None:
    tally = totals.tally
    stopped = " (stopped early)" if now == "stopped" else "" if now == "done" else " (not finished)"
    best = remedies.advice(totals, run.learned)
    seen = f"{tally.wrong:,} validation errors and {tally.close:,} equally close correct predictions{stopped}"
    if best is None:
        st.markdown(f"Among {seen}, no set fixes more errors than it adds.")
        return
    st.markdown(
        f"**Try first: {plain(spoken_set(best.text))}** (`{best.text}`). With these changes the machine fixes "
        f"**{tally.mended[best.s]}** and adds **{tally.broken[best.s]}** errors, among {seen}. The net gain is "
        f"{with_sign(best.net.value, 0)} (95 %: {with_sign(best.net.low, 0)} to {with_sign(best.net.high, 0)})."
    )
    if best.net.low <= 0 or tally.wrong < FEW:
        st.caption("The interval contains 0 or errors are few, so this may be chance. Train and compare to find out.")
    try:
        recipe = remedies.advised(run.learned, best.jitters)
    except RecipeError as error:
        st.info(f"A run with these changes cannot be trained from here. {plain(error)}", icon=":material/block:")
        return
    titled = recipe.replace(title=titles.of_recipe(recipe))

    def then(started: str) -> None:
        starting.fold()  # Train shows the run, not its form
        starting.tell_started(started)

    starting.start_and_open(
        f"Train with {best.jitters}", "play_circle", f"{key}_train", "pages/train.py", lambda: titled, run.id, then,
        type="primary", help=f"Starts a run and opens it on Train: {plain(words.summary(titled))}. Its other settings "
        "are those of this run.",
    )  # fmt: skip


def _table(run: Run, totals: Totals, key: str) -> None:
    tally, known = totals.tally, remedies.known(totals, run.learned)
    nets = [remedy.net(tally, s) for s in range(len(known))]
    rows = [
        {
            "Set": text,
            "Fixed": int(tally.mended[s]),
            "Broken": int(tally.broken[s]),
            "Net": round(nets[s].value),
            "95 %": f"{with_sign(nets[s].low, 0)} to {with_sign(nets[s].high, 0)}",
            "Fixed by some change": int(tally.some_right[s]),
            "Broken by some change": 100 * int(tally.some_wrong[s]) / tally.drawn if tally.drawn else None,
            "In this run": bool(known[s]),
        }
        for s, text in enumerate(totals.ladder.texts)
    ]
    rows = [rows[s] for s in sorted(range(len(rows)), key=lambda s: -nets[s].value)]
    turned = f"How many of {tally.wrong:,} errors at least one change of the set corrects."
    spoiled = f"Share of {tally.drawn:,} correct predictions, drawn at random, that at least one change makes wrong."
    columns = {
        "Fixed": st.column_config.NumberColumn(
            help=f"How many of {tally.wrong:,} errors become correct if the most certain form decides the prediction."
        ),
        "Broken": st.column_config.NumberColumn(
            help=f"How many of {tally.close:,} equally close correct predictions become wrong by the rule of *Fixed*."
        ),
        "Net": st.column_config.NumberColumn(
            help=f"Share of the {tally.wrong:,} errors in *Fixed*, minus share of the {tally.close:,} correct "
            f"predictions in *Broken*, times {tally.wrong:,}. Above 0, the set fixes more than it breaks."
        ),
        "95 %": numbers.text("95 % interval of *Net*, by Newcombe's method for the difference of two proportions."),
        "Fixed by some change": st.column_config.NumberColumn(help=turned),
        "Broken by some change": numbers.number(1, spoiled, "Broken by some change, %"),
        "In this run": st.column_config.CheckboxColumn(help="This run's jitters contain this set already."),
    }
    alt = "Errors fixed and added by each jitter set, and their difference with its interval"
    numbers.table(rows, alt, f"{key}_totals", columns, height=215)
    st.caption("Sets are sorted by *Net*: the invariance to try first is on top. Only training shows the gain.")
