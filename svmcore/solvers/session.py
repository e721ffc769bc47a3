"""A training session: what all solvers and stages of one fit share.

memory      of Gram matrices, used again from stage to stage
costs       kernel values, cache hits, iterations, seconds since the start
limits      iterations a machine may take, and whether someone has asked for an end
reports     a Progress between bursts, to the monitor, from the thread that fits
errors      the first one of any machine stops the others and is raised at once
"""

import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from contextlib import contextmanager

import numpy as np

from svmcore.gram.sources import Work
from svmcore.gram.threads import Crew, all_at_work, handed_on, one_blas_thread
from svmcore.solvers.progress import Monitor, Progress, Standing, Stopped

MAX_HISTORY = 2000  # reports kept; past it every second one goes
REPORT_SECONDS = 0.04  # between two reports while machines are being solved
ROOMY = 2  # times what is asked for, the largest memory that is lent again
UNLIMITED = 10_000_000, 100  # iterations of a machine where nobody limits them: so many, or so many for each example


class Session(Work):
    """One fit. monitor(progress) returns False to end it; one with an attribute `burst` is asked also whenever a
    machine has moved so many pairs; it may change while the fit lasts. max_iter: pairs that a machine may move in one
    solve; -1: see UNLIMITED.
    """

    def __init__(self, monitor: Monitor | None = None, max_iter: int = -1):
        super().__init__()
        self.monitor, self.max_iter = monitor, max_iter
        self.stopped, self.history, self.iterations = False, [], 0
        self.error: BaseException | None = None  # the first one of a machine or of the monitor
        self._thread, self._started = threading.get_ident(), time.perf_counter()
        self._reported = self._started
        self._gate = threading.RLock()  # workers wait at it while a report is made, so that a pause holds them too
        self._stage, self._standing = "train", lambda: Standing((), 0.0, 0, 0, None)
        self._free: list[np.ndarray] = []  # memory that was used and is not now
        self._lent = self.peak_bytes = 0  # bytes lent now, and at most at a time with those that lay free
        self._moving = threading.Lock()  # of iterations and second_order
        self.second_order = 0  # steps on free sets (free.py)
        self.taken = 0  # machines that another fit had solved (interior.py)
        self.strategy = ""  # where kernel values come from: a Strategy, or another object whose str says so
        self.trace = None  # what the decomposition did, where it was asked to keep a trace

    def __enter__(self) -> "Session":
        """BLAS keeps to one thread while the fit lasts: the pool's threads multiply side by side (gram/threads.py)."""
        one_blas_thread.__enter__()
        return self

    def __exit__(self, *_) -> None:
        """Let go of memory."""
        one_blas_thread.__exit__()
        self.forget_memory()

    @property
    def burst(self) -> int | None:
        """Pairs between two reports that the monitor asks for."""
        return getattr(self.monitor, "burst", None)

    @property
    def seconds(self) -> float:
        """Since the session began."""
        return time.perf_counter() - self._started

    def iteration_limit(self, n: int) -> int:
        """Pairs that a machine of n examples may move: what ends problems that cannot be solved to tol."""
        return self.max_iter if self.max_iter >= 0 else max(UNLIMITED[0], UNLIMITED[1] * n)

    def begin(self, stage: str | Callable[[], str], standing: Callable[[], Standing]) -> None:
        """A stage, whose first report is due at once: its name, or what gives it at the moment, and what says how all
        machines of the fit stand."""
        self._stage, self._standing, self._reported = stage, standing, -np.inf

    def count(self, evaluations=0, hits=0, misses=0, *, iterations=0, second_order=0, taken=0) -> None:
        """As of Work, and what machines have done; from any thread."""
        super().count(evaluations, hits, misses)
        with self._moving:
            self.iterations += iterations
            self.second_order += second_order
            self.taken += taken

    # Reports

    def check(self) -> None:
        """Between pieces of work: report, in the thread that fits; wait for a report, in others; raise in every thread
        what ended the fit."""
        with self._gate:
            self.report()
        if self.stopped:
            raise self.error or Stopped

    def check_when_due(self) -> None:
        """As `check`, between pieces that may take no time: reports where one is due."""
        if self._due or self.stopped:
            self.check()

    def see(self, iterations: int, news: Callable[[], None]) -> bool:
        """From a machine's thread after a burst: take note of its news; whether to go on. No report comes between its
        iterations and its news."""
        with self._gate:
            self.count(iterations=iterations)
            news()
        if self.burst or (self._fits() and self._due):
            self._report()
        return not self.stopped

    def report(self) -> None:
        """Publish a Progress and ask whether to go on, in the thread that fits. What the monitor raises ends the
        fit."""
        if self._fits():
            self._report()

    @property
    def late(self) -> bool:
        """Whether the last report is older than reports should be, whatever the monitor's burst."""
        return time.perf_counter() > self._reported + REPORT_SECONDS

    @property
    def _due(self) -> bool:
        return bool(self.burst) or self.late

    def _fits(self) -> bool:
        return threading.get_ident() == self._thread

    def _report(self) -> None:
        with self._gate:
            self._reported, progress = time.perf_counter(), self.progress()
            try:
                if self.monitor is not None and not self.monitor(progress):
                    self.stopped = True
            except BaseException as error:
                self._fail(error)
            self.history.append(progress._replace(snapshot=None))
            if len(self.history) > MAX_HISTORY:
                del self.history[1:-1:2]

    def progress(self) -> Progress:
        """How the fit stands now."""
        stage = self._stage() if callable(self._stage) else self._stage
        standing = self._standing()
        return Progress(
            stage=stage,
            iterations=self.iterations,
            gap=max(standing.gaps, default=np.inf),
            gaps=standing.gaps,
            dual=standing.dual,
            n_sv=standing.n_sv,
            n_bound=standing.n_bound,
            kernel_evals=self.evaluations,
            cache_hits=self.hits,
            cache_misses=self.misses,
            seconds=round(self.seconds, 3),
            snapshot=standing.snapshot,
        )

    # Machines side by side

    def side_by_side(self, solve: Callable[..., None], tasks: Iterable[tuple], threads: int) -> None:
        """solve(*task) for each task, `threads` at a time, begun in their order; this thread reports. The first error
        stops all and is raised. A thread that is at work beside others already solves its tasks one by one, and an only
        task, which asks by `see` and `check`, needs no thread of its own: that would take longer to start than a tiny
        problem to solve."""
        tasks = list(tasks)
        if len(tasks) > 1:
            return self.beside(solve, tasks, threads)
        for task in tasks:
            solve(*task)
        return self.check_when_due()

    def beside(self, solve: Callable[..., None], tasks: list[tuple], threads: int) -> None:
        """As `side_by_side`, for tasks of which even an only one does not ask whether to go on."""
        if not self._fits() or all_at_work():
            for task in tasks:
                solve(*task)
            return self.check()
        executor, crew = ThreadPoolExecutor(threads, "machine"), Crew(self.check)
        try:
            pending = {handed_on(executor, self._one, crew, solve, *task) for task in tasks}
            while pending:
                done, pending = wait(pending, REPORT_SECONDS, FIRST_COMPLETED)
                for future in done:
                    future.result()
                self.check()
        except BaseException as error:
            self._fail(error)
        finally:
            executor.shutdown(cancel_futures=self.stopped)  # waits for bursts that are under way
        return self.check()

    def _one(self, crew: Crew, solve: Callable[..., None], *task) -> None:
        self.check()
        try:
            crew.work(solve, *task)
        except BaseException as error:
            self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """End the fit by an error, and raise the first one; others are stops that it has caused."""
        self.stopped = True
        if self.error is None and not isinstance(error, Stopped):
            self.error = error
        raise self.error or error

    # Memory

    @contextmanager
    def memory(self, size: int) -> Iterator[np.ndarray]:
        """float32 memory for at least `size` numbers, not cleared: pages in use are sooner filled than fresh ones.

        What lies free and does not fit is given back, so that memory of another stage does not add to this one's.
        """
        with self._gate:
            fitting = [array for array in self._free if size <= len(array) <= ROOMY * size]
            array = min(fitting, key=len, default=None)
            self._free = [] if array is None else [other for other in self._free if other is not array]
        array = np.empty(size, np.float32) if array is None else array
        with self._gate:
            self._lent += array.nbytes
            self.peak_bytes = max(self.peak_bytes, self._lent + sum(other.nbytes for other in self._free))
        try:
            yield array
        finally:
            with self._gate:
                self._lent -= array.nbytes
                self._free.append(array)

    def forget_memory(self) -> None:
        """At the end of a stage: give memory back, and let go of the solver, whose Gram matrix lies in it."""
        standing = self._standing()
        self._standing = lambda: standing
        with self._gate:
            self._free.clear()


