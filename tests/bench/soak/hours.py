"""Four browsers and a queue that never empties, for as long as asked: what memory, threads and open files do over time.

    slope = median over all pairs of samples of (value_j - value_i) / (t_j - t_i)    (Theil-Sen), with its 95 % interval

The first half is left out: pages are imported, and caches fill up to their bounds for some twenty-five minutes. What
grows for sure is told for a working day of eight hours; it falls where a day would add more than DAY of what is held.
The medians of all tenths of the time stand beside it: what fills up to a bound bends, what leaks does not.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial

import numpy as np
from playwright.async_api import async_playwright
from scipy.stats import theilslopes

from tests.bench.soak import ROOT, Budget, draw, row, temporary_home
from tests.bench.soak.clients import Held, Visits, click, open_client, train, wander
from tests.browser.conftest import running_app
from tests.browser.headless import how_to_launch

CLIENTS = 4
HOURS = 8.0  # of a working day
DAY = 0.10
EVERY = 30.0  # seconds between two runs that are queued
QUERIES = (
    "dataset=mnist-5k&C={}",
    "dataset=digits-8x8&method=vsv&jitters=plus:1&C={}",
    "dataset=toy-moons&preprocess=&C={}",
)


def hours(budget: Budget, seed: int) -> list[dict]:
    """Clicks and runs until the budget is spent, and the slopes."""
    with temporary_home() as home, running_app(ROOT, home) as server:
        visits, held, queued = asyncio.run(_attack(server, budget, seed))
    slopes, failures = {}, visits.failures
    for name, column in (("MB", 1), ("threads", 2), ("files", 3)):
        day, low, level = of_a_day(held.samples, column)
        slopes[f"{name}_a_day"] = round(day, 1)
        slopes[name] = round(level)
        slopes[f"{name}_by_tenths"] = in_tenths(held.samples, column)
        if low > DAY * level:
            failures.append(f"{name}: {day:+.1f} in {HOURS:.0f} hours, at least {low:+.1f}, from {level:.0f}")
    took = (held.samples[-1][0] - held.samples[0][0]) / 60
    figures = visits.figures() | {"runs": queued, "minutes": round(took, 1)} | slopes
    return [row(f"{CLIENTS} browsers and a queue that never empties", figures["loads"], failures, **figures)]


def of_a_day(samples: list[tuple], column: int) -> tuple[float, float, float]:
    """What a working day adds, what it adds at least (95 %), and the median level."""
    kept = np.array(samples[len(samples) // 2 :], float)[-2000:]
    if len(kept) < 3:
        return 0.0, 0.0, float(kept[:, column].mean())
    slope, _, low, _ = theilslopes(kept[:, column], kept[:, 0])
    return float(3600 * HOURS * slope), float(3600 * HOURS * low), float(np.median(kept[:, column]))


def in_tenths(samples: list[tuple], column: int) -> list[int]:
    """The median of each tenth of the samples."""
    values = np.array([sample[column] for sample in samples], float)
    return [round(float(np.median(part))) for part in np.array_split(values, 10) if len(part)]


async def _attack(server, budget: Budget, seed: int) -> tuple[Visits, Held, int]:
    visits, held = Visits(), Held(server.process.pid)
    async with async_playwright() as tool:
        browser = await tool.chromium.launch(**how_to_launch())
        clients = [await open_client(browser, server.url, visits) for _ in range(CLIENTS)]
        starter = await open_client(browser, server.url, visits)
        ends = time.monotonic() + budget.seconds
        watch = asyncio.create_task(held.watch(max(2.0, budget.seconds / 1500)))
        walks = [
            wander(partial(click, p, visits), draw(seed, k), ends, budget.count, 3.0) for k, p in enumerate(clients)
        ]
        *_, queued = await asyncio.gather(*walks, _feed(starter, server.url, visits, ends))
        watch.cancel()
        await browser.close()
    return visits, held, queued


async def _feed(page, url: str, visits: Visits, ends: float) -> int:
    """Start one run after the other, whether the last has ended or not; how many."""
    queued = 0
    while time.monotonic() < ends:
        try:
            await train(page, url, QUERIES[queued % len(QUERIES)].format(round(0.5 + 0.01 * queued, 2)))
            queued += 1
        except Exception as error:
            visits.failures.append(f"starting a run: {str(error)[:150]}")
        await asyncio.sleep(min(EVERY, max(0.0, ends - time.monotonic())))
    return queued
