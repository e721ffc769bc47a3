"""Runs in the background: one bounded queue a process; a run is found by its id from any page, session or thread.

A run is a thread of its own; at most MAX_RUNNING of them are at work at a time, on a cluster (cluster.py) as many as it
has workers, to which the threads then only listen (relay.py). The states of the jobs (job.py) are all that the queue
keeps: who waits and how many run is read off them. They change in `Queue._become` alone, which starts what there is
room for and wakes whoever waits, so that no change can forget to. One lock guards them; nobody holds it while working
or waiting. A run of seconds goes before longer ones, also before one that is at work, which stands aside between two
bursts and goes on after it. Whoever cancels a run ends it, and the worker sees that between two bursts: its place is
free when its thread has ended.
"""

import atexit
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress

from data import permission
from svmcore.gram.threads import CORES, Crew
from svmcore.lab.forecast import Estimate, estimate
from svmcore.lab.jobs import relay, worker
from svmcore.lab.jobs.cluster import CLUSTER
from svmcore.lab.jobs.job import CHANGES, ENDED, Job, Status
from svmcore.lab.priority import yield_to_others
from svmcore.lab.recipe import Recipe
from svmcore.lab.store import folders, runs
from svmcore.lab.tasks import task_of
from svmcore.lab.train import KEPT
from svmcore.memory import give_back

MAX_RUNNING = 1  # two cores serve one run, but for small ones (`Job.small`)
MAX_QUEUED = 1000  # all runs of a paper, and some more
NOTICED_MB = 100  # a run that took less leaves little, and a collection holds up this process for 0.2 s
JOBS_KEPT = 50  # finished jobs whose last look stays in memory
PAUSING = "Pausing after the current step"
EXIT_SECONDS = 3.0  # that the end of the process waits for workers to stop
CLOSED = "The app was closed while the run was active"
_submitting = threading.Lock()  # one run is submitted at a time, so that each sees the one before
SMALL = Crew()  # small runs side by side, each of which works on one core
_log = logging.getLogger(__name__)


class QueueFull(RuntimeError):
    """Too many runs wait already."""


