"""Tables of DeCoste and Schölkopf (2002) and of Burges and Schölkopf (1997) on USPS and MNIST that are more than rows
of recipes.

HURT: 200 digits of each of the 45 pairs, virtual SVs by jitters of every kind and strength (section 6).
"""

from itertools import combinations, pairwise

from data import catalogue
from svmcore.lab.presets.layout import PUBLISHED, Cell, Row, Table, rivals_of, table_of
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.reading import Group

HURTS = (
    "none", "box:1", "box:2", "box:4", "rot:-10,10", "rot:-30,30", "rot:-90,90", "scale:0.9,1.1", "scale:0.7,1.4",
    "shear:-0.6,0.6", "thick:0.5", "flip:h", "box:1*rot:-10,10", "box:1*thick:0.5", "rot:-10,10*scale:0.9,1.1",
)  # fmt: skip
_HURT = Recipe(dataset="mnist-5k", n_train=200, n_test=800, folds=5, method="vsv")
HURT: dict[tuple[int, int], dict[str, Recipe]] = {
    pair: {
        text: _HURT.replace(
            classes=pair, jitters=text, title=f"{pair[0]} against {pair[1]}, 200 digits, jitters {text}"
        )
        for text in HURTS
    }
    for pair in combinations(range(10), 2)
}
HURT_GROUP = Group("hurt", "When does invariance hurt? 45 pairs of digits")
KERNELS = {"poly": "polynomial", "rbf": "Gaussian", "sigmoid": "sigmoid"}  # trained on each other's support vectors
TWO_PIXELS = "virtual SVM, 2-pixel translation"


def tables() -> tuple[Table, ...]:
    """In the order of the papers."""
    upright = "sv", "vsv", "vsv2"
    as_described = "Tables 7-9: MNIST, deslanted as the paper describes"
    return (
        _table2(),
        _transfer(),
        _table3(),
        _per_digit("mnist-table4-6", "Tables 4-6: MNIST, 3x3 shifts", "mnist", ("sv", "vsv"), (4, 5, 6)),
        _per_digit("mnist-table7-9", "Tables 7-9: MNIST, deslanted", "mnist-deslant", upright, (7, 8, 9)),
        _per_digit("mnist-table7-9-pixels", as_described, "mnist-pixels", upright, (7, 8, 9)),
        _cost(),
        _burges(),
        _thresholds(),
    )


def _table2() -> Table:
    ours = {"SVM": "usps-sv", "virtual SVM": "usps-vsv", "virtual SVM, local kernel": "usps-vsv-local"}
    rivals = {"nearest neighbour (USPS+)": "usps-nearest", "tangent distance (USPS+)": "usps-tangent",
              "linear hyperplane on KPCA features": "usps-kernel-pca"}  # fmt: skip
    return rivals_of("usps-table2", "Table 2: USPS, all methods", PUBLISHED["usps_table2_pct"], ours, rivals)


def _transfer() -> Table:
    rows = []
    for own in KERNELS:
        whole = "usps-sv" if own == "poly" else f"usps-all-{own}"
        names = [whole, *(f"usps-{own}-on-{other}" for other in KERNELS)]
        rows.append(Row(f"{KERNELS[own].capitalize()} machines", tuple(Cell(name, "error_pct") for name in names)))
    seen = ("All examples", *(f"SVs of {other}" for other in KERNELS.values()))
    columns = tuple(f"{what}: errors, %" for what in seen)
    return Table("sv-transfer", "USPS: machines trained on each other's support vectors", columns, tuple(rows))


def _table3() -> Table:
    """The errors on 10,000 test digits, and on all 60,000 where those are at hand."""
    there, known = catalogue.entry("qmnist").at_hand, PUBLISHED["mnist_table3_60k_pct"]
    ours = {"SVM": "mnist-sv-degree5", "virtual SVM": "mnist-vsv-degree5-9", TWO_PIXELS: "mnist-deslant-vsv2"}
    large = {"SVM": "qmnist-sv-degree5", "virtual SVM": "qmnist-vsv-degree5-9", TWO_PIXELS: "qmnist-deslant-vsv2"}
    rivals = {"3-nearest-neighbour": "mnist-nearest", "2-layer MLP": "mnist-mlp", "tangent distance": "mnist-tangent"}
    table = rivals_of("mnist-table3", "Table 3: MNIST, all methods", PUBLISHED["mnist_table3_pct"], ours, rivals)

    def of_all(label: str) -> Cell | None:
        recipe = large.get(label) if there else None
        return Cell(recipe, "error_pct", known.get(label)) if recipe or label in known else None

    rows = tuple(Row(row.label, (*row.cells, of_all(row.label))) for row in table.rows)
    note = "The second column uses the whole test set. The 10,000 digits of the first column are a subset of it."
    how = "The 60,000 digits come from QMNIST (Yadav and Bottou 2019). Download it on *Datasets* and restart the app."
    note = " ".join([table.note, note, *([] if there else [how])])
    return table._replace(columns=("10,000 digits, %", "60,000 digits, %"), rows=rows, note=note)


