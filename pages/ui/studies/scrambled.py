"""Machines trained twice, on pictures as they are and on the same pictures with all pixels in one random order.

    straight  x_i               scrambled  P x_i, P one permutation matrix          <P u, P v> = <u, v>

A machine whose kernel looks at inner products or distances cannot notice; what knows which pixels are neighbours (local
kernels, shifts) loses what it knew. Source: DeCoste and Schölkopf (2002), section 1.
"""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.kit import numbers, ways, words
from pages.ui.recipe import starting
from pages.ui.run import stored
from pages.ui.run.picker import no_pictures
from svmcore.lab.recipe.recipe import Recipe
from svmcore.lab.recipes import RECIPES
from svmcore.lab.store.runs import Group, Run
from svmcore.methods.local import LocalPoly
from svmcore.metrics import PairedTest, paired_test

EXACT = 1e-9  # decision values that differ by less are the same to the accuracy of numbers
CLEAR = 0.05  # a smaller p says that more than chance is at work

_FEWER = RECIPES["mnist-5k-sv"].replace(n_train=1500, name="custom")
USUAL = (
    RECIPES["mnist-5k-sv"],
    RECIPES["mnist-5k-rbf"],
    RECIPES["mnist-5k-vsv"],
    _FEWER.replace(kernel=LocalPoly((28, 28), 2, 2, 9), C=10.0, title="MNIST, 1500 digits: local kernel"),
    _FEWER.replace(method="jsv", jitters="box:1", title="MNIST, 1500 digits: jittering kernel"),
)


COLUMNS = {
    "As it is": numbers.text("Errors on the test examples, trained on the original pictures."),
    "Scrambled": numbers.text("The same with all pictures scrambled, for training and testing."),
    "Same predictions": numbers.text("Whether every test example gets the same prediction."),
    "Wrong only as it is": st.column_config.NumberColumn(
        help="Test examples misclassified only in their original form."
    ),
    "Wrong only scrambled": st.column_config.NumberColumn(help="Test examples misclassified only when scrambled."),
    "p": numbers.text("Exact McNemar test of the two previous columns."),
}


class Pair(NamedTuple):
    """One machine: its recipe, that of its scrambled twin, and the run of each that the store has."""

    recipe: Recipe
    twin: Recipe
    straight: Run | None
    scrambled: Run | None

    @property
    def title(self) -> str:
        return (self.straight and self.straight.title) or self.recipe.title or words.title(self.recipe)

    @property
    def done(self) -> bool:
        return all(run is not None and run.state == "done" for run in (self.straight, self.scrambled))


class Outcome(NamedTuple):
    """What both said of the same test examples. apart: the largest difference of two decision values."""

    straight: int
    scrambled: int
    n: int
    same: bool
    apart: float
    test: PairedTest


def refusal(run: Run) -> str:
    """Why a run cannot be scrambled; empty if it can."""
    if why := no_pictures(run):
        return why
    if any(step.startswith("scramble") for step in run.recipe.preprocess):
        return "its pixels are scrambled already"
    return "" if run.state == "done" else f"it is {run.state}"


def twin(recipe: Recipe, title: str, seed: int) -> Recipe:
    """The same experiment on scrambled pictures."""
    steps = (f"scramble:{seed}", *recipe.preprocess)
    return recipe.replace(preprocess=steps, name="custom", title=f"{title[:100]}, scrambled")


def pairs(chosen: Iterable[Run], seed: int) -> list[Pair]:
    """The runs chosen, or the usual ones, each with its twin."""
    chosen = list(chosen)
    straight = [(run.recipe, run) for run in chosen] or list(zip(USUAL, stored.stored(USUAL), strict=True))
    twins = [twin(recipe, run.title if run else recipe.title, seed) for recipe, run in straight]
    found = stored.stored(twins)
    if not any(found) and any(found := stored.or_samples(twins, found)):
        shown = stored.samples([recipe for recipe, _ in straight])
        straight = [(recipe, run or sample) for (recipe, run), sample in zip(straight, shown, strict=True)]
    return [Pair(recipe, other, run, its) for (recipe, run), other, its in zip(straight, twins, found, strict=True)]


def missing(found: Iterable[Pair]) -> list[Recipe]:
    """What is neither done nor at work."""
    return [
        recipe
        for pair in found
        for recipe, run in ((pair.recipe, pair.straight), (pair.twin, pair.scrambled))
        if not stored.kept(run)
    ]


