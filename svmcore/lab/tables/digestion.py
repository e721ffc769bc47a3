"""The tables of the study of digestion (DeCoste and Schölkopf, 2002, section 4); its recipes: recipes/digestion."""

from svmcore.lab.recipes.digestion import FEW, RULES, RULES_MB, SHIFTED_MB
from svmcore.lab.tables.layout import Table, table_of

COUNTED = {"work": "Work", "computed": "Values", "lookups": "Look-ups", "updates": "Updates", "steps": "Steps",
           "sv_most": "Most SVs", "jumps": "Digestions", "filled": "Rows filled, %", "solve_s": "s"}  # fmt: skip
UNIT = (
    "Counts in millions. Work: kernel values, look-ups and updates in one unit, a plain kernel value of d "
    "multiply-adds; a look-up and an update are one each. Seconds: of the processor."
)


def tables() -> tuple[Table, ...]:
    """One rule changed at a time; note 6. What the size of the cache does is a figure."""
    rules = table_of(
        "mnist-digestion-rules",
        "Section 4.2: the rules of digestion, one changed at a time",
        COUNTED,
        *((title, f"digest-rule-{way}") for way, (title, _) in RULES.items()),
        note=f"Digit 1 of {FEW:,} with a cache of {RULES_MB} MB. {UNIT}",
    )
    jittering = table_of(
        "mnist-digestion-jsv",
        "Note 6: one cache under virtual examples and under the jittering kernel",
        {"size": "Examples", "svs": "SVs"} | COUNTED,
        *(
            (f"{title}, {mb} MB", f"digest-{method}-{mb}")
            for method, title in (("vsv", "Virtual examples"), ("jsv", "Jittering kernel"))
            for mb in SHIFTED_MB
        ),
        note=UNIT,
    )
    return rules, jittering
