"""Tables of the machines on USPS (DeCoste and Schölkopf, 2002, Tables 1 and 2)."""

from svmcore.lab.presets.layout import ERRORS_SVS, PUBLISHED, Cell, Row, Table, rivals_of, table_of

KERNELS = ("poly", "rbf", "sigmoid")  # trained on each other's support vectors


def tables() -> tuple[Table, ...]:
    """In the order of the paper."""
    other, table2 = PUBLISHED["usps_other"], PUBLISHED["usps_table2_pct"]
    local = table2["virtual SVM, local kernel"]
    base = ("Support vectors", "usps-sv", table2["SVM"])
    shifted = ("Virtual SVs, shifts", "usps-vsv", table2["virtual SVM"])
    return (
        _table1(),
        _errors(
            "usps-vsv-rotation",
            "USPS: virtual SVs by rotation",
            base,
            ("Virtual SVs, rotated", "usps-vsv-turned", other["vsv_by_rotation_pct"]),
        ),
        _errors(
            "usps-vsv-thickness",
            "USPS: virtual SVs by line thickness",
            base,
            ("Virtual SVs, contours moved along the gradient", "usps-vsv-contour", other["vsv_by_line_thickness_pct"]),
            ("Virtual SVs, thicker and thinner by morphology", "usps-vsv-thick"),
        ),
        _errors(
            "usps-local",
            "USPS: the local kernel",
            shifted,
            ("Local kernel", "usps-sv-local"),
            ("Local kernel, virtual SVs", "usps-vsv-local", local),
        ),
        rivals_of(
            "usps-table2",
            "Table 2: USPS, all methods",
            table2,
            {"SVM": "usps-sv", "virtual SVM": "usps-vsv", "virtual SVM, local kernel": "usps-vsv-local"},
            {
                "nearest neighbour (USPS+)": "usps-nearest",
                "tangent distance (USPS+)": "usps-tangent",
                "linear hyperplane on KPCA features": "usps-kernel-pca",
            },
        ),
        _transfer(),
    )


def _table1() -> Table:
    paper = PUBLISHED["usps_table1"]
    columns = (paper[figure] for figure in ("size", "mean_svs", "test_error_pct"))
    known = dict(zip(paper["rows"], zip(*columns, strict=True), strict=True))
    return table_of(
        "usps-table1",
        "Table 1: USPS, degree 3, four shifts by a pixel",
        {"size": "Examples", "svs": "Support vectors, mean", "error_pct": "Errors, %"},
        ("All training examples", "usps-sv", *known["sv"]),
        ("The support vectors alone", "usps-set", *known["set"]),
        ("Virtual SVs of the union", "usps-vsv", *known["vsv"]),
        ("All examples shifted", "usps-virtual-all", *known["all"]),
        ("Virtual SVs of each machine's own", "usps-vsv-own"),
        ("Gaussian: all training examples", "usps-rbf-sv"),
        ("Gaussian: the support vectors alone", "usps-rbf-set"),
        ("Gaussian: virtual SVs of the union", "usps-rbf-vsv"),
        ("Gaussian: all examples shifted", "usps-rbf-virtual-all"),
        tests=(("usps-sv", "usps-vsv"), ("usps-vsv", "usps-virtual-all"), ("usps-rbf-sv", "usps-rbf-vsv")),
        note="Digits are smoothed, of unit norm, with K = (u·v)³. Of several choices, this came nearest to the paper.",
    )


def _errors(name: str, title: str, *lines) -> Table:
    tests = tuple((lines[0][1], line[1]) for line in lines[1:])
    return table_of(name, title, ERRORS_SVS, *lines, tests=tests)


def _transfer() -> Table:
    rows = []
    for own in KERNELS:
        whole = "usps-sv" if own == "poly" else f"usps-all-{own}"
        names = [whole, *(f"usps-{own}-on-{other}" for other in KERNELS)]
        rows.append(Row(own, tuple(Cell(name, "error_pct") for name in names)))
    columns = ("On all examples, %", *(f"On the SVs of {other}, %" for other in KERNELS))
    return Table("sv-transfer", "USPS: machines trained on each other's support vectors", columns, tuple(rows))
