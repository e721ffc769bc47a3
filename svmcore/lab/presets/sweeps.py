"""Sweeps to begin with: what each asks, and the values that are usual for a field."""

import tomllib
from pathlib import Path

from svmcore.lab.analyses.sweep import Sweep
from svmcore.lab.presets import PRESET, RECIPES

FOLDS = 5
USUAL = {  # field -> values
    "C": ("0.02", "0.1", "0.5", "2", "10"),
    "kernel.degree": ("1", "2", "3", "5", "7", "9"),
    "kernel.gamma": ("0.2", "0.5", "1", "2", "5"),
    "jitters": ("none", "plus:1", "box:1", "box:2"),
    "preprocess": ("unit-norm", "smooth:0.75,unit-norm", "deslant,unit-norm", "gradients:7,unit-norm"),
    "n_train": ("125", "250", "500", "1000"),
    "noise": ("0", "0.05", "0.1", "0.2"),
}
STEPS_OF_TABLES = ("zscore", "unit-norm", "zscore,unit-norm")  # of examples that are no images
_SMALL = RECIPES[PRESET].replace(n_train=1000, n_test=1000, folds=FOLDS)


def _example(field: str, values=(), second: str = "", seconds=(), **about) -> tuple[str, str, Sweep]:
    recipe = _SMALL.with_texts(about.get("set", {}))
    return about["label"], about["asks"], Sweep(recipe, field, tuple(values or USUAL[field]), second, tuple(seconds))


_LISTED = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
EXAMPLES = {name: _example(**about) for name, about in _LISTED.items()}  # name -> (label, what it asks, the sweep)
