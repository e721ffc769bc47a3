"""A table as CSV that a spreadsheet may open: no cell of it is taken for a formula."""

import csv
import io
from collections.abc import Iterable

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what a spreadsheet takes for the start of a formula


def csv_text(head: Iterable[str], rows: Iterable[Iterable]) -> str:
    """Lines of cells under a head; numbers are written in six digits."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(map(_cell, head))
    writer.writerows([_cell(value) for value in row] for row in rows)
    return out.getvalue()


def _cell(value) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    text = str(value)
    return f"'{text}" if isinstance(value, str) and text.startswith(FORMULA) else text
