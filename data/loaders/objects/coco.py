"""Boxes as in COCO's JSON, which CVAT, Label Studio and Roboflow export too.

    {"images": [{"id", "file_name", ...}], "annotations": [{"image_id", "bbox": [x, y, width, height], "category_id"}],
     "categories": [{"id", "name"}]}

Reference: Lin et al., "Microsoft COCO: Common Objects in Context", ECCV 2014; cocodataset.org, "Data format".
"""

import json
from collections.abc import Iterable, Iterator

from data.dataset import DataError
from data.loaders.objects.found import Object, Spot, called, short
from data.loaders.sieve import Sieve

ACCEPTED = "COCO's JSON: images with id and file_name, annotations with image_id and bbox [x, y, width, height]"
_FIELDS = 4 * ("bbox",)


def is_coco(whole) -> bool:
    """Whether a JSON has these parts."""
    return isinstance(whole, dict) and all(isinstance(whole.get(part), list) for part in ("images", "annotations"))


def read(name: str, whole: dict, sieve: Sieve) -> Iterator[Object]:
    """The objects; those that are bad are the sieve's. A crowd is none."""
    files, kinds = {}, {}
    for k, image in enumerate(whole["images"]):
        spot = Spot(name, f"images[{k}]")
        with sieve.part(spot.where()):
            if not isinstance(image, dict) or (number := _identity(image.get("id"))) is None:
                raise DataError(f"{spot.where()}: {short(image)}", ACCEPTED)
            files[number] = spot.named("file_name", image.get("file_name"))
    for kind in whole.get("categories") if isinstance(whole.get("categories"), list) else ():
        if isinstance(kind, dict) and (number := _identity(kind.get("id"))) is not None:
            kinds[number] = called(kind.get("name", ""))
    for k, annotation in enumerate(whole["annotations"]):
        spot = Spot(name, f"annotations[{k}]")
        with sieve.part(spot.where()):
            if not isinstance(annotation, dict):
                raise DataError(f"{spot.where()}: {short(annotation)}", ACCEPTED)
            if annotation.get("iscrowd") == 1:
                continue
            yield _object(spot, annotation, files, kinds)


def written(pictures: Iterable[tuple[str, tuple[int, int]]], found: Iterable[tuple], kind: str) -> str:
    """COCO's JSON of pictures (name, (h, w)) and of what was found in them: (picture's place, box as xmin, ymin, xmax,
    ymax, score), called `kind`. Annotation tools import it, and `read` reads it."""
    images = [{"id": k, "file_name": n, "width": w, "height": h} for k, (n, (h, w)) in enumerate(pictures, 1)]
    annotations = []
    for k, (picture, (x, y, x2, y2), score) in enumerate(found, 1):
        w, h = x2 - x, y2 - y
        about = {"id": k, "image_id": picture + 1, "category_id": 1, "bbox": [round(v, 2) for v in (x, y, w, h)]}
        annotations.append(about | {"area": round(w * h, 2), "iscrowd": 0, "score": round(score, 6)})
    whole = {"images": images, "annotations": annotations, "categories": [{"id": 1, "name": kind}]}
    return json.dumps(whole, ensure_ascii=False, indent=1)


def _object(spot: Spot, annotation: dict, files: dict, kinds: dict) -> Object:
    image = _identity(annotation.get("image_id"))
    if image not in files:
        raise DataError(f"{spot.where('image_id')}: {short(annotation.get('image_id'))}", "the id of one of the images")
    bbox, outline = annotation.get("bbox"), annotation.get("segmentation")
    if not bbox and isinstance(outline, list) and outline and isinstance(outline[0], list):
        box = spot.around("segmentation", list(zip(outline[0][::2], outline[0][1::2])))
    else:
        x, y, w, h = spot.numbers("bbox", bbox, 4)
        if min(w, h) <= 0:
            raise DataError(f"{spot.where('bbox')}: {short(bbox)}", "x, y, width and height, the last two above 0")
        box = (x, y, x + w, y + h)
    kind = kinds.get(_identity(annotation.get("category_id")), "")
    return Object(files[image], box, spot, _FIELDS, kind=kind)


def _identity(value) -> str | None:
    """An id as a text, so that 1, 1.0 and "1" are one, as other languages write it; None for what is none."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, int | str) else None
