"""The attack on the lab as a program: `python -m tests.bench.soak --help`.

A part is a module of its name here, with one function of that name: part(budget, seed) -> rows, or part(count, seed).

    row = {"what": said of the tries, "tries": how many, "failures": [what fell, and how to see it again], ...}

Whatever else a row has is a figure, as RESULTS.md shows it. Try i of a part draws from `draw(seed, i)` alone,
so that `--parts NAME --seed SEED --first I --count 1` repeats it. Everything happens in homes of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

ROOT = Path(__file__).parents[3]
SHOWN = 300  # characters of a failure that are kept
KEPT = 20  # failures of a row that are kept in full


class Budget(NamedTuple):
    """How much a part may try. Both bounds hold."""

    count: int
    seconds: float
    first: int = 0

    def numbers(self) -> Iterator[int]:
        """Numbers of the tries, until one of the bounds is met."""
        ends = time.monotonic() + self.seconds
        for number in range(self.first, self.first + self.count):
            if time.monotonic() > ends:
                return
            yield number


def draw(seed: int, number: int) -> np.random.Generator:
    """What a try draws from."""
    return np.random.default_rng([seed, number])


def row(what: str, tries: int, failures: list[str], **figures) -> dict:
    """A row of a part's table; of many failures the first ones stand for all."""
    more = [f"and {len(failures) - KEPT} more"] if len(failures) > KEPT else []
    return {"what": what, "tries": tries, "failures": [str(f)[:SHOWN] for f in failures[:KEPT]] + more, **figures}


def fell(part: str, seed: int, number: int, reason: object) -> str:
    """A failure with the command that shows it again."""
    text = " ".join(str(reason).split())
    return f"--parts {part} --seed {seed} --first {number} --count 1: {text}"


@contextmanager
def temporary_home(prefix: str = "svmlab-soak-") -> Iterator[Path]:
    """An empty folder that SVMLAB_HOME names; gone afterwards, whatever its permissions became."""
    before = os.environ.get("SVMLAB_HOME")
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    os.environ["SVMLAB_HOME"] = str(folder)
    try:
        yield folder
    finally:
        if before is None:
            del os.environ["SVMLAB_HOME"]
        else:
            os.environ["SVMLAB_HOME"] = before
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def scratch() -> Iterator[Path]:
    """A folder in which all temporary ones are made, by processes too that are killed before they could tidy up."""
    folder, before = Path(tempfile.mkdtemp(prefix="svmlab-soak-")), tempfile.tempdir
    tempfile.tempdir = str(folder)
    try:
        yield folder
    finally:
        tempfile.tempdir = before
        shutil.rmtree(folder, ignore_errors=True)
