"""An annotated object in a picture, and the checks common to all formats."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from data.dataset import DataError

BOX = ("xmin", "ymin", "xmax", "ymax")
MAX_BYTES, MAX_OBJECTS, MAX_CATEGORY = 1 << 24, 100_000, 9
MAX_KIND = 60  # characters of the name of an object
FAR = 1e6  # pixels, beyond any picture
PIXELS = "a number of pixels, such as 12 or 12.5"


class Spot(NamedTuple):
    """A position in a file of annotations, with readers for the values there."""

    file: str
    at: str = ""
    tabled: bool = False  # its fields are columns of a table

    def where(self, field: str = "") -> str:
        """`boxes.csv, line 7, column xmin`."""
        field = f"column {field}" if field and self.tabled else field
        return ", ".join(part for part in (self.file, self.at, field) if part)

    def number(self, field: str, value, unit: str = PIXELS) -> float:
        """A finite number of moderate size. DataError with the position."""
        try:
            number = math.nan if isinstance(value, bool | None) else float(value)
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not abs(number) <= FAR:
            raise DataError(f"{self.where(field)}: {invalid(value)}", unit)
        return number

    def numbers(self, field: str, values, n: int, unit: str = "a number of pixels") -> list[float]:
        """n numbers. DataError with the position."""
        if not isinstance(values, Sequence) or isinstance(values, str) or len(values) != n:
            raise DataError(f"{self.where(field)}: {invalid(values)}", f"{n} numbers")
        return [self.number(field, value, unit) for value in values]

    def around(self, field: str, points) -> tuple[float, float, float, float]:
        """The box around points (x, y). DataError for fewer than two."""
        if not isinstance(points, Sequence) or len(points) < 2:
            raise DataError(f"{self.where(field)}: {invalid(points)}", "at least two points, each with x and y")
        xs, ys = zip(*(self.numbers(field, point, 2) for point in points))
        return min(xs), min(ys), max(xs), max(ys)

    def named(self, field: str, image) -> str:
        """The name of a picture. DataError if it is missing."""
        if not isinstance(image, str) or not image.strip():
            raise DataError(f"{self.where(field)}: {invalid(image)}", "the name of a picture")
        return image.strip()


class Object(NamedTuple):
    """An object. box: xmin, ymin, xmax, ymax in pixels, or as fractions of the width and height of the picture."""

    image: str  # as the annotation names the picture
    box: tuple[float, ...]
    spot: Spot
    fields: tuple[str, ...] = BOX  # names of the fields for the four sides in the file
    across: str = ""  # name of the field for the size, if it is another one
    kind: str = ""  # name of the object
    category: int = 1  # 1 is the most certain
    shares: bool = False
    circle: bool = False
    turn: float = 0.0  # degrees, about the first corner; for boxes in fractions
    named: str = ""  # how images must be named, if the annotations number them
    size: tuple[int, int] | None = None  # (h, w) of the picture as the annotations state it

    def is_scaled(self, shape: tuple[int, int]) -> bool:
        """Whether the annotations state another size of the picture than its own, (h, w), so that pixels are scaled."""
        return not self.shares and self.size not in (None, shape)

    def scaled(self, shape: tuple[int, int]) -> "Object":
        """The object in pixels of a picture (h, w), with an upright box. DataError if the stated proportions differ."""
        h, w = shape
        H, W = self.size or shape
        if min(abs(h - H * w / W), abs(w - W * h / H)) >= 1:  # a pixel, as sides are rounded to whole pixels
            reason = f"{self.spot.where()}: the annotations state {W} x {H} pixels, but {self.image[:60]} has {w} x {h}"
            raise DataError(
                reason, "the image that was annotated, at any scale, or annotations that do not state its size"
            )
        if not self.shares and (h, w) == (H, W):
            return self
        x, y = (w, h) if self.shares else (w / W, h / H)
        box = _turned([v * s for v, s in zip(self.box, (x, y, x, y))], self.turn)
        return self._replace(box=tuple(round(v, 3) for v in box), shares=False, turn=0.0)


_BOX = {  # form of the numbers -> box
    "corners": lambda x, y, x2, y2: (x, y, x2, y2),
    "size": lambda x, y, w, h: (x, y, x + w, y + h),
    "centre": lambda x, y, w, h: (x - w / 2, y - h / 2, x - w / 2 + w, y - h / 2 + h),
    "circle": lambda x, y, r: (x - r, y - r, x + r, y + r),
    "ellipse": lambda x, y, rx, ry: (x - rx, y - ry, x + rx, y + ry),
}


def object_from_numbers(
    spot: Spot, image: str, how: str, fields: Sequence[str], values: Iterable, unit: str = PIXELS, **about
) -> Object:
    """An object from numbers. DataError with the position if they are invalid or the object has no extent.

    how : "corners", "size" (a corner, width, height), "centre" (and width, height), "circle" or "ellipse" (a centre,
          and one radius or two)
    fields, values : names and values of these numbers in the file, in that order
    about : further fields of the object
    """
    values = list(values)
    v = [spot.number(*of_one, unit) for of_one in zip(fields, values, strict=True)]
    if how == "corners":
        for low, high in ((0, 2), (1, 3)):
            if v[high] <= v[low]:
                reason = f"{spot.where(fields[high])}: {values[high]} is not greater than {fields[low]} = {values[low]}"
                raise DataError(reason, f"{fields[high]} greater than {fields[low]}")
        return Object(image, _BOX[how](*v), spot, tuple(fields), **about)
    for field, value, size in list(zip(fields, values, v))[2:]:
        if size <= 0:
            raise DataError(f"{spot.where(field)}: invalid value {value}", f"a {field} above 0")
    circle = how == "circle"
    sides = (*fields[:2], *fields[:2])
    return Object(image, _BOX[how](*v), spot, sides, fields[2] if circle else "", circle=circle, **about)


def stated_size(height, width) -> tuple[int, int] | None:
    """(h, w) of a picture as annotations state it; None if they do not: some tools write 0, or nothing."""
    try:
        h, w = round(float(height)), round(float(width))
    except (TypeError, ValueError, OverflowError):
        return None
    return (h, w) if min(h, w) > 0 else None


def _turned(box: Sequence[float], degrees: float) -> tuple[float, ...]:
    """The upright box around a box that is rotated about its first corner."""
    x, y, x2, y2 = box
    cos, sin = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    corners = [(u * cos - v * sin, u * sin + v * cos) for u in (0, x2 - x) for v in (0, y2 - y)]
    xs, ys = zip(*corners)
    return x + min(xs), y + min(ys), x + max(xs), y + max(ys)


def called(kind) -> str:
    """The name of an object, in one line."""
    return re.sub(r"\s+", " ", str(kind)).strip()[:MAX_KIND] if isinstance(kind, str | int) else ""


def short(value) -> str:
    """A value as shown in errors."""
    text = repr(value)
    return text if len(text) <= 42 else f"{text[:40]}…"


def invalid(value) -> str:
    """What is wrong with a value that cannot be used, for errors."""
    return "no value" if value is None or value == "" else f"invalid value {short(value)}"
