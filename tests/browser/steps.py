"""What a reader does on the pages, one step a function; each waits for what the reader would wait for."""

import re
import time

from playwright.sync_api import Page, expect

QUIET = "[data-testid=stApp][data-test-script-state=notRunning]"
SCREENS = {  # for `tab`; the app closes its menu behind a choice where the browser says that it is a phone's
    "projector": {"viewport": {"width": 1280, "height": 720}},
    "phone": {
        "viewport": {"width": 390, "height": 844},
        "is_mobile": True,
        "has_touch": True,
        "user_agent": "Mozilla/5.0 (Linux; Android 14; Phone) AppleWebKit/537.36 Chrome/130.0 Mobile Safari/537.36",
    },
}
RUN = re.compile(r"[?&]run=([^&]+)")  # in the address
OUTCOME = re.compile(r"[\d,]+ of [\d,]+ wrong, [\d.]+ %")


def visit(page: Page, url: str) -> None:
    """Open an address and wait for the page behind it."""
    page.goto(url)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    settle(page)


def settle(page: Page) -> None:
    """Wait until the script has run; say so if it ended in an exception."""
    expect(page.locator(QUIET)).to_be_visible()
    expect(page.get_by_test_id("stException")).to_have_count(0)


MENU = ".st-key-menu a, .st-key-unlisted a"  # links to all pages, also folded ones
BESIDE = {"Jitters": "Datasets", "On a photograph": "Detect"}  # a tab -> the page of the menu that it stands beside
STUDIES = ("Paper", "Compare methods", "Scramble the pixels", "Reduced sets", "Cross-training", "Digestion",
           "Osuna's study")  # fmt: skip


def go_to(page: Page, title: str) -> None:
    """Follow the link of the menu, of the studies below it, or of a tab."""
    called = re.compile(f"^\\W*\\w*{title}$")
    menu = page.get_by_test_id("stExpandSidebarButton")
    if menu.is_visible():
        menu.click()
    if title in BESIDE:
        go_to(page, BESIDE[title])
        page.locator(".st-key-tabs a:visible").filter(has_text=called).first.click()
    elif title in STUDIES:
        studies = page.locator(".st-key-studies")
        if not studies.locator("a").first.is_visible():
            studies.locator("summary").click()
        studies.locator("a:visible").filter(has_text=called).click()
    else:
        page.locator(".st-key-menu a:visible").filter(has_text=called).click()
    expect(page.get_by_role("heading", name=title, level=1)).to_be_visible()
    settle(page)


def press(page: Page, key: str) -> None:
    """Press the button with this key."""
    page.locator(f".st-key-{key}").get_by_role("button").first.click()


def start(page: Page) -> str:
    """Press Start on the Train page; the id of the run that it made, once the page shows it and nothing more of the one
    before, whose links and whose "done" stay until the script has run. The page may come to show another run meanwhile,
    one that was made before."""
    run_id(page)
    begun = time.strftime("%Y%m%d-%H%M%S", time.gmtime())  # as the id of a run begins
    press(page, "start")
    page.wait_for_url(lambda url: (found := RUN.search(url)) and found[1] >= begun)
    settle(page)
    return run_id(page)


def preset(server) -> str:
    """The id of the server's first run, whatever other tests have trained since."""
    return min(path.name for path in (server.home / "runs").iterdir() if path.name[0].isdigit())


def run_id(page: Page) -> str:
    """The id of the run in the address."""
    page.wait_for_url(RUN)
    return RUN.search(page.url)[1]


def expect_state(page: Page, state: str | re.Pattern, seconds: float = 180) -> None:
    """Wait until the Train page shows this state of the current run."""
    badge = page.get_by_test_id("stMain").locator(".stMarkdownBadge", has_text=state)
    expect(badge).to_be_visible(timeout=1000 * seconds)


def metric(page: Page, label: str) -> str:
    """The value that a metric shows now."""
    box = page.get_by_test_id("stMetric").filter(has=page.get_by_text(label, exact=True))
    return box.get_by_test_id("stMetricValue").inner_text()


def tiles(page: Page, key: str):
    """The pictures of the gallery with this key."""
    return page.locator(f".st-key-{key} button.tile")


def upload(page: Page, files: dict[str, bytes]) -> None:
    """Hand files to the uploader of own data and wait for what the page makes of them."""
    page.locator(".st-key-own_files input[type=file]").set_input_files(
        [{"name": name, "mimeType": "application/octet-stream", "buffer": content} for name, content in files.items()]
    )
    expect(page.get_by_test_id("stFileChip")).to_have_count(len(files))
