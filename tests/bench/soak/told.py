"""What the attack found, as RESULTS.md shows it: a line for each row of each part."""

from __future__ import annotations

COLUMNS = ("part", "tried", "tries", "failed", "figures", "s")
NOT_FIGURES = ("what", "tries", "failures")


def part(found: dict, table, measured_on) -> str:
    """The table and what fell. `table(columns, rows)` and `measured_on(entries)` are those of results.py."""
    if not found:
        return "Not measured yet."
    rows, fallen = [], []
    for name, of_part in found.items():
        for at, row in enumerate(of_part["rows"]):
            figures = ", ".join(f"{key.replace('_', ' ')} {_figure(row[key])}" for key in row if key not in NOT_FIGURES)
            seconds = f"{of_part['seconds']:,.0f}" if at == 0 else ""
            rows.append((name, row["what"], f"{row['tries']:,}", number(row["failures"]), figures, seconds))
            fallen += [f"- {_plain(failure)}" for failure in row["failures"]]
    text = table(COLUMNS, rows)
    if fallen:
        text += "\n\nWhat failed:\n\n" + "\n".join(fallen)
    loads = sorted({of_part["load"] for of_part in found.values()})
    return f"{text}\n\nThe load at the time was {loads[0]:g} to {loads[-1]:g}.{measured_on(found.values())}"


def _figure(value) -> str:
    return " ".join(map(_figure, value)) if isinstance(value, list) else f"{value:,}"


def number(failures: list[str]) -> int:
    """How many failures a row stands for: its last line may say how many more there were."""
    if failures and failures[-1].startswith("and "):
        return len(failures) - 1 + int(failures[-1].split()[1])
    return len(failures)


def _plain(text: str) -> str:
    """A failure as a line of code, whatever it holds."""
    return "`" + " ".join(text.encode("ascii", "backslashreplace").decode().replace("`", "'").split()) + "`"
