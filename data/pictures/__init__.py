"""Sets of pictures with objects in them, for detection.

from data import pictures
venus = pictures.load("venus")
venus.pictures[0].boxes                 # (34, 4) xmin ymin xmax ymax
venus.experiments["A"].parts[0].train   # positions in venus.pictures

draft, keep, forget, damaged: the user's own pictures, as read by data.loaders.pictures.read_pictures.
"""

from data.dataset import SYNTHETIC
from data.entry import fields_of, find
from data.loaders import jartool
from data.pictures import faces, synthetic, venus
from data.pictures.kinds import (
    ONE_CATEGORY,
    Experiment,
    Part,
    Picture,
    PictureEntry,
    PictureFacts,
    PictureSet,
)
from data.pictures.own import PREFIX as OWN_PREFIX
from data.pictures.own import damaged, draft, forget, keep
from data.pictures.own import entries as own_entries

__all__ = [
    "OWN_PREFIX", "Experiment", "Part", "Picture", "PictureEntry", "PictureFacts", "PictureSet", "damaged", "draft",
    "entries", "entry", "forget", "keep", "load",
]  # fmt: skip


def entries() -> list[PictureEntry]:
    """All sets of pictures; the user's own come last."""
    return [*_BUILT_IN.values(), *own_entries()]


def entry(name: str) -> PictureEntry:
    """The entry of this name. Raises UnknownDataset, which lists the names."""
    return find(name, _BUILT_IN, entries)


def load(name: str) -> PictureSet:
    """The set of this name; cheap to call again. Raises UnknownDataset, NotAtHand or DataError."""
    return entry(name).load()


_VENUS = PictureEntry(**fields_of("venus"), categories=jartool.CATEGORIES, blank=0, parse=venus.read)

_VENUS_LIKE = PictureEntry(
    name="venus-like",
    title="Venus-like scenes (synthetic)",
    shape=_VENUS.shape,
    object_name=_VENUS.object_name,
    unit=_VENUS.unit,
    categories=_VENUS.categories,
    n_pictures=synthetic.N_PICTURES,
    n_objects=synthetic.N_OBJECTS,
    **SYNTHETIC,
    note="Synthetic radar scenes, the same on every computer. They show low domes lit from the left, with speckle "
    "noise. Craters, bright spots and ridges are distractors. The category of a dome depends on its contrast. Areas "
    "are computed as if a pixel were 75 m wide.",
    parse=synthetic.read,
)

_CMU_FACES = PictureEntry(**fields_of("cmu-faces"), categories=ONE_CATEGORY, window=0.55, parse=faces.cmu)

# eyes apart and eyes to mouth: 0.37 of the mean patch, 0.33 and 0.39 of the two frontal boxes, so 0.9 and 1.05
_LFW_FACES = PictureEntry(**fields_of("lfw-faces"), categories=faces.CATEGORIES, window=0.9, parse=faces.lfw)

_BUILT_IN = {built_in.name: built_in for built_in in (_VENUS_LIKE, _LFW_FACES, _VENUS, _CMU_FACES)}
