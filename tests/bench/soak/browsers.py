"""Twelve browsers click through the pages while three trainings are at work: how soon pages stand, and what is left.

Memory of the server is sampled before, during, and after all have closed: it is to come back within a tenth of what the
same server held once one browser had started a run and gone through the pages: code, data and caches are there then.
"""

from __future__ import annotations

import asyncio
import time

from playwright.async_api import async_playwright

from tests.bench.soak import ROOT, Budget, draw, row, temporary_home
from tests.bench.soak.clients import Held, Visits, click, open_client, train, wander
from tests.browser.conftest import running_app
from tests.browser.headless import how_to_launch

CLIENTS = 12
RUNS = (
    "dataset=mnist-5k&method=vsv&jitters=box:1",
    "dataset=mnist-5k&C=3&kernel=rbf:gamma=2",
    "dataset=mnist-5k&C=0.7",
)
ALONE = 40  # clicks of one browser before: what pages import is not of the clients
AFTER = 150  # seconds until the server has let go of closed sessions
BACK = 1.10


def browsers(budget: Budget, seed: int) -> list[dict]:
    """Clicks of twelve clients until the budget is spent."""
    with temporary_home() as home, running_app(ROOT, home) as server:
        return asyncio.run(_attack(server, budget, seed))


async def _attack(server, budget: Budget, seed: int) -> list[dict]:
    visits, alone, held = Visits(), Visits(), Held(server.process.pid)
    async with async_playwright() as tool:
        browser = await tool.chromium.launch(**how_to_launch())
        first = await open_client(browser, server.url, alone)
        await train(first, server.url, RUNS[0])
        rng = draw(seed, 0)
        for _ in range(ALONE):
            await click(first, rng, alone)
        await first.context.close()
        await asyncio.sleep(5)
        before = held.sample()[1]
        watch = asyncio.create_task(held.watch(2.0))
        clients = [await open_client(browser, server.url, visits) for _ in range(CLIENTS)]
        for page, query in zip(clients, RUNS, strict=False):
            await train(page, server.url, query)
        ends = time.monotonic() + budget.seconds
        each = max(1, budget.count // CLIENTS)
        await asyncio.gather(*(wander(p, draw(seed, 100 + k), visits, ends, each, 2.0) for k, p in enumerate(clients)))
        most = max(sample[1] for sample in held.samples)
        for page in clients:
            await page.context.close()
        await browser.close()
    await asyncio.sleep(AFTER)
    watch.cancel()
    after = held.sample()[1]
    if after > BACK * before:
        visits.failures.append(f"memory: {before:.0f} MB before, {after:.0f} MB {AFTER} s after all had closed")
    figures = visits.figures() | {"memory_before_mb": round(before), "most_mb": round(most), "after_mb": round(after)}
    return [
        row(f"{CLIENTS} browsers, {len(RUNS)} trainings", figures["loads"], alone.failures + visits.failures, **figures)
    ]
