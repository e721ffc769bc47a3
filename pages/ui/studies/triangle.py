"""A worked note: three images of three pixels on which a jittering kernel is no kernel, and the set that repairs it;
and how it goes on digits as the set grows.

DeCoste and Schölkopf, Machine Learning 46 (2002), section 3.3.
"""

import numpy as np
import streamlit as st

from data import load
from pages.ui.figures import comparison
from pages.ui.figures.frame import show
from pages.ui.kit import numbers
from svmcore.jitter import JitterSet
from svmcore.kernels import Kernel, Linear, Poly
from svmcore.methods.definite import KernelReport, distances, examine
from svmcore.methods.jittering import Jittered
from svmcore.preprocess import Preprocessor

IMAGES = np.eye(3, dtype=np.float32)  # A, B, C: one row of three pixels, one of them inked
GROWING = ("none", "plus:1", "box:1", "vsv2", "box:2", "box:3", "box:4")
EXAMINED = {"Degree 9": (Poly(9, 1.0, 1.0), 1000), "Linear": (Linear(), 500)}
SETS = {"1 pixel": "shift:0,1;0,-1@zero", "1 and 2 pixels": "shift:0,1;0,-1;0,2;0,-2@zero"}


def note():
    """What the distances between the three images are under either set."""
    with st.expander("Worked note: when the nearest form does not give a distance", key="triangle"):
        st.markdown(
            "Three images, one row of three pixels each: **A** ■□□, **B** □■□, **C** □□■. With shifts by one pixel A "
            "and B coincide, and so do B and C, yet A and C stay apart: the way over B is shorter than the straight, "
            "so no feature space has these distances. Shifts by two pixels as well bring A and C together."
        )
        rows = []
        for name, text in SETS.items():
            D = distances(Jittered(Linear(), text, (1, 3)).block(IMAGES, IMAGES))
            holds = D[0, 1] + D[1, 2] >= D[0, 2]
            rows.append(
                {"Shifts": name, "A to B": D[0, 1], "B to C": D[1, 2], "A to C": D[0, 2], "Triangle holds": bool(holds)}
            )
        numbers.table(rows, "Distances between the three images under either set of shifts", "triangle_distances")


def growth() -> None:
    """Triangles and eigenvalues of the jittering kernel on digits, as the set of shifts grows; of two kernels."""
    sides = st.grid(2, min_column_width=420)
    for name, (kernel, n) in EXAMINED.items():
        reports = {len(JitterSet.parse(text)): _examined(kernel, n, text) for text in GROWING}
        with sides.cell():
            st.markdown(f"**{name}**, {n:,} digits")
            show(comparison.definiteness(reports), f"definite_{kernel.name}")
    st.caption(
        "Digits of all ten classes, unit norm, under shifts by up to four pixels each way. The paper conjectures that "
        "violations become fewer as the set is completed."
    )


@st.cache_data(hash_funcs={Poly: repr, Linear: repr}, show_spinner="Computing the kernel of a larger set")
def _examined(kernel: Kernel, n: int, text: str) -> KernelReport:
    X = Preprocessor("unit-norm").transform(load("mnist-5k").X_train[:n].reshape(n, -1))
    return examine(Jittered(kernel, f"{text}@zero", (28, 28), prepare=("unit-norm",)), X)
