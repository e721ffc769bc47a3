"""Faces in pictures that were turned, found upright alone and with turns: `python -m tests.bench.turned [--json FILE]`.

The machine of "faces-cmu" is that of a stored run (`--run ID`) or trained, once, as turns are of the search alone. It
searches CMU's pictures as they are and turned by 15 and 30 degrees about their centres, the boxes of the faces turned
along: their places turn, their size stays. Rates at 10 to 200 false alarms over all pictures together.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path

from data.pictures import Picture
from svmcore.detection.turns import matrices, moved, turned
from svmcore.lab import train
from svmcore.lab.finders import FINDERS, findings
from svmcore.lab.presets import RECIPES
from svmcore.lab.problem import Problem
from svmcore.lab.store import runs

DEGREES = (0, 15, 30)
SEARCHES = {"upright": None, "turned": RECIPES["faces-cmu-turned"].option("turns")}


def main(argv=None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.turned", description=__doc__.split("\n")[0])
    parser.add_argument("--degrees", type=int, nargs="+", default=DEGREES)
    parser.add_argument("--run", help="a stored run of faces-cmu or faces-cmu-turned, whose machine searches")
    parser.add_argument("--json", type=Path, help="where the results go")
    options = parser.parse_args(argv)
    recipe = RECIPES["faces-cmu"]
    problem = train.prepare(recipe)
    machine = runs.get(options.run).machine() if options.run else train.fit(recipe, problem).estimator.machine_
    rows = []
    for degrees in options.degrees:
        lying = in_turn(problem, degrees)
        for name, turns in SEARCHES.items():
            began = time.perf_counter()
            asked = lying._replace(recipe=recipe.replace(turns=turns))
            seen = FINDERS["scan"].judge(machine, asked, lambda _: None)
            told = findings.figures(seen)
            judged = told["machines"]["machine"]
            rows.append(
                {"degrees": degrees, "search": name, "faces": told["n_test"], "seconds": time.perf_counter() - began}
                | {name: told[name] for name in ("reachable", "offset")}
                | {name: judged[name] for name in ("rates", "score", "interval")}
            )
            print(json.dumps(rows[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def in_turn(problem: Problem, degrees: int) -> Problem:
    """The problem with the pictures that test turned anticlockwise."""
    if not degrees:
        return problem
    known = problem.search.pictures
    lying = tuple(picture_in_turn(picture, degrees) for picture in known.pictures)
    return problem._replace(search=problem.search._replace(pictures=replace(known, pictures=lying)))


def picture_in_turn(picture: Picture, degrees: int) -> Picture:
    """A picture turned, with its boxes."""
    M = matrices(f"rot:{degrees}")[1]
    image = turned(picture.image, M)
    return replace(picture, image=image, boxes=moved(picture.boxes, M, picture.image.shape, image.shape))


if __name__ == "__main__":
    raise SystemExit(main())
