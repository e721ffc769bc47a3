"""Sets of pictures with objects in them, for detection.

from data import pictures
venus = pictures.load("venus")
venus.pictures[0].boxes                 # (34, 4) xmin ymin xmax ymax
venus.experiments["A"].parts[0].train   # positions in venus.pictures

draft, keep, forget, damaged: the user's own pictures, as read by data.loaders.pictures.read_pictures.
"""

from data.pictures.catalogue import entries, entry, load
from data.pictures.kinds import Experiment, Part, Picture, PictureEntry, PictureFacts, PictureSet
from data.pictures.own import PREFIX as OWN_PREFIX
from data.pictures.own import damaged, draft, forget, keep

__all__ = [
    "OWN_PREFIX", "Experiment", "Part", "Picture", "PictureEntry", "PictureFacts", "PictureSet", "damaged", "draft",
    "entries", "entry", "forget", "keep", "load",
]  # fmt: skip
