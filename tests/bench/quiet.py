"""Seconds that a claim rests on, of an idle computer: `python -m tests.bench.quiet NAME [NAME ...] [--times 3]`.

The recipes run in turn, several rounds, each in a fresh process whose compiled code is stored. Recipes that are
compared are named in one command, so that they are measured in one go.

train_seconds, test_seconds    of every round; training leaves compiling out
rival_seconds                  likewise, where a run has rivals: of each, in their order
others_share                   likewise: share of the processors that other processes took meanwhile
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from datetime import date
from pathlib import Path

from data import places
from svmcore.lab.meter import training_seconds
from svmcore.lab.presets import RECIPES
from tests.bench import measured
from tests.bench.forecast import run_apart
from tests.bench.machine import machine
from tests.homes import lend_compiled

LIMIT = 1800.0  # seconds after which a run is ended


def rounds(names: list[str], times: int) -> dict[str, dict]:
    """Recipe -> its row. RuntimeError for a run that does not end well."""
    found = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as folder:
        home = lend_compiled(Path(folder), places.home() / "numba")
        (home / "downloads").symlink_to(places.home() / "downloads")
        for _ in range(times):
            for name in names:
                found[name].append(run_apart(name, home, LIMIT)[1])
    return {name: _row(results) for name, results in found.items()}


def _row(results: list[dict]) -> dict:
    rivals = [[round(seconds, 3) for seconds in result.get("rival_seconds", ())] for result in results]
    return {
        "train_seconds": [round(training_seconds(result), 2) for result in results],
        "test_seconds": [round(result["predict_seconds"], 2) for result in results],
        **({"rival_seconds": rivals} if any(rivals) else {}),
        "others_share": [round(result.get("others_share", 0.0), 3) for result in results],
        "date": date.today().isoformat(),
        "machine": machine(),
    }


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.quiet", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", metavar="NAME", choices=RECIPES)
    parser.add_argument("--times", type=int, default=3, help="rounds (3)")
    options = parser.parse_args(argv)
    found = rounds(options.names, options.times)
    measured.write("quiet", measured.read("quiet") | found)
    print("\n".join(f"{name}: {json.dumps(row)}" for name, row in found.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
