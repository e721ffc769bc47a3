"""Weka's ARFF: a header of named attributes, then one line of values per example; read like a table.

    @relation iris
    @attribute 'sepal length' numeric
    @attribute class {setosa, virginica}
    @data
    5.1, setosa          or sparse, without zeros and first categories:     {0 5.1, 1 setosa}

Columns are interpreted as those of any table (loaders.columns). A value `?` is missing.
Reference: weka.sourceforge.io, "Attribute-Relation File Format (ARFF)", book version.
"""

import csv
import io
import re
from collections.abc import Iterator, Sequence

from data.dataset import DataError
from data.loaders.bundle import MAX_BYTES, SIZE_ACCEPTED
from data.loaders.sieve import TooLarge
from data.loaders.text import Rows

ACCEPTED = "ARFF: @relation, one @attribute per column, @data, then one line of values per example"
MAX_ATTRIBUTES = 1 << 20
HEAD = 1 << 20  # characters of comments before the first line
_QUOTED = r"'(?:[^'\\]|\\.)*+'|\"(?:[^\"\\]|\\.)*+\""
_OPEN = r"['\"].*+"  # a quote that is never closed extends to the end
_ATTRIBUTE = re.compile(
    rf"@attribute\s++({_QUOTED}|[^\s{{'\"]++)(?:\s*+(\{{.*\}})|\s++([a-z]++))(?:\s.*)?", re.IGNORECASE
)
_CELL = re.compile(rf"\s*+(?:({_QUOTED})\s*+|([^,'\"]*+))(?:,|$)")
_SPARSE = re.compile(rf"\s*+(\d{{1,9}})\s++({_QUOTED}|[^\s,'\"]++)\s*+(?:,|$)")
_BETWEEN = re.compile(rf"({_QUOTED}|{_OPEN})|\s++")  # two values without a comma
_WITHIN = re.compile(rf"{_QUOTED}|{_OPEN}")
_BACKSLASH = re.compile(r"\\(.)")
_TYPES = ("numeric", "real", "integer", "string", "date")


def is_arff(text: str) -> bool:
    """Whether the first line that is not a comment is @relation."""
    for line in io.StringIO(text[:HEAD]):
        if (line := line.strip()) and not line.startswith("%"):
            return line[:9].lower() == "@relation"
    return False


def taken_apart(name: str, text: str) -> tuple[list[str], Rows]:
    """The names of the attributes, and the rows as comma-separated cells. Raises DataError with the line; TooLarge."""
    lines = ((k, line.strip()) for k, line in enumerate(text.split("\n"), 1))
    lines = ((k, line) for k, line in lines if line and not line.startswith("%"))
    names, usual = [], []
    for k, line in lines:
        word = line.split(None, 1)[0].lower()
        if word == "@data":
            break
        if word == "@attribute":
            names.append((attribute := _attribute(f"{name}: line {k}", line))[0])
            usual.append(attribute[1])
            if len(names) > MAX_ATTRIBUTES:
                raise DataError(f"{name} has more than {MAX_ATTRIBUTES:,} attributes", ACCEPTED)
        elif word != "@relation":
            reason = f"{name}: line {k} before @data is neither @relation nor @attribute: {line[:40]!r}"
            raise DataError(reason, ACCEPTED)
    if len(names) < 2:
        raise DataError(f"{name} has {'only one attribute' if names else 'no attributes'} before @data", ACCEPTED)
    numbers, rows, total = [], [], 0
    for k, line in lines:
        row = _row(f"{name}: line {k}", line, usual)
        total += len(row)
        if total > MAX_BYTES:
            raise TooLarge(f"{name} takes more than {MAX_BYTES >> 20} MB as text", SIZE_ACCEPTED)
        numbers.append(k)
        rows.append(row)
    if not rows:
        raise DataError(f"{name} has no examples after @data", ACCEPTED)
    return names, Rows(name, rows, numbers, ",")


def _attribute(where: str, line: str) -> tuple[str, str]:
    """The name of an attribute, and its default value in sparse lines."""
    match = _ATTRIBUTE.fullmatch(line)
    if not match:
        raise DataError(
            f"{where} does not declare an attribute: {line[:60]!r}",
            "@attribute, a name, then numeric, string, date or {values}",
        )
    if match[2]:
        return _bare(match[1]), next(_cells(where, match[2][1:-1]))
    if (kind := match[3].lower()) not in _TYPES:
        raise DataError(
            f"{where} has an attribute of the unknown type {kind[:40]!r}", f"{', '.join(_TYPES)} or {{values}}"
        )
    return _bare(match[1]), "" if kind in ("string", "date") else "0"


def _row(where: str, line: str, usual: Sequence[str]) -> str:
    """A line of values as comma-separated cells, quoted if needed."""
    if line.startswith("{"):
        return _joined(_full(where, line, usual))
    if not any(mark in line for mark in "'\"?\t "):  # already in the form of a table
        return line
    apart = "," in _WITHIN.sub("", line)
    return _joined(_cells(where, line if apart else _BETWEEN.sub(lambda match: match[1] or ",", line)))


def _full(where: str, line: str, usual: Sequence[str]) -> list[str]:
    """All values of a sparse line, whose positions count from 0."""
    cells, text, at = list(usual), line[1:-1].rstrip(), 0
    while at < len(text):
        pair = _SPARSE.match(text, at)
        if not line.endswith("}") or not pair or int(pair[1]) >= len(cells):
            raise DataError(
                f"{where} has an invalid entry: {text[at:][:40]!r}",
                f"{{place value, ...}} with places from 0 to {len(usual) - 1}",
            )
        cells[int(pair[1])] = "" if pair[2] == "?" else _bare(pair[2])
        at = pair.end()
    return cells


def _cells(where: str, line: str) -> Iterator[str]:
    """The values between commas, without quotes; missing ones are empty."""
    at = 0
    while at <= len(line):
        cell = _CELL.match(line, at)
        if not cell:
            raise DataError(
                f"{where} has a quote that is never closed, or text next to a quoted value: {line[at:][:40]!r}",
                ACCEPTED,
            )
        text = (cell[2] or "").strip()
        yield _bare(cell[1]) if cell[1] else "" if text == "?" else text
        at = cell.end() + (not cell[0].endswith(","))


def _bare(text: str) -> str:
    """A value without its quotes and the backslashes in them."""
    return _BACKSLASH.sub(r"\1", text[1:-1]) if text[:1] in ("'", '"') else text


def _joined(cells) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(cells)
    return out.getvalue()
