"""Boxes as for YOLO: a text for each picture, of the same name, a line for each object.

    class x_centre y_centre width height        shares of the picture's width and height; a polygon may stand instead

The names of the classes stand in classes.txt, obj.names or data.yaml.
"""

import re
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath

from data.dataset import DataError
from data.loaders import text
from data.loaders.bundle import Member
from data.loaders.objects.found import Object, around, called, number
from data.loaders.sieve import Sieve

NAMES = ("classes.txt", "obj.names")
ACCEPTED = "lines of a class and x, y, width and height, shares of the picture between 0 and 1"
_LINE = re.compile(r"\s*\d+(\s+[-+.\deE]+){4,}\s*$")


def is_yolo(content: bytes) -> bool:
    """Whether the first line of a text is such an object; an empty one has none."""
    first = content[: 1 << 14].decode(errors="replace").strip("\ufeff").strip().split("\n")[0]
    return not first or bool(_LINE.match(first))


def classes(members: Sequence[Member]) -> list[str]:
    """The names of the classes, as far as a file beside the texts tells them."""
    for member in members:
        last = PurePosixPath(member.name).name.lower()
        said = member.read().decode(errors="replace") if last in NAMES or last == "data.yaml" else ""
        if last in NAMES:
            return [called(line) for line in said.splitlines() if line.strip()]
        listed = re.search(r"names:\s*\[(.*?)\]", said, re.DOTALL)
        if listed:
            return [called(name.strip().strip("'\"")) for name in listed[1].split(",")]
        if "names:" in said:
            below = re.findall(r"^\s+(?:-|\d+:)\s*(.+)$", said[said.index("names:") :], re.MULTILINE)
            return [called(name.strip().strip("'\"")) for name in below]
    return []


def read(name: str, content: bytes, kinds: Sequence[str], sieve: Sieve) -> Iterator[Object]:
    """The objects of one picture's text; the lines that are bad are the sieve's."""
    if not content.strip():
        return
    decoded = text.in_utf8(name, content)[0].decode()
    for line, values in enumerate(map(str.split, decoded.split("\n")), 1):
        if not values:
            continue
        at = f"line {line}"
        where = f"{name}, {at}"
        with sieve.part(where):
            if len(values) < 5:
                raise DataError(f"{where}: {len(values)} values", ACCEPTED)
            v = [
                number(f"{where}, value {k}", value, "a share between 0 and 1") for k, value in enumerate(values[1:], 2)
            ]
            if len(v) > 5 and len(v) % 2 == 0:
                box = around(where, list(zip(v[::2], v[1::2])))
            else:
                x, y, w, h = v[:4]  # a fifth is how sure a detector was
                box = (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
            if not (min(box) >= -1 and max(box) <= 2):
                raise DataError(f"{where}: {' '.join(values)[:60]!r}", ACCEPTED)
            kind = (
                kinds[int(values[0])]
                if values[0].isdecimal() and int(values[0][:9]) < len(kinds)
                else f"class {values[0][:20]}"
            )
            fields = tuple(f"value {k}" for k in (2, 3, 4, 5))
            yield Object(PurePosixPath(name).stem, box, name, at, fields, kind=called(kind), shares=True)
