"""What is edited, in the address: the dataset and two classes of a run, or a Setting of points in the plane, its
widgets and the sample that it names."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import streamlit as st

from data import DataError, catalogue, load
from pages.ui.kit import parameters, words
from pages.ui.recipe import data_set
from svmcore.lab import split as label_noise
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import titles

METHOD, PLAIN = "cross-training", "sv"
MAX_FLIPPED = 40  # per cent
BENCHMARK, STAND_IN = "banana", "toy-banana"
FEWEST, MOST_POINTS, TESTS = 50, 1600, 100  # examples that train, and that must be left to test on
C_SERIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0)
GAMMA_SERIES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
SEEDS = slice(0, 9999)
POINT = "point"  # the parameter of the address that names one of the examples
PARAMS = {
    "flipped": slice(0, MAX_FLIPPED), "examples": slice(FEWEST, MOST_POINTS), "subsets": slice(2, 20),
    "each": slice(4, MOST_POINTS), "sample_seed": SEEDS,
    "edit_C": [f"{C:g}" for C in C_SERIES], "edit_gamma": [f"{gamma:g}" for gamma in GAMMA_SERIES],
}  # fmt: skip


class Setting(NamedTuple):
    """Plain numbers and a name, so that what is computed of it can be kept under it."""

    dataset: str
    n: int
    noise: float  # share of the training labels that is flipped
    C: float
    gamma: float
    subsets: int  # s
    size: int  # r
    seed: int


class Sample(NamedTuple):
    """Examples of a Setting, standardised; labels +-1."""

    X: np.ndarray  # (n, 2) float32
    y: np.ndarray  # (n,) int64, some of them flipped
    flipped: np.ndarray  # (n,) bool
    X_test: np.ndarray  # (m, 2)
    y_test: np.ndarray  # (m,) as they are
    flipped_test: np.ndarray  # (m,) bool: the same share, for labels as noisy as those that trained
    names: tuple[str, str]  # of -1 and +1
    rows: np.ndarray  # (n,) which example of the dataset each is, those of its test part after the others
    synthetic: bool


def recipe_form() -> Recipe | None:
    """Draw the widgets; the recipe of the plain machine, or None, with a hint on screen, until classes are chosen.
    DataError for a dataset that cannot be read."""
    name = data_set.field(data_set.at_hand(), "Any available dataset; add your own on the Datasets page.")
    entry, chosen = catalogue.entry(name), []
    if entry.n_classes > 2:
        chosen = data_set.pair(entry, "cross_training.pair")
        if not 1 <= len(chosen) <= 2:
            st.info(
                "Cross-training separates two classes: choose two, or one against all others.",
                icon=":material/arrow_upward:",
            )
            return None
    base = data_set.suggestion(name)
    steps = tuple(step for step in base.preprocess if step != "deslant")
    classes = tuple(label for label in entry.classes if str(label) in chosen)
    return base.replace(
        method=PLAIN, jitters="", classes=classes, preprocess=steps, n_train=None, n_test=None, folds=None, options={},
        name="custom", title="",
    )  # fmt: skip


def flipped_share(usual: int = 0, width: int = 220) -> float:
    """The share of labels that is flipped, asked for by a slider; usual: in per cent."""
    help = "Share of the training labels to swap; the seed chooses which. Adds known label noise, to test the method."
    how = {"widget": "slider", "format": "%d %%", "width": width, "help": help}
    return parameters.number("cross_training.flipped", 0, MAX_FLIPPED, usual, 1, **how) / 100


def titled(recipe: Recipe) -> Recipe:
    """The recipe with a title that tells what it is when it stands among all runs."""
    return recipe.replace(title="").replace(title=titles.of_recipe(recipe))


def title_of(recipe: Recipe) -> str:
    """`USPS zip-code digits · 8 against the rest`: the examples of a recipe."""
    own = [str(label) for label in recipe.classes]
    told = f"{own[0]} against the rest" if len(own) == 1 else " against ".join(own)
    return " · ".join(filter(None, (words.short(titles.data_set(recipe.dataset), 40), words.short(told, 60))))


def choices() -> list[str]:
    """Datasets of points in the plane, of two classes."""
    return data_set.at_hand(lambda entry: entry.shape == (2,) and entry.n_classes == 2)


def usual() -> str:
    """The benchmark where it is at hand."""
    return BENCHMARK if catalogue.entry(BENCHMARK).at_hand else STAND_IN


def form() -> Setting:
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = data_set.field(choices(), "Datasets of points in the plane with two classes.", usual())
        entry = catalogue.entry(name)
        noise = flipped_share(10, 260)
        most = max(FEWEST, min(MOST_POINTS, entry.n_train + entry.n_test - TESTS) // 50 * 50)
        n = parameters.number(
            "cross_training.examples", FEWEST, most, min(400, most), 50, on_change=parameters.say, args=(POINT, None)
        )
        with st.popover("Machine and subsets", icon=":material/tune:"):
            C = _choice("edit_C", C_SERIES, 3.0)
            gamma = _choice("edit_gamma", GAMMA_SERIES, 1.0)
            subsets = parameters.number("cross_training.subsets", 2, 20, 5, 1)
            size = parameters.number("cross_training.each", 4, n, min(200, n // 4 * 2), 2)
            seed = parameters.number("cross_training.sample_seed", SEEDS.start, SEEDS.stop, 0, 1)
    return Setting(name, n, noise, C, gamma, subsets, size, seed)


def _choice(name, series, value) -> float:
    texts = [f"{v:g}" for v in series]  # options are their own labels, as the address shows them
    return float(parameters.choice(f"cross_training.{name}", texts, f"{value:g}"))


def sample(setting: Setting) -> Sample:
    """The examples of a setting. DataError where they cannot be had, or one class alone is drawn."""
    return _sample(load(setting.dataset).content_hash, setting.dataset, setting.n, setting.noise, setting.seed)


@lru_cache(maxsize=32)
def _sample(content_hash: str, dataset: str, n: int, noise: float, seed: int) -> Sample:
    """content_hash: the reader's own sets can be replaced under their name."""
    data = load(dataset)
    X = np.concatenate([data.X_train, data.X_test]).astype(np.float64)
    y = np.where(np.concatenate([data.y_train, data.y_test]) == data.classes[1], 1, -1)
    rows = np.random.default_rng(seed).permutation(len(y))
    if data.train is not None:
        rows = rows[~np.isin(rows, data.train.unlabelled)]
    train, test = rows[:n], rows[n:]
    if len(set(y[train].tolist())) < 2 or not len(test):
        raise DataError(f"{words.short(data.entry.title)} has too few examples of a class", "a larger dataset")
    mean, spread = X[train].mean(axis=0), np.maximum(X[train].std(axis=0), 1e-12)
    X = ((X - mean) / spread).astype(np.float32)
    flipped = label_noise.flipped(len(train), noise, seed)
    flipped_test = label_noise.flipped(len(test), noise, seed, label_noise.TEST)
    labels = np.where(flipped, -y[train], y[train])
    names = tuple(str(name) for name in data.classes)
    return Sample(X[train], labels, flipped, X[test], y[test], flipped_test, names, train, data.entry.synthetic)
