"""What a table is: rows of cells, each a figure of a recipe's run beside the published one; and how they are listed."""

import json
import tomllib
from collections.abc import Iterable
from functools import reduce
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

from svmcore.lab.store.reading import Group

PUBLISHED = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))


class Cell(NamedTuple):
    """One figure, such as "errors" or, of one digit's machine, "fn:3" (`numbers.NUMBERS`).

    recipe: name of the recipe whose run gives it, or None; rival: name of the rival that gives it, or None, and neither
    for a figure of the literature; published: None where the paper gives none. splits: of how
    many it is the mean, drawn by the recipe's seed and those that follow it.
    """

    recipe: str | None
    figure: str
    published: float | None = None
    rival: str | None = None
    splits: int = 1


class Row(NamedTuple):
    """A line of a table: what it is about, and a cell (or None) for each column."""

    label: str
    cells: tuple[Cell | None, ...]


class Table(NamedTuple):
    """A table. tests: pairs of recipes whose errors are compared example by example; note: what to know about it."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    tests: tuple[tuple[str, str], ...] = ()
    note: str = ""

    @property
    def recipes(self) -> tuple[str, ...]:
        """Names of the recipes that fill it, in order, each once."""
        names = [cell.recipe for row in self.rows for cell in row.cells if cell is not None and cell.recipe]
        return tuple(dict.fromkeys(names + [name for pair in self.tests for name in pair]))

    @property
    def group(self) -> Group:
        """What its runs are started for."""
        return Group(f"table-{self.name}", self.title[:120])

    @property
    def rivals(self) -> tuple[str, ...]:
        """Names of the rivals that it shows."""
        return tuple(cell.rival for row in self.rows for cell in row.cells if cell is not None and cell.rival)


def table_of(
    name: str, title: str, columns: dict[str, str], *rows, each=(), splits: int = 1, tests=(), note: str = ""
) -> Table:
    """A table of rows (label, recipe, published figures...), these as many as are known; columns: figure -> title.
    each: groups of the same columns; a row has then a recipe for each group, or "", and nothing published."""

    def cells(recipe: str, known=()) -> tuple[Cell | None, ...]:
        return tuple(Cell(recipe, f, p, splits=splits) if recipe else None for f, p in zip_longest(columns, known))

    if each:
        found = [(label, sum(map(cells, recipes), ())) for label, *recipes in rows]
    else:
        found = [(label, cells(recipe, known[: len(columns)])) for label, recipe, *known in rows]
    titles = [f"{group} {title}" for group in each for title in columns.values()] or columns.values()
    return Table(name, title, tuple(titles), tuple(Row(*row) for row in found), tests, note)


def listed(made: Iterable[Table]) -> dict[str, Table]:
    """Name -> table, in the order of tables.toml, which has most of them; made: the others."""
    described = tomllib.loads(Path(__file__).with_name("tables.toml").read_text(encoding="utf-8"))
    made = {table.name: table for table in made}

    def published(place: str, figures: Iterable[str]) -> list[float | None]:
        found = reduce(lambda known, key: known[int(key) if key.isdecimal() else key], place.split("."), PUBLISHED)
        return [found.get(figure) for figure in figures] if isinstance(found, dict) else [found]

    def table(name: str, title: str, columns: dict, rows: list, each=(), tests=(), **more) -> Table:
        if not each:
            rows = ((*row[:2], *(p for place in row[2:] for p in published(place, columns))) for row in rows)
        return table_of(name, title, columns, *rows, each=each, tests=tuple(map(tuple, tests)), **more)

    return {name: table(name, **about) if about else made[name] for name, about in described.items()}


def rivals_of(name: str, title: str, known: dict, ours: dict[str, str], rivals: dict[str, str]) -> Table:
    """The errors of every method, a row each: label -> published figure, recipe of ours, rival of ours."""
    rows = tuple(
        Row(label, (Cell(ours.get(label), "error_pct", value, rivals.get(label)),)) for label, value in known.items()
    )
    return Table(
        name,
        title,
        ("Errors, %",),
        rows,
        note="Methods without a result of ours come from the literature. USPS+ has more training digits than USPS.",
    )
