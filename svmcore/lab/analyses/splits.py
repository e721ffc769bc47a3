"""What stored runs of the plain and of cross-trained machines come to, point by point: means over their splits."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from svmcore.lab.meter import search_apart
from svmcore.lab.store.runs import Run

COLUMNS = ("runs", "SVs", "+-", "bounded", "wrong %", "+-", "noisy %", "train s", "search s")


class SplitsPoint(NamedTuple):
    """The runs that differ in their seed alone; a deviation is between them."""

    dataset: str
    n: int
    noise: float
    C: float
    machine: str
    runs: int
    svs: float
    svs_deviation: float
    bound: float
    wrong: float  # per cent
    wrong_deviation: float
    noisy: float  # per cent of the test labels with noise
    train_s: float  # the search apart
    search_s: float


def machine_of(recipe) -> str:
    """plain | reduced | trimmed or another rule | bagged | cross-trained, with its slack or subset size if any"""
    if recipe.method == "editing":
        return recipe.option("rule")
    if recipe.method != "cross-training":
        return "reduced" if recipe.method == "reduced" else "plain"
    if recipe.option("answer") != "final":
        return recipe.option("answer")
    if recipe.option("validation"):
        return f"cross-trained, slack {recipe.option('slack'):g}"
    size = recipe.option("subset_size")
    return f"cross-trained, r = {size:,}" if size else "cross-trained"


def points(runs: Iterable[Run]) -> list[SplitsPoint]:
    """A SplitsPoint for every dataset, size, noise, C and machine, in the order in which they first come."""
    alike: dict[tuple, list[dict]] = {}
    for run in runs:
        recipe = run.recipe
        noise, machine = recipe.options.get("noise", 0.0), machine_of(recipe)
        key = recipe.dataset, run.result["n_train"], noise, recipe.C, machine
        alike.setdefault(key, []).append(run.result)
    return [SplitsPoint(*key, len(results), *_figures(results)) for key, results in alike.items()]


def _figures(results: list[dict]) -> list[float]:
    trained, searched = zip(*map(search_apart, results), strict=True)
    svs = [sum(result["n_sv"]) for result in results]
    wrong = [100 * result["error_rate"] for result in results]
    noisy = [100 * result.get("noisy", result)["error_rate"] for result in results]
    bound = [sum(result["n_bound"]) for result in results]
    figures = (np.mean(svs), np.std(svs), np.mean(bound), np.mean(wrong), np.std(wrong), np.mean(noisy))
    return [float(figure) for figure in (*figures, np.mean(trained), np.mean(searched))]


def text(points: list[SplitsPoint]) -> str:
    """A line a point, under the names of the columns."""
    lines = [f"{'set':14}{'n':>7}{'noise':>7}{'C':>6}  {'machine':23}" + "".join(f"{name:>10}" for name in COLUMNS)]
    for p in points:
        whole, fine = (p.svs, p.svs_deviation, p.bound), (p.wrong, p.wrong_deviation, p.noisy, p.train_s, p.search_s)
        cells = p.runs, *(f"{value:.0f}" for value in whole), *(f"{value:.2f}" for value in fine)
        lines.append(
            f"{p.dataset:14}{p.n:7}{p.noise:7.2f}{p.C:6g}  {p.machine:23}" + "".join(f"{cell!s:>10}" for cell in cells)
        )
    return "\n".join(lines)
