"""What data sets there are: bundled with installed packages, downloadable, mirrored, synthetic, and the reader's own.

entries() -> [Entry]      entry(name) -> Entry      load(name) -> Dataset
catalogue.json            published sets, of pictures too: what is said of each, and its files (data.manifest)
squares:0.2, clouds:2     families of synthetic sets, of which a few are listed (data.drawn)
mnist-5k@checked          a base with the verdicts on its labels (data.revisions)
draft, keep               the reader's own sets (data.own)
forget, damaged           those and revisions
"""

from collections.abc import Callable
from functools import partial

from data import drawn, own, revisions, synthetic
from data.dataset import Dataset
from data.entry import Entry, find, published
from data.loaders import bundled, windows
from data.own import PREFIX as OWN_PREFIX
from data.own import draft, keep
from data.shelf import DamagedSet

__all__ = ["DEFAULT", "OWN_PREFIX", "Entry", "damaged", "draft", "entries", "entry", "forget", "keep", "load", "pinned"]

DEFAULT = "mnist-5k"


def entries() -> list[Entry]:
    """Every data set, the reader's own and the revisions last."""
    return [*_BUILT_IN.values(), *own.entries(), *revisions.entries(_base)]


def entry(name: str) -> Entry:
    """The entry of this name. Raises UnknownDataset, which lists the names; DataError for a damaged revision."""
    if revisions.AT in str(name):
        return revisions.entry(name, _base)
    if drawn.is_drawn(name):
        return drawn.entry(name)
    return find(name, _BUILT_IN, entries)


def _base(name: str) -> Entry:
    """The entry of a set that revisions are made of. UnknownDataset."""
    return drawn.entry(name) if drawn.is_drawn(name) else find(name, _BUILT_IN, own.entries)


def damaged() -> list[DamagedSet]:
    """What lies among the reader's own sets and revisions and cannot be read."""
    return [*own.damaged(), *revisions.damaged(_base)]


def forget(name: str) -> None:
    """Remove one of the reader's own sets, or a revision, for good; DataError if there is none of this name."""
    (revisions if revisions.AT in name else own).forget(name)


def pinned(name: str) -> str:
    """The name of a revision with the lines that it has now, which says the same for good; of another set its own."""
    if revisions.AT not in name:
        return name
    revision = entry(name)
    return f"{revisions.parse_name(name).head}.{revision.lines}"


def load(name: str = DEFAULT) -> Dataset:
    """The data set of this name; cheap to call again. Raises UnknownDataset, NotAtHand or DataError."""
    return entry(name).load()


READERS: dict[str, Callable] = {  # published set -> what makes examples of its files
    "mnist-5k": partial(bundled.labelled_rows, side=28),
    "digits-8x8": partial(bundled.labelled_rows, side=8),
    "mnist": bundled.mnist,
    "usps": bundled.usps,
    "qmnist": bundled.qmnist,
    "faces": bundled.faces,
    "face-windows": windows.face_windows,
    "banana": bundled.matlab,
    "waveform": bundled.matlab,
    "splice": bundled.matlab,
    "sonar": partial(bundled.label_last, cells="U32"),
    "a9a": bundled.a9a,
    "forest": bundled.label_last,
    "forest-part": partial(bundled.label_last, names=1),
}


_PUBLISHED = (Entry(**published(name), parse=parse) for name, parse in READERS.items())
_BUILT_IN = {built_in.name: built_in for built_in in (*_PUBLISHED, *synthetic.entries(), *drawn.entries())}
