"""What pages ask for first, at hand before anyone waits for it: compiled code, by a few small fits that touch every
kernel of the solvers, and the pictures that Detect opens with.

From the disk cache this takes a second or two of background work, without it as long as compiling does.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

import numpy as np

from data import DataError, pictures
from svmcore.gram.products import LAYOUTS, Operand
from svmcore.kernels import Poly, squared_norms
from svmcore.lab.experiment.train import prepare
from svmcore.lab.recipe.recipe import Recipe
from svmcore.svc import SVC

PICTURES = "venus-like"  # a second to draw
SMALL = Recipe(dataset="digits-8x8", n_train=300, n_test=50)


def warm_up(go_on: Callable[[], bool]) -> None:
    """Run the solvers, the layouts of products and a decision once, and draw the synthetic pictures.

    `go_on()` False ends it early."""
    problem = prepare(SMALL)
    for solver in ("smo", "decomposition", "smo-digestion"):
        svc = SVC(SMALL.kernel, solver=solver).fit(problem.X_train, problem.y_train, monitor=lambda progress: go_on())
        svc.predict(problem.X_test)
    for layout in LAYOUTS:
        if go_on():
            operand, rows = Operand(problem.X_train, layout), problem.X_test
            values, f = operand.block(rows, Poly(2)), np.zeros((1, operand.n))
            operand.add_to(f, rows, squared_norms(rows), Poly(2), values[:, :1].T)
            operand.subset(np.arange(100)).block(rows, Poly(2))
    if go_on():
        with suppress(DataError):
            pictures.load(PICTURES)
