"""Twelve readers click through the pages while three trainings are at work: how soon pages stand, and what is left.

The readers are sessions without a browser (reader.py). Memory of the server is sampled before, during, and after all
have closed: it is to come back within a tenth of what the same server held once one reader had gone through the pages
and three such runs had been trained: code, data and caches are there then.
"""

from __future__ import annotations

import asyncio
import os
import time
from pathlib import Path

from playwright.async_api import async_playwright

from tests.bench.soak import ROOT, Budget, draw, row, temporary_home
from tests.bench.soak.clients import Held, Visits, open_client, train, wander
from tests.bench.soak.reader import Reader
from tests.browser.conftest import running_app
from tests.browser.headless import how_to_launch

READERS = 12
RUNS = (
    "dataset=mnist-5k&method=vsv&jitters=box:1&C={}",
    "dataset=mnist-5k&kernel=rbf:gamma=2&C={}",
    "dataset=mnist-5k&C={}",
)
BEFORE, DURING = 2, 3  # C of the runs before the readers come, and of those beside them
ALONE = 60  # clicks of one reader before: what pages import is not of the others
IDLE = 0.02  # share of a core that a server takes at most that has nothing left to train or compile
AFTER = 150  # seconds until the server has let go of closed sessions
BACK = 1.10


def readers(budget: Budget, seed: int) -> list[dict]:
    """Clicks of twelve readers until the budget is spent."""
    with temporary_home() as home, running_app(ROOT, home) as server:
        return asyncio.run(_attack(server, budget, seed))


async def _attack(server, budget: Budget, seed: int) -> list[dict]:
    visits, alone, held = Visits(), Visits(), Held(server.process.pid)
    async with async_playwright() as tool:
        browser = await tool.chromium.launch(**how_to_launch())
        await _train(browser, server.url, BEFORE, alone)
        first = await Reader.opened(server.url, alone)
        await wander(first.click, draw(seed, 0), time.monotonic() + budget.seconds, ALONE, 0.5)
        await first.close()
        await _idle(server.process.pid)
        before = held.sample()[1]
        watch = asyncio.create_task(held.watch(2.0))
        await _train(browser, server.url, DURING, alone)
        await browser.close()
    there = [await Reader.opened(server.url, visits) for _ in range(READERS)]
    ends, each = time.monotonic() + budget.seconds, max(1, budget.count // READERS)
    await asyncio.gather(
        *(wander(reader.click, draw(seed, 100 + k), ends, each, 2.0) for k, reader in enumerate(there))
    )
    most = max(sample[1] for sample in held.samples)
    for reader in there:
        await reader.close()
    await asyncio.sleep(AFTER)
    last = await Reader.opened(server.url, alone)  # garbage is collected when a script has run
    watch.cancel()
    after = held.sample()[1]
    await last.close()
    if after > BACK * before:
        visits.failures.append(f"memory: {before:.0f} MB before, {after:.0f} MB {AFTER} s after all had closed")
    figures = visits.figures() | {"memory_before_mb": round(before), "most_mb": round(most), "after_mb": round(after)}
    said = f"{READERS} readers, {len(RUNS)} trainings"
    return [row(said, figures["loads"], alone.failures + visits.failures, **figures)]


async def _idle(pid: int) -> None:
    """Until the runs before have ended, and what is compiled behind them is."""
    while True:
        before = _processor_time(pid)
        await asyncio.sleep(10)
        if _processor_time(pid) - before < 10 * IDLE:
            return


def _processor_time(pid: int) -> float:
    """Seconds."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


async def _train(browser, url: str, C: float, visits: Visits) -> None:
    """Start the runs from a browser."""
    page = await open_client(browser, url, visits)
    for query in RUNS:
        await train(page, url, query.format(C))
    await page.context.close()
