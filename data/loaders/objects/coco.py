"""Boxes in COCO's JSON format, which CVAT, Label Studio and Roboflow also export.

    {"images": [{"id", "file_name", "width", "height"}], "categories": [{"id", "name"}],
     "annotations": [{"image_id", "category_id", "bbox": [x, y, width, height]}]}

If an annotation has no bbox, the box around its polygons or its run-length mask is used. A mask lists the lengths of
alternating runs of pixels, column by column, the first of which is outside. In the compressed form of pycocotools each
count is a text with 5 bits per character; from the fourth on it is the difference from the count two before.

Reference: Lin et al., "Microsoft COCO: Common Objects in Context", ECCV 2014; cocodataset.org, "Data format".
"""

import json
from collections.abc import Iterable, Iterator
from itertools import accumulate

from data.dataset import DataError
from data.loaders.objects.annotation import Object, Spot, called, invalid, stated_size
from data.loaders.sieve import Sieve

ACCEPTED = "COCO's JSON: images with id and file_name, annotations with image_id and bbox [x, y, width, height]"
_FIELDS = 4 * ("bbox",)
MASK = "a run-length mask: size [height, width] and counts, whole numbers that sum up to at most height x width"
_LETTERS = range(48, 112)  # of a compressed count: 5 bits each, the sixth says that more follow


def is_coco(whole) -> bool:
    """Whether a JSON value has the parts of a COCO file."""
    return isinstance(whole, dict) and all(isinstance(whole.get(part), list) for part in ("images", "annotations"))


def read(name: str, whole: dict, sieve: Sieve) -> Iterator[Object]:
    """The objects, without crowds; invalid ones go to the sieve."""
    files, sizes, kinds = {}, {}, {}
    for k, image in enumerate(whole["images"]):
        spot = Spot(name, f"images[{k}]")
        with sieve.part(spot.where()):
            if not isinstance(image, dict) or (number := _identity(image.get("id"))) is None:
                raise DataError(f"{spot.where()}: {invalid(image)}", ACCEPTED)
            file = spot.named("file_name", image.get("file_name"))
            sizes[number] = stated_size(image.get("height"), image.get("width"))
            if files.setdefault(number, file) != file:
                files[number] = None  # objects with this id may be in either image
                reason = f"{spot.where('id')}: {number[:40]} is the id of another image too"
                raise DataError(reason, "a different id for each image")
    for kind in whole.get("categories") if isinstance(whole.get("categories"), list) else ():
        if isinstance(kind, dict) and (number := _identity(kind.get("id"))) is not None:
            title = called(kind.get("name", ""))
            if kinds.setdefault(number, title) != title:
                raise DataError(f"{name}: the categories {kinds[number]} and {title} have the same id, {number[:40]}",
                                "a different id for each category")  # fmt: skip
    for k, annotation in enumerate(whole["annotations"]):
        spot = Spot(name, f"annotations[{k}]")
        with sieve.part(spot.where()):
            if not isinstance(annotation, dict):
                raise DataError(f"{spot.where()}: {invalid(annotation)}", ACCEPTED)
            if _identity(annotation.get("iscrowd")) in ("1", "True"):
                sieve.ignored["crowd"] += 1
                continue
            yield _object(spot, annotation, files, sizes, kinds)


def written(pictures: Iterable[tuple[str, tuple[int, int]]], detections: Iterable[tuple], kind: str) -> str:
    """COCO's JSON of pictures (name, (h, w)) and detections (position of the picture, box as xmin, ymin, xmax, ymax,
    score) of objects called `kind`. Annotation tools can import it, and `read` reads it."""
    images = [{"id": k, "file_name": n, "width": w, "height": h} for k, (n, (h, w)) in enumerate(pictures, 1)]
    annotations = []
    for k, (picture, (x, y, x2, y2), score) in enumerate(detections, 1):
        w, h = x2 - x, y2 - y
        about = {"id": k, "image_id": picture + 1, "category_id": 1, "bbox": [round(v, 2) for v in (x, y, w, h)]}
        annotations.append(about | {"area": round(w * h, 2), "iscrowd": 0, "score": round(score, 6)})
    whole = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": kind}]}
    return json.dumps(whole, ensure_ascii=False, indent=1)


def _object(spot: Spot, annotation: dict, files: dict, sizes: dict, kinds: dict) -> Object:
    image = _identity(annotation.get("image_id"))
    if not files.get(image):
        reason = f"{spot.where('image_id')}: {invalid(annotation.get('image_id'))}"
        raise DataError(reason, "the id of one of the images")
    bbox, outline, size = annotation.get("bbox"), annotation.get("segmentation"), sizes[image]
    if not bbox and isinstance(outline, dict):
        box = _around_mask(spot, outline)
        size = stated_size(*outline["size"])
    elif not bbox and isinstance(outline, list) and outline and all(isinstance(part, list) for part in outline):
        box = spot.around("segmentation", [pair for part in outline for pair in zip(part[::2], part[1::2])])
    else:
        x, y, w, h = spot.numbers("bbox", bbox, 4)
        if min(w, h) <= 0:
            raise DataError(f"{spot.where('bbox')}: {invalid(bbox)}", "x, y, width and height, the last two above 0")
        box = (x, y, x + w, y + h)
    kind = kinds.get(_identity(annotation.get("category_id")), "")
    return Object(files[image], box, spot, _FIELDS, kind=kind, size=size)


def _around_mask(spot: Spot, mask: dict) -> tuple[float, ...]:
    """The box around a run-length mask. DataError for an invalid or empty mask."""
    size, counts = mask.get("size"), mask.get("counts")
    h, w = (int(side) for side in spot.numbers("segmentation.size", size, 2, MASK))
    counts = _decompressed(counts) if isinstance(counts, str) else counts
    whole = isinstance(counts, list) and all(isinstance(n, int) and 0 <= n <= h * w for n in counts)
    ends = list(accumulate(counts)) if whole else []
    if not ends or ends[-1] > h * w:
        raise DataError(f"{spot.where('segmentation')}: {invalid(mask)}", MASK)
    runs = [(start, end) for start, end in zip(ends[::2], ends[1::2]) if end > start]
    if not runs:
        raise DataError(f"{spot.where('segmentation')}: the mask is empty", "a mask with at least one pixel")
    columns = [(start // h, (end - 1) // h) for start, end in runs]
    rows = [(0, h) if x2 > x else (start % h, (end - 1) % h + 1) for (x, x2), (start, end) in zip(columns, runs)]
    return columns[0][0], min(y for y, _ in rows), columns[-1][1] + 1, max(y for _, y in rows)


def _decompressed(counts: str) -> list[int]:
    """The run lengths of a compressed mask; [] if it is invalid."""
    lengths, value, bits = [], 0, 0
    for letter in map(ord, counts):
        if letter not in _LETTERS or bits > 30:
            return []
        value |= (letter - 48 & 0x1F) << bits
        bits += 5
        if not letter - 48 & 0x20:
            value -= (letter - 48 & 0x10) << bits - 4  # the sign
            lengths.append(value + (lengths[-2] if len(lengths) > 2 else 0))
            value = bits = 0
    return [] if bits else lengths


def _identity(value) -> str | None:
    """An id as text, so that 1, 1.0 and "1" are equal; None for other types."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int | str) else None
