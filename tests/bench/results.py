"""The figures of RESULTS.md and of the README, printed from measured/: `python -m tests.bench.results [--write]`.

--write               put them into both files, each part between its two marks, and draw the picture of ratios
--runs [NAME ...]     first take the figures of these recipes, or of all already shown, from the stored runs
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path
from textwrap import fill

import numpy as np

from svmcore.lab.papers import TABLES
from svmcore.lab.presets import RECIPES
from svmcore.metrics import wilson
from tests.bench import asking, crossing, curves, digestion, forecast, headline, measured, ratio, reductions, times
from tests.bench.soak import told

README, RESULTS = Path(__file__).parents[2] / "README.md", Path(__file__).with_name("RESULTS.md")
MARKS = "<!-- {}: printed by python -m tests.bench.results -->", "<!-- end of {} -->"
BESIDE = TABLES["features"]
COUNTS = (10, 25, 50, 100, 200)  # false alarms over all pictures together
RIVALS = ("matched filter", "Gaussian")
PAGE_ALONE = re.compile(  # recipes whose figures the Paper page quotes and no table here repeats
    r"digest-|osuna-|xtrain-|3v8-(product|j\d|5x5-pixels)|mnist-(8-c10|rs|5000-(sv|vsv|virtual|linear|copies|rs))|"
    r"usps-(rbf|poly|sigmoid|all|sv-local|vsv-contour)|volcano-A-(weight|larger|virtual)"
)


def parts(path: Path) -> dict[str, str]:
    """What stands between the marks of README or RESULTS, by name."""
    if path == README:
        return {"figures": headline.part(table, published)}
    return {
        "errors": errors(measured.read("runs")),
        "features": features(measured.read("runs")),
        "detection": detection(measured.read("runs")),
        "reductions": reductions.part(measured.read("reductions"), table, measured_on),
        "crossing": crossing.part(measured.read("crossing"), table, measured_on),
        "asking": asking.part(measured.read("asking"), table, measured_on),
        "digestion": of_digestion(measured.read("digestion")),
        "forecast": forecast.part(measured.read("forecast"), table, lines, measured_on),
        "peers": times.part(measured.read("peers"), table, lines, measured_on),
        "curves": curves.part(measured.read("curves"), measured_on),
        "clicks": clicks(measured.read("clicks")),
        "clicks_detect": clicks_detect(measured.read("clicks_detect")),
        "clicks_why": clicks_why(measured.read("clicks_why")),
        "soak": told.part(measured.read("soak"), table, measured_on),
    }


def rewritten(path: Path) -> str:
    """README or RESULTS with each part in its place. ValueError where its marks are missing."""
    text = path.read_text(encoding="utf-8")
    for name, part in parts(path).items():
        first, last = (mark.format(name) for mark in MARKS)
        if first not in text or last not in text.partition(first)[2]:
            raise ValueError(f"{path.name} lacks the marks {first} and {last}")
        before, _, rest = text.partition(first)
        text = f"{before}{first}\n\n{part}\n\n{last}{rest.partition(last)[2]}"
    return text


def errors(runs: dict) -> str:
    """One row a recipe: what its run got wrong beside what was published, its machines, and what it took."""
    runs = {name: run for name, run in runs.items() if "errors" in run and not PAGE_ALONE.match(name)}
    rows, runs = [], {name: run for name, run in runs.items() if name not in BESIDE.recipes or published(name)}
    for name, run in runs.items():
        rate = rate_of(run)
        svs, seconds = f"{np.mean(run['n_sv']):.0f}", (run["train_seconds"], run["test_seconds"])
        rows.append((RECIPES[name].title, f"`{name}`", run["errors"], rate, published(name), svs, *map(short, seconds),
                     run["peak_mb"]))  # fmt: skip
    columns = ("experiment", "recipe", "errors", "% (95 %)", "published", "SVs a machine", "training, s", "testing, s",
               "memory, MB")  # fmt: skip
    return table(columns, rows) + measured_on(runs.values())


def rate_of(run: dict) -> str:
    """The share of wrong test examples and its interval, in per cent."""
    low, high = wilson(run["errors"], run["n_test"])
    return f"{100 * run['errors'] / run['n_test']:.2f} ({100 * low:.2f}-{100 * high:.2f})"


def features(runs: dict) -> str:
    """Pixels beside gradient features: the rows of the Paper page's table."""
    rows, known = [], {name: runs[name] for name in BESIDE.recipes if name in runs}
    for row in BESIDE.rows:
        if run := known.get(name := row.cells[0].recipe):
            seconds = map(short, (run["train_seconds"], run["test_seconds"]))
            rows.append((row.label, f"`{name}`", run["errors"], rate_of(run), run["n_union"], *seconds, run["peak_mb"]))
    columns = ("features", "recipe", "errors", "% (95 %)", "distinct SVs", "training, s", "testing, s", "memory, MB")
    return table(columns, rows) + measured_on(known.values()) if rows else "Not measured yet."


