"""The banner of a lesson, on top of whatever page is open: the question, then what is right and where to look.

`course.arrive` has brought the reader to the page of the step; where they left it, the banner offers the way back.
"""

import math
from pathlib import Path

import streamlit as st

from data import catalogue
from pages.lessons import course, places
from pages.lessons.course import LESSONS
from pages.lessons.parts import Facts, Lesson, recipe_of
from pages.ui.kit import present, ways, words
from pages.ui.kit.component import component
from pages.ui.kit.ways import button, download
from pages.ui.run import polling, stored
from svmcore.lab.forecast import estimate
from svmcore.lab.store import runs


def draw(page) -> None:
    """Draw the banner of the step that the address names, if any. No step breaks the page below it."""
    if wrong := st.session_state.get("lesson_wrong"):
        st.warning(wrong, icon=":material/link_off:")
    at = course.current()
    st.session_state[present.FIRST] = at and course.view(at).part
    if at is None:
        return
    st.html(Path(__file__).with_name("lesson.css"))
    with st.container(border=True, key="lesson", gap="small"):
        _head(at)
        facts = at.facts
        try:
            _body(at, facts, page)
            _outline(at)
        except course.BROKEN as error:
            st.error(words.plain(error), title="This step cannot be shown", icon=":material/broken_image:")
            _onward(at)


def _head(at: course.At) -> None:
    number = LESSONS.index(at.lesson) + 1
    seeded = f" · seed {at.seed}" if at.seed else ""
    row = {"vertical_alignment": "center", "horizontal_alignment": "distribute"}
    with st.container(horizontal=True, key="lesson_head", **row):
        where = f"**Lesson {number}**, question {at.number} of {len(at.lesson.steps)}"
        st.markdown(f":material/school: {where}: **{at.lesson.title}**{seeded}", width="stretch")
        handout(at.lesson, at.seed, "lesson_sheet", "Handout", type="tertiary")
        help = "Closes the lesson; this page stays as it is. You can go on later on the page Lessons."
        button("Leave the lesson", "close", "lesson_leave", course.go, None, help=help, type="tertiary")


def ready(lesson: Lesson, seed: int) -> None:
    """A button that trains all machines of a lesson before the hour, as far as their data are available."""
    steps = [lesson.step(number) for number in range(1, len(lesson.steps) + 1)]
    missing = Facts(seed).missing(dict.fromkeys(name for step in steps for name in step.after))
    if missing:
        args = stored.queue, *lesson.training(missing, seed)
        label = f"Train the machines of this lesson ({_time(missing, seed)})"
        help = "Trains them before the class begins, so that nobody has to wait."
        button(label, "play_arrow", f"lesson_ready_{lesson.name}", *args, help=help)


def handout(lesson: Lesson, seed: int, key: str, label: str, link: str = "", answers: bool = False, **how) -> None:
    """A button that hands out the lesson as a sheet to print, made when it is asked for."""

    def content() -> str:
        from pages.lessons import handout  # not with every page

        return handout.sheet(lesson, seed, link, answers)

    file = f"{lesson.name}-{seed}{'-answers' * answers}.html"
    help = "A sheet to print: the questions with their figures and room to draw. Any browser opens it."
    download(label, "print", key, content, file, help=help, **how)


def _body(at: course.At, facts: Facts, page) -> None:
    said, view = course.said(at), course.view(at)
    missing = facts.missing(at.step.before)
    if places.name_of(page) != view.page:
        _astray(f"This step is on the page *{places.PLACES[view.page].title}*.")
    elif missing:
        _train(at, facts, missing)
    elif view.run and st.session_state.get("run") != facts.run(view.run).id:
        _astray(f"This step uses another run: *{words.plain(facts.run(view.run).title)}*.")
    elif said is None:
        _ask(at, facts)
    else:
        _tell(at, said, facts)


