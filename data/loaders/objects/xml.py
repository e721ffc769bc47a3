"""Boxes in XML: Pascal VOC's, a file for each picture, and CVAT's, one for all.

    <annotation><filename>a.jpg</filename><object><name>car</name><bndbox><xmin>..</xmin>...</bndbox></object></annotation>
    <annotations><image name="a.jpg"><box label="car" xtl=".." ytl=".." xbr=".." ybr=".."/></image></annotations>

Reference: Everingham et al., "The PASCAL Visual Object Classes Challenge", IJCV 2010; docs.cvat.ai, "CVAT for image".
"""

from collections.abc import Iterator
from xml.etree import ElementTree

from data.dataset import DataError
from data.loaders.objects.found import BOX, Object, around, called, named, number, short
from data.loaders.sieve import Sieve

ACCEPTED = "Pascal VOC's XML of a picture, or CVAT's of all, without a document type of its own"
_CORNERS = ("xtl", "ytl", "xbr", "ybr")


def parse(name: str, content: bytes) -> ElementTree.Element:
    """The root. DataError for what is no XML, or defines entities, which can be made to fill any memory."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DataError(f"{name} has a document type", ACCEPTED)
    try:
        return ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise DataError(f"{name} is no XML ({error})", ACCEPTED) from error


def is_objects(content: bytes) -> bool:
    """Whether an XML is one of the two."""
    start = content[: 1 << 12]
    return b"<annotation" in start


def read(name: str, content: bytes, sieve: Sieve) -> Iterator[Object]:
    """The objects; those that are bad are the sieve's."""
    root = parse(name, content)
    if root.tag == "annotation":
        yield from _voc(name, root, sieve)
    elif root.tag == "annotations":
        for k, image in enumerate(root.iter("image")):
            yield from _cvat(name, f"image {k + 1}", image, sieve)
    else:
        raise DataError(f"{name} begins with <{root.tag[:40]}>", ACCEPTED)


def _voc(name: str, root: ElementTree.Element, sieve: Sieve) -> Iterator[Object]:
    image = named(f"{name}, filename", root.findtext("filename"))
    for k, found in enumerate(root.iter("object"), 1):
        at = f"object {k}"
        with sieve.part(f"{name}, {at}"):
            box = found.find("bndbox")
            if box is None:
                raise DataError(f"{name}, {at}: it has no bndbox", "xmin, ymin, xmax and ymax within <bndbox>")
            v = _upright(name, at, {side: box.findtext(side) for side in BOX}, BOX)
            yield Object(image, v, name, at, BOX, kind=called(found.findtext("name", "")))


def _cvat(name: str, at: str, image: ElementTree.Element, sieve: Sieve) -> Iterator[Object]:
    file = named(f"{name}, {at}, name", image.get("name"))
    for k, shape in enumerate(image, 1):
        where = f"{at}, shape {k}"
        with sieve.part(f"{name}, {where}"):
            kind, fields = called(shape.get("label", "")), _CORNERS
            if shape.tag == "box":
                v = _upright(name, where, shape.attrib, _CORNERS)
            elif shape.tag == "ellipse":
                fields = ("cx", "cy", "rx", "ry")
                x, y, rx, ry = (number(f"{name}, {where}, {field}", shape.get(field)) for field in fields)
                v = (x - rx, y - ry, x + rx, y + ry)
            elif shape.tag in ("polygon", "polyline"):
                fields = 4 * ("points",)
                points = [point.split(",") for point in shape.get("points", "").split(";")]
                v = around(f"{name}, {where}, points", points)
            else:  # tags, points, skeletons: no extent
                continue
            yield Object(file, v, name, where, fields, kind=kind)


def _upright(name: str, at: str, values: dict, fields: tuple[str, ...]) -> tuple[float, ...]:
    v = tuple(number(f"{name}, {at}, {field}", values.get(field)) for field in fields)
    for low, high in ((0, 2), (1, 3)):
        if v[high] <= v[low]:
            told = f"{short(v[high])} is not above {fields[low]} {short(v[low])}"
            raise DataError(f"{name}, {at}, {fields[high]}: {told}", f"{fields[high]} above {fields[low]}")
    return v
