"""The catalogue of datasets: bundled with packages, downloadable, mirrored, synthetic, and the user's own.

entries() -> [Entry]      entry(name) -> Entry      load(name) -> Dataset
catalogue.json            published datasets and sets of pictures: their facts and files (data.manifest)
squares:0.2, clouds:2     families of synthetic datasets, a few of which are listed (data.drawn)
mnist-5k@checked          a revision: a base dataset with verdicts on its labels (data.revisions)
draft, keep               the user's own datasets (data.own)
forget, damaged           for own datasets and revisions
"""

from collections.abc import Callable
from functools import partial

from data import drawn, own, revisions, synthetic
from data.dataset import Dataset
from data.entry import Entry, fields_of, find
from data.loaders import published
from data.own import PREFIX as OWN_PREFIX
from data.own import draft, keep
from data.shelf import DamagedSet

__all__ = ["DEFAULT", "OWN_PREFIX", "Entry", "damaged", "draft", "entries", "entry", "forget", "keep", "load", "pinned"]

DEFAULT = "mnist-5k"


def entries() -> list[Entry]:
    """All datasets; the user's own and the revisions come last."""
    return [*_BUILT_IN.values(), *own.entries(), *revisions.entries(_base)]


def entry(name: str) -> Entry:
    """The entry of this name. Raises UnknownDataset, which lists the names; DataError for a damaged revision."""
    if revisions.AT in str(name):
        return revisions.entry(name, _base)
    if drawn.is_drawn(name):
        return drawn.entry(name)
    return find(name, _BUILT_IN, entries)


def _base(name: str) -> Entry:
    """The entry of a dataset that may be the base of a revision. Raises UnknownDataset."""
    return drawn.entry(name) if drawn.is_drawn(name) else find(name, _BUILT_IN, own.entries)


def damaged() -> list[DamagedSet]:
    """The user's own datasets and revisions that cannot be read."""
    return [*own.damaged(), *revisions.damaged(_base)]


def forget(name: str) -> None:
    """Delete one of the user's own datasets or a revision permanently. DataError if there is none of this name."""
    (revisions if revisions.AT in name else own).forget(name)


def pinned(name: str) -> str:
    """The name of a revision with its current number of lines, a fixed state; other names unchanged."""
    if revisions.AT not in name:
        return name
    revision = entry(name)
    return f"{revisions.parse_name(name).head}.{revision.lines}"


def load(name: str = DEFAULT) -> Dataset:
    """The dataset of this name; cheap to call again. Raises UnknownDataset, NotAtHand or DataError."""
    return entry(name).load()


READERS: dict[str, Callable] = {  # published dataset -> the function that reads its files
    "mnist-5k": partial(published.labelled_rows, side=28),
    "digits-8x8": partial(published.labelled_rows, side=8),
    "mnist": published.mnist,
    "usps": published.usps,
    "qmnist": published.qmnist,
    "fashion-mnist": published.fashion,
    "faces": published.faces,
    "face-windows": published.face_windows,
    "banana": published.matlab,
    "waveform": published.matlab,
    "splice": published.matlab,
    "sonar": partial(published.label_last, cells="U32"),
    "a9a": published.a9a,
    "forest": published.label_last,
    "forest-part": partial(published.label_last, names=1),
}


_PUBLISHED = (Entry(**fields_of(name), parse=parse) for name, parse in READERS.items())
_BUILT_IN = {built_in.name: built_in for built_in in (*_PUBLISHED, *synthetic.entries(), *drawn.entries())}
