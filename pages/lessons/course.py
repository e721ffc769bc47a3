"""Where a reader is in a lesson: `?lesson=virtual.2&seed=7` in the address of any page, and what they said so far.

    the address      lesson and step, and the class's seed         survives a reload, can be handed on
    the session      what was answered at each step                a reload asks again

A step has two places: the page with the question open, and the page that answers it. `arrive`, called by app.py
before anything is drawn, brings the reader there once, and leaves them alone until the step is another one.
"""

from typing import NamedTuple

import streamlit as st

from data import DataError
from pages.lessons import places, seen  # noqa: F401  (seen: the figures that lessons name)
from pages.lessons.parts import MAX_SEED, Facts, Lesson, Step, View
from pages.ui.kit import parameters, roles, words
from pages.ui.run import stored
from svmcore.lab.store import runs

ORDER = (
    "keeps", "margin", "virtual", "jittering", "toofar", "speed", "capacity", "pressing", "finding", "smaller", "noise",
    "fooled",
)  # fmt: skip
LESSONS = tuple(map(Lesson.read, ORDER))
LESSON, SEED, END = "lesson", "seed", "end"  # parameters of the address; END: of the page Lessons, what was finished
NOTES = "notes"  # the page that follows the others
BROKEN = (runs.Damaged, DataError, LookupError, ValueError, OSError)  # what a damaged run or dataset may raise
BY_NAME = {lesson.name: lesson for lesson in LESSONS}


class At(NamedTuple):
    """A step of a lesson, with the seed of the class. number: from 1."""

    lesson: Lesson
    number: int
    seed: int

    @property
    def text(self) -> str:
        """As the address has it."""
        return f"{self.lesson.name}.{self.number}"

    @property
    def step(self) -> Step:
        return self.lesson.step(self.number)

    @property
    def following(self) -> "At | None":
        """The next question, after a lesson's last one the first of the next lesson; None at the end of the course."""
        if self.number < len(self.lesson.steps):
            return self._replace(number=self.number + 1)
        others = LESSONS[LESSONS.index(self.lesson) + 1 :]
        return At(others[0], 1, self.seed) if others else None

    @property
    def facts(self) -> Facts:
        """What its texts may name, as the store has it now."""
        return Facts(self.seed, self.step)

    @property
    def key(self) -> tuple[str, int, int]:
        return self.lesson.name, self.number, self.seed


class Said(NamedTuple):
    """What the reader chose at a step, and what was right."""

    chosen: int
    right: int
    because: str


def seed() -> int:
    """The class's seed."""
    return st.session_state.get("lesson_seed", 0)


def said(at: At) -> Said | None:
    """What was answered at a step in this session."""
    return st.session_state.get("lesson_said", {}).get(at.key)


def view(at: At) -> View:
    """The place of a step by now: with the question, or with the answer."""
    return at.step.look if said(at) else at.step.ask


def current() -> At | None:
    """The step that this session is at."""
    try:
        return read(st.session_state.get("lesson_at", ""), seed())
    except ValueError:
        return None


_teachers: dict = {}  # "at": the step that the teacher's windows, or the class, came to last


def teachers_step() -> At | None:
    """The step that the teacher came to last, in whatever window; for the page of the speaker's notes."""
    return _teachers.get("at")


def teach(at: At) -> None:
    """The teacher has come to a step, on its page or by asking a class."""
    _teachers["at"] = at


def read(text: str, seed: int) -> At:
    """The step that a text such as `virtual.2` names. ValueError, with what is allowed, for any other text."""
    name, _, number = text.partition(".")
    if name not in BY_NAME:
        raise ValueError(f"Lessons are {', '.join(BY_NAME)}.")
    lesson = BY_NAME[name]
    if not number:
        return At(lesson, 1, seed)
    if not (number.isascii() and number.isdigit() and len(number) < 3 and 1 <= int(number) <= len(lesson.steps)):
        raise ValueError(f"The lesson {name} has the steps 1 to {len(lesson.steps)}.")
    return At(lesson, int(number), seed)


def arrive(page) -> None:
    """Read the address, and bring the reader to the place of a step that they have newly come to."""
    _asked()
    at = current()
    if at is None:
        return
    if roles.teacher() and places.name_of(page) != NOTES:
        teach(at)
    parameters.own(SEED)
    facts, wanted = at.facts, view(at)
    ready = not wanted.run or not facts.missing([wanted.run])
    key = (*at.key, said(at) is not None, ready)
    here = places.name_of(page)
    if st.session_state.get("lesson_placed") != key:
        cold = "lesson_placed" not in st.session_state and here == wanted.page and _spelled()
        query = None if cold else _query(wanted, facts) if ready else {}
        beside = _beside(at, wanted.page, facts.run(wanted.run).id if ready and wanted.run else None)
        if here != wanted.page:
            st.session_state["written_lesson"] = {LESSON: [at.text]}
            st.switch_page(f"pages/{wanted.page}.py", query_params=beside)
        st.session_state["lesson_placed"] = key
        if query is None:
            st.query_params.update(beside)
        else:
            places.put(wanted.page, query, beside)
    _write(at, here)


