"""Boxes as Label Studio exports them: JSON, JSON-MIN, or a table with JSON in its cells.

    [{"data": {"image": "/data/upload/1/1a2b3c4d-a.jpg"}, "annotations": [{"result": [{"type": "rectanglelabels",
      "value": {"x": 10, "y": 5, "width": 20, "height": 8, "rotation": 0, "rectanglelabels": ["Car"]}}]}]}]

x, y, width and height are per cent of the picture. Of ellipses and polygons the box around them is taken.
"""

import json
from collections.abc import Iterator

from data.dataset import DataError
from data.loaders.objects.found import Object, around, called, named, number, short, turned
from data.loaders.sieve import Sieve

_LABELS = ("rectanglelabels", "ellipselabels", "polygonlabels")
_FIELDS = ("x", "y", "width", "height")
ACCEPTED = "rectangles, ellipses or polygons as Label Studio exports them, in per cent of the picture"


def in_table(columns: list[str]) -> bool:
    """Whether a table's header is that of such an export."""
    return "image" in columns and {"annotation_id", "annotator", "lead_time"} & set(columns) != set()


def is_tasks(whole) -> bool:
    """Whether a JSON is a list of tasks."""
    first = whole[0] if isinstance(whole, list) and whole else None
    return isinstance(first, dict) and ("data" in first or ("image" in first and "id" in first))


def read(name: str, whole: list, sieve: Sieve) -> Iterator[Object]:
    """The objects of all tasks; those that are bad are the sieve's."""
    for k, task in enumerate(whole):
        where = f"{name}, [{k}]"
        with sieve.part(where):
            if not isinstance(task, dict):
                raise DataError(f"{where}: {short(task)}", ACCEPTED)
            image = task["data"].get("image") if isinstance(task.get("data"), dict) else task.get("image")
            image = named(f"{where}, image", image)
            yield from _of_task(name, f"[{k}]", image, task, sieve)


def of_a_line(name: str, at: str, values: dict[str, str]) -> list[Object]:
    """The objects of one line of a table. Raises json.JSONDecodeError."""
    image, found = named(f"{name}, {at}, column image", values["image"]), []
    for column, cell in values.items():
        if cell.startswith("[{"):
            found += [_object(name, f"{at}, {column}[{k}]", image, value) for k, value in enumerate(json.loads(cell))]
    return found


def _of_task(name: str, at: str, image: str, task: dict, sieve: Sieve) -> Iterator[Object]:
    for where, value in _values(task):
        with sieve.part(f"{name}, {at}{where}"):
            yield _object(name, f"{at}{where}", image, value)


def _values(task: dict) -> Iterator[tuple[str, dict]]:
    """(where, the region) of one task, whichever of the two ways it is written in."""
    for a, annotation in enumerate(_list(task.get("annotations") or task.get("completions"))):
        cancelled = isinstance(annotation, dict) and annotation.get("was_cancelled")
        for r, result in enumerate(_list(annotation.get("result")) if isinstance(annotation, dict) else ()):
            if not cancelled and isinstance(result, dict) and result.get("type") in (*_LABELS, "rectangle", "ellipse"):
                yield f".annotations[{a}].result[{r}]", result.get("value")
    for field, regions in task.items():
        for r, value in enumerate(_list(regions)):
            if isinstance(value, dict) and any(label in value for label in _LABELS):
                yield f".{field}[{r}]", value


def _list(value) -> list:
    return value if isinstance(value, list) else []


def _object(name: str, at: str, image: str, value) -> Object:
    where = f"{name}, {at}"
    if not isinstance(value, dict):
        raise DataError(f"{where}: {short(value)}", ACCEPTED)

    def per_cent(field):
        return number(f"{where}, {field}", value.get(field), "a number, in per cent of the picture")

    fields = _FIELDS
    if "points" in value:
        box, fields = around(f"{where}, points", value["points"]), 4 * ("points",)
    elif "radiusX" in value:
        x, y, rx, ry = map(per_cent, ("x", "y", "radiusX", "radiusY"))
        box, fields = (x - rx, y - ry, x + rx, y + ry), ("x", "y", "radiusX", "radiusY")
    else:
        x, y, w, h = map(per_cent, _FIELDS)
        box = turned((x, y, x + w, y + h), number(where, value.get("rotation", 0), "an angle"))
    labels = next((value[label] for label in _LABELS if isinstance(value.get(label), list)), [])
    kind = called(labels[0]) if labels else ""
    return Object(image, tuple(v / 100 for v in box), name, at, fields, kind=kind, shares=True)