def detection(runs: dict) -> str:
    """One row a machine: the share of the objects found at so many false alarms over all pictures, the mean rate that
    detection challenges report, the machine's own operating point, and what training took."""
    rows, runs = [], {name: run for name, run in runs.items() if "machines" in run and not PAGE_ALONE.match(name)}
    if not runs:
        return "Not measured yet."
    for name, run in runs.items():
        for machine, found in run["machines"].items():
            own = machine == "machine"
            rates = [f"{found['rates'][str(count)]:.2f}" for count in COUNTS]
            low, high = found["interval"]
            score = f"{found['score']:.3f} ({low:.2f}-{high:.2f})"
            seconds = run["train_seconds"] if own else dict(zip(RIVALS, run["rival_seconds"], strict=True))[machine]
            offset = f"{run['offset']['found']} with {run['offset']['alarms']}" if own else ""
            what = f"{RECIPES[name].title} | `{name}`" if own else f"{machine} |"
            rows.append((what, *rates, score, offset, run["n_test"] if own else "", short(seconds)))
    columns = ("experiment | recipe", *map(str, COUNTS), "mean rate (95 %)", "at offset 0", "objects", "training, s")
    return table(columns, rows).replace("| --- |", "| --- | --- |", 1) + measured_on(runs.values())


def published(name: str) -> str:
    """The paper's errors for a recipe: their number where it is given, else the rate; "" for neither."""
    cells = [cell for t in TABLES.values() for row in t.rows for cell in row.cells if cell and cell.recipe == name]
    for figure, unit in (("errors", ""), ("error_pct", " %")):
        for cell in cells:
            if cell.figure == figure and cell.published is not None:
                return f"{cell.published}{unit}"
    return ""


def of_digestion(bench: dict) -> str:
    """The bench's own table, and what it says in a sentence."""
    if not bench:
        return "Not measured yet."
    off = {row["rows"]: row["kernel_values"] for row in bench["rows"] if row["rules"] == "off"}

    def saved(rules):
        times = [off[row["rows"]] / row["kernel_values"] for row in bench["rows"] if row["rules"] == rules]
        return ", ".join(f"{factor:.2f}" for factor in times)

    row = bench["rows"][0]
    text = (
        f"On {row['n']} virtual examples of digit {bench['digit']}, {row['n_sv']} of them support vectors, and with a "
        "cache for a third of these, a half and all, the solver without digestion needs "
        f"{saved('published')} times the kernel evaluations of the published rules, and {saved('adapted')} times "
        "those of rules chosen there."
    )
    return f"{lines(text)}\n\n{table(digestion.COLUMNS, digestion.cells(bench['rows']))}{measured_on([bench])}"


