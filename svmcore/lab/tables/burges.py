"""Tables of Burges and Schoelkopf (1997), and of reduced sets beyond them."""

from __future__ import annotations

from svmcore.lab.tables.layout import Cell, Row, Table, rows_of
from svmcore.lab.tables.published import PUBLISHED


def tables() -> tuple[Table, ...]:
    """In the order of the paper."""
    return (
        _burges(),
        _thresholds(),
        _reduced(),
        _searches(),
        _taken_apart(),
        _copies(),
    )


def _burges() -> Table:
    """The paper's three tables as one: errors of each machine alone, thresholds, vectors."""
    known = PUBLISHED["burges_schoelkopf"]
    sv, vsv, rs = "mnist-sv-degree5", "mnist-vsv-degree5", "mnist-rs-degree5"
    cells = ((sv, "alone"), (vsv, "alone"), (rs, "kept"), (rs, "alone"), (rs, "best"), (sv, "svs"), (vsv, "svs"),
             (rs, "svs"), (rs, "rho_fold"))  # fmt: skip
    rows = [
        Row(f"Digit {digit}", tuple(Cell(recipe, f"{figure}:{digit}") for recipe, figure in cells))
        for digit in range(10)
    ]
    share, errors, cost = [None] * len(cells), [None] * len(cells), [None] * len(cells)
    for at, name, recipe in ((0, "orig", sv), (1, "vsv", vsv), (3, "reduced", rs)):
        share[at] = Cell(recipe, "error_pct", known[f"{name}_error_pct"])
        errors[at] = Cell(recipe, "errors")
    for at, recipe in ((5, sv), (6, vsv), (7, rs)):
        cost[at] = Cell(recipe, "mults")
    rows += [Row("Ten digits, %", tuple(share)), Row("Ten digits", tuple(errors))]
    rows.append(Row("Million multiply-adds", tuple(cost)))
    columns = ("SV errors", "VSV errors", "RS, VSV's threshold", "RS, from training", "RS, best on test", "SVs", "VSVs",
               "RSVs", "rho reduced by")  # fmt: skip
    note = "Errors of each digit's machine alone; the best threshold on the test set bounds all others from below."
    title = "Burges and Schölkopf (1997), Tables 1-3: MNIST, degree 5, a tenth of the vectors"
    return Table("burges-degree5", title, columns, tuple(rows), ((sv, vsv), (vsv, rs)), note)


def _thresholds() -> Table:
    rs, figures = "mnist-rs-degree5", ("b_kept", "kept", "b", "alone", "b_best", "best")
    rows = [Row(f"Digit {digit}", tuple(Cell(rs, f"{figure}:{digit}") for figure in figures)) for digit in range(10)]
    columns = tuple(
        f"{whose}: {what}" for whose in ("VSV's", "from training", "best on test") for what in ("b", "errors")
    )
    note = "b in f(x) = sum + b, and the errors of each digit's machine alone with it; the last is a lower bound."
    return Table("burges-thresholds", "Burges and Schölkopf (1997), Table 2: thresholds of the reduced machines",
                 columns, tuple(rows), (), note)  # fmt: skip


def _reduced() -> Table:
    figures = ("error_pct", "vectors", "fold", "mults", "take_s", "train_s")
    columns = ("Errors, %", "Distinct vectors", "Times fewer", "Million multiply-adds", "10,000 digits, s", "Fit, s")
    known = (("Virtual SVs", "mnist-vsv"), ("A tenth", "mnist-rs"), ("A twentieth", "mnist-rs-20"),
             ("A fiftieth", "mnist-rs-50"))  # fmt: skip
    tests = tuple(("mnist-vsv", name) for _, name in known[1:])
    note = "The paper's claims, at degree 5: ten times fewer vectors at +0.1 points; its abstract: fifty times faster."
    return Table("mnist-reduced", "MNIST, degree 9: reduced sets", columns, rows_of(figures, *known), tests, note)


def _searches() -> Table:
    figures = ("error_pct", "vectors", "fold", "rho", "rho_fold:8", "mults", "train_s")
    columns = ("Errors, %", "Distinct vectors", "Times fewer", "rho, % of |Psi|", "rho of 8 lowered by all together",
               "Million multiply-adds", "Fit, s")  # fmt: skip
    rs = "mnist-rs-degree5"
    rows = rows_of(figures, ("Virtual SVs", "mnist-vsv-degree5"), ("A tenth for each, together", rs),
                 ("150 for each, together", f"{rs}-150"),
                 ("150 for each, the paper's search", f"{rs}-150-paper"))  # fmt: skip
    note = (
        "Together: all vectors by L-BFGS from support vectors. The paper's: one by one, then together, by conjugate "
        "gradients. Each machine has vectors of its own."
    )
    return Table("mnist-searches", "MNIST, degree 5: two searches for the same reduced set", columns, rows,
                 ((f"{rs}-150", f"{rs}-150-paper"),), note)  # fmt: skip


def _taken_apart() -> Table:
    parent, rs = "mnist-5000-degree9-vsv", "mnist-5000-rs"
    rows = [("The machine", parent)]
    rows += [
        (f"{begun}, {taught}", f"{rs}-{start}-{by}")
        for begun, start in (("Its vectors", "own"), ("Random digits", "random"))
        for taught, by in (("labels", "labels"), ("its answers", "machine"))
    ]
    note = "Deformed anew in each of 100 epochs. What random digits reach by labels, the machine has no part in."
    return Table("reduced-knowledge", "MNIST, the first 5000: 300 vectors, what the machine gives them",
                 ("Errors, %", "Distinct vectors"), rows_of(("error_pct", "vectors"), *rows),
                 tuple((f"{rs}-random-labels", name) for _, name in rows if name != f"{rs}-random-labels"),
                 note)  # fmt: skip


def _copies() -> Table:
    parent, ranked = "mnist-5000-degree9-vsv", {"margin": "least sure", "random": "at random"}
    rows = [("No copies", "mnist-5000-degree9-sv")]
    rows += [
        (f"{share} %, {words}", f"mnist-5000-copies-{share}-{by}")
        for share in (10, 25, 50) for by, words in ranked.items()
    ]  # fmt: skip
    rows.append(("All", parent))
    figures = ("error_pct", "size", "svs", "train_s")
    return Table("virtual-copies", "MNIST, the first 5000: which virtual copies matter",
                 ("Errors, %", "Examples, mean", "Support vectors, mean", "Training, s"), rows_of(figures, *rows),
                 tuple((f"mnist-5000-copies-{share}-random", f"mnist-5000-copies-{share}-margin")
                       for share in (10, 25, 50)),
                 "Least sure: y f of the first machine is least.")  # fmt: skip
