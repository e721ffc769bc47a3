"""A class in browsers: a teacher's screen and a phone of 390 pixels; by keys; nothing that axe finds serious."""

import pytest
from playwright.sync_api import expect

from tests.browser.steps import settle
from tests.browser.test_axe import violations
from tests.test_roles import served

NARROW = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture(scope="module")
def doors(tmp_path_factory):
    with served(tmp_path_factory.mktemp("class")) as (teacher, students, _):
        yield teacher, students


@pytest.fixture
def phone(chromium):
    context = chromium.new_context(viewport={"width": 390, "height": 844}, color_scheme="dark", reduced_motion="reduce")
    context.set_default_timeout(120_000)
    yield context.new_page()
    context.close()


@pytest.mark.ci
def test_a_question_is_asked_answered_and_shown(doors, tab, phone):
    teacher, students = doors
    found = {}

    def look(what):
        for one, page, scheme in (("teacher", tab, "light"), ("student", phone, "dark")):
            settle(page)
            found[f"{what}, {one}"] = violations(page, scheme) + (violations(page, "dark") if scheme == "dark" else [])
        assert phone.evaluate(NARROW), what

    def send():
        button = phone.get_by_role("button", name="Send")
        expect(button).to_be_enabled()
        button.press("Enter")

    phone.goto(students)  # leads to Class
    expect(phone.get_by_text("The teacher has not opened a class yet.")).to_be_visible()
    tab.goto(f"{teacher}/classroom")
    tab.get_by_role("button", name="Open a class").click()
    phone.get_by_role("textbox", name="Your name").fill("<b>Ada</b> [x](//evil.example)")
    look("joining")
    phone.get_by_role("button", name="Join").click()
    expect(tab.get_by_text("1 student joined. <b>Ada</b> [x](//evil.example)")).to_be_visible()
    assert not tab.locator("a[href*='evil']").count()

    tab.get_by_role("button", name="Ask the class").click()
    phone.get_by_role("radio").first.press("Space")
    send()
    expect(tab.get_by_text("1 of 1 student has answered.")).to_be_visible()
    look("a choice")
    tab.get_by_role("button", name="Show the result").click()
    expect(phone.get_by_role("img", name="Correct:")).to_be_visible()
    expect(tab.get_by_role("heading", name="Questions misjudged most")).to_be_visible()
    look("its result")

    drawn = (("Draw the line", "line", "put its line"), ("Ring the support vectors", "circle", "Which points will be"))
    for kind, mark, text in drawn:
        tab.get_by_text(kind, exact=True).click()
        expect(tab.get_by_text(text)).to_be_visible()  # until then "Ask" asks the question before
        expect(tab.get_by_role("button", name="Ask the class")).to_be_enabled()
        settle(tab)
        tab.get_by_role("button", name="Ask the class").click()
        place = phone.get_by_role("application")
        for name in ("Enter", "ArrowUp", "Enter") if mark == "line" else ("n", "Enter"):
            place.press(name)
        expect(phone.locator(f".plane {mark}.mine")).to_have_count(1)
        send()
        expect(tab.get_by_text("1 of 1 student has answered.")).to_be_visible()
        assert not tab.locator(".plane .other, .plane .ring").count()
        look(kind)
        tab.get_by_role("button", name="Show the result").click()
        expect(tab.locator(".plane .other").first).to_be_attached()  # an upright line has no width
        expect(phone.locator(".plane .ring").first).to_be_visible()  # the machine's
        look(f"{kind}, its result")

    phone.goto("about:blank")
    phone.goto(students)  # as it was typed first; the browser knows who it is
    expect(phone.locator(".plane .ring").first).to_be_visible()
    expect(phone.get_by_text("You have joined as")).to_be_visible()
    expect(tab.get_by_text("1 student joined.")).to_be_visible()
    look("come back")

    tab.get_by_text("A lesson's question", exact=True).click()
    expect(tab.get_by_text("Question number", exact=True)).to_be_visible()  # until then "Ask" asks the question before
    settle(tab)
    tab.get_by_role("button", name="Ask the class").click()
    expect(tab.get_by_text("0 of 1 student have answered.")).to_be_visible()
    tab.goto(f"{teacher}/classroom?present=true")
    for shown, following in (("Show the result", "Next question"), ("Next question", "Show the result")):
        expect(tab.get_by_role("button", name=shown)).to_be_enabled()
        settle(tab)
        tab.keyboard.press("ArrowRight")
        expect(tab.get_by_role("button", name=following)).to_be_enabled()
    expect(phone.get_by_text("Now a point without a ring is removed")).to_be_visible()
    assert not any(found.values()), found
