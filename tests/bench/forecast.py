"""Time and memory, estimated before a run and measured: `python -m tests.bench.forecast [NAME_OR_PATTERN ...]`.

Each recipe runs in a fresh process and in a home of its own without runs, so that its estimate comes from the rule and
not from what was run before. Without names: every recipe that is estimated to end within `--seconds`. A run in which
something was compiled, or another machine was trained first, is done once more: neither is its own. What was measured
stays until it is measured again; `--again` estimates memory anew, without a run, of all that was measured: seconds are
those that were said then, beside its other work.

seconds   from the start of the run to its end, compiling apart; what is below SHORT counts as that
memory    what the process that has just begun takes for it; what is below LITTLE counts as that
others    share of the machine's processors that other processes took meanwhile
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from fnmatch import fnmatch
from pathlib import Path

from data import places
from svmcore.lab.costs import slower
from svmcore.lab.forecast import QUIET, estimate
from svmcore.lab.presets import RECIPES
from svmcore.lab.tasks import task_of
from tests.bench import measured
from tests.bench.machine import machine
from tests.homes import lend_compiled

ROOT = Path(__file__).parents[2]
COMPILING = 0.5  # seconds from which a run is done again
SHORT, LITTLE = 1.0, 150.0  # seconds; MB: the start of a run and what the allocator keeps vary by as much
TWICE, HALF_MORE = 2.0, 1.5  # factors that estimates of seconds and of memory are to keep within
MINUTES = 120.0  # measured seconds up to which memory is to keep within it
COLUMNS = ("recipe", "estimated, s", "measured, s", "measured / estimated", "estimated, MB", "measured, MB",
           "measured / estimated", "processor, s", "other work, %")  # fmt: skip
CODE = """
import json, sys
from svmcore import __main__ as command_line
from svmcore.lab.forecast import estimate
from svmcore.lab.presets import RECIPES
need = estimate(RECIPES[sys.argv[1]])
print(json.dumps([need.seconds, need.memory_mb]))
sys.exit(command_line.main(["run", sys.argv[1], "--json"]))
"""


def part(rows: dict, table, lines, measured_on) -> str:
    """The section of RESULTS.md."""
    if not rows:
        return "Not measured yet."
    known = [cells(name, rows[name]) for name in RECIPES if name in rows]
    rest = {name: row for name, row in rows.items() if row["others_share"] < QUIET}
    kinds = (
        (f"Other work below {100 * QUIET:.0f} %:", rest),
        ("All others:", {n: r for n, r in rows.items() if n not in rest}),
    )
    text = "\n\n".join(lines(head, *summary(of)) for head, of in kinds if of)
    return f"{table(COLUMNS, known)}\n\n{text}{measured_on(rows.values())}"


def cells(name: str, row: dict) -> tuple:
    """A line of the table."""
    seconds, memory = ratios(row)
    return (
        f"`{name}`", f"{row['estimated_s']:.1f}", f"{row['measured_s']:.1f}", f"{seconds:.2f}", row["estimated_mb"],
        row["measured_mb"], f"{memory:.2f}", f"{row['processor_s']:.1f}", f"{100 * row['others_share']:.0f}",
    )  # fmt: skip


def ratios(row: dict) -> tuple[float, float]:
    """Measured over estimated: seconds, memory."""
    return (
        max(row["measured_s"], SHORT) / max(row["estimated_s"], SHORT),
        max(row["measured_mb"], LITTLE) / max(row["estimated_mb"], LITTLE),
    )


def summary(rows: dict) -> list[str]:
    """How many estimates keep within their factors."""
    times = [ratios(row)[0] for row in rows.values()]
    brief = [ratios(row)[1] for row in rows.values() if row["measured_s"] < MINUTES]
    return [
        f"Time is within a factor of {TWICE:g} of its estimate for {_within(times, TWICE)} of {len(times)} recipes.",
        f"Memory is within a factor of {HALF_MORE:g} for {_within(brief, HALF_MORE)} of {len(brief)} that took less "
        f"than {MINUTES:.0f} s.",
        f"Values below {SHORT:g} s or {LITTLE:.0f} MB are raised to it.",
    ]


def _within(found: list[float], factor: float) -> int:
    return sum(1 / factor <= ratio <= factor for ratio in found)


def one(name: str, seconds: float) -> dict:
    """A row: what was estimated for a recipe and what it took. RuntimeError for one that does not end well, or not
    within so many seconds."""
    with tempfile.TemporaryDirectory() as folder:
        home = lend_compiled(Path(folder), places.home() / "numba")
        (home / "downloads").symlink_to(places.home() / "downloads")
        if (verified := places.home() / "verified.json").exists():
            shutil.copy(verified, home)
        need, stored = None, 0
        for _ in range(2):
            found, result = run_apart(name, home, seconds)
            need = need or found  # of a home without runs
            before, stored = stored, len(list((home / "runs").iterdir()))
            if result["compile_all_seconds"] < COMPILING and stored == before + 1:
                break
    return {
        "estimated_s": round(need[0], 2),
        "measured_s": round(result["all_seconds"], 2),
        "estimated_mb": round(need[1]),
        "measured_mb": round(result["memory_mb"]),
        "processor_s": round(result["processor_seconds"], 2),
        "others_share": round(result.get("others_share", 0.0), 3),
        "machine": machine(),
        "slower": list(slower()),
    }


def run_apart(name: str, home: Path, seconds: float) -> tuple[list[float], dict]:
    """The estimate and the result of one run in a process of its own."""
    command = [sys.executable, "-c", CODE, name]
    environment = os.environ | {"SVMLAB_HOME": str(home), "PYTHONPATH": str(ROOT)}
    environment.pop("NUMBA_CACHE_DIR", None)
    try:
        ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired as late:
        raise RuntimeError(f"not done after {seconds:.0f} s") from late
    if ended.returncode:
        raise RuntimeError(ended.stderr.strip().splitlines()[-1])
    first, *_, last = ended.stdout.splitlines()
    need, result = json.loads(first), json.loads(last)
    if isinstance(result, list):
        raise RuntimeError("the command line runs a study of this name")
    return need, result


def wanted(patterns: list[str], seconds: float) -> list[str]:
    """The recipes of these names whose data are available and that are estimated to end within so many seconds, the
    shortest first; of others whose data are missing it says so."""
    needs = {}
    for name, recipe in RECIPES.items():
        if patterns and not any(fnmatch(name, pattern) for pattern in patterns):
            continue
        try:
            if not task_of(recipe).at_hand(recipe):
                raise ValueError(f"the dataset {recipe.dataset} is not available; fetch it on the page Datasets")
            needs[name] = estimate(recipe).seconds
        except ValueError as error:
            print(f"{name} is skipped: {error}", file=sys.stderr)
    return sorted((name for name, need in needs.items() if need <= seconds), key=needs.get)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.forecast", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME_OR_PATTERN", help="recipes, such as moons or 'usps-*' (all)")
    parser.add_argument("--seconds", type=float, default=600.0, help="the longest estimate that is still run (600)")
    parser.add_argument("--limit", type=float, default=1800.0, help="seconds after which a run is ended (1800)")
    parser.add_argument("--missing", action="store_true", help="only recipes that were not measured yet")
    parser.add_argument("--again", action="store_true", help="estimate memory anew of all that was measured")
    options = parser.parse_args(argv)
    rows = measured.read("forecast")
    names = list(rows) if options.again else wanted(options.names, options.seconds)
    if options.missing:
        names = [name for name in names if name not in rows]
    print(" ".join(f"{head:>{width}}" for head, width in zip(COLUMNS, WIDTHS, strict=True)))
    done = {}
    for name in names:
        try:
            row = _estimated_again(rows[name], name) if options.again else one(name, options.limit)
        except (RuntimeError, ValueError) as error:
            print(f"{name} is skipped: {error}", file=sys.stderr, flush=True)
            continue
        done[name] = row
        measured.write("forecast", measured.read("forecast") | {name: row})
        shown = zip(cells(name, row), WIDTHS, strict=True)
        print(" ".join(f"{cell!s:>{width}}" for cell, width in shown), flush=True)
    print("\n".join(summary(done)))
    return 0


WIDTHS = (38, *(max(9, len(head)) for head in COLUMNS[1:]))


def _estimated_again(row: dict, name: str) -> dict:
    return row | {"estimated_mb": round(estimate(RECIPES[name]).memory_mb)}


if __name__ == "__main__":
    sys.exit(main())