def start(found: Iterable[Pair]) -> None:
    """Callback: queue what is missing, each scrambled run as grown out of its straight one."""
    found = list(found)
    group = Group.of("scramble", "Scramble the pixels", *(pair.recipe.digest() for pair in found))
    with starting.asking("Not all were queued."):
        for pair in found:
            kept = stored.kept(pair.straight)
            parent = pair.straight.id if kept else starting.submit(pair.recipe, looks=False, group=group)
            if not stored.kept(pair.scrambled):
                starting.submit(pair.twin, looks=False, parent=parent, group=group)


def outcome(pair: Pair) -> Outcome | None:
    """Both judgements compared, once both are done; None where they are not of the same examples."""
    if not pair.done:
        return None
    a, b = pair.straight.test(), pair.scrambled.test()
    if a.split != b.split or not np.array_equal(a.index, b.index):
        return None
    wrong = [test.y_true != test.y_pred for test in (a, b)]
    return Outcome(
        *(int(w.sum()) for w in wrong),
        n=len(a.index),
        same=bool(np.array_equal(a.y_pred, b.y_pred)),
        apart=float(abs(a.decision - b.decision).max(initial=0.0)),
        test=paired_test(*wrong),
    )


def table(found: list[Pair], states: dict[str, str]) -> None:
    """What is known of each machine by now."""
    rows = []
    for pair in found:
        row = {"Machine": words.short(pair.title, 60)}
        for name, run in (("As it is", pair.straight), ("Scrambled", pair.scrambled)):
            row[name] = _cell(run, states)
        if result := outcome(pair):
            row |= {
                "Same predictions": "all" if result.same else "no",
                "Wrong only as it is": result.test.only_a,
                "Wrong only scrambled": result.test.only_b,
                "p": words.small(result.test.p_value),
                "Largest change of f": words.small(result.apart, 1),
            }
        rows.append(row)
    alt = "Errors of each machine on pictures as they are and scrambled, and whether they are the same"
    numbers.table(rows, alt, "scramble_table", COLUMNS)


def conclusion(found: list[Pair]) -> None:
    """What the numbers say, machine by machine."""
    results = [(words.plain(pair.title), result) for pair in found if (result := outcome(pair))]
    blind = [(title, r) for title, r in results if r.same]
    if blind:
        apart = max(r.apart for _, r in blind)
        how = "to the accuracy of numbers" if apart < EXACT else f"within {words.small(apart, 1)}"
        st.markdown(
            f":material/visibility_off: **Cannot notice:** {_listed(blind)}. Exactly the same examples are "
            f"misclassified, and the decision values agree {how}: these machines ignore the positions of pixels."
        )
    losers = [(title, r) for title, r in results if r.test.only_b > r.test.only_a and r.test.p_value < CLEAR]
    for title, r in losers:
        st.markdown(
            f":material/trending_down: **{title}** loses its knowledge of neighbouring "
            f"pixels: {r.straight} of {r.n:,} wrong "
            f"become {r.scrambled} (p = {words.small(r.test.p_value, 1)})."
        )
    for title, r in (one for one in results if one not in blind and one not in losers):
        changed = r.test.only_a + r.test.only_b
        st.markdown(
            f":material/help: **{title}** predicts differently ({changed} examples are misclassified on one side "
            "only), but "
            f"{r.straight} against {r.scrambled} wrong of {r.n:,} may be chance (p = {words.small(r.test.p_value)})."
        )


def links(found: list[Pair]) -> None:
    """The ways to the two runs of each machine side by side."""
    ready = [pair for pair in found if pair.done and not pair.scrambled.sample]
    if not ready:
        return
    with st.container(horizontal=True):
        for pair in ready:
            label = f"Compare {words.plain(words.short(pair.title, 50))}"
            ways.to("compare", label, "compare", {"compare": [pair.straight.id, pair.scrambled.id]})


def _listed(results) -> str:
    return ", ".join(f"{title} ({r.straight} of {r.n:,} wrong both times)" for title, r in results)


def _cell(run: Run | None, states: dict[str, str]) -> str:
    if run is None:
        return "not run yet"
    result = run.result
    if not result:
        return states.get(run.id, run.state)
    return f"{result['errors']:,} of {result['n_test']:,}"
