"""Two solvers on one tape: the support vectors that each holds, and the cache that they fill and spill over.

    clock = kernel values computed      both start at 0, and the one that needs fewer of them is done first

Drawn in the browser (race.js) from the lines of two runs' progress. A support vector keeps a row of the cache from when
it is first looked up until its alpha is 0 again, as long as one is free: of n_sv, min(n_sv, rows) have one.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import streamlit as st

from pages.ui.figures.curves import thinned
from pages.ui.kit.component import component


class Side(NamedTuple):
    """One solver: its progress, oldest line first (kernel_evals, n_sv), and whether it has come to its end."""

    lines: Sequence[dict]
    done: bool


def draw(sides: Mapping[str, Side], rows: int) -> None:
    """The tape of the solvers, by their names, with a cache of so many rows."""
    shown = {name: [(0, 0), *((e["kernel_evals"], e["n_sv"]) for e in thinned(s.lines))] for name, s in sides.items()}
    data = {
        "rows": rows,
        "sides": [
            {"name": name, "evals": [e for e, _ in line], "svs": [n for _, n in line], "done": sides[name].done}
            for name, line in shown.items()
        ],
        "alt": alt(shown, rows),
    }
    version = hashlib.sha256(repr(data).encode()).hexdigest()[:12]
    _component(data=data | {"version": version}, key="race")
    st.caption(
        "Grey: support vectors whose kernel values have a row of the cache; dashed: its rows. Orange: those without "
        "one, whose values are computed anew each time."
    )


def alt(shown: Mapping[str, Sequence[tuple[int, int]]], rows: int) -> str:
    """What the picture shows, in words and counts."""
    told = "; ".join(
        f"{name}: {line[-1][0]:,} kernel values, at most {max(n for _, n in line):,} support vectors, "
        f"{line[-1][1]:,} at the end"
        for name, line in shown.items()
    )
    return f"Support vectors held while training, against kernel values computed, with {rows:,} cache rows. {told}."


_component = component(__file__, "race", '<div class="race">\n</div>', first=("svg", "tape"))
