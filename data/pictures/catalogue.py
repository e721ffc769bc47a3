"""What sets of pictures there are: published ones, embedded ones, and the reader's own.

entries() -> [PictureEntry]      entry(name) -> PictureEntry      load(name) -> PictureSet
"""

from functools import partial

from data import fetch
from data.dataset import UnknownDataset
from data.loaders import jartool
from data.manifest import SETS
from data.pictures import venus
from data.pictures.entry import PictureEntry
from data.pictures.kinds import PictureSet

RESEARCH = "research use; no licence stated"


def entries() -> list[PictureEntry]:
    """Every set of pictures, the reader's own last."""
    return [*_BUILT_IN.values()]


def entry(name: str) -> PictureEntry:
    """The entry of this name. Raises UnknownDataset, which lists the names."""
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    known = {candidate.name: candidate for candidate in entries()}
    if name not in known:
        raise UnknownDataset(name, known)
    return known[name]


def load(name: str) -> PictureSet:
    """The set of this name; cheap to call again. Raises UnknownDataset, NotAtHand or DataError."""
    return entry(name).load()


def _files(name: str) -> dict:
    """What the manifest says of a set: the fields of its entry that depend on files."""
    return {
        "name": name,
        "fetchable": bool(SETS[name].sources),
        "sources": tuple(source.address for source in SETS[name].sources) or ("a folder of SVMLAB_DATA",),
        "paths": partial(fetch.find, name),
        "present": partial(fetch.at_hand, name),
    }


_VENUS = PictureEntry(
    **_files("venus"),
    title="Volcanoes on Venus",
    shape="circle",
    object_name="volcano",
    unit="km²",
    categories=jartool.CATEGORIES,
    n_pictures=134,
    n_objects=1485,
    licence="CC BY 4.0",
    citation="M. C. Burl et al., Learning to recognize volcanoes on Venus, Machine Learning 30, 1998",
    size_mb=141,
    note="Magellan radar images; a pixel is 75 m. The labels are opinions in four degrees of confidence. Published are 134 "
    "images with 1485 volcanoes that count; an experiment names those of its images that are not here.",
    parse=venus.read,
)

_BUILT_IN = {built_in.name: built_in for built_in in (_VENUS,)}
