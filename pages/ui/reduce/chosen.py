"""Which machine the page reduces: that of the run shown, or of the run that the reduction shown grew out of; and in
plain words why there is none."""

from typing import NamedTuple

import streamlit as st

from pages.ui.kit import present, state, ways, words
from pages.ui.reduce.course import reduces
from pages.ui.run import card, polling
from pages.ui.run.trained import ENDED, WAITING
from svmcore.kernels import Precomputed
from svmcore.lab.store import runs
from svmcore.lab.store.runs import ACTIVE, Run


class Chosen(NamedTuple):
    """of: the run whose machine is reduced, None where that is gone; reduction: the run shown, where it is one."""

    of: Run | None
    reduction: Run | None


def chosen() -> Chosen | None:
    """What the page is about; None, and why on screen, where the run shown has no machine."""
    run = state.current_run()
    if run is None:
        if not st.session_state.get("run"):  # of a damaged one the picker says what is to be said
            _nothing_yet()
        return None
    if reduces(run):
        of = card.parent_of(run)
        return Chosen(of if of is not None and of.state == "done" else None, run)
    return Chosen(run, None) if _has_machine(run) else None


def reducible(machine) -> str:
    """Why a machine cannot be reduced; empty where it can."""
    if isinstance(machine.kernel, Precomputed):
        return "Its kernel is precomputed: there are numbers for its examples, and none for a new vector."
    if not len(machine.support):
        return "It has no support vectors."
    kernel = machine.kernel
    if not kernel.differentiable and not kernel.definite:
        return f"Its kernel, {kernel.name}, has no gradient by which vectors could be constructed."
    return ""


def reductions(of: Run) -> list[Run]:
    """The reductions of a run's machine, newest first."""
    return [run for run in runs.newest_first() if run.parent == of.id and reduces(run)]


def newest(of: Run) -> Chosen | None:
    """The newest reduction that is done, of this run's machine, or else of another one: a talk shows no empty page."""
    made = [run for run in runs.newest_first() if run.state == "done" and reduces(run)]
    run = max(made, key=lambda run: run.parent == of.id, default=None)
    return run and Chosen(card.parent_of(run), run)


def sample() -> Chosen | None:
    """A reduction that comes with the lab, while the reader has none."""
    if any(reduces(run) for run in runs.newest_first()):
        return None
    run = next((run for run in runs.samples() if reduces(run)), None)
    return run and Chosen(card.parent_of(run), run)


def _has_machine(run: Run) -> bool:
    present.about(words.summary(run.recipe))
    if run.state in ACTIVE:
        polling.poll(run.id, _waits)
        return False
    if run.result is None:
        show = st.error if run.state == "failed" else st.warning
        show(words.plain(run.message) or "There is nothing to reduce.", title=ENDED[run.state])
        picker_hint()
        return False
    return True


def _waits(status) -> None:
    with st.container(border=True):
        st.markdown(f"**The run is {status.state}.** {WAITING.get(status.state, '')}")
        if left := words.left(status, "About {} left"):
            st.markdown(f"{left}.")


def _nothing_yet() -> None:
    with st.container(border=True):
        st.markdown("**No machine yet.** Train one first; it can be reduced here as soon as it is done.")
        ways.to("train", "Train one", "play_circle")


def picker_hint() -> None:
    """Runs that have a machine, to choose one."""
    done = [run for run in runs.newest_first() if run.state == "done" and not reduces(run)][:6]
    if done:
        st.caption("Runs with a machine:")
    for run in done:
        label = f"{words.plain(words.short(run.title, 60))} · {words.when(run.created)}"
        ways.to("reduced", label, "compress", {"run": run.id}, help="Opens it.")
