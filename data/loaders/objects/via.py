"""Regions as the VGG Image Annotator writes them: a table, its JSON, or a saved project.

    {"a.jpg123": {"filename": "a.jpg", "regions": [{"shape_attributes": {"name": "rect", "x": ...}, ...}]}}

Circles are circles; of ellipses and polygons the box around them is taken.
"""

import json
from collections.abc import Iterator

from data.dataset import DataError
from data.loaders.objects.found import Object, around, called, named, number, short
from data.loaders.sieve import Sieve

SHAPE, OF_A_REGION = "region_shape_attributes", "region_attributes"
PROJECT = "_via_img_metadata"
ACCEPTED = "VIA's regions: rect, circle, ellipse, polygon or polyline"


def is_via(whole) -> bool:
    """Whether a JSON is such a project or export."""
    if not isinstance(whole, dict):
        return False
    images = whole.get(PROJECT, whole)
    first = next(iter(images.values()), None) if isinstance(images, dict) else None
    return isinstance(first, dict) and "filename" in first and "regions" in first


def read(name: str, whole: dict, sieve: Sieve) -> Iterator[Object]:
    """The objects of all regions; those that are bad are the sieve's."""
    for key, image in whole.get(PROJECT, whole).items():
        regions = image.get("regions") if isinstance(image, dict) else None
        regions = list(regions.values()) if isinstance(regions, dict) else regions
        with sieve.part(f"{name}, {key[:60]}"):
            if not isinstance(regions, list):
                raise DataError(f"{name}, {key[:60]}, regions: {short(regions)}", "a list of regions")
        for k, region in enumerate(regions if isinstance(regions, list) else ()):
            at = f"{key[:60]}, regions[{k}]"
            with sieve.part(f"{name}, {at}"):
                if not isinstance(region, dict):
                    raise DataError(f"{name}, {at}: {short(region)}", ACCEPTED)
                one = _object(name, at, image["filename"], region.get("shape_attributes"), region.get(OF_A_REGION))
                yield one


def of_a_line(name: str, at: str, values: dict[str, str]) -> list[Object]:
    """The object of one line of a table; a picture without regions has a line too."""
    shape = json.loads(values[SHAPE] or "{}")
    return (
        [_object(name, at, values.get("filename"), shape, json.loads(values.get(OF_A_REGION) or "{}"))] if shape else []
    )


def _object(name: str, at: str, image, shape, about) -> Object:
    where = f"{name}, {at}"
    kind = shape.get("name") if isinstance(shape, dict) else None

    def value(field):
        return number(f"{where}, {field}", shape.get(field))

    circle, fields = kind in ("circle", "point"), 4 * ("x",)
    if kind == "rect":
        x, y, w, h = map(value, ("x", "y", "width", "height"))
        box, fields = (x, y, x + w, y + h), ("x", "y", "width", "height")
    elif kind in ("circle", "ellipse"):
        x, y, *r = map(value, ("cx", "cy", "r") if circle else ("cx", "cy", "rx", "ry"))
        box, fields = (
            (x - r[0], y - r[-1], x + r[0], y + r[-1]),
            ("cx", "cy", "r" if circle else "rx", "r" if circle else "ry"),
        )
    elif kind in ("polygon", "polyline"):
        xs, ys = shape.get("all_points_x"), shape.get("all_points_y")
        both = list(zip(xs, ys)) if isinstance(xs, list) and isinstance(ys, list) else None
        box, fields = around(f"{where}, all_points_x", both), 4 * ("all_points_x",)
    else:
        raise DataError(f"{where}: {short(kind)}", ACCEPTED)
    called_ = next((called(value) for value in about.values()), "") if isinstance(about, dict) else ""
    return Object(named(f"{where}, filename", image), box, name, at, fields, kind=called_, circle=circle)
