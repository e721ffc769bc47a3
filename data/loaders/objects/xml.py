"""Boxes in XML: Pascal VOC's, a file for each picture, and CVAT's, one for all.

    <annotation><filename>a.jpg</filename><object><name>car</name><bndbox><xmin>..</xmin>...</bndbox></object></annotation>
    <annotations><image name="a.jpg"><box label="car" xtl=".." ytl=".." xbr=".." ybr=".."/></image></annotations>

Reference: Everingham et al., "The PASCAL Visual Object Classes Challenge", IJCV 2010; docs.cvat.ai, "CVAT for image".
"""

from collections.abc import Iterator
from xml.etree import ElementTree

from data.dataset import DataError, in_words
from data.loaders.objects.found import BOX, Object, Spot, called, told
from data.loaders.sieve import Sieve

ACCEPTED = "Pascal VOC's XML of a picture, or CVAT's of all, without a document type of its own"
_NUMBERS = {  # a shape of CVAT -> how numbers tell it, and what they are called
    "box": ("corners", ("xtl", "ytl", "xbr", "ybr")),
    "ellipse": ("ellipse", ("cx", "cy", "rx", "ry")),
}


def parse(name: str, content: bytes) -> ElementTree.Element:
    """The root. DataError for what is no XML, or defines entities, which can be made to fill any memory."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DataError(f"{name} has a document type", ACCEPTED)
    with in_words(f"{name} is no XML", ACCEPTED, ElementTree.ParseError, ValueError, LookupError):
        return ElementTree.fromstring(content)


def read(name: str, content: bytes, sieve: Sieve) -> Iterator[Object]:
    """The objects; those that are bad are the sieve's."""
    root = parse(name, content)
    if root.tag == "annotation":
        yield from _voc(name, root, sieve)
    elif root.tag == "annotations":
        for k, image in enumerate(root.iter("image"), 1):
            yield from _cvat(Spot(name, f"image {k}"), image, sieve)
    else:
        raise DataError(f"{name} begins with <{root.tag[:40]}>", ACCEPTED)


def _voc(name: str, root: ElementTree.Element, sieve: Sieve) -> Iterator[Object]:
    image = Spot(name).named("filename", root.findtext("filename"))
    for k, found in enumerate(root.iter("object"), 1):
        spot = Spot(name, f"object {k}")
        with sieve.part(spot.where()):
            box = found.find("bndbox")
            if box is None:
                raise DataError(f"{spot.where()}: it has no bndbox", "xmin, ymin, xmax and ymax within <bndbox>")
            yield told(spot, image, "corners", BOX, map(box.findtext, BOX), kind=called(found.findtext("name", "")))


def _cvat(of: Spot, image: ElementTree.Element, sieve: Sieve) -> Iterator[Object]:
    file = of.named("name", image.get("name"))
    for k, shape in enumerate(image, 1):
        spot, kind = Spot(of.file, f"{of.at}, shape {k}"), called(shape.get("label", ""))
        with sieve.part(spot.where()):
            if shape.tag in _NUMBERS:
                how, fields = _NUMBERS[shape.tag]
                yield told(spot, file, how, fields, map(shape.get, fields), kind=kind)
            elif shape.tag in ("polygon", "polyline"):
                points = [point.split(",") for point in shape.get("points", "").split(";")]
                yield Object(file, spot.around("points", points), spot, 4 * ("points",), kind=kind)
            # else a tag, a point or a skeleton, which has no extent
