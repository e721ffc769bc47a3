"""Shared fixtures.

Every process that tests has a home folder of its own: `SVMLAB_HOME` is set before anything of the project is imported,
so that runs and downloads of the tests never touch the user's. What Numba compiles is shared by all processes of a test
session (with -n), the servers of the browser tests among them, and stays for the next session (tests/homes.py).
`SVMLAB_DATA`, a mirror of full datasets, is taken as it comes.

No test needs what another one has left. In any order, a file on one core so that its fixtures are made once:

    python -m pytest -n 2 --random-order-bucket=global --random-order-seed=1
"""

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.homes import kept_compiled, lend_compiled

FOLDER = "SVMLAB_TEST_FOLDER"  # of the session: what its first process sets, those that it starts find
OWNS_FOLDER = FOLDER not in os.environ
if OWNS_FOLDER:
    os.environ[FOLDER] = tempfile.mkdtemp(prefix="svmlab-test-")
SESSION = Path(os.environ[FOLDER])
HOME = lend_compiled(Path(tempfile.mkdtemp(prefix="home-", dir=SESSION)), kept_compiled() or SESSION / "numba")
os.environ["SVMLAB_HOME"] = str(HOME)
# Images of containers often forbid it: then each of a hundred processes compiles the same sources, for up to 5 seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell lets what it starts behind it ignore Ctrl-C


COMPILE = """
from svmcore._jit import settle_cache
from svmcore.lab.warm import warm_up
folder = settle_cache()
if folder and not any(folder.rglob("*.nbi")):
    print("Compiling, once for this state of the source, before the processes begin ...", flush=True)
    warm_up()
"""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config, specs):
    """Before the processes begin: in a fresh clone each of them, and each server that they start, would compile the
    same, and browsers wait minutes for it."""
    subprocess.run([sys.executable, "-c", COMPILE], cwd=Path(__file__).parents[1], check=True)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """A file of tests on one core, as `--dist loadfile` has it, but those that drive a browser in two halves: each half
    shares a server, a Chromium and the machines that they train. They wait for half of their time, which a third
    process has for the other tests."""
    from xdist.scheduler import LoadFileScheduling

    browser = sorted(file.name for file in Path(__file__).parent.glob("browser/test_*.py"))

    class FilesAndBrowser(LoadFileScheduling):
        def _split_scope(self, nodeid):
            file = super()._split_scope(nodeid)
            folder, _, name = file.rpartition("/")
            return f"{folder}, half {browser.index(name) % 2}" if folder == "tests/browser" else file

    return FilesAndBrowser(config, log)


def pytest_unconfigure():
    shutil.rmtree(SESSION if OWNS_FOLDER else HOME, ignore_errors=True)


@pytest.fixture(scope="session")
def dataset():
    """`dataset(name) -> Dataset`, fetched when it is not at hand; skips, naming the set, when it cannot be had."""
    from data import catalogue, fetch, load

    missing = {}

    def get(name):
        if name not in missing and not catalogue.entry(name).at_hand:  # a test may have a home folder of its own
            try:
                fetch.fetch(name)
            except Exception as error:
                missing[name] = str(error)
        if name in missing:
            pytest.skip(f"needs the dataset {name!r}, neither mirrored (SVMLAB_DATA) nor fetchable: {missing[name]}")
        return load(name)

    return get


@pytest.fixture(scope="session", autouse=True)
def no_warm_up():
    """Pages that a test opens compile nothing behind it: the fits of that would meet what later tests put in place."""
    from svmcore.lab.jobs import welcome

    welcome.warm_up = lambda go_on, everything: None


@pytest.fixture(scope="session", autouse=True)
def no_giving_way():
    """Runs are at work beside other tests, to which they would leave the processors: they would take ten times as
    long."""
    from svmcore.lab import priority

    priority.NICE = os.nice(0)


@pytest.fixture(autouse=True)
def at_rest(monkeypatch):
    """No test's forecasts depend on what else the machine does."""
    from svmcore.lab import forecast

    monkeypatch.setattr(forecast, "crowding", lambda threads, look=True: 1.0)


@pytest.fixture(autouse=True)
def nothing_at_work():
    """A run that a test leaves at work ends with it: the next test's would wait for its turn, whatever test that is."""
    yield
    if queue := sys.modules.get("svmcore.lab.jobs.queue"):
        left = queue.active()
        for run_id in left:
            queue.cancel(run_id)
        for thread in [queue.QUEUE._jobs[run_id].thread for run_id in left]:
            if thread is not None:
                thread.join(30)


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty `SVMLAB_HOME` for one test, for what looks the folder up at call time."""
    monkeypatch.setenv("SVMLAB_HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def gate(home, monkeypatch):
    """A method that trains for as long as the test likes (tests/gate.py)."""
    from tests.gate import opened

    yield from opened(monkeypatch)
