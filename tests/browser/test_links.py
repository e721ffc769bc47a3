"""Addresses that a reader copied: opened first thing after a start of the app, on a page that is not the first one."""

import re
import time

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import running_app
from tests.browser.steps import OUTCOME, go_to, preset, run_id, settle, tiles, visit

SIDEBAR = "[data-testid=stSidebarContent]"
# Where each link of the menu stood, at every picture that the browser drew
PLACES = """(() => {
  const places = (window.places = {})
  const look = () => {
    for (const link of document.querySelectorAll(".st-key-menu a")) {
      const {y, height} = link.getBoundingClientRect()
      if (height) (places[link.textContent] ??= []).push(Math.round(y))
    }
    requestAnimationFrame(look)
  }
  look()
})()"""


@pytest.mark.parametrize("tab", [{"viewport": {"width": 1280, "height": 800}}], indirect=True)
def test_the_run_that_is_shown_stands_above_the_menu_and_both_fit_the_screen(server, tab):
    visit(tab, f"{server.url}/errors")
    sidebar = tab.locator(SIDEBAR)
    run, first = sidebar.get_by_text("Run shown on every page"), sidebar.locator("a:visible").first
    assert run.bounding_box()["y"] < first.bounding_box()["y"]
    tab.wait_for_function("bar => bar.scrollHeight <= 800", arg=sidebar.element_handle())


@pytest.mark.ci
@pytest.mark.parametrize("tab", [{"viewport": {"width": 390, "height": 844}}], indirect=True)
def test_on_a_phone_the_menu_closes_when_a_page_is_chosen(server, tab):
    visit(tab, f"{server.url}/errors")
    go_to(tab, "Runs")
    expect(tab.get_by_test_id("stExpandSidebarButton")).to_be_visible()


@pytest.mark.parametrize("tab", [{"viewport": {"width": 390, "height": 844}}], indirect=True)
def test_on_a_phone_the_menu_closes_also_when_the_link_was_followed_before_keys_listen(server, tab):
    held = []
    tab.route("**/BidiComponent*.js", lambda part: held.append(part))
    tab.goto(f"{server.url}/errors")
    opens = tab.get_by_test_id("stExpandSidebarButton")
    opens.click()
    tab.locator(".st-key-menu a:visible").filter(has_text="Runs").click()
    expect(tab.get_by_role("heading", name="Runs", level=1)).to_be_visible()
    assert held
    assert not opens.is_visible()
    for part in held:
        part.continue_()
    expect(opens).to_be_visible()


@pytest.mark.ci
def test_a_link_to_the_errors_of_a_run_opens_cold(server, tab):
    """The run comes seconds after the menu, and how a link is drawn after its heading: the menu's links used to move
    away below the pointer then."""
    run = preset(server)
    tab.add_init_script(PLACES)
    late, look = [], tab.locator(".st-key-menu").get_by_text("Look", exact=True)
    tab.route("**/PageLink*.js", lambda part: late.append(part))
    with running_app(server.tree, server.home) as fresh:
        visit(tab, f"{fresh.url}/errors?run={run}&errors_by=Closest+call")
        expect(tab.get_by_role("heading", name="Errors", level=1)).to_be_visible()
        without_links = look.bounding_box()["y"]
        for part in late:
            part.continue_()
        expect(tab.locator(".st-key-menu a:visible").filter(has_text=re.compile("Errors$"))).to_be_visible()
        assert abs(look.bounding_box()["y"] - without_links) < 2
        expect(tiles(tab, "errors_gallery").first).to_be_visible()
        expect(tab.get_by_text(OUTCOME).first).to_be_visible()
        assert run_id(tab) == run
        places = tab.evaluate("window.places")
        assert len(places) > 10
        assert {link: at for link, at in places.items() if max(at) - min(at) >= 4} == {}
        tab.goto("about:blank")


@pytest.mark.parametrize(
    ("typed", "title", "there"),
    [("playground?kernel=rbf", "Playground", r"/\?.*kernel=rbf"), ("choose?field=C", "Choose", r"/sweep\?.*field=C"),
     ("Draw-a-digit", "Draw a digit", "/draw")],
)  # fmt: skip
def test_a_title_typed_as_an_address_leads_to_its_page(server, tab, typed, title, there):
    tab.goto(f"{server.url}/{typed}")
    tab.wait_for_url(re.compile(there))
    expect(tab.get_by_role("heading", name=title, level=1)).to_be_visible()
    settle(tab)
    expect(tab.get_by_text("Page not found")).to_have_count(0)


def _open_errors(server, tab):
    """Wait also for the script that watches the history, which the browser fetches after the page."""
    visit(tab, f"{server.url}/errors")
    tab.wait_for_function("Object.hasOwn(history, 'pushState')")


def test_back_leads_to_the_page_before_in_one_press(server, tab):
    """These write what they show into their addresses, some of it twice, before anybody has touched them."""
    titles = ("Errors", "Detect", "Choose", "Labels")
    _open_errors(server, tab)
    for title in titles[1:]:
        go_to(tab, title)
    for title in reversed(titles[:-1]):
        tab.go_back()
        expect(tab.get_by_role("heading", name=title, level=1)).to_be_visible()
        settle(tab)


@pytest.mark.ci
def test_back_leads_there_also_when_the_page_that_is_left_sends_something_in_that_moment(server, tab):
    """Streamlit's server answers the latest request alone, with the page that was left; more may follow after that."""
    sent, late = [], []

    def relay(socket):
        to_server = socket.connect_to_server()

        def pass_on(message):
            to_server.send(message)
            sent.append(message)
            while late:
                time.sleep(late.pop(0))
                to_server.send(sent[-2])

        socket.on_message(pass_on)

    tab.route_web_socket(re.compile("_stcore/stream"), relay)
    _open_errors(server, tab)
    for moments in ([0], [0, 0.2], [0.1, 0.3]):
        go_to(tab, "Support vectors")
        late += moments
        tab.go_back()
        expect(tab.get_by_role("heading", name="Errors", level=1)).to_be_visible()
        settle(tab)
        assert not late
        assert "/errors" in tab.url


def test_an_address_that_names_no_page_says_so_and_shows_those_that_there_are(server, tab):
    visit(tab, f"{server.url}/reduced-set?C=1")
    expect(tab.get_by_role("heading", name="No such page", level=1)).to_be_visible()
    expect(tab.get_by_test_id("stMain").get_by_text("reduced-set", exact=True)).to_be_visible()
    expect(tab.get_by_text("Page not found")).to_have_count(0)
    tab.get_by_role("link", name="Perhaps you meant Reduced sets").click()
    expect(tab.get_by_role("heading", name="Reduced sets", level=1)).to_be_visible()
    settle(tab)
    visit(tab, f"{server.url}/home")
    shown = tab.get_by_test_id("stMain").get_by_test_id("stPageLink")
    expect(shown.filter(has_text="Playground")).to_have_count(1)
    expect(shown.filter(has_text="Digestion")).to_have_count(1)