def clicks(bench: dict) -> str:
    """How soon the next page stands: in a fresh process, at rest, while the app trains."""
    if not bench:
        return "Not measured yet."
    whens = ("first visits", "at rest", "while it trains")
    first, rest, work = ([of_click(bench[when][part]) for part in ("heading", "whole page")] for when in whens)
    text = (
        f"{bench['at rest']['clicks']} clicks through all pages, median (95th percentile). With nothing else "
        f"running, the heading of the next page appears after {rest[0]} and the whole page after {rest[1]}. While "
        f"`{bench['query']}` trains and a second browser watches it, on the same cores: {work[0]} and {work[1]}. "
        f"On the first visits to a new process: {first[0]} and {first[1]}. A cancelled run is shown as cancelled after "
        f"{bench['cancelled']:.1f} s. The load before, by other work, was {bench['load']}."
    )
    return f"{lines(text)}{measured_on([bench])}"


def of_click(figures: dict) -> str:
    """Median and 95th percentile in seconds."""
    return f"{figures['median']:.2f} s ({figures['of 95 %']:.2f} s)"


def clicks_detect(bench: dict) -> str:
    """How soon the Detect page redraws its picture, and answers while a run is at work."""
    if not bench:
        return "Not measured yet."
    redrawn = "; ".join(
        f"`{name}` {span(of['key'])} by the arrow key, {span(of['curve'])} by a click on the curve"
        for name, of in bench["redraws"].items()
    )
    idle, at_work = bench["answers, idle"]["all"], bench["answers"]["all"]
    text = (
        f"Moving the operating point redraws the picture in, median (longest): {redrawn}. A click on *Detect* or "
        f"another page is answered after {span(idle)}, and while `volcano-B` trains and a second browser watches it, "
        f"on the same cores, after {span(at_work)}. "
        f"The load before, by other work, was {bench['load']}."
    )
    return f"{lines(text)}{measured_on([bench])}"


def clicks_why(bench: dict) -> str:
    """How soon the view of one example answers."""
    if not bench:
        return "Not measured yet."
    kinds = {name: figures for name, figures in bench.items() if isinstance(figures, dict) and "median" in figures}
    asked = "; ".join(f"{name} {of_click(figures)}" for name, figures in kinds.items())
    text = (
        f"*Why*, over the errors of `{bench['run']}`, answers a click after, median of {bench['clicks']} (95th "
        f"percentile): {asked}. The load before, by other work, was {bench['load']}."
    )
    return f"{lines(text)}{measured_on([bench])}"


def span(figures: dict) -> str:
    """Median and longest seconds."""
    return f"{figures['median']:.2f} s ({figures['max']:.2f} s)"


def measured_on(entries) -> str:
    """The machines that entries were measured on, as a last line."""
    return "\n\nMeasured on " + "; ".join(sorted({entry["machine"] for entry in entries})) + "."


def table(columns, rows) -> str:
    """A table in Markdown."""
    whole = [columns, ["---"] * len(columns), *rows]
    return "\n".join("|" + "".join(f" {cell} |" if cell != "" else " |" for cell in row) for row in whole)


def lines(*sentences) -> str:
    """Sentences in lines of the page's width."""
    return fill(" ".join(sentences), 120, break_on_hyphens=False)


def short(seconds: float) -> str:
    """Seconds with two or three digits that count."""
    return f"{seconds:.2f}" if seconds < 10 else f"{seconds:.1f}" if seconds < 100 else f"{seconds:.0f}"


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.results", description=__doc__.split("\n")[0])
    parser.add_argument("--write", action="store_true", help="rewrite the two files instead of printing")
    parser.add_argument("--runs", nargs="*", metavar="NAME", help="take figures from the stored runs")
    options = parser.parse_args(argv)
    if options.runs is not None and (missing := measured.take_runs(options.runs)):
        print(f"no stored run of {', '.join(missing)}: `python -m svmcore run NAME` first", file=sys.stderr)
    if options.write:
        ratio.PATH.write_text(ratio.picture(measured.read("peers")), encoding="utf-8")
        if found := measured.read("curves"):
            curves.PATH.write_text(curves.picture(found), encoding="utf-8")
        for path in (README, RESULTS):
            path.write_text(rewritten(path), encoding="utf-8")
    else:
        print("\n\n".join(part for path in (README, RESULTS) for part in parts(path).values()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
