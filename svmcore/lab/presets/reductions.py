"""Reduced sets: the preset's machine, the virtual SVs of degree 9, and the machines of Burges and Schölkopf (1997).

`mnist-rs` keeps a tenth of the 87,796 distinct vectors of `mnist-vsv`, shared by the ten machines; the next two a
twentieth and a fiftieth; `mnist-blind-rs` a tenth of 169,093, settled before its test errors were known.
`mnist-rs-degree5` is the paper's: each machine has vectors of its own, a tenth of its virtual SVs, and thresholds from
the training examples as they are. `-118` has a fiftieth, as the abstract says, and `-118-paper` as many by the paper's
own search and with the fewest training errors. `-150` has 150 vectors each.

`mnist-5000-rs-...` take apart what 300 vectors know: begun with the machine's vectors or with random digits, and taught
by labels or by the machine's answers, all to the same deformed digits. `mnist-5000-copies-...`: a part of the virtual
copies, by the margin of the first machine or at random.
"""

from svmcore.lab.methods.reduced import reduction_of
from svmcore.lab.presets import best, first, mnist
from svmcore.lab.presets.layout import PUBLISHED, Cell, Row, Table, table_of

_ALONE = {"reduction": "rho", "shared": False, "sizes": 1}  # each machine by vectors of its own
_FEW = {"reduction": "answers", "n_vectors": 300, "sizes": 1, "epochs": 100}
_PARENT = "mnist-5000-degree9-vsv"
_NAMED = {recipe.name: recipe for recipe in (*first.RECIPES, *mnist.RECIPES, *best.RECIPES)}


def _of(machine: str, name: str, title: str, **options):
    return reduction_of(_NAMED[machine], **options).replace(name=name, title=title)


RECIPES = (
    _of(first.PRESET, "mnist-5k-rs", "MNIST, 5000 digits: a tenth of the vectors"),
    _of("mnist-vsv", "mnist-rs", "MNIST, virtual SVs: a tenth of the vectors", n_vectors=8780, sizes=1),
    _of("mnist-vsv", "mnist-rs-20", "MNIST, virtual SVs: a twentieth of the vectors", n_vectors=4390, sizes=1),
    _of("mnist-vsv", "mnist-rs-50", "MNIST, virtual SVs: a fiftieth of the vectors", n_vectors=1756, sizes=1),
    _of(
        "mnist-blind",
        "mnist-blind-rs",
        "MNIST, chosen blind: a tenth of the vectors",
        n_vectors=16_909,
        sizes=1,
    ),
    *(
        _of(
            "mnist-vsv-degree5",
            f"mnist-rs-degree5{end}",
            f"MNIST, degree 5, virtual SVs: each machine by {words}",
            **how,
        )
        for end, words, how in (
            ("", "a tenth of its own", {"start": "k-means"} | _ALONE),
            ("-150", "150", {"n_vectors": 150} | _ALONE),
            ("-118", "118, a fiftieth of their mean", {"n_vectors": 118} | _ALONE),
            (
                "-118-paper",
                "118, by the paper's search and threshold",
                {"n_vectors": 118} | _ALONE | {"reduction": "one-by-one", "thresholds": "fewest"},
            ),
        )
    ),
    _of(
        "mnist-vsv",
        "mnist-rs-50-random",
        "MNIST: 1756 vectors from random digits, fitted to labels",
        n_vectors=1756,
        sizes=1,
        start="examples",
        reduction="answers",
    ),
    *(
        _of(
            _PARENT,
            f"mnist-5000-rs-{begun}-{taught}",
            f"MNIST, the first 5000: 300 vectors from {words}, fitted to {by}",
            start=start,
            taught=taught,
            **_FEW,
        )
        for begun, start, words in (("own", "auto", "the machine's vectors"), ("random", "examples", "random digits"))
        for taught, by in (("labels", "labels"), ("machine", "the machine's predictions"))
    ),
    *(
        _NAMED[_PARENT].replace(
            name=f"mnist-5000-copies-{100 * share:.0f}-{ranked}",
            title=f"MNIST, the first 5000: {100 * share:.0f} % of the virtual copies, {words}",
            options={"copies": share, "ranked": ranked},
        )
        for share in (0.5, 0.25, 0.1)
        for ranked, words in (("margin", "the least sure"), ("random", "at random"))
    ),
)


# Tables


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
