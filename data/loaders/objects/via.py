"""Regions of the VGG Image Annotator: a table, JSON, or a saved project.

    {"a.jpg123": {"filename": "a.jpg", "regions": [{"shape_attributes": {"name": "rect", "x": ...}, ...}]}}

Circles stay circles; for ellipses and polygons the box around them is used. Points and polylines are ignored.
"""

import json
from collections.abc import Iterator

from data.dataset import DataError
from data.loaders.objects.annotation import Object, Spot, called, invalid, object_from_numbers
from data.loaders.sieve import Sieve

SHAPE, ABOUT = "region_shape_attributes", "region_attributes"
PROJECT = "_via_img_metadata"
ACCEPTED = "VIA's regions: rect, circle, ellipse or polygon"
_NUMBERS = {  # name of a shape -> form of its numbers, and their names in VIA
    "rect": ("size", ("x", "y", "width", "height")),
    "circle": ("circle", ("cx", "cy", "r")),
    "ellipse": ("ellipse", ("cx", "cy", "rx", "ry")),
}


def is_via(whole) -> bool:
    """Whether a JSON value is a VIA project or export."""
    if not isinstance(whole, dict):
        return False
    images = whole.get(PROJECT, whole)
    first = next(iter(images.values()), None) if isinstance(images, dict) else None
    return isinstance(first, dict) and "filename" in first and "regions" in first


def read(name: str, whole: dict, sieve: Sieve) -> Iterator[Object]:
    """The objects of all regions; invalid ones go to the sieve."""
    for key, image in whole.get(PROJECT, whole).items():
        regions = image.get("regions") if isinstance(image, dict) else None
        regions = list(regions.values()) if isinstance(regions, dict) else regions
        spot = Spot(name, key[:60])
        with sieve.part(spot.where()):
            if not isinstance(regions, list):
                raise DataError(f"{spot.where('regions')}: {invalid(regions)}", "a list of regions")
        for k, region in enumerate(regions if isinstance(regions, list) else ()):
            spot = Spot(name, f"{key[:60]}, regions[{k}]")
            with sieve.part(spot.where()):
                if not isinstance(region, dict):
                    raise DataError(f"{spot.where()}: {invalid(region)}", ACCEPTED)
                yield from _objects(spot, image["filename"], region.get("shape_attributes"), region.get(ABOUT), sieve)


def of_a_line(spot: Spot, values: dict[str, str], sieve: Sieve) -> list[Object]:
    """The object of one line of a table; a picture without regions has a line too. Raises json.JSONDecodeError."""
    shape, about = (json.loads(values.get(column) or "{}") for column in (SHAPE, ABOUT))
    return _objects(spot, values.get("filename"), shape, about, sieve) if shape else []


def _objects(spot: Spot, image, shape, about, sieve: Sieve) -> list[Object]:
    """The object of a region, as a list; empty for a point or a polyline."""
    shape = shape if isinstance(shape, dict) else {}
    image, name = spot.named("filename", image), shape.get("name")
    kind = next((called(value) for value in about.values()), "") if isinstance(about, dict) else ""
    if name == "polygon":
        xs, ys = shape.get("all_points_x"), shape.get("all_points_y")
        both = list(zip(xs, ys)) if isinstance(xs, list) and isinstance(ys, list) else None
        return [Object(image, spot.around("all_points_x", both), spot, 4 * ("all_points_x",), kind=kind)]
    if name in ("point", "polyline"):
        sieve.ignored[name] += 1
        return []
    if not isinstance(name, str) or name not in _NUMBERS:
        raise DataError(f"{spot.where()}: {invalid(name)}", ACCEPTED)
    how, fields = _NUMBERS[name]
    return [object_from_numbers(spot, image, how, fields, map(shape.get, fields), kind=kind)]