class Queue:
    """The jobs of a process, by run id in the order in which they came."""

    def __init__(self):
        self.changed = threading.Condition()  # its lock guards all that follows
        self._jobs: dict[str, Job] = {}
        self._closing = threading.Event()
        self._beside: list[threading.Thread] = []  # at work beside the runs

    def require_room(self) -> None:
        """QueueFull when as many runs wait as may."""
        with self.changed:
            fresh = sum(job.thread is None and job.state in runs.ACTIVE for job in self._jobs.values())
        if fresh >= MAX_QUEUED:
            raise QueueFull(f"{fresh} runs are already waiting; cancel one, or wait until one ends")

    def put(self, run: runs.Run, forecast: Estimate, looks: bool = True) -> None:
        """Let a new run wait for its turn. forecast: what it will need; looks: whether its live looks are wanted."""
        with self.changed:
            for old in [job for job in self._jobs.values() if job.state in ENDED and not job.at_work][:-JOBS_KEPT]:
                del self._jobs[old.run.id]
            self._jobs[run.id] = Job(run, forecast, self.changed, self.stand_aside, looks)
            self._dispatch()

    def status(self, run_id: str) -> Status:
        """State, progress, time left and latest look of a run, at work here or found in the store. UnknownRun."""
        with self.changed:
            job = self._jobs.get(run_id)
            if job is not None and job in (line := self._line()):
                return self._waiting(job, line)
        if job is not None and job.state not in ENDED:
            return job.now()
        run = runs.get(run_id)  # it may have been deleted since it ended
        if job is not None and not run.damage:
            now = job.now()
            if now.state != run.state:
                folders.look_again()  # it ended after this thread's look at the store
            return now
        if run.damage:
            return Status("damaged", message=run.damage)
        lines = run.progress()
        return Status(run.state, lines[-1] if lines else None, None, run.message)

    def forecast(self, run_id: str) -> Estimate:
        """What a run of this process was forecast to need when it was submitted."""
        return self._job(run_id).forecast

    def _waiting(self, job: Job, line: list[Job]) -> Status:
        """Who is before a run that waits its turn, and how long these will take."""
        ahead = [other for other in self._jobs.values() if other.state == "running"] + line[: line.index(job)]
        others = f"{len(ahead)} other run{'s' if len(ahead) != 1 else ''}"
        alone = "Waits until a cancelled run frees the cores"
        if CLUSTER.places() == 0:
            alone = CLUSTER.trouble or f"Waits for a worker of {CLUSTER.address}"
        return job.now()._replace(
            message=f"Waits for {others}" if ahead else alone,
            ahead=tuple(other.run.id for other in ahead),
            wait_seconds=sum(other.left for other in ahead) / max(_places(job.small), 1),
        )

    def active(self) -> list[str]:
        """Ids of the runs of this process that are queued, running or paused, oldest first."""
        with self.changed:
            return [run_id for run_id, job in self._jobs.items() if job.state in runs.ACTIVE]

    def waiting(self) -> list[str]:
        """Ids of the runs that wait their turn, the next one first."""
        with self.changed:
            return [job.run.id for job in self._line()]

    def move(self, run_id: str, to: str) -> None:
        """Change the place of a waiting run: "first", "sooner" or "later". No effect on one that has begun."""
        permission.require("change")
        with self.changed:
            fresh = [job for job in self._line() if job.thread is None]
            now = next((at for at, job in enumerate(fresh) if job.run.id == run_id), None)
            if now is None:
                return
            ranks = [job.rank for job in fresh]
            fresh.insert({"first": 0, "sooner": max(now - 1, 0), "later": now + 1}[to], fresh.pop(now))
            for job, rank in zip(fresh, ranks, strict=True):
                job.rank = rank

    def pause(self, run_id: str) -> None:
        """Hold a run after its burst; another may use its place. No effect on one that has ended."""
        permission.require("change")
        job = self._job(run_id)
        with self.changed:
            if job.state == "running":
                job.publish(message=PAUSING)
            job.hold = True
            if job.state == "queued":
                self._become(job, "paused")

    def resume(self, run_id: str) -> None:
        """Let a paused run go on, as soon as there is a place for it."""
        permission.require("change")
        job = self._job(run_id)
        with self.changed:
            job.hold = False
            if job.state == "paused":
                self._become(job, "queued")

    def cancel(self, *run_ids: str) -> None:
        """End runs, wherever they are, without starting another of them; their threads follow when they can. No effect
        on those that have ended."""
        permission.require("change")
        stopped = [job for run_id in run_ids if (job := self._job(run_id)).state not in ENDED]
        for job in stopped:
            job.stop.set()
        for job in stopped:
            self._end(job, "cancelled", "")

    def wait(self, run_id: str, timeout: float | None = None) -> Status:
        """Wait until a run of this process has ended (or for `timeout` seconds), and say how."""
        job = self._job(run_id)
        with self.changed:
            self.changed.wait_for(lambda: job.state in ENDED, timeout)
        return job.now()

    def stand_aside(self, job: Job) -> None:
        """For a worker whose run is on hold, or lets another go first: give its place away and wait for one."""
        if job.hold:
            job.write(_tell_store, job.run, "paused")
        with self.changed:
            if (job.hold or job.aside) and not job.stop.is_set():
                job.aside = False
                self._become(job, "paused" if job.hold else "queued", message="")
                self.changed.wait_for(lambda: job.stop.is_set() or job.state == "running")
        job.write(_tell_store, job.run, "running")

    def at_work(self) -> bool:
        """Whether a run is at work on this computer."""
        with self.changed:
            return any(job.at_work for job in self._jobs.values()) and not CLUSTER.address

    def give_way(self, gone: Callable[[], bool]) -> None:
        """For work beside the runs: wait while one is at work, or until `gone()`, asked again after `look_again`."""
        with self.changed:
            self.changed.wait_for(lambda: gone() or not self.at_work())

    def look_again(self) -> None:
        """Wake whoever waits, and begin what there is room for: there may be other workers."""
        with self.changed:
            self._dispatch()
            self.changed.notify_all()

    @property
    def closing(self) -> bool:
        """Whether the process ends."""
        return self._closing.is_set()

    def also_wait_for(self, thread: threading.Thread) -> None:
        """Let the end of the process wait for a thread that works beside the runs, as it waits for theirs."""
        self._beside = [*(other for other in self._beside if other.is_alive()), thread]

    def close(self) -> None:
        """At the end of the process: cancel what is at work, and give it a moment to say so in the store."""
        self._closing.set()
        self.look_again()
        self.cancel(*self.active())
        deadline = time.monotonic() + EXIT_SECONDS
        of_runs = [job.thread for job in list(self._jobs.values()) if job.thread is not None]
        for thread in (*of_runs, *self._beside):
            thread.join(max(0.0, deadline - time.monotonic()))
        CLUSTER.close()

    # States; all of these want the lock to be held

    def _become(self, job: Job, state: str, **news) -> None:
        """The one place where a job's state changes. RuntimeError for a change that CHANGES does not have."""
        if state not in CHANGES[job.state]:
            raise RuntimeError(f"run {job.run.id} is {job.state} and cannot become {state}")
        job.tell(state=state, **news)
        if state == "running" and job.thread is None:
            self._start(job)
        self._dispatch()
        self.changed.notify_all()

    def _dispatch(self) -> None:
        """Give a free place to the next in the line; `_become` comes back here for the one after it. Where none is free
        and the next is a run of seconds, ask a longer one to stand aside."""
        if not (line := [job for job in self._line() if not self._lacks_machine(job)]):
            return
        running = [job for job in self._jobs.values() if job.at_work]
        if len(running) < _places(all(job.small for job in (*running, line[0]))):
            self._become(line[0], "running")
        elif line[0].quick and line[0].thread is None:
            longer = [job for job in self._jobs.values() if job.state == "running" and not job.quick]
            if longer and not any(job.aside for job in longer):
                max(longer, key=lambda job: job.left).aside = True

    def _line(self) -> list[Job]:
        """Who waits for a place: runs of seconds first, then those that have begun and hold memory, then the others."""
        waiting = [job for job in self._jobs.values() if job.state == "queued" and not job.stop.is_set()]
        return sorted(waiting, key=lambda job: (job.rank[0], job.thread is None, job.rank))

    def _lacks_machine(self, job: Job) -> bool:
        """Whether the machine that a run begins with is being trained, beside it on a cluster."""
        before = self._jobs.get(job.begins_with)
        return before is not None and before.state == "running"

    def _start(self, job: Job) -> None:
        job.publish(message="Starting")
        job.thread = threading.Thread(target=self._work, args=(job,), name=f"run-{job.run.id}", daemon=True)
        try:
            job.thread.start()
        except RuntimeError as error:  # the system has no more threads
            job.thread = None
            self._end(job, "failed", str(error))

    # Work, without the lock

    def _work(self, job: Job) -> None:
        """The thread of a job."""
        try:
            yield_to_others()
            ending = SMALL.work(relay.carry_out, job) if job.small else relay.carry_out(job)
        except BaseException as error:
            ending = "failed", worker.explain(error)
        self._end(job, *ending)
        with self.changed:
            job.gone = True
            self._dispatch()
            self.changed.notify_all()
        if not self.at_work():
            KEPT.clear()  # nobody waits for what compared runs have shared
            if job.forecast.memory_mb > NOTICED_MB:  # a training leaves cycles, which Python may not collect for hours
                give_back()

    def _end(self, job: Job, state: str, message: str) -> None:
        """Write down how a run ended and let go of it, whatever fails of that: a full disk leaves the last word to this
        process's memory. One of many that never began leaves nothing. No effect on one that has ended."""
        if state == "cancelled" and self.closing:
            message = CLOSED

        def farewell() -> None:
            begun = state != "cancelled" or job.thread is not None or job.run.group is None
            tell = (lambda: _tell_store(job.run, state, message)) if begun else job.run.forget
            for word in (tell, job.run.release):
                try:
                    word()
                except Exception as error:
                    _log.error("run %s has ended, but some of its files remain", job.run.id, exc_info=error)

        if job.end(farewell, unless_done=state == "cancelled"):
            with self.changed:
                self._become(job, state, message=message, eta_seconds=None)

    def _job(self, run_id: str) -> Job:
        with self.changed:
            job = self._jobs.get(run_id)
        if job is None:
            run = runs.get(run_id)
            raise runs.RunBusy(f"run {run.id} is {run.state} and belongs to another process")
        return job


