"""What a run costs beside its training: seconds of compiling, processor time, and the memory that it takes.

    compile_seconds    of Numba, in the threads that work for this run; loading compiled code from the disk is none
    memory_mb          max_t rss(t) - rss(0)      t the moments at which `sample` was called, and the process's own peak
    processor_seconds  of all threads of this process
    others_share       (processor seconds of all processes - processor_seconds) / (seconds * processors), 0 to 1

What a run takes is what the process holds more at its most than when the run began: the dataset, compiled code and
machines that it reads are counted unless they were there already, as the pictures of a detection are, whose number the
forecast asks for. The forecast (lab/forecast) says the same quantity for a process that has just started.
"""

import os
import time
from collections.abc import Callable
from contextvars import ContextVar
from typing import NamedTuple

from numba.core import event

from svmcore.memory import peak_mb, resident_mb

KIND = "numba:compile"
BETWEEN = 0.001  # seconds between two looks at the memory
# The listeners that count what this thread compiles: those entered in it, and in the thread that gave it its work
_entered: "ContextVar[tuple[Compiling, ...]]" = ContextVar("entered", default=())


def search_apart(result: dict) -> tuple[float, float]:
    """(training, search) seconds of a result: the latter went into grid values not chosen; compiling is in neither."""
    search = result.get("search_seconds", 0.0)
    return max(training_seconds(result) - search, 0.0), search


def training_seconds(result: dict) -> float:
    """What training took by a run's result, compiling apart."""
    return max(result["fit_seconds"] - result.get("compile_seconds", 0.0), 0.0)


class Compiling(event.Listener):
    """Seconds of compiling in this thread, and in those that it sets to work (gram/threads.py), while it is entered.
    begun: called before each function that is compiled; what it raises keeps it from being compiled.

    Numba's own listener loses count when it is entered while another thread compiles.
    """

    def __init__(self, begun: Callable[[], None] | None = None):
        self._begun = begun
        self._depth, self._clock = 0, (0.0, None)  # seconds that are over; when the compilation under way began

    def __enter__(self) -> "Compiling":
        self._before_me = _entered.set((*_entered.get(), self))
        event.register(KIND, self)
        return self

    def __exit__(self, *_) -> None:
        event.unregister(KIND, self)
        _entered.reset(self._before_me)

    @property
    def seconds(self) -> float:
        """Until now, a compilation under way included."""
        over, since = self._clock
        return over if since is None else over + time.perf_counter() - since

    @property
    def compiling(self) -> bool:
        """Whether a compilation is under way."""
        return self._clock[1] is not None

    def on_start(self, event) -> None:
        if not self._own():
            return
        if self._begun is not None:
            self._begun()
        if not self._depth:
            self._clock = self._clock[0], time.perf_counter()
        self._depth += 1

    def on_end(self, event) -> None:
        if not self._own() or not self._depth:
            return
        self._depth -= 1
        if not self._depth:
            self._clock = self.seconds, None

    def _own(self) -> bool:
        return self in _entered.get()


class Processors(NamedTuple):
    """Readings of the clocks of the processors, in seconds; `everybody` is None where the system does not tell."""

    clock: float
    own: float
    everybody: float | None

    @classmethod
    def read(cls) -> "Processors":
        try:
            with open("/proc/stat", encoding="ascii") as lines:
                user, nice, system, _, _, *interrupts = map(int, lines.readline().split()[1:9])
            everybody = (user + nice + system + sum(interrupts)) / os.sysconf("SC_CLK_TCK")
        except (OSError, ValueError):
            everybody = None
        return cls(time.perf_counter(), time.process_time(), everybody)

    def since(self, before: "Processors") -> dict:
        """The figures from one reading to this one."""
        own, figures = self.own - before.own, {}
        if None not in (self.everybody, before.everybody):
            others = (self.everybody - before.everybody - own) / (self.clock - before.clock) / (os.cpu_count() or 1)
            figures = {"others_share": min(max(others, 0.0), 1.0)}
        return {"processor_seconds": own} | figures


class Meter(Compiling):
    """All of a run, from the moment that it is entered."""

    def __enter__(self) -> "Meter":
        self._processors = Processors.read()
        self._before, self._peak_before = resident_mb(), peak_mb()
        self._most, self._sampled = self._before, 0.0
        super().__enter__()
        return self

    def sample(self) -> None:
        """Look at the memory now; between pieces of work, of which some may take no time."""
        if (now := time.perf_counter()) > self._sampled + BETWEEN:
            self._sampled, self._most = now, max(self._most, resident_mb())

    def figures(self) -> dict:
        """What the run keeps of it."""
        peak, self._most = peak_mb(), max(self._most, resident_mb())
        most = max(self._most, peak) if peak > self._peak_before else self._most
        kept = {"compile_all_seconds": self.seconds, "memory_mb": most - self._before}
        return kept | Processors.read().since(self._processors)
