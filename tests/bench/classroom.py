"""A class of thirty on one computer: phones join, predict and look; the board follows; all leave.

    python -m tests.bench.classroom --students 30 --minutes 2 [--beside mnist-vsv mnist-deslant-vsv ...]

The phones are websocket clients (tests/phones.py) that do what a browser does, but for drawing: they look at fragments
as often as the page asks for it, and send every click. A question is asked; each phone answers within ten seconds; the
result is shown; then some open a lesson's page, or the Playground, and come back; so on until the minutes are over.
Measured: seconds from a student's click on Send to the board that counts it, of the clicks of both, and the server's
memory before, while and after. --beside: recipes that the teacher starts before the first question, and cancels in the
end where they are still at work.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from tests.bench.soak.clients import Held
from tests.phones import Phone

ROOT = Path(__file__).parents[2]
BOARD, PHONE = 0.5, 1.0  # seconds between two looks, as pages/classroom.py asks for them
LESSON_PAGES = ("lessons", "", "draw")
COMMAND = ("-m", "pages.classroom", "--port=0", "--room=0", "--address=127.0.0.1", "--no-browser")
SETTLED = 60.0  # seconds after the last one has left


class Figures:
    """Seconds by what was waited for, and what fell."""

    def __init__(self):
        self.seconds = {"board follows": [], "teacher's click": [], "student's click": [], "a page": []}
        self.failures: list[str] = []

    def rows(self) -> dict:
        """Count, median, 95th percentile and maximum of each."""
        return {
            name: {"n": len(taken), "median_s": round(float(np.median(taken)), 3),
                   "p95_s": round(float(np.percentile(taken, 95)), 3), "max_s": round(max(taken), 3)}
            for name, taken in self.seconds.items() if taken
        }  # fmt: skip


async def board(phone: Phone, figures: Figures, sent: dict[int, float], over: asyncio.Event) -> None:
    """Look at the board as its page asks; note when it counts the k-th answer."""
    while not over.is_set():
        await phone.look()
        told = next((found for text in phone.texts() if (found := re.search(r"(\d+) of \d+ students? ha", text))), None)
        for k in [k for k in sent if told and k <= int(told[1])]:
            figures.seconds["board follows"].append(time.perf_counter() - sent.pop(k))
        await asyncio.sleep(BOARD)


async def student(phone: Phone, figures: Figures, rng, sent: dict, counts: dict, over: asyncio.Event) -> None:
    """Join, then predict and look, question after question."""
    figures.seconds["student's click"].append(await phone.click("Join"))
    for number in itertools.count(1):
        while counts["asked"] < number or "Send" not in phone.labels():
            if over.is_set():
                return
            await phone.look()
            await asyncio.sleep(PHONE)
        await asyncio.sleep(float(rng.uniform(0, 10)))
        figures.seconds["student's click"].append(await phone.choose("Your prediction", int(rng.integers(2))))
        counts["sent"] += 1
        sent[counts["sent"]] = time.perf_counter()
        figures.seconds["student's click"].append(await phone.click("Send"))
        while counts["shown"] < number:
            await phone.look()
            await asyncio.sleep(PHONE)
        await phone.until(lambda one: one.has("Correct:"), every=PHONE)
        if rng.random() < 0.5:
            phone.page, phone.hash = LESSON_PAGES[rng.integers(len(LESSON_PAGES))], ""
            figures.seconds["a page"].append(await phone.rerun())
            phone.page, phone.hash = "classroom", ""
            figures.seconds["a page"].append(await phone.rerun())
        figures.failures += [f"student: {one.message[:200]}" for one in phone.kinds("exception")]


async def start(teacher: str, recipe: str) -> str:
    """As the teacher, on Train; the address of the run there."""
    async with Phone(teacher, "train", f"recipe={recipe}") as desk:
        await desk.click(next(label for label in desk.labels() if label in ("Start", "Queue")))
        return desk.query


async def cancel(teacher: str, query: str) -> None:
    """As the teacher, on Train, a run that is still at work."""
    async with Phone(teacher, "train", query) as desk:
        if "Cancel" in desk.labels():
            with suppress(TimeoutError):  # another page is drawn then, and no end of this one comes
                await asyncio.wait_for(desk.click("Cancel"), 10)


async def teach(
    teacher: str, students: str, number: int, minutes: float, figures: Figures, held: Held, beside: list[str]
) -> dict:
    """The lesson. Returns memory in MB before, at most, and when all have left."""
    rng = np.random.default_rng(0)
    sent, counts, over = {}, {"asked": 0, "shown": 0, "sent": 0}, asyncio.Event()
    async with Phone(teacher, "classroom") as desk:
        await desk.click("Open a class")
    for page in ("classroom", *LESSON_PAGES):  # what the first visitor of each page loads is nobody's
        async with Phone(students, page) as phone:
            await phone.rerun()
    await asyncio.sleep(10)
    before = held.sample()[1]
    watching = asyncio.create_task(held.watch(1.0))
    async with Phone(teacher, "classroom") as desk, Phone(teacher, "classroom") as screen:
        looking = asyncio.create_task(board(screen, figures, sent, over))
        phones = [Phone(students, "classroom") for _ in range(number)]
        await asyncio.gather(*(phone.__aenter__() for phone in phones))
        at_work = [
            asyncio.create_task(student(phone, figures, np.random.default_rng(k), sent, counts, over))
            for k, phone in enumerate(phones)
        ]
        await asyncio.sleep(5)
        ends = time.monotonic() + 60 * minutes
        started = [await start(teacher, recipe) for recipe in beside]
        while time.monotonic() < ends:
            asked = counts["asked"] + 1
            counts["sent"] = 0
            sent.clear()
            figures.seconds["teacher's click"].append(await desk.click("Ask the class"))
            counts["asked"] = asked
            deadline = time.monotonic() + 60
            while counts["sent"] < number or sent:
                if time.monotonic() > deadline:
                    figures.failures.append(f"question {asked}: {counts['sent']} sent, {len(sent)} not on the board")
                    break
                await asyncio.sleep(0.1)
            figures.seconds["teacher's click"].append(await desk.click("Show the result"))
            counts["shown"] = asked
            figures.failures += [f"teacher: {one.message[:200]}" for one in desk.kinds("exception")]
            await asyncio.sleep(float(rng.uniform(6, 9)))
        over.set()
        done = await asyncio.gather(*at_work, return_exceptions=True)
        figures.failures += [f"student: {type(one).__name__} {one}"[:200] for one in done if isinstance(one, Exception)]
        await looking
        for query in started:
            await cancel(teacher, query)
        await asyncio.gather(*(phone.__aexit__() for phone in phones))
    watching.cancel()
    await asyncio.sleep(SETTLED)
    after = held.sample()[1]
    return {
        "questions": counts["asked"],
        "before_mb": round(before),
        "most_mb": round(max(one[1] for one in held.samples)),
        "after_mb": round(after),
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--students", type=int, default=30)
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument("--beside", nargs="+", metavar="RECIPE", default=[])
    parser.add_argument("--home", type=Path, help="a home whose preset is trained; default: a new one")
    options = parser.parse_args()
    figures = Figures()
    with tempfile.TemporaryDirectory(prefix="svmlab-class-") as new:
        home = options.home or Path(new)
        environment = os.environ | {"SVMLAB_HOME": str(home)}
        process = subprocess.Popen(
            [sys.executable, *COMMAND], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            found = [process.stdout.readline().split()[-1] for _ in range(2)]
            while not any(home.glob("runs/*/result.json")):  # the preset
                time.sleep(1)
            time.sleep(20)  # what is compiled behind it
            held = Held(process.pid)
            memory = asyncio.run(
                teach(
                    found[0].removesuffix("/classroom"), found[1], options.students, options.minutes, figures, held,
                    options.beside,
                )
            )  # fmt: skip
            trained = [path.parent.name for path in home.glob("runs/*/result.json")]
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(30)
    said = {
        "students": options.students,
        "seconds": figures.rows(),
        "memory": memory,
        "trained": len(trained),
        "failures": figures.failures[:10],
    }
    print(json.dumps(said | {"load": round(os.getloadavg()[0], 1)}, indent=1))
    return int(bool(figures.failures))


if __name__ == "__main__":
    raise SystemExit(main())
