"""Whether what the lab says is true: `python -m tests.bench.truth --problems 500 --seed 0 [--kinds rows,columns]`.

Random problems by kind, 500 of the fits (fits.py) and 500 of what is stated otherwise:

    virtual     the gap of a virtual SV machine, recomputed from its file
    offsets     a table whose columns lie far from 0, beside scikit-learn in double precision
    replaced    every lookup of runs after a dataset was replaced under its name
    seeds       every option that draws at random, with the same seed twice and with another

For each kind: problems of which the product said that they converged, how many of all are untrue (a KKT gap above tol
by a slow sum in float64, or another statement that does not hold), fits that ended above tol and whether they said why,
those that the time limit ended, and the dual objective and accuracy beside scikit-learn's.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

from tests.bench.truth import GROUPS, KINDS, LIMIT, Outcome, outcomes

WORSE = 1e-3  # relative loss of dual objective, and of accuracy, that counts as worse
COLUMNS = "kind", "problems", "converged", "untrue", "above tol", "without words", "over time", "worse", "p95, s"


def line(kind: str, found: list[Outcome]) -> tuple:
    ended = [one for one in found if not one.converged]
    stopped = [one for one in ended if one.ending == "stopped"]
    beside = [one.worse for one in found if one.worse is not None]
    worse = f"{sum(w > WORSE for w in beside)} of {len(beside)} ({max(beside, default=0.0):.1g})"
    sizes = len(found), len(found) - len(ended), sum(one.untrue for one in found), len(ended) - len(stopped)
    silent = sum(not one.ending for one in ended)
    return kind, *sizes, silent, len(stopped), worse, f"{np.quantile([one.seconds for one in found], 0.95):.2f}"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.truth", description=__doc__.splitlines()[0])
    parser.add_argument("--problems", type=int, default=500, help="of the fits, and as many of the other kinds")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--kinds", default=",".join(KINDS), help="; ".join(f"{k}: {v.__doc__}" for k, v in KINDS.items())
    )
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a fit")
    parser.add_argument("--told", action="store_true", help="print each problem that is untrue, worse, or over time")
    asked = parser.parse_args(arguments)
    kinds = asked.kinds.split(",")
    if unknown := set(kinds) - set(KINDS):
        parser.error(f"--kinds: {', '.join(sorted(unknown))}; allowed: {', '.join(KINDS)}")
    every = []
    print(" | ".join(COLUMNS))
    for kind in kinds:
        together = next(group for group in GROUPS if kind in group)
        found, count = [], -(-asked.problems // sum(one in together for one in kinds))
        for at, one in outcomes(kind, count, asked.seed, asked.limit):
            found.append(one)
            if asked.told and (one.untrue or (one.worse or 0) > WORSE or one.ending == "stopped"):
                print(f"  {at}: {one}", flush=True)
        print(" | ".join(map(str, line(kind, found))), flush=True)
        every += found
    print(" | ".join(map(str, line("all", every))))
    return int(any(one.untrue or (not one.converged and not one.ending) for one in every))


if __name__ == "__main__":
    sys.exit(main())
