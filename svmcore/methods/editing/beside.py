"""Fits of several subsets side by side through joblib, as one stage of a session.

Threads by default: the solvers release the GIL, reports and stops pass through. Under joblib.parallel_config a backend
of processes or of a cluster takes the same tasks: arrays and an estimator go out, machines come back; reports then
come when a task is done, and a stop waits for it.
"""

import time
from collections.abc import Callable
from contextvars import copy_context
from functools import partial
from typing import NamedTuple

import numpy as np
from joblib import Parallel, delayed
from joblib.parallel import get_active_backend
from sklearn.base import clone

from svmcore.gram.threads import CORES
from svmcore.memory import MB, ceiling_bytes
from svmcore.model import Machine
from svmcore.solvers.progress import Monitor, Progress, Snapshot, Standing, Stopped
from svmcore.solvers.session import Session
from svmcore.svc import SVC


def of_part(rows) -> Callable[[Standing], Standing]:
    """For a stage that trains on rows (m,) of the training set: maps its snapshots to the whole; None: shows none."""

    def whole(standing: Standing) -> Standing:
        inner = standing.snapshot
        if rows is None or inner is None:
            return standing._replace(snapshot=None)

        def snapshot():
            seen = inner()
            return seen._replace(support=rows[seen.support])

        return standing._replace(snapshot=snapshot)

    return whole


class Trained(NamedTuple):
    """One fit of a task."""

    machine: Machine  # its support counts in the rows of the task
    seconds: float
    evaluations: int
    gap: float
    iterations: int
    ending: str


def train(estimator: SVC, X, y, settings: list[dict], watch: Callable[[], Monitor] | None = None) -> list[Trained]:
    """The estimator on one subset X (r, d), y (r,), once for each of the settings: kernel values are shared. Each fit
    has a monitor of its own from `watch`, which raises when the machines are for nobody any more."""
    done, source = [], None
    for setting in settings:
        monitor = watch and watch()
        if len(settings) > 1:
            source = source or estimator.shared_source(X, 1)
        started = time.perf_counter()
        svc = clone(estimator).set_params(**setting).fit(X, y, monitor=monitor, source=source)
        seconds = time.perf_counter() - started
        ends = svc.kernel_evals_, svc.gap_, int(svc.n_iter_.sum()), svc.ending_
        done.append(Trained(svc.machine_, seconds, *ends))
    return done


class Beside:
    """The tasks of one stage. subsets: the training indices (r,) of each task, to show what a stop would leave."""

    def __init__(self, session: Session, stage: str, subsets):
        self.session, self.subsets = session, subsets
        self.latest: list[Progress | None] = [None] * len(subsets)
        self.done: list[list[Trained]] = []
        session.begin(stage, self.standing)

    def run(self, estimator: SVC, X, y, settings: list[dict], n_jobs: int | None) -> list[list[Trained]]:
        """Every subset of X (n, d), y (n,) with each setting: a list per subset. `done`: what was trained before a
        stop."""
        shared = getattr(get_active_backend(prefer="threads")[0], "supports_sharedmem", False)
        at_a_time = min(CORES, len(self.subsets))
        jobs = at_a_time if n_jobs is None and shared else n_jobs
        # The ceiling is of all together, and the same whatever trains them, so that the machines are
        estimator = clone(estimator).set_params(cache_mb=ceiling_bytes(estimator.cache_mb) / MB / at_a_time)
        parallel = Parallel(n_jobs=jobs, prefer="threads", mmap_mode=None)  # here, where joblib's settings are known

        def all_of_them():
            self.done = parallel(
                delayed(copy_context().run)(train, estimator, X[at], y[at], settings, partial(self._monitor, slot))
                if shared
                else delayed(train)(estimator, X[at], y[at], settings)
                for slot, at in enumerate(self.subsets)
            )

        self.session.beside(all_of_them, [()], 1)
        if not shared:
            self.session.count(evaluations=sum(one.evaluations for task in self.done for one in task))
        return self.done

    def _monitor(self, slot: int) -> Monitor:
        """What one fit of a task reports to, from its thread. Raises the error that has ended the session, if one has:
        after a stop alone each machine is left as it then stands."""
        if self.session.error:
            raise self.session.error
        counted = np.zeros(4, np.int64)

        def monitor(progress: Progress) -> bool:
            costs = progress.kernel_evals, progress.cache_hits, progress.cache_misses, progress.iterations
            *new, iterations = (np.array(costs) - counted).tolist()
            counted[:] = costs
            self.session.count(*new, iterations=iterations)
            self.latest[slot] = progress
            try:
                self.session.check()  # waits while a report is made, so that a pause holds this machine too
            except Stopped:
                return False
            return True

        return monitor

    def standing(self) -> Standing:
        """How the tasks stand that have reported."""
        seen = [progress for progress in self.latest if progress is not None]
        gaps = tuple(gap for progress in seen for gap in progress.gaps)
        sums = (sum(getattr(progress, name) for progress in seen) for name in ("dual", "n_sv", "n_bound"))
        return Standing(gaps, *sums, self._snapshot if seen else None)

    def _snapshot(self) -> Snapshot:
        """The average of the machines as they stand: what a stop now would leave."""
        parts = [
            (self.subsets[slot], progress.snapshot())
            for slot, progress in enumerate(self.latest)
            if progress is not None and progress.snapshot is not None
        ]
        support = np.unique(np.concatenate([at[part.support] for at, part in parts]))
        coef, bound = np.zeros((1, len(support))), np.zeros((1, len(support)), bool)
        for at, part in parts:
            places = np.searchsorted(support, at[part.support])
            coef[0, places] += part.coef[0] / len(parts)
            bound[0, places] |= part.bound[0]
        return Snapshot(support, coef, np.mean([part.bias for _, part in parts], axis=0), bound)
