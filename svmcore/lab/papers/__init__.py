"""The papers' tables by name, each cell a published figure beside ours, filled from stored runs.

    PUBLISHED                  what the papers print, from presets/published.json
    TABLES["usps-table1"]      rows of cells: a recipe, one of its figures, and what was published (lab/presets)
    fill(table) -> Filled      ours, with 95 % intervals; cells without a run have a predicted time
    text(filled)               the same as lines of text

Source: DeCoste and Schölkopf, Machine Learning 46 (2002), Tables 1-10 and section 5.1; Burges and
Schölkopf, NIPS 9 (1997); Osuna, Freund and Girosi (1997); Bakir, Bottou and Weston, NIPS 17 (2004), Table 1. After
them: the table `features` (presets/tables.toml).
"""

from svmcore.lab.papers.filling import Filled, Tested, Value, asked, fill, text, with_interval
from svmcore.lab.papers.numbers import NUMBERS, of_run
from svmcore.lab.presets import digestion, digits, osuna, xtrain
from svmcore.lab.presets.layout import PUBLISHED, Cell, Row, Table, listed

__all__ = [
    "NUMBERS", "PUBLISHED", "TABLES", "Cell", "Filled", "Row", "Table", "Tested", "Value", "asked", "fill",
    "of_run", "text", "with_interval",
]  # fmt: skip

TABLES: dict[str, Table] = listed(table for part in (digits, digestion, osuna, xtrain) for table in part.tables())
