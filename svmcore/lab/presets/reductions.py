"""Tables 1 to 3 of Burges and Schölkopf (1997)."""

from svmcore.lab.presets.layout import PUBLISHED, Cell, Row, Table


def tables() -> tuple[Table, ...]:
    """In the order of the paper."""
    return (_burges(), _thresholds())


def _burges() -> Table:
    """The paper's three tables as one: errors of each machine alone, thresholds, vectors."""
    known = PUBLISHED["burges_schoelkopf"]
    sv, vsv, rs = "mnist-sv-degree5", "mnist-vsv-degree5", "mnist-rs-degree5"
    cells = ((sv, "alone"), (vsv, "alone"), (rs, "kept"), (rs, "alone"), (rs, "best"), (sv, "svs"), (vsv, "svs"),
             (rs, "svs"), (rs, "rho_fold"))  # fmt: skip
    errors_pct = {sv: known["orig_error_pct"], vsv: known["vsv_error_pct"], rs: known["reduced_error_pct"]}

    def row(label: str, below: str, figure: str, published: dict) -> Row:
        """A figure of all ten, below the digits' column `below` of each machine."""
        return Row(label, tuple(Cell(r, figure, published.get(r)) if f == below else None for r, f in cells))

    rows = [
        *(Row(f"Digit {digit}", tuple(Cell(recipe, f"{figure}:{digit}") for recipe, figure in cells))
          for digit in range(10)),
        row("Ten digits, %", "alone", "error_pct", errors_pct),
        row("Ten digits", "alone", "errors", {}),
        row("Million multiply-adds", "svs", "mults", {}),
    ]  # fmt: skip
    columns = ("SV errors", "VSV errors", "RS errors, VSV threshold", "RS errors, training threshold",
               "RS errors, best on test set", "SVs", "VSVs", "RSVs", "rho reduced by")  # fmt: skip
    note = "Errors are those of each digit's machine alone. The best threshold on the test set gives a lower bound."
    title = "Burges and Schölkopf (1997), Tables 1-3: MNIST, degree 5, a tenth of the vectors"
    return Table("burges-degree5", title, columns, tuple(rows), ((sv, vsv), (vsv, rs)), note)


def _thresholds() -> Table:
    rs, figures = "mnist-rs-degree5", ("b_kept", "kept", "b", "alone", "b_best", "best")
    rows = [Row(f"Digit {digit}", tuple(Cell(rs, f"{figure}:{digit}") for figure in figures)) for digit in range(10)]
    columns = tuple(
        f"{whose}: {what}"
        for whose in ("VSV threshold", "training threshold", "best on test set")
        for what in ("b", "errors")
    )
    note = "f(x) = sum + b. Errors are those of each digit's machine alone; the last column is a lower bound."
    return Table("burges-thresholds", "Burges and Schölkopf (1997), Table 2: thresholds of the reduced machines",
                 columns, tuple(rows), (), note)  # fmt: skip
