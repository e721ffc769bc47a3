"""What a process does for its first reader: train the preset where there are no runs, and have at hand what pages ask
for first: compiled code (svmcore/lab/warm.py), and the pictures that Detect opens with. From the disk cache this takes
a second or two of background work, without it as long as compiling does.
"""

import logging
import threading
from contextlib import suppress
from pathlib import Path

from data import DataError, pictures
from svmcore.lab.jobs.queue import QUEUE, Queue, submit
from svmcore.lab.meter import Compiling
from svmcore.lab.presets import PRESET, RECIPES
from svmcore.lab.priority import yield_to_others
from svmcore.lab.store import folders, runs
from svmcore.lab.warm import warm_up
from svmcore.memory import BudgetError

PICTURES = "venus-like"  # a second to draw
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
                warm_up(lambda: not self._queue.closing, everything=False)
                if not self._queue.closing:
                    with suppress(DataError):
                        pictures.load(PICTURES)
        except RuntimeError:  # at the end of the process: its pools take no more work either
            if not self._queue.closing:
                raise

    def _not_at_the_end(self) -> None:
        """Before each function that is compiled: the compiler must not be at work when the process takes it down."""
        if self._queue.closing:
            raise RuntimeError("the process ends")


WELCOME = Welcome(QUEUE)  # of this process
ensure_preset = WELCOME.ensure_preset
