"""Tables of objects in pictures: a header, then one object per line, with column names in common spellings.

    image,xmin,ymin,xmax,ymax[,category]        boxes in pixels of the picture, whose first pixel is (0, 0)
    image,x,y,radius[,category]                 circles
    filename,width,height,class,xmin,...        as in Roboflow and TensorFlow; width, height: of the picture
    image,x,y,width,height    image,cx,cy,w,h   corner or centre, and size
    filename,...,region_shape_attributes,...    VIA

Boxes that all lie between 0 and 1 are fractions of width and height. Values are separated by commas, semicolons or
tabs. A category is a whole number from 1 (most certain), or else the name of the object. Every error names the file,
the line, the column and what is accepted.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator

from data.dataset import DataError, in_words, megabytes
from data.loaders import text
from data.loaders.objects import label_studio, via
from data.loaders.objects.annotation import (
    BOX,
    MAX_BYTES,
    MAX_CATEGORY,
    MAX_OBJECTS,
    Object,
    Spot,
    called,
    invalid,
    object_from_numbers,
    stated_size,
)
from data.loaders.sieve import Sieve

ACCEPTED = (
    "UTF-8 text with the header `image,xmin,ymin,xmax,ymax` or `image,x,y,radius`, optionally followed by a category"
)
_IMAGE = (
    *("image", "filename", "file", "file_name", "file name", "image_name", "image name", "imageid", "image_id"),
    *("image_path", "img", "path", "picture", "name"),
)
_KIND = ("class", "label", "labelname", "class_name", "label_name", "category_name", "object", "name")
_CROWDS = ("isgroupof", "iscrowd")  # a box around many objects: of OpenImages, of tables made of COCO
_CORNERS = (
    *(BOX, ("x_min", "y_min", "x_max", "y_max"), ("x0", "y0", "x1", "y1"), ("x1", "y1", "x2", "y2")),
    *(("left", "top", "right", "bottom"), ("xtl", "ytl", "xbr", "ybr")),
)
_CENTRES = (
    *(("cx", "cy", "w", "h"), ("cx", "cy", "width", "height"), ("x_center", "y_center", "width", "height")),
    ("xcenter", "ycenter", "width", "height"),
)
_SIZES = (
    *(("x", "y", "width", "height"), ("x", "y", "w", "h"), ("left", "top", "width", "height")),
    *(("xmin", "ymin", "width", "height"), ("bbox_x", "bbox_y", "bbox_width", "bbox_height")),
    ("x_min", "y_min", "width", "height"),
)
_CIRCLES = (("x", "y", "radius"), ("x", "y", "r"), ("cx", "cy", "radius"), ("cx", "cy", "r"))
_LAYOUTS = {"corners": _CORNERS, "circle": _CIRCLES, "centre": _CENTRES, "size": _SIZES}


def is_table(content: bytes) -> bool:
    """Whether a text begins with a header of objects."""
    try:
        _, header = next(_rows("", text.in_utf8("", content[: 1 << 16])[0].decode()))
        columns = [cell.lower() for cell in header]
        return _in_cells(columns) is not None or _layout(columns) is not None
    except (DataError, UnicodeDecodeError, StopIteration):
        return False


def read(name: str, content: bytes, sieve: Sieve) -> Iterator[Object]:
    """The objects of a table; invalid lines go to the sieve. DataError if it is not a table of objects."""
    if len(content) > MAX_BYTES:
        raise DataError(
            f"{name} is too large: {megabytes(len(content))}", f"annotations of at most {MAX_BYTES >> 20} MB"
        )
    decoded = text.in_utf8(name, content, ACCEPTED)[0].decode()
    (line, header), *rows = _rows(name, decoded)
    columns = [cell.lower() for cell in header]
    if of_a_line := _in_cells(columns):
        yield from _of_json(name, columns, rows, of_a_line, sieve)
        return
    layout = _layout(columns)
    if layout is None:
        raise DataError(f"{name}, line {line}: the header is {', '.join(columns)[:100]!r}", ACCEPTED)
    if not rows:
        raise DataError(f"{name} has a header but no objects", "at least one object")
    comma = _mark(decoded) != ","
    words = _category_is_kind(columns, rows)
    sized = columns[1:3] == ["width", "height"] and layout[0] == "corners"
    objects = []
    for at, (line, cells) in enumerate(rows):
        spot = Spot(name, f"line {line}", tabled=True)
        if at == MAX_OBJECTS:
            raise DataError(f"{spot.where()}: more than {MAX_OBJECTS:,} objects", f"at most {MAX_OBJECTS:,} objects")
        with sieve.part(spot.where()):
            values = _values(spot, columns, cells)
            if any(values.get(column, "").lower() in ("1", "1.0", "true") for column in _CROWDS):
                sieve.ignored["crowd"] += 1
                continue
            size = stated_size(values["height"], values["width"]) if sized else None
            objects.append(_object(spot, layout, values, words, comma)._replace(size=size))
    shares = bool(objects) and all(-1 <= v <= 1 for annotated in objects for v in annotated.box)
    yield from (annotated._replace(shares=shares) for annotated in objects)


def _in_cells(columns: list[str]) -> Callable[[Spot, dict, Sieve], list[Object]] | None:
    """The reader of a line with JSON in its cells, as VIA and Label Studio write them; None for other tables."""
    if via.SHAPE in columns:
        return via.of_a_line
    return label_studio.line_reader() if label_studio.in_table(columns) else None


def _mark(decoded: str) -> str:
    """The separator of the cells of a non-empty text."""
    first = next(line for line in decoded.splitlines() if line.strip())
    return max(",;\t", key=first.count)


def _rows(name: str, decoded: str) -> Iterator[tuple[int, list[str]]]:
    """(line, cells) of the non-empty lines, the header first; the header determines the separator."""
    reader = csv.reader(io.StringIO(decoded, newline=""), delimiter=_mark(decoded))
    try:
        for cells in reader:
            cells = [cell.strip() for cell in cells]
            if any(cells):
                yield reader.line_num, cells
    except csv.Error as error:
        raise DataError(f"{name}, line {reader.line_num}: it cannot be read ({error})", ACCEPTED) from error


def _layout(columns: list[str]) -> tuple[str, tuple[str, ...], str] | None:
    """The layout of a header: "corners", "circle", "centre" or "size", its columns, and the column of the image."""
    image = next((name for name in _IMAGE if name in columns), None)
    spelled = ((layout, spelling) for layout, spellings in _LAYOUTS.items() for spelling in spellings)
    return next(((*both, image) for both in spelled if image and set(both[1]) <= set(columns)), None)


def _category_is_kind(columns: list[str], rows: list) -> bool:
    """Whether the column `category` has names of objects, i.e. no numbers."""
    if "category" not in columns:
        return False
    k = columns.index("category")
    return all(len(cells) > k and any(map(str.isalpha, cells[k])) for _, cells in rows)


def _values(spot: Spot, columns: list[str], cells: list[str]) -> dict[str, str]:
    if len(cells) != len(columns):
        reason = f"{spot.where()}: {len(cells)} values instead of {len(columns)}"
        raise DataError(reason, f"{len(columns)} values: {', '.join(columns)}")
    return dict(zip(columns, cells))


def _object(spot: Spot, layout: tuple, values: dict[str, str], words: bool, comma: bool) -> Object:
    how, fields, image = layout
    named = spot.named(image, values[image])
    kind = values["category"] if words else next((values[c] for c in _KIND if c in values and c != image), "")
    category = 1 if words else _category(spot, values.get("category", "1"))
    numbers = (values[field].replace(",", ".") if comma else values[field] for field in fields)
    return object_from_numbers(spot, named, how, fields, numbers, kind=called(kind), category=category)


def _category(spot: Spot, cell: str) -> int:
    if not (len(cell) == 1 and "1" <= cell <= str(MAX_CATEGORY)):
        accepted = f"a whole number from 1 (most certain) to {MAX_CATEGORY}"
        raise DataError(f"{spot.where('category')}: {invalid(cell[:40])}", accepted)
    return int(cell)


def _of_json(
    name: str, columns: list[str], rows: list[tuple[int, list[str]]], of_a_line: Callable, sieve: Sieve
) -> Iterator[Object]:
    for line, cells in rows:
        spot, objects = Spot(name, f"line {line}", tabled=True), []
        reason = f"{spot.where()}: a cell is not valid JSON"
        with (
            sieve.part(spot.where()),
            in_words(reason, "the table as exported", json.JSONDecodeError, RecursionError),
        ):
            objects = of_a_line(spot, _values(spot, columns, cells), sieve)
        yield from objects
