"""The app's server in a process of its own, and pages of a headless Chromium that look at it."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import expect, sync_playwright

from tests.browser.headless import how_to_launch
from tests.browser.steps import OUTCOME
from tests.homes import lend_compiled

ROOT = Path(__file__).parents[2]
# Not by PYTHONPATH: Streamlit watches every file of its folders, those of installed packages too.
SERVE = (
    f"import os, sys; sys.path.insert(1, {str(ROOT)!r}); from svmcore.lab import priority; "
    "priority.NICE = os.nice(0); from streamlit.web.cli import main; main()"  # as in tests/conftest.py
)
START_SECONDS = 300
PATIENCE = 900  # seconds of a test: its server compiles, beside that of another one
PRESET_SECONDS = 600  # a hundredth of it on a quiet machine, compilation included


def pytest_collection_modifyitems(items):
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.timeout(PATIENCE))


@dataclass(frozen=True)
class Server:
    url: str
    tree: Path
    home: Path
    process: subprocess.Popen


def answers(url):
    try:
        with urllib.request.urlopen(f"{url}/_stcore/health", timeout=1) as reply:
            return reply.status == 200
    except OSError:
        return False


@contextmanager
def running_app(tree, home, *options):
    """Serve the app of the folder `tree` with the home folder `home` and more options of Streamlit's; yields a Server
    that answers.

    The tree holds app.py and the pages; the library is the one that is tested."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    given = [f"--server.port={port}", "--server.headless=true", *options]
    command = [sys.executable, "-c", SERVE, "run", "app.py", *given]
    environment = os.environ | {"SVMLAB_HOME": str(lend_compiled(home))}
    log = home / "server.log"
    with log.open("ab") as out:
        process = subprocess.Popen(command, cwd=tree, env=environment, stdout=out, stderr=subprocess.STDOUT)
    server = Server(f"http://127.0.0.1:{port}", tree, home, process)
    try:
        deadline = time.monotonic() + START_SECONDS
        while not answers(server.url):
            if process.poll() is not None or time.monotonic() > deadline:
                pytest.fail(f"the app does not answer:\n{log.read_text()[-3000:]}")
            time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(scope="session")
def chromium():
    """One headless Chromium for the session; skips with the reason when there is none."""
    try:
        how = how_to_launch()
    except FileNotFoundError as none:
        pytest.skip(f"browser tests: {none}")
    expect.set_options(timeout=120_000)  # the first visits of a fresh home wait for the compiler
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**how)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def server(tmp_path_factory, chromium):
    """The app with a copy of the pages, shared by the tests; its home starts empty, so it trains the preset first."""
    base = tmp_path_factory.mktemp("app")
    for part in ("pages", ".streamlit"):
        shutil.copytree(ROOT / part, base / "tree" / part, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "app.py", base / "tree")
    with running_app(base / "tree", base / "home") as running:
        page = chromium.new_page()
        page.goto(f"{running.url}/train")
        page.get_by_text(OUTCOME).first.wait_for(timeout=1000 * PRESET_SECONDS)
        page.close()
        yield running


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if call.when == "call" and report.failed and "tab" in item.funcargs:
        page, picture = item.funcargs["tab"], item.funcargs["tmp_path"] / "screen.png"
        page.screenshot(path=picture)
        report.sections.append(("screen", f"{page.url}\n{picture}\n\n{page.inner_text('body')[:2000]}"))
        if "server" in item.funcargs:
            log = item.funcargs["server"].home / "server.log"
            report.sections.append(("server", log.read_text()[-3000:]))
    return report


@pytest.fixture
def tab(request, chromium, tmp_path):
    """A fresh page, 1440 px wide or on the screen that a test asks for, that fails the test on an uncaught script
    error. Nothing moves on it that need not: an eighth of the processor's time went into what shimmers and turns."""
    context = chromium.new_context(
        reduced_motion="reduce", **getattr(request, "param", {"viewport": {"width": 1440, "height": 1000}})
    )
    context.set_default_timeout(120_000)
    page = context.new_page()
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not errors, errors
