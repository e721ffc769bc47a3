"""The pictures of examples where a machine is not trained on them as they are: photographs that were brought to one
size, or pictures beside features.

    album.picture(k, most)     (h, w) or (h, w, 3) uint8 of example k, at most `most` pixels a side

The pictures are stored encoded, one after another, and each is decoded when it is shown.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from PIL import Image

LARGEST = 1024  # pixels a side of a stored picture
MAX_BYTES = 1 << 28  # of all pictures of a set, encoded, about
DENSITY = 0.2  # bytes a pixel that an encoded photograph takes, about
LOSSLESS = 128  # pixels a side up to which a picture is stored without loss
QUALITY = 88  # of larger ones, as JPEG
MISSING = 215  # grey of a picture that cannot be decoded

Slice = Callable[[int, int], bytes]  # the bytes from one position to another


class Stored(NamedTuple):
    """The bytes of an album within a file, which may be replaced or deleted: then they are empty."""

    path: Path
    offset: int
    stamp: tuple[int, int]  # time of change and size of the file when its album was opened

    def __call__(self, start: int, end: int) -> bytes:
        try:
            with self.path.open("rb") as file:
                status = self.path.stat()
                if (status.st_mtime_ns, status.st_size) != self.stamp:
                    return b""
                file.seek(self.offset + start)
                return file.read(end - start)
        except OSError:
            return b""


@dataclass(frozen=True, eq=False)
class Album:
    """Encoded pictures of n examples: the training set, its unlabelled examples included, then the test set.

    of: (n,) int64, the picture of each example; ends: (m + 1,) int64, where each of the m pictures begins and ends
    """

    of: np.ndarray
    ends: np.ndarray
    content: Slice

    @classmethod
    def bound(cls, encoded: Sequence[bytes], of: np.ndarray | None = None) -> "Album":
        """An album of encoded pictures; without `of` one for each example."""
        whole = b"".join(encoded)
        ends = np.concatenate([[0], np.cumsum([len(one) for one in encoded], dtype=np.int64)])
        return cls(np.arange(len(encoded)) if of is None else of, ends, lambda start, end: whole[start:end])

    def take(self, examples: np.ndarray) -> "Album":
        """The album of these examples, in this order."""
        return replace(self, of=self.of[examples])

    def arrays(self) -> dict[str, np.ndarray]:
        """The arrays that are stored: `album`, `album_ends`, `album_of`."""
        content = np.frombuffer(self.content(0, int(self.ends[-1])), np.uint8)
        return {"album": content, "album_ends": self.ends, "album_of": self.of}

    def picture(self, k: int, most: int = LARGEST) -> np.ndarray:
        """The picture of example k, reduced to `most` pixels a side; a grey square if its file is damaged or gone."""
        start, end = self.ends[self.of[k] : self.of[k] + 2].tolist()
        try:
            with Image.open(io.BytesIO(self.content(start, end)), formats=("PNG", "JPEG")) as image:
                if max(image.size) > LARGEST:
                    raise ValueError("larger than any picture that is stored")
                image.draft(image.mode, (most, most))
                image.thumbnail((most, most))
                return np.asarray(image if image.mode == "L" else image.convert("RGB"))
        except Exception:  # any error: what libraries raise on damaged content is not known completely
            return np.full((min(most, LOSSLESS),) * 2, MISSING, np.uint8)

    def squares(self, examples: Sequence[int], side: int) -> np.ndarray:
        """(n, side, side[, 3]) uint8: pictures centred in white squares; small ones enlarged by a whole number."""
        drawn = [self.picture(k, side) for k in examples]
        colour = any(picture.ndim == 3 for picture in drawn)
        squares = np.full((len(drawn), side, side, *(3,) * colour), 255, np.uint8)
        for square, picture in zip(squares, drawn):
            times = side // max(picture.shape[:2])
            picture = picture.repeat(times, axis=0).repeat(times, axis=1)
            h, w = picture.shape[:2]
            top, left = (side - h) // 2, (side - w) // 2
            square[top : top + h, left : left + w] = picture[..., None] if colour and picture.ndim == 2 else picture
        return squares


def side_of(n: int) -> int:
    """The side to which each of n pictures is reduced for an album, so that all take at most MAX_BYTES, about."""
    return int(np.clip(np.sqrt(MAX_BYTES / (DENSITY * max(n, 1))), 2 * LOSSLESS / 4, LARGEST))


def encoded(picture: np.ndarray, side: int) -> bytes:
    """A picture (h, w) or (h, w, 3) uint8 as it is stored, reduced to `side` pixels a side."""
    image, buffer = Image.fromarray(picture), io.BytesIO()
    image.thumbnail((side, side), reducing_gap=2.0)
    if max(image.size) <= LOSSLESS:
        image.save(buffer, "png")
    else:
        image.save(buffer, "jpeg", quality=QUALITY)
    return buffer.getvalue()
