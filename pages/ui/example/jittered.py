"""One example under every jitter of a set, laid out around the original as in Figure 4 of the paper.

A set of shifts becomes a square with the shift (dy, dx) at its row and column, the original at the centre.  Shifts of
other jitters become a square each; all that is not shifted stands together.

Reference: DeCoste and Schölkopf, Machine Learning 46 (2002), Figure 4.
"""

from typing import NamedTuple

import numpy as np

from data import Dataset
from pages.ui.example import evidence
from pages.ui.example.spoken import brief
from pages.ui.kit.gallery import Tile, gallery, pictures
from pages.ui.kit.words import short
from svmcore.jitter import JitterSet
from svmcore.lab.store.runs import Run
from svmcore.model import labels

MOST = 225  # forms drawn of a set
SMALL = 56  # pixels below which only the forms at the edges say their jitter
ROW = 3  # forms without shifts that stand in one row


class Square(NamedTuple):
    """A square of cells: numbers (rows, columns) of the jitters that they hold, -1 for none."""

    title: str
    cells: np.ndarray


class Forms(NamedTuple):
    """The forms (J, ...) of one example, its class, and the predictions of a run, () before they were requested."""

    images: np.ndarray
    true: str
    predicted: tuple[str, ...] = ()


def forms(dataset: Dataset, split: str, index: int, jitters: JitterSet) -> Forms:
    X, y = evidence.examples(dataset, split)
    return Forms(applied(jitters, X[index : index + 1])[:, 0], str(y[index]))


def asked(shown: Forms, run: Run, label) -> Forms:
    """The forms with what a run's machine takes each of them for, and its name for their class `label`."""
    machine = run.machine()
    names = evidence.class_names(run, machine)
    f = machine.decision_values(evidence.prepared(run, shown.images))
    true = evidence.class_of(run, machine, label) or ""
    return Forms(shown.images, true, tuple(map(str, labels(np.array(names), f))))


def applied(jitters: JitterSet, X: np.ndarray) -> np.ndarray:
    """The forms (J, n, ...) of examples X (n, ...), whole grey levels where the dataset has them."""
    forms = jitters.apply(X)
    return np.rint(forms.clip(0, 255)).astype(np.uint8) if X.dtype == np.uint8 else forms


def squares(jitters: JitterSet) -> list[Square]:
    """The layout of a set; shifts too far out to be drawn with MOST others are left out."""
    rest, index, offsets = jitters.factor()
    far = np.abs(offsets).max(axis=1)
    reach = max(r for r in np.unique(far) if r == 0 or np.sum(far <= r) <= MOST)
    if not reach:
        return [Square("", _around(len(rest)))]
    grids, alone = [], []
    for r, name in enumerate(rest.names):
        mine = np.flatnonzero((index == r) & (far <= reach))
        if len(mine) == 1:
            alone.append(mine[0])
            continue
        cells = np.full((2 * reach + 1, 2 * reach + 1), -1)
        cells[tuple(offsets[mine].T + reach)] = mine
        used = cells >= 0
        grids.append(Square(name if len(rest) > 1 else "", cells[np.ix_(used.any(axis=1), used.any(axis=0))]))
    if alone:
        grids.append(Square("not shifted", np.array([alone])))
    return grids


def size(squares: list[Square]) -> int:
    """How high a form of a 28 x 28 digit is drawn, in pixels, so that the largest square fits on a page."""
    widest = max(len(square.cells) for square in squares)
    return 84 if widest <= 3 else 56 if widest <= 5 else 28


def draw(dataset: Dataset, shown: Forms, jitters: JitterSet, square: Square, key: str, height: int) -> None:
    """One square of the layout; a cross marks a form that the run takes for another class. Above each form stands its
    jitter, or, where forms are small, above the first of each row and column."""
    cells = square.cells
    uppers = [brief(jitters.jitters[j], square.title) if j >= 0 else "" for j in cells.ravel()]
    if height < SMALL:
        right = [not shown.predicted or shown.predicted[j] == shown.true for j in cells.ravel()]  # others have a cross
        held = cells >= 0
        first = held & ((np.cumsum(held, axis=0) == 1) | (np.cumsum(held, axis=1) == 1))  # of a row or column
        uppers = np.where(first.ravel() & right, uppers, "")
    gallery(
        drawn(dataset, shown)[np.maximum(cells.ravel(), 0)],
        [tile(jitters.names[j], name, j, shown) if j >= 0 else Tile("", "") for j, name in zip(cells.ravel(), uppers)],
        key=key,
        alt=f"{np.sum(cells >= 0)} forms of one example" + (f": {square.title}" if square.title else ""),
        size=height,
        rows=[""] * len(cells),
    )


def drawn(dataset: Dataset, shown: Forms) -> np.ndarray:
    """The forms as pictures (J, h, w[, 3]) uint8."""
    return pictures(shown.images, dataset.X_train, dataset.image_shape, dataset.entry.ink)


def tile(name: str, upper: str, j: int, shown: Forms) -> Tile:
    said = shown.predicted[j] if shown.predicted else ""
    label = f"{name}, predicted as {said}" if said else name
    return Tile(
        "",
        label,
        upper=upper,
        lower=short(said, 9),
        ring="virtual" if j else "free",
        cross=bool(said) and said != shown.true,
    )


def _around(n: int) -> np.ndarray:
    """The numbers 0 to n - 1 in a row or a near-square, 0 at the centre, the others in their order around it."""
    n = min(n, MOST)
    columns = n if n <= ROW else _odd(np.sqrt(n))
    rows = 1 if n <= ROW else _odd(n / columns)
    cells = np.full(rows * columns, -1)
    centre = len(cells) // 2
    first = centre - n // 2
    cells[first : first + n] = np.insert(np.arange(1, n), centre - first, 0)
    return cells.reshape(rows, columns)


def _odd(x: float) -> int:
    return int(2 * np.ceil((x - 1) / 2) + 1)
