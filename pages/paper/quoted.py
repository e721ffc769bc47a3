"""Figures that an outline quotes: "{runs[mnist-sv][errors]} errors" is read from a measured row, so it cannot go stale.

    measured/runs.json     recipe -> its stored run                        python -m tests.bench.results --runs NAME
    measured/quiet.json    recipe -> its seconds on an idle computer       python -m tests.bench.quiet NAME
    measured/crossed.json  recipe or point of cross-training -> means      python -m tests.bench.crossing
    measured/claims.json   claim -> figures computed for it, in one go     python -m tests.bench.claims NAME
    measured/noted.json    what was measured once -> figures, and `source`, where they are noted and how to repeat them

A reference is a field of `str.format`: file, row, figure, and a format. Each row has its date, the machine, and
others_share, the share of the processors that other processes took (a list where there were several rounds). A row
without a date was measured before these were kept; `repeated` is of a later run of the same outcome, beside too much
other work to time it.
"""

import json
import re
from pathlib import Path
from statistics import fmean, median

from pages.ui.kit.text import command

FOLDER = Path(__file__).with_name("measured")
REFERENCE = re.compile(r"\{(\w+)\[([\w.+-]+)\]")
COMMANDS = {
    "runs": f"{command('svmcore')} run",
    "quiet": command("tests.bench.quiet"),
    "claims": command("tests.bench.claims"),
}
FOLLOWS = {  # a figure that a row does not hold -> how it follows from those that it does
    "error_pct": lambda row: 100 * row["errors"] / row["n_test"],
    "dual_pct": lambda row: 100 * row["dual"],  # of a share
    "mean_sv": lambda row: fmean(row["n_sv"]),
    "train_s": lambda row: median(row["train_seconds"]),
    "gaussian_s": lambda row: median(seconds[1] for seconds in row["rival_seconds"]),  # after the matched filter
    "test_s": lambda row: median(row["test_seconds"]),
}


class Row(dict):
    """A measured row, or an object in it, and what follows from its figures."""

    def __missing__(self, name: str | int):
        if str(name) in self:  # format reads digits as a whole number
            return self[str(name)]
        if name in FOLLOWS:
            return FOLLOWS[name](self)
        raise KeyError(name)


ROWS = {path.stem: json.loads(path.read_text("utf-8"), object_hook=Row) for path in sorted(FOLDER.glob("*.json"))}


def fill(text: str) -> str:
    """The text with its figures. KeyError for a file, row or figure that is not there."""
    return text.format_map(ROWS)


def origin(text: str) -> str:
    """When each row that a text refers to was measured, beside what load, and what repeats it; empty where it refers to
    none."""
    return "  \n".join(
        measured(name, ROWS[file][name]) + (f" To repeat: `{COMMANDS[file]} {name}`." if file in COMMANDS else "")
        for file, name in dict.fromkeys(REFERENCE.findall(text))
    )


def measured(name: str, row: Row) -> str:
    """When a row was measured, on which machine and beside what load."""
    if again := row.get("repeated"):
        return f"`{name}`: repeated with the same outcome on {again['date']}, {again['machine']}."
    if source := row.get("source"):
        return f"`{name}`: measured on {row['date']}, {row['machine']}, while other jobs were running ({source})."
    if "date" not in row:
        return f"`{name}`: measured on {row['machine']}; date and load were not recorded."
    shares = row["others_share"]
    share = 100 * (max(shares) if isinstance(shares, list) else shares)
    return f"`{name}`: measured on {row['date']}, {row['machine']}; other work took {share:.0f} % of the processors."
