"""Features of digits beside pixels, on held-out training examples: errors, support vectors, seconds.

    python -m tests.bench.features mnist     trains on 50,000 training digits, counts errors on the last 10,000
    python -m tests.bench.features usps      five folds of the training set
    python -m tests.bench.features mnist gradients:7,unit-norm vsv     one of them, by virtual support vectors

The test sets are not opened. tests/bench/NOTES.md has what came out.
"""

from __future__ import annotations

import sys
import time

import numpy as np
from sklearn.model_selection import StratifiedKFold

from data import load
from svmcore import RBF, SVC, Poly, Preprocessor, VirtualSVC
from svmcore.preprocess import split_steps

PIXELS, FEATURES = (Poly(9, 1.0, 1.0), 2.0), (RBF(2.0), 10.0)  # kernel, C
TRIED = {
    "mnist": ("unit-norm", "deslant,unit-norm", "gradients:7,unit-norm", "smooth:0.6,gradients:7,margin=4,unit-norm",
              "deslant,gradients:9,unit-norm", "deslant,smooth:0.6,gradients:9,margin=4,unit-norm",
              "gradients:7+0.5*patterns:4,unit-norm"),
    "usps": ("smooth:0.75,unit-norm", "gradients:7,unit-norm", "gradients:7,margin=2,unit-norm",
             "gradients:7,margin=4,unit-norm", "deslant,gradients:7,margin=4,unit-norm"),
}  # fmt: skip
HELD, FOLDS = 10_000, 5


def parts(name: str, y: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Positions that train and that are counted."""
    if name == "mnist":
        return [(np.arange(len(y) - HELD), np.arange(len(y) - HELD, len(y)))]
    return list(StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y))


def measure(name: str, steps: list[str], method: str = "sv") -> str:
    """A line of the table."""
    data = load(name)
    X, y = data.X_train.reshape(len(data.X_train), -1), data.y_train
    of_features = Preprocessor(*steps).makes_features
    kernel, C = FEATURES if of_features else PIXELS
    wrong, counts, spent = 0, [], np.zeros(3)
    for train, held in parts(name, y):
        prepare, times = Preprocessor(*steps, image_shape=data.image_shape), [time.perf_counter()]
        rows = prepare.fit_transform(X[train])
        times.append(time.perf_counter())
        if method == "vsv":
            virtual = VirtualSVC(SVC(kernel, C=C), jitters="box:1", image_shape=data.image_shape, prepare=prepare)
            machine = virtual.fit(X[train], y[train]).machine_
        else:
            machine = SVC(kernel, C=C).fit(rows, y[train]).machine_
        times.append(time.perf_counter())
        f = machine.decision_values(prepare.transform(X[held]))
        wrong += int((machine.classes[f.argmax(axis=1)] != y[held]).sum())
        times.append(time.perf_counter())
        counts.append(len(machine.support))
        spent += np.diff(times)
    n = sum(len(held) for _, held in parts(name, y))
    made, fit, asked = spent
    return (
        f"{name} {','.join(steps)} {method}: {wrong} of {n} wrong, {100 * wrong / n:.2f} %; "
        f"{np.mean(counts):.0f} distinct SVs; steps {made:.1f} s, fit {fit:.1f} s, held out {asked:.1f} s"
    )


if __name__ == "__main__":
    name, *asked = sys.argv[1:]
    if asked:
        print(measure(name, split_steps(asked[0]), *asked[1:]))
    else:
        for steps in TRIED[name]:
            print(measure(name, split_steps(steps)), flush=True)
