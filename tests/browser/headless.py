"""The Chromium that tests and benches drive, found on the machine."""

import shutil

# The shell first: it draws nothing but pages, where the whole browser keeps two cores busy with windows nobody sees.
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--disable-background-networking", "--no-first-run"]


def how_to_launch() -> dict:
    """The arguments of Playwright's `launch`; a FileNotFoundError where no Chromium is installed."""
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        raise FileNotFoundError("needs Chromium (Debian: apt-get install chromium-headless-shell)")
    return {"executable_path": path, "args": FLAGS}
