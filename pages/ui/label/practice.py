"""Practice: where the recipe's noise swapped labels, how many of them were found. Shown when asked for alone."""

import streamlit as st

from data import verdicts
from pages.ui.kit import words
from pages.ui.label import listed
from pages.ui.label.listed import Doubt
from pages.ui.label.target import Target
from svmcore.lab.store.runs import Run

CALLED_WRONG = (verdicts.LABEL, verdicts.OUT)


def hint(run: Run, to: Target, doubts: tuple[Doubt, ...]) -> None:
    """A switch, and behind it what of the list, and of what was judged, was swapped by noise."""
    if not run.recipe.options.get("noise") or not doubts or doubts[0].part != "train":
        return
    asked = st.toggle(
        "How well did I do?", key="label_practice",
        help="The recipe swapped labels by its seed: which ones is known, and told here. Judge first.",
    )  # fmt: skip
    if asked:
        st.markdown(told(listed.swapped(run), [doubt.key for doubt in doubts], to.standing))


def told(swapped: set, ranked: list, stands: dict) -> str:
    """Precision and recall of the first k of a list, and of the verdicts."""
    n, k = len(swapped), len(ranked)
    found = sum(key in swapped for key in ranked)
    lines = [
        f"Noise swapped {words.many(n, 'training label')}. Of the first {k:,} suspects {found:,} are among them: "
        f"precision {_share(found, k)}, recall {_share(found, n)}."
    ]
    called = {key: one for key, one in stands.items() if key[0] == "train" and one.verdict in CALLED_WRONG}
    right = sum(key in swapped for key in called)
    if not called:
        return lines[0] + " You have called none of them wrong yet."
    mended = sum(key in swapped and one.says == (verdicts.LABEL, one.given) for key, one in called.items())
    kept = sum(key in swapped and stands[key].verdict == verdicts.KEEP for key in ranked if key in stands)
    lines.append(
        f"You called {len(called):,} wrong, and {right:,} of them were: precision {_share(right, len(called))}, recall "
        f"{_share(right, n)}; {mended:,} have their own label again."
        + (f" {words.many(kept, 'swapped label')} you kept." if kept else "")
    )
    return "  \n".join(lines)


def _share(part: int, whole: int) -> str:
    return f"{part / whole:.2f}" if whole else "–"
