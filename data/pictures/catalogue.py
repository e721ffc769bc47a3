"""What sets of pictures there are: published ones, embedded ones, and the reader's own.

entries() -> [PictureEntry]      entry(name) -> PictureEntry      load(name) -> PictureSet
"""

from data.dataset import RESEARCH, SYNTHETIC
from data.entry import find, from_manifest
from data.loaders import jartool
from data.pictures import faces, synthetic, venus
from data.pictures.entry import PictureEntry
from data.pictures.kinds import ONE_CATEGORY, PictureSet
from data.pictures.own import entries as own_entries


def entries() -> list[PictureEntry]:
    """Every set of pictures, the reader's own last."""
    return [*_BUILT_IN.values(), *own_entries()]


def entry(name: str) -> PictureEntry:
    """The entry of this name. Raises UnknownDataset, which lists the names."""
    return find(name, _BUILT_IN, entries)


def load(name: str) -> PictureSet:
    """The set of this name; cheap to call again. Raises UnknownDataset, NotAtHand or DataError."""
    return entry(name).load()


_VOLCANOES = {"shape": "circle", "object_name": "volcano", "unit": "km²", "categories": jartool.CATEGORIES}
_FACES = {"shape": "box", "object_name": "face", "unit": "picture"}

_VENUS = PictureEntry(
    **from_manifest("venus"),
    title="Volcanoes on Venus",
    **_VOLCANOES,
    n_pictures=134,
    n_objects=1485,
    licence="CC BY 4.0",
    citation="M. C. Burl et al., Learning to recognize volcanoes on Venus, Machine Learning 30, 1998",
    size_mb=141,
    blank=0,
    note="Magellan radar images; a pixel is 75 m. The labels are opinions in four degrees of confidence. Published are "
    "134 images with 1485 volcanoes that count; an experiment names those of its images that are not here.",
    parse=venus.read,
)

_VENUS_LIKE = PictureEntry(
    name="venus-like",
    title="Venus-like scenes (synthetic)",
    **_VOLCANOES,
    n_pictures=synthetic.N_PICTURES,
    n_objects=synthetic.N_OBJECTS,
    **SYNTHETIC,
    note="Low domes lit from the left, craters and bright spots that are none, ridges, speckle; the same everywhere. "
    "The category follows from the contrast that a dome was drawn with. Areas are given as if a pixel were 75 m.",
    parse=synthetic.read,
)

_CMU_FACES = PictureEntry(
    **from_manifest("cmu-faces"),
    title="Faces: CBCL windows, CMU pictures",
    **_FACES,
    categories=ONE_CATEGORY,
    n_pictures=40,
    n_objects=169,
    licence=RESEARCH,
    citation="MIT CBCL face database 1; H. Rowley, S. Baluja and T. Kanade, Neural network-based face detection, 1998",
    size_mb=15,
    note="Test set A of CMU: 40 pictures, 169 boxes, a few beyond their picture's edge. The windows are CBCL's; "
    "they show the inner 0.55 of such a box. 50 photographs have no face.",
    window=0.55,
    parse=faces.cmu,
)

_LFW_FACES = PictureEntry(
    **from_manifest("lfw-faces"),
    title="Faces, a small demo",
    **_FACES,
    categories=faces.CATEGORIES,
    n_pictures=len(faces.PORTRAITS),
    n_objects=3,
    licence="public domain, BSD and CC, as their packages say",
    citation="G. B. Huang et al., Labeled Faces in the Wild, 2007; photographs that scikit-image and others carry",
    size_mb=5,
    note="100 faces and 100 other patches of 25 x 25 pixels, made 19 x 19: a whole face, about 0.9 of a box, where "
    "CBCL's show its inner half. Four photographs, one of a cat, with three boxes set by hand; 11 without faces.",
    # eyes apart and eyes to mouth: 0.37 of the mean patch, 0.33 and 0.39 of the two frontal boxes, so 0.9 and 1.05
    window=0.9,
    parse=faces.lfw,
)

_BUILT_IN = {built_in.name: built_in for built_in in (_VENUS_LIKE, _LFW_FACES, _VENUS, _CMU_FACES)}
