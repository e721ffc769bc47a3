"""Runs killed by SIGKILL: at a random moment, or at one of their calls that change a file, in the middle of it.

Each victim is forked from a process that has imported everything, so that a kill costs half a run. Afterwards every
other run of the home is as it was to the last byte, the killed one is done or interrupted and gives back all that it
had, nobody owns it, and the next run of the same home begins. One in six is left to its end.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from svmcore import __main__ as cli
from svmcore.lab import jobs, train
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import folders, runs
from tests.bench.soak import Budget, draw, fell, forks, homes, row, temporary_home

PER_HOME = 15  # victims that one home holds, beside the runs that it began with
HARD = 120.0  # seconds that a victim may take
CALLS = ("replace", "write", "fsync", "mkdir", "unlink")  # of os; a run makes 43 to 101, its folder stands after 16
FEWEST_CALLS, MOST_CALLS = 8, 80


def kills(budget: Budget, seed: int) -> list[dict]:
    """SIGKILL at a random moment and at random calls, through the command line and through a worker."""
    with temporary_home() as template:
        forks.alone(homes.fill)
        live = _Live(template)
        counts, failures, began = {"interrupted": 0, "done": 0, "not yet there": 0}, [], time.monotonic()
        for number, said in forks.shared(
            lambda number: live.attempt(seed, number),
            budget.numbers(),
            workers=1,
            patience=2 * HARD,
            chunk=budget.count,
        ):
            how, _, reason = said.partition("|")
            counts[how] = counts.get(how, 0) + 1
            if reason or how not in ("interrupted", "done", "not yet there"):
                failures.append(fell("kills", seed, number, reason or said))
        tries = sum(counts.values())
        each = round((time.monotonic() - began) / max(tries, 1), 2)
    found = {name: counts[name] for name in ("interrupted", "done", "not yet there")}
    return [row("runs of every method killed", tries, failures, **found, seconds_each=each)]


class _Live:
    """A home in which one victim after the other runs, and the runs in it that must stay as they are."""

    def __init__(self, template: Path):
        self.template, self.entered, self.victims, self.whole = template, None, 0, {}
        self.took: dict[str, float] = {}  # kind -> seconds of a run that nobody killed, the latest ones counting most

    def attempt(self, seed: int, number: int) -> str:
        """`how it ended|what fell` of one kill."""
        if self.entered is None or self.victims >= PER_HOME:
            self._move()
        if not self.took:
            self._warm_up()
        self.victims += 1
        rng = draw(seed, number)
        kind = rng.choice(list(homes.KINDS))
        left_alone = rng.random() < 1 / 6
        at_call = int(rng.integers(FEWEST_CALLS, MOST_CALLS)) if not left_alone and rng.random() < 0.5 else None
        delay = None if left_alone or at_call is not None else rng.uniform(0, 0.9) * self.took[kind]
        began, there = time.monotonic(), len(os.listdir(runs.home() / "runs"))
        pid = _victim(kind, bool(rng.random() < 0.5), at_call)
        if delay is not None and rng.random() < 0.9:  # most kills once its folder stands
            while len(os.listdir(runs.home() / "runs")) == there and time.monotonic() < began + HARD and _lives(pid):
                time.sleep(0.002)
        status = _ended(pid, delay)
        if left_alone:
            self.took[kind] = (self.took[kind] + time.monotonic() - began) / 2
        how, reason = self._judged()
        if left_alone and (status != 0 or how != "done"):
            reason = reason or f"a run of {kind} that nobody killed ended with {status}, {how}"
        return f"{how}|{reason and f'{kind}: {reason}'}"

    def _warm_up(self) -> None:
        """Load in this process what victims run, so that they need not."""
        for kind, recipe in homes.KINDS.items():
            train.execute(recipe)
            began = time.monotonic()
            train.execute(recipe)
            self.took[kind] = time.monotonic() - began + 0.2

    def _move(self) -> None:
        """To a new home."""
        if self.entered is not None:
            self.entered.__exit__(None, None, None)
        self.entered = homes.copied(self.template)
        self.entered.__enter__()
        self.victims, self.whole = 0, {run.id: homes.digest(run.path) for run in runs.everything()}

    def _judged(self) -> tuple[str, str]:
        """How the newest run stands, and what is wrong with it or with any other."""
        here = {run.id: run for run in runs.everything()}
        for run_id, was in self.whole.items():
            if run_id not in here:
                return "", f"run {run_id} is gone"
            if homes.digest(here[run_id].path) != was:
                return "", f"run {run_id} is not as it was"
        new = [here[run_id] for run_id in here if run_id not in self.whole]
        reason = next((wrong for run in new if (wrong := _wrong(run))), "")
        self.whole |= {run.id: homes.digest(run.path) for run in new}
        return new[0].state if new else "not yet there", reason


def _wrong(run: runs.Run) -> str:
    """What is not as it should be of a run whose process was killed."""
    if run.state not in ("interrupted", "done"):
        return f"it is {run.state}: {run.message}"
    if folders.is_owned(run.path):
        return "somebody owns it"
    whole = [line for line in _bytes(run.path / "progress.jsonl").split(b"\n")[:-1] if line.endswith(b"}")]
    if len(run.progress()) != len(whole):
        return f"{len(run.progress())} of {len(whole)} lines of progress are read"
    if run.state == "done":
        run.check()
    if (run.path / "split.npz").exists():
        run.train_index()
    for part in range(run.parts()):
        run.machine(part), run.test(part)
    return "" if not run.damage and run.title and run.recipe else f"it is damaged: {run.damage}"


def _bytes(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


def _victim(kind: str, through_cli: bool, at_call: int | None) -> int:
    """Process id of a run at work."""
    pid = os.fork()
    if pid:
        return pid
    status = 1
    try:
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        if at_call is not None:
            _die_at(at_call)
        RECIPES["soak"] = recipe = homes.KINDS[kind]
        if through_cli:
            status = cli.main(["run", "soak", "--json"])
        else:
            status = int(jobs.wait(jobs.submit(recipe), HARD).state != "done")
    finally:
        os._exit(status)


def _die_at(call: int) -> None:
    """Let this process kill itself at its n-th call that changes a file: half done where it writes."""
    left = [call]

    def deadly(name):
        real = getattr(os, name)

        def called(*arguments, **options):
            left[0] -= 1
            if left[0] == -1:
                if name == "write":
                    real(arguments[0], arguments[1][: len(arguments[1]) // 2])
                elif call % 2:
                    real(*arguments, **options)
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*arguments, **options)

        return called

    for name in CALLS:
        setattr(os, name, deadly(name))


def _lives(pid: int) -> bool:
    """Whether a process of ours has not ended; its status is left for `_ended`."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None


def _ended(pid: int, delay: float | None) -> int:
    """Exit status of a process, killed after a delay unless that is None."""
    ends = time.monotonic() + (HARD if delay is None else delay)
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() >= ends:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return -signal.SIGKILL
        time.sleep(0.002)
