"""Boxes in YOLO's format: one text file per picture, with the same name, and one line per object.

    class x_centre y_centre width height                   a box, in fractions of the picture's width and height
    class x_centre y_centre width height x1 y1 [v1] ...    a box and keypoints, of which v tells the visibility
    class x1 y1 x2 y2 x3 y3 ...                            a polygon, or the corners of a rotated box

A detector writes its confidence behind these numbers, and a tracker the number of the track behind that. Lines of up to
6 numbers are boxes. Longer ones are read alike in all files of an upload: as boxes with keypoints if the yaml of the
dataset has a kpt_shape, which Ultralytics asks for; as the only reading that the numbers allow otherwise. They allow a
box if it lies within the picture and the rest can be keypoints (none if a yaml is there) or a confidence and a track; a
polygon if all are coordinates. What allows both is refused: a quadrilateral may be a box with two keypoints.

The names of the classes are in classes.txt, obj.names or data.yaml.

Reference: docs.ultralytics.com, "Datasets" (detect, segment, pose, obb) and `Results.save_txt`.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import PurePosixPath
from typing import NamedTuple

from data.dataset import DataError
from data.loaders import text
from data.loaders.bundle import Member
from data.loaders.objects.annotation import MAX_BYTES, MAX_OBJECTS, Object, Spot, called
from data.loaders.sieve import Sieve

NAMES = ("classes.txt", "obj.names")
ACCEPTED = "lines with a class and x, y, width and height as fractions of the picture between 0 and 1"
_LONG_ACCEPTED = (
    "lines with a class, x, y, width and height; or lines with polygons or keypoints, together with the data.yaml of "
    "the dataset, which must state kpt_shape if there are keypoints"
)
_LINE = re.compile(r"\s*\d+(\s+[-+.\deE]+){4,}\s*$")
_KEYPOINTS = re.compile(r"^kpt_shape:[\s\[-]*(\d{1,4})[\s,-]+([23])\b", re.MULTILINE)  # their number, numbers of each
LONG = 7  # numbers of a line that may be more than a box with its confidence
BOX, POLYGON, TRACKED = "box with further numbers", "polygon", "polygon with confidence and track"  # readings
_NOTES = {
    BOX: "Lines of more than 6 numbers are read as boxes; the keypoints, confidence or track after the box are ignored",
    POLYGON: "Lines of more than 6 numbers are read as polygons",
    TRACKED: "Lines of more than 6 numbers are read as polygons; the confidence and track after a polygon are ignored",
}
BEYOND = 0.02  # of the picture, by which a box may extend beyond its edge; rounding and loose annotation
NEAR = 0.5  # of the picture, by which a point may lie outside


class Dataset(NamedTuple):
    """What the files of an upload say together. kinds: names of the classes; keypoints: numbers of the keypoints of an
    object, 0 if a yaml states none, None if there is no yaml; readings: those that all long lines allow."""

    kinds: Sequence[str] = ()
    keypoints: int | None = None
    readings: frozenset[str] = frozenset()

    @property
    def notes(self) -> list[str]:
        """How long lines are read, if there are any."""
        return [_NOTES[reading] for reading in self.readings] if len(self.readings) == 1 else []


def is_yolo(content: bytes) -> bool:
    """Whether the first line of a text is a YOLO object, or the text is empty."""
    first = content[: 1 << 14].decode(errors="replace").strip("\ufeff").strip().split("\n")[0]
    return not first or bool(_LINE.match(first))


def dataset(members: Sequence[Member], texts: Iterable[Member]) -> Dataset:
    """What the members of an upload say together; texts: those that may be annotations."""
    configs = [_config(member) for member in members if _is_yaml(member.name)]
    stated = next(filter(None, map(_KEYPOINTS.search, configs)), None)
    keypoints = None if not any("names:" in config for config in configs) else 0
    keypoints = int(stated[1]) * int(stated[2]) if stated else keypoints
    lines = islice((values for member in texts for values in _long_lines(member)), MAX_OBJECTS)
    allowed = [(len(values), _readings(values, keypoints)) for values in lines]
    allowed = [(n, readings) for n, readings in allowed if readings]  # the others are errors of their lines
    common = frozenset.intersection(*(readings for _, readings in allowed)) if allowed else frozenset()
    lengths = Counter(n for n, _ in allowed)
    if len(common) > 1 and 2 * max(lengths.values()) <= len(allowed):
        common -= {BOX}  # each object of a dataset has as many keypoints
    return Dataset(_classes(members), keypoints, common)


def read(name: str, content: bytes, whole: Dataset, sieve: Sieve) -> Iterator[Object]:
    """The objects of one picture; invalid lines go to the sieve."""
    if not content.strip():
        return
    decoded = text.in_utf8(name, content)[0].decode()
    for line, values in enumerate(map(str.split, decoded.split("\n")), 1):
        if not values:
            continue
        spot = Spot(name, f"line {line}")
        with sieve.part(spot.where()):
            if len(values) < 5:
                raise DataError(f"{spot.where()}: {len(values)} values instead of at least 5", ACCEPTED)
            places = [f"value {k}" for k in range(2, 1 + len(values))]
            v = [spot.number(*of_one, "a fraction between 0 and 1") for of_one in zip(places, values[1:])]
            box = _box(spot, v, BOX) if len(values) < LONG else _of_long(spot, values, v, whole)
            if not (min(box) >= -1 and max(box) <= 2):
                shown = repr(" ".join(values)[:60])
                raise DataError(f"{spot.where()}: the values are not fractions of the picture: {shown}", ACCEPTED)
            kind = called(_kind(values[0], whole.kinds))
            yield Object(PurePosixPath(name).stem, box, spot, tuple(places[:4]), kind=kind, shares=True)


def _long_lines(member: Member) -> Iterator[list[str]]:
    """The numbers behind the class of the lines that have LONG numbers or more."""
    content = member.read() if member.size <= MAX_BYTES else b""
    if content and is_yolo(content):
        lines = map(str.split, content.decode(errors="replace").split("\n"))
        yield from (values[1:] for values in lines if len(values) >= LONG)


def _of_long(spot: Spot, values: Sequence[str], v: Sequence[float], whole: Dataset) -> tuple[float, ...]:
    """The box of a line of LONG numbers or more. DataError if it allows no reading, or several with unlike boxes."""
    allowed = _readings(values[1:], whole.keypoints)
    if not allowed:
        stated = f", neither a box nor a polygon: {' '.join(values)[:60]}"
        stated = f", but kpt_shape asks for {5 + whole.keypoints}" if whole.keypoints else stated
        raise DataError(f"{spot.where()}: {len(values)} numbers{stated}", _LONG_ACCEPTED)
    boxes = {_box(spot, v, reading): reading for reading in sorted(allowed & whole.readings or allowed)}
    if len(boxes) > 1:
        may_be = " or a ".join(boxes.values())
        raise DataError(f"{spot.where()}: {len(values)} numbers may be a {may_be}", _LONG_ACCEPTED)
    return next(iter(boxes))


def _box(spot: Spot, v: Sequence[float], reading: str) -> tuple[float, ...]:
    """The box, in fractions of the picture, of the numbers behind the class."""
    if reading == BOX:
        x, y, w, h = v[:4]
        return (x - w / 2, y - h / 2, x + w / 2, y + h / 2)
    n = len(v) - 2 if reading == TRACKED else len(v) - len(v) % 2
    return spot.around("", list(zip(v[:n:2], v[1:n:2])))


def _readings(values: Sequence[str], keypoints: int | None) -> frozenset[str]:
    """The readings that the numbers behind the class allow. keypoints: as in Dataset."""
    try:
        v = list(map(float, values))
    except ValueError:
        return frozenset()
    n = len(v)
    if keypoints:
        return frozenset([BOX] if 0 <= n - 4 - keypoints <= 2 else [])
    allowed = []
    if _are_coordinates(v[: n - n % 2]) and _is_tail(values, v, n % 2):
        allowed.append(POLYGON)
    if n % 2 == 0 and n >= 8 and _are_coordinates(v[:-2]) and _is_tail(values, v, 2):
        allowed.append(TRACKED)
    rest = [v[4 : n - k] for k in range(3) if _is_tail(values, v, k)]
    if _is_within(*v[:4]) and any(not of_one or (keypoints is None and _are_keypoints(of_one)) for of_one in rest):
        allowed.append(BOX)
    return frozenset(allowed)


def _is_tail(values: Sequence[str], v: Sequence[float], k: int) -> bool:
    """Whether the last k numbers can be a detector's confidence, a tracker's whole number, or both."""
    if k == 2:
        return 0 <= v[-2] <= 1 and values[-1].isdecimal()
    return k == 0 or 0 <= v[-1] <= 1 or values[-1].isdecimal()


def _is_within(x: float, y: float, w: float, h: float) -> bool:
    """Whether a box lies within the picture."""
    low, high = min(x - w / 2, y - h / 2), max(x + w / 2, y + h / 2)
    return min(w, h) > 0 and low >= -BEYOND and high <= 1 + BEYOND


def _are_coordinates(v: Sequence[float]) -> bool:
    return all(-NEAR <= value <= 1 + NEAR for value in v)


def _are_keypoints(v: Sequence[float]) -> bool:
    """Whether numbers can be keypoints x, y, or x, y and a visibility: 0, 1 or 2, or the confidence of a detector."""
    pairs = len(v) % 2 == 0 and _are_coordinates(v)
    triples = len(v) % 3 == 0 and _are_coordinates(v[::3]) and _are_coordinates(v[1::3])
    return pairs or (triples and all(0 <= seen <= 1 or seen == 2 for seen in v[2::3]))


def _is_yaml(name: str) -> bool:
    return PurePosixPath(name).suffix.lower() in (".yaml", ".yml")


def _config(member: Member) -> str:
    """The text of a small file beside the annotations."""
    return member.read().decode(errors="replace") if member.size <= MAX_BYTES else ""


def _classes(members: Sequence[Member]) -> list[str]:
    """The names of the classes, from a file in the upload; [] if there is none."""
    for member in members:
        last = PurePosixPath(member.name).name.lower()
        content = _config(member) if last in NAMES or _is_yaml(last) else ""
        if last in NAMES:
            return [called(line) for line in content.splitlines() if line.strip()]
        listed = re.search(r"names:\s*\[(.*?)\]", content, re.DOTALL)
        if listed:
            return [called(name.strip().strip("'\"")) for name in listed[1].split(",")]
        if "names:" in content:
            below = re.findall(r"^\s+(?:-|\d+:)\s*(.+)$", content[content.index("names:") :], re.MULTILINE)
            return [called(name.strip().strip("'\"")) for name in below]
    return []


def _kind(number: str, kinds: Sequence[str]) -> str:
    known = number.isdecimal() and int(number[:9]) < len(kinds)
    return kinds[int(number)] if known else f"class {number[:20]}"
