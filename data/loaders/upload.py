"""A user's own data: a file or folder is read into a checked preview, or rejected with a helpful error.

    opened(name, bytes | path) -> Opened        the format, and the columns of a table; DataError(reason, accepted)
    opened(...).read() -> Preview               the checked content; the same errors

The content decides the format, never the file name alone.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path, PurePosixPath

import numpy as np

from data.dataset import Arrays, DataError
from data.loaders import arff, bundle, check, idx, images, labelled, libsvm, matlab, npz, sheets, table, text
from data.loaders.bundle import Member
from data.loaders.columns import REFUSE
from data.loaders.fitted import Fit
from data.loaders.images import Survey
from data.loaders.labelled import ClassTable
from data.loaders.sheets import Cells
from data.loaders.table import Labels
from data.loaders.text import Rows
from data.transfers import Report, quiet

ACCEPTED = (
    "npz, a table (csv, Excel xlsx, Parquet, Weka ARFF), MATLAB mat, LIBSVM text, a pair of idx files, or a zip or "
    "folder of images, with one folder per class or a csv of file names and classes"
)
Source = bytes | Path | str
_FOREIGN = {  # first bytes -> (format, what is accepted instead)
    b"\x80": ("a pickle, which could run code", "the same arrays, saved with numpy.savez"),
    b"\x93NUMPY": ("a single array without labels", npz.ACCEPTED),
    b"%PDF": ("a PDF", ACCEPTED),
    b"Rar!": ("a RAR archive", bundle.ZIP_ACCEPTED),
    b"7z\xbc\xaf": ("a 7z archive", bundle.ZIP_ACCEPTED),
    b"\xd0\xcf\x11\xe0": ("an old or password-protected Office document", "the table, saved as xlsx or csv"),
    b"\x89HDF": ("an HDF5 file", f"{npz.ACCEPTED}, or {matlab.ACCEPTED}"),
}
MOST_FOREIGN = 100  # files that are looked at for pictures of formats that are not read
TABLES = (".csv", ".tsv", ".data", ".xlsx", ".xlsm", ".parquet", ".arff", ".mat", ".libsvm")  # by suffix
_FOREIGN_ZIPS = {"content.xml": "an OpenDocument file", "Index/Document.iwa": "an iWork file"}


class Several(DataError):
    """An upload with several tables, one of which must be selected. names: their names, the largest first."""

    def __init__(self, tables: Sequence[Member]):
        self.names = [member.name for member in sorted(tables, key=lambda member: -member.size)]
        super().__init__(f"The upload has {len(tables)} tables: {', '.join(self.names[:5])}", "an upload of one table")


@dataclass(frozen=True, eq=False)
class Preview:
    """The checked content of an upload, to be viewed (`catalogue.draft`), named and saved (`catalogue.keep`)."""

    title: str
    format: str  # npz, mat, csv, xlsx, parquet, arff, libsvm, idx or images
    arrays: Arrays
    notes: tuple[str, ...]  # decisions made while reading, one sentence each
    features: tuple[str, ...] = ()  # names of the columns of a table, if the file has them


@dataclass(frozen=True, eq=False)
class Opened:
    """An upload of a known format, whose examples are not yet read."""

    name: str  # of the file or folder
    format: str  # as in Preview
    members: list[Member]
    notes: tuple[str, ...] = ()
    content: bytes = b""  # the text of a LIBSVM file, or a MATLAB file
    table: tuple[list[str], Rows | Cells] | None = None  # its header and rows
    pictures: list[Member] | None = None  # beside features: those of a table's rows in order, or what `paths` names
    given: ClassTable | None = None  # the classes of images, where no table of names in the upload has them

    @property
    def title(self) -> str:
        """The title that is suggested."""
        return PurePosixPath(self.name).name.split(".")[0]

    @cached_property
    def labels(self) -> Labels | None:
        """The probable label column of a table; None for other formats. DataError if its rows differ in length."""
        return table.labels(*self.table) if self.table else None

    @cached_property
    def classes(self) -> ClassTable | None:
        """The classes of images, if a table in the upload lists them."""
        if self.given:
            return self.given
        names = [member.name for member in self.members if images.is_image(member.name)]
        return labelled.find_classes(self.members, names, strict=True)

    def by(self, label: str) -> "Opened":
        """The same with the classes of images in this column of their table, one object for each. DataError."""
        if self.classes is None or label == self.classes.column:
            return self
        kept = vars(self).setdefault("_by", {})
        if label not in kept:
            kept[label] = replace(self, given=self.classes.by(label))
        return kept[label]

    def survey(self, report: Report = quiet) -> Survey:
        """The images by their headers, read once. report: see `data.transfers`."""
        if "_survey" not in vars(self):
            vars(self)["_survey"] = images.survey(self.members, self.classes, report)
        return vars(self)["_survey"]

    def read(
        self,
        *,
        label: str | None = None,
        group: str | None = None,
        image_shape: tuple[int, ...] | None = None,
        skip: bool = False,
        empty: str = REFUSE,
        fit: Fit | None = None,
        report: Report = quiet,
    ) -> Preview:
        """The examples, checked.

        label : of a table, the label's column: its name, "first" or "last"; of one of the classes of images, its name
        group : of a table, also one of the classes of images, the column that says which rows belong together; by
                default one named so, "" for none
        image_shape : (h, w) or (h, w, 3) to read flat rows as images, () to keep them as rows, None to decide by
                      their values
        skip : skip invalid images of a zip or folder and invalid rows of a table or an array; the notes list them
        fit : the size to which images are brought, and how; by default the one proposed
        report : called as images are read; see `data.transfers`
        empty : handling of empty cells of a table: "refuse", "fill", or "tell", which also adds an indicator column

        Raises DataError with the reason and what is accepted; its subclass Unusable if `skip` would help.
        """
        with _named(self.name, self.members):
            features, notes, pictures = (), [], None
            if label and (other := self.by(label)) is not self:
                return other.read(group=group, skip=skip, fit=fit, report=report)
            if (label or group) and not self.table and not self.classes:
                raise DataError(
                    f"The format {self.format} has no columns, so there is no column {label or group!r}",
                    "a table: csv, xlsx or Parquet",
                )
            if self.table:
                parsed = table.parse(*self.table, label, skip, empty, group)
                arrays, features, notes = Arrays.unsplit(parsed.X, parsed.y), parsed.features, parsed.notes
                arrays = arrays._replace(groups=parsed.groups)
                if self.pictures:
                    pictures = [self.pictures[number] for number in parsed.number]
            elif self.format == "images":
                arrays, notes = images.read(self.survey(report), self.classes, skip, fit, report, group)
            elif self.format == "mat":
                arrays, notes = matlab.read(self.members[0].name, self.content)
            elif self.format == "libsvm":
                arrays = Arrays.unsplit(*libsvm.parse(self.members[0].name, self.content))
            elif self.format == "npz":
                arrays, notes, pictures = npz.read(self.members, self.pictures or ())
            else:
                arrays = idx.read_pairs(self.members)
            if pictures:
                arrays, more = _with_album(arrays, pictures, skip, report)
                notes = [*notes, *more]
            arrays, more = check.checked(arrays, image_shape, features, skip)
            features = tuple(features) if arrays.X_train.ndim == 2 else ()
            return Preview(self.title, self.format, arrays, (*self.notes, *notes, *more), features)


def opened(name: str, source: Source, companions: Sequence[tuple[str, Source]] = (), only: str | None = None) -> Opened:
    """Open a user's own data and determine its format.

    name : the file name; used in messages and as the suggested title
    source : the content as bytes, or the path of a local file or folder
    companions : further files of the same upload as (name, source), such as the labels of an idx file
    only : the name of the table to read, if there are several

    Raises DataError with the reason and what is accepted; its subclass Several if `only` would help.
    """
    members = [member for pair in ((name, source), *companions) for member in _members(*pair)]
    members = [member for member in members if only in (None, member.name)]
    rest = [member for member in members if not bundle.is_about(member.name)]
    about = [member.name for member in members if bundle.is_about(member.name)]
    if alone := bool(about and rest) and not any(images.is_image(member.name) for member in rest):
        members = rest
    with _named(name, members):
        found = _opened(name, source, companions, members)
        return replace(found, notes=(bundle.unread("Files", about), *found.notes)) if alone else found


@contextmanager
def _named(name: str, members: Sequence[Member]) -> Iterator[None]:
    """Errors in the block name a file of the upload, or else the upload. The arrays of an npz are no files."""
    try:
        yield
    except DataError as error:
        files = {PurePosixPath(name).name or name} | {member.name for member in members}
        if not any(file in error.reason for file in files if not file.endswith(".npy")):
            error.name_file(PurePosixPath(name).name or name)
        raise


def _opened(name: str, source: Source, companions: Sequence[tuple[str, Source]], members: list[Member]) -> Opened:
    known = partial(Opened, PurePosixPath(name).name, members=members)
    if all(member.name.endswith(".npy") for member in members) and len(members) > 1:
        return known("npz")
    if any(images.is_image(member.name) for member in members):
        files = [member for member in members if images.is_image(member.name)]
        packed = [member for member in members if member.name.lower().endswith(".npz")]
        if len(packed) == 1 and not labelled.find_classes(members, [member.name for member in files]):
            inside = bundle.from_bytes(packed[0].name, packed[0].read())
            unread = [member.name for member in members if not images.is_image(member.name) and member not in packed]
            more = (bundle.unread("Files", unread),) if unread else ()
            return replace(known("npz"), members=inside, pictures=files, notes=more)
        return known("images")
    if len(members) > 1 and all(member.name.lower().endswith(".parquet") for member in members):
        parts = [sheets.taken_apart(member.name, member.read()) for member in members]
        if all(part is not None and part.pictures is not None and not part.embedded for part in parts):
            return _of_sheets(known, members, parts)
    if len(members) == 1 and not idx.is_idx(content := members[0].read()):
        if matlab.is_matlab(members[0].name, content):
            return known("mat", content=content)
        for magic, (what, accepted) in _FOREIGN.items():
            if content.startswith(magic):
                raise DataError(f"{members[0].name} is {what}", accepted)
        if sheet := sheets.taken_apart(members[0].name, content):
            if sheet.pictures is not None and not sheet.embedded:
                return _of_sheets(known, members, [sheet])
            return known(sheet.format, table=sheet.table, notes=tuple(sheet.notes), pictures=sheet.pictures)
        if content.startswith(b"PK\3\4"):
            raise DataError(f"{members[0].name} is a zip file inside another zip file", "all files in one zip file")
        content, notes = text.in_utf8(members[0].name, content)
        if libsvm.is_libsvm(content[: libsvm.HEAD]):
            return known("libsvm", notes=tuple(notes), content=content)
        whole = content.decode()
        if arff.is_arff(whole):
            return known("arff", notes=tuple(notes), table=arff.taken_apart(members[0].name, whole))
        return known("csv", notes=tuple(notes), table=text.taken_apart(members[0].name, whole))
    if all(idx.is_idx(member.read()) for member in members):
        return known("idx")
    others = [reason for member in members[:MOST_FOREIGN] if (reason := images.foreign(member))]
    if 2 * len(others) > len(members[:MOST_FOREIGN]):
        raise DataError(others[0], ACCEPTED)
    if tables := [member for member in members if member.name.lower().removesuffix(".gz").endswith(TABLES)]:
        if len(tables) == 1:
            only_table = opened(name, source, companions, tables[0].name)
            return replace(
                only_table, notes=(f"Of the {len(members)} files, only {tables[0].name} is read", *only_table.notes)
            )
        raise Several(tables)
    names = ", ".join(member.name for member in members[:3]) + (", ..." if len(members) > 3 else "")
    raise DataError(f"These {len(members)} files ({names}) do not form one dataset", ACCEPTED)


def _of_sheets(known: Callable[..., Opened], files: list[Member], parts: list[sheets.Sheet]) -> Opened:
    """Images in tables with a column of classes; of several tables those with `test` in their name are the test set."""
    members, columns, label = [], defaultdict(dict), ""
    for file, part in zip(files, parts):
        found = table.labels(*part.table)
        label, folder = label or found.names[found.at], ""
        if len(parts) > 1:
            folder = "test/" if "test" in PurePosixPath(file.name).name.lower() else ""
        images_ = [replace(picture, name=folder + picture.name) for picture in part.pictures]
        members += images_
        for k, name in enumerate(found.names):
            texts = part.table[1].texts([k])[:, 0].tolist()
            columns[label if k == found.at else name].update(zip((image.name for image in images_), texts, strict=True))
    given = ClassTable(dict(columns), label, files[0].name if len(files) == 1 else f"{len(files)} files")
    return replace(known("images"), members=members, given=given)


def _with_album(arrays: Arrays, files: list[Member], skip: bool, report: Report) -> tuple[Arrays, list[str]]:
    """Rows of features with the images that show them, one file each; with `skip` without those whose file is bad."""
    pictures, good, notes = images.album_of(files, skip, report)
    n = len(arrays.X_train)
    train, test = good[:n], good[n:]
    kept = arrays.X_train[train], arrays.y_train[train], arrays.X_test[test], arrays.y_test[test], pictures
    groups = None if arrays.groups is None else arrays.groups[good]
    return Arrays(*kept, groups, np.array([file.name for file in files])[good]), notes


def _members(name: str, source: Source) -> list[Member]:
    """The files of an upload; a workbook counts as one file, although it is a zip. Only images, which are read one at a
    time, may take more than bundle.MAX_BYTES."""
    members = bundle.members_of(name, source, bundle.MAX_IMAGES)
    if not any(images.is_image(member.name) for member in members):
        bundle.check_size(name, members, bundle.MAX_BYTES)
    inside = {member.name for member in members}
    if sheets.WORKBOOK in inside:
        return [bundle.whole(name, source if isinstance(source, bytes) else Path(source).expanduser())]
    for sign, what in _FOREIGN_ZIPS.items():
        if sign in inside:
            raise DataError(f"{name} is {what}", "the table, saved as xlsx or csv")
    return members
