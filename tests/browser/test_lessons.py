"""Each lesson from its link to its end, as a pupil walks it; and a link with a seed, which shows everyone the same."""

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from pages.lessons import course
from pages.lessons.course import LESSONS as KNOWN
from tests.browser.steps import QUIET, SCREENS, press, settle, tiles

LESSONS = {lesson.name: len(lesson.steps) for lesson in KNOWN}
TRAINING = 240_000  # ms that the machines of a step may take beside other work
PHONE = "margin"  # walked on a phone
WALKED = (PHONE, "jittering", "finding")  # tests/test_lessons.py answers the steps of all
SEED = 7


CHOICES_SEEN = """() => { const box = document.querySelector(".st-key-lesson").getBoundingClientRect()
    const choices = [...document.querySelectorAll(".st-key-lesson [role=radiogroup] label")]
    return choices.length > 1 && box.height <= innerHeight / 5 + 1
        && choices.every(one => one.getBoundingClientRect().bottom <= box.bottom) }"""


def test_what_the_lessons_that_are_not_walked_outline_is_on_a_page():
    keys = {lesson.name: {key for step in lesson.steps for key in step.look.outlined.split()} for lesson in KNOWN}
    left = set.union(*keys.values()) - set.union(*map(keys.get, WALKED))
    own = Path(course.__file__).parent
    sources = " ".join(file.read_text("utf-8") for file in own.parent.rglob("*.py") if file.parent != own)
    assert [key for key in left if f'"{key}"' not in sources] == []


def banner(page: Page):
    return page.locator(".st-key-lesson")


def open_lesson(page: Page, url: str, name: str, seed: int = SEED) -> None:
    page.goto(f"{url}/lessons?lesson={name}.1&seed={seed}")
    expect(banner(page)).to_contain_text("1 of", timeout=TRAINING)


def answer(page: Page, choice: int = 0) -> str:
    """Guess, look, and what the banner says then; the machines that are missing are trained on the way."""
    guess, train = banner(page).get_by_role("radio"), page.locator(".st-key-queue_lesson button")
    expect(guess.or_(train).first).to_be_visible()
    if train.count():
        train.first.click()
    expect(guess.first).to_be_attached(timeout=TRAINING)
    expect(page.locator(QUIET)).to_be_visible()
    if page.viewport_size["width"] == SCREENS["phone"]["viewport"]["width"]:
        page.wait_for_function(CHOICES_SEEN)
    page.mouse.move(0, 0)  # no tooltip, over the answers, of what has come to lie under the pointer
    banner(page).locator("[role=radiogroup] label").nth(choice).click()
    look = page.locator(".st-key-lesson_look").get_by_role("button").first
    expect(look).to_be_enabled()
    look.click()
    verdict = banner(page).get_by_test_id("stAlert")
    expect(verdict).to_be_visible(timeout=TRAINING)
    settle(page)
    return verdict.inner_text()


@pytest.mark.parametrize(
    ("name", "tab"),
    [
        pytest.param(
            name,
            SCREENS["phone" if name == PHONE else "projector"],
            marks=() if name == PHONE else pytest.mark.ci,
            id=name,
        )
        for name in WALKED
    ],
    indirect=["tab"],
)
def test_a_lesson_from_start_to_end(server, tab, name):
    open_lesson(tab, server.url, name)
    lesson = next(lesson for lesson in KNOWN if lesson.name == name)
    stays = "sticky" if name == PHONE else "fixed"  # above or beside the figure, wherever that is scrolled to
    expect(banner(tab)).to_have_css("position", stays)
    for number in range(1, LESSONS[name] + 1):
        expect(banner(tab)).to_contain_text(f"{number} of {LESSONS[name]}")
        said = answer(tab)
        assert re.search(r"Right:|The answer:", said), said
        framed = [tab.locator(f".st-key-{key}").first for key in lesson.step(number).look.outlined.split()]
        for one in framed:  # what the answer speaks of
            expect(one).to_have_css("outline-style", "solid")
        expect(framed[-1]).to_be_in_viewport(ratio=0.3)
        expect(banner(tab)).to_be_in_viewport(ratio=0.9)
        assert re.search(rf"lesson={name}\.{number}\b", tab.url)
        assert re.search(rf"seed={SEED}\b", tab.url), "a reload would show other digits"
        if number < LESSONS[name]:
            press(tab, "lesson_next")
    press(tab, "lesson_end")
    expect(tab.get_by_role("heading", name="Lessons", level=1)).to_be_visible()
    expect(tab.get_by_text(f"{LESSONS[name]} answered")).to_be_visible()
    expect(tab).to_have_url(re.compile(rf"seed={SEED}\b"))


@pytest.mark.ci
def test_the_end_of_a_lesson_without_a_seed_leads_to_all_lessons(server, tab):
    """Its last step is on a page whose address a widget writes."""
    number = LESSONS["virtual"]
    tab.goto(f"{server.url}/jitters?lesson=virtual.{number}")
    answer(tab)
    tab.wait_for_url(re.compile(r"[?&]index="))
    press(tab, "lesson_end")
    expect(tab.get_by_role("heading", name="Lessons", level=1)).to_be_visible()
    settle(tab)


@pytest.mark.ci
def test_a_link_with_a_seed_shows_everyone_the_same_digits(server, chromium, tab):
    seen = []
    for context in (tab.context, chromium.new_context(viewport={"width": 1440, "height": 1000})):
        page = tab if context is tab.context else context.new_page()
        open_lesson(page, server.url, "virtual")
        answer(page)
        forms = tiles(page, "square_0")
        expect(forms).to_have_count(9)
        labels = [form.get_attribute("aria-label") for form in forms.all()]
        number = page.locator(".st-key-index input").input_value()
        seen.append((labels, number, banner(page).get_by_test_id("stAlert").inner_text()))
        if page is not tab:
            context.close()
    assert seen[0] == seen[1]
