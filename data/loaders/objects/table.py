"""Tables of objects in pictures: one object a line under a header, in the spellings that people use.

    image,xmin,ymin,xmax,ymax[,category]        boxes in pixels of the picture, whose first pixel is (0, 0)
    image,x,y,radius[,category]                 circles
    filename,width,height,class,xmin,...        as Roboflow and TensorFlow have it; width, height: the picture's
    image,x,y,width,height    image,cx,cy,w,h   corner or centre, and size
    filename,...,region_shape_attributes,...    VIA

Boxes that all lie within 0 and 1 are shares of width and height. The marks between values may be commas, semicolons or
tabs; a category is a whole number from 1, the surest, or else what the object is called. Every complaint names the
file, the line, the column and what is allowed.
"""

import csv
import io
import json
from collections.abc import Iterator

from data.dataset import DataError
from data.loaders import text
from data.loaders.objects import label_studio, via
from data.loaders.objects.found import BOX, MAX_BYTES, MAX_CATEGORY, MAX_OBJECTS, Object, called, named, number
from data.loaders.sieve import Sieve

ACCEPTED = (
    "UTF-8 text with the header `image,xmin,ymin,xmax,ymax` or `image,x,y,radius`, a category after it if you like"
)
IMAGE = (
    *("image", "filename", "file", "file_name", "file name", "image_name", "image name", "imageid", "image_id"),
    *("image_path", "img", "path", "picture", "name"),
)
KIND = ("class", "label", "labelname", "class_name", "label_name", "category_name", "object", "name")
CORNERS = (
    *(BOX, ("x_min", "y_min", "x_max", "y_max"), ("x0", "y0", "x1", "y1"), ("x1", "y1", "x2", "y2")),
    *(("left", "top", "right", "bottom"), ("xtl", "ytl", "xbr", "ybr")),
)
CENTRES = (
    *(("cx", "cy", "w", "h"), ("cx", "cy", "width", "height"), ("x_center", "y_center", "width", "height")),
    ("xcenter", "ycenter", "width", "height"),
)
SIZES = (
    *(("x", "y", "width", "height"), ("x", "y", "w", "h"), ("left", "top", "width", "height")),
    *(("xmin", "ymin", "width", "height"), ("bbox_x", "bbox_y", "bbox_width", "bbox_height")),
    ("x_min", "y_min", "width", "height"),
)
CIRCLES = (("x", "y", "radius"), ("x", "y", "r"), ("cx", "cy", "radius"), ("cx", "cy", "r"))
_MARKS = ",;\t"


def is_table(content: bytes) -> bool:
    """Whether a text begins with a header of objects."""
    try:
        _, header = next(_rows("", text.in_utf8("", content[: 1 << 16])[0].decode()))
        columns = [cell.lower() for cell in header]
        return via.SHAPE in columns or label_studio.in_table(columns) or _way(columns) is not None
    except (DataError, UnicodeDecodeError, StopIteration):
        return False


def read(name: str, content: bytes, sieve: Sieve) -> Iterator[Object]:
    """The objects of a table; the lines that are bad are the sieve's. DataError for what is no such table."""
    if len(content) > MAX_BYTES:
        raise DataError(f"{name} has {len(content) >> 20} MB", f"tables of at most {MAX_BYTES >> 20} MB")
    decoded = _decoded(name, content)
    rows = list(_rows(name, decoded))
    line, header = rows[0]
    columns = [cell.lower() for cell in header]
    if via.SHAPE in columns or label_studio.in_table(columns):
        yield from _of_json(name, columns, rows[1:], sieve)
        return
    way = _way(columns)
    if way is None:
        raise DataError(f"{name}, line {line}: the header is {', '.join(columns)[:100]!r}", ACCEPTED)
    if len(rows) == 1:
        raise DataError(f"{name} has a header and no objects", "at least one object a table")
    comma = _mark(decoded) != ","
    words = _category_is_kind(columns, rows[1:])
    found = []
    for at, (line, cells) in enumerate(rows[1:]):
        where = f"{name}, line {line}"
        if at == MAX_OBJECTS:
            raise DataError(f"{where}: more than {MAX_OBJECTS:,} objects", f"{MAX_OBJECTS:,} objects")
        with sieve.part(where):
            found.append(_object(name, line, way, columns, cells, words, comma))
    shares = bool(found) and all(-1 <= v <= 1 for one in found for v in one.box)
    yield from (one._replace(shares=shares) for one in found)


def _decoded(name: str, content: bytes) -> str:
    try:
        return text.in_utf8(name, content)[0].decode()
    except DataError as error:
        raise DataError(error.reason, ACCEPTED) from error


