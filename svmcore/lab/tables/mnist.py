"""Tables of MNIST's ten digits (DeCoste and Schoelkopf 2002, section 5.1.2, Tables 3 to 9)."""

from __future__ import annotations

from itertools import pairwise

from data import catalogue
from svmcore.lab.tables.layout import Cell, Row, Table, rivals_of, rows_of
from svmcore.lab.tables.published import PUBLISHED

TWO_PIXELS = "virtual SVM, 2-pixel translation"


def tables() -> tuple[Table, ...]:
    """In the order of the paper."""
    degree5, note7, best = PUBLISHED["mnist_degree5_pct"], PUBLISHED["mnist_note7"], PUBLISHED["mnist_best_pct"]
    errors_svs, nine = ("error_pct", "svs"), "mnist-5000-degree9"
    return (
        _table3(),
        _per_digit(
            "mnist-table4-6", "Tables 4-6: MNIST, 3x3 shifts", {"sv": "mnist-sv", "vsv": "mnist-vsv"}, (4, 5, 6)
        ),
        _per_digit(
            "mnist-table7-9",
            "Tables 7-9: MNIST, deslanted",
            {"sv": "mnist-deslant-sv", "vsv": "mnist-deslant-vsv", "vsv2": "mnist-deslant-vsv2"},
            (7, 8, 9),
        ),
        _per_digit(
            "mnist-table7-9-pixels",
            "Tables 7-9: MNIST, deslanted by the paper's words",
            {"sv": "mnist-pixels-sv", "vsv": "mnist-pixels-vsv", "vsv2": "mnist-pixels-vsv2"},
            (7, 8, 9),
        ),
        Table(
            "mnist-degree5",
            "MNIST: degree 5, and degree 9 after it",
            ("Errors, %", "Support vectors, mean"),
            rows_of(
                errors_svs,
                ("Degree 5", "mnist-sv-degree5", degree5["degree5_sv_pct"]),
                ("Virtual SVs", "mnist-vsv-degree5", degree5["degree5_vsv_pct"]),
                ("Virtual SVs, degree 9", "mnist-vsv-degree5-9", degree5["degree9_second_stage_pct"]),
            ),
            (("mnist-sv-degree5", "mnist-vsv-degree5"), ("mnist-vsv-degree5", "mnist-vsv-degree5-9")),
        ),
        Table(
            "mnist-5000-degree5",
            "MNIST, the first 5000: degree 5",
            ("Errors, %", "Support vectors, mean"),
            rows_of(
                errors_svs,
                ("Support vectors", "mnist-5000-sv", note7["sv_error_pct"], note7["mean_svs"]),
                ("Virtual SVs", "mnist-5000-vsv", note7["vsv_error_pct"], note7["mean_vsvs"]),
                (
                    "All examples shifted",
                    "mnist-5000-virtual-all",
                    note7["full_virtual_error_pct"],
                    note7["full_virtual_mean_svs"],
                ),
            ),
            (("mnist-5000-sv", "mnist-5000-vsv"), ("mnist-5000-vsv", "mnist-5000-virtual-all")),
        ),
        Table(
            "mnist-beyond",
            "MNIST: more invariances than the paper's",
            ("Errors, %", "Support vectors, mean"),
            rows_of(
                errors_svs,
                ("Deslanted, 3x3 and 2-pixel shifts", "mnist-deslant-vsv2", best),
                ("Turned, thicker and thinner as well", "mnist-best"),
            ),
            (("mnist-deslant-vsv2", "mnist-best"),),
            "The second row's jitters were known to do well before a validation part singled them out again.",
        ),
        Table(
            "jsv-digits",
            "MNIST: the jittering kernel on ten digits",
            ("Errors, %", "Support vectors, mean", "Training, s", "Testing, s"),
            rows_of(
                ("error_pct", "svs", "train_s", "test_s"),
                *(
                    (f"{words}, {digits} digits", f"{name}-{end}")
                    for digits, name in (("5,000", nine), ("60,000", "mnist"))
                    for words, end in (
                        ("Support vectors", "sv"),
                        ("Virtual SVs", "vsv"),
                        ("Jittering kernel", "jsv"),
                        ("Its positive part", "jsv-positive"),
                    )
                ),
            ),
            tuple(
                (f"{name}-{one}", f"{name}-{other}")
                for name in (nine, "mnist")
                for one, other in (("sv", "jsv"), ("sv", "jsv-positive"), ("vsv", "jsv-positive"))
            ),
            "655 of the 5000 eigenvalues of the jittering kernel are negative; the positive part lacks those of 2000, "
            "of 60,000 digits those of 5000.",
        ),
        _hours(),
    )


