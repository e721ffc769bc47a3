"""A catalogue entry of pictures: the facts of a set, and the way to read it (see data.entry)."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from pathlib import Path

from data.entry import parsed
from data.memo import Memo
from data.pictures.kinds import Experiment, Picture, PictureFacts, PictureSet

MAX_IN_MEMORY = 1 << 29  # bytes of pictures; the set asked for last is always kept

_memo = Memo(MAX_IN_MEMORY)


@dataclass(frozen=True, eq=False)
class Contents:
    """What is read from the files of a set: everything of a PictureSet but its facts."""

    pictures: tuple[Picture, ...]
    experiments: dict[str, Experiment]
    chips: tuple | None = None
    empty: tuple[Picture, ...] = ()


@dataclass(frozen=True, eq=False)
class PictureEntry(PictureFacts):
    """One set of pictures of the catalogue: its facts, and where its pictures come from."""

    parse: Callable[[list[Path]], Contents] = field(repr=False, kw_only=True)
    paths: Callable[[], list[Path]] = field(default=list, repr=False, kw_only=True)  # raises NotAtHand
    present: Callable[[], bool] = field(default=lambda: True, repr=False, kw_only=True)

    @property
    def at_hand(self) -> bool:
        """Whether the pictures can be had without a download."""
        return self.present()

    def load(self) -> PictureSet:
        """The set with its pictures (shared, read-only); its facts count what is here.

        Raises NotAtHand before its files are here, DataError when they are damaged or not what they should be.
        """
        paths = self.paths()
        return _memo.get(self.name, paths, lambda: self._read(paths))

    def described(self, contents: Contents) -> PictureSet:
        """These contents under the facts of this entry, counted anew."""
        facts = PictureFacts(**{f.name: getattr(self, f.name) for f in fields(PictureFacts)})
        n_objects = sum(len(picture.boxes) for picture in contents.pictures)
        facts = replace(facts, n_pictures=len(contents.pictures), n_objects=n_objects)
        return PictureSet(facts, contents.pictures, contents.experiments, contents.chips, contents.empty)

    def _read(self, paths: list[Path]) -> PictureSet:
        return self.described(parsed(self.name, self.parse, paths))