def _mark(decoded: str) -> str:
    """What stands between the cells of a text that is not empty."""
    first = next(line for line in decoded.splitlines() if line.strip())
    return max(_MARKS, key=first.count)


def _rows(name: str, decoded: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of the lines that are not empty, the header first; it decides what stands between values."""
    if not decoded.strip():
        raise DataError(f"{name} is empty", ACCEPTED)
    reader = csv.reader(io.StringIO(decoded, newline=""), delimiter=_mark(decoded))
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(f"{name}, line {reader.line_num}: it cannot be read ({error})", ACCEPTED) from error


def _way(columns: list[str]) -> tuple[str, tuple[str, ...], str] | None:
    """How a header tells objects: "corners", "circle", "centre" or "size", the columns of it, and that of the name."""
    image = next((name for name in IMAGE if name in columns), None)
    ways = {"corners": CORNERS, "circle": CIRCLES, "centre": CENTRES, "size": SIZES}
    for way, spellings in ways.items():
        for spelling in spellings:
            if image and set(spelling) <= set(columns):
                return way, spelling, image
    return None


def _category_is_kind(columns: list[str], rows: list) -> bool:
    """Whether the column `category` tells what objects are called: no cell of it is a number."""
    if "category" not in columns:
        return False
    k = columns.index("category")
    return all(len(cells) > k and any(map(str.isalpha, cells[k])) for _, cells in rows)


def _object(name: str, line: int, way: tuple, columns: list[str], cells: list[str], words: bool, comma: bool) -> Object:
    where = f"{name}, line {line}"
    if len(cells) != len(columns):
        raise DataError(f"{where}: {len(cells)} values", f"{len(columns)} values: {', '.join(columns)}")
    values = dict(zip(columns, cells))
    how, spelling, image = way
    v = [number(f"{where}, column {c}", values[c].replace(",", ".") if comma else values[c]) for c in spelling]
    fields = [f"column {c}" for c in spelling]
    kind = values["category"] if words else next((values[c] for c in KIND if c in values and c != image), "")
    about = {
        "image": named(f"{where}, column {image}", values[image]),
        "file": name,
        "at": f"line {line}",
        "kind": called(kind),
        "category": 1
        if words or "category" not in values
        else _category(f"{where}, column category", values["category"]),
        "circle": how == "circle",
    }
    if how == "corners":
        for low, high in ((0, 2), (1, 3)):
            if v[high] <= v[low]:
                told = f"{values[spelling[high]]} is not above {spelling[low]} {values[spelling[low]]}"
                raise DataError(f"{where}, {fields[high]}: {told}", f"{spelling[high]} above {spelling[low]}")
        return Object(box=tuple(v), fields=tuple(fields), **about)
    for k in range(2, len(v)):
        if v[k] <= 0:
            raise DataError(f"{where}, {fields[k]}: {values[spelling[k]]}", f"a {spelling[k]} above 0")
    fields = (*fields[:2], *fields[:2])
    if how == "circle":
        x, y, radius = v
        return Object(box=(x - radius, y - radius, x + radius, y + radius), fields=fields,
                      across=f"column {spelling[2]}", **about)  # fmt: skip
    x, y, w, h = v
    x, y = (x - w / 2, y - h / 2) if how == "centre" else (x, y)
    return Object(box=(x, y, x + w, y + h), fields=fields, **about)


def _category(where: str, said: str) -> int:
    if not (len(said) == 1 and "1" <= said <= str(MAX_CATEGORY)):
        raise DataError(f"{where}: {said[:40]!r}", f"a whole number from 1, the surest, to {MAX_CATEGORY}")
    return int(said)


def _of_json(name: str, columns: list[str], rows: list[tuple[int, list[str]]], sieve: Sieve) -> Iterator[Object]:
    """The objects of tables whose cells hold JSON, as VIA and Label Studio write them."""
    for line, cells in rows:
        with sieve.part(f"{name}, line {line}"):
            if len(cells) != len(columns):
                raise DataError(f"{name}, line {line}: {len(cells)} values", f"{len(columns)} values")
            values, reader = dict(zip(columns, cells)), via if via.SHAPE in columns else label_studio
            try:
                found = reader.of_a_line(name, f"line {line}", values)
            except (json.JSONDecodeError, RecursionError) as error:
                raise DataError(
                    f"{name}, line {line}: a cell is no JSON ({error})", "the table as it was exported"
                ) from error
        if not (sieve.bad and sieve.bad[-1][1] == f"{name}, line {line}"):
            yield from found