def submit(
    recipe: Recipe,
    *,
    looks: bool = True,
    parent: str | None = None,
    group: runs.Group | None = None,
    once_in: float = 0.0,
    broken_off: str | None = None,
    needed: Estimate | None = None,
) -> str:
    """Queue a run and return its id: its dataset is pinned, what it needs is forecast, the machine that it begins with
    is found or queued before it; then the run is stored.

    looks: False spares the live looks when nobody will see them. parent: id of the run that it grew out of. group: what
    it is started together with others for. once_in: seconds in which the same recipe, asked for again, is the run that
    it already was: a double click, two tabs. Of a revision of a dataset a run keeps the state that it is in now, so
    that verdicts given later change nothing of what the run says. broken_off: id of a run of this recipe that ended
    before it was done: the new one goes on from what that has left. needed: its forecast, where that is known.

    Forbidden; RecipeError for what no new run may ask for, BudgetError when it cannot fit into memory here,
    UnknownDataset, QueueFull, OSError when the disk takes no new run, ClusterError where one is to do it that is not
    there; with `broken_off` UnknownRun, and ValueError where the run cannot go on from that one.
    """
    permission.require("train", recipe)
    CLUSTER.settle()
    recipes = [recipe] if recipe.origin is recipe or parent else [recipe.origin, recipe]
    for asked in recipes:
        asked.check_new()
    recipes = [task_of(asked).pinned(asked) for asked in recipes]
    needs = [needed] if needed and len(recipes) == 1 else [estimate(asked) for asked in recipes]
    with _submitting:
        *machine, wanted = recipes
        if already := runs.asked_within(wanted, once_in):
            return already.id
        left = runs.left_by(broken_off, wanted.outcome) if broken_off else None
        if machine and (there := runs.with_machine(machine[0])):
            parent, recipes, needs = there.id, [wanted], needs[1:]
        for need in needs:
            if not CLUSTER.address:  # whose workers have memories of their own
                need.require()
        QUEUE.require_room()
        for asked, need in zip(recipes, needs, strict=True):
            theirs = (group, left) if asked is wanted else ()  # of the machine before it neither
            try:
                run = runs.create(asked, parent, *theirs)
            except OSError as error:
                raise OSError(worker.explain(error)) from error
            QUEUE.put(run, need, looks)
            parent = run.id
        return run.id


def _places(small: bool) -> int:
    """How many runs may be at work at a time; small: whether all of them are cells of few examples."""
    places = CLUSTER.places()
    return (CORES if small else MAX_RUNNING) if places is None else places


def _tell_store(run: runs.Run, state: str, message: str = "") -> None:
    """On a full disk the state in memory stands alone; the next progress line fails the run, if it comes to one."""
    with suppress(OSError):
        run.set_state(state, message)


def before_threads_are_joined(close: Callable[[], None]) -> None:
    """Call `close` when the process ends, before it waits for its threads.

    Python has no public way: atexit's turn comes only after the end of every pool's threads, and those that wait in a
    paused run would never end. Without the private one atexit it is, and only a paused run holds up the end.
    """
    register = getattr(threading, "_register_atexit", atexit.register)
    register(close)


QUEUE = Queue()  # of this process
status, active, waiting, wait, forecast = QUEUE.status, QUEUE.active, QUEUE.waiting, QUEUE.wait, QUEUE.forecast
pause, resume, cancel, move = QUEUE.pause, QUEUE.resume, QUEUE.cancel, QUEUE.move
CLUSTER.changed = QUEUE.look_again
before_threads_are_joined(QUEUE.close)