def _query(wanted: View, facts: Facts) -> dict:
    """The parameters of a place; none, where they cannot be worked out: the banner will say why."""
    try:
        return dict(wanted.parameters(facts))
    except BROKEN:
        return {}


def go(at: At | None) -> None:
    """Callback: to a step, or, with None, out of the lesson; the page stays."""
    if at is not None:
        st.session_state.update(lesson_at=at.text, lesson_seed=at.seed)
        st.session_state.update(lesson_placed=None, lesson_wrong="")
        return
    st.session_state.pop("lesson_at", None)
    if roles.teacher():
        _teachers.clear()
    names = [LESSON] if SEED in st.session_state.get("lesson_seed_of_page", ()) else [LESSON, SEED]
    for name in names:
        st.query_params.pop(name, None)
    st.session_state["written_lesson"] = {}


def want(at: At, chosen: int) -> None:
    """Callback: the reader has chosen; train what the answer needs and is not there."""
    st.session_state["lesson_wanted"] = at.key, chosen
    stored.queue(*at.lesson.training(at.facts.missing(at.step.after), at.seed))


def wanted(at: At) -> int | None:
    """The choice that waits for its machines at this step."""
    key, chosen = st.session_state.get("lesson_wanted", (None, None))
    return chosen if key == at.key else None


def judge(at: At, chosen: int) -> None:
    """Keep what was said and what is right."""
    verdict = at.step.judge(at.facts)
    answers = st.session_state.get("lesson_said", {})
    st.session_state["lesson_said"] = answers | {at.key: Said(chosen, verdict.right, verdict.because)}
    st.session_state["lesson_wanted"] = None, None


def forget(at: At) -> None:
    """Callback: ask this step again."""
    answers = dict(st.session_state.get("lesson_said", {}))
    answers.pop(at.key, None)
    st.session_state["lesson_said"] = answers


def link(lesson: Lesson, seed: int) -> dict[str, str]:
    """The parameters that open a lesson at its first step."""
    return {LESSON: f"{lesson.name}.1"} | ({SEED: str(seed)} if seed else {})


def read_seed() -> int:
    """The seed in the address; 0 where there is none, or one that cannot be, which the banner says."""
    try:
        return parameters.taken(SEED, st.query_params.get(SEED, "0"), 0, slice(0, MAX_SEED))
    except ValueError as error:
        st.session_state["lesson_wrong"] = f"{words.plain(error)} Showing seed 0."
        return 0


def _asked() -> None:
    """Take over the lesson of an address that this session has not written."""
    asked = parameters.asked("lesson", [LESSON]).get(LESSON)
    if not asked:
        return
    st.session_state["lesson_wrong"] = ""
    st.session_state["lesson_seed"] = read_seed()
    try:
        st.session_state["lesson_at"] = read(asked[-1], seed()).text
    except ValueError as error:
        st.session_state.pop("lesson_at", None)
        text = words.plain(words.short(asked[-1], 80))
        st.session_state["lesson_wrong"] = (
            f"{LESSON}={text} in the address is not a step of a lesson. {words.plain(error)}"
        )


def _spelled() -> bool:
    """Whether the address says more of its page than a lesson's link does."""
    return bool(set(st.query_params) - {LESSON, SEED, "run", *places.KEPT})


def _beside(at: At, page: str, run: str | None) -> dict[str, str]:
    """The parameters of a step's address that are not its page's."""
    seeded = {SEED: str(at.seed)} if at.seed and not places.PLACES[page].own_seed else {}
    run = run or st.query_params.get("run")
    return {LESSON: at.text} | seeded | ({"run": run} if run else {})


def _write(at: At, page: str) -> None:
    """Make the address say where the reader is, on whatever page; a page's own seed is left alone."""
    own = page in places.PLACES and places.PLACES[page].own_seed
    st.session_state["lesson_seed_of_page"] = (SEED,) if own else ()
    if not own and at.seed and st.query_params.get(SEED) != str(at.seed):
        st.query_params[SEED] = str(at.seed)
    if st.query_params.get(LESSON) != at.text:  # one by one: all together may not be written beside a bound widget
        st.query_params[LESSON] = at.text
    st.session_state["written_lesson"] = {LESSON: [at.text]}
