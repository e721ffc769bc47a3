"""Figures that statements of the Paper page rest on and no run holds: `python -m tests.bench.claims NAME [NAME ...]`.

Each is computed in one go and written to pages/paper/measured/claims.json with its date, the machine, and the share of
the processors that other processes took.

forces       what is left of the forces and torques of all support vectors; needs a stored run of mnist-sv
fiftieth     a fiftieth of the virtual SVs at degree 5, fitted by distance; needs stored runs of FIFTIETH
dimension    training time by dimension: random points, separable or not, at several C; median of three rounds
after.py: those of what came after the papers
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import date

import numpy as np

from pages.paper import forces
from svmcore import SVC
from svmcore.explain.balance import balance
from svmcore.lab.meter import Processors
from svmcore.lab.papers import of_run, stored_runs
from svmcore.lab.presets import RECIPES
from tests.bench import after, measured
from tests.bench.machine import machine

DIMENSIONS, POINTS, SWAPPED, ROUNDS = (100, 200, 400, 800), 2000, 0.1, 3
CS = 0.1, 1.0, 10.0
FIFTIETH = "mnist-sv-degree5", "mnist-vsv-degree5", "mnist-rs-degree5-118"


def of_forces() -> dict:
    """plane_force: of one vector of the Playground's machine; digits_, ten_: shares left of a machine of threes and
    eights, and the largest of ten machines of 60,000 digits."""
    plane, digits = balance(forces.in_the_plane()[2]), forces.of_digits()
    (run,) = stored_runs([RECIPES["mnist-sv"]])
    ten = [balance(run.machine(), number).left for number in range(10)]
    return {
        "plane_force": round(float(np.abs(plane.force).max()), 4),
        "plane_left": plane.left,
        "digits_svs": len(digits.row),
        "digits_left": digits.left,
        "ten_force": max(force for force, _ in ten),
        "ten_torque": max(torque for _, torque in ten),
    }


def of_fiftieth() -> dict:
    """error_pct; vectors of a machine, and multiply-adds of a decision, of which the original and the virtual SV
    machine have so many times as many."""
    first, virtual, reduced = (of_run(run) for run in stored_runs(RECIPES[name] for name in FIFTIETH))
    folds = {
        f"{name}_{figure}": round(whole[figure].value / reduced[figure].value, 2)
        for name, whole in (("first", first), ("virtual", virtual))
        for figure in ("svs", "mults")
    }
    return {"error_pct": reduced["error_pct"].value, "svs": reduced["svs"].value} | folds


def random_points(d: int, separable: bool) -> tuple[np.ndarray, np.ndarray]:
    """X (n, d) float32 of normal values, of length about 1, and y by a random plane; a tenth of the labels swapped
    where they are not to be separable."""
    rng = np.random.default_rng(d)
    X = rng.normal(size=(POINTS, d)).astype(np.float32) / np.float32(d**0.5)
    y = np.where(X @ rng.normal(size=d) > 0, 1, -1)
    return X, y if separable else np.where(rng.random(POINTS) < SWAPPED, -y, y)


def of_dimension() -> dict:
    """seconds: problem, C -> of each dimension, the median of all rounds; growth: the exponent of d from the first to
    the last."""
    seconds: dict[str, list[list[float]]] = {}
    for _ in range(ROUNDS):
        for separable in (True, False):
            for C in CS:
                name = f"{'separable' if separable else 'swapped'} {C:g}"
                seconds.setdefault(name, []).append([_seconds(*random_points(d, separable), C) for d in DIMENSIONS])
    medians = {name: np.median(rounds, axis=0) for name, rounds in seconds.items()}
    growth = {
        name: round(float(np.log(one[-1] / one[0]) / np.log(DIMENSIONS[-1] / DIMENSIONS[0])), 2)
        for name, one in medians.items()
    }
    return {
        "dimensions": DIMENSIONS,
        "seconds": {name: [round(value, 3) for value in one.tolist()] for name, one in medians.items()},
        "growth": growth,
        "least_growth": min(growth.values()),
        "most_growth": max(growth.values()),
    }


def _seconds(X: np.ndarray, y: np.ndarray, C: float) -> float:
    began = time.perf_counter()
    SVC("linear", C=C).fit(X, y)
    return time.perf_counter() - began


CLAIMS = {"forces": of_forces, "fiftieth": of_fiftieth, "dimension": of_dimension} | after.CLAIMS


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.claims", description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", metavar="NAME", choices=CLAIMS)
    for name in parser.parse_args(argv).names:
        before = Processors.read()
        row = CLAIMS[name]()
        row |= {
            "date": date.today().isoformat(),
            "machine": machine(),
            "others_share": round(Processors.read().since(before).get("others_share", 0.0), 3),
        }
        measured.write("claims", measured.read("claims") | {name: row})
        print(f"{name}: {json.dumps(row)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
