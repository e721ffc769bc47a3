"""The studies as cards: of each a finished figure, a sentence and the way there.

A figure is the page's own, of the samples that come with the lab, so that nothing is trained for it.
"""

from collections.abc import Callable, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from data import load
from pages.ui import reduction
from pages.ui.figures import comparison, edited
from pages.ui.figures import scaling as osuna_figures
from pages.ui.figures.frame import chart
from pages.ui.kit import present, ways, words
from pages.ui.run import stored
from pages.ui.studies import usual
from svmcore.lab.analyses.scaling import point
from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.presets import RECIPES, osuna, xtrain
from svmcore.lab.recipe import Recipe

HEIGHT = 210
CROSSED = xtrain.POINTS["xtrain-fig1-0.3-0"]
_EIGHT = RECIPES["mnist-5k-8-vs-rest"].replace(name="custom", n_train=2000, solver="smo-digestion")
REDUCED = reduction_of(RECIPES["digits-8x8-sv"]).replace(title="8x8 digits: a tenth of the vectors")
SIDES = "digestion", "without"
DIGESTION = {side: _EIGHT.replace(digestion={"rows": 200, "on": side == SIDES[0]}) for side in SIDES}


class Card(NamedTuple):
    """A page, what it is about, the recipes of the samples of its figure, and how their runs become the figure."""

    page: str
    title: str
    icon: str
    about: str
    recipes: tuple[Recipe, ...]
    figure: Callable[[list], go.Figure]


def _intervals(found: list, names: Sequence[str] = ()) -> go.Figure:
    names = names or [words.short(run.title.rpartition(": ")[2], 28) for run in found]
    figure = comparison.error_intervals(names, [run.result for run in found], [None] * len(found))
    return figure.update_xaxes(title_text="wrong, %")


def _crossed(found: list) -> go.Figure:
    (run,) = found
    kept, dataset = run.edited(), load(run.recipe.dataset)
    names = [str(label) for label in dataset.entry.classes]
    sign = np.where(dataset.y_train[kept.index].astype(str) == names[1], 1, -1)
    return edited.thrown_away(edited.Points(dataset.X_train[kept.index], sign, names), kept.role)


_VIRTUAL = usual.TO_SCRAMBLE[2]
CARDS = (
    Card("methods", "Compare methods", "balance", "Every method learns one pair of digits from 400 examples.",
         tuple(usual.of_pair("mnist-5k", ("3", "8")).values()), _intervals),
    Card("scramble", "Scramble the pixels", "shuffle", "Virtual support vectors encode shifts; permuting the pixels "
         "destroys this advantage.", (_VIRTUAL, usual.scrambled(_VIRTUAL, _VIRTUAL.title, 0)),
         lambda found: _intervals(found, ["original pixels", "scrambled pixels"])),
    Card("reduced", "Reduced sets", "compress", "One machine reduced to fewer and fewer vectors, with its errors at "
         "each size.", (REDUCED,), lambda found: reduction.size_curve(found[0], [])),
    Card("cross_training", "Cross-training", "content_cut", "Which examples a rule discards before training, and why.",
         (CROSSED,), _crossed),
    Card("digestion", "Digestion", "stacked_line_chart", "During training there are more support vectors than at the "
         "end. Digestion leaves a pass early, so that they stay few.", tuple(DIGESTION.values()),
         lambda found: comparison.bulge({name: run.progress() for name, run in zip(DIGESTION, found, strict=True)})),
    Card("scaling", "Osuna's study", "query_stats", "Training time of the decomposition as the number of examples "
    "grows, for three sizes of the working set.", osuna.STAND_IN_GROWTH,
         lambda found: osuna_figures.time_against_n(osuna_figures.by(list(map(point, found)), "working_set", "|B| ="))
         .update_xaxes(tickvals=(500, 4000), ticktext=("500", "4,000"))),
)  # fmt: skip


def draw() -> None:
    st.caption("Each figure shows a finished sample that comes with the lab.")
    grid = st.grid(3, min_column_width=present.scaled(270))
    known = iter(stored.samples(recipe for card in CARDS for recipe in card.recipes))
    for card in CARDS:
        found = list(islice(known, len(card.recipes)))
        with grid.cell(), st.container(border=True, height="stretch", key=f"card_{card.page}"):
            ways.to(card.page, f"**{card.title}**", card.icon)
            if all(found):
                figure = card.figure(found).update_layout(height=HEIGHT)
                chart(figure, f"study_{card.page}")
            st.caption(card.about)
