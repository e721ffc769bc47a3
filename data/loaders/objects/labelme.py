"""Shapes as saved by labelme, in one JSON file per picture.

{"imagePath": "a.jpg", "imageHeight": 40, "imageWidth": 60,
 "shapes": [{"label": "car", "shape_type": "rectangle", "points": [[x, y], [x, y]]}]}

For polygons and masks the box around them is used. Points and lines have no extent and are ignored.
"""

import math
from collections.abc import Iterator
from pathlib import PurePosixPath

from data.dataset import DataError
from data.loaders.objects.annotation import Object, Spot, called, invalid, stated_size
from data.loaders.sieve import Sieve

ACCEPTED = "labelme's shapes: rectangle, circle, polygon or mask, with their points"
_IGNORED = frozenset(("point", "points", "line", "linestrip"))


def is_labelme(whole) -> bool:
    """Whether a JSON value has a picture and its shapes."""
    return isinstance(whole, dict) and isinstance(whole.get("shapes"), list) and "imagePath" in whole


def read(name: str, whole: dict, sieve: Sieve) -> Iterator[Object]:
    """The objects; invalid ones go to the sieve."""
    named = Spot(name).named("imagePath", whole["imagePath"])
    image = PurePosixPath(named.replace("\\", "/")).name
    size = stated_size(whole.get("imageHeight"), whole.get("imageWidth"))
    for k, shape in enumerate(whole["shapes"]):
        spot = Spot(name, f"shapes[{k}]")
        with sieve.part(spot.where()):
            if not isinstance(shape, dict):
                raise DataError(f"{spot.where()}: {invalid(shape)}", ACCEPTED)
            form = shape.get("shape_type")
            if isinstance(form, str) and form in _IGNORED:
                sieve.ignored[form] += 1
                continue
            points, circle = shape.get("points"), form == "circle"
            box = spot.around("points", points)
            if circle:  # points: its centre, and a point on it
                (x, y), (u, v) = (spot.numbers("points", point, 2) for point in points[:2])
                r = math.hypot(u - x, v - y)
                box = (x - r, y - r, x + r, y + r)
            kind = called(shape.get("label", ""))
            yield Object(image, box, spot, 4 * ("points",), kind=kind, circle=circle, size=size)
