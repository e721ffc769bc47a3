"""Cross-training beside the plain machine: `python -m tests.bench.crossing [--given]`, from stored runs.

First `python -m svmcore run xtrain-table1`, and each of its studies; this gathers what they came to. --given also times
Adult with all 32,560 examples and the hyperparameters given: one plain machine, and cross-training by section 4.3 with
one value of each C, in turns; the best of each counts.
"""

from __future__ import annotations

import argparse
import re
import time

from svmcore.lab.analyses import splits
from svmcore.lab.papers import TABLES, fill
from svmcore.lab.papers.filling import with_interval
from svmcore.lab.papers.numbers import Number
from svmcore.lab.presets import RECIPES, xtrain
from svmcore.lab.store.runs import stored
from svmcore.lab.train import fit, prepare
from tests.bench import measured
from tests.bench.machine import machine

TURNS = 3
GIVEN = {
    "plain": RECIPES["xtrain-adult-svm"].replace(grid=""),
    "cross-trained": RECIPES["xtrain-adult"].replace(grid="3", final_grid="10"),
}
ENDS = {  # of the points, those that RESULTS.md shows
    "xtrain-fig1": [(f"squares:{overlap:g}", 1000, 0.0) for overlap in (0.0, 0.5)],
    "xtrain-fig3": [(f"clouds:{d}", n, 0.0) for d in xtrain.DEVIATIONS for n in (xtrain.SIZES[0], xtrain.SIZES[-1])],
    "xtrain-fig4": [("mnist", 11_982, noise) for noise in (0.0, 0.15)],
    "xtrain-settings": [],
}


def gathered() -> dict:
    """The rows of Table 1 and the points of the figures, as far as they are stored."""
    filled = fill(TABLES["xtrain-table1"])
    rows = [
        {"row": row.label, "cells": [cell and cell.to_dict() for cell in values]}
        for row, values in zip(filled.table.rows, filled.rows, strict=True)
    ]
    points = {}
    for name in xtrain.STUDIES:
        runs = (run for run in stored(xtrain.study(name), finished=True) if run is not None)
        points[name] = [point._asdict() for point in splits.points(runs)]
    return {"machine": machine(), "table1": rows, **points}


def quotable(bench: dict) -> dict[str, dict]:
    """The rows that an outline quotes (pages/paper/quoted.py): a recipe of Table 1 with its figures, means over splits;
    a point of a study by its name, dataset, n, noise in per cent, C and machine."""
    rows: dict[str, dict] = {}
    for cell in (cell for row in bench["table1"] for cell in row["cells"] if cell and cell["value"] is not None):
        rows.setdefault(cell["recipe"], {"machine": bench["machine"]})[cell["figure"]] = cell["value"]
    for study in xtrain.STUDIES:
        for p in bench[study]:
            name = f"{study} {p['dataset']} {p['n']} {100 * p['noise']:g} {p['C']:g} {p['machine']}"
            figures = {figure: p[figure] for figure in ("runs", "svs", "bound", "wrong")}
            rows[re.sub(r"[^\w.]+", "-", name)] = {"machine": bench["machine"]} | figures
    return rows


def given() -> dict:
    """Seconds of one fit each."""
    problem = prepare(GIVEN["plain"])
    found = {name: {"seconds": []} for name in GIVEN}
    for _ in range(TURNS):
        for name, recipe in GIVEN.items():
            started = time.perf_counter()
            fitted = fit(recipe, problem)
            seconds = time.perf_counter() - started - fitted.compile_seconds
            machine_ = fitted.estimator.machine_
            wrong = machine_.classes[(machine_.decision_values(problem.X_test)[:, 0] > 0).astype(int)] != problem.y_test
            found[name]["seconds"].append(round(seconds, 2))
            found[name] |= {"n_sv": int(machine_.n_sv[0]), "right_pct": round(100 * float(1 - wrong.mean()), 2)}
    return found


def part(bench: dict, table, measured_on) -> str:
    """What RESULTS.md shows."""
    if not bench:
        return "Not measured yet."
    rows = []
    for row in bench["table1"]:
        rows.append((row["row"], *map(_cell, row["cells"])))
    text = table(("data, subsets", *TABLES["xtrain-table1"].columns), rows)
    if times := bench.get("given"):
        best = {name: min(one["seconds"]) for name, one in times.items()}
        text += f"\n\nAdult, 32,560 examples, hyperparameters given: one plain machine {best['plain']:.1f} s, "
        text += f"cross-training {best['cross-trained']:.1f} s."
    for name, title in xtrain.STUDIES.items():
        ends = [p for p in bench[name] if (p["dataset"], p["n"], p["noise"]) in ENDS[name]]
        points = [
            (p["dataset"], p["n"], f"{100 * p['noise']:g}", p["machine"], p["runs"], f"{p['svs']:.0f}",
             f"{p['bound']:.0f}", f"{p['wrong']:.2f}", f"{p['noisy']:.2f}", f"{p['train_s']:.2f}")
            for p in ends
        ]  # fmt: skip
        if not points:
            continue  # a study that is a figure alone
        columns = (
            "data",
            "n",
            "noise, %",
            "machine",
            "runs",
            "SVs",
            "bounded SVs",
            "errors, %",
            "by noisy labels, %",
            "s",
        )
        text += f"\n\n{title}.\n\n{table(columns, points)}"
    return text + measured_on([bench])


def _cell(cell: dict | None) -> str:
    if cell is None:
        return ""
    value = _ours(cell)
    return f"{value} [{cell['published']:g}]" if cell["published"] is not None else value


def _ours(cell: dict) -> str:
    """Ours, with its interval where it is a share."""
    if cell["value"] is None:
        return "–"
    low, high = (cell["low"], cell["high"]) if cell["figure"] == "right_pct" else (None, None)
    return with_interval(cell["figure"], Number(cell["value"], low, high))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--given", action="store_true", help="also time Adult with the hyperparameters given")
    asked = parser.parse_args()
    kept = gathered()
    timed = given() if asked.given else measured.read("crossing").get("given")
    measured.write("crossing", kept | ({"given": timed} if timed else {}))
    measured.write("crossed", quotable(kept))
