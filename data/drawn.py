"""Synthetic two-class problems with a known Bayes error; the name gives the amount of overlap.

    squares:0.2     two uniform unit squares whose centres lie 1 - 0.2 apart: Bayes error 0.2 / 2
    clouds:2        two Gaussians in ten dimensions, means +-(1,1,1,1,1,0,0,0,0,0), standard deviation 2: Bayes error
                    Phi(-sqrt(5) / 2) = 13.2 %;  clouds:4 is 28.8 %

The text on Figure 3 of Bakir, Bottou and Weston (2004) says "standard deviation 4", but its error axis ends at 20 %,
which fits variance 4 (clouds:2). The squares are those of its Figure 1.
"""

import re
from math import erf, sqrt

import numpy as np

from data.dataset import UnknownDataset
from data.entry import Entry
from data.synthetic import entry_of

N_TRAIN, N_TEST = 20_000, 10_000
D, APART = 10, 5  # features, and how many of them differ between the classes
_NUMBER = re.compile(r"(0|[1-9]\d{0,2})(\.\d{0,3}[1-9])?")


def squares(n: int, overlap: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 2) float32 uniform on two unit squares side by side that share `overlap` of each, y (n,) in {-1, +1}."""
    rng, y = np.random.default_rng(seed), np.where(np.arange(n) % 2, -1, 1)
    X = rng.uniform(-0.5, 0.5, (n, 2))
    X[:, 0] += y * (1 - overlap) / 2
    return X.astype(np.float32), y


def clouds(n: int, deviation: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """X (n, 10) float32 of two Gaussians of this standard deviation, y (n,) in {-1, +1}."""
    rng, y = np.random.default_rng(seed), np.where(np.arange(n) % 2, -1, 1)
    X = deviation * rng.standard_normal((n, D))
    X[:, :APART] += y[:, None]
    return X.astype(np.float32), y


def bayes_error(name: str) -> float:
    """The Bayes error of a dataset of these families. Raises UnknownDataset for another name."""
    family, amount = _read(name)
    if family == "squares":
        return amount / 2
    return (1 - erf(sqrt(APART) / amount / sqrt(2))) / 2


def is_drawn(name: str) -> bool:
    """Whether a name belongs to one of the families."""
    return name.partition(":")[0] in FAMILIES


def entry(name: str) -> Entry:
    """The entry of squares:OVERLAP or clouds:DEVIATION. Raises UnknownDataset for an amount out of range."""
    family, amount = _read(name)
    make, d, kind, title = FAMILIES[family]
    note = f"Synthetic: the same on every computer. The Bayes error is {100 * bayes_error(name):.1f} %. "
    note += f"Names with other values work as well: {ALLOWED[family]}."
    of_amount = lambda n, seed: make(n, amount, seed)  # noqa: E731
    return entry_of(name, f"{title} {amount:g}", kind, d, of_amount, N_TRAIN, N_TEST, note)


def entries() -> list[Entry]:
    """The datasets of these families that the catalogue lists."""
    return list(map(entry, LISTED))


def _read(name: str) -> tuple[str, float]:
    family, _, text = name.partition(":")
    if family not in FAMILIES:
        raise UnknownDataset(name, ALLOWED.values())
    amount = float(text) if _NUMBER.fullmatch(text) else -1.0
    if not (0 <= amount <= 1 if family == "squares" else 0 < amount <= 100):
        raise UnknownDataset(name, [ALLOWED[family]])
    return family, amount


FAMILIES = {
    "squares": (squares, 2, "toy", "Two unit squares, overlap"),
    "clouds": (clouds, D, "features", "Two Gaussian clouds in ten dimensions, standard deviation"),
}
ALLOWED = {
    "squares": "squares:OVERLAP with an overlap from 0 to 1",
    "clouds": "clouds:DEVIATION with a standard deviation above 0 and up to 100",
}
LISTED = ("squares:0.2", "clouds:2", "clouds:4")
