"""Recipes and the runs that the store has of them: the newest finished one, or the one at work, or the one that ended.

Two recipes are the same experiment when their digests agree, whatever they are called.
"""

from collections.abc import Callable, Iterable, Mapping

import streamlit as st

from data import DataError, permission
from pages.ui.kit import present, state, words
from pages.ui.kit.ways import button
from pages.ui.recipe import starting
from svmcore.lab import jobs
from svmcore.lab.jobs.sweeping import NONE, Grouping, submit_missing
from svmcore.lab.recipe import Recipe, RecipeError
from svmcore.lab.store import runs
from svmcore.lab.store.runs import Run
from svmcore.lab.tasks import task_of


def at_hand(recipe: Recipe) -> bool:
    """Whether its data are on this computer: a run fetches none."""
    try:
        return task_of(recipe).at_hand(recipe)
    except (DataError, RecipeError):  # deleted, a damaged revision, or pictures that the set at hand has not got
        return False


def lacking(recipes: Iterable[Recipe]) -> set[Recipe]:
    """Those whose data are not on this computer; the same data are looked for once."""
    alike: dict[tuple, list[Recipe]] = {}
    for recipe in recipes:
        alike.setdefault((recipe.dataset, recipe.options.get("experiment")), []).append(recipe)
    return {recipe for those in alike.values() if not at_hand(those[0]) for recipe in those}


def samples(recipes: Iterable[Recipe]) -> list[Run | None]:
    """For each recipe the finished run that comes with the lab, or None."""
    known = {run.recipe.digest(): run for run in runs.samples()}
    return [known.get(recipe.digest()) for recipe in recipes]


def say_samples(those: list[Run], how: str = "When you start your own run, it replaces this sample.") -> None:
    """Say that what is shown is a sample, and what made it. how: what puts the reader's own in its place."""
    if present.presenting():
        st.caption(":material/bookmark: A sample that comes with the lab.")
        return
    many = f"{len(those)} runs trained elsewhere. The first one:" if len(those) > 1 else "a run trained elsewhere."
    st.info(f"**A sample**: {many} {words.summary(those[0].recipe)}. {how}", icon=":material/bookmark:")


def queue(
    recipes: Iterable[Recipe], group: Grouping = None, parents: Mapping[Recipe, Recipe] = NONE,
    then: Callable[[], None] = lambda: None,
):  # fmt: skip
    """Callback: `submit_missing`; what cannot be queued is said. then: called in the end."""
    with starting.asking("Not all runs were queued."):
        try:
            submit_missing(recipes, group, parents)
        finally:
            then()


@state.callback
def cancel(run_ids: Iterable[str]):
    """Callback: cancel those of the runs that are at work."""
    jobs.cancel(*set(run_ids) & set(jobs.active()))


def buttons(
    recipes: Iterable[Recipe], found: list[Run | None], label: str, help: str, key: str = "all", of: str = "run",
    group: Grouping = None, parents: Mapping[Recipe, Recipe] = NONE, then: Callable[[], None] = lambda: None,
):  # fmt: skip
    """Queue what is missing, has its data and may be trained by whoever looks, and cancel what is at work. of: what one
    of those is called; group, parents, then: as in `queue`.

    While something is at work the first button keeps its place, so that no second click on it falls on the other.
    """
    missing = [
        r for r, run in zip(recipes, found, strict=True) if not runs.available(run) and permission.may("train", r)
    ]
    absent = lacking(missing)
    possible = [recipe for recipe in missing if recipe not in absent]
    wanted = ", ".join(sorted({recipe.dataset for recipe in absent}))
    working = [run.id for run in found if run and run.state in runs.ACTIVE]
    if missing or working:
        help += f" Not on this computer: {wanted}. See the *Datasets* page." if wanted else ""
        how = {"help": help, "type": "primary", "disabled": not possible}
        label = label if possible or absent or not working else "All queued"
        button(label, "play_arrow", f"queue_{key}", queue, possible, group, parents, then, **how)
    if working and permission.may("change"):
        help = f"Stops every {of} that is running, and removes every waiting {of} from the queue."
        button(f"Cancel {words.many(len(working), of)}", "stop", f"cancel_{key}", cancel, working, help=help)
