"""One point of the plane: what the machines of the first stage say of it, and what became of it."""

import numpy as np
import streamlit as st

from pages.ui.edit.setting import POINT, Sample
from pages.ui.edit.solve import Trained
from pages.ui.figures.frame import clicked
from pages.ui.kit import parameters, words
from svmcore.methods.editing import roles


def chosen(n: int) -> int:
    """The point that the address names, of n; -1 for none."""
    row = parameters.read(POINT, "", [str(at) for at in range(n)])
    return int(row) if row else -1


def picked(key: str) -> None:
    """Callback of a figure: the point that was clicked."""
    if rows := clicked(key):
        parameters.say(POINT, str(rows[0]))


def briefly(given: Sample, found: Trained, row: int) -> None:
    """Which it is, and the verdict; nothing where none is chosen."""
    if row >= 0:
        st.markdown(f"{_name(given, row)} {verdict(found.mean[row], found.variance[row], int(found.role[row]))}")


def told(given: Sample, found: Trained, row: int) -> None:
    """Its margins under every machine, their mean and variance, and the verdict."""
    if row < 0:
        st.info("Click a point, here or among those thrown away, to see what the machines said of it.",
                icon=":material/ads_click:")  # fmt: skip
        return
    st.markdown(_name(given, row))
    st.markdown(verdict(found.mean[row], found.variance[row], int(found.role[row])))
    margins = np.sort(found.margins[:, row])
    said = ", ".join(words.minus(f"{margin:.2f}") for margin in margins)
    right = int((margins > 0).sum())
    st.caption(f"{right} of {len(margins)} machines get it right. Margins y f: {said}.")


def _name(given: Sample, row: int) -> str:
    name = words.plain(words.short(given.names[int(given.y[row] > 0)], 30))
    flipped = " Its label was flipped." if given.flipped[row] else ""
    return f"**Point {row}, labelled {name}.**{flipped}"


def verdict(m: float, v: float, role: int) -> str:
    """The rule's sum for an example, and what follows."""
    low, high = words.minus(f"{m + v:.2f}"), words.minus(f"{m - v:.2f}")
    sums = {
        roles.WRONG_SIDE: f"m + v = {low} is below 0: the machines agree that it lies on the **wrong side**. "
        "Thrown away.",
        roles.EASY: f"m − v = {high} is above 1: all are sure of it, it would not become a support vector. **Easy**, "
        "thrown away.",
        roles.REINSERTED: f"m − v = {high} is above 1, easy; **put back** so that both classes keep equally many.",
        roles.VALIDATION: "Held out: it chose C and the thresholds, and trains no machine.",
    }
    return sums.get(role, f"m + v = {low} is not below 0 and m − v = {high} not above 1: **kept**.")
