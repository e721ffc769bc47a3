"""An upload as named files in memory: one file, several, a folder, or a zip. Nothing is unpacked to disk.

    file, folder, zip -> [Member(name, size, open)]

Names are composed (NFC): macOS writes an ü as u and two dots, and a table that names its files may not.

Every size is checked twice, as declared and as read, because an archive may declare wrong sizes.
"""

import gzip
import io
import os
import re
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import IO

from data.dataset import DataError, in_words, megabytes
from data.loaders.sieve import TooLarge

MAX_BYTES = 1 << 29  # limit for an upload, packed or unpacked, for each of its files, and for its arrays
MAX_IMAGES = 1 << 35  # bytes of an upload of images, which are read one at a time
MAX_MEMBERS = 200_000

SIZE_ACCEPTED = f"at most {MAX_BYTES >> 20} MB, unpacked"
ZIP_ACCEPTED = "a zip of images with one folder per class"
_ENCRYPTED, _UTF_8 = 0x1, 0x800  # flags of a file in a zip
_DAMAGE = (OSError, EOFError, ValueError, NotImplementedError, struct.error, zlib.error, zipfile.BadZipFile)
_JUNK = {"__macosx", "thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "@eadir", "$recycle.bin"}  # of systems
_ABOUT = re.compile(r"(readme|licen[cs]es?|copying|notice|citation|changelog|authors|credits|attribution)\b")
_ABOUT_SUFFIXES = {"", ".txt", ".pdf"}, {".md", ".rst", ".html", ".htm", ".yaml", ".yml", ".log"}  # so called; always
TEXT = 4096  # bytes by which a file is taken for a text


@dataclass(frozen=True)
class Member:
    """A file: its path relative to the upload, its declared size in bytes, and how to open it."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]

    @classmethod
    def missing(cls, name: str, reason: str, accepted: str) -> "Member":
        """A file that should be there and is not: a DataError when it is opened."""

        def refuse() -> IO[bytes]:
            raise DataError(reason, accepted)

        return cls(name, 0, refuse)

    def read(self) -> bytes:
        """The content, decompressed if gzipped. DataError if damaged or too large."""
        with self._read_whole():
            with self.open() as file:
                content = _bounded(file, self.name)
            if content[:2] == b"\x1f\x8b":
                with gzip.open(io.BytesIO(content)) as file:
                    content = _bounded(file, self.name)
        return content

    def start(self, size: int) -> bytes:
        """The first `size` bytes, not decompressed. DataError if damaged."""
        with self._read_whole(), self.open() as file:
            return file.read(size)

    def _read_whole(self):
        return in_words(f"{self.name} is damaged or incomplete", "the complete file", *_DAMAGE, RuntimeError)


def members_of(name: str, source: bytes | Path | str, most: int = MAX_BYTES) -> list[Member]:
    """The members of an upload, given as bytes or as a path on this computer, with up to `most` bytes."""
    return from_bytes(name, source, most) if isinstance(source, bytes) else from_path(Path(source).expanduser(), most)


def from_bytes(name: str, content: bytes, most: int = MAX_BYTES) -> list[Member]:
    """The members of an uploaded file, with up to `most` bytes: those of a zip, or the file itself."""
    if content[:2] == b"PK":
        return _zip_members(name, partial(io.BytesIO, content), most)
    return _checked(name, [whole(name, content)])


def whole(name: str, source: bytes | Path) -> Member:
    """A file as one member, even if it is a zip."""
    if isinstance(source, bytes):
        return Member(name, len(source), partial(io.BytesIO, source))
    return _on_disk(source, source.name)


def from_path(path: Path, most: int = MAX_BYTES) -> list[Member]:
    """The members of a local file or folder, with up to `most` bytes; links are followed, hidden files ignored."""
    with in_words(f"{path.name} cannot be read", "a file with read permission", OSError):
        if path.is_dir():
            paths = sorted(islice(files_below(path), MAX_MEMBERS + 1))
            return _checked(path.name, [_on_disk(p, composed(p.relative_to(path).as_posix())) for p in paths], most)
        if not path.is_file():
            raise DataError(f"There is no file or folder {str(path)!r} on this computer", "an existing path")
        with path.open("rb") as file:
            magic = file.read(2)
        if magic == b"PK":
            return _zip_members(path.name, lambda: path, most)
        return _checked(path.name, [whole(path.name, path)], most)


def files_below(folder: Path) -> Iterator[Path]:
    """All files below a folder, also by links, but not by one to a folder on the way to it."""
    for place, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if not _leads_up(Path(place, name))]
        yield from (path for name in names if (path := Path(place, name)).is_file() or path.is_symlink())


def _leads_up(path: Path) -> bool:
    """Whether a folder is a link to one that it is in, or to which the links on the way to it lead."""
    if not path.is_symlink():
        return False
    there = os.path.realpath(path)
    return any(Path(os.path.realpath(above)).is_relative_to(there) for above in path.absolute().parents)


def _on_disk(path: Path, name: str) -> Member:
    if not path.is_file():
        return Member.missing(name, f"{name} is a link to a file that does not exist", "the file itself")
    return Member(name, path.stat().st_size, partial(path.open, "rb"))


def place(path: Path, name: str) -> tuple[int, int]:
    """(offset, bytes) of an uncompressed member of a zip. DataError if it is compressed or damaged."""
    damaged = in_words(f"{path.name} is damaged or incomplete", "the complete file", *_DAMAGE, KeyError)
    with damaged, zipfile.ZipFile(path) as archive, path.open("rb") as file:
        info = archive.getinfo(name)
        file.seek(info.header_offset)
        *_, name_length, extra_length = struct.unpack("<4s5H3L2H", file.read(30))
    if info.compress_type != zipfile.ZIP_STORED:
        raise DataError(f"{name} in {path.name} is compressed", "a file written by this program")
    return info.header_offset + 30 + name_length + extra_length, info.file_size


def _zip_members(name: str, source: Callable[[], IO[bytes] | Path], most: int = MAX_BYTES) -> list[Member]:
    with in_words(f"{name} is not a complete zip file", "the complete zip or npz file", *_DAMAGE):
        archive = zipfile.ZipFile(source())
    members = []
    for info in {info.filename: info for info in archive.infolist()}.values():  # as unzipping, the last of one name
        path = PurePosixPath(_name(info).replace("\\", "/"))
        if not path.parts or info.is_dir():
            continue
        if path.is_absolute() or ".." in path.parts or path.parts[0][1:2] == ":":  # or of a drive
            raise DataError(f"{name} contains {info.filename!r}, a path outside the archive", ZIP_ACCEPTED)
        if stat.S_ISLNK(info.external_attr >> 16):
            raise DataError(f"{name} contains a link, {info.filename!r}", "regular files only")
        if info.flag_bits & _ENCRYPTED:
            raise DataError(f"{name} is protected with a password", ZIP_ACCEPTED + ", without a password")
        members.append(Member(str(path), info.file_size, partial(archive.open, info)))
    return _checked(name, members, most)


def composed(name: str) -> str:
    """A name with each letter and its marks as one character, as far as there is one."""
    return unicodedata.normalize("NFC", name)


def unread(what: str, names: Sequence[str], most: int = 5) -> str:
    """The note of columns, arrays or variables that are not read."""
    return f"{what} that are not read: {', '.join(names[:most])}" + (", ..." if len(names) > most else "")


def _name(info: zipfile.ZipInfo) -> str:
    """The name of a file in a zip; one in UTF-8 that is not marked as such, as macOS writes it, is read as UTF-8."""
    name = info.filename
    if not info.flag_bits & _UTF_8:
        with suppress(UnicodeError):
            name = name.encode("cp437").decode()
    return composed(name)


def _checked(name: str, members: list[Member], most: int = MAX_BYTES) -> list[Member]:
    """The members without junk files. DataError if they are too many or too large."""
    members = [member for member in members if not _is_junk(member.name)]
    if not members:
        raise DataError(f"{name} contains no files", "a file or folder with examples")
    if len(members) > MAX_MEMBERS:
        raise DataError(f"{name} contains more than {MAX_MEMBERS:,} files", f"at most {MAX_MEMBERS:,} files")
    for member in members:
        if not member.name.isprintable() and any("\ud800" <= letter <= "\udfff" for letter in member.name):
            reason = f"{name} contains a file whose name is not in UTF-8: {member.name[:60]!r}"
            raise DataError(reason, "file names in UTF-8")
    check_size(name, members, most)
    return members


def check_size(name: str, members: Sequence[Member], most: int) -> None:
    """DataError for members with more than `most` bytes."""
    total = sum(member.size for member in members)
    if total > most:
        raise DataError(f"{name} unpacks to {megabytes(total)}", f"at most {most >> 20:,} MB, unpacked")


def _is_junk(name: str) -> bool:
    return any(part.startswith(".") or part.lower() in _JUNK for part in PurePosixPath(name).parts)


def is_about(name: str) -> bool:
    """Whether a file tells of the others, by its name: a README, a licence, a page."""
    path = PurePosixPath(name.lower())
    called, always = _ABOUT_SUFFIXES
    return path.suffix in always or (path.suffix in called and bool(_ABOUT.match(path.name)))


def is_text(member: Member) -> bool:
    """Whether a file begins as a text, or is empty; a drawing (svg) is none. False for a damaged one."""
    with suppress(DataError):
        start = member.start(TEXT)
        return not re.search(rb"[\0-\x08\x0e-\x1a]|<svg", start)
    return False


def _bounded(file: IO[bytes], name: str) -> bytes:
    content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise TooLarge(f"{name} unpacks to more than {MAX_BYTES >> 20} MB", SIZE_ACCEPTED)
    return content