def _table3() -> Table:
    """The errors on 10,000 test digits, and on all 60,000 where those are at hand."""
    there, known = catalogue.entry("qmnist").at_hand, PUBLISHED["mnist_table3_60k_pct"]
    ours = {"SVM": "mnist-sv-degree5", "virtual SVM": "mnist-vsv-degree5-9", TWO_PIXELS: "mnist-deslant-vsv2"}
    large = {"SVM": "qmnist-sv-degree5", "virtual SVM": "qmnist-vsv-degree5", TWO_PIXELS: "qmnist-deslant-vsv2"}
    rivals = {"3-nearest-neighbour": "mnist-nearest", "2-layer MLP": "mnist-mlp", "tangent distance": "mnist-tangent"}
    table = rivals_of("mnist-table3", "Table 3: MNIST, all methods", PUBLISHED["mnist_table3_pct"], ours, rivals)

    def of_all(label: str) -> Cell | None:
        recipe = large.get(label) if there else None
        return Cell(recipe, "error_pct", known.get(label)) if recipe or label in known else None

    rows = tuple(Row(row.label, (*row.cells, of_all(row.label))) for row in table.rows)
    note = "The second column is the whole test set; the 10,000 of the first are a part of it."
    how = "Its digits are QMNIST's (Yadav and Bottou 2019): fetch that on *Datasets*, and start the app again."
    note = " ".join([table.note, note, *([] if there else [how])])
    return table._replace(columns=("10,000 digits, %", "60,000 digits, %"), rows=rows, note=note)


def _per_digit(name: str, title: str, machines: dict[str, str], numbers: tuple[int, int, int]) -> Table:
    """Errors, misses and false alarms, and SV counts of each digit; numbers: of the paper's three tables."""
    errors, binary, svs = (PUBLISHED[f"mnist_table{number}"] for number in numbers)
    sources = (("errors", errors, "{}"), ("fn", binary, "{}_fn"), ("fp", binary, "{}_fp"), ("svs", svs, "{}"),
               ("bound", svs, "{}_bound"))  # fmt: skip
    words = {"errors": "errors", "fn": "misses", "fp": "false alarms", "svs": "SVs", "bound": "SVs at C"}
    columns, rows = [], [[] for _ in range(11)]
    for figure, known, key in sources:
        for machine, recipe in machines.items():
            columns.append(f"{machine.upper()} {words[figure]}")
            published = known[key.format(machine)]
            whole = Cell(recipe, figure, sum(published)) if figure == "errors" else None
            rows[10].append(whole)
            for digit in range(10):
                rows[digit].append(Cell(recipe, f"{figure}:{digit}", published[digit]))
    names = [*(f"Digit {digit}" for digit in range(10)), "All"]
    lines = tuple(Row(label, tuple(cells)) for label, cells in zip(names, rows, strict=True))
    recipes = list(machines.values())
    return Table(name, title, tuple(columns), lines, tuple(pairwise(recipes)))


def _hours() -> Table:
    """What training took, beside DeCoste and Schoelkopf (2002), section 5.1.1: whole hours on a Sun Ultra60."""
    hours = PUBLISHED["mnist_hours"]
    figures = ("values", "mults", "take_s", "train_s")
    columns = ("Thousand million kernel values", "Million multiply-adds", "10,000 digits, s", "Training, s")
    known = (
        ("Ten digits", "mnist-sv", None),
        ("Ten digits, virtual SVs too", "mnist-vsv", hours["ten_digits_both_stages"]),
        ("Digit 8", "mnist-8-vs-rest", hours["digit_8_platt"]),
    )
    rows = rows_of(figures, *((label, name, None, None, None, h and 3600 * h) for label, name, h in known))
    note = (
        "Published: both stages of all digits about 50 hours on a Sun Ultra60; digit 8 about 8 by Platt's SMO (1999)."
    )
    return Table("mnist-cost", "MNIST: what training and deciding cost", columns, rows, (), note)
