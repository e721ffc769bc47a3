"""Who answers about a drawing: finished runs that classify pictures of one kind, and what each says.

f (t, k)    decision values of the k classes for t pictures; of two classes (-f, f)
"""

import numpy as np
import streamlit as st

from data import DataError, Dataset, catalogue, load
from pages.draw.nudges import Nudge
from pages.ui.example import evidence
from pages.ui.kit import parameters
from pages.ui.kit.gallery import REFERENCE_ROWS
from pages.ui.kit.words import plain
from pages.ui.run.picker import no_pictures
from svmcore.lab.store import runs, titles
from svmcore.lab.store.runs import Run
from svmcore.preprocess.drawn import convention, like

AT_ONCE = 6  # machines that answer side by side
USUAL = 3  # of them without being asked
KEPT = 2000  # decisions remembered
BLANK = "blank"  # what `values` calls an empty picture


def refusal(run: Run) -> str:
    """Why a run cannot say anything about a drawing; empty if it can."""
    if why := no_pictures(run):
        return why
    entry = catalogue.entry(run.recipe.dataset)
    if convention(entry.shape) is None:
        return "its images are not square and grey"
    if not entry.ink:
        return "its images do not show pen strokes"
    if not entry.at_hand:
        return "its dataset was deleted"
    return "" if run.state == "done" else f"it {run.state}" if run.state == "failed" else f"it is {run.state}"


def able(current: Run | None) -> list[Run]:
    """Runs that classify pictures of the current run's kind, or of the first one's that can: the current one, then
    those of more than two classes, then others, each the newest first."""
    found = [run for run in runs.newest_first() if not refusal(run)]
    found = sorted(found, key=lambda run: len(run.result["n_sv"]) == 1)  # one machine tells two classes apart
    if current is not None and not refusal(current):
        found = [current, *(run for run in found if run.id != current.id)]
    if not found:
        return []
    shape = catalogue.entry(found[0].recipe.dataset).shape
    return [run for run in found if catalogue.entry(run.recipe.dataset).shape == shape]


def usual(found: list[Run]) -> list[str]:
    """Ids of the first run and up to two of other methods, of its dataset first; scrambled ones only if first."""
    straight = [run for run in found[1:] if not "".join(run.recipe.preprocess[:1]).startswith("scramble")]
    own = sorted(straight, key=lambda run: run.recipe.dataset != found[0].recipe.dataset)
    chosen = {}  # method -> id
    for run in (found[0], *own):
        chosen.setdefault(run.recipe.method, run.id)
    return list(chosen.values())[:USUAL]


def ready(run: Run, side: int) -> bool:
    """Whether a run can answer: its machine is loaded and has decided once; otherwise it is said why not."""
    try:
        evidence.data_of(run)
        values(run, BLANK, (Nudge(),), lambda places: np.zeros((len(places), side, side), np.float32))
    except (DataError, runs.Damaged, FileNotFoundError) as error:
        st.warning(f"{plain(run.title)} cannot predict. {plain(error)}", icon=":material/broken_image:")
        return False
    return True


def example(dataset: Dataset, ink: np.ndarray) -> np.ndarray:
    """Pictures of ink (t, h, w) in [0, 1] as examples of a dataset: on its grey scale, in its type."""
    low, high = _scale(dataset)
    return like(ink, low, high, dataset.X_train.dtype)


def ink_of(dataset: Dataset, X: np.ndarray) -> np.ndarray:
    """The inverse of `example`: examples (t, h, w) as ink in [0, 1]."""
    low, high = _scale(dataset)
    return ((np.asarray(X, np.float64) - low) / max(high - low, 1e-12)).clip(0, 1).astype(np.float32)


def values(run: Run, source: str, places: tuple[Nudge, ...], inks) -> np.ndarray:
    """f (t, k) of the drawing `source` at each place; `inks(places)`: the pictures of those not asked about yet."""
    known = st.session_state.setdefault("draw_decisions", {})
    if len(known) > KEPT:
        known.clear()
    new = [place for place in dict.fromkeys(places) if (run.id, source, place) not in known]
    if new:
        dataset = load(run.recipe.dataset)
        X = example(dataset, inks(new))
        f = run.machine().decision_function(X.reshape(len(X), *dataset.image_shape))
        f = np.column_stack([-f[:, 0], f[:, 0]]) if f.shape[1] == 1 else f
        known.update({(run.id, source, place): tuple(row) for place, row in zip(new, f.tolist())})
    return np.array([known[run.id, source, place] for place in places])


def chosen(found: list[Run]) -> list[Run]:
    """The widget that says who answers, in the address as `runs`."""
    known = {run.id: run for run in found}
    current, values = found[0].id, st.session_state
    if values.get("draw_current", current) != current and current not in values.get("draw_runs", ()):
        values["draw_runs"] = usual(found)
    values["draw_current"] = current
    ids = parameters.several(
        "draw.runs",
        known,
        usual(found),
        key="draw_runs",
        least=usual(found),
        always=True,
        format_func=titles.of_runs(found).get,
        max_selections=AT_ONCE,
    )
    return [known[run_id] for run_id in ids]


def _scale(dataset: Dataset) -> tuple[float, float]:
    seen = dataset.X_train[:REFERENCE_ROWS]
    return float(seen.min()), float(seen.max())
