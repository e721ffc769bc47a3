"""Features of pictures beside pixels, on held-out training examples: errors, support vectors, seconds.

    python -m tests.bench.features mnist           trains on 50,000 training digits, counts errors on the last 10,000
    python -m tests.bench.features usps            five folds of the training set
    python -m tests.bench.features fashion-mnist   50,000 and 10,000 of the 60,000 that the recipes fashion-* train on
    python -m tests.bench.features mnist gradients:7,unit-norm --jitters box:1     one of them, by virtual SVs
    python -m tests.bench.features fashion-mnist gradients:7,unit-norm --kernel rbf:4 --C 5 --train 10000

No test example is looked at. measured/features.jsonl keeps every outcome, in the order of trying; tests/bench/NOTES.md
tells what was chosen. The test sets are for the recipes of the table `features`, each run once:

    python -m svmcore run features
    python -m tests.bench.results --runs fashion-sv ... --write
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np
from sklearn.model_selection import StratifiedKFold

from data import load
from svmcore import RBF, SVC, Poly, Preprocessor, VirtualSVC
from svmcore.lab.presets import RECIPES
from svmcore.lab.split import whole
from svmcore.preprocess import split_steps
from tests.bench.measured import FOLDER

KERNELS = {"poly": lambda degree: Poly(int(degree), 1.0, 1.0), "rbf": RBF}
USUAL = ("poly:9", 2.0), ("rbf:2", 10.0)  # kernel and C of pixels, and of features
CHOSEN = {"fashion-mnist": (("rbf:2", 5.0), ("rbf:4", 5.0))}  # where others are better
TRIED = {
    "mnist": ("unit-norm", "deslant,unit-norm", "gradients:7,unit-norm", "smooth:0.6,gradients:7,margin=4,unit-norm",
              "deslant,gradients:9,unit-norm", "deslant,smooth:0.6,gradients:9,margin=4,unit-norm",
              "gradients:7+0.5*patterns:4,unit-norm"),
    "usps": ("smooth:0.75,unit-norm", "gradients:7,unit-norm", "gradients:7,margin=2,unit-norm",
             "gradients:7,margin=4,unit-norm", "deslant,gradients:7,margin=4,unit-norm"),
    "fashion-mnist": ("unit-norm", "gradients:9,unit-norm", "gradients:9,block=2,unit-norm"),
}  # fmt: skip
RECIPE = {"mnist": "mnist-sv", "usps": "usps-sv", "fashion-mnist": "fashion-sv"}  # whose training set it is
HELD, FOLDS = 10_000, 5
LOG = FOLDER / "features.jsonl"


def parts(name: str, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions that train and that are counted."""
    if name == "usps":
        return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y))
    return [(np.arange(len(y) - HELD), np.arange(len(y) - HELD, len(y)))]


def measure(name: str, steps: str, kernel: str, C: float, jitters: str = "none", n: int | None = None) -> dict:
    """What one setting comes to; n: so many of each part's training examples, the first of them."""
    data, texts = load(name), split_steps(steps)
    rows = whole(RECIPES[RECIPE[name]], data).train
    X, y = data.X_train[rows].reshape(len(rows), -1), data.y_train[rows]
    kind, _, number = kernel.partition(":")
    machine_of = SVC(KERNELS[kind](float(number)), C=C)
    wrong, counted, svs, spent = 0, 0, [], np.zeros(3)
    for train, held in parts(name, y):
        train = train[:n]
        prepare, times = Preprocessor(*texts, image_shape=data.image_shape), [time.perf_counter()]
        made = prepare.fit_transform(X[train])
        times.append(time.perf_counter())
        if jitters == "none":
            machine = machine_of.fit(made, y[train]).machine_
        else:
            virtual = VirtualSVC(machine_of, jitters=jitters, image_shape=data.image_shape, prepare=prepare)
            machine = virtual.fit(X[train], y[train]).machine_
        times.append(time.perf_counter())
        f = machine.decision_values(prepare.transform(X[held]))
        wrong, counted = wrong + int((machine.classes[f.argmax(axis=1)] != y[held]).sum()), counted + len(held)
        times.append(time.perf_counter())
        svs.append(len(machine.support))
        spent += np.diff(times)
    setting = {"dataset": name, "steps": steps, "kernel": kernel, "C": C, "jitters": jitters, "n_train": len(train)}
    seconds = dict(zip(("steps_s", "fit_s", "held_out_s"), spent.round(1).tolist(), strict=True))
    return setting | {"errors": wrong, "held_out": counted, "distinct_svs": round(np.mean(svs))} | seconds


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.features", description=__doc__.split("\n")[0])
    parser.add_argument("dataset", choices=TRIED)
    parser.add_argument("steps", nargs="?", help="all those of TRIED if left out")
    parser.add_argument("--kernel", help="poly:DEGREE or rbf:GAMMA")
    parser.add_argument("--C", type=float)
    parser.add_argument("--jitters", default="none")
    parser.add_argument("--train", type=int, metavar="N", help="so many training examples, the first")
    asked = parser.parse_args()
    for steps in [asked.steps] if asked.steps else TRIED[asked.dataset]:
        of_features = Preprocessor(*split_steps(steps)).makes_features
        usual = CHOSEN.get(asked.dataset, USUAL)[of_features]
        kernel, C = asked.kernel or usual[0], asked.C or usual[1]
        outcome = json.dumps(measure(asked.dataset, steps, kernel, C, asked.jitters, asked.train))
        print(outcome, flush=True)
        with LOG.open("a") as log:
            log.write(f"{outcome}\n")


if __name__ == "__main__":
    main()
