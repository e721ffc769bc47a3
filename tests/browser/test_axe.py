"""axe-core goes over every page, light and dark: whoever reads by keyboard or screen reader, or with weak eyes, can."""

import re

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from tests.browser.steps import MENU, preset, settle, tiles, visit

WORST = ("serious", "critical")
SCHEME = "getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme"
RULES = {"light": {}, "dark": {"runOnly": ["color-contrast"]}}
ONLY = {"resultTypes": ["violations"]}  # the nodes of all else, megabytes a page, stay in the browser
# Half faded in, a tooltip has less contrast than it comes to have. What goes on for ever is not waited for.
AT_REST = """Promise.race([Promise.allSettled(document.getAnimations().map((one) => one.finished)),
  new Promise((rested) => setTimeout(rested, 250))]).then(() => 0)"""

WHOLE, BESIDE_THE_MENU = {"include": [["html"]]}, {"exclude": [["[data-testid=stSidebar]"]]}


def violations(page, scheme, where=WHOLE):
    """What axe finds on the page as it stands, serious or worse; in dark mode it looks at the colours alone."""
    found = set()
    if not page.evaluate("'axe' in window"):  # the menu leads from page to page in one document
        page.evaluate(AXE_SCRIPT)
    page.wait_for_function(f"{SCHEME} === '{scheme}'")
    page.evaluate(AT_REST)
    for violation in page.evaluate("how => axe.run(...how)", [where, ONLY | RULES[scheme]])["violations"]:
        if violation["impact"] in WORST:
            found |= {f"{scheme}, {violation['id']}: {node['html'][:200]}" for node in violation["nodes"]}
    return sorted(found)


def in_both(page, where=WHOLE):
    """What axe finds in the light and in the dark."""
    found, now = [], page.evaluate(SCHEME)
    for scheme in sorted(RULES, key=now.__ne__):  # all is drawn anew for the other one
        page.emulate_media(color_scheme=scheme)
        settle(page)  # while a page is drawn anew, what it showed is pale
        found += violations(page, scheme, where)
    return found


@pytest.mark.ci
def test_no_page_has_a_serious_violation(server, tab):
    visit(tab, f"{server.url}/errors?run={preset(server)}")
    tiles(tab, "errors_gallery").first.click()
    tab.locator(".st-key-why_waterfall button.toggle").first.wait_for()
    settle(tab)
    found = {"the dialog": in_both(tab)}
    tab.keyboard.press("Escape")
    visit(tab, f"{server.url}/?problem=turn&along=C&tape=40")
    tab.locator(".plane svg.path line.now").wait_for(state="attached")
    found["the path"] = in_both(tab)
    titles = dict.fromkeys(link.locator("p").first.text_content() for link in tab.locator(MENU).all())
    for title in titles:  # some links stand twice, once for measuring
        same = tab.locator(MENU).filter(has=tab.locator("p", has_text=re.compile(f"^{re.escape(title)}$")))
        same.first.evaluate("link => link.click()")
        expect(tab.get_by_role("heading", name=title, level=1, exact=True)).to_be_visible()
        settle(tab)
        found[title] = in_both(tab, BESIDE_THE_MENU)  # which is the same on all pages
    assert len(found) == 25
    assert not any(found.values()), found
