"""A run asked for from a page: what it will need, the click that queues it, and the form that makes room for it."""

from collections.abc import Callable
from contextlib import contextmanager

import streamlit as st

from pages.ui.kit import parameters, roles, state, words
from pages.ui.kit.ways import button
from pages.ui.recipe import config
from svmcore.lab import jobs
from svmcore.lab.analyses import repeats
from svmcore.lab.forecast import Estimate, estimate
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import runs
from svmcore.lab.store.runs import ACTIVE, Run, UnknownRun

FOLDED = "recipe_folded"  # in the session: whether the form has given its place to the run that was started
CLICK = 2.0  # seconds in which the same recipe, asked for again, is a second click and no second run


def submit(recipe: Recipe, **how) -> str:
    """Queue a run for a click, once however often the click comes; its id. `how` and errors as in `jobs.submit`."""
    return jobs.submit(recipe, once_in=CLICK, **how)


@contextmanager
def asking(otherwise: str = "Not started."):
    """Around `submit` in a callback: what cannot be queued is said, with these words before the reason."""
    try:
        yield
    except (jobs.QueueFull, UnknownRun, ValueError, OSError) as error:
        state.tell_later(f":material/block: {otherwise} {words.plain(error)}")


def start(recipe: Recipe, parent: str | None = None, times: int = 1, broken_off: str | None = None):
    """Callback: queue the run, make it the current one, fold the form away, and draw the whole page anew. parent: id
    of the run that it grew out of; times: with so many seeds, one run each; broken_off: of one to go on from."""
    with asking():
        (first, *others), group = repeats.repeated(recipe, times)
        run_id = submit(first, parent=parent, group=group, broken_off=broken_off)
        for again in others:
            submit(again, parent=parent, group=group, looks=False)
        fold()
        config.FORM.clear()
        state.show_run(run_id)
        tell_started(run_id)
    st.rerun()


def start_and_open(
    label: str, icon: str, key: str, page: str, make: Callable[[], Recipe], parent: str,
    then: Callable[[str], None] = lambda run_id: None, **how,
) -> None:  # fmt: skip
    """A button that queues the run of `make()` and opens it on a page that shows it, after `then(its id)`; where it
    cannot be, that says why. parent: id of the run that it grew out of."""
    if st.button(label, icon=f":material/{icon}:", key=key, **how):
        with asking():
            run_id = submit(make(), parent=parent)
            then(run_id)
            st.switch_page(page, query_params={"run": run_id})
        st.rerun()


def offer(
    recipe: Recipe, parent: str, key: str, then: Callable[[str], None], *, train: str, there: str = "", help: str,
    icon: str = "play_arrow", **how,
) -> Run | None:  # fmt: skip
    """A button, called `train`, that queues a run which a page proposes, and calls then(its id); beside it how long
    that takes. The run that there is of it already, with whose id the button calls `then` where it is called something
    `there`. parent: id of the run that it grows out of. DataError, RecipeError for what cannot be trained."""
    need, ready = estimate(recipe), runs.stored([recipe])[0]
    ready = ready if runs.available(ready) else None
    how |= {"disabled": not (there if ready else need.fits), "help": help}
    button(there if ready and there else train, icon, key, _offered, recipe, parent, ready and ready.id, then, **how)
    st.caption("This run exists already." if ready else takes(need), width="content")
    return ready


def _offered(recipe: Recipe, parent: str, ready: str | None, then: Callable[[str], None]) -> None:
    with asking():
        then(ready or submit(recipe, parent=parent))


def takes(need: Estimate) -> str:
    """`About 12 s.`, or why it does not fit."""
    return f"About {words.duration(need.seconds)}." if need.fits else words.plain(need.advice)


def tell_started(run_id: str, name: str = "") -> None:
    """Say that a run was started, by its title or as `what`; its state is looked up when that is shown."""
    does = {"queued": "is queued", "running": "is running in the background", "done": "has finished already"}

    def told() -> str:
        what = words.plain(name or runs.get(run_id).title)
        return f":material/play_circle: {what} {does.get(jobs.status(run_id).state, 'was started')}."

    state.tell_later(told)


def fold():
    """Give the form's place to a run that was just asked for."""
    st.session_state[FOLDED] = True
    st.session_state.pop("machine", None)  # the one at work, not the one that was looked at before


def folded(run) -> bool:
    """Whether `run` has the page: after Start, or when it is found at work; not when the address asks for a recipe."""
    if run is None or config.FORM.asked():
        st.session_state[FOLDED] = False
    return st.session_state.setdefault(FOLDED, run is not None and run.state in ACTIVE)


@state.callback
def unfold(run=None):
    """Callback: draw the form again, filled with what this run was asked, and the whole page with it."""
    st.session_state[FOLDED] = False
    if config.fits(run):
        config.FORM.fill(run.recipe)
    st.rerun()


def times() -> int:
    """How many runs Start asks for, each with another seed."""
    field = parameters.number("recipe.repeats", 1, repeats.MAX_REPEATS, 1)
    return int(field)


def start_button(need: Estimate, key: str, on_click, args: tuple, does: str = "Trains", times: int = 1) -> None:
    """Start, or Queue while something is at work, and what the run, or so many of them, will need."""
    if not roles.teacher():
        st.caption("In a class, only the teacher can start a run.")
        return
    help = f"{does} in the background; you can leave or close the page."
    how = {"help": help, "type": "primary", "width": "stretch", "disabled": not need.fits}
    button("Queue" if jobs.active() else "Start", "play_arrow", key, on_click, *args, **how)
    if need.fits:
        many = f"{times} runs: about" if times > 1 else "About"
        about = f"{many} {words.duration(times * need.seconds)} and {words.megabytes(need.memory_mb)} of memory"
        st.caption(f"{about}: {words.FIRST_TIME}." if need.first else f"{about}.")
    else:
        st.warning(words.plain(need.advice), title="This run does not fit in memory", icon=":material/memory:")
