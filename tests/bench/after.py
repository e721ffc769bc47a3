"""Figures of *After the papers* (pages/paper/outlines/after.toml): `python -m tests.bench.claims NAME`.

ramp    3 against 8 with swapped labels: the plain machine, cross-training and the ramp loss; means over seeds
"""

from __future__ import annotations

import numpy as np

from svmcore.lab.presets import xtrain
from svmcore.lab.train import execute

NOISES, SEEDS = (0, 15), 5  # per cent of the labels swapped
MACHINES = {"plain": "-svm", "crossed": "", "crossed_6000": "-6000", "ramp": "-trimmed"}


def of_ramp() -> dict:
    """MACHINE_NOISE -> svs, and wrong, per cent of the clean test labels: means over the seeds."""
    row = {}
    for noise in NOISES:
        for name, suffix in MACHINES.items():
            points = (xtrain.POINTS[f"xtrain-fig4-{noise}-{seed}{suffix}"] for seed in range(SEEDS))
            results = [execute(recipe).result for recipe in points]
            svs, wrong = (np.mean([result[figure] for result in results]) for figure in ("n_union", "error_rate"))
            row[f"{name}_{noise}"] = {"svs": round(float(svs), 1), "wrong": round(100 * float(wrong), 3)}
    return row


CLAIMS = {"ramp": of_ramp}