def _astray(text: str) -> None:
    """The way back for a reader who has wandered off."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(text, width="content")
        how = {"help": "Opens the page of this step and continues the lesson."}
        button("Go back to the step", "undo", "lesson_return", st.session_state.update, {"lesson_placed": None}, **how)


def _ask(at: course.At, facts: Facts) -> None:
    """The question, its choices, and the button that shows the answer."""
    with st.container(key="lesson_question"):
        st.markdown(f"**{facts.filled(at.step.question)}**")
        if at.step is at.lesson.steps[at.number - 1].instead:
            clothes = catalogue.entry(at.lesson.lacking(at.number).pop().dataset)
            label = f"Download {words.plain(clothes.title)} ({clothes.size_mb:.2g} MB)"
            ways.to("datasets", label, "download", {"set": clothes.name})
    waiting = course.wanted(at)
    chosen = st.radio(
        "Your prediction",
        range(len(at.step.choices)),
        index=waiting,
        format_func=at.step.choices.__getitem__,
        key=f"lesson_guess_{at.text}_{at.seed}",
        disabled=waiting is not None,
        help="Predict before you check: you remember a wrong prediction longer than an answer that you read.",
    )
    missing = facts.missing(at.step.after)
    if waiting is not None and not missing:
        course.judge(at, waiting)
        st.rerun()
    if waiting is not None:
        _train(at, facts, missing)
        return
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_check"):
        _back(at)
        label = f"Train ({_time(missing, at.seed)}) and check" if missing else "Check"
        help = "First choose your prediction." if chosen is None else "Shows the answer on the page."
        how = {"help": help, "type": "primary", "disabled": chosen is None}
        button(label, "visibility", "lesson_look", course.want, at, chosen, **how)


def _tell(at: course.At, said: course.Said, facts: Facts) -> None:
    """What is right, why, where it can be seen, and the way on; the question, which was read, below."""
    choices = at.step.choices
    if said.chosen == said.right:
        st.success(f"**Right: {choices[said.right]}.** {said.because}", icon=":material/check:")
    else:
        st.info(
            f"You predicted *{choices[said.chosen]}*. The answer: **{choices[said.right]}**. {said.because}",
            icon=":material/lightbulb:",
        )
    # One row: what is looked at stands below it
    with st.container(horizontal=True, vertical_alignment="center", key="lesson_told"):
        st.markdown(f":material/visibility: **Look at** {at.step.where}", width="stretch")
        _onward(at, again=True)
    st.caption(f"The question: {facts.filled(at.step.question)}")


def _outline(at: course.At) -> None:
    """Put a frame around what the question or the answer speaks of, and bring it into view."""
    keys = course.view(at).outlined.split()
    if keys:
        those = ", ".join(f".st-key-{key}" for key in keys)
        st.html(f"<style>{those} {{ outline: 3px solid #e69f00; outline-offset: 6px; border-radius: 4px; }}</style>")
    _into_view(data={"keys": keys, "step": f"{at.key} {course.said(at)}"}, key="lesson_in_view")


def _onward(at: course.At, again: bool = False) -> None:
    last = at.number == len(at.lesson.steps)
    with st.container(horizontal=True, vertical_alignment="center", width="content", key="lesson_onward"):
        _back(at)
        if again:
            button("Ask me again", "replay", "lesson_again", course.forget, at, help="Hides the answer and asks again.")
        if not last:
            how = {"help": "Goes to the next question.", "type": "primary", "icon_position": "right"}
            button("Next", "arrow_forward", "lesson_next", course.go, at.following, **how)
        elif st.button(
            "Finish the lesson",
            type="primary",
            icon=":material/school:",
            key="lesson_end",
            help="Opens the page Lessons, with the number of your right predictions and three sentences to remember.",
        ):
            course.go(None)
            seeded = {course.SEED: str(at.seed)} if at.seed else {}
            st.switch_page("pages/lessons.py", query_params=seeded | {course.END: at.lesson.name})


def _back(at: course.At) -> None:
    if at.number > 1:
        help = "Goes to the previous question."
        button("Back", "arrow_back", "lesson_back", course.go, at._replace(number=at.number - 1), help=help)


def _train(at: course.At, facts: Facts, missing: list[str]) -> None:
    """The machines that are not there yet: one button that trains them, and how far they are."""
    found = [facts.found(name) for name in missing]
    recipes, group, parents = at.lesson.training(missing, at.seed)
    for run in found:
        if run is not None and run.state not in runs.ACTIVE:
            st.warning(
                words.plain(run.message) or "The run was stopped.",
                title=f"Run {run.state}",
                icon=":material/error:",
            )
    working = [run.id for run in found if run is not None and run.state in runs.ACTIVE]
    with st.container(horizontal=True, vertical_alignment="center"):
        if not working:
            some = "a machine" if len(missing) == 1 else f"{len(missing)} machines"
            st.markdown(f"This step uses {some} that must be trained first.", width="content")
        stored.buttons(
            recipes,
            found,
            f"Train {'it' if len(missing) == 1 else 'them'} ({_time(missing, at.seed)})",
            "Trains in the background. The result is stored like any other run.",
            "lesson",
            group=group,
            parents=parents,
        )
    if working:
        polling.poll_all(working, _progress)


def _progress(statuses) -> None:
    active = [status for status in statuses if status.state in runs.ACTIVE]
    waits = "The machine is training; this page changes when it has finished."
    if active and all(status.state == "queued" for status in active):
        waits = "The run waits in the queue until the run before it has finished."
    if any(status.state == "paused" for status in active):
        waits = "The run is paused; resume it on the Train page."
    st.caption(f":material/progress_activity: {waits}")


def _time(names: list[str], seed: int) -> str:
    seconds = sum(estimate(recipe_of(name, seed)).seconds for name in names)
    return f"{max(1, math.ceil(seconds))} s"


_into_view = component(__file__, "outline", '<div class="outline"></div>')
