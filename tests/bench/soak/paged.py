"""Pages of the app drawn in this process without a browser, for tries that need many of them."""

from __future__ import annotations

import os
from pathlib import Path

from streamlit.testing.v1 import AppTest

from svmcore.lab.jobs import welcome
from tests.bench.soak import ROOT
from tests.driven import SECONDS, WHOLE_APP

PAGES = tuple(sorted(path.stem for path in (ROOT / "pages").glob("*.py")))


def settle() -> None:
    """What a process does once: pages run from app.py, and nothing is compiled behind them."""
    os.chdir(ROOT)
    welcome.warm_up = lambda go_on, everything: None
    for module, name, instead in WHOLE_APP:
        setattr(module, name, instead)


class Visitor:
    """One session of the app after the other; a session opens page after page."""

    def __init__(self):
        settle()
        self.app = None

    def opened(self, page: str, fresh: bool = True, /, **query) -> AppTest:
        """The page at an address, in a session of its own unless not `fresh`."""
        if self.app is None or fresh:
            self.app = AppTest.from_file(str(Path(ROOT) / "app.py"), default_timeout=SECONDS)
            self.app.switch_page(f"pages/{page}.py")
        else:
            self.app.query_params.clear()
            self.app.switch_page(f"pages/{page}.py")
        for name, value in query.items():
            self.app.query_params[name] = value
        self.app.run()
        return self.app


def broken(app: AppTest) -> str:
    """What stands on the page as an exception; empty where nothing does."""
    return "; ".join(f"{each.message} {' '.join(list(each.stack_trace)[-2:])}" for each in app.exception)
