"""A reader's own data: any accepted file or folder in, a checked preview or a helpful refusal out.

    read_upload(name, bytes | path) -> Preview        DataError(reason, accepted)

The content decides the format, never the file's name alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from data.dataset import Arrays, DataError
from data.loaders import bundle, check, idx, images, libsvm, npz, sheets, table, text
from data.loaders.bundle import Member
from data.loaders.columns import REFUSE
from data.loaders.table import Labels

ACCEPTED = (
    "npz, a table (csv, Excel's xlsx, Parquet), libsvm text, a pair of idx files, or a zip or folder of images in one "
    "folder a class"
)
Source = bytes | Path | str
_FOREIGN = {  # first bytes -> what to do instead
    b"\x80": ("a pickle, which could run code", "the same arrays saved with numpy.savez"),
    b"\x93NUMPY": ("a single array without labels", npz.ACCEPTED),
    b"%PDF": ("a PDF", ACCEPTED),
    b"Rar!": ("a RAR archive", bundle.ZIP_ACCEPTED),
    b"7z\xbc\xaf": ("a 7z archive", bundle.ZIP_ACCEPTED),
    b"\xd0\xcf\x11\xe0": ("an old or locked Office document", "the table saved as xlsx or csv"),
    b"\x89HDF": ("an HDF5 file", npz.ACCEPTED),
}
_FOREIGN_ZIPS = {"content.xml": "an OpenDocument file", "Index/Document.iwa": "an iWork file"}


@dataclass(frozen=True, eq=False)
class Preview:
    """What an upload turned out to be, ready to be looked at (`catalogue.draft`), named and kept (`catalogue.keep`)."""

    title: str
    format: str  # npz, csv, xlsx, parquet, libsvm, idx or images
    arrays: Arrays
    notes: tuple[str, ...]  # what was decided for the reader, one sentence each
    features: tuple[str, ...] = ()  # names of a table's columns, where the file has them


def read_upload(
    name: str,
    source: Source,
    companions: Sequence[tuple[str, Source]] = (),
    *,
    label: str | None = None,
    image_shape: tuple[int, ...] | None = None,
    skip: bool = False,
    empty: str = REFUSE,
) -> Preview:
    """Read and check a reader's own data.

    name : the file's name; used in messages and as the title to suggest
    source : the content as bytes, or the path of a local file or folder
    companions : further files of the same upload as (name, source), such as the labels of an idx file
    label : of a table, the label's column: its name, "first" or "last"
    image_shape : (h, w) or (h, w, 3) to read flat rows as images, () to leave them rows, None to decide by their look
    skip : leave out the images of a zip or folder, and the rows of a table, that are bad; the notes name them
    empty : what becomes of the empty cells of a table: "refuse", "fill", or "tell", which adds a column that says where

    Raises DataError with the reason and what would be accepted; Unusable, one of them, where `skip` would help.
    """
    members = [member for pair in ((name, source), *companions) for member in _members(*pair)]
    format_, arrays, notes, *features = _read(members, label, skip, empty)
    arrays, more = check.checked(arrays, image_shape)
    named = tuple(features[0]) if features and arrays.X_train.ndim == 2 else ()
    return Preview(PurePosixPath(name).name.split(".")[0], format_, arrays, (*notes, *more), named)


def labels_of(name: str, source: Source) -> Labels | None:
    """Where the labels of a table seem to be; None for what is none, or cannot be read."""
    try:
        (member,) = _members(name, source)
        if images.is_image(member.name) or idx.is_idx(content := member.read()):
            return None
        _, said, _ = _as_text(member.name, content)
        return None if libsvm.is_libsvm(said[: libsvm.HEAD]) else table.labels(member.name, said.decode())
    except (DataError, ValueError):
        return None


def _members(name: str, source: Source) -> list[Member]:
    """The files of an upload; a workbook, which is a zip, is one."""
    members = bundle.members_of(name, source)
    inside = {member.name for member in members}
    if sheets.WORKBOOK in inside:
        return [bundle.whole(name, source if isinstance(source, bytes) else Path(source).expanduser())]
    for sign, what in _FOREIGN_ZIPS.items():
        if sign in inside:
            raise DataError(f"{name} is {what}", "the table saved as xlsx or csv")
    return members


def _read(members: list[Member], label: str | None, skip: bool, empty: str) -> tuple:
    """(format, arrays, notes) of the members of one upload, and the names of its columns where it has some."""
    if all(member.name.endswith(".npy") for member in members) and len(members) > 1:
        return "npz", npz.read(members), []
    if any(images.is_image(member.name) for member in members):
        return "images", *images.read(members, skip)
    if len(members) == 1:
        content = members[0].read()
        if not idx.is_idx(content):
            return _read_table(members[0].name, content, label, skip, empty)
    if all(idx.is_idx(member.read()) for member in members):
        return "idx", idx.read_pairs(members), []
    names = ", ".join(member.name for member in members[:3])
    raise DataError(f"These {len(members)} files ({names}, ...) do not make one data set", ACCEPTED)


def _read_table(name: str, content: bytes, label: str | None, skip: bool, empty: str) -> tuple:
    format_, content, notes = _as_text(name, content)
    if libsvm.is_libsvm(content[: libsvm.HEAD]):
        return "libsvm", Arrays.unsplit(*libsvm.parse(name, content)), notes
    found = table.parse(name, content.decode(), label, skip, empty)
    return format_, Arrays.unsplit(found.X, found.y), [*notes, *found.notes], found.features


def _as_text(name: str, content: bytes) -> tuple[str, bytes, list[str]]:
    """The format of a table, its text in UTF-8, and notes."""
    if sheets.is_workbook(content):
        return "xlsx", *sheets.workbook(name, content)
    if content.startswith(sheets.PARQUET):
        return "parquet", *sheets.parquet(name, content)
    for magic, (what, accepted) in _FOREIGN.items():
        if content.startswith(magic):
            raise DataError(f"{name} is {what}", accepted)
    return "csv", *text.in_utf8(name, content)
