"""3 against 8: Table 10 of DeCoste and Schölkopf (2002), draws, products and costs.

HURT: 200 digits of each of the 45 pairs, virtual SVs by jitters of every kind and strength (section 6).
"""

from itertools import combinations

from svmcore.lab.presets.layout import PUBLISHED, TIMES, Cell, Row, Table, table_of
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.reading import Group

SHIFTS = 1, 5, 9, 13, 25  # of the sets of 3v8-j1-..., 3v8-j5-..., and so on

# ---------------------------------------------------------------------------------------- when does invariance hurt?

HURTS = (
    "none", "box:1", "box:2", "box:4", "rot:-10,10", "rot:-30,30", "rot:-90,90", "scale:0.9,1.1", "scale:0.7,1.4",
    "shear:-0.6,0.6", "thick:0.5", "flip:h", "box:1*rot:-10,10", "box:1*thick:0.5", "rot:-10,10*scale:0.9,1.1",
)  # fmt: skip
_HURT = Recipe(dataset="mnist-5k", n_train=200, n_test=800, folds=5, method="vsv")
HURT: dict[tuple[int, int], dict[str, Recipe]] = {
    pair: {
        text: _HURT.replace(classes=pair, jitters=text, title=f"{pair[0]} against {pair[1]}, 200 digits: {text}")
        for text in HURTS
    }
    for pair in combinations(range(10), 2)
}
HURT_GROUP = Group("hurt", "When does invariance hurt? 45 pairs of digits")


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
            "Table 10: 3 against 8, deslanted as the paper describes",
            "3v8-5x5-pixels",
            PUBLISHED["table10_5x5"],
        ),
        _draws(),
        _jsv_cost(),
    )


def _table10(name: str, title: str, prefix: str, known: dict) -> Table:
    figures = {"errors": "Errors of 1984", "svs": "Support vectors", "size": "Training examples"} | TIMES
    methods = {"base": "sv", "base + query jitter": "query-jitter", "vsv": "vsv", "jsv": "jsv"}
    keys = ("errors", "svs", "of", *TIMES)  # what the paper's figures are called
    lines = ((words, f"{prefix}-{method}", *map(known[words].get, keys)) for words, method in methods.items())
    tests = tuple((f"{prefix}-sv", f"{prefix}-{method}") for method in ("query-jitter", "vsv", "jsv"))
    return table_of(name, title, figures, *lines, tests=tests, note="Published times: on a Sun Ultra60 of 450 MHz.")


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
    note = f"{DRAWS} draws of 400 digits from the training set, the same for each method, tested on all 1984."
    return Table("jsv-draws", "3 against 8: which method varies less over draws", columns, rows, note=note)


def _jsv_cost() -> Table:
    figures = ("errors", "size", "gram_mb", "train_s", "test_s")
    words = ("errors", "examples", "Gram matrix, MB", "training, s", "testing, s")
    columns = tuple(f"{method} {w}" for method in ("VSV", "JSV") for w in words)
    rows = tuple(
        Row(f"{J} jitters", tuple(Cell(f"3v8-j{J}-{method}", f) for method in ("vsv", "jsv") for f in figures))
        for J in SHIFTS
    )
    return Table("jsv-cost", "3 against 8: cost of virtual SVs and of jittering kernels", columns, rows)
