"""axe-core goes over every page, light and dark: whoever reads by keyboard or screen reader, or with weak eyes, can."""

import re

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import expect

from tests.browser.steps import MENU, preset, settle, tiles, visit

WORST = ("serious", "critical")
THEME = "(scheme) => getComputedStyle(document.querySelector('[data-testid=stApp]')).colorScheme === scheme"
ONLY = {"resultTypes": ["violations"]}  # the nodes of all else, megabytes a page, stay in the browser


def violations(page):
    """What axe finds on the page as it stands, serious or worse; in dark mode the colours alone are looked at again."""
    found = set()
    if not page.evaluate("'axe' in window"):  # the menu leads from page to page in one document
        page.evaluate(AXE_SCRIPT)
    for scheme, rules in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(THEME, arg=scheme)
        for violation in page.evaluate("options => axe.run(options)", ONLY | rules)["violations"]:
            if violation["impact"] in WORST:
                found |= {f"{scheme}, {violation['id']}: {node['html'][:200]}" for node in violation["nodes"]}
    return sorted(found)


def test_no_page_has_a_serious_violation(server, tab):
    visit(tab, f"{server.url}/errors?run={preset(server)}")
    tiles(tab, "errors_gallery").first.click()
    tab.locator(".st-key-why_waterfall button.toggle").first.wait_for()
    settle(tab)
    found = {"the dialog": violations(tab)}
    tab.keyboard.press("Escape")
    titles = dict.fromkeys(link.locator("p").first.text_content() for link in tab.locator(MENU).all())
    for title in titles:  # some links stand twice, once for measuring
        same = tab.locator(MENU).filter(has=tab.locator("p", has_text=re.compile(f"^{re.escape(title)}$")))
        same.first.evaluate("link => link.click()")
        expect(tab.get_by_role("heading", name=title, level=1, exact=True)).to_be_visible()
        settle(tab)
        found[title] = violations(tab)
    assert len(found) == 22
    assert not any(found.values()), found
