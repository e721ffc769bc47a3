"""Measured figures, kept as JSON; what RESULTS.md and the README show is printed from them alone.

Those that the outlines of the Paper page quote stand beside them (pages/paper/quoted.py), the others beside this file:

runs.json        recipe name -> its errors or detections, support vectors, seconds and memory     take_runs
peers.json       what peers.py writes, a problem an entry; peers.svg is drawn from it by ratio.py
curves.json      what curves.py writes, and curves.svg is drawn from
digestion.json   what digestion.py writes
clicks.json      what clicks.py writes
clicks_detect.json  what clicks_detect.py writes
clicks_why.json  what clicks_why.py writes
volcanoes.json   what volcanoes.py writes
faces.json       what faces.py writes
features.jsonl   what features.py writes, a line each setting tried on held-out training examples
crossing.json    what crossing.py writes
reductions.json  what reductions.py writes
asking.json      what asking.py writes
soak.json        what the parts of soak/ found
forecast.json    what forecast.py writes
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from pages.paper import quoted
from svmcore.lab.meter import training_seconds
from svmcore.lab.papers import of_run as numbers_of
from svmcore.lab.presets import RECIPES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store.runs import Run, stored
from svmcore.metrics import per_class_table
from tests.bench.machine import machine

FOLDER, QUOTED = Path(__file__).parent, quoted.FOLDER
KEPT = {  # of a run's result, as they are, by its task
    "classify": ("errors", "n_test", "n_sv", "n_union", "converged"),
    "detect": ("n_test", "n_sv", "n_union", "converged", "opportunities", "pictures", "area", "unit", "reachable",
               "offset", "machines", "rival_seconds"),
}  # fmt: skip
COUNTED = (
    "size",
    "bound",
    "computed",
    "work",
    "steps",
    "sv_most",
    "filled",
    "rounds",
    "again",
    "gap",
    "rho",
    "mults",
    "solve_s",
)  # fmt: skip  (of a classifier's figures, where it has them: papers/numbers.py)


def _path(name: str) -> Path:
    """Of a name, or of a file of one's own, which is given as a whole path."""
    quoted_too = QUOTED / f"{name}.json"
    return quoted_too if quoted_too.exists() else FOLDER / f"{name}.json"


def read(name: str) -> dict:
    """The figures of measured/NAME.json; {} where none were measured yet."""
    path = _path(name)
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def write(name: str, figures: dict) -> None:
    """Keep figures as measured/NAME.json."""
    entries = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in figures.items())  # a line each
    _path(name).write_text(f"{{\n{entries}\n}}\n", encoding="utf-8")


def question(recipe: Recipe) -> dict[str, str]:
    """What decides the outcome of a recipe, as short texts: without it nobody knows what the figures are of."""
    return recipe.replace(name="custom", title="", cache_mb=None, slow_motion=False).to_query()


def take_runs(names=()) -> list[str]:
    """Figures of `names`, or of all recipes already in runs.json, from the latest runs in the user's store.

    Returns the names that the store has no finished run of; their figures stay as they are. ValueError for a name that
    is no recipe.
    """
    known = read("runs")
    wanted = [name for name in RECIPES if name in (names or known)]
    if unknown := set(names) - set(wanted):
        raise ValueError(f"{min(unknown)!r} is not a recipe; allowed: {', '.join(RECIPES)}")
    those = zip(wanted, stored((RECIPES[name] for name in wanted), finished=True), strict=True)
    found = {name: run for name, run in those if run is not None}
    taken = {name: of_run(RECIPES[name], run) for name, run in found.items()}
    write("runs", {name: (known | taken)[name] for name in RECIPES if name in known or name in taken})
    return [name for name in wanted if name not in taken]


def of_run(recipe: Recipe, run: Run) -> dict:
    """An entry of runs.json from a run that is done: compiling does not count as training. fn, fp: misses and false
    alarms of each class's machine; negative: support vectors of the background, where one machine detects."""
    result, more = run.result, {}
    if recipe.task == "detect" and len(result["n_sv"]) == 1:
        more = {"negative": int((run.machine().coef < 0).sum())}
    elif recipe.task == "classify" and len(result["n_sv"]) > 1:
        test = run.test()
        rows = per_class_table(test.decision, test.y_true, test.y_pred, np.unique(test.y_true))
        more = {name: [int(row[name]) for row in rows] for name in ("fn", "fp")}
    if recipe.task == "classify":
        numbers = numbers_of(run)
        more |= {name: round(numbers[name].value, 4) for name in COUNTED if name in numbers}
    return {
        "recipe": question(recipe),
        **{name: result[name] for name in KEPT[recipe.task]},
        **more,
        "train_seconds": round(training_seconds(result), 3),
        "test_seconds": round(result["predict_seconds"], 2),
        "peak_mb": round(result["peak_rss_mb"]),
        "machine": machine(),
        "date": f"{run.id[:4]}-{run.id[4:6]}-{run.id[6:8]}",
        "others_share": round(result.get("others_share", 0.0), 3),
    }
