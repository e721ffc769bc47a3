"""All items of the Paper page with state and evidence, as a table: `python -m tests.bench.items [PAPER ...]`.

Evidence: the table, figure or page that shows it, recipes that can be run for it, the measured rows that its sentence
quotes, and whether a test names it. Above the table: what *Run all* runs, and the seconds of those that were measured.
"""

from __future__ import annotations

import argparse
import tomllib
from collections import Counter
from pathlib import Path

from pages.paper import quoted
from pages.paper.outline import PAPERS
from tests.bench import measured
from tests.bench.results import table

OUTLINES, TESTS = Path(quoted.__file__).with_name("outlines"), Path(__file__).parents[1]


def rows(paper: str) -> list[tuple[str, ...]]:
    """(section, kind, title, state, shown on, recipes, rows, named by a test) of each item of a paper."""
    told = tomllib.loads((OUTLINES / f"{paper}.toml").read_text("utf-8"))["section"]
    tests = "".join(path.read_text("utf-8") for path in TESTS.glob("test_*.py"))
    return [
        (
            section["number"], item["kind"], item["title"].replace("|", "\\|"), item["state"],
            ", ".join(filter(None, (item.get("show"), item.get("page")))),
            ", ".join(item.get("recipes", ())),
            ", ".join(dict.fromkeys(f"{file}/{row}" for file, row in quoted.REFERENCE.findall(item["said"]))),
            "yes" if item["title"][:40] in tests else "",
        )
        for section in told
        for item in section["item"]
    ]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("papers", nargs="*", metavar="PAPER", help=", ".join(PAPERS))
    asked = parser.parse_args().papers
    if unknown := set(asked) - set(PAPERS):
        parser.error(f"no paper {', '.join(sorted(unknown))}; there are {', '.join(PAPERS)}")
    columns = ("section", "kind", "item", "state", "shown on", "recipes", "measured rows", "test names it")
    for paper in asked or PAPERS:
        found = rows(paper)
        counts = ", ".join(f"{count} {state}" for state, count in Counter(row[3] for row in found).items())
        recipes, rows_of = PAPERS[paper].every, measured.read("runs")
        there = [rows_of[recipe.name] for recipe in recipes if recipe.name in rows_of]
        seconds = sum(row["train_seconds"] + row["test_seconds"] for row in there)
        print(f"## {PAPERS[paper].short}: {len(found)} items, {counts}\n")
        print(f"Run all: {len(recipes)} runs; {len(there)} were measured, {seconds:,.0f} s together\n")
        print(f"{table(columns, found)}\n")


if __name__ == "__main__":
    main()
