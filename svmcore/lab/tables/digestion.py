"""The tables of the study of digestion (DeCoste and Schölkopf, 2002, section 4); its recipes: recipes/digestion."""

from svmcore.lab.recipes.digestion import FEW, RULES, RULES_MB, SHIFTED_MB
from svmcore.lab.tables.layout import Cell, Row, Table

COUNTED = {"work": "Work", "computed": "Values", "lookups": "Look-ups", "updates": "Updates", "steps": "Steps",
           "sv_most": "Most SVs", "jumps": "Digestions", "filled": "Rows filled, %", "solve_s": "s"}  # fmt: skip
UNIT = (
    "Counts in millions. Work: kernel values, look-ups and updates in one unit, a plain kernel value of d "
    "multiply-adds; a look-up and an update are one each. Seconds: of the processor."
)


def tables() -> tuple[Table, ...]:
    """One rule changed at a time; note 6. What the size of the cache does is a figure."""
    rules = Table(
        "mnist-digestion-rules",
        "Section 4.2: the rules of digestion, one changed at a time",
        tuple(COUNTED.values()),
        tuple(Row(title, _counted(f"digest-rule-{way}")) for way, (title, _) in RULES.items()),
        note=f"Digit 1 of {FEW:,} with a cache of {RULES_MB} MB. {UNIT}",
    )
    jittering = Table(
        "mnist-digestion-jsv",
        "Note 6: one cache under virtual examples and under the jittering kernel",
        ("Examples", "SVs", *COUNTED.values()),
        tuple(
            Row(f"{title}, {mb} MB", (*_cells(name, "size", "svs"), *_counted(name)))
            for method, title in (("vsv", "Virtual examples"), ("jsv", "Jittering kernel"))
            for mb in SHIFTED_MB
            for name in (f"digest-{method}-{mb}",)
        ),
        note=UNIT,
    )
    return rules, jittering


def _counted(recipe: str) -> tuple[Cell, ...]:
    return _cells(recipe, *COUNTED)


def _cells(recipe: str, *figures: str) -> tuple[Cell, ...]:
    return tuple(Cell(recipe, figure) for figure in figures)
