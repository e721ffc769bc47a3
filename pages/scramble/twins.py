"""Machines trained twice, on pictures as they are and on the same pictures with all pixels in one random order.

    straight  x_i               scrambled  P x_i, P one permutation matrix          <P u, P v> = <u, v>

A machine whose kernel looks at inner products or distances cannot notice; what knows which pixels are neighbours (local
kernels, shifts) loses what it knew. Source: DeCoste and Schölkopf (2002), section 1.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import streamlit as st

from pages.ui.kit import numbers, ways, words
from pages.ui.run.picker import no_pictures
from pages.ui.studies import usual
from pages.ui.studies.study import Plan, Results
from svmcore.lab.store.runs import Group, Run
from svmcore.metrics import PairedTest, paired_test

EXACT = 1e-9  # decision values that differ by less are the same to numerical accuracy
CLEAR = 0.05  # a smaller p says that more than chance is at work

COLUMNS = {
    "Original": numbers.text("Test errors of the machine trained on the original pictures."),
    "Scrambled": numbers.text("Test errors of the machine trained and tested on scrambled pictures."),
    "Same predictions": numbers.text("Whether every test example gets the same prediction."),
    "Wrong only in the original": numbers.count("Test examples misclassified only in their original form."),
    "Wrong only scrambled": numbers.count("Test examples misclassified only when scrambled."),
    "p": numbers.text("p-value of the exact McNemar test on the two previous columns."),
}


class Pair(NamedTuple):
    """One machine by its title, and the runs that there are of it and of its scrambled twin."""

    title: str
    straight: Run | None
    scrambled: Run | None


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
        return "its pixels are already scrambled"
    return "" if run.state == "done" else f"it is {run.state}"


def plan(chosen: Sequence[Run], seed: int) -> Plan:
    """The runs chosen, or the usual ones; each scrambled run grows out of its straight one."""
    straight, recipes, parents = {}, {}, {}
    for run in chosen:
        straight[run.title if run.title not in straight else f"{run.title} ({len(straight) + 1})"] = run.recipe
    straight = straight or {recipe.title: recipe for recipe in usual.TO_SCRAMBLE}
    for title, recipe in straight.items():
        twin = f"{title}, scrambled"
        recipes |= {title: recipe, twin: usual.scrambled(recipe, title, seed)}
        parents[twin] = title
    group = Group.of("scramble", "Scramble the pixels", *(recipe.digest() for recipe in straight.values()))
    return Plan(recipes, group, seed, parents=parents)


def pairs(results: Results) -> list[Pair]:
    return [Pair(title, results.runs[title], results.runs[twin]) for twin, title in results.plan.parents.items()]


def outcome(pair: Pair) -> Outcome | None:
    """Both judgements compared, once both are done; None where they are not of the same examples."""
    if not all(run is not None and run.state == "done" for run in pair[1:]):
        return None
    a, b = pair.straight.test(), pair.scrambled.test()
    if a.split != b.split or not np.array_equal(a.index, b.index):
        return None
    wrong = [test.wrong for test in (a, b)]
    return Outcome(
        *(int(w.sum()) for w in wrong),
        n=len(a.index),
        same=bool(np.array_equal(a.y_pred, b.y_pred)),
        apart=float(abs(a.decision - b.decision).max(initial=0.0)),
        test=paired_test(*wrong, a.groups),
    )


def rows(results: Results, states: dict[str, str]) -> list[dict]:
    told = []
    for pair in pairs(results):
        row = {"Machine": words.short(pair.title, 60)}
        for column, name in (("Original", pair.title), ("Scrambled", f"{pair.title}, scrambled")):
            run = results.done.get(name)
            row[column] = f"{run.result['errors']:,} of {run.result['n_test']:,}" if run else states[name]
        if result := outcome(pair):
            row |= {
                "Same predictions": "all" if result.same else "no",
                "Wrong only in the original": result.test.only_a,
                "Wrong only scrambled": result.test.only_b,
                "p": words.small(result.test.p_value),
                "Largest change of f": words.small(result.apart, 1),
            }
        told.append(row)
    return told


def conclusion(found: Results) -> None:
    """What the numbers say, machine by machine, and the ways to its two runs side by side."""
    results = [(words.plain(pair.title), result) for pair in pairs(found) if (result := outcome(pair))]
    blind = [(title, r) for title, r in results if r.same]
    if blind:
        apart = max(r.apart for _, r in blind)
        listed = ", ".join(f"{title} ({r.straight} of {r.n:,} wrong both times)" for title, r in blind)
        how = "to numerical accuracy" if apart < EXACT else f"within {words.small(apart, 1)}"
        st.markdown(
            f":material/visibility_off: **Same predictions after scrambling:** {listed}. Exactly the same examples are "
            f"misclassified, and the decision values agree {how}. A machine that ignores the positions of pixels "
            "differs by rounding only."
        )
    losers = [(title, r) for title, r in results if r.test.only_b > r.test.only_a and r.test.p_value < CLEAR]
    for title, r in losers:
        st.markdown(
            f":material/trending_down: **{title}** loses its knowledge of neighbouring pixels: its errors rise from "
            f"{r.straight} to {r.scrambled} of {r.n:,} (p = {words.small(r.test.p_value, 1)})."
        )
    for title, r in (one for one in results if one not in blind and one not in losers):
        changed = r.test.only_a + r.test.only_b
        st.markdown(
            f":material/help: **{title}** predicts differently after scrambling: of {r.n:,} examples, it misclassifies "
            f"{r.straight} in original form and {r.scrambled} when scrambled (p = {words.small(r.test.p_value)}). "
            f"Misclassified in only one of these two forms: {changed}."
        )
    with st.container(horizontal=True):
        for pair in pairs(found):
            if outcome(pair) and not pair.scrambled.sample:
                label = f"Compare {words.plain(words.short(pair.title, 50))}"
                ways.to("compare", label, "compare", {"compare": [pair.straight.id, pair.scrambled.id]})