def _per_digit(name: str, title: str, prefix: str, kinds: tuple[str, ...], numbers: tuple[int, int, int]) -> Table:
    """Errors, misses and false alarms, and SV counts of each digit, by machines of these kinds; prefix: of their
    recipes; numbers: of the paper's three tables. Deslanted machines are tested against upright ones, too."""
    errors, binary, svs = (PUBLISHED[f"mnist_table{number}"] for number in numbers)
    sources = (("errors", errors, "{}"), ("fn", binary, "{}_fn"), ("fp", binary, "{}_fp"), ("svs", svs, "{}"),
               ("bound", svs, "{}_bound"))  # fmt: skip
    words = {"errors": "errors", "fn": "misses", "fp": "false alarms", "svs": "SVs", "bound": "bounded SVs"}
    machines = {"sv": "Plain", "vsv": "9 jitters", "vsv2": "13 jitters"}
    columns, recipes = {}, [f"{prefix}-{kind}" for kind in kinds]
    for figure, known, key in sources:
        for machine, recipe in zip(kinds, recipes, strict=True):
            published = known[key.format(machine)]
            cells = [Cell(recipe, f"{figure}:{digit}", published[digit]) for digit in range(10)]
            whole = Cell(recipe, figure, sum(published)) if figure == "errors" else None
            columns[f"{machines[machine]}: {words[figure]}"] = [*cells, whole]
    names = [*(f"Digit {digit}" for digit in range(10)), "All digits"]
    rows = tuple(map(Row, names, zip(*columns.values(), strict=True)))
    as_given = [(f"mnist-{kind}", f"{prefix}-{kind}") for kind in ("sv", "vsv") if prefix != "mnist"]
    return Table(name, title, tuple(columns), rows, (*pairwise(recipes), *as_given))


def _cost() -> Table:
    """What training took, beside DeCoste and Schölkopf (2002), section 5.1.1: whole hours on a Sun Ultra60."""
    hours = PUBLISHED["mnist_hours"]
    figures = {"values": "Kernel evaluations, billions", "mults": "Million multiply-adds",
               "take_s": "Classifying 10,000 digits, s", "train_s": "Training, s"}  # fmt: skip
    known = (
        ("Ten machines", "mnist-sv", None),
        ("Ten machines with virtual SVs", "mnist-vsv", hours["ten_digits_both_stages"]),
        ("Only the machine of digit 8", "mnist-8-vs-rest", hours["digit_8_platt"]),
    )
    rows = ((label, name, None, None, None, h and 3600 * h) for label, name, h in known)
    note = (
        "Published training times, on a Sun Ultra60: about 50 hours for all ten machines with virtual SVs, in both "
        "stages, and 8 hours for the machine of digit 8 by Platt's SMO."
    )
    return table_of("mnist-cost", "MNIST: cost of training and of classifying", figures, *rows, note=note)


def _burges() -> Table:
    """The three tables of Burges and Schölkopf (1997) as one: errors of each machine alone, thresholds, vectors."""
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
        row("Ten digits, errors in %", "alone", "error_pct", errors_pct),
        row("Ten digits, errors", "alone", "errors", {}),
        row("Million multiply-adds", "svs", "mults", {}),
    ]  # fmt: skip
    columns = ("SV errors", "VSV errors", "RS errors, VSV threshold", "RS errors, training threshold",
               "RS errors, best on test set", "SVs", "VSVs", "RSVs", "rho falls by the factor")  # fmt: skip
    note = (
        "SV: the plain machine; VSV: the machine with virtual SVs; RS: its reduced set, with the vectors RSVs. The RS "
        "has the threshold of the VSV, one chosen on training examples, or the best one on the test set, which gives a "
        "lower bound of the errors. The errors of each digit's machine are counted for this machine alone."
    )
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
    note = (
        "The threshold is b in f(x) = sum + b. VSV is the machine with virtual SVs before the reduction. The errors of "
        "each digit's machine are counted for this machine alone. The last column is a lower bound of the errors."
    )
    return Table("burges-thresholds", "Burges and Schölkopf (1997), Table 2: thresholds of the reduced machines",
                 columns, tuple(rows), (), note)  # fmt: skip
