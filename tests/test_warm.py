"""After `python -m svmcore warm` no run of the presets compiles anything; after the app's share, none it opens with.

What is compiled is counted by Numba's own events, in another process.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
COUNTED = """
import json, sys, warnings
from numba.core import event

compiled = []

class Listener(event.Listener):
    def on_start(self, event):
        compiled.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event):
        pass

warnings.simplefilter("ignore")
event.register("numba:compile", Listener())
from svmcore.lab.train import execute
from tests.test_warm import runs
for recipe in runs(sys.argv[1]):
    execute(recipe)
print(json.dumps(compiled))
"""
IMAGES = {"dataset": "mnist-5k", "split": "stratified", "n_train": 300, "n_test": 50}


def runs(which):
    """Of the listed recipes each kind once, on what needs no download where their own data would; or the recipes that
    the app opens with; or one of these."""
    from data import catalogue
    from svmcore.lab.presets import LISTED, PRESET, RECIPES

    if which == "one":
        return [RECIPES["moons"]]
    if which == "first":
        return [RECIPES[name] for name in (PRESET, "moons", "mnist-5k-vsv", "digits-8x8-sv")]
    own = [name for name, r in LISTED.items() if r.task == "classify" and catalogue.entry(r.dataset).at_hand]
    own.remove("mnist-5k-endless")  # takes long, and stages of virtual SVs as others do
    kinds = {}
    for recipe in LISTED.values():
        images = recipe.task == "classify" and recipe.dataset in ("mnist", "usps") and "local" not in recipe.kernel.name
        if images and recipe.options.get("n_vectors", 0) < 1000:
            kind = recipe.method, recipe.kernel.name, recipe.preprocess, recipe.solver
            classes = tuple(label for label in recipe.classes if label in range(10))
            kinds.setdefault(kind, recipe.replace(**IMAGES, classes=classes))
    return [RECIPES[name] for name in own] + list(kinds.values()) + [RECIPES["volcano-synthetic-vsv"]]


@pytest.mark.ci
@pytest.mark.timeout(600)
def test_nothing_is_compiled_after_it(tmp_path):
    """After the app's share, then after the whole, which finds that share on disk."""
    environment = os.environ | {"SVMLAB_HOME": str(tmp_path), "SVMLAB_DATA": "", "PYTHONPATH": str(ROOT)}

    def ran(*command):
        command = [sys.executable, *command]
        return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=True).stdout

    def count(which):
        return json.loads(ran("-c", COUNTED, which).splitlines()[-1])

    ran("-c", "from svmcore.lab.warm import warm_up; warm_up(everything=False)")
    assert count("first") == []
    ran("-m", "svmcore", "warm")
    assert count("all") == []
    for file in (tmp_path / "numba").rglob("*burst*"):  # the count sees what is missing
        file.unlink()
    assert "_burst" in count("one")
