"""How far solvers are: trained here and now where that takes a second, and kept; else by their runs.

Solvers on one tape: the support vectors that each holds, and the cache that they fill and spill over.

    clock = kernel values computed      all start at 0, and the one that needs the fewest of them is done first

Drawn in the browser (race.js) from the lines of two runs' progress. A support vector keeps a row of the cache from when
it is first looked up until its alpha is 0 again, as long as one is free: of n_sv, min(n_sv, rows) have one.
"""

import hashlib
import threading
import warnings
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import streamlit as st
from sklearn.exceptions import ConvergenceWarning

from pages.ui.figures.curves import thinned
from pages.ui.kit.component import component
from svmcore.jitter import JitterSet
from svmcore.lab import train
from svmcore.lab.meter import training_seconds
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.runs import Run

AT_ONCE = 3000  # examples, copies among them: a second or two
REPORTS = 60  # that such a training gives for as many steps as it has examples
KEPT = 128  # trainings

_trainings: OrderedDict[str, Future] = OrderedDict()  # digest of a recipe -> its training, the newest last
_lock = threading.Lock()
_worker = ThreadPoolExecutor(1, "digestion")  # one after the other: they are timed


class Course(NamedTuple):
    """One solver by now: its progress, oldest line first, the seconds that it took, compiling apart, and its state."""

    lines: list[dict]
    seconds: float
    state: str


def small(recipe: Recipe, image_shape: tuple[int, ...] | None) -> bool:
    """Whether its training may be waited for."""
    copies = len(JitterSet.parse(recipe.jitters, image_shape)) if recipe.jitters else 1
    return (recipe.n_train or AT_ONCE + 1) * copies <= AT_ONCE


def known(recipe: Recipe) -> Course | None:
    """What `soon` has found before."""
    future = _trainings.get(recipe.digest())
    return future.result() if future is not None and future.done() and not future.exception() else None


def soon(recipe: Recipe, seconds: float | None) -> Course | None:
    """How its training went, in a thread of its own, if that ends in so many seconds (None: whenever); else None, and
    it goes on. RecipeError, DataError and ValueError as of `train.prepare` and `train.fit`."""
    key = recipe.digest()
    with _lock:
        if (future := _trainings.get(key)) is None or (future.done() and future.exception()):
            future = _trainings[key] = _worker.submit(_train, recipe)
            while len(_trainings) > KEPT:
                _trainings.popitem(last=False)
    try:
        return future.result(seconds)
    except TimeoutError:
        return None


def pending(recipe: Recipe) -> bool:
    future = _trainings.get(recipe.digest())
    return future is not None and not future.done()


def _train(recipe: Recipe) -> Course:
    problem, lines = train.prepare(recipe), []

    def watch(progress) -> bool:
        lines.append(progress._replace(snapshot=None)._asdict())
        return True

    watch.burst = max(1, len(problem.y_train) // REPORTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        with _lock:
            first = not any(future.done() for future in _trainings.values())
        if first:  # of a process, it waits for compiled code to be loaded: not timed
            train.fit(recipe, problem)
        fitted = train.fit(recipe, problem, watch)
    return Course(lines, max(fitted.seconds - fitted.compile_seconds, 0.0), "done")


def of_run(run: Run, status) -> Course:
    lines = run.progress()
    if status.progress and (not lines or status.progress != lines[-1]):
        lines = [*lines, status.progress]
    seconds = lines[-1]["seconds"] if lines else 0.0
    return Course(lines, training_seconds(run.result) if run.result else seconds, status.state)


def draw(courses: Mapping[str, Course], rows: int) -> None:
    """The tape of the solvers, by their names, with a cache of so many rows."""
    shown = {name: [(0, 0), *((e["kernel_evals"], e["n_sv"]) for e in thinned(c.lines))] for name, c in courses.items()}
    data = {
        "rows": rows,
        "sides": [
            {
                "name": name,
                "evals": [e for e, _ in line],
                "svs": [n for _, n in line],
                "done": courses[name].state == "done",
            }
            for name, line in shown.items()
        ],
        "alt": alt(shown, rows),
    }
    version = hashlib.sha256(repr(data).encode()).hexdigest()[:12]
    _component(data=data | {"version": version}, key="race")
    st.caption(
        "Grey: support vectors whose row of kernel values is cached. Orange: support vectors without a cached row, "
        "whose kernel values are recomputed each time. Dashed: the number of rows that the cache holds."
    )


def alt(shown: Mapping[str, Sequence[tuple[int, int]]], rows: int) -> str:
    told = "; ".join(
        f"{name}: {line[-1][0]:,} kernel evaluations, at most {max(n for _, n in line):,} support vectors, "
        f"{line[-1][1]:,} at the end"
        for name, line in shown.items()
    )
    return f"Number of support vectors during training against kernel evaluations, with {rows:,} cache rows. {told}."


_component = component(__file__, "race", '<div class="race">\n</div>', first=("svg", "tape"))
