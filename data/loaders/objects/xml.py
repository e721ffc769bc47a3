"""Boxes in XML: Pascal VOC's with one file per picture, and CVAT's with one file for all images or for a video.

    <annotation><filename>a.jpg</filename><object><name>car</name><bndbox><xmin>..</xmin>...</bndbox></object></annotation>
    <annotations><image name="a.jpg"><box label="car" xtl=".." ytl=".." xbr=".." ybr=".."/></image></annotations>
    <annotations><track label="car"><box frame="7" outside="0" xtl=".." ... ybr=".."/></track></annotations>

Frame 7 of a video is the picture frame_000007, as CVAT names it when it exports a video with images. Boxes outside
their frame are ignored, and so are tags, points, polylines and skeletons, which have no extent. Rotations are about
the centre; the upright box around a rotated one is used.

Reference: Everingham et al., "The PASCAL Visual Object Classes Challenge", IJCV 2010; docs.cvat.ai, "CVAT for image",
"CVAT for video".
"""

import math
from collections.abc import Iterator
from xml.etree import ElementTree

from data.dataset import DataError, in_words
from data.loaders.objects.annotation import BOX, Object, Spot, called, invalid, object_from_numbers, stated_size
from data.loaders.sieve import Sieve

ACCEPTED = "Pascal VOC's XML (one file per picture) or CVAT's (one file for all), without a document type definition"
_NUMBERS = {  # shape of CVAT -> form of its numbers, and their names
    "box": ("corners", ("xtl", "ytl", "xbr", "ybr")),
    "ellipse": ("ellipse", ("cx", "cy", "rx", "ry")),
    "mask": ("size", ("left", "top", "width", "height")),
}
FRAME = "the number of a frame, from 0"
FRAMES = "images with the names that CVAT gives to the frames of a video: frame_000000.png for frame 0"


def parse(name: str, content: bytes) -> ElementTree.Element:
    """The root element. DataError if it is not XML, or defines entities, which may expand without limit."""
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DataError(f"{name} has a document type definition", ACCEPTED)
    with in_words(f"{name} is not valid XML", ACCEPTED, ElementTree.ParseError, ValueError, LookupError):
        return ElementTree.fromstring(content)


def read(name: str, content: bytes, sieve: Sieve) -> Iterator[Object]:
    """The objects; invalid ones go to the sieve."""
    root = parse(name, content)
    if root.tag == "annotation":
        yield from _voc(name, root, sieve)
    elif root.tag == "annotations":
        for k, image in enumerate(root.iter("image"), 1):
            yield from _cvat(Spot(name, f"image {k}"), image, sieve)
        original = next(root.iter("original_size"), root)  # of the frames of a video
        size = stated_size(original.findtext("height"), original.findtext("width"))
        for k, track in enumerate(root.iter("track"), 1):
            for annotated in _video(Spot(name, f"track {k}"), track, sieve):
                yield annotated._replace(size=size)
    else:
        raise DataError(f"{name} begins with <{root.tag[:40]}>", ACCEPTED)


def _voc(name: str, root: ElementTree.Element, sieve: Sieve) -> Iterator[Object]:
    image = Spot(name).named("filename", root.findtext("filename"))
    size = stated_size(root.findtext("size/height"), root.findtext("size/width"))
    for k, element in enumerate(root.iter("object"), 1):
        spot = Spot(name, f"object {k}")
        with sieve.part(spot.where()):
            box = element.find("bndbox")
            if box is None:
                raise DataError(f"{spot.where()}: there is no <bndbox>", "xmin, ymin, xmax and ymax within <bndbox>")
            kind = called(element.findtext("name", ""))
            yield object_from_numbers(spot, image, "corners", BOX, map(box.findtext, BOX), kind=kind, size=size)


def _cvat(parent: Spot, image: ElementTree.Element, sieve: Sieve) -> Iterator[Object]:
    file = parent.named("name", image.get("name"))
    size = stated_size(image.get("height"), image.get("width"))
    for k, shape in enumerate(image, 1):
        spot = Spot(parent.file, f"{parent.at}, shape {k}")
        with sieve.part(spot.where()):
            for annotated in _shape(spot, file, shape, called(shape.get("label", "")), sieve):
                yield annotated._replace(size=size)


def _video(parent: Spot, track: ElementTree.Element, sieve: Sieve) -> Iterator[Object]:
    kind = called(track.get("label", ""))
    for shape in track:
        frame = shape.get("frame", "")
        spot = Spot(parent.file, f"{parent.at}, frame {frame[:20]}")
        with sieve.part(spot.where()):
            if shape.get("outside") == "1":
                sieve.ignored[f"{shape.tag} outside its frame"] += 1
                continue
            if not (frame.isascii() and frame.isdigit() and len(frame) < 10):
                raise DataError(f"{Spot(parent.file, parent.at).where('frame')}: {invalid(frame)}", FRAME)
            for annotated in _shape(spot, f"frame_{int(frame):06d}.png", shape, kind, sieve):
                yield annotated._replace(named=FRAMES)


def _shape(spot: Spot, file: str, shape: ElementTree.Element, kind: str, sieve: Sieve) -> Iterator[Object]:
    """The object of a CVAT shape; nothing for a shape without extent."""
    if shape.tag in _NUMBERS:
        how, fields = _NUMBERS[shape.tag]
        annotated = object_from_numbers(spot, file, how, fields, map(shape.get, fields), kind=kind)
        degrees = spot.number("rotation", shape.get("rotation", 0), "an angle in degrees")
        yield annotated._replace(box=_around(annotated.box, degrees, how == "ellipse")) if degrees else annotated
    elif shape.tag == "polygon":
        points = [point.split(",") for point in shape.get("points", "").split(";")]
        yield Object(file, spot.around("points", points), spot, 4 * ("points",), kind=kind)
    else:
        sieve.ignored[shape.tag] += 1


def _around(box: tuple[float, ...], degrees: float, ellipse: bool) -> tuple[float, ...]:
    """The upright box around a box, or the ellipse in it, that is rotated about its centre."""
    x, y, x2, y2 = box
    cos, sin = abs(math.cos(math.radians(degrees))), abs(math.sin(math.radians(degrees)))
    reach = math.hypot if ellipse else lambda u, v: u + v
    w, h = reach((x2 - x) * cos, (y2 - y) * sin) / 2, reach((x2 - x) * sin, (y2 - y) * cos) / 2
    cx, cy = (x + x2) / 2, (y + y2) / 2
    return tuple(round(v, 3) for v in (cx - w, cy - h, cx + w, cy + h))