class Part:
    """A session as some of its machines see it that are solved beside the others, in a thread of their own.

    How they stand, and how they were solved, is kept here, for whoever puts the parts of the fit together; all else is
    the session's.
    """

    def __init__(self, session: Session, standing: Callable[[], Standing]):
        vars(self).update(_session=session, standing=standing, strategy="", trace=None)

    def begin(self, stage: str, standing: Callable[[], Standing]) -> None:
        """As of a session; the stage is the fit's."""
        self.standing = standing

    def __getattr__(self, name):
        return getattr(self._session, name)

    def __setattr__(self, name, value):
        if name in vars(self):
            vars(self)[name] = value
        else:
            setattr(self._session, name, value)


def ending(gaps, tol: float, iterations, limit: int, futile=False, cramped=False) -> str:
    """Why machines with these gaps and iterations (k,) ended above tol, in words; empty where all are at tol. futile
    (k,): second-order steps came no nearer; cramped (k,): they lack memory."""
    left = ~(gaps <= tol)  # a gap that is not a number is not at tol
    if not left.any():
        return ""
    who = f"{np.count_nonzero(left)} of {len(gaps)} machines" if len(gaps) > 1 else "the machine"
    limited = (left & (iterations >= limit)).any()
    if not np.isfinite(gaps).all():
        why = ": kernel values times C are too large for floating-point numbers"
    elif limited:
        why = f", after max_iter = {limit:,} pairs"
    elif (left & futile).any():
        why = ": neither pairs of alphas nor second-order steps reduce the gap further"
    else:
        why = ": rounding errors are as large as the gap"
    more = ("more pairs, " if limited else "") + ("a larger cache_mb, " if (left & cramped).any() else "")
    ways = f"use {more}a smaller C, a larger tol or scaled features"
    return f"{who} ended at a gap of {gaps.max():.2g}, above tol = {tol:g}{why}; {ways}"
