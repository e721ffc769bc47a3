"""A worked note: three images of three pixels on which a jittering kernel is no kernel, and the set that repairs it.

DeCoste and Schoelkopf, Machine Learning 46 (2002), section 3.3.
"""

import numpy as np
import streamlit as st

from svmcore.kernels import Linear
from svmcore.methods.definite import distances
from svmcore.methods.jittering import Jittered

IMAGES = np.eye(3, dtype=np.float32)  # A, B, C: one row of three pixels, one of them inked
SETS = {"1 pixel": "shift:0,1;0,-1@zero", "1 and 2 pixels": "shift:0,1;0,-1;0,2;0,-2@zero"}


def note():
    """What the distances between the three images are under either set."""
    with st.expander("Worked note: when the nearest form is no distance", key="triangle"):
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
        st.dataframe(
            rows,
            hide_index=True,
            height="content",
            key="triangle_distances",
            alt="Distances between the three images under either set of shifts",
        )
