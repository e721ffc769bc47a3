"""The windows that a scan learned from, as examples of two classes: their labels can be doubted and judged like any.

    windows of a run -> own set, classes 1 and -1 -> run with folds -> Labels -> revision -> windows=own:...@checked.17

A window that is no object is a box taken out, one of the background that shows an object a box added, as far as the
machine is concerned; the boxes that the pictures are counted by stay as they were.
"""

import hashlib
from functools import partial

import numpy as np

from data import own
from data.dataset import Arrays
from pages.detect.view import View
from pages.ui.kit import state
from pages.ui.recipe import starting
from svmcore.lab.analyses.suspects import searched
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.runs import Run


def keep_windows(X: np.ndarray, y: np.ndarray) -> str:
    """The name of an own set of windows X (n, side, side) uint8 with labels y (n,), +1 and -1."""
    digest = hashlib.sha256(X.tobytes() + y.tobytes()).hexdigest()[:10]
    return own.keep(f"Windows {digest}", Arrays.unsplit(X, y), replace=True).name


def scans(run: Run) -> bool:
    """Whether a run looks at every window, and trains on windows that stay the same."""
    return run.recipe.option("finder") == "scan"


def first_windows(run: Run) -> tuple[np.ndarray, np.ndarray]:
    """The windows that a run began with, before any were mined, and their labels."""
    found = run.test()
    first = found.train_round == 0
    return found.train_chips[first], found.train_y[first].astype(np.int64)


def of_windows(run: Run) -> Recipe:
    """The run's machine on its windows alone, with folds to find label errors. RecipeError for too few windows."""
    recipe = run.recipe
    name = keep_windows(*first_windows(run))
    return searched(Recipe(dataset=name, preprocess=recipe.preprocess, kernel=recipe.kernel, C=recipe.C, title=(
        f"Windows of {run.title}")[:120], seed=recipe.seed))  # fmt: skip


def offer(view: View) -> None:
    """The way from a scan to the labels of its windows."""
    run = view.run
    if run.state != "done" or not scans(run) or run.parts() > 1:
        return  # candidates of a filter, and windows cut for each part anew, are no set that trains all parts
    starting.start_and_open(
        "Review the labels of windows", "gavel", "detect_labels", "pages/labels.py", partial(of_windows, run), run.id,
        lambda _: state.tell_later(":material/play_circle: A background task trains a machine on the windows."),
        help="Saves the windows that this run began with, before false alarms were added, as a dataset of your own, "
        "and trains a machine on them with folds. The page *Labels* then lists likely label errors and can train the "
        "detector on your corrections.",
    )  # fmt: skip
