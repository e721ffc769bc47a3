"""Tables of 3 against 8 (DeCoste and Schölkopf 2002, section 5.1.3, Table 10)."""

from svmcore.lab.recipes.pairs import JITTER_SETS
from svmcore.lab.tables.layout import PUBLISHED, TIMES, Cell, Row, Table, table_of

DRAWS = 50


def tables() -> tuple[Table, ...]:
    """In the order of the paper."""
    return (
        _table10("table10-3v8", "Table 10: 3 against 8, 400 digits, 3x3 shifts", "3v8", PUBLISHED["table10"]),
        _table10(
            "table10-3v8-5x5-deslant",
            "Table 10: 3 against 8, deslanted, 5x5 shifts",
            "3v8-5x5",
            PUBLISHED["table10_5x5"],
        ),
        _table10(
            "table10-3v8-5x5-pixels",
            "Table 10: 3 against 8, deslanted by the paper's words",
            "3v8-5x5-pixels",
            PUBLISHED["table10_5x5"],
        ),
        _draws(),
        _jsv_cost(),
        table_of(
            "jsv-products",
            "3 against 8: products of jitters",
            {"errors": "Errors", "svs": "Support vectors"} | TIMES,
            *(
                (f"{words}, {named}", f"{prefix}-{method}")
                for prefix, named in (("3v8", "9 shifts"), ("3v8-product", "27 shifts of turns"))
                for method, words in (("vsv", "Virtual SVs"), ("jsv", "Jittering kernel"))
            ),
            tests=(("3v8-vsv", "3v8-product-vsv"), ("3v8-jsv", "3v8-product-jsv")),
        ),
    )


def _table10(name: str, title: str, prefix: str, known: dict) -> Table:
    figures = {"errors": "Errors of 1984", "svs": "Support vectors", "size": "Of"} | TIMES
    methods = {"base": "sv", "base + query jitter": "query-jitter", "vsv": "vsv", "jsv": "jsv"}
    keys = ("errors", "svs", "of", *TIMES)  # what the paper's figures are called
    lines = ((words, f"{prefix}-{method}", *map(known[words].get, keys)) for words, method in methods.items())
    tests = tuple((f"{prefix}-sv", f"{prefix}-{method}") for method in ("query-jitter", "vsv", "jsv"))
    return table_of(name, title, figures, *lines, tests=tests, note="Published times: a Sun Ultra60 of 450 MHz.")


def _draws() -> Table:
    figures = "errors", "spread", "svs"
    methods = {"sv": "Support vectors", "vsv": "Virtual SVs", "jsv": "Jittering kernel"}
    sets = {"3v8-drawn": "3x3 shifts", "3v8-5x5-drawn": "deslanted, 5x5 shifts"}
    rows = tuple(
        Row(f"{words}, {shifts}", tuple(Cell(f"{prefix}-{method}", f, splits=DRAWS) for f in figures))
        for prefix, shifts in sets.items()
        for method, words in methods.items()
    )
    columns = ("Errors of 1984, mean", "Standard deviation over draws", "Support vectors")
    note = f"{DRAWS} draws of 400 digits from the training set, the same for each machine, tested on all 1984."
    return Table("jsv-draws", "3 against 8: which method is the steadier", columns, rows, note=note)


def _jsv_cost() -> Table:
    figures = ("errors", "size", "gram_mb", "train_s", "test_s")
    words = ("errors", "examples", "Gram matrix, MB", "training, s", "testing, s")
    columns = tuple(f"{method} {w}" for method in ("VSV", "JSV") for w in words)
    rows = tuple(
        Row(f"{J} jitters", tuple(Cell(f"3v8-j{J}-{method}", f) for method in ("vsv", "jsv") for f in figures))
        for J in JITTER_SETS
    )
    return Table("jsv-cost", "3 against 8: what virtual SVs and jittering kernels cost", columns, rows)
