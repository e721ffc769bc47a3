"""Verdicts on the labels of single examples, and the CSV format in which they are stored, exported and imported.

    dataset,content,part,row,given,verdict,label
    mnist-5k,59de3b5e3c71,train,123,4,label,9          it is a 9
    mnist-5k,59de3b5e3c71,train,123,4,undo,            cancels the line before it

    keep    confirm the label              out     exclude the example
    label   relabel the example            unsure  reviewed, but not changed
    undo    cancels the latest line that is not cancelled yet, as a file is only appended to

content    the first characters of the base's content hash, as verdicts belong to the examples they were given on
part, row  "train" or "test", and the position there, from 0
given      the label in the base, so that a file on another dataset is detected; empty for an unlabelled example

Class names are arbitrary texts. One that a spreadsheet would evaluate as a formula is written with ' before it, and so
is one that begins with ', so that reading restores what was written.
"""

import csv
import io
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from data.dataset import DataError, Dataset, Facts, megabytes

COLUMNS = ("dataset", "content", "part", "row", "given", "verdict", "label")
KEEP, LABEL, OUT, UNSURE, UNDO = "keep", "label", "out", "unsure", "undo"
VERDICTS = (KEEP, LABEL, OUT, UNSURE)
PARTS = ("train", "test")
SET_NAMES = {"train": "training set", "test": "test set"}  # of the parts, in messages
UNLABELLED = ""  # the label of an unlabelled example
CONTENT = 12  # characters of a content hash that identify a dataset here
FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")  # a text that begins with one of these is written with ' before it
MAX_BYTES = 64 << 20  # of a file; 100,000 verdicts take five to ten million bytes
ACCEPTED = f"a CSV file with the columns {', '.join(COLUMNS)}, as exported by this program"

Key = tuple[str, int]  # part, row


class Verdict(NamedTuple):
    """A decision on the label of one example. label: the new class, for LABEL only."""

    part: str
    row: int
    given: int | str  # the label in the base; UNLABELLED if it has none
    verdict: str
    label: int | str | None = None

    @property
    def key(self) -> Key:
        """The example: part and row."""
        return self.part, self.row

    @property
    def says(self) -> tuple:
        """What is equal in two verdicts that agree."""
        return self.verdict, self.label


class Lines(NamedTuple):
    """The verdicts of a CSV in its order, and the dataset and content hash that its lines name."""

    verdicts: list[Verdict]
    dataset: str
    content: str


def cell(label) -> str:
    """The cell of a class: a number unchanged, a text escaped so that it is never a formula."""
    text = " ".join(str(label).splitlines())
    return f"'{text}" if isinstance(label, str) and text.startswith(FORMULA) else text


