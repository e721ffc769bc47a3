"""Boxes as Label Studio exports them: JSON, JSON-MIN, or a table with JSON in its cells.

    [{"data": {"image": "/data/upload/1/1a2b3c4d-a.jpg"}, "annotations": [{"result": [{"type": "rectanglelabels",
      "value": {"x": 10, "y": 5, "width": 20, "height": 8, "rotation": 0, "rectanglelabels": ["Car"]}}]}]}]

x, y, width and height are per cent of the picture. For ellipses and polygons the box around them is used. Other
results, such as choices and texts, are ignored. If several annotators have drawn objects in one task, those of one of
them are read: of the annotation marked as ground truth, else of the first.
"""

import json
from collections.abc import Callable, Iterator
from functools import partial

from data.dataset import DataError
from data.loaders.objects.annotation import Object, Spot, called, invalid, object_from_numbers, stated_size
from data.loaders.sieve import Sieve

_LABELS = ("rectanglelabels", "ellipselabels", "polygonlabels")
_TYPES = (*_LABELS, "rectangle", "ellipse", "polygon")
_FIELDS, _RADII = ("x", "y", "width", "height"), ("x", "y", "radiusX", "radiusY")
PER_CENT = "a number, in per cent of the picture"
_SIZE = ("original_height", "original_width")  # of the picture, in pixels
_OTHER = "region of another annotator"
ACCEPTED = "rectangles, ellipses or polygons as Label Studio exports them, in per cent of the picture"


def in_table(columns: list[str]) -> bool:
    """Whether the header of a table is that of a Label Studio export."""
    return "image" in columns and {"annotation_id", "annotator", "lead_time"} & set(columns) != set()


def is_tasks(whole) -> bool:
    """Whether a JSON value is a list of tasks."""
    first = whole[0] if isinstance(whole, list) and whole else None
    return isinstance(first, dict) and ("data" in first or ("image" in first and "id" in first))


def read(name: str, whole: list, sieve: Sieve) -> Iterator[Object]:
    """The objects of all tasks; invalid ones go to the sieve."""
    annotations: dict = {}
    for k, task in enumerate(whole):
        spot = Spot(name, f"[{k}]")
        with sieve.part(spot.where()):
            if not isinstance(task, dict):
                raise DataError(f"{spot.where()}: {invalid(task)}", ACCEPTED)
            image = task["data"].get("image") if isinstance(task.get("data"), dict) else task.get("image")
            image = spot.named("image", image)
            regions = list(_values(task, sieve))
            if _by_another(annotations, (image, task.get("id")), task.get("annotation_id", k), regions, sieve):
                continue
            for at, value in regions:
                of_one = Spot(name, f"{spot.at}{at}")
                with sieve.part(of_one.where()):
                    yield _object(of_one, image, value)


def line_reader() -> Callable[[Spot, dict[str, str], Sieve], list[Object]]:
    """A reader of the lines of one table, which returns the objects of one line. It raises json.JSONDecodeError."""
    return partial(_of_a_line, {})


def _of_a_line(annotations: dict, spot: Spot, values: dict[str, str], sieve: Sieve) -> list[Object]:
    image, regions = spot.named("image", values["image"]), []
    for column, cell in values.items():
        for k, value in enumerate(json.loads(cell) if cell.startswith("[{") else ()):
            if _is_region(value, sieve):
                regions.append((Spot(spot.file, f"{spot.at}, {column}[{k}]"), value))
    if _by_another(annotations, (image, values.get("id")), values.get("annotation_id", spot.at), regions, sieve):
        return []
    return [_object(at, image, value) for at, value in regions]


def _by_another(annotations: dict, task: tuple, annotation, regions: list, sieve: Sieve) -> bool:
    """Whether another annotation of this task has had regions before; if so, these ones are counted as ignored.
    annotations: the annotation that is read, by task; task: the picture and the id, if any."""
    known = regions and task[1] not in (None, "")
    first = annotations.setdefault(str(task), annotation) if known else annotation
    if first != annotation:
        sieve.ignored[_OTHER] += len(regions)
    return first != annotation


def _values(task: dict, sieve: Sieve) -> Iterator[tuple[str, dict]]:
    """(position, region) for the regions of a task, in either of the two formats."""
    annotations = [
        (a, annotation)
        for a, annotation in enumerate(_list(task.get("annotations") or task.get("completions")))
        if isinstance(annotation, dict) and not annotation.get("was_cancelled")
    ]
    chosen = None
    for a, annotation in sorted(annotations, key=lambda pair: not pair[1].get("ground_truth")):
        for r, result in enumerate(_list(annotation.get("result"))):
            kind = called(result.get("type")) if isinstance(result, dict) else ""
            if kind not in _TYPES:
                sieve.ignored[kind or "without a type"] += 1
                continue
            chosen = a if chosen is None else chosen
            if a == chosen:
                value, size = result.get("value"), {name: result.get(name) for name in _SIZE}
                yield f".annotations[{a}].result[{r}]", size | value if isinstance(value, dict) else value
            else:
                sieve.ignored[_OTHER] += 1
    for field, regions in task.items():
        for r, value in enumerate(_list(regions)):
            if isinstance(value, dict) and "result" not in value and _is_region(value, sieve):
                yield f".{field}[{r}]", value


def _is_region(value, sieve: Sieve) -> bool:
    """Whether a value without a type is a region; other values are counted as ignored."""
    if not isinstance(value, dict) or any(label in value for label in _LABELS):
        return True
    other = next((called(key) for key in value if key.endswith("labels") or key in ("choices", "text")), "")
    if other:
        sieve.ignored[other] += 1
    return not other and ("points" in value or {"x", "y"} <= value.keys())


def _list(value) -> list:
    return value if isinstance(value, list) else []


def _object(spot: Spot, image: str, value) -> Object:
    if not isinstance(value, dict):
        raise DataError(f"{spot.where()}: {invalid(value)}", ACCEPTED)
    labels = next((value[label] for label in _LABELS if isinstance(value.get(label), list)), [])
    kind = called(labels[0]) if labels else ""
    if "points" in value:
        region = Object(image, spot.around("points", value["points"]), spot, 4 * ("points",))
    elif "radiusX" in value:
        region = object_from_numbers(spot, image, "ellipse", _RADII, map(value.get, _RADII), PER_CENT)
    else:
        region = object_from_numbers(spot, image, "size", _FIELDS, map(value.get, _FIELDS), PER_CENT)
        region = region._replace(turn=spot.number("", value.get("rotation", 0), "an angle"))
    size = stated_size(*map(value.get, _SIZE))
    return region._replace(box=tuple(v / 100 for v in region.box), kind=kind, shares=True, size=size)
