"""What a process does for its first reader: train the preset where there are no runs, and have at hand what pages ask
for first: compiled code, by a few small fits that touch every kernel of the solvers, and the pictures that Detect opens
with. From the disk cache this takes a second or two of background work, without it as long as compiling does.
"""

import logging
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np

from data import DataError, pictures
from svmcore.gram.products import LAYOUTS, Operand
from svmcore.kernels import Poly, squared_norms
from svmcore.lab.jobs.queue import QUEUE, Queue, submit
from svmcore.lab.meter import Compiling
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.priority import yield_to_others
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import folders, runs
from svmcore.lab.train import prepare
from svmcore.memory import BudgetError
from svmcore.svc import SVC

PICTURES = "venus-like"  # a second to draw
SMALL = Recipe(dataset="digits-8x8", n_train=300, n_test=50)
_log = logging.getLogger(__name__)


class Welcome:
    """Of a process: the homes that had their preset, or were found not to need it."""

    def __init__(self, queue: Queue):
        self._queue = queue
        self.homes: set[Path] = set()
        self._welcoming = threading.Lock()  # a second session waits until the first one has its preset

    def ensure_preset(self) -> str | None:
        """Submit the preset when the store has no runs at all, so that no page is empty, and warm up behind it.

        Once a process; later calls return at once. Of several processes that start together one submits.
        """
        home, preset = runs.home(), None
        with self._welcoming:
            if home in self.homes:
                return None
            self.homes.add(home)
            try:
                with folders.exclusive(home / "preset.lock") as alone:
                    if alone and not runs.everything() and not runs.deleted():
                        preset = submit(RECIPES[PRESET])
            except (OSError, BudgetError) as error:  # the pages are of use without it
                _log.warning("the preset could not be started: %s", error)
        thread = threading.Thread(target=self._warm_up, args=(preset,), name="warm-up", daemon=True)
        thread.start()
        self._queue.also_wait_for(thread)
        return preset

    def _warm_up(self, preset: str | None) -> None:
        yield_to_others()
        if preset is not None:
            self._queue.wait(preset)
        try:
            with Compiling(self._not_at_the_end):
                warm_up(lambda: not self._queue.closing)
        except RuntimeError:  # at the end of the process: its pools take no more work either
            if not self._queue.closing:
                raise

    def _not_at_the_end(self) -> None:
        """Before each function that is compiled: the compiler must not be at work when the process takes it down."""
        if self._queue.closing:
            raise RuntimeError("the process ends")


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


WELCOME = Welcome(QUEUE)  # of this process
ensure_preset = WELCOME.ensure_preset
