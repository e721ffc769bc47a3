"""Annotations of objects in pictures, in the formats of several tools.

    read([Member, ...], names of the pictures, sieve) -> objects, notes        DataError

The format is recognised from the content of a file. Errors name the file, the position in it and what is accepted.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import PurePosixPath

from data.dataset import DataError, in_words, megabytes
from data.loaders.bundle import Member, is_about
from data.loaders.objects import coco, label_studio, labelme, table, via, xml, yolo
from data.loaders.objects.annotation import MAX_BYTES, MAX_CATEGORY, MAX_OBJECTS, Object
from data.loaders.sieve import Sieve

__all__ = ["ACCEPTED", "MAX_CATEGORY", "MAX_OBJECTS", "SUFFIXES", "Object", "about", "has_annotations", "read", "table"]

ACCEPTED = (
    "a csv table of boxes or circles, JSON of COCO, Label Studio, VIA or labelme, text files of YOLO, XML of Pascal "
    "VOC or CVAT"
)
SUFFIXES = frozenset((".csv", ".tsv", ".txt", ".json", ".xml"))
MAX_KINDS = 6  # kinds of objects listed in a note
_JSON = {
    "COCO": (coco.is_coco, coco.read),
    "VIA": (via.is_via, via.read),
    "Label Studio": (label_studio.is_tasks, label_studio.read),
    "labelme": (labelme.is_labelme, labelme.read),
}
_ABOUT = {  # files that tools add: names of classes, lists of files, texts
    *("notes.json", "obj.data", "labelmap.txt", "predefined_classes.txt", "train.txt", "val.txt", "valid.txt"),
    *("test.txt", "trainval.txt", "default.txt", *yolo.NAMES),
}
_ABOUT_SUFFIXES = frozenset((".names", ".data"))


def about(name: str) -> bool:
    """Whether a file is one that tools add and that has no objects."""
    path = PurePosixPath(name)
    return path.name.lower() in _ABOUT or path.suffix.lower() in _ABOUT_SUFFIXES or is_about(name)


def has_annotations(members: Iterable[Member], images: Iterable[str]) -> bool:
    """Whether one of the files has annotations of objects."""
    stems = {PurePosixPath(name).stem for name in images}
    for member in members:
        if PurePosixPath(member.name).suffix.lower() not in SUFFIXES or about(member.name) or member.size > MAX_BYTES:
            continue
        with suppress(DataError):
            content = member.read()
            recognised = _recognised(member.name, content, stems, yolo.Dataset())
            if recognised and (recognised[0] != "table" or table.is_table(content)):
                return True
    return False


def read(members: Sequence[Member], images: Sequence[str], sieve: Sieve) -> tuple[list[Object], list[str]]:
    """The objects in the files, and notes; invalid objects go to the sieve. DataError if there are no objects."""
    stems = {PurePosixPath(name).stem for name in images}
    texts = [m for m in members if PurePosixPath(m.name).suffix.lower() == ".txt" and not about(m.name)]
    whole = yolo.dataset(members, texts)
    objects: list[Object] = []
    formats: dict[str, str] = {}
    for member in members:
        if about(member.name):
            continue
        content = member.read()
        if len(content) > MAX_BYTES:
            raise DataError(
                f"{member.name} is too large: {megabytes(len(content))}",
                f"annotations of at most {MAX_BYTES >> 20} MB",
            )
        recognised = _recognised(member.name, content, stems, whole)
        if recognised is None:
            sieve.add(member.name, DataError(f"{member.name} is not in a known annotation format", ACCEPTED))
            continue
        format_name, read_objects = recognised
        formats.setdefault(format_name, member.name)
        if len(formats) > 1:
            two = " and ".join(f"{file} ({format_name})" for format_name, file in formats.items())
            raise DataError(f"The annotations are in two formats, {two}", "one format per upload")
        objects += read_objects(sieve)
        if len(objects) > MAX_OBJECTS:
            raise DataError(f"{member.name}: more than {MAX_OBJECTS:,} objects", f"at most {MAX_OBJECTS:,} objects")
    if not objects:
        sieve.notes(len(sieve.bad), "files and lines")  # raises, if lines were bad
        none = next(iter(formats.values()), None)
        reason = f"{none} has no objects" if none else "There are no annotations of objects"
        raise DataError(". ".join((reason, *sieve.passed_over())), ACCEPTED)
    return objects, [*_notes(next(iter(formats), ""), objects), *(whole.notes if "YOLO" in formats else [])]


def _recognised(name: str, content: bytes, stems: set[str], whole: yolo.Dataset) -> tuple[str, Callable] | None:
    """The format of a file, and a function of a sieve that reads its objects; None for an unknown format."""
    suffix = PurePosixPath(name).suffix.lower()
    if suffix == ".xml":
        return "XML", partial(xml.read, name, content)
    if suffix == ".json":
        with in_words(f"{name} is not valid JSON", ACCEPTED, ValueError, RecursionError):
            whole = json.loads(content.decode("utf-8-sig"))
        return next(
            (
                (format_name, partial(read_it, name, whole))
                for format_name, (is_it, read_it) in _JSON.items()
                if is_it(whole)
            ),
            None,
        )
    if suffix == ".txt" and yolo.is_yolo(content) and (content.strip() or PurePosixPath(name).stem in stems):
        return "YOLO", partial(yolo.read, name, content, whole)
    return "table", partial(table.read, name, content)


def _notes(format_name: str, objects: list[Object]) -> list[str]:
    notes = [] if format_name in ("table", "") else [f"The annotations are read as {format_name}"]
    if any(annotated.shares for annotated in objects):
        notes.append("Coordinates are read as fractions of the width and height of the picture")
    kinds = Counter(annotated.kind for annotated in objects if annotated.kind)
    if len(kinds) > 1:
        more = f" and {len(kinds) - MAX_KINDS} more kinds" if len(kinds) > MAX_KINDS else ""
        named = ", ".join(f"{kind} ({n:,})" for kind, n in kinds.most_common(MAX_KINDS))
        notes.append(f"Objects of {len(kinds)} kinds are treated as one kind: {named}{more}")
    return notes
