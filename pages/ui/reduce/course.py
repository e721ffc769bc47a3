"""A reduction in numbers and curves: while it is at work, and what became of it."""

import streamlit as st

from pages.ui.figures import reduction
from pages.ui.figures.frame import show
from pages.ui.kit import present, words
from pages.ui.kit.numbers import metrics
from svmcore.lab.registry.methods import METHODS
from svmcore.lab.store import runs


def reduces(run) -> bool:
    """Whether a run begins with the machine of another."""
    return not METHODS[run.recipe.method].made


def in_short(run) -> None:
    """How many vectors there were and are, and what a decision costs."""
    found = run.result["reduction"]
    with st.container(horizontal=True):
        st.metric("Vectors", f"{found['n_after']:,}", help="Distinct ones of all machines, as reduced.")
        st.metric("Before", f"{found['n_before']:,}", help="Distinct support vectors of the machine that was reduced.")


def numbers(run, last: dict, status) -> None:
    """What a reduction at work has come to."""
    path = last.get("path") or []
    rho = {"rho, of the worst": _worst(last)} if last.get("gaps") else {"Steps": f"{last['iterations']:,}"}
    shown = {"Size at work": f"{last.get('n_vectors', last['n_sv']):,}", "Sizes done": f"{len(path)}"}
    shown |= rho | {"Time": words.duration(last["seconds"])}
    if status.state in runs.ACTIVE:
        shown |= words.left_metric(status)
    metrics(shown)


def _worst(last: dict) -> str:
    """rho of the machine that is farthest off, once the first vectors of any stand."""
    return words.percent(last["gap"] ** 0.5, 1) if any(last["gaps"]) else "–"


def curves(run, progress: list[dict], key: str) -> None:
    """The errors by size as far as they are known, and how rho fell."""
    known = run.result or (progress and progress[-1].get("path"))
    falls = reduction.falls(progress)
    names = [name for name, there in (("Errors by size", known), ("Course", falls)) if there]
    if not names:
        if run.state in runs.ACTIVE:
            st.caption("The first figures come when the first vectors stand.")
        return
    for name, place in zip(names, present.parts(names, st.columns(len(names))), strict=True):
        with place:
            figure = reduction.trace(progress) if name == "Course" else sizes(run, progress)
            show(figure, key=f"{key}_{name.split()[0].lower()}")


def sizes(run, progress: list[dict]):
    """The figure of errors by size, of a run that is done or at work."""
    if result := run.result:
        found = result["reduction"]
        test = (result["error_rate"], result["interval"]) if "error_rate" in result else None
        return reduction.size_curve(
            found["path"], found["aside"], found["machine_errors"], found["n_before"], _where(run, found),
            found["n_after"], test,
        )  # fmt: skip
    last = progress[-1]
    return reduction.size_curve(
        last["path"], last["aside"], last["machine_errors"], last["n_before"], _where(run, last),
        at_work=last["n_vectors"],
    )  # fmt: skip


def _where(run, found) -> str:
    """What the examples are that sizes are compared on."""
    if found["unseen"]:
        return reduction.UNSEEN
    chosen = run.recipe.option("sizes") > 1 or run.recipe.option("allowed") is not None
    return "training examples kept aside" if chosen else "training examples"
