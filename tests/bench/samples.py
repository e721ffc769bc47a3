"""Make the sample runs that come with the code anew: `python -m tests.bench.samples`.

Each recipe is carried out in an empty home; what a page reads of it is kept, packed.
"""

import os
import shutil
import tempfile
from pathlib import Path

import numpy as np

from svmcore import files

KEPT = ("recipe.json", "result.json", "parent.json", "progress.jsonl")
LINES = 60  # of progress


def main() -> None:
    with tempfile.TemporaryDirectory() as home:
        os.environ["SVMLAB_HOME"] = home
        from svmcore.lab import jobs, samples  # asks for its home when it is imported
        from svmcore.lab.store import folders, runs

        shutil.rmtree(folders.SAMPLES, ignore_errors=True)
        folders.SAMPLES.mkdir()
        made = {}
        for name, recipes in samples.STUDIES.items():
            for at, recipe in enumerate(recipes):
                if recipe.digest() in made:
                    continue
                parent = made[recipes[0].digest()] if name == "reduction" and at else None
                run_id = made[recipe.digest()] = jobs.submit(recipe, looks=False, parent=parent)
                status = jobs.wait(run_id, 600)
                if status.state != "done":
                    raise SystemExit(f"{name}, {recipe.title}: {status.state}: {status.message}")
                size = keep(runs.get(run_id).path, folders.SAMPLES / run_id)
                print(f"{name:10} {run_id} {size / 1e3:7.1f} kB  {recipe.title}")


def keep(path: Path, to: Path) -> int:
    """Copy what a page reads of a run; bytes."""
    to.mkdir()
    for file in sorted(path.iterdir()):
        if file.name == "progress.jsonl":
            lines = file.read_text().splitlines(keepends=True)
            (to / file.name).write_text("".join(lines[:: max(1, len(lines) // LINES)]))
        elif file.name in KEPT:
            shutil.copyfile(file, to / file.name)
        elif file.suffix == ".npz":
            arrays = files.read_arrays(file)
            with (to / file.name).open("wb") as out:
                np.savez_compressed(out, **arrays)
    return sum(file.stat().st_size for file in to.iterdir())


if __name__ == "__main__":
    main()
