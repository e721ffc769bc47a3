"""Training time beside other libraries, as RESULTS.md shows it: the picture, a table, what follows from it."""

from __future__ import annotations

from tests.bench import ratio
from tests.bench.problems import LIBLINEAR, LIBSVM, ONEDAL, PROBLEMS, SGD, THUNDER

COLUMNS = ("problem", "examples", "scikit-learn, s", "intelex, s", "ours, s", "ours / intelex", "intelex predicts, s",
           "ours predicts, s", "intelex, MB", "ours, MB", "intelex, gap", "ours, gap")  # fmt: skip
PLANES = {LIBLINEAR: "LIBLINEAR", SGD: "SGD"}
TOL = 1e-3  # asked of every candidate
ALT = (
    "![Seconds of a fit, ours over those of scikit-learn-intelex, by the number of examples, one line a kind of data;\n"
    "below the line at 1 ours is faster](measured/peers.svg)"
)


def part(rows: dict, table, lines, measured_on) -> str:
    """Picture, a row for the largest size of each problem, and sentences on all sizes."""
    if not rows:
        return "Not measured yet."
    text = lines(*beside(rows), *floor(rows), *thunder(rows), *planes(rows))
    return f"{ALT}\n\n{table(COLUMNS, map(cells, largest(rows)))}\n\n{text}{measured_on(rows.values())}"


def largest(rows: dict) -> list[dict]:
    """Of problems with the same title the one with most examples."""
    chosen: dict[str, dict] = {}
    for name, row in rows.items():
        title = PROBLEMS[name].title
        if title not in chosen or row["n"] > chosen[title]["n"]:
            chosen[title] = row
    return list(chosen.values())


def cells(row: dict) -> tuple:
    def of(name: str, form: str):
        return (
            f"{row['candidates'][who][name]:{form}}" if who in row["candidates"] else "" for who in (ONEDAL, "ours")
        )

    fits = (short(row["candidates"][who]["seconds"]) if who in row["candidates"] else row["failed"].get(who, "")
            for who in (LIBSVM, ONEDAL, "ours"))  # fmt: skip
    decides = (text and short(float(text)) for text in of("predict_seconds", ""))
    beside = f"{ratio.of(row):.2f}" if ratio.of(row) else ""
    problem = PROBLEMS[row["problem"]]
    growth = ("", "") if problem.small else of("growth_mb", ".0f")  # a process that has solved others says little
    return problem.title, row["n"], *fits, beside, *decides, *growth, *of("gap", ".1e")


def beside(rows: dict) -> list[str]:
    """Ratios to scikit-learn-intelex over all sizes, gaps, and how far apart objectives are where gaps are small."""
    both = [row for row in rows.values() if ratio.of(row)]
    if not both:
        return []
    ratios, sizes = [ratio.of(row) for row in both], [row["n"] for row in both]
    pairs = [[row["candidates"][who] for who in ("ours", ONEDAL)] for row in both]
    ours, theirs = ([pair[i]["gap"] for pair in pairs] for i in (0, 1))
    apart = [abs(a["dual"] / b["dual"] - 1) for a, b in pairs if max(a["gap"], b["gap"]) < 2 * TOL]
    return [
        f"Over all {len(both)} problems, {min(sizes)} to {max(sizes)} examples, a fit takes {min(ratios):.2f} to "
        f"{max(ratios):.2f} times the seconds of scikit-learn-intelex, more than 1 in {sum(r > 1 for r in ratios)}.",
        f"The largest gap left is {max(ours):.1e}, intelex's {max(theirs):.1e}, where {TOL:g} was asked for; where "
        f"both are below twice that, dual objectives differ by at most {max(apart, default=0):.0e} of their value.",
    ]


def floor(rows: dict) -> list[str]:
    """Ten digits beside the bare products of every support vector with every example."""
    ours = rows.get("digits-60000", {"candidates": {}})["candidates"].get("ours")
    if not ours:
        return []
    times = ours["seconds"] / ours["floor_seconds"]
    return [f"{PROBLEMS['digits-60000'].n} digits of ten classes take {times:.1f} times the bare products of every "
            "support vector with every example, by the faster of sgemm and ours."]  # fmt: skip


def thunder(rows: dict) -> list[str]:
    """ThunderSVM, which has no column: beside scikit-learn-intelex."""
    both = [row["candidates"] for row in rows.values() if {THUNDER, ONEDAL} <= row["candidates"].keys()]
    if not both:
        return []
    ratios = [found[THUNDER]["seconds"] / found[ONEDAL]["seconds"] for found in both]
    return [f"ThunderSVM on processors takes {min(ratios):.0f} to {max(ratios):.0f} times as long as "
            f"scikit-learn-intelex on {len(both)} of the smaller ones."]  # fmt: skip


def planes(rows: dict) -> list[str]:
    """Linear kernels: seconds of LIBLINEAR and SGD, and their primal objective beside our dual objective."""
    found = []
    for row in rows.values():
        fits, title = row["candidates"], PROBLEMS[row["problem"]].title
        others = [f"{name} {_plane(fits[who], fits)}" for who, name in PLANES.items() if who in fits]
        if others and "ours" in fits:
            found.append(f"{title}: {' and '.join(others)}, ours {_plane(fits['ours'], fits)}")
    if not found:
        return []
    return [
        f"Seconds for linear kernels, and how far the primal objective lies above our dual: {'; '.join(found)}.",
        "LIBLINEAR penalises the bias as well and so solves a slightly different problem.",
    ]


def _plane(fit: dict, fits: dict) -> str:
    return f"{short(fit['seconds'])} s ({100 * (fit['primal'] / fits['ours']['dual'] - 1):.2g} %)"


def short(seconds: float) -> str:
    """Seconds with two or three digits that count."""
    return f"{seconds:.2g}" if seconds < 1 else f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}"
