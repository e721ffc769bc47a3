"""Runs that are done, for tests of what stands on them: each recipe trained once a test session, then copied."""

import functools
import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path

from data.catalogue import OWN_PREFIX
from svmcore.lab import jobs, train
from svmcore.lab.methods import METHODS
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import folders, runs

SECONDS = 300  # that a small run may take beside busy cores, compilation included
KNOWN = frozenset(METHODS)  # what a test registers may be another thing under the same name
OF_ITS_HOME = ("owner.json", "ballast")  # files of a run that no copy takes


def finished(recipe: Recipe) -> runs.Run:
    """A new run of the recipe in the home folder of now, done: trained there, or a copy of one that another test has
    trained. What depends on the home (the reader's own data, a machine that it begins with) is trained there."""
    if not is_portable(recipe):
        return submitted(recipe)
    kept = shared_folder() / hashlib.sha256(json.dumps(recipe.to_dict(), sort_keys=True).encode()).hexdigest()
    if kept.is_dir():
        return copied(kept, recipe)
    run = submitted(recipe)
    part = Path(tempfile.mkdtemp(dir=kept.parent))
    shutil.copytree(run.path, part / "run", ignore=shutil.ignore_patterns(*OF_ITS_HOME))
    try:
        os.rename(part / "run", kept)
    except OSError:  # another process was first
        assert kept.is_dir()
    return run


def submitted(recipe: Recipe, **how) -> runs.Run:
    """A run trained by the queue; how: more of what `jobs.submit` takes."""
    run_id = jobs.submit(recipe, **how)
    status = jobs.wait(run_id, SECONDS)
    assert status.state == "done", status.message
    return runs.get(run_id)


def finish_all(*states: str) -> None:
    """Wait for all runs of this process; each ends in one of the states, by default done."""
    for run_id in jobs.active():
        status = jobs.wait(run_id, SECONDS)
        assert status.state in (states or ("done",)), status.message


def copied(kept: Path, recipe: Recipe) -> runs.Run:
    run = runs.create(recipe)
    shutil.copytree(kept, run.path, dirs_exist_ok=True)
    run.release()
    folders.look_again()
    return runs.get(run.id)


def executed(recipe: Recipe):
    """What `train.execute` gives, once in a process for each recipe that depends on no home."""
    return _executed(recipe) if is_portable(recipe) else train.execute(recipe)


_executed = functools.lru_cache(maxsize=40)(train.execute)


def is_portable(recipe: Recipe) -> bool:
    """Whether the run would be the same in any home."""
    if recipe.method not in KNOWN or recipe.dataset.startswith(OWN_PREFIX) or "@" in recipe.dataset:
        return False
    return recipe.origin is recipe


def shared_folder() -> Path:
    """Of all processes of a test session (tests/conftest.py)."""
    folder = Path(os.environ["SVMLAB_TEST_FOLDER"]) / "trained"
    folder.mkdir(exist_ok=True)
    return folder
