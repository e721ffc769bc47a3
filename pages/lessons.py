"""Lessons: short walks through the pages, the seed that gives a whole class the same digits, and what to remember."""

import streamlit as st

from pages.classroom import addresses
from pages.lessons import banner, course, places
from pages.lessons.course import LESSONS
from pages.lessons.parts import MAX_SEED, Lesson
from pages.ui.kit import parameters, present, roles, short_links, ways
from pages.ui.kit.ways import button

MINUTES = 5


def class_seed() -> int:
    """The number that draws the digits, as a widget and in the address."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        seed = parameters.number(f"lessons.{course.SEED}", 0, MAX_SEED, 0, key="class_seed", first=course.seed())
        told = "For a class: choose a seed. *Share* on each card then gives the link for the students."
        st.caption(told, width="content")
    st.session_state["lesson_seed"] = seed
    return seed


def card(number: int, lesson: Lesson, seed: int) -> None:
    """One lesson: title, promise, what was answered in this session, and the ways in."""
    answers = [course.said(course.At(lesson, n + 1, seed)) for n in range(len(lesson.steps))]
    answered = [said for said in answers if said]
    following = next((n for n, said in enumerate(answers, 1) if said is None), 1)
    with st.container(border=True, height="stretch"):
        st.markdown(f"**{number}. {lesson.title}**")
        st.markdown(lesson.promise)
        right = sum(said.chosen == said.right for said in answered)
        done = f" · {len(answered)} answered, {right} guessed right" if answered else ""
        st.caption(f"{MINUTES} minutes · {len(lesson.steps)} questions · {lesson.source.text}{done}")
        with st.container(horizontal=True, vertical_alignment="center"):
            label = "Start" if not answered else "Again" if len(answered) == len(lesson.steps) else "Go on"
            args = lesson, seed, following, len(answered) == len(lesson.steps)
            help = "Opens the page of the next open question, with the question on top."
            button(label, "play_arrow", f"lesson_start_{lesson.name}", _start, *args, help=help, type="primary")
            with st.popover("Summary", icon=":material/bookmark:", key=f"lesson_short_{lesson.name}"):
                ending(lesson)
            share = st.popover("Share", icon=":material/share:", key=f"lesson_link_{lesson.name}", on_change="rerun")
            if share.open:
                with share:
                    shared(lesson, seed)


def shared(lesson: Lesson, seed: int) -> None:
    """The link of a lesson, its QR code, and its sheets to print."""
    st.markdown("This link opens the lesson with the digits of the chosen seed.")
    query = "&".join(f"{name}={value}" for name, value in course.link(lesson, seed).items())
    link = f"{short_links.base(addresses.urls())}/lessons?{query}"
    st.code(link, language=None, wrap_lines=True)
    st.image(short_links.qr(link), width=present.scaled(160), alt=f"QR code of {link}")
    banner.handout(lesson, seed, f"lesson_sheet_{lesson.name}", "Handout (HTML)", link=link)
    if roles.teacher():
        banner.ready(lesson, seed)
        banner.handout(lesson, seed, f"lesson_answers_{lesson.name}", "Handout with answers", answers=True)


def ending(lesson: Lesson) -> None:
    """Three sentences to remember, one thing to try, and the paper's section."""
    st.markdown("**Remember**\n\n" + "\n".join(f"1. {sentence}" for sentence in lesson.remember))
    text, there = lesson.attempt
    st.markdown(f"**Try** {text}")
    with st.container(horizontal=True):
        ways.to(there.page, places.PLACES[there.page].title, "science", places.texts(there.query))
        ways.to("paper", lesson.source.text, "article", lesson.source.query)


def finished(seed: int) -> None:
    """What there is to remember of the lesson that was finished, above the others; the address names it."""
    name = parameters.read(course.END, "", [lesson.name for lesson in LESSONS])
    parameters.write("lessons_end", [course.END], {course.END: name} if name else {})
    if not name:
        return
    lesson = course.BY_NAME[name]
    answers = [said for n in range(len(lesson.steps)) if (said := course.said(course.At(lesson, n + 1, seed)))]
    right = sum(said.chosen == said.right for said in answers)
    with st.container(border=True, key="lesson_finished"):
        counted = f": {right} of {len(answers)} predicted right" if answers else ""
        st.markdown(f"**{lesson.title}**{counted}")
        ending(lesson)
        if at := course.At(lesson, len(lesson.steps), seed).following:
            how = {"help": "Opens the first question of the next lesson.", "type": "primary"}
            button(f"Next lesson: {at.lesson.title}", "arrow_forward", "lesson_following", course.go, at, **how)
        else:
            st.markdown("This was the last lesson.")


def _start(lesson: Lesson, seed: int, number: int, again: bool) -> None:
    """Callback: to the first question that is open; a lesson that is done begins anew."""
    if again:
        for n in range(len(lesson.steps)):
            course.forget(course.At(lesson, n + 1, seed))
    course.go(course.At(lesson, number, seed))


parameters.own(course.END)
seed = class_seed()
finished(seed)
with st.grid("auto", min_column_width=320):
    for number, lesson in enumerate(LESSONS, 1):
        card(number, lesson, seed)