def written(verdicts: Iterable[Verdict], dataset: str, content: str, head: bool = True) -> str:
    """Verdicts as CSV."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    if head:
        writer.writerow(COLUMNS)
    for part, row, given, verdict, label in verdicts:
        label_cell = "" if label is None else cell(label)
        writer.writerow((dataset, content, part, row, cell(given), verdict, label_cell))
    return out.getvalue()


def read(text: str, facts: Facts, first: int = 2, content: str = "") -> Lines:
    """The verdicts of CSV lines without a header, which must refer to the dataset `facts`. first: number of the first
    line, for errors; content: the required content hash, if known. DataError, with the line, for an invalid verdict."""
    classes = {cell(label): label for label in facts.classes}
    sizes = {"train": facts.n_train + facts.unlabelled, "test": facts.n_test}
    verdicts: list[Verdict] = []
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for line in reader:
            if not line:
                continue
            if len(line) != len(COLUMNS):
                raise DataError(f"it has {len(line)} cells instead of {len(COLUMNS)}")
            dataset, line_content, part, row, given, verdict, label = line
            content = content or line_content
            if dataset != facts.name:
                raise DataError(f"it belongs to the dataset {dataset[:80]!r}, not to {facts.name!r}")
            if line_content != content:
                hashes = f"the content hash is {line_content[:20]!r} instead of {content!r}"
                raise DataError(f"it belongs to another version of {facts.name!r}: {hashes}")
            if part not in sizes:
                raise DataError(f"the part is {part[:20]!r}, neither train nor test")
            if not (row.isascii() and row.isdecimal() and len(row) < 12 and int(row) < sizes[part]):
                raise DataError(
                    f"there is no example {row[:20]!r} in the {SET_NAMES[part]}, which has {sizes[part]:,} examples"
                )
            none = part == "train" and int(row) >= facts.n_train
            if given not in ([UNLABELLED] if none else classes):
                raise DataError(_other_given(row, given, facts, none))
            if none and verdict == KEEP:
                raise DataError(f"example {row} has no label that the verdict keep could confirm")
            if verdict not in VERDICTS and verdict != UNDO:
                raise DataError(f"the verdict is {verdict[:20]!r}, not one of {', '.join(VERDICTS)} or {UNDO}")
            if verdict != LABEL and label:
                raise DataError(f"the verdict {verdict} must not have a label (got {label[:40]!r})")
            if verdict == LABEL and label not in classes:
                known = ", ".join(map(str, facts.classes))[:200]
                raise DataError(f"{facts.name} has no class {label[:40]!r}; its classes are {known}")
            verdicts.append(Verdict(part, int(row), classes.get(given, given), verdict, classes.get(label)))
    except DataError as error:
        raise DataError(f"Line {first - 1 + reader.line_num:,}: {str(error).removesuffix('.')}", ACCEPTED) from None
    except csv.Error as error:
        raise DataError(f"Line {first - 1 + reader.line_num:,} is not valid CSV ({error})", ACCEPTED) from None
    return Lines(verdicts, facts.name, content)


def _other_given(row: str, given: str, facts: Facts, none: bool) -> str:
    if none or not given:
        has, claimed = ("no label", repr(given[:40])) if none else ("a label", "none")
        return f"example {row} of {facts.name} has {has}, but the column `given` has {claimed}"
    return f"{facts.name} has no class {given[:40]!r}"


def headed(blob: bytes) -> str:
    """The lines of a CSV below its header. DataError if it is not text or has another header."""
    if len(blob) > MAX_BYTES:
        raise DataError(f"The file is too large: {megabytes(len(blob))}", f"at most {MAX_BYTES >> 20} MB")
    head, _, lines = text_of(blob).partition("\n")
    if head.rstrip("\r") != ",".join(COLUMNS):
        raise DataError(f"The first line is {head[:80]!r} instead of the column names", ACCEPTED)
    return lines


def text_of(blob: bytes) -> str:
    """Bytes as text. DataError if they are not UTF-8."""
    try:
        return blob.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError("The file is not UTF-8 text", ACCEPTED) from None


def stack(lines: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts that are not undone. DataError for an undo of nothing, or of another example."""
    left: list[Verdict] = []
    for verdict in lines:
        if verdict.verdict != UNDO:
            left.append(verdict)
        elif left and left[-1].key == verdict.key:
            left.pop()
        else:
            raise DataError(
                f"The undo for example {verdict.row} of the {SET_NAMES[verdict.part]} does not follow a verdict on "
                "that example",
                ACCEPTED,
            )
    return left


def standing(lines: Iterable[Verdict]) -> dict[Key, Verdict]:
    """The latest verdict on each reviewed example."""
    return {verdict.key: verdict for verdict in stack(lines)}


def given(blob: bytes, base: Dataset) -> list[Verdict]:
    """The verdicts of a CSV on this dataset, one per example. DataError for invalid lines and contradictions."""
    lines = read(headed(blob), base.entry, content=base.content_hash[:CONTENT]).verdicts
    require_given(lines, base)
    by_example: dict[Key, Verdict] = {}
    for verdict in lines:
        if verdict.verdict == UNDO:
            raise DataError(
                f"The file contains an undo for example {verdict.row} of the {SET_NAMES[verdict.part]}",
                "an exported file, which has only the latest verdicts",
            )
        if by_example.setdefault(verdict.key, verdict).says != verdict.says:
            raise DataError(
                f"Example {verdict.row} of the {SET_NAMES[verdict.part]} has two verdicts: "
                f"{describe(by_example[verdict.key])}, and {describe(verdict)}",
                "one verdict per example",
            )
    return list(by_example.values())


def require_given(lines: Sequence[Verdict], base: Dataset) -> None:
    """DataError unless the column `given` has the labels of the base."""
    has = {"train": [*base.y_train.tolist(), *base.entry.unlabelled * [UNLABELLED]], "test": base.y_test.tolist()}
    for verdict in lines:
        if has[verdict.part][verdict.row] != verdict.given:
            raise DataError(
                f"Example {verdict.row} of the {SET_NAMES[verdict.part]} of {base.entry.name} has the label "
                f"{has[verdict.part][verdict.row]}, but the file of verdicts states the label {verdict.given}",
                "verdicts on this dataset",
            )


def describe(verdict: Verdict) -> str:
    """A verdict in words: `relabelled as 9`."""
    label = f"{'labelled' if verdict.given == UNLABELLED else 'relabelled'} as {verdict.label}"
    words = {KEEP: "label confirmed", OUT: "excluded", UNSURE: "unsure", LABEL: label}
    return words[verdict.verdict]
