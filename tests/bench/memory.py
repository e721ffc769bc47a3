"""Memory said before a run and taken by it: `python -m tests.bench.memory [NAME ...]`, each recipe in a fresh process.

Without names: every recipe whose data set is at hand and that is forecast to end within `--seconds`. A run in which
something was compiled, or another machine was trained first, is done once more: neither is its own. What was measured
stays until it is measured again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from svmcore.lab.forecast.estimate import estimate
from svmcore.lab.recipes import RECIPES
from svmcore.lab.store import runs
from tests.bench import measured
from tests.bench.machine import machine

COMPILING = 0.5  # seconds from which a run is done again
COLUMNS = ("recipe", "said, MB", "taken, MB", "taken / said")


def part(rows: dict, table, measured_on) -> str:
    """The section of the README."""
    if not rows:
        return "Not measured yet."
    known = [(f"`{name}`", rows[name]["said"], rows[name]["taken"]) for name in RECIPES if name in rows]
    return table(COLUMNS, [(*row, f"{row[2] / row[1]:.2f}") for row in known]) + measured_on(rows.values())


def one(name: str) -> dict:
    """A row: what was said of the recipe and what it took, in MB. RuntimeError for one that does not end well."""
    for _ in range(2):
        known = {run.id for run in runs.newest_first()}
        command = [sys.executable, "-m", "svmcore", "run", name, "--json"]
        ended = subprocess.run(command, capture_output=True, text=True)
        if ended.returncode:
            raise RuntimeError(ended.stderr.strip().splitlines()[-1])
        result = json.loads(ended.stdout.splitlines()[-1])
        fresh = [run for run in runs.newest_first() if run.id not in known]
        if result["compile_all_seconds"] < COMPILING and len(fresh) == 1:
            break
    said = runs.get(result["run"]).grant_mb
    return {"said": round(said), "taken": round(result["memory_mb"]), "machine": machine()}


def wanted(seconds: float) -> list[str]:
    """The recipes that can be run within so many seconds, the shortest first."""
    needs = {}
    for name, recipe in RECIPES.items():
        try:
            needs[name] = estimate(recipe).seconds
        except ValueError as error:
            print(f"{name}: {error}", file=sys.stderr)
    return sorted((name for name, need in needs.items() if need <= seconds), key=needs.get)


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.memory", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seconds", type=float, default=60.0, help="the longest forecast that is still run (60)")
    parser.add_argument("--said", action="store_true", help="say anew what is said of all that was measured")
    options = parser.parse_args(argv)
    if options.said:
        rows = measured.read("memory")
        measured.write("memory", {n: row | {"said": round(estimate(RECIPES[n]).memory_mb)} for n, row in rows.items()})
        return 0
    for name in options.names or wanted(options.seconds):
        try:
            row = one(name)
        except RuntimeError as error:
            print(f"{name}: {error}", file=sys.stderr)
            continue
        measured.write("memory", measured.read("memory") | {name: row})
        print(f"{name:32} {row['said']:8,} {row['taken']:8,} {row['taken'] / row['said']:6.2f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
