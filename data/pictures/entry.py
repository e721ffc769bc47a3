"""A catalogue entry of pictures: the facts of a set, and how to read it (see data.entry)."""

from dataclasses import dataclass, replace

from data.entry import MAX_IN_MEMORY, Readable
from data.memo import Memo
from data.pictures.kinds import Experiment, Picture, PictureFacts, PictureSet


@dataclass(frozen=True, eq=False)
class Contents:
    """What is read from the files of a set: a PictureSet without its facts."""

    pictures: tuple[Picture, ...]
    experiments: dict[str, Experiment]
    chips: tuple | None = None
    empty: tuple[Picture, ...] = ()


@dataclass(frozen=True, eq=False)
class PictureEntry(Readable, PictureFacts):
    """A set of pictures of the catalogue: its facts, and where its pictures come from."""

    memo = Memo(MAX_IN_MEMORY)

    def described(self, contents: Contents) -> PictureSet:
        """The set of these contents, with its pictures and objects counted."""
        n_objects = sum(len(picture.boxes) for picture in contents.pictures)
        return PictureSet(replace(self, n_pictures=len(contents.pictures), n_objects=n_objects), **vars(contents))
