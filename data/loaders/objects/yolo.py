"""Boxes in YOLO's format: one text file per picture, with the same name, and one line per object.

    class x_centre y_centre width height        fractions of the picture's width and height, or a polygon

The names of the classes are in classes.txt, obj.names or data.yaml.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from data.dataset import DataError
from data.loaders import text
from data.loaders.bundle import Member
from data.loaders.objects.annotation import Object, Spot, called
from data.loaders.sieve import Sieve

NAMES = ("classes.txt", "obj.names")
ACCEPTED = "lines with a class and x, y, width and height as fractions of the picture between 0 and 1"
_LINE = re.compile(r"\s*\d+(\s+[-+.\deE]+){4,}\s*$")


def is_yolo(content: bytes) -> bool:
    """Whether the first line of a text is a YOLO object, or the text is empty."""
    first = content[: 1 << 14].decode(errors="replace").strip("\ufeff").strip().split("\n")[0]
    return not first or bool(_LINE.match(first))


def classes(members: Sequence[Member]) -> list[str]:
    """The names of the classes, from a file in the upload; [] if there is none."""
    for member in members:
        last = PurePosixPath(member.name).name.lower()
        content = member.read().decode(errors="replace") if last in NAMES or last == "data.yaml" else ""
        if last in NAMES:
            return [called(line) for line in content.splitlines() if line.strip()]
        listed = re.search(r"names:\s*\[(.*?)\]", content, re.DOTALL)
        if listed:
            return [called(name.strip().strip("'\"")) for name in listed[1].split(",")]
        if "names:" in content:
            below = re.findall(r"^\s+(?:-|\d+:)\s*(.+)$", content[content.index("names:") :], re.MULTILINE)
            return [called(name.strip().strip("'\"")) for name in below]
    return []


def read(name: str, content: bytes, kinds: Sequence[str], sieve: Sieve) -> Iterator[Object]:
    """The objects of one picture; invalid lines go to the sieve."""
    if not content.strip():
        return
    decoded = text.in_utf8(name, content)[0].decode()
    for line, values in enumerate(map(str.split, decoded.split("\n")), 1):
        if not values:
            continue
        spot = Spot(name, f"line {line}")
        with sieve.part(spot.where()):
            if len(values) < 5:
                raise DataError(f"{spot.where()}: {len(values)} values", ACCEPTED)
            places = [f"value {k}" for k in range(2, 1 + len(values))]
            v = [spot.number(*of_one, "a fraction between 0 and 1") for of_one in zip(places, values[1:])]
            if len(v) > 5 and len(v) % 2 == 0:
                box = spot.around("", list(zip(v[::2], v[1::2])))
            else:
                x, y, w, h = v[:4]  # a fifth value is the confidence of a detector
                box = (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
            if not (min(box) >= -1 and max(box) <= 2):
                raise DataError(f"{spot.where()}: {' '.join(values)[:60]!r}", ACCEPTED)
            kind = called(_kind(values[0], kinds))
            yield Object(PurePosixPath(name).stem, box, spot, tuple(places[:4]), kind=kind, shares=True)


def _kind(number: str, kinds: Sequence[str]) -> str:
    known = number.isdecimal() and int(number[:9]) < len(kinds)
    return kinds[int(number)] if known else f"class {number[:20]}"
