"""Cancel and pause runs at random moments: how soon their reader is told, and how soon the cores are free.

Each run is of a recipe drawn from RECIPES, which has every method and task, and is asked to stop, some to pause first,
at a moment drawn from its life. A core is kept busy beside it. Runs go by batches, each in a process and a home of its
own: nothing is compiled when a batch begins, so that compiling is among what is interrupted.

    python -m tests.bench.soak.cancels [--count N] [--seed S]

A row is what is asked for in a stage ("cancel" | "pause", as the run's message names the stage): tries, and seconds in
the median, at p95 and at most until the reader is told ("told") and until the thread is gone ("freed").
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[3]
BATCH = 40  # cancels of one process
PAUSED, PATIENCE = 0.25, 10.0  # share that is paused first; seconds that a pause is waited for
TOLD = 0.3, 1.0  # seconds: at p95, at most
LONGEST = 60.0  # seconds that a thread is waited for


def recipes() -> dict:
    """Every method and task, most of them a few seconds long on a quiet machine; by name."""
    from svmcore import RBF, LocalPoly, Poly
    from svmcore.lab.methods.editing import OFFERED
    from svmcore.lab.methods.reduced import reduction_of
    from svmcore.lab.presets import RECIPES
    from svmcore.lab.recipe import Recipe

    digits = RECIPES["mnist-5k-sv"]
    pair = digits.replace(classes=(3, 8), n_train=700, n_test=200)
    moons = Recipe(dataset="toy-moons", preprocess=(), kernel=RBF(2.0), C=10.0)
    clouds = Recipe(dataset="clouds:4", n_train=8000, preprocess=(), kernel=RBF(0.05), C=10.0)
    faces, volcanoes = RECIPES["faces-lfw"], RECIPES["volcano-synthetic"]
    return {
        "sv": digits,
        "sv, decomposition": digits.replace(solver="decomposition"),
        "sv, digestion": digits.replace(solver="smo-digestion"),
        "sv, folds": digits.replace(n_train=1500, folds=5),
        "sv, local": pair.replace(kernel=LocalPoly((28, 28), 4, 2, 9)),
        "sv, grid": clouds.replace(n_train=2000, grid="0.1,1,10,100"),
        "nu-sv": clouds.replace(method="nu-sv", nu=0.3),
        "vsv": digits.replace(method="vsv", jitters="box:1"),
        "vsv, all": digits.replace(method="vsv", jitters="plus:1+rot:-8,8", scope="all", n_train=1000),
        "jsv": pair.replace(method="jsv", jitters="box:1"),
        "jsv, positive": pair.replace(method="jsv", jitters="box:1", options={"positive": 500}),
        "query-jitter": digits.replace(method="query-jitter", jitters="box:1"),
        "tangent": digits.replace(method="tangent", jitters="box:1"),
        "tangent, feature": pair.replace(method="tangent", jitters="box:1", options={"space": "feature"}),
        "cross-training": clouds.replace(
            method="cross-training", subset_size=1500, validation=True, n_subsets=25, grid="1,3,10", final_grid="1,10"
        ),
        **{
            f"editing, {rule}": clouds.replace(dataset="clouds:2", method="editing", rule=rule, n_train=4000)
            for rule in OFFERED
        },
        "reduced": reduction_of(pair),
        "reduced, ten": reduction_of(digits.replace(n_train=1500)),
        "volcanoes": volcanoes,
        "volcanoes, vsv": RECIPES["volcano-synthetic-vsv"],
        "volcanoes, tangent": volcanoes.replace(method="tangent", jitters="plus:1"),
        "faces": faces,
        "faces, sv": faces.replace(method="sv", jitters=""),
        "degree 2": digits.replace(kernel=Poly(2)),
        "slow motion": moons.replace(slow_motion=True),
    }  # fmt: skip


def cancels(count: int, seed: int = 0) -> list[dict]:
    """The table of `count` cancels."""
    asked = []
    with busy_core():
        for first in range(0, count, BATCH):
            some = min(BATCH, count - first)
            with tempfile.TemporaryDirectory() as home:
                command = [sys.executable, "-m", __spec__.name, "--batch", str(some), "--seed", str(seed + first)]
                done = subprocess.run(
                    command, cwd=ROOT, env=os.environ | {"SVMLAB_HOME": home}, stdout=subprocess.PIPE, text=True
                )
            asked += [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
            if done.returncode:
                asked.append(
                    {"asked": "batch", "stage": "", "recipe": f"seed {seed + first}", "broke": done.returncode}
                )
    return table(asked)


def table(asked: list[dict]) -> list[dict]:
    """A row for all of each order, then for each stage."""
    groups = {}
    for one in asked:
        groups.setdefault(f"{one['asked']}: all", []).append(one)
        if one["stage"]:
            groups.setdefault(f"{one['asked']}: {one['stage']}", []).append(one)
    rows = []
    for what, ones in sorted(groups.items(), key=lambda item: (not item[0].endswith(": all"), item[0])):
        row = {"what": what, "tries": len(ones), "failures": _failures(what, ones)}
        for name in ("told", "freed"):
            if seconds := [one[name] for one in ones if one.get(name) is not None]:
                at = dict(zip(("median", "p95", "most"), np.percentile(seconds, (50, 95, 100)), strict=True))
                row |= {f"{name}_{name_}": round(float(value), 3) for name_, value in at.items()}
        rows.append(row)
    return rows


def _failures(what: str, ones: list[dict]) -> list[str]:
    late = [f"{one['recipe']} told after {one['told']:.2f} s" for one in ones if one.get("told", 0) > TOLD[1]]
    broke = [f"{one['recipe']}: {one['broke']}" for one in ones if one.get("broke")]
    if what == "cancel: all" and np.percentile([one["told"] for one in ones], 95) > TOLD[0]:
        late.append(f"more than {TOLD[0]} s at p95")
    return late + broke if what.startswith(("cancel: all", "batch")) else broke


@contextmanager
def busy_core():
    """A process that spins."""
    spinning = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        spinning.kill()
        spinning.wait()


def batch(count: int, seed: int) -> None:
    """Print a line of JSON for each of some cancels, one after the other."""
    from svmcore.lab import jobs

    rng, known, lives = np.random.default_rng(seed), recipes(), {}
    while count:
        name = str(rng.choice(list(known)))
        began = time.monotonic()
        run_id = jobs.submit(known[name])
        waits = rng.uniform(0, min(lives.get(name, 12.0), 20.0))
        pauses = rng.random() < PAUSED
        if jobs.wait(run_id, waits).state in ("done", "failed"):
            lives[name] = 0.8 * min(time.monotonic() - began, waits)
            if (ended := jobs.status(run_id)).state == "failed":
                _say(asked="batch", stage="", recipe=name, broke=ended.message)
                count -= 1
            continue
        if pauses:
            _ask(jobs, run_id, name, "pause")
        _ask(jobs, run_id, name, "cancel")
        count -= 1


def _ask(jobs, run_id: str, name: str, order: str) -> None:
    from svmcore.lab.store import runs

    job = jobs.queue.QUEUE._jobs[run_id]
    for other in jobs.active():  # the machine that it waits for, where it begins with one
        if other != run_id and jobs.status(run_id).state == "queued":
            job = jobs.queue.QUEUE._jobs[other]
    run_id, stage = job.run.id, jobs.status(job.run.id).message.partition(":")[0]
    until = "paused" if order == "pause" else "cancelled"
    began = time.monotonic()
    getattr(jobs, order)(run_id)
    seen = _seconds(
        began,
        lambda: jobs.status(run_id).state in (until, "done") and runs.get(run_id).state != "running",
        LONGEST if order == "cancel" else PATIENCE,
    )
    state = jobs.status(run_id).state
    freed = None if order == "pause" else _seconds(began, lambda: not job.thread or not job.thread.is_alive())
    if order == "cancel" and (waiting := [other for other in jobs.active() if other != run_id]):
        for other in waiting:
            jobs.cancel(other)
    _say(
        asked=order,
        stage=stage,
        recipe=name,
        told=seen,
        freed=freed,
        broke=state if order == "cancel" and state not in (until, "done") else None,
    )


def _seconds(began: float, true, most: float = LONGEST) -> float:
    """Until it is true, or `most`."""
    while not true() and time.monotonic() - began < most:
        threading.Event().wait(0.002)
    return time.monotonic() - began


def _say(**one) -> None:
    print(json.dumps(one), flush=True)
    print(
        *(f"{value:.3f}" if isinstance(value, float) else value for value in one.values()), file=sys.stderr, flush=True
    )


def main(argv=None) -> int:
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.soak.cancels", description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.batch:
        batch(options.batch, options.seed)
        return 0
    rows = cancels(options.count, options.seed)
    for row in rows:
        print(json.dumps(row))
    return int(any(row["failures"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
