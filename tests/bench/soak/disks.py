"""Disks that are full, may not be written, or lie at odd places: a clear word, and nothing that was kept is lost.

A home on a small file system of its own (tmpfs, where mounting is allowed; else files that may not grow beyond a bound)
is filled to so many bytes before a run begins or while it is at work. Then every earlier run is as it was, the new one
has ended and says why or is done, nothing half-written is left, and with room again the next run works.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from svmcore import __main__ as cli
from svmcore.lab import jobs, train
from svmcore.lab.presets import RECIPES
from svmcore.lab.store import runs
from tests.bench.soak import ROOT, Budget, draw, fell, forks, homes, row, temporary_home
from tests.homes import lend_compiled

SIZE = 24 << 20  # bytes of the small file system
HARD = 120
PLACES = ("a b c", "имя 名前", "-x", "a'b\"c", "a%20b", "x" * 200, "a\nb", "[a]*?", "a:b", "~x")


def disks(budget: Budget, seed: int) -> list[dict]:
    """A full disk at several levels, then odd homes."""
    failures, counts = [], {"done": 0, "failed": 0, "refused": 0}
    with temporary_home() as template:
        forks.alone(homes.fill)
        full = _Full(template)
        work = lambda number: full.attempt(seed, number)  # noqa: E731
        for number, said in forks.shared(work, budget.numbers(), workers=1, patience=2 * HARD, chunk=budget.count):
            how, _, reason = said.partition("|")
            counts[how] = counts.get(how, 0) + 1
            if reason or how not in ("done", "failed", "refused"):
                failures.append(fell("disks", seed, number, reason or said))
    kind = "a file system of its own" if _may_mount() else "files that may not grow"
    tries = sum(counts.values())
    rows = [
        row(f"a disk that is full ({kind})", tries, failures, **{n: counts[n] for n in ("done", "failed", "refused")})
    ]
    return [*rows, _odd_homes()]


class _Full:
    """The place where homes are filled."""

    def __init__(self, template: Path):
        self.template, self.warm = template, False

    def attempt(self, seed: int, number: int) -> str:
        """`how the run ended|what fell` of one full disk."""
        rng = draw(seed, number)
        if not self.warm:
            self.warm = [train.execute(recipe) for recipe in homes.KINDS.values()] != []
        kind = str(rng.choice(list(homes.KINDS)))
        left = int(rng.choice([0, 1, 4, 12, 16, 20, 24, 28, 32, 40, 64, 100, 200, 400])) * 1024
        delay = rng.uniform(0, 1.0) if rng.random() < 0.5 else 0.0
        with _small_home(self.template) as home:
            before = {run.id: homes.digest(run.path) for run in runs.everything()}
            if delay == 0:
                _fill(home, left)
            pid = _started(kind, left if not _may_mount() else None)
            if delay:
                time.sleep(delay)
                _fill(home, left)
            code = _waited(pid)
            return self._judged(before, home, f"{kind}, {left >> 10} kB left after {delay:.2f} s", code)

    def _judged(self, before: dict, home: Path, what: str, code: int) -> str:
        here = {run.id: run for run in runs.everything()}
        lost = [
            run_id for run_id, was in before.items() if run_id not in here or homes.digest(here[run_id].path) != was
        ]
        if lost:
            return f"odd|{what}: {lost} is not as it was"
        new = [run for run_id, run in here.items() if run_id not in before]
        how = "refused" if not new else new[0].state
        for run in new:
            if run.state == "done":
                run.check()
            elif run.state not in ("failed", "interrupted") or (run.state == "failed" and not run.message):
                return f"odd|{what}: it is {run.state}, {run.message!r}"
        if left := [str(path.relative_to(home)) for path in home.rglob(".*") if path.name not in (".ballast",)]:
            return f"odd|{what}: left behind {left[:3]}"
        if new and (new[0].path / "ballast").exists():
            return f"odd|{what}: the ballast is left"
        (home / "filler").unlink(missing_ok=True)
        if _waited(_started("sv", None)) != 0:
            return f"odd|{what}: with room again the next run does not work"
        return f"{'failed' if how == 'interrupted' else how}|" + (
            "" if code in (0, 1, 2) else f"{what}: exit code {code}"
        )


@contextmanager
def _small_home(template: Path) -> Iterator[Path]:
    with temporary_home() as folder:
        mounted = _may_mount() and _mount(folder)
        try:
            shutil.copytree(template, folder, dirs_exist_ok=True, symlinks=True, ignore=shutil.ignore_patterns("numba"))
            yield folder
        finally:
            if mounted:
                subprocess.run(["umount", "-l", str(folder)], check=False)


def _mount(folder: Path) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def _may_mount() -> bool:
    if not hasattr(_may_mount, "known"):
        with temporary_home() as folder:
            _may_mount.known = shutil.which("mount") is not None and _mount(folder)
            if _may_mount.known:
                subprocess.run(["umount", str(folder)], check=False)
    return _may_mount.known


def _fill(home: Path, left: int) -> None:
    """Leave so many bytes on a small file system."""
    if not _may_mount():
        return
    with suppress(OSError), (home / "filler").open("wb", buffering=0) as file:
        os.posix_fallocate(file.fileno(), 0, max(1, shutil.disk_usage(home).free - left))


def _started(kind: str, most: int | None) -> int:
    pid = os.fork()
    if pid:
        return pid
    code = 70
    try:
        if most is not None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        RECIPES["soak"] = homes.KINDS[kind]
        code = cli.main(["run", "soak"])
    finally:
        for run_id in jobs.active():
            jobs.cancel(run_id)
        os._exit(code)


def _waited(pid: int) -> int:
    ends = time.monotonic() + HARD
    while time.monotonic() < ends:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.005)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return -signal.SIGKILL


def _odd_homes() -> dict:
    """A row of homes that are odd, or none."""
    with temporary_home() as base:
        places = {f"called {name!r:.30}": base / name / "home" for name in PLACES}
        for home in places.values():
            lend_compiled(home)
        (base / "file").write_text("x")
        (base / "loop").symlink_to("loop")
        (base / "read-only").mkdir()
        places |= {"a file": base / "file", "below a file": base / "file" / "home", "a link to itself": base / "loop"}
        places |= {"too long": base / ("y" * 300), "not to be made": Path("/proc/nowhere")}
        if _may_mount() and _mount(base / "read-only"):
            subprocess.run(["mount", "-o", "remount,ro", str(base / "read-only")], check=False)
            places["read-only"] = base / "read-only"
        try:
            names = list(places)
            said = forks.shared(lambda at: _odd(str(places[names[at]])), range(len(names)), patience=600)
            wrong = [f"{names[at]}: {reason}" for at, reason in said if reason]
        finally:
            subprocess.run(["umount", "-l", str(base / "read-only")], capture_output=True, check=False)
    return row("odd homes, by a command of its own", len(places), wrong)


def _odd(home: str) -> str:
    """What is wrong with what the command line says where the home is this one: a run, then its list of data."""
    can_be = not any(part in home for part in ("/file", "/loop", "y" * 300, "/proc/", "read-only"))
    code = (
        "import sys; from svmcore import _jit; "
        "from data.__main__ import main as d; from svmcore.__main__ import main; "
        "c = d(['list']); print('data', c); sys.exit(main(['run', 'moons', '--set', 'n_train=60', '--json']))"
    )
    environment = os.environ | {
        "SVMLAB_HOME": home,
        "PYTHONPATH": str(ROOT),
    }
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=600, check=False
    )
    last = (done.stderr.strip().splitlines() or [""])[-1]
    if "Traceback" in done.stderr or "data 0" not in done.stdout:
        return f"{last:.200}"
    if can_be:
        return "" if done.returncode == 0 else f"exit code {done.returncode}, {last:.200}"
    return "" if done.returncode in (1, 2) and last else f"exit code {done.returncode}, {last:.200}"
