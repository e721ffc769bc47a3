"""Attack the lab part by part: `python -m tests.bench.soak [--parts NAME ...] [--count N] [--hours H] [--write]`.

Without --count and --hours each part takes minutes. A failure is printed with the command that shows it again. Exit
status: 0 nothing fell, 1 something did.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import inspect
import os
import signal
import sys
import time

from tests.bench import measured
from tests.bench.soak import Budget, scratch

SECONDS = 300.0
PARTS = {  # name -> tries without --count
    "kills": 60,
    "tampered": 100,
    "uploads": 1000,
    "commands": 1000,
    "addresses": 300,
    "names": 100,
    "reports": 100,
    "models": 1000,
    "disks": 100,
    "cancels": 20,
    "readers": 100_000,  # clicks; as many as the seconds allow
    "servers": 30,
    "hours": 100_000,
}


def main(argv=None) -> int:
    options = _parser().parse_args(argv)
    seconds = 3600 * options.hours if options.hours else options.seconds
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # what is temporary goes then too
    found, any_fell = measured.read("soak"), False
    for name in options.parts:
        budget = Budget(options.count or PARTS[name], seconds, options.first)
        print(f"{name}: at most {budget.count:,} tries and {budget.seconds:,.0f} s, seed {options.seed}", flush=True)
        began = time.monotonic()
        with scratch():
            rows = attack(name, budget, options.seed)
        took = round(time.monotonic() - began, 1)
        for row in rows:
            figures = {key: value for key, value in row.items() if key != "failures"}
            print(f"  {figures}", *(f"    FELL {failure}" for failure in row["failures"]), sep="\n", flush=True)
            any_fell |= bool(row["failures"])
        print(f"  {took} s", flush=True)
        found[name] = {"rows": rows, "seconds": took, "seed": options.seed} | beside()
        if options.write:
            measured.write("soak", measured.read("soak") | {name: found[name]})
    return int(any_fell)


def attack(name: str, budget: Budget, seed: int) -> list[dict]:
    """The rows of a part."""
    part = getattr(importlib.import_module(f"tests.bench.soak.{name}"), name)
    return part(budget.count if "count" in inspect.signature(part).parameters else budget, seed)


def beside() -> dict:
    """What figures were measured on, and beside what load."""
    from tests.bench.machine import machine

    return {"machine": machine(), "load": round(os.getloadavg()[0], 1)}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.soak", description=__doc__.split("\n")[0])
    there = [name for name in PARTS if importlib.util.find_spec(f"tests.bench.soak.{name}")]
    parser.add_argument("--parts", nargs="+", choices=there, default=there, metavar="NAME", help=", ".join(there))
    parser.add_argument("--count", type=int, help="tries of each part")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"of each part at most ({SECONDS:.0f})")
    parser.add_argument("--hours", type=float, help="the same in hours")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--first", type=int, default=0, help="number of the first try: to see one failure again")
    parser.add_argument("--write", action="store_true", help="keep the figures in tests/bench/measured")
    return parser


if __name__ == "__main__":
    sys.exit(main())
