"""Shapes as labelme saves them, a JSON for each picture.

{"imagePath": "a.jpg", "shapes": [{"label": "car", "shape_type": "rectangle", "points": [[x, y], [x, y]]}]}
"""

import math
from collections.abc import Iterator
from pathlib import PurePosixPath

from data.dataset import DataError
from data.loaders.objects.found import Object, around, called, named, numbers, short
from data.loaders.sieve import Sieve

ACCEPTED = "labelme's shapes: rectangle, circle, polygon or line, with their points"


def is_labelme(whole) -> bool:
    """Whether a JSON is of one picture and its shapes."""
    return isinstance(whole, dict) and isinstance(whole.get("shapes"), list) and "imagePath" in whole


def read(name: str, whole: dict, sieve: Sieve) -> Iterator[Object]:
    """The objects; those that are bad are the sieve's."""
    image = PurePosixPath(named(f"{name}, imagePath", whole["imagePath"]).replace("\\", "/")).name
    for k, shape in enumerate(whole["shapes"]):
        at = f"shapes[{k}]"
        where = f"{name}, {at}, points"
        with sieve.part(f"{name}, {at}"):
            if not isinstance(shape, dict):
                raise DataError(f"{name}, {at}: {short(shape)}", ACCEPTED)
            points, circle = shape.get("points"), shape.get("shape_type") == "circle"
            if circle:
                around(where, points)
                (x, y), (u, v) = (numbers(where, point, 2) for point in points[:2])
                r = math.hypot(u - x, v - y)
                box = (x - r, y - r, x + r, y + r)
            else:
                box = around(where, points)
            yield Object(image, box, name, at, 4 * ("points",), kind=called(shape.get("label", "")), circle=circle)
