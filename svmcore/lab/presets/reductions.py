"""Tables of the reduced sets: Burges and Schölkopf (1997), and what is beyond them."""

from svmcore.lab.presets.layout import PUBLISHED, Cell, Row, Table, table_of


def tables() -> tuple[Table, ...]:
    """In the order of the paper."""
    return (_burges(), _thresholds(), _reduced(), _searches(), _taken_apart(), _copies())


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


def _reduced() -> Table:
    figures = {"error_pct": "Errors, %", "vectors": "Distinct vectors", "fold": "Vectors divided by",
               "mults": "Million multiply-adds", "take_s": "Classifying 10,000 digits, s",
               "train_s": "Fit, s"}  # fmt: skip
    known = (("Virtual SVs", "mnist-vsv"), ("A tenth", "mnist-rs"), ("A twentieth", "mnist-rs-20"),
             ("A fiftieth", "mnist-rs-50"))  # fmt: skip
    tests = tuple(("mnist-vsv", name) for _, name in known[1:])
    note = "The paper's abstract: at degree 5, fifty times faster with 1.1 % errors instead of 1.0 %."
    return table_of("mnist-reduced", "MNIST, degree 9: reduced sets", figures, *known, tests=tests, note=note)


def _searches() -> Table:
    figures = {"error_pct": "Errors, %", "vectors": "Distinct vectors", "fold": "Vectors divided by",
               "rho": "rho, % of |Psi|", "rho_fold:8": "Digit 8: rho reduced by the joint search",
               "mults": "Million multiply-adds", "train_s": "Fit, s"}  # fmt: skip
    rs = "mnist-rs-degree5"
    return table_of(
        "mnist-searches",
        "MNIST, degree 5: two searches for the same reduced set",
        figures,
        ("Virtual SVs", "mnist-vsv-degree5"),
        ("A tenth per machine, joint search", rs),
        ("150 per machine, joint search", f"{rs}-150"),
        ("118 per machine, a fiftieth", f"{rs}-118"),
        ("118 per machine, the paper's search and threshold", f"{rs}-118-paper"),
        tests=((f"{rs}-118", f"{rs}-118-paper"),),
        note="Joint search: L-BFGS moves all vectors at once, starting from support vectors. The paper's search adds "
        "vectors one by one and then moves them together, by conjugate gradients. Each machine has its own vectors.",
    )


def _taken_apart() -> Table:
    parent, rs = "mnist-5000-degree9-vsv", "mnist-5000-rs"
    rows = [("The machine", parent)]
    rows += [
        (f"From {begun}, fitted to {taught}", f"{rs}-{start}-{by}")
        for begun, start in (("its vectors", "own"), ("random digits", "random"))
        for taught, by in (("labels", "labels"), ("its predictions", "machine"))
    ]
    return table_of(
        "reduced-knowledge",
        "MNIST, the first 5000: what 300 reduced vectors take from the machine",
        {"error_pct": "Errors, %", "vectors": "Distinct vectors"},
        *rows,
        tests=tuple((f"{rs}-random-labels", name) for _, name in rows if name != f"{rs}-random-labels"),
        note="Digits are deformed anew in each of 100 epochs. Random digits with labels use nothing of the machine.",
    )


def _copies() -> Table:
    copies, shares = "mnist-5000-copies", (10, 25, 50)
    return table_of(
        "virtual-copies",
        "MNIST, the first 5000: which virtual copies matter",
        {"error_pct": "Errors, %", "size": "Examples, mean", "svs": "Support vectors, mean", "train_s": "Training, s"},
        ("No copies", "mnist-5000-degree9-sv"),
        *(
            (f"{share} %, {words}", f"{copies}-{share}-{by}")
            for share in shares
            for by, words in (("margin", "least sure"), ("random", "at random"))
        ),
        ("All", "mnist-5000-degree9-vsv"),
        tests=tuple((f"{copies}-{share}-random", f"{copies}-{share}-margin") for share in shares),
        note="Least sure: the copies with the smallest y f(x) under the first machine.",
    )
