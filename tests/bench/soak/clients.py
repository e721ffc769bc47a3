"""Browsers that go where they like, side by side in one Chromium, and what the server holds meanwhile.

click(...)      one random step of one client: a page, timed until its heading stands and until its script has run
Held            memory, threads and open files of a process, sampled
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from tests.browser.steps import MENU, QUIET

PATIENCE = 60_000  # milliseconds that a page may take before it counts as fallen
FIRST_PATIENCE = 5 * PATIENCE  # the server may compile, and all clients come at once


@dataclass
class Held:
    """Samples (seconds, MB, threads, open files) of a process."""

    pid: int
    samples: list[tuple[float, float, int, int]] = field(default_factory=list)

    def sample(self) -> tuple[float, float, int, int]:
        """One more sample, kept."""
        status = Path(f"/proc/{self.pid}/status").read_text()
        read = {name: int(re.search(rf"{name}:\s+(\d+)", status)[1]) for name in ("VmRSS", "Threads")}
        files = len(os.listdir(f"/proc/{self.pid}/fd"))
        self.samples.append((time.monotonic(), read["VmRSS"] / 1024, read["Threads"], files))
        return self.samples[-1]

    async def watch(self, every: float) -> None:
        """Sample for ever."""
        while True:
            self.sample()
            await asyncio.sleep(every)


@dataclass
class Visits:
    """Seconds of every page load by page, and what fell."""

    seconds: dict[str, list[float]] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)

    def figures(self) -> dict:
        """Loads, and their median, 95th percentile and maximum."""
        loads = [seconds for of_page in self.seconds.values() for seconds in of_page]
        every = np.array(loads or [0.0])
        return {"loads": len(loads), "median_s": round(float(np.median(every)), 2),
                "p95_s": round(float(np.percentile(every, 95)), 2), "max_s": round(float(every.max()), 2)}  # fmt: skip


async def open_client(browser, url: str, visits: Visits):
    """A context of its own, on the first page, that notes script errors."""
    context = await browser.new_context(viewport={"width": 1280, "height": 900})
    page = await context.new_page()
    page.set_default_timeout(FIRST_PATIENCE)
    page.on("pageerror", lambda error: visits.failures.append(f"script error: {error}"[:300]))
    await page.goto(url)
    await page.locator(".st-key-menu a:visible").first.wait_for()
    await page.locator(QUIET).wait_for()
    page.set_default_timeout(PATIENCE)
    return page


async def click(page, visits: Visits, rng) -> None:
    """Follow a random link of the navigation and wait for the page behind it."""
    links, title, began = page.locator(MENU), "a page", time.perf_counter()
    try:
        at = int(rng.integers(max(1, await links.count())))
        title = (await links.nth(at).locator("p").first.text_content()).strip()
        began = time.perf_counter()
        await links.nth(at).evaluate("link => link.click()")
        await page.get_by_role("heading", name=title, level=1, exact=True).wait_for()
        await page.locator(QUIET).wait_for()
        visits.seconds.setdefault(title, []).append(time.perf_counter() - began)
        if await page.get_by_test_id("stException").count():
            text = (await page.get_by_test_id("stException").first.inner_text())[:250]
            visits.failures.append(f"{title}: {' '.join(text.split())}")
    except Exception as error:
        visits.failures.append(
            f"{title}: {type(error).__name__} after {time.perf_counter() - began:.0f} s: {str(error)[:120]}"
        )
        with suppress(Exception):  # the next click says whether it came back
            await page.reload()
            await page.locator(".st-key-menu a:visible").first.wait_for()


async def wander(click: Callable, rng, ends: float, most: int, pause: float) -> None:
    """click(rng) until the time or the number of clicks is over, looking at each page for a while."""
    for _ in range(most):
        if time.monotonic() > ends:
            return
        await click(rng)
        await asyncio.sleep(float(rng.exponential(pause)))


async def train(page, url: str, query: str) -> None:
    """Start a run from the page Train, as a reader would."""
    await page.goto(f"{url}/train?{query}")
    await page.locator(QUIET).wait_for()
    await page.locator(".st-key-start").get_by_role("button").first.click()
    await page.locator(QUIET).wait_for()
