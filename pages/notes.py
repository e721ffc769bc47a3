"""Speaker's notes: what the teacher knows of the step that the first window shows, for a screen that the class does not
see."""

from dataclasses import replace
from functools import lru_cache

import streamlit as st

from pages.classroom import pictures, session, together
from pages.lessons import course, places
from pages.lessons.parts import Verdict
from pages.ui.kit import state, words
from pages.ui.kit.text import many
from pages.ui.kit.ways import button
from pages.ui.run import stored

PERIOD = 0.5  # seconds between two looks


@lru_cache(maxsize=8)
def verdict_of(text: str, seed: int, runs: tuple[str, ...]) -> Verdict:
    """What is right at a step, worked out once. runs: ids of its machines."""
    at = course.read(text, seed)
    return at.step.judge(at.facts)


right_of = lru_cache(maxsize=8)(together.right)


def step(at: course.At) -> None:
    """The question with its answer, why, and where it is seen."""
    facts = at.facts
    st.markdown(facts.filled(at.step.question))
    missing = facts.missing(at.step.after)
    ids = tuple(facts.found(name).id for name in at.step.after) if not missing else ()
    verdict = None if missing else verdict_of(at.text, at.seed, ids)
    for n, choice in enumerate(at.step.choices):
        right = verdict is not None and n == verdict.right
        mark, bold = ("check_box", "**") if right else ("check_box_outline_blank", "")
        st.markdown(f":material/{mark}: {bold}{choice}{bold}")
    if verdict is not None:
        st.success(verdict.because, icon=":material/lightbulb:")
        st.markdown(f":material/visibility: **Look at** {at.step.where} (*{places.PLACES[at.step.look.page].title}*)")
        return
    st.caption("The answer needs machines that are not trained yet.")
    args = stored.queue, *at.lesson.training(missing, at.seed)
    help = "Trains the machines of this question. This takes some seconds."
    button("Train them", "play_arrow", "notes_train", *args, help=help)


def onward(at: course.At) -> None:
    """What comes next: a question, or the end."""
    following = at.following
    if at.number == len(at.lesson.steps):
        st.markdown("**Remember**\n\n" + "\n".join(f"1. {sentence}" for sentence in at.lesson.remember))
        st.caption(f"Next lesson: {following.lesson.title}" if following else "This was the last lesson.")
    else:
        ready = not (facts := following.facts).missing(following.step.before)
        later = "a question whose machine is not trained yet."
        st.caption(f"Next: {facts.filled(following.step.question) if ready else later}")


def room(one: session.Class) -> None:
    """What the class answers, before it is shown."""
    asked = one.current
    st.subheader("The class")
    st.markdown(f"{many(len(one.people), 'student')}; {many(len(asked.answers), 'answer')} to: {asked.question.text}")
    if asked.right is None and together.machines(asked.question, one.seed):
        st.caption("The machines that give the answer are not trained yet.")
        return
    right, because = right_of(asked.question, one.seed) if asked.right is None else (asked.right, asked.because)
    revealed = replace(asked, right=right)
    if asked.question.points:
        pictures.sketch(revealed, one.seed, f"notes{len(one.asked)}")
    else:
        st.html(pictures.shown(revealed))
    st.caption(because)


@state.fragment(run_every=PERIOD)
def notes() -> None:
    """All of it, anew as the first window moves on."""
    at, one = course.teachers_step(), session.now()
    if at is None:
        st.markdown("Open a lesson in another window. Its notes appear here and follow the lesson from step to step.")
    else:
        st.subheader(f"{words.plain(at.lesson.title)}, {at.number} of {len(at.lesson.steps)}")
        try:
            step(at)
            onward(at)
        except course.BROKEN as error:
            st.caption(f"This step cannot be shown completely: {words.plain(error)}.")
    if one is not None and one.current is not None:
        room(one)


notes()
