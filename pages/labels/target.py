"""The revision that verdicts go to: chosen by name, and changed by callbacks that say what could not be."""

from typing import NamedTuple

import streamlit as st

from data import DataError, Dataset, load, revisions, verdicts
from data.revisions import Merged
from data.verdicts import Key, Verdict
from pages.ui.kit import parameters, state
from pages.ui.kit.words import plain
from svmcore.lab.store.runs import Run

USUAL, PRACTICE = "checked", "practice"


class Target(NamedTuple):
    """The revision of a run's dataset, which is there from its first verdict on."""

    name: str  # without lines: as it is now
    base: Dataset

    @property
    def standing(self) -> dict[Key, Verdict]:
        """The verdict on each example judged. DataError for a damaged file, or one on other examples."""
        return revisions.standing(self.name, self.base.entry)

    @property
    def lines(self) -> int:
        """How many lines its file has; 0 before the first verdict."""
        return len(revisions.read(self.name, self.base.entry).lines)


def check(text: str) -> None:
    """Of an address: DataError for what cannot name a revision."""
    revisions.named("", text.strip() or USUAL)


def field(run: Run) -> Target | None:
    """The choice of a revision of the run's dataset by its name; None, and the reason, for a name that cannot be."""
    now = revisions.parse_name(run.recipe.dataset)
    dataset = load(run.recipe.dataset)
    base = dataset.base or dataset
    usual = now.slug if now else PRACTICE if run.recipe.options.get("noise") else USUAL
    wanted = parameters.text("labels.revision", usual, max_chars=revisions.MAX_SLUG)
    try:
        target = Target(revisions.named(base.entry.name, wanted.strip() or usual), base)
        target.standing  # noqa: B018  (whether it can be read)
        if target.lines:
            load(target.name)
    except DataError as error:
        st.error(plain(error), title="This revision cannot be reviewed further", icon=":material/broken_image:")
        return None
    return target


def give(target: Target, given: list[Verdict]) -> bool:
    """For callbacks: add verdicts; whether they were kept, else it is said why not."""
    try:
        revisions.add(target.name, target.base, given)
    except DataError as error:
        state.tell_later(f":material/block: {plain(error)}")
        return False
    return True


def undo(target: Target) -> Verdict | None:
    """For callbacks: take back the latest verdict; it, or None."""
    try:
        return revisions.undo(target.name, target.base)
    except DataError as error:
        state.tell_later(f":material/block: {plain(error)}")
        return None


def merge(target: Target, found: Merged, theirs: bool) -> None:
    """Callback: take over what is new of somebody's verdicts, and where the two disagree, theirs or one's own."""
    added = [*found.new, *(their for _, their in found.unlike if theirs)]
    if give(target, added):
        state.tell_later(f":material/merge: {len(added):,} decisions imported.")


def meant(part: str, row: int, given, had, label, shown) -> Verdict:
    """The verdict that an example is of a class. given: its label in the base; had: in the run's dataset, another one
    where verdicts changed it; shown: the label that it was shown with, another one where label noise swapped it. To
    keep a label is no other verdict than the base's own, unless verdicts made it: then it is said again."""
    if label == shown and had == given != verdicts.UNLABELLED:
        return Verdict(part, row, given, verdicts.KEEP)
    return Verdict(part, row, given, verdicts.LABEL, label)
