"""Threads for compiled kernels and for BLAS: one pool for each priority, one BLAS thread while many products are made.

Compiled kernels release the GIL, so threads are enough. A pool's threads keep the priority of the thread that started
them (Linux): each priority has a pool of its own, so that a page never waits for threads that a run in the background
had started. A forked process starts with no pools, as threads do not survive a fork.

Whoever solves several machines side by side (solvers/session.py) does so in a Crew. While it has a thread for every
core, each computes its own calls one after the other: threads of the pool would only take a core from its neighbours.
"""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ContextDecorator, contextmanager
from contextvars import ContextVar, copy_context
from functools import cache
from itertools import pairwise

import numpy as np
import threadpoolctl
from threadpoolctl import LibController, ThreadpoolController

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1  # for this process


def cut(n: int, count: int) -> list[slice]:
    """range(n) in `count` pieces, equal but for one."""
    bounds = [n * i // max(count, 1) for i in range(count + 1)]
    return [slice(a, b) for a, b in pairwise(bounds)]


class Crew:
    """Threads at work side by side. check: called by each of them between two calls; may raise to stop."""

    def __init__(self, check: Callable[[], None] = lambda: None):
        self.check, self.at_work, self._lock = check, 0, threading.Lock()

    @property
    def full(self) -> bool:
        """Whether every core has a thread of the crew."""
        return self.at_work >= CORES

    def work(self, task: Callable, *arguments):
        """task(*arguments) as one of the crew; in a thread and a context that are its own."""
        _crew.set(self)
        with self._lock:
            self.at_work += 1
        try:
            return task(*arguments)
        finally:
            with self._lock:
                self.at_work -= 1


_crew: ContextVar[Crew | None] = ContextVar("crew", default=None)
_check: ContextVar[Callable[[], None]] = ContextVar("check", default=lambda: None)
_here = threading.local()  # of_pool: in a pool's own threads


@contextmanager
def attended(check: Callable[[], None]) -> Iterator[None]:
    """Within it all work in pieces, also in threads that this one starts, calls `check` in between, which may raise."""
    token = _check.set(check)
    try:
        yield
    finally:
        _check.reset(token)


def between_pieces() -> None:
    """For work in pieces that are no calls of `side_by_side`: what `attended` asks for."""
    _check.get()()


def all_at_work() -> bool:
    """Whether this thread is one of a crew that keeps every core busy."""
    return (crew := _crew.get()) is not None and crew.full


def side_by_side(kernel, calls) -> None:
    """Call a kernel that releases the GIL with each tuple of arguments, on the pool where there are several calls and
    cores are free for it, but for the first of no more calls than cores, which this thread makes; in a thread of a pool
    one after the other, as it would wait for itself."""
    crew, check = _crew.get(), _check.get()
    if len(calls) == 1 or all_at_work() or getattr(_here, "of_pool", False):
        for call in calls:
            check()
            if crew:
                crew.check()
            kernel(*call)
        return
    own = 1 if len(calls) <= CORES else 0
    futures = [handed_on(_pool(_priority()), kernel, *call) for call in calls[own:]]
    try:
        for call in calls[:own]:
            kernel(*call)
            check()
        for future in futures:
            future.result()
            check()
    except BaseException:
        for future in futures:
            future.cancel()
        wait(futures)  # none may write any more to memory that is used for something else next
        raise


def handed_on(pool: ThreadPoolExecutor, work: Callable, *arguments) -> Future:
    """Submit work in the context of the caller (contextvars), so that who measures a fit also measures what its
    threads do, and nothing of another fit on the same pool."""
    return pool.submit(copy_context().run, work, *arguments)


def _priority() -> int:
    """Niceness of the calling thread, where threads have their own."""
    return os.getpriority(os.PRIO_PROCESS, threading.get_native_id()) if sys.platform == "linux" else 0


@cache
def _pool(priority: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(CORES, f"svmcore-{priority}", initializer=_here.__setattr__, initargs=("of_pool", True))


class _OneThread(ContextDecorator):
    """BLAS on one thread while any thread is inside: the pool's threads multiply side by side, and no thread of BLAS's
    own waits for its next product on a core that they need. Entering and leaving at every product would cost more than
    it saves: hold it around many. The same for OpenMP, whose threads inside scikit-learn wait by spinning."""

    def __init__(self, api: str = "blas"):
        self.api = api
        self.inside, self.lock, self.previous = 0, threading.Lock(), []

    def __enter__(self):
        with self.lock:
            self.inside += 1
            if self.inside == 1:
                self.previous = _limited(self.api)

    def __exit__(self, *_):
        with self.lock:
            self.inside -= 1
            if not self.inside:
                _restore(self.previous)


one_blas_thread, one_openmp_thread = _OneThread("blas"), _OneThread("openmp")
# Of symmetric matrices of some hundred to a few thousand rows: BLAS threads wait for each other by spinning, thousands
# of times in one decomposition, which costs most beside a busy core (tests/bench/NOTES.md).
eigh, eigvalsh = one_blas_thread(np.linalg.eigh), one_blas_thread(np.linalg.eigvalsh)


def _limited(api: str) -> list[tuple[LibController, int]]:
    """Keep the libraries of an interface to one thread; returns them with their previous numbers of threads."""
    previous = [(library, library.num_threads) for library in _libraries() if library.user_api == api]
    _restore([(library, 1) for library, _ in previous])
    return previous


def _restore(threads: list[tuple[LibController, int]]) -> None:
    """Set the number of threads of each library, from whichever thread: newer threadpoolctl does nothing, without a
    word, where another thread that lives has changed them before."""
    _release(force=True)
    try:
        for library, count in threads:
            library.set_num_threads(count)
    finally:
        _release(force=True)


_release = getattr(getattr(threadpoolctl, "OpenBLASController", None), "clear_controlling_thread", lambda force: None)


@cache
def _libraries() -> list[LibController]:
    return ThreadpoolController().lib_controllers


def _begin_anew() -> None:
    """In a forked process: no pools, and nobody inside; BLAS keeps one thread where it had one at the fork."""
    _pool.cache_clear()
    if _held:
        _restore(_held.pop())
    for one in (one_blas_thread, one_openmp_thread):
        one.__init__(one.api)


def _hold_blas() -> None:
    """Before a fork: OpenBLAS ends its threads then, and waits for ever for one whose work another thread of ours has
    not yet had back. So it is kept to one thread, and what is under way is given the time that it takes at most."""
    one_blas_thread.lock.acquire()
    if _libraries.cache_info().currsize:  # else nobody has multiplied yet
        _held.append(_limited("blas"))
        if threading.active_count() > 1:
            threading.Event().wait(LONGEST)  # nobody can say when a native call has come back


def _let_blas_go() -> None:
    if _held:
        _restore(_held.pop())
    one_blas_thread.lock.release()


LONGEST = 0.3  # seconds of a product: longer ones are made in tiles
_held: list = []

if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_hold_blas, after_in_parent=_let_blas_go, after_in_child=_begin_anew)
