"""An object in a picture as an annotation says it, and what is checked of it whatever the format."""

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from data.dataset import DataError

BOX = ("xmin", "ymin", "xmax", "ymax")
MAX_BYTES, MAX_OBJECTS, MAX_CATEGORY = 1 << 24, 100_000, 9
MAX_KIND = 60  # letters of what an object is called
FAR = 1e6  # pixels: no picture is as large


class Object(NamedTuple):
    """One object. box: xmin, ymin, xmax, ymax, in pixels or as shares of the picture's width and height."""

    image: str  # as the annotation names the picture
    box: tuple[float, ...]
    file: str  # that names it
    at: str  # where in it
    fields: tuple[str, ...] = BOX  # what the file calls what gives the four sides
    across: str = ""  # and what gives the size, where that is another field
    kind: str = ""  # what the object is called
    category: int = 1  # 1 is surest
    shares: bool = False
    circle: bool = False

    def where(self, field: str = "") -> str:
        """`boxes.csv, line 7, column xmin`."""
        return ", ".join(part for part in (self.file, self.at, field) if part)

    def scaled(self, shape: tuple[int, int]) -> "Object":
        """In pixels of a picture (h, w)."""
        if not self.shares:
            return self
        h, w = shape
        return self._replace(box=tuple(round(v * s, 3) for v, s in zip(self.box, (w, h, w, h))), shares=False)


def number(where: str, value, unit: str = "a number of pixels, with a decimal point") -> float:
    """A finite number of moderate size. DataError with the place."""
    try:
        found = math.nan if isinstance(value, bool | None) else float(value)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not abs(found) <= FAR:
        raise DataError(f"{where}: {short(value)}", unit)
    return found


def numbers(where: str, values, n: int, unit: str = "a number of pixels") -> list[float]:
    """n numbers. DataError with the place."""
    if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != n:
        raise DataError(f"{where}: {short(values)}", f"{n} numbers")
    return [number(where, value, unit) for value in values]


def around(where: str, points) -> tuple[float, float, float, float]:
    """The box around points (x, y). DataError for fewer than two."""
    if not isinstance(points, Sequence) or len(points) < 2:
        raise DataError(f"{where}: {short(points)}", "at least two points, x and y of each")
    xs, ys = zip(*(numbers(where, point, 2) for point in points))
    return min(xs), min(ys), max(xs), max(ys)


def turned(box: tuple[float, ...], degrees: float) -> tuple[float, float, float, float]:
    """The upright box around a box that is turned about its upper left corner."""
    x, y, x2, y2 = box
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = [(u * cos - v * sin, u * sin + v * cos) for u in (0, x2 - x) for v in (0, y2 - y)]
    xs, ys = zip(*corners)
    return x + min(xs), y + min(ys), x + max(xs), y + max(ys)


def called(kind) -> str:
    """What an object is called, in one line."""
    return re.sub(r"\s+", " ", str(kind)).strip()[:MAX_KIND] if isinstance(kind, str | int) else ""


def named(where: str, image) -> str:
    """The name of a picture. DataError where there is none."""
    if not isinstance(image, str) or not image.strip():
        raise DataError(f"{where}: {'it is empty' if image in ('', None) else short(image)}", "the name of a picture")
    return image.strip()


def short(value) -> str:
    """A value as complaints show it."""
    said = repr(value)
    return said if len(said) <= 42 else f"{said[:40]}…"
