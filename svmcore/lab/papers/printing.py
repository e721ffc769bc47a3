"""A filled table as lines of text: in every cell ours with its 95 % interval, then in brackets what was published."""

from svmcore.lab.papers.filling import Filled, Tested, Value
from svmcore.lab.papers.numbers import Number
from svmcore.metrics import rate_text

# Figures of three digits, as all seconds are
PRECISE = ("mults", "fold", "rho_fold", "rho", "values", "gap", "b", "b_kept", "b_best", "spread", "computed",
           "lookups", "updates", "work")  # fmt: skip


def text(filled: Filled) -> str:
    """The table, its tests and its note."""
    table = filled.table
    lines = [["", *table.columns]]
    lines += [[row.label, *map(_cell, values)] for row, values in zip(table.rows, filled.rows, strict=True)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    body = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    head = [f"{table.title}: ours (95 % interval) [published]", ""]
    tail = [_test(tested) for tested in filled.tests]
    return "\n".join(head + body + ([""] if tail or table.note else []) + tail + ([table.note] if table.note else []))


def _cell(value: Value | None) -> str:
    if value is None:
        return ""
    figure, known, ours = value.cell.figure, value.cell.published, value.ours
    words = []
    if ours is not None:
        words.append(with_interval(figure, ours))
    elif value.seconds is not None:
        words.append(f"about {value.seconds:.0f} s")
    if known is not None:
        words.append(f"[{known}]")
    return " ".join(words)


def with_interval(figure: str, ours: Number) -> str:
    """`61 (47–78)`, `0.61 % (0.47–0.78)`: a figure of ours, with its interval where it has one."""
    if ours.low is None:
        return number(figure, ours.value)
    if figure == "right_pct":
        return f"{ours.value:.1f} % ({ours.low:.1f}–{ours.high:.1f})"
    if figure == "error_pct":
        return rate_text(ours.value / 100, (ours.low / 100, ours.high / 100))
    return f"{number(figure, ours.value)} ({number(figure, ours.low)}–{number(figure, ours.high)})"


def number(figure: str, value: float) -> str:
    """A figure with the digits that it deserves."""
    if figure == "error_pct":
        return f"{value:.2f} %"
    if figure == "right_pct":
        return f"{value:.1f} %"
    precise = figure.endswith("_s") or figure.partition(":")[0] in PRECISE
    return f"{value:.3g}" if precise and value < 100 else f"{value:.0f}"


def _test(tested: Tested) -> str:
    if tested.outcome is None:
        return f"{tested.a} and {tested.b}: not compared yet"
    only_a, only_b, p, _ = tested.outcome
    return f"{only_a} misclassified by {tested.a} only, {only_b} by {tested.b} only: p = {p:.2g} (exact McNemar test)"
